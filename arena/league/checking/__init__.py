"""Checks a season and the ledger by what the league publishes, and the operator's database against that."""
