"""Draws the game in progress on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from arena.core.face import log_records, progress_lines, replays, scenes, terminals

if TYPE_CHECKING:
    from rich.console import Console

LEAST_S = 0.05
"""Shortest time between two drawings. Drawing more often would slow the game and be no easier to follow."""


@contextmanager
def live_board(screen: Console, pace: float) -> Iterator[Callable[[log_records.Header | log_records.Record], None]]:
    """Draws the games that are played in the block, each decision for at least `pace` seconds.

    Yields:
        The function to call with each record.
    """
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    onlooker: replays.Onlooker | None = None
    drawn = 0.0
    place = scenes.Shift()

    def draw(looking_on: replays.Onlooker) -> None:
        nonlocal place
        if small := terminals.too_small(screen):
            live.update(Group(*small), refresh=True)
            return
        bar = Text(" live ", "reverse")
        shown = looking_on.page(
            looking_on.frame(), bar, min(screen.width, terminals.MOST_WIDTH), screen.height - 1, place
        )
        place = shown.place
        live.update(Group(*shown.lines), refresh=True)

    def watch(record: log_records.Header | log_records.Record) -> None:
        nonlocal onlooker, drawn
        if isinstance(record, log_records.Header):
            onlooker = replays.Onlooker(record, "the game in progress")
            return
        assert onlooker is not None
        decided = isinstance(record, log_records.ActionRecord | log_records.ForfeitRecord | log_records.OutcomeRecord)
        if decided:
            time.sleep(max(0.0, drawn + pace - time.monotonic()))
        onlooker.see(record)
        now = time.monotonic()
        if now >= drawn + LEAST_S or pace:
            draw(onlooker)
            drawn = now if decided else drawn

    with Live(console=screen, auto_refresh=False, transient=True) as live, progress_lines.cursor_kept(screen):
        yield watch
