"""A league: strangers submit bots, and a service plays them against each other."""
