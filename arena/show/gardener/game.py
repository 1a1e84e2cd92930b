"""How a game of Samurai Gardener is shown: a table of the seats, the cards of the round, every seat's garden."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text

from arena.record.log import Header
from arena.show.gardener.garden import (
    DOWN,
    SCORED,
    SIGNS,
    Square,
    card_lines,
    garden_lines,
    row_squares,
    sign,
    squares_of,
)
from arena.show.gardener.words import Narrator, cards
from arena.show.layout import flow, shelves
from arena.show.seats import Seats, seat_mark
from arena.show.text import clip
from arena.types import Payload, Seat

_NAME_WIDTH = 12


class Gardener:
    """See `Presenter`."""

    turn_name: ClassVar[str] = "Round"

    def __init__(self, header: Header, board: Payload, eyes: Collection[Seat]) -> None:
        seats = Seats([bot.name for bot in header.bots])
        self._names = [clip(name, _NAME_WIDTH) for name in seats.names]
        self._cards = board["cards"]
        self._features = header.options["features"] == "on"
        self._target = header.options["target"]
        self._narrator = Narrator(seats, features=self._features, target=self._target)

    def decision(self, kind: str, action: Payload | None = None) -> str:
        """What a seat does that decides; only seizing is a race."""
        if kind == "seize" and action is not None:
            return f"grabs {cards([action['card']])}"
        return {"seize": "seizes a card", "plant": "plants a card", "score": "chooses rows to score"}.get(kind, "")

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        """Events in sentences."""
        return self._narrator.tell(events)

    def draw(self, views: Mapping[Seat, Payload], events: Sequence[Payload], width: int) -> list[Text]:
        """The table, the cards of the round, the gardens, the legend."""
        view = next(iter(views.values()))  # all see the same
        lines = shelves([self._table(view), shelves(self._round_cards(view), width, gap=2)], width)
        gardens = [self._garden(view, seat, events, width) for seat in range(len(self._names))]
        return [*lines, Text(), *shelves(gardens, width), Text(), *flow(list(self._legend()), width)]

    def _table(self, view: Payload) -> list[Text]:
        signs = "  " + " ".join(SIGNS.values()) if self._features else ""
        lines = [Text().append(f"{'':6}{'':{_NAME_WIDTH}} score{signs}  card", "dim")]
        for seat, name in enumerate(self._names):
            line = Text(">" if seat == view["starter"] else " ").append_text(seat_mark(seat))
            line.append(f" {seat}  {name}{' ' * (_NAME_WIDTH - cell_len(name))} {view['scores'][seat]:5} ")
            if self._features:
                for kind in SIGNS:
                    line.append(" ").append_text(sign(kind) if kind in view["features"][seat] else Text(DOWN))
                line.append(" ")
            card = DOWN if view["taken"][seat] is None else view["taken"][seat]
            lines.append(line.append(" forfeited" if seat in view["forfeited"] else f" {card:>4}"))
        return [*lines, Text().append(f"{'':6}{view['deck']} cards in the deck, ends above {self._target}", "dim")]

    def _round_cards(self, view: Payload) -> Iterator[list[Text]]:
        """The cards that were turned up: those that are left, and those that a seat holds."""
        held: dict[int, Seat | None] = dict.fromkeys(view["offer"])
        held |= {card: seat for seat, card in enumerate(view["taken"]) if card is not None}
        for card, seat in sorted(held.items()):
            title = Text(f"{card:3} ").append_text(Text(" ") if seat is None else seat_mark(seat))
            yield [title, *card_lines(self._cards[card])]

    def _garden(self, view: Payload, seat: Seat, events: Sequence[Payload], width: int) -> list[Text]:
        new: set[Square] = set()
        scored: set[Square] = set()
        for event in events:
            if event["event"] == "planted" and event["seat"] == seat:
                new.update(square for square, _ in squares_of(self._cards[event["card"]], *event["at"]))
            if event["event"] == "scored" and event["seat"] == seat:
                scored.update(row_squares(event["row"]))
        title = seat_mark(seat).append(f" {seat}  {self._names[seat]}")
        return [title, *garden_lines(self._cards, view["gardens"][seat], width, new=new, scored=scored)]

    def _legend(self) -> Iterator[Text]:
        for kind in SIGNS:
            yield sign(kind).append(f" {kind}", "")
        yield Text("[ ] new card")
        yield Text(f"{SCORED} just scored")
        yield Text("> starts the round")
        if self._features:
            yield Text(f"{DOWN} feature card face down")
