"""Tuning: better values for a bot's parameters."""
