"""Shows the seats of a game so that people can tell them apart: by mark, colour and name of the bot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.style import Style
from rich.text import Text

from arena.core.show.tables import elide
from arena.core.text import counted, plain
from arena.core.types import Seat

MARKS = "▲■●◆★"
SEAT_COLOURS = ("#d02a2a", "#f0c820", "#9a48d0", "#4fd0d8", "#f08a30")
SEAT_STYLES = tuple(
    Style(color=ink, bgcolor=colour, bold=True)
    for ink, colour in zip(("#ffffff", "#1c1c1c", "#ffffff", "#1c1c1c", "#1c1c1c"), SEAT_COLOURS, strict=True)
)
EVERYBODY: Final[Seat] = -1
"""Stands for a seat that knows what all seats know, and nothing else."""
NAME_WIDTH = 24  # how many characters of a bot's name a sentence shows


def seat_mark(seat: Seat) -> Text:
    """Returns a seat's mark in its colour."""
    return Text.assemble((MARKS[seat], SEAT_COLOURS[seat]))


class Seats:
    """Names the seats of a game by the names of their bots."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = [elide(plain(name), NAME_WIDTH) for name in names]
        self._who = [Text.assemble(seat_mark(n), f" {name} (seat {n})") for n, name in enumerate(self.names)]
        self._brief = [(self.who(seat).plain, f"{MARKS[seat]} {name}") for seat, name in enumerate(self.names)]

    def who(self, seat: Seat) -> Text:
        """Returns a seat's mark, the name of its bot, and its number."""
        if seat == EVERYBODY:
            return Text("what everybody knows")
        return self._who[seat].copy()

    def brief(self, text: str) -> str:
        """Returns a sentence without the numbers of seats: a page shows each seat's mark in its colour."""
        for long, short in self._brief:
            text = text.replace(long, short)
        return text

    def all(self, seats: Iterable[Seat]) -> Text:
        """Returns some seats as a list."""
        return Text(", ").join(self.who(seat) for seat in seats)

    def places(self, ranks: Sequence[int], scores: Sequence[int] | None = None) -> Text:
        """Returns who is first, second and so on, with the scores if the game has scores."""
        by_rank = sorted(range(len(ranks)), key=lambda seat: (ranks[seat], seat))
        places = [Text(f"{ranks[seat]}. ").append_text(self.who(seat)) for seat in by_rank]
        if scores is not None:
            for seat, place in zip(by_rank, places, strict=True):
                place.append(f" {counted(scores[seat], 'point')}")
        return Text(", ").join(places)
