"""Golden playthroughs: a whole random game, written down so that a change of the rules shows as a difference.

One step a line: the draw or the play, the events with their audience, how many plays are legal for whom, and a digest
of every seat's view. The last line holds every view in full.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from kit import at_default_board, tables, walk

from arena.core.rules.base import Event

FOLDER = Path(__file__).parent
SEED = 1
CASES = [(table.name, table.ruleset, table.seats) for table in tables()]


def path_of(name: str, ruleset: str, seats: int) -> Path:
    """Where a playthrough is kept."""
    return FOLDER / name / f"{ruleset}-{seats}p.jsonl"


def event_line(event: Event) -> dict[str, Any]:
    """An event with its audience, unless everyone is told."""
    return event.data if event.to is None else event.data | {"only": list(event.to)}


def lines(name: str, ruleset: str, seats: int) -> Iterator[bytes]:
    """The lines of a playthrough as the rules now make them."""
    rules = at_default_board(name, seats, ruleset)
    for step in walk(rules, SEED):
        state = step.after
        views = [msgspec.json.encode(rules.view(state, seat)) for seat in range(seats)]
        yield msgspec.json.encode(
            {
                ("draw" if step.seat is None else f"seat {step.seat}"): str(step.move),
                "events": [event_line(event) for event in step.events],
                "legal": {str(d.seat): len(rules.legal(state, d.seat)) for d in rules.pending(state)},
                "views": [hashlib.sha256(view).hexdigest()[:12] for view in views],
            }
        )
    yield msgspec.json.encode(
        {"ranks": rules.outcome(state).ranks, "views": [rules.view(state, seat) for seat in range(seats)]}
    )
