"""Logs, ratings, orders, notices and built bots: how long a league keeps them; and its backup."""
