"""Commands that learn from games."""
