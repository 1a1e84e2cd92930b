"""Standings, what authors see of their bots and games, lines of seasons, pages, figures: all that a league shows."""
