"""Shows what was tuned, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from arena.core.progress import Progress, Tuned
from arena.core.show.tables import Column, drawn


def progress_text(progress: Progress) -> Text:
    """Returns how a tournament stands that tunes; it is as wide as it is."""
    return tuning_table(progress.tuned)


def tuning_table(rows: Sequence[Tuned]) -> Text:
    """Returns each parameter with its range, its first value and what was found."""
    return drawn(
        [
            Column(title="parameter", cells=[row.name for row in rows], left=True),
            Column(title="range", cells=[f"{row.low} to {row.high}" for row in rows]),
            Column(title="began", cells=[row.began for row in rows]),
            Column(title="found", cells=[row.found for row in rows]),
        ]
    )


def tuning_brief(rounds: int, rows: Sequence[Tuned]) -> str:
    """Returns what is known after some rounds, for a line of progress."""
    return f"round {rounds}, {', '.join(f'{row.name} {row.found}' for row in rows)}"


def manifest_lines(rows: Sequence[Tuned]) -> list[str]:
    """Returns what was found as lines of a manifest."""
    return [f"{row.name} = {{value = {row.found}, low = {row.low}, high = {row.high}}}" for row in rows]
