"""Shows Samurai: the map with its legend, a table of what each seat has, its boards; and how it is played."""

from __future__ import annotations

from collections import Counter
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
from arena.games.samurai.board import CASTES as CASTE_COUNT
from arena.games.samurai.board import PIECES, Board
from arena.games.samurai.show.board import CELL, TAKEN, compact_lines, corner, legend, map_lines, tile_code
from arena.games.samurai.show.drawing import SamuraiDrawing
from arena.games.samurai.show.picture import samurai_svg
from arena.games.samurai.show.words import Narrator, changed_spaces, tile_name
from arena.games.samurai.state import CASTES

_NAME_WIDTH = 10
_HAND_WIDTH = 14
_QUESTIONS = {
    "hand": "Which tile for your first hand?",
    "tile": "Which tile?",
    "space": "On which space?",
    "from": "Which of your tiles moves? That on space",
    "to": "To which space?",
    "caste": "Which piece?",
    "with": "In exchange for one on which space?",
    "with_caste": "Which piece of it?",
}
_EMPTY: Payload = {"pieces": {}, "tiles": []}


class MapFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A map for one number of players."""

    players: int
    spaces: int
    land: int
    sea: int
    villages: int
    cities: int
    edos: int
    pieces_per_caste: int


class SamuraiFacts(presenters.BoardFacts, frozen=True, kw_only=True):
    """What a board file says."""

    maps: tuple[MapFacts, ...]

    def sentences(self) -> Iterator[str]:
        """Yields what each map has."""
        for on in self.maps:
            settlements = f"{_count(on.villages, 'village')}, {_count(on.cities, 'city')}, {_count(on.edos, 'Edo')}"
            words = f"{on.players} players: {_count(on.spaces, 'space')} ({on.land} land, {on.sea} sea, {settlements})"
            yield f"{words}, {_count(on.pieces_per_caste, 'piece')} of each caste"


class Samurai(presenters.Presenter):
    """Shows Samurai."""

    gain_name: ClassVar[str] = "capture"
    gained_name: ClassVar[str] = "pieces captured"
    follows: ClassVar[frozenset[str]] = frozenset({"hand", "setup", "turn", "captured", "set_aside", "over"})

    def __init__(self, header: log_records.Header, rules: game_kit.Rules[Any], eyes: Collection[Seat]) -> None:
        super().__init__(header, rules, eyes)
        self._board = cast(Board, rules.board)
        self._narrator = Narrator(self._board, self.seats)

    def decision(self, kind: str, action: Payload | None = None) -> str:
        return {"hand": "chooses a hand", "setup": "puts a piece"}.get(kind, "")

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        return self._narrator.tell(events)

    def over(self, ranks: value_types.Ranks, scores: Sequence[int] | None) -> Iterator[Text]:
        yield from ()

    def draw(
        self, views: Mapping[Seat, Payload], before: Mapping[Seat, Payload], events: Sequence[Payload], width: int
    ) -> list[Text]:
        changed = {space for event in events for space in changed_spaces(event)}
        board = map_lines(self._board, next(iter(views.values())), changed)
        return layouts.beside(board, _seat_table(views, self.names), list(legend(self._board)), width)

    def drawing(self) -> drawing_kit.Drawing:
        return SamuraiDrawing(self.rules, self.names)

    def gains(self, event: Payload) -> Mapping[Seat, int]:
        return {event["seat"]: 1} if event["event"] == "captured" else {}

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
        changed = {space for event in events for space in changed_spaces(event)}
        left, top = corner(self._board)
        spaces = [self._board.spaces[number] for number in changed]
        ends = (0, CELL - 1)
        places = tuple((space.row - top, CELL * (space.col - left) + end) for space in spaces for end in ends)
        targets = [mark for mark in marks if type(mark) is int]
        large = scenes.Sheet(lines=map_lines(self._board, view, changed, targets), in_corner=True)
        small = scenes.Sheet(lines=compact_lines(self._board, view, changed, targets), changed=places, in_corner=True)
        facts = _seat_table(views, self.names)
        lines = len(self.names) + 3  # in the set-up it has a line more, and the board is not to move when that goes
        return scenes.Scene(facts=facts + [Text()] * (lines - len(facts)), sheets=[large, small])

    def question(self, kind: str, key: str) -> str:
        return _QUESTIONS[key] if kind != "setup" or key != "space" else "On which settlement?"

    def primer(self) -> Iterator[str]:
        return primer(self.rules.options)

    def hint(self, kind: str, key: str, *, begun: bool) -> str:
        return hint(kind, key, self.rules.options, begun=begun)

    def word(self, key: str, value: Any, view: Payload) -> str:
        if type(value) is int:
            return self._narrator.where(value)
        return tile_name(value) if key in ("tile", "hand") else plain(value)

    def spot(self, key: str, value: Any) -> tuple[float, float] | None:
        if type(value) is not int:
            return None
        space = self._board.spaces[value]
        return 2.0 * space.col, 2.0 * space.row + space.col % 2

    def legend(self) -> Iterator[Text]:
        yield Text(
            "A space is four characters: what lies there, or a sign and its number. ~ and _ are sea, ' and . land; "
            "spaces with the low signs, _ and ., and all others of their columns lie half a space lower."
        )
        yield Text(", ").join(item for item in legend(self._board) if item.plain[0] not in "~.")

    @classmethod
    def board_facts(cls, rules: str, boards: Mapping[int, game_kit.Board]) -> presenters.BoardFacts:
        maps = tuple(_map_facts(cast(Board, board), players) for players, board in boards.items())
        board = next(iter(boards.values()))
        return SamuraiFacts(rules=rules, name=board.name, source=board.source, players=tuple(boards), maps=maps)

    @classmethod
    def board_lines(cls, board: game_kit.Board, players: int, width: int) -> Iterator[Text]:
        board = cast(Board, board)
        yield Text.assemble((plain(board.name), "bold"), f", {players} players")
        yield Text()
        yield from map_lines(board, _EMPTY)
        yield Text()
        yield from layouts.flow(list(_map_legend(board)), width)

    @classmethod
    def board_svg(cls, board: game_kit.Board, players: int) -> str:
        return samurai_svg(cast(Board, board), players)


def _map_facts(board: Board, players: int) -> MapFacts:
    kinds = Counter(space.kind for space in board.spaces)
    return MapFacts(
        players=players, spaces=kinds.total(), land=kinds["land"], sea=kinds["sea"], villages=kinds["village"],
        cities=kinds["city"], edos=kinds["edo"],
        pieces_per_caste=sum(kinds[kind] * pieces for kind, pieces in PIECES.items()) // CASTE_COUNT,
    )  # fmt: skip


def _map_legend(board: Board) -> Iterator[Text]:
    """Yields what the signs on an empty map mean, and where named places are, in the coordinates of a board file."""
    yield Text(f"{TAKEN} place of a piece")
    yield Text("~ sea")
    yield Text(". land")
    for number, space in enumerate(board.spaces):
        if space.name:
            yield Text(f"{number} {plain(space.name)} ({space.col}-{space.row})")


def _count(number: int, thing: str) -> str:
    plural = {"city": "cities"}.get(thing, f"{thing}s")
    return f"{number} {thing if number == 1 else plural}"


def _seat_table(views: Mapping[Seat, Payload], names: Sequence[str]) -> list[Text]:
    """Returns a table of what each seat has, as far as any of the views shows it."""
    view = next(iter(views.values()))
    titles = "".join(f"  {caste[0].upper()}" for caste in CASTES)
    lines = [Text().append(f"{'':6}{'':{_NAME_WIDTH}} {'hand':{_HAND_WIDTH}} stack{titles}", "dim")]
    for seat, name in enumerate(names):
        eyes = views.get(seat, view)
        hand = " ".join(map(tile_code, views[seat]["hand"])) if seat in views else f"{view['hands'][seat]} tiles"
        if seat in view["forfeited"]:
            hand = "forfeited"
        label = layouts.clip(name, _NAME_WIDTH)
        label += " " * (_NAME_WIDTH - cell_len(label))
        line = Text(">" if seat == view["to_move"] else " ").append_text(seat_styles.seat_mark(seat))
        line.append(f" {seat}  {label} {hand:{_HAND_WIDTH}} {view['stacks'][seat]:5}")
        lines.append(line.append(_counts(eyes["captured"][seat])))
    blank = _NAME_WIDTH + 1 + _HAND_WIDTH + 6
    lines.append(Text(f"{'':6}{'set aside':{blank}}{_counts(view['set_aside'])}"))
    if any(view["supply"].values()):
        lines.append(Text(f"{'':6}{'still to be put':{blank}}{_counts(view['supply'])}"))
    return lines


def _counts(pieces: Mapping[str, int] | None) -> str:
    """Returns how many pieces of each caste there are, or question marks if that is hidden."""
    return "".join(f"  {pieces[caste] if pieces else '?'}" for caste in CASTES)


_FAST = {
    "optional": "Ships, the ronin and the switch tile are fast: play as many of them as you like, and one other tile.",
    "must_follow": (
        "Ships, the ronin and the switch tile are fast: play as many of them as you like, "
        "but then one that is not fast must end the turn."
    ),
    "specials": "The switch and the move tile are extra: after them one other tile must end the turn.",
}
_NEAR = {
    "near_pieces": " It must lie next to a settlement that still holds a piece.",
    "land_near_pieces": (near := " On land it must lie next to a settlement that still holds a piece."),
    "near_or_pass": f"{near} Whoever can place none passes.",
}
_HINTS = {
    "hand": "Five tiles are your first hand. The other fifteen come later, one for each that you played.",
    "space": "It counts for the settlements next to it.",
    "from": "It goes elsewhere, and the move tile stays in its place.",
    "caste": "Two pieces change places.",
    "with": "Two pieces change places.",
}


def primer(options: Mapping[str, str]) -> Iterator[str]:
    """Yields the rules in short."""
    yield (
        "The villages, cities and Edo hold pieces of three castes: buddha, rice and castle. You lead a caste if you "
        "capture more of its pieces than each of the others."
    )
    if options["scoring"] == "two_majorities":
        yield "Whoever leads two castes wins; else pieces of the castes that one does not lead count, then all pieces."
    else:
        yield (
            "Whoever leads more castes wins; if that is equal, pieces of the castes that one does not lead count, "
            "then all pieces."
        )
    yield (
        "In your turn, play at least one tile of your hand: ships on the sea, others on empty land."
        + _NEAR.get(options["placement"], "")
    )
    fast = _FAST[options["fast"]]
    if options["move_is_fast"] == "yes" and options["fast"] != "specials":
        fast = fast.replace("the ronin and the switch tile", "the ronin, the switch and the move tile")
    yield fast
    yield (
        "A tile has influence on the settlements next to it, as much as its number. Tiles with a figure influence "
        "that caste alone; samurai, ships and the ronin influence every caste."
    )
    yield (
        "The switch tile exchanges two pieces on the board. The move tile moves one of your own tiles of an earlier "
        "turn, and takes its place."
    )
    when = "At once" if options["captures"] == "instant" else "At the end of the turn"
    yield (
        f"{when}, a settlement with a tile on every land space around it is decided: whoever has most influence on a "
        "piece there captures it. If two have equally much, it is set aside for nobody."
    )
    gone = "a caste is gone from the board, or four pieces are set aside"
    gone = gone if options.get("ends", "caste") == "caste" else "no piece is left on the board"
    yield f"Then your hand is filled up to five tiles. The game ends when {gone}."


def hint(kind: str, key: str, options: Mapping[str, str], *, begun: bool) -> str:
    """Returns what helps to choose a value for a key of a play."""
    if kind == "setup":
        return "Put the pieces on the cities first, then on the villages." if key == "caste" else ""
    if key == "tile":
        return "You may play another, or end the turn." if begun else "First the tile, then where it goes."
    return _HINTS.get(key, "")
