"""Matchmaking, the games of matches, suspensions, and the rule of a final."""
