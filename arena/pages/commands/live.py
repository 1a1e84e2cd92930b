"""Draws the game in progress on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from arena.core.commands.progress import cursor_kept
from arena.core.commands.terminal import MOST_WIDTH, too_small
from arena.core.record.log import ActionRecord, ForfeitRecord, Header, OutcomeRecord, Record
from arena.core.show.replay import Onlooker
from arena.core.show.scene import Place

if TYPE_CHECKING:
    from rich.console import Console

LEAST_S = 0.05
"""Shortest time between two drawings. Drawing more often would slow the game and be no easier to follow."""


@contextmanager
def live_board(screen: Console, pace: float) -> Iterator[Callable[[Header | Record], None]]:
    """Draws the games that are played in the block, each decision for at least `pace` seconds.

    Yields:
        The function to call with each record.
    """
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    onlooker: Onlooker | None = None
    drawn = 0.0
    place = Place()

    def draw(looking_on: Onlooker) -> None:
        nonlocal place
        if small := too_small(screen):
            live.update(Text(small), refresh=True)
            return
        bar = Text(" live ", "reverse")
        shown = looking_on.page(looking_on.frame(), bar, min(screen.width, MOST_WIDTH), screen.height - 1, place)
        place = shown.place
        live.update(Group(*shown.lines), refresh=True)

    def watch(record: Header | Record) -> None:
        nonlocal onlooker, drawn
        if isinstance(record, Header):
            onlooker = Onlooker(record, "the game in progress")
            return
        assert onlooker is not None
        decided = isinstance(record, ActionRecord | ForfeitRecord | OutcomeRecord)
        if decided:
            time.sleep(max(0.0, drawn + pace - time.monotonic()))
        onlooker.see(record)
        now = time.monotonic()
        if now >= drawn + LEAST_S or pace:
            draw(onlooker)
            drawn = now if decided else drawn

    with Live(console=screen, auto_refresh=False, transient=True) as live, cursor_kept(screen):
        yield watch
