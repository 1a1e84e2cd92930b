"""How a game of Samurai is shown: the map with its legend, and a table of what each seat has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text

from arena.record.log import Header
from arena.rules.samurai.board import parse_board
from arena.rules.samurai.tiles import CASTES
from arena.show.layout import beside
from arena.show.samurai.board import legend, map_lines, tile_code
from arena.show.samurai.words import Narrator, changed_spaces
from arena.show.seats import Seats, seat_mark
from arena.show.text import clip
from arena.types import Payload, Seat

_NAME_WIDTH = 10
_HAND_WIDTH = 14


class Samurai:
    """See `Presenter`."""

    turn_name: ClassVar[str] = "Turn"

    def __init__(self, header: Header, board: Payload, eyes: Collection[Seat]) -> None:
        self._names = [bot.name for bot in header.bots]
        self._board = parse_board(header.board.text, header.board.name).for_players(header.seats)
        self._narrator = Narrator(self._board, Seats(self._names), eyes)

    def decision(self, kind: str, action: Payload | None = None) -> str:
        """What a seat does that decides; there are no races."""
        return {"hand": "chooses a hand", "setup": "puts a piece"}.get(kind, "")

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        """Events in sentences."""
        return self._narrator.tell(events)

    def draw(self, views: Mapping[Seat, Payload], events: Sequence[Payload], width: int) -> list[Text]:
        """The map, the table and the legend."""
        changed = {space for event in events for space in changed_spaces(event)}
        board = map_lines(self._board, next(iter(views.values())), changed)
        return beside(board, _seat_table(views, self._names), list(legend(self._board)), width)


def _seat_table(views: Mapping[Seat, Payload], names: Sequence[str]) -> list[Text]:
    """What each seat has, as far as any of the views tells."""
    view = next(iter(views.values()))
    titles = "".join(f"  {caste[0].upper()}" for caste in CASTES)
    lines = [Text().append(f"{'':6}{'':{_NAME_WIDTH}} {'hand':{_HAND_WIDTH}} stack{titles}", "dim")]
    for seat, name in enumerate(names):
        eyes = views.get(seat, view)
        hand = " ".join(map(tile_code, views[seat]["hand"])) if seat in views else f"{view['hands'][seat]} tiles"
        if seat in view["forfeited"]:
            hand = "forfeited"
        label = clip(name, _NAME_WIDTH)
        label += " " * (_NAME_WIDTH - cell_len(label))
        line = Text(">" if seat == view["to_move"] else " ").append_text(seat_mark(seat))
        line.append(f" {seat}  {label} {hand:{_HAND_WIDTH}} {view['stacks'][seat]:5}")
        lines.append(line.append(_counts(eyes["captured"][seat])))
    blank = _NAME_WIDTH + 1 + _HAND_WIDTH + 6
    lines.append(Text(f"{'':6}{'set aside':{blank}}{_counts(view['set_aside'])}"))
    if any(view["supply"].values()):
        lines.append(Text(f"{'':6}{'still to be put':{blank}}{_counts(view['supply'])}"))
    return lines


def _counts(pieces: Mapping[str, int] | None) -> str:
    """How many pieces of each caste, or question marks if that is hidden."""
    return "".join(f"  {pieces[caste] if pieces else '?'}" for caste in CASTES)
