"""The variables that are set in a bot's environment (protocol/SPEC.md §4.2)."""

from __future__ import annotations

from typing import Final

ENDPOINT: Final = "ARENA_ENDPOINT"
TOKEN: Final = "ARENA_TOKEN"
"""Text to put into `hello.token`. By it is known, too, which processes a bot has started."""

FIXED: Final = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
"""Locale and time zone of each bot and each build, whatever those of the operator are."""
