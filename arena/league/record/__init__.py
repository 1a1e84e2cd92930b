"""The record of a league: its ledger, and what a season publishes."""
