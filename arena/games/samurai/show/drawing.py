"""Draws a game of Samurai: the map, pieces and tiles on it, captures with the influence that decided them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from arena.core.face import Payload, Seat, drawing_kit, game_kit, layouts, seat_styles, svg
from arena.games.samurai.board import PIECES, Board
from arena.games.samurai.show.hexagons import RADIUS, RISE, centre, coast, corners
from arena.games.samurai.show.shapes import FACES, PIECE_SHAPES, STYLE
from arena.games.samurai.show.words import Narrator, changed_spaces, tile_name
from arena.games.samurai.state import CASTES, TILES

MARGIN = 10.0

_PIECES, _TILES, _RINGS, _WORDS = 1, 2, 3, 4  # layers
_STEP = {1: 0.0, 2: 22.0, 3: 19.5}  # between pieces side by side, by how many a settlement holds
_INFLUENCE = {tile.name: ({CASTES[caste] for caste in tile.castes}, tile.value) for tile in TILES}
_CORNER = (0.44, 0.36)  # of the width and height: what words need
_LONGEST_NAME = 16

Totals = tuple[int, ...]


class SamuraiDrawing(drawing_kit.Drawing):
    """Draws Samurai."""

    style: ClassVar[str] = STYLE

    def __init__(self, rules: game_kit.Rules[Any], names: Sequence[str]) -> None:
        super().__init__(rules, names)
        self._board = cast(Board, rules.board)
        self._where = Narrator(self._board, seat_styles.Seats(names)).where
        raw = [centre(space) for space in self._board.spaces]
        left = min(x for x, _ in raw) - RADIUS - MARGIN
        top = min(y for _, y in raw) - RISE - MARGIN
        self._at = [(x - left, y - top) for x, y in raw]
        self.size = (max(x for x, _ in self._at) + RADIUS + MARGIN, max(y for _, y in self._at) + RISE + MARGIN)
        self.corner = self._free_corner()
        self.labels = {
            "hand": "Hand", "stack": "Stack", "captured": "Captured", "aside": "Set aside", "supply": "Still to be put",
        }  # fmt: skip
        # Each is made once and compared by what it is: most of a scene is as it was.
        self._tiles: dict[tuple[int, Seat, str], drawing_kit.Sprite] = {}
        self._pieces: dict[tuple[int, str, float, Totals], drawing_kit.Sprite] = {}
        self._last: tuple[object, drawing_kit.Scene] = (), {}

    def symbols(self) -> Iterator[drawing_kit.Symbol]:
        wide, high = 2 * RADIUS, 2 * RISE
        outline = svg.points(corners())
        for kind in ("sea", "land", "village", "city", "edo"):
            yield drawing_kit.Symbol(
                f"K{kind}", svg.element("polygon", class_=f"d-space d-{kind}", points=outline), wide, high
            )
        wave = svg.element(
            "path", class_="d-wave", d="M-13,6q3.25,-5 6.5,0t6.5,0 6.5,0 6.5,0M-7,14q3.25,-5 6.5,0t6.5,0"
        )
        yield drawing_kit.Symbol("Kwave", wave, wide, high)
        for caste, shape in PIECE_SHAPES.items():
            disc = svg.element("circle", class_="d-piece", r=10.4)
            yield drawing_kit.Symbol(f"P{caste}", disc + svg.element("g", shape, class_="d-figure"), 24.0, 24.0, caste)
        body = svg.element("polygon", class_="d-tile", points=svg.points(corners(30.4)))
        bevel = svg.element("polygon", class_="d-bevel", points=svg.points(corners(27.2)))
        yield drawing_kit.Symbol("Tbody", body + bevel, wide, high)
        for tile in TILES:
            yield drawing_kit.Symbol(f"F{tile.name}", FACES[tile.name], wide, high)
        for seat in range(self.rules.seats):
            yield from self._of_seat(seat)
        cross = svg.element("path", class_="d-aside", d="M-5,-5L5,5M5,-5L-5,5")
        yield drawing_kit.Symbol(
            "Paside", svg.element("circle", class_="d-piece", r=9.6) + cross, 24.0, 24.0, "set aside"
        )
        yield drawing_kit.Symbol(
            "Rnew", svg.element("polygon", class_="new", points=svg.points(corners(32.6))), wide, high
        )
        yield drawing_kit.Symbol(
            "Rgain", svg.element("polygon", class_="gain", points=svg.points(corners(32.0))), wide, high
        )
        yield drawing_kit.Symbol(
            "Rmay", svg.element("polygon", class_="may", points=svg.points(corners(31.5))), wide, high
        )

    def _of_seat(self, seat: Seat) -> Iterator[drawing_kit.Symbol]:
        wide, high = 2 * RADIUS, 2 * RISE
        mark, body = drawing_kit.MARK_SHAPES[seat], svg.use("Tbody", 0, 0)
        for tile in TILES:
            small = svg.element("path", class_="d-face", d=mark, transform="translate(0 -17.4) scale(.58)")
            drawn = svg.element("g", body, svg.use(f"F{tile.name}", 0, 0), small, class_=f"o{seat}")
            yield drawing_kit.Symbol(f"T{seat}{tile.name}", drawn, wide, high, tile_name(tile.name))
        back = svg.element("path", class_="d-face", d=mark, transform="scale(1.2)")
        yield drawing_kit.Symbol(
            f"B{seat}", svg.element("g", body, back, class_=f"o{seat}"), wide, high, "a hidden tile"
        )
        won = svg.element("circle", class_="d-won", r=10.4) + svg.element(
            "path", class_="d-face", d=mark, transform="scale(.6)"
        )
        yield drawing_kit.Symbol(
            f"W{seat}", svg.element("g", won, class_=f"o{seat}"), 24.0, 24.0, f"captured by seat {seat}"
        )

    def ground(self) -> str:
        spaces = list(zip(self._board.spaces, self._at, strict=True))
        line = coast(self._board, self._at)
        sea = [svg.use("Ksea", x, y) for space, (x, y) in spaces if space.kind == "sea"]
        waves = [
            svg.use("Kwave", x, y)
            for space, (x, y) in spaces
            if space.kind == "sea" and (3 * space.col + 5 * space.row) % 4 == 0
        ]
        land = [svg.use(f"K{space.kind}", x, y) for space, (x, y) in spaces if space.kind != "sea"]
        numbers = [svg.text(str(number), x, y - 18.6, 8.6) for number, (x, y) in enumerate(self._at)]
        return "".join(
            (
                *sea,
                *waves,
                svg.element("path", class_="d-shallow", d=line),
                *land,
                svg.element("path", class_="d-coast", d=line),
                svg.element("g", *numbers, class_="d-number"),
                *(_name(space.name, x, y) for space, (x, y) in spaces if space.name),
            )
        )

    def scene(self, views: Mapping[Seat, Payload], events: Sequence[Payload]) -> drawing_kit.Scene:
        view = next(iter(views.values()))
        shown = view["tiles"], view["pieces"], events
        if shown != self._last[0]:  # else it is the same moment, seen by another seat
            self._last = shown, self._on_board(view, events)
        scene = dict(self._last[1])
        self._tell_seats(scene, views, view)
        return scene

    def _on_board(self, view: Payload, events: Sequence[Payload]) -> drawing_kit.Scene:
        scene: drawing_kit.Scene = {}
        self._put_pieces(scene, view, events)
        for space, seat, tile in view["tiles"]:
            key = (space, seat, tile)
            if key not in self._tiles:
                self._tiles[key] = self._tile(space, seat, tile)
            scene[f"t{space}"] = self._tiles[key]
        for event in events:
            if event["event"] not in ("captured", "set_aside"):
                for space in changed_spaces(event):
                    if event.get("seat") is not None:
                        scene[f"n{space}"] = drawing_kit.sprite(_RINGS, "Rnew", *self._at[space])
        return scene

    def offered(self, view: Payload, kind: str, key: str, value: Any) -> drawing_kit.Offered:
        if type(value) is int:
            return drawing_kit.Offered(at=self._at[value], ring="Rmay")
        return drawing_kit.Offered(symbol=f"T{view['seat']}{value}" if key in ("tile", "hand") else f"P{value}")

    def why(self, views: Mapping[Seat, Payload], events: Sequence[Payload]) -> Iterator[str]:
        at = _tiles_at(next(iter(views.values())))
        for event in _taken(events):
            totals = self._totals(at, event["space"], event["caste"])
            yield f"Influence, {event['caste']} on {event['space']}: {_sides(totals)}"

    def _put_pieces(self, scene: drawing_kit.Scene, view: Payload, events: Sequence[Payload]) -> None:
        at = _tiles_at(view)
        held: dict[int, list[str]] = {}
        for caste, spaces in view["pieces"].items():
            for space in spaces:
                held.setdefault(space, []).append(caste)
        gone: dict[int, list[Payload]] = {}
        for event in _taken(events):
            gone.setdefault(event["space"], []).append(event)
        for space, castes in held.items():
            here = gone.get(space, ())
            all_castes = sorted([*castes, *(event["caste"] for event in here)], key=CASTES.index)
            for caste in castes:
                totals = self._totals(at, space, caste)
                key = (space, caste, self._offset(space, all_castes.index(caste)), totals)
                if key not in self._pieces:
                    self._pieces[key] = self._piece(*key)
                scene[f"p{space}{caste}"] = self._pieces[key]
        for space, taken in gone.items():
            all_castes = sorted([*held.get(space, ()), *(event["caste"] for event in taken)], key=CASTES.index)
            x, y = self._at[space]
            scene[f"g{space}"] = drawing_kit.sprite(_RINGS, "Rgain", x, y)
            for event in taken:
                caste = event["caste"]
                symbol = f"W{event['seat']}" if event["event"] == "captured" else "Paside"
                offset = self._offset(space, all_castes.index(caste))
                scene[f"w{space}{caste}"] = drawing_kit.sprite(_RINGS, symbol, x + offset, y, f"the {caste} was here")
                if len(taken) == 1:  # for more there is no room; the sentences have them
                    sides = _sides(self._totals(at, space, caste), brief=True)
                    scene[f"i{space}"] = drawing_kit.words(_WORDS, sides, x, y + 26, "said gained")

    def _tell_seats(self, scene: drawing_kit.Scene, views: Mapping[Seat, Payload], view: Payload) -> None:
        for seat in range(self.rules.seats):
            own = views.get(seat)
            if own is not None:
                scene[f"#{seat}.hand"] = [f"T{seat}{tile}" for tile in own["hand"]]
            else:
                scene[f"#{seat}.hand"] = [f"B{seat}"] * view["hands"][seat]
            scene[f"#{seat}.stack"] = str(view["stacks"][seat])
            captured = (own or view)["captured"][seat]
            scene[f"#{seat}.captured"] = _counts(captured) if captured else [[f"P{caste}", "?"] for caste in CASTES]
            if seat in view["forfeited"]:
                scene[f"#{seat}.{drawing_kit.STATE}"] = "forfeited"
            elif seat == view["to_move"]:
                scene[f"#{seat}.{drawing_kit.STATE}"] = "to move"
        scene["#.aside"] = _counts(view["set_aside"])
        if any(view["supply"].values()):
            scene["#.supply"] = _counts(view["supply"])

    def _totals(self, at: Mapping[int, tuple[Seat, str]], space: int, caste: str) -> Totals:
        totals = [0] * self.rules.seats
        for near in self._board.spaces[space].neighbours:
            if near in at:
                seat, tile = at[near]
                castes, value = _INFLUENCE[tile]
                totals[seat] += value * (caste in castes)
        return tuple(totals)

    def _offset(self, space: int, slot: int) -> float:
        most = PIECES[self._board.spaces[space].kind]
        return (slot - (most - 1) / 2) * _STEP[most]

    def _tile(self, space: int, seat: Seat, tile: str) -> drawing_kit.Sprite:
        named = f"{seat_styles.MARKS[seat]} {self.names[seat]}: {tile_name(tile)} on {self._where(space)}"
        return drawing_kit.sprite(_TILES, f"T{seat}{tile}", *self._at[space], named)

    def _piece(self, space: int, caste: str, offset: float, totals: Totals) -> drawing_kit.Sprite:
        x, y = self._at[space]
        return drawing_kit.sprite(
            _PIECES, f"P{caste}", x + offset, y, f"{caste} on {self._where(space)}: {_sides(totals)}"
        )

    def _free_corner(self) -> str:
        wide, high = self.size
        upper = [x / wide for x, y in self._at if y / high < _CORNER[1]]
        if min(upper) > _CORNER[0]:
            return "nw"
        return "ne" if max(upper) < 1 - _CORNER[0] else ""


def _taken(events: Sequence[Payload]) -> Iterator[Payload]:
    return (event for event in events if event["event"] in ("captured", "set_aside"))


def _tiles_at(view: Payload) -> dict[int, tuple[Seat, str]]:
    return {space: (seat, tile) for space, seat, tile in view["tiles"]}


def _sides(totals: Totals, *, brief: bool = False) -> str:
    sides = [f"{seat_styles.MARKS[seat]}{'' if brief else ' '}{total}" for seat, total in enumerate(totals) if total]
    return (" " if brief else ", ").join(sides) or "no influence"


def _counts(pieces: Mapping[str, int]) -> list[list[Any]]:
    return [[f"P{caste}", pieces[caste]] for caste in CASTES]


def _name(name: str, x: float, y: float) -> str:
    short = layouts.clip(name, _LONGEST_NAME)
    size = svg.fitting_size(short, 11.0, 50.0)
    return svg.element("g", svg.title(name), svg.text(short, x, y + 24.4, size), class_="d-place")
