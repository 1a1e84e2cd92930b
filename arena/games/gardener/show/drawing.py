"""Draws a game of Samurai Gardener: the cards of the round above, every seat's garden below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from arena.core.face import Payload, Seat, drawing_kit, game_kit, svg, text_tables
from arena.games.gardener.deck import KINDS, Deck
from arena.games.gardener.geometry import HIGH, WIDE
from arena.games.gardener.show.garden import row_squares
from arena.games.gardener.show.picture import SQUARE, square_symbols

_CARDS, _RINGS, _MARKS, _WORDS = 1, 2, 3, 4  # layers
_ASPECT = 840 / 660  # width to height of the room that the page usually has
_GAP = 0.8 * SQUARE
_PAD = 0.35 * SQUARE  # inside a garden's bed
_HEAD = 34.0  # for the name above a garden
_LETTER = 14.5  # how wide one of a bold name is, about
_SMALLEST = 4  # squares that a bed is wide and high at least
_SPARE = 2  # squares that a bed gets beyond what its garden needs

Box = tuple[int, int, int, int]
"""A garden's least x and y, and those beyond its greatest, in squares."""


class GardenerDrawing(drawing_kit.Drawing):
    """Draws Samurai Gardener."""

    style: ClassVar[str] = """
.d-bed{fill:var(--soft);stroke:var(--line)}.d-tray{fill:none;stroke:var(--line);stroke-dasharray:5 5}
.d-card{fill:none;stroke:#4a4030;stroke-width:2;stroke-linejoin:round}.d-down{fill:var(--soft);stroke:var(--faint)}
.d-down-line{stroke:var(--faint);stroke-width:2}.d-heading{fill:var(--ink);font-weight:700}.d-small{fill:var(--faint)}
.d-row{fill:none;stroke:var(--gain);stroke-width:5;stroke-linejoin:round;stroke-dasharray:10 5}
@media(max-width:600px){svg:has(.d-bed~.d-bed~.d-bed){.d-heading{display:none}.score{font-size:42px}.said{font-size:32px}
.d-mark{transform-box:fill-box;transform-origin:left 75%;transform:scale(2.1)}}}
"""

    def __init__(self, rules: game_kit.Rules[Any], names: Sequence[str]) -> None:
        super().__init__(rules, names)
        self._cards = cast(Deck, rules.board).cards
        self._features = [value == "on" for value in _by_seat(rules.options["features"], rules.seats)]
        self._boxes: list[Box] = [(-1, -1, 3, 4)] * rules.seats
        self._lay_out()
        self.labels = {"score": "Score", "features": "Feature cards", "card": "Card", "deck": "Deck"}
        self._planted: dict[tuple[Seat, int, int, int, bool], drawing_kit.Sprite] = {}

    def plan(self, events: Iterable[Payload]) -> None:
        boxes: list[list[tuple[int, int]]] = [[(0, 0)] for _ in self._boxes]
        for event in events:
            if event["event"] == "planted":
                x, y = event["at"]
                boxes[event["seat"]].append((x, y))
        self._boxes = [_box(corners) for corners in boxes]
        self._lay_out()

    def make_room(self, views: Mapping[Seat, Payload]) -> bool:
        view = next(iter(views.values()))
        boxes = list(self._boxes)
        for seat, garden in enumerate(view["gardens"]):
            needed = _box([(0, 0), *((x, y) for _, x, y, _ in garden)])
            if seat in views:
                needed = _wider(needed, WIDE, HIGH)
            if _union(needed, boxes[seat]) != boxes[seat]:
                # More than it needs, so that it does not change with every card.
                boxes[seat] = _union(_wider(needed, _SPARE, _SPARE), boxes[seat])
        if boxes == self._boxes:
            return False
        self._boxes = boxes
        self._planted.clear()
        self._lay_out()
        return True

    def symbols(self) -> Iterator[drawing_kit.Symbol]:
        for kind, drawn in square_symbols():
            yield drawing_kit.Symbol(f"Q{kind}", drawn, SQUARE + 2, SQUARE + 2, kind)
        half = SQUARE / 2
        down = svg.element("rect", class_="d-down", x=-half, y=-half, width=SQUARE, height=SQUARE, rx=6)
        line = svg.element("path", class_="d-down-line", d="M-6,0H6")
        yield drawing_kit.Symbol("Qdown", down + line, SQUARE + 2, SQUARE + 2, "face down")
        wide, high = WIDE * SQUARE, HIGH * SQUARE
        frame = {"x": -wide / 2, "y": -high / 2, "width": wide, "height": high, "rx": 4}
        yield drawing_kit.Symbol("Rnew", svg.element("rect", class_="new", **frame), wide, high)
        yield drawing_kit.Symbol("Rcard", svg.element("rect", class_="may", **frame), wide, high)
        yield drawing_kit.Symbol("Rspot", svg.element("circle", class_="may spot", r=0.3 * SQUARE), SQUARE, SQUARE)
        border = svg.element("rect", class_="d-card", **frame)
        for number, card in enumerate(self._cards):
            for turned in (False, True):
                squares = "".join(
                    svg.use(f"Q{KINDS[kind]}", (at % WIDE - 0.5) * SQUARE, (at // WIDE - 1) * SQUARE)
                    for at, kind in enumerate(reversed(card) if turned else card)
                )
                name = f"C{number}{'t' * turned}"
                yield drawing_kit.Symbol(name, squares + border, wide + 3, high + 3, f"card {number}")
        for length in (3, 4, 5):
            for along, name in (((length, 1), f"Ra{length}"), ((1, length), f"Rd{length}")):
                across, below = (squares * SQUARE for squares in along)
                yield drawing_kit.Symbol(
                    name, svg.element("rect", class_="d-row", x=-half, y=-half, width=across, height=below, rx=7), 0, 0
                )

    def ground(self) -> str:
        x, y, wide, high = self._tray
        parts = [svg.element("rect", class_="d-tray", x=x, y=y, width=wide, height=high, rx=12)]
        for seat, (left, top, width, height) in enumerate(self._beds):
            parts.append(svg.element("rect", class_="d-bed", x=left, y=top, width=width, height=height, rx=10))
            parts.append(svg.element("g", svg.use(f"M{seat}", left + 12, top - 15), class_="d-mark"))
            room = max(60.0, width - 76)
            name = text_tables.elide(self.names[seat], int(room / _LETTER))
            words = svg.text(name, 0, 21.5, svg.fitting_size(name, 20.0, 0.9 * room), class_="d-heading")
            parts.append(svg.element("svg", words, x=left + 30, y=top - 30, width=room, height=30))  # cuts wide letters
        return "".join(parts)

    def scene(self, views: Mapping[Seat, Payload], events: Sequence[Payload]) -> drawing_kit.Scene:
        view = next(iter(views.values()))  # every seat sees the same
        scene: drawing_kit.Scene = {}
        self._put_offer(scene, view)
        for seat, garden in enumerate(view["gardens"]):
            for place, (card, x, y, turned) in enumerate(garden):
                key = (seat, card, x, y, turned)
                if key not in self._planted:
                    middle = self._square(seat, x + 0.5, y + 1)
                    title = f"{self._named(card, turned=turned)} at [{x},{y}] in the garden of {self.names[seat]}"
                    self._planted[key] = drawing_kit.sprite(_CARDS, f"C{card}{'t' * turned}", *middle, title)
                scene[f"g{seat}.{place}"] = self._planted[key]
        self._mark(scene, events)
        self._tell_seats(scene, view)
        return scene

    def offered(self, view: Payload, kind: str, key: str, value: Any) -> drawing_kit.Offered:
        seat = view["seat"]
        if key == "card":
            return drawing_kit.Offered(at=self._offer_places(view)[value], ring="Rcard")
        if key == "at":
            x, y = value
            middle = (x + 0.5, y + 1) if kind == "plant" else (x, y)
            return drawing_kit.Offered(at=self._square(seat, *middle), ring="Rspot")
        if key == "turned" and (card := view["taken"][seat]) is not None:
            return drawing_kit.Offered(symbol=f"C{card}{'t' * value}")
        return drawing_kit.Offered()

    def _offer_places(self, view: Payload) -> dict[int, tuple[float, float]]:
        cards = sorted([*view["offer"], *(card for card in view["taken"] if card is not None)])
        left, top, _, _ = self._tray
        return {
            card: (left + _GAP / 2 + SQUARE + place * (2 * SQUARE + _GAP), top + 30 + 1.5 * SQUARE)
            for place, card in enumerate(cards)
        }

    def _put_offer(self, scene: drawing_kit.Scene, view: Payload) -> None:
        """Places the cards that were turned up, with the marks of those who hold them, and the next one."""
        held: dict[int, Seat | None] = dict.fromkeys(view["offer"])
        held |= {card: seat for seat, card in enumerate(view["taken"]) if card is not None}
        left, top, _, _ = self._tray
        for card, (x, y) in self._offer_places(view).items():
            seat = held[card]
            scene[f"o{card}"] = drawing_kit.sprite(_CARDS, f"C{card}", x, y, self._named(card))
            scene[f"on{card}"] = drawing_kit.words(
                _WORDS, f"{card}", x + (12 if seat is not None else 0), top + 22, "said"
            )
            if seat is not None:
                scene[f"om{card}"] = drawing_kit.sprite(
                    _MARKS, f"M{seat}", x - 12, top + 17, f"card {card} is taken by {self.names[seat]}"
                )
        if view["next"] is not None:
            x = left + _GAP / 2 + SQUARE + self.rules.seats * (2 * SQUARE + _GAP) + _GAP
            title = f"the next of the deck: {self._named(view['next'])}"
            scene["next"] = drawing_kit.sprite(_CARDS, f"C{view['next']}", x, top + 30 + 1.5 * SQUARE, title)
            scene["nextn"] = drawing_kit.words(_WORDS, f"next {view['next']}", x, top + 22, "said")

    def _named(self, card: int, *, turned: bool = False) -> str:
        """Returns a card in words, row by row: `card 5 (pond path, pond path, garden tatami)`."""
        kinds = [KINDS[kind] for kind in self._cards[card]]
        if turned:
            kinds.reverse()
        rows = (" ".join(kinds[first : first + WIDE]) for first in range(0, len(kinds), WIDE))
        return f"card {card} ({', '.join(rows)})"

    def _mark(self, scene: drawing_kit.Scene, events: Sequence[Payload]) -> None:
        for at, event in enumerate(events):
            if event["event"] == "planted":
                seat = event["seat"]
                x, y = event["at"]
                scene[f"n{seat}"] = drawing_kit.sprite(_RINGS, "Rnew", *self._square(seat, x + 0.5, y + 1))
            elif event["event"] == "scored":
                seat = event["seat"]
                row = event["row"]
                symbol = f"R{row['along'][0]}{row['length']}"
                scene[f"r{seat}.{at}"] = drawing_kit.sprite(_RINGS, symbol, *self._square(seat, *row["at"]))
                squares = list(row_squares(row))
                x = sum(x for x, _ in squares) / len(squares)
                y = sum(y for _, y in squares) / len(squares)
                middle, below = self._square(seat, x, y)
                scene[f"s{seat}.{at}"] = drawing_kit.words(
                    _WORDS, f"+{event['points']}", middle, below + 8, "said gained"
                )

    def _tell_seats(self, scene: drawing_kit.Scene, view: Payload) -> None:
        for seat, (left, top, width, _) in enumerate(self._beds):
            scene[f"p{seat}"] = drawing_kit.words(
                _WORDS, str(view["scores"][seat]), left + width - 16, top - 8.5, "score"
            )
            scene[f"#{seat}.score"] = str(view["scores"][seat])
            if self._features[seat]:
                up = view["features"][seat]
                scene[f"#{seat}.features"] = [f"Q{kind}" if kind in up else "Qdown" for kind in KINDS]
            card = view["taken"][seat]
            if card is not None:
                scene[f"#{seat}.card"] = str(card)
            if seat in view["forfeited"]:
                scene[f"#{seat}.{drawing_kit.STATE}"] = "forfeited"
            elif seat == view["starter"]:
                scene[f"#{seat}.{drawing_kit.STATE}"] = "starts the round"
        scene["#.deck"] = "1 card" if view["deck"] == 1 else f"{view['deck']} cards"

    def _square(self, seat: Seat, x: float, y: float) -> tuple[float, float]:
        left, top, width, height = self._beds[seat]
        first_x, first_y, end_x, end_y = self._boxes[seat]
        # A small garden lies in the middle of its bed.
        across = left + (width - (end_x - first_x) * SQUARE) / 2
        down = top + (height - (end_y - first_y) * SQUARE) / 2
        return across + (x - first_x + 0.5) * SQUARE, down + (y - first_y + 0.5) * SQUARE

    def _lay_out(self) -> None:
        """Places the tray and the beds: of one to n beds a row, in the way in which all are largest."""
        seats = len(self._boxes)
        wides = [2 * _PAD + SQUARE * max(_SMALLEST, box[2] - box[0]) for box in self._boxes]
        highs = [2 * _PAD + SQUARE * max(_SMALLEST, box[3] - box[1]) for box in self._boxes]
        tray_wide = (seats + 1) * (2 * SQUARE + _GAP) + _GAP
        tray_high = 42 + 3 * SQUARE
        best = None
        for columns in range(1, seats + 1):
            rows = [range(first, min(first + columns, seats)) for first in range(0, seats, columns)]
            wide = max(tray_wide, max(sum(wides[seat] + _GAP for seat in row) - _GAP for row in rows))
            high = tray_high + sum(_GAP + _HEAD + max(highs[seat] for seat in row) for row in rows)
            room = max(wide / _ASPECT, high)
            if best is None or room < best[0]:
                best = room, wide, high, rows
        assert best is not None
        _, wide, high, rows = best
        spare_high = max(0.0, wide / _ASPECT - high) / len(rows)  # the beds take what room is left
        high += spare_high * len(rows)
        wide = max(wide, high * _ASPECT)
        margin = 8.0
        self.size = (wide + 2 * margin, high + 2 * margin)
        self._tray = ((wide - tray_wide) / 2 + margin, margin, tray_wide, tray_high)
        beds: list[tuple[float, float, float, float]] = []
        y = margin + tray_high
        for row in rows:
            y += _GAP + _HEAD
            tall = max(highs[seat] for seat in row) + spare_high
            spare = (wide - sum(wides[seat] for seat in row)) / (len(row) + 1)
            gap = max(_GAP, spare) if len(row) > 1 else spare
            left = margin + (wide - sum(wides[seat] for seat in row) - gap * (len(row) - 1)) / 2
            for seat in row:
                beds.append((left, y, wides[seat], tall))
                left += wides[seat] + gap
            y += tall
        self._beds = beds


def _box(corners: Sequence[tuple[int, int]]) -> Box:
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs) + WIDE, max(ys) + HIGH


def _wider(box: Box, across: int, down: int) -> Box:
    left, top, right, bottom = box
    return left - across, top - down, right + across, bottom + down


def _union(one: Box, other: Box) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _by_seat(value: str, seats: int) -> list[str]:
    return value.split(",") if "," in value else [value] * seats
