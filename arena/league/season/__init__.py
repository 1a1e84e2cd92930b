"""The beginning and the end of a league and of its seasons."""
