"""Shows Samurai Gardener: the table, the cards of the round, every seat's garden, its decks; and how it is played."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

import msgspec
from rich.cells import cell_len
from rich.text import Text

from arena.core.face import (
    Payload,
    Seat,
    drawing_kit,
    game_kit,
    layouts,
    log_records,
    plain,
    presenters,
    scenes,
    seat_styles,
    value_types,
)
from arena.games.gardener.deck import KINDS, Deck, remarks
from arena.games.gardener.show.drawing import GardenerDrawing
from arena.games.gardener.show.garden import (
    DOWN,
    NEW,
    SCORED,
    SIGNS,
    Square,
    card_lines,
    garden_lines,
    row_squares,
    sign,
    small_card_lines,
    squares_of,
    window_lines,
)
from arena.games.gardener.show.picture import gardener_svg
from arena.games.gardener.show.words import Narrator, cards, square

_NAME_WIDTH = 12
_QUESTIONS = {
    "card": "Which card?",
    "at": "Where does the upper left square of your card go?",
    "turned": "How does it lie?",
    "along": "Which way does that row run?",
}


class DeckFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The cards of a deck."""

    cards: int
    squares: dict[str, int]
    remarks: tuple[str, ...]
    """Remarks on its balance, for its author."""


class GardenerFacts(presenters.BoardFacts, frozen=True, kw_only=True):
    """What a deck's file says."""

    thing: ClassVar[str] = "deck"

    deck: DeckFacts

    def sentences(self) -> Iterator[str]:
        """Yields how many cards and squares there are, and the remarks."""
        squares = ", ".join(f"{number} {kind}" for kind, number in self.deck.squares.items())
        yield f"{self.deck.cards} cards; squares: {squares}"
        yield from self.deck.remarks


