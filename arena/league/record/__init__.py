"""The record of a league: the lines of its seasons."""
