"""One game as work to be done: plain data that crosses a process boundary."""

from __future__ import annotations

import msgspec

from arena.link.bots import BotSpec
from arena.types import RACE_WINDOW_MS, TimeControl


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """All that a worker needs to play one game."""

    game: str
    """Identifier, unique in the database; letters, digits and hyphens: the log's name is `{game}.jsonl`."""
    tournament: str | None
    """The tournament's identifier, for the log."""
    rules: str
    ruleset: str
    """A ruleset's name, or `custom`."""
    options: dict[str, str]
    """Every option with its value."""
    board_name: str
    board_text: str
    """The board file's text."""
    bots: tuple[BotSpec, ...]
    """By seat."""
    time: TimeControl
    deal: int
    """The deal's number in the tournament, from 0."""
    rotation: int
    """How far the seats are rotated, from 0."""
    secret: bytes
    """The tournament's 32-byte secret, from which the deal's is derived."""
    logs: str
    """The folder for logs; it exists."""
    race_window_ms: float = RACE_WINDOW_MS
    """Answers of a race whose reaction times lie no further apart are a tie, decided by chance."""
    keep_bots: bool = True
    """Whether processes may serve further games."""
