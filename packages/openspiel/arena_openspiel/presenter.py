"""Shows a game of OpenSpiel to people: what OpenSpiel says of the position, and who did what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from arena.core.face import Payload, Seat, layouts, plain, presenters
from arena_openspiel.cards import RED, split_hands
from arena_openspiel.drawing import SpielDrawing
from arena_openspiel.game import Spiel


class SpielPresenter(presenters.Presenter):
    """Tells and draws a game."""

    rules: Spiel

    def when(self, turn: int) -> str:
        """Returns a turn in words. A person at the board is not told its number."""
        return super().when(turn) if turn else "So far"

    def decision(self, kind: str, action: Payload | None = None) -> str:
        """Returns nothing: the events tell it."""
        return ""

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        """Yields who did what, as far as one of the shown seats saw it."""
        told = None
        for event in events:
            last = event.get("last")
            # Where something is hidden, each seat that saw it has an event of its own.
            if last is None or (last == told and not self.rules.nothing_hidden):
                continue
            told = last
            name = plain(last["name"])
            yield Text(f"chance: {name}") if last["seat"] is None else self.seats.who(last["seat"]).append(f": {name}")

    def draw(
        self, views: Mapping[Seat, Payload], before: Mapping[Seat, Payload], events: Sequence[Payload], width: int
    ) -> list[Text]:
        """Returns the position as each of the seats sees it, or once where nothing is hidden."""
        shown = dict([next(iter(views.items()))]) if self.rules.nothing_hidden else views
        return layouts.shelves((self._position(seat, view, width) for seat, view in shown.items()), width)

    def drawing(self) -> SpielDrawing:
        """Returns what draws the game for a page."""
        return SpielDrawing(self.rules, self.names)

    def _position(self, seat: Seat, view: Payload, width: int) -> list[Text]:
        lines = [] if self.rules.nothing_hidden else [self.seats.who(seat)]
        for part in split_hands(view["text"].rstrip().splitlines()):
            if isinstance(part, str):
                lines += layouts.paragraph(Text(plain(part)), width)
            else:
                lines += [
                    Text(f"  {suit} {' '.join(ranks)}", "red" if suit in RED else "")
                    for hand in part
                    for suit, ranks in hand
                ]
        return lines

    def word(self, key: str, value: Any, view: Payload) -> str:
        """Returns the name of an action."""
        names = dict(zip(view["actions"], view["names"], strict=True))
        return plain(names.get(value, str(value)))

    def question(self, kind: str, key: str) -> str:
        """Returns what a person is asked."""
        return "Which action?"

    def legend(self) -> Iterator[Text]:
        """Yields nothing: OpenSpiel does not say what its signs mean."""
        yield from ()
