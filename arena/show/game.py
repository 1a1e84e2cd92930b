"""A logged game of Samurai as frames, one for each decision: what happened in words, and what could then be known.

A frame is built by folding events from what a seat knows at first, as a bot does: with the eyes of one seat nothing
goes in but the events that this seat was told. Without a seat every seat's events are folded, each into its own view,
and all the views are shown together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.text import Text

from arena.errors import LogError
from arena.record.log import ActionRecord, ForfeitRecord, Log, LogEvent, OutcomeRecord
from arena.referee.replay import rules_of
from arena.rules.base import Rules
from arena.rules.samurai.board import parse_board
from arena.rules.samurai.tiles import CASTES
from arena.show.board import legend, map_lines, seat_mark, tile_code
from arena.show.layout import beside, paragraph
from arena.show.text import clip, plain
from arena.show.words import Narrator, changed_spaces
from arena.types import Payload, Seat, Termination

_DECISIONS = {"hand": " chooses a hand", "setup": " puts a piece"}
_NAME_WIDTH = 10
_HAND_WIDTH = 14


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The game after a decision."""

    turn: int
    """The number of the turn, from 1; 0 is the set-up."""
    heading: Text
    """The turn and who decided."""
    lines: tuple[Text, ...]
    """What happened, in words."""
    views: Mapping[Seat, Payload]
    """What each of the seats that look on knows now."""
    changed: frozenset[int]
    """The spaces on which something changed."""


class Replay:
    """A log, ready to be shown.

    Args:
        log: The log.
        seat: With whose eyes, or None for all that anyone knew.

    Raises:
        LogError: A record does not fit the game.
    """

    def __init__(self, log: Log, seat: Seat | None = None) -> None:
        header = log.header
        rules = rules_of(log)
        self.names = [bot.name for bot in header.bots]
        self.board = parse_board(header.board.text, header.board.name).for_players(header.seats)
        self.frames = list(_Folder(log, rules, Narrator(self.board, self.names), seat).frames())

    @property
    def turns(self) -> range:
        """The turns that there are frames of."""
        return range(self.frames[-1].turn + 1)

    def draw(self, index: int, width: int) -> list[Text]:
        """A frame as lines for a terminal that is `width` characters wide."""
        frame = self.frames[index]
        place = f" {index + 1}/{len(self.frames)} ──"
        heading = Text("── ").append_text(frame.heading)
        heading.truncate(width - len(place) - 2, overflow="ellipsis")
        heading.append(" ").append("─" * (width - heading.cell_len - len(place)), "dim").append(place, "dim")
        board = map_lines(self.board, next(iter(frame.views.values())), frame.changed)
        table = _seat_table(frame.views, self.names)
        words = [part for line in frame.lines for part in paragraph(line, width)]
        return [heading, *words, Text(), *beside(board, table, list(legend(self.board)), width)]


class _Folder:
    """Reads a log from the top, and keeps what the seats that look on know."""

    def __init__(self, log: Log, rules: Rules[Any], narrator: Narrator, seat: Seat | None) -> None:
        self.log = log
        self.rules = rules
        self.narrator = narrator
        self.seat = seat
        eyes = range(rules.seats) if seat is None else (seat,)
        self.views = {eye: rules.first_view(eye) for eye in eyes}
        self.turn = 0
        self.heading = Text().append("Start", "bold")
        self.lines = [self._what_is_played()]
        self.drawn: Payload | None = None  # the event that the last line tells, if it is of tiles drawn
        self.changed: set[int] = set()

    def frames(self) -> Iterator[Frame]:
        """A frame for the start and one for each decision."""
        for number, record in enumerate(self.log.records, start=2):
            try:
                if isinstance(record, ActionRecord | ForfeitRecord):
                    yield self._frame()
                    self._begin(record)
                if isinstance(record, OutcomeRecord):
                    if record.termination == Termination.INTERRUPTED:
                        self.lines.append(Text("The game was interrupted: nobody's fault, and it is not rated."))
                else:
                    for event in record.events:
                        self._take(event)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise LogError(
                    f"expected a record that fits the game, got: {type(error).__name__}: {error}"
                    f" - at {self.log.source}:{number}; `arena verify` says what is wrong"
                ) from error
        yield self._frame()

    def _what_is_played(self) -> Text:
        header = self.log.header
        facts = f"{header.rules}, {header.ruleset}, {header.seats} players, {header.time}, game {header.game}"
        return Text(plain(f"{facts}, board {header.board.name}"))

    def _frame(self) -> Frame:
        return Frame(
            turn=self.turn,
            heading=self.heading,
            lines=tuple(self.lines),
            views=dict(self.views),
            changed=frozenset(self.changed),
        )

    def _begin(self, record: ActionRecord | ForfeitRecord) -> None:
        self.turn = record.turn
        self.lines = []
        self.drawn = None
        self.changed = set()
        self.heading = Text().append(f"Turn {record.turn}" if record.turn else "Set-up", "bold").append(": ")
        if isinstance(record, ActionRecord):
            self.heading.append_text(self.narrator.who(record.seat)).append(_DECISIONS.get(record.kind, ""))
            self.heading.append(f", {_time(record.used_ms)}", "dim")
            if record.note and self.seat in (None, record.seat):
                self.lines.append(Text(f"note: {plain(record.note)}", "italic"))
        else:
            self.heading.append_text(Text(", ").join(self.narrator.who(forfeit.seat) for forfeit in record.forfeits))
            self.heading.append(" forfeits" if len(record.forfeits) == 1 else " forfeit")
            for forfeit in record.forfeits:
                # How it failed can tell what it held: that is for its own eyes.
                words = plain(forfeit.sentence if self.seat in (None, forfeit.seat) else forfeit.code.replace("_", " "))
                overload = " (the machine was overloaded)" if forfeit.overloaded else ""
                self.lines.append(self.narrator.who(forfeit.seat).append(f": {words}{overload}", "bold red"))

    def _take(self, event: LogEvent) -> None:
        eyes = [eye for eye in self.views if eye in event.get("only", self.views)]
        data = {key: value for key, value in event.items() if key != "only"}
        for eye in eyes:
            self.views[eye] = self.rules.fold(self.views[eye], data)
        # Of the two versions of drawing tiles, whoever sees the owner's needs no other.
        known = data["event"] == "hand" and "tiles" not in data and data["seat"] in self.views
        if eyes and not known:
            self.changed.update(changed_spaces(data))
            self._tell(data)

    def _tell(self, event: Payload) -> None:
        drawn, self.drawn = self.drawn, event if event["event"] == "hand" else None
        if drawn and self.drawn and drawn["seat"] == event["seat"]:
            # Tiles are drawn one by one, and told together.
            event = self.drawn = event | {"count": drawn["count"] + event["count"]}
            if "tiles" in event:
                event["tiles"] = drawn["tiles"] + event["tiles"]
            self.lines.pop()
        if sentence := self.narrator.tell(event):
            self.lines.append(sentence)


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


def _time(ms: float) -> str:
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.1f} ms"
