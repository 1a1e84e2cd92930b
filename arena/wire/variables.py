"""The variables in a bot's environment by which it finds the referee (protocol/SPEC.md §4.2)."""

from __future__ import annotations

from typing import Final

ENDPOINT: Final = "ARENA_ENDPOINT"
"""Where to connect."""
TOKEN: Final = "ARENA_TOKEN"
"""What to put into `hello.token`. By it is known, too, which processes a bot has started."""
