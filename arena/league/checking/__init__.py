"""Checks a season by what the league publishes, and the operator's database against that."""
