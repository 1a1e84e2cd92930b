"""What runs now, for onlookers: games from the feed, standings from the database, a page and a screen to show them."""