class Gardener(presenters.Presenter):
    """Shows Samurai Gardener."""

    turn_name: ClassVar[str] = "Round"
    gain_name: ClassVar[str] = "score"
    gained_name: ClassVar[str] = "points"
    follows: ClassVar[frozenset[str]] = frozenset({"next", "turned_up", "over"})

    def __init__(self, header: log_records.Header, rules: game_kit.Rules[Any], eyes: Collection[Seat]) -> None:
        super().__init__(header, rules, eyes)
        self._names = [layouts.clip(name, _NAME_WIDTH) for name in self.names]
        self._cards = cast(Deck, rules.board).payload()["cards"]
        self._features = rules.options["features"] == "on"
        self._target = rules.options["target"]
        self._narrator = Narrator(self.seats, features=self._features, target=self._target)

    def decision(self, kind: str, action: Payload | None = None) -> str:
        if kind == "seize" and action is not None:
            return f"grabs {cards([action['plays'][0]['card']])}"
        return {"seize": "seizes a card", "plant": "plants a card", "score": "chooses rows to score"}.get(kind, "")

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        return self._narrator.tell(events)

    def over(self, ranks: value_types.Ranks, scores: Sequence[int] | None) -> Iterator[Text]:
        yield from ()

    def draw(
        self, views: Mapping[Seat, Payload], before: Mapping[Seat, Payload], events: Sequence[Payload], width: int
    ) -> list[Text]:
        view = next(iter(views.values()))  # every seat sees the same
        lines = layouts.shelves([self._table(view), layouts.shelves(self._round_cards(view), width, gap=2)], width)
        gardens = [self._garden(view, seat, events, width) for seat in range(len(self._names))]
        return [*lines, Text(), *layouts.shelves(gardens, width), Text(), *layouts.flow(list(self._legend()), width)]

    def drawing(self) -> drawing_kit.Drawing:
        return GardenerDrawing(self.rules, self.names)

    def gains(self, event: Payload) -> Mapping[Seat, int]:
        return {event["seat"]: event["points"]} if event["event"] in ("scored", "bonus") else {}

    def scene(
        self,
        views: Mapping[Seat, Payload],
        before: Mapping[Seat, Payload],
        events: Sequence[Payload],
        width: int,
        height: int,
        marks: Collection[Any] = (),
    ) -> scenes.Scene:
        view = next(iter(views.values()))
        facts = layouts.shelves(
            [self._table(view), layouts.shelves(self._round_cards(view, small=True), width, gap=1)], width
        )
        seats = range(len(self._names))
        room = (width - 3 * (len(seats) - 1)) // len(seats)
        rows = height - len(facts) - 1
        large = [self._garden(view, seat, events, width) for seat in seats]
        small = [self._small_garden(view, seat, events, room, rows) for seat in seats]
        # A seat more or less with a card changes how wide they are, and the gardens are not to move.
        facts += [Text()] * (max(len(self._names) + 2, 4) - len(facts))
        return scenes.Scene(
            facts=facts, sheets=[scenes.Sheet(lines=_side_by_side(gardens, room)) for gardens in (large, small)]
        )

    def question(self, kind: str, key: str) -> str:
        if key == "at" and kind == "score":
            return "Which row do you score? That from"
        return _QUESTIONS[key]

    def page_question(self, kind: str, key: str) -> str:
        return "Where does your card go?" if (kind, key) == ("plant", "at") else self.question(kind, key)

    def primer(self) -> Iterator[str]:
        return primer(self.rules.options)

    def hint(self, kind: str, key: str, *, begun: bool) -> str:
        return hint(kind, key, self.rules.options, begun=begun)

    def word(self, key: str, value: Any, view: Payload) -> str:
        match key:
            case "card":
                return cards([value])
            case "at":
                return square(value)
            case "turned":
                return "turned" if value else "as it is"
        return plain(value)

    def spot(self, key: str, value: Any) -> tuple[float, float] | None:
        return (value[0], value[1]) if key == "at" else None

    def legend(self) -> Iterator[Text]:
        yield Text(", ").join([*self._legend(), Text(f"{NEW} line of a new card, where squares have one character")])
        yield Text("Large squares have two characters, small ones one; < and > show that a garden goes on.")

    @classmethod
    def board_facts(cls, rules: str, boards: Mapping[int, game_kit.Board]) -> presenters.BoardFacts:
        deck = cast(Deck, next(iter(boards.values())))
        squares = b"".join(deck.cards)
        facts = DeckFacts(
            cards=len(deck.cards),
            squares={kind: squares.count(index) for index, kind in enumerate(KINDS)},
            remarks=tuple(remarks(deck)),
        )
        return GardenerFacts(rules=rules, name=deck.name, source=deck.source, players=tuple(boards), deck=facts)

    @classmethod
    def board_lines(cls, board: game_kit.Board, players: int, width: int) -> Iterator[Text]:
        deck = cast(Deck, board)
        yield Text.assemble((plain(deck.name), "bold"), f", {len(deck.cards)} cards")
        yield Text()
        drawn = ([KINDS[square] for square in card] for card in deck.cards)
        sheet = ([Text(f"{number:3}", "bold"), *card_lines(card)] for number, card in enumerate(drawn))
        yield from layouts.shelves(sheet, width)
        yield Text()
        yield from layouts.flow([sign(kind).append(f" {kind}", "") for kind in KINDS], width)

    @classmethod
    def board_svg(cls, board: game_kit.Board, players: int) -> str:
        return gardener_svg(cast(Deck, board))

    def _table(self, view: Payload) -> list[Text]:
        signs = "  " + " ".join(SIGNS.values()) if self._features else ""
        lines = [Text().append(f"{'':6}{'':{_NAME_WIDTH}} score{signs}  card", "dim")]
        for seat, name in enumerate(self._names):
            line = Text(">" if seat == view["starter"] else " ").append_text(seat_styles.seat_mark(seat))
            line.append(f" {seat}  {name}{' ' * (_NAME_WIDTH - cell_len(name))} {view['scores'][seat]:5} ")
            if self._features:
                for kind in SIGNS:
                    line.append(" ").append_text(sign(kind) if kind in view["features"][seat] else Text(DOWN))
                line.append(" ")
            card = DOWN if view["taken"][seat] is None else view["taken"][seat]
            lines.append(line.append(" forfeited" if seat in view["forfeited"] else f" {card:>4}"))
        return [*lines, Text().append(f"{'':6}{view['deck']} cards in the deck, ends above {self._target}", "dim")]

    def _round_cards(self, view: Payload, *, small: bool = False) -> Iterator[list[Text]]:
        """Yields the cards that were turned up, those that are left and those that a seat holds, and the next one."""
        draw = small_card_lines if small else card_lines
        held = {card: seat for seat, card in enumerate(view["taken"]) if card is not None}
        for card, seat in sorted({**dict.fromkeys(view["offer"]), **held}.items()):
            mark = Text(" ") if seat is None else seat_styles.seat_mark(seat)
            yield [Text(f"{card:2}" if small else f"{card:3} ").append_text(mark), *draw(self._cards[card])]
        if (card := view["next"]) is not None:
            yield [Text(f"next {card}" if small else f"{card:3} next"), *draw(self._cards[card])]

    def _small_garden(
        self, view: Payload, seat: Seat, events: Sequence[Payload], width: int, height: int
    ) -> list[Text]:
        new, scored = self._changes(seat, events)
        title = seat_styles.seat_mark(seat).append(f" {seat}  {self._names[seat]}")
        title.truncate(width, overflow="ellipsis")
        lines = window_lines(self._cards, view["gardens"][seat], width, height - 1, new=new, scored=scored)
        return [title, *lines]

    def _garden(self, view: Payload, seat: Seat, events: Sequence[Payload], width: int) -> list[Text]:
        new, scored = self._changes(seat, events)
        title = seat_styles.seat_mark(seat).append(f" {seat}  {self._names[seat]}")
        return [title, *garden_lines(self._cards, view["gardens"][seat], width, new=new, scored=scored)]

    def _changes(self, seat: Seat, events: Sequence[Payload]) -> tuple[set[Square], set[Square]]:
        """Returns the squares of a garden's new card, and of its rows that were just scored."""
        new: set[Square] = set()
        scored: set[Square] = set()
        for event in events:
            if event["event"] == "planted" and event["seat"] == seat:
                new.update(square for square, _ in squares_of(self._cards[event["card"]], *event["at"]))
            if event["event"] == "scored" and event["seat"] == seat:
                scored.update(row_squares(event["row"]))
        return new, scored

    def _legend(self) -> Iterator[Text]:
        for kind in SIGNS:
            yield sign(kind).append(f" {kind}", "")
        yield Text("[ ] new card")
        yield Text(f"{SCORED} just scored")
        yield Text("> starts the round")
        if self._features:
            yield Text(f"{DOWN} feature card face down")


