"""The process that runs a league: its loop, its orders, its journal."""
