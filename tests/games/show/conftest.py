"""Logged games to be shown."""

from tests.shown_kit import forfeits, logs, play_garden  # noqa: F401
