"""Standings, what authors see of their bots and games, the ledger, pages, figures: all that a league shows."""