def _side_by_side(gardens: Sequence[list[Text]], room: int) -> list[Text]:
    """Sets gardens beside each other, however wide they are together. Each begins `room` and a gap after the last."""
    for title, *_ in gardens[:-1]:
        title.append(" " * (room - title.cell_len))
    return layouts.shelves(gardens, sum(max(line.cell_len for line in garden) + 3 for garden in gardens))


def primer(options: Mapping[str, str]) -> Iterator[str]:
    """Yields the rules in short."""
    yield (
        f"Lay a garden of cards and score rows in it. A score above {options['target']} ends the game at the end of "
        "the round, and the highest score wins."
    )
    yield "In each round as many cards are turned up as there are players, and everybody takes one."
    yield (
        "Whoever is first has the card."
        if options["seize"] == "race"
        else "The starting player chooses first; in the next round the next player does."
    )
    over = " or over it" if options["exactly_over"] == "no" else ", over it, or even exactly over another card"
    yield (
        f"Plant your card beside your garden{over}: a side must touch, a corner is not enough. It lies as it is, or "
        "turned upside down. It may not cover any square of a row."
    )
    yield (
        "A row is three or more squares of one kind (tatami, path, pond or garden) in a line, across or down. Rows "
        "that your new card made or lengthened can score now: 1 point for three squares, 2 for four, 4 for five, "
        "nothing for more."
    )
    if options["features"] != "off":
        yield (
            "A row scores only while your feature card of its kind is face up, and turns it face down. When all four "
            "are down, all turn up again. So the order matters: you choose the rows one after another."
        )
    yield "Rows of two kinds in one round bring 2 points more, of three kinds 4, of all four 6."


def hint(kind: str, key: str, options: Mapping[str, str], *, begun: bool) -> str:
    """Returns what helps to choose a value for a key of a play."""
    if key == "card":
        return "It goes into your garden." if options["seize"] != "race" else "Whoever is first has it."
    if kind == "plant" and key == "at":
        return "The dots are where the middle of your card can lie; point at one to see it."
    if kind == "score" and key == "at":
        return "Score another row, or end the turn." if begun else "Each turns its feature card down."
    return ""
