"""Shows a logged game as frames, one for each decision: what happened in words, and what could then be known.

A frame is built as a bot builds its view: events are folded into what a seat knew at first. For one seat, only the
events that this seat was told are folded. Without a seat, every seat's events are folded, each into its own view, and
all views are shown together. With `EVERYBODY`, only what every seat knows is shown, which may leave this machine while
the game goes on. The game's `Presenter` tells the events and draws the views.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import msgspec
from rich.text import Text

from arena.core.errors import LogError
from arena.core.record.log import ActionRecord, Chance, ForfeitRecord, Header, LateRecord, Log, OutcomeRecord, Record
from arena.core.referee.replay import rules_of
from arena.core.rules.course import tie_order
from arena.core.show.layout import listed, paragraph
from arena.core.show.presenter import presenter
from arena.core.show.scene import WORDS, Page, Scene, Sheet, Shift, page
from arena.core.show.seats import EVERYBODY, Seats
from arena.core.show.standings import players_text
from arena.core.text import plain
from arena.core.types import NS_PER_MS, Event, Payload, Seat, Termination

NOTE = "note: "
_NO_BOARD = "Nobody may see this game's board before the game is over."


class Note(Text):
    """A bot's note, after the word "note"."""


class Fault(Text):
    """What a seat did wrong."""


class Said(Text):
    """A sentence of a remark."""


class Curve(Text):
    """The chances to be first, as bars of text."""


class Remark(msgspec.Struct, frozen=True):
    """Words on a decision, of somebody who looked at the game."""

    seat: Seat
    """The seat that decided; only with its eyes, or those of all, the remark can be seen."""
    lines: tuple[str, ...]
    curve: str
    """The seat's chances after each decision, as bars of text."""
    chance: float
    """The seat's chance to be first after it, from 0 to 1."""
    is_costly: bool


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The game after a decision."""

    turn: int
    line: int
    heading: Text
    lines: tuple[Text, ...]
    """Events in words."""
    views: Mapping[Seat, Payload]
    """Views of the shown seats now."""
    before: Mapping[Seat, Payload]
    events: tuple[Payload, ...]
    forfeited: tuple[Seat, ...] = ()
    remark: Remark | None = None


class Replay:
    """A log, ready to be shown with the eyes of a seat (None: all seats), and with remarks by line of the log.

    Raises:
        LogError: A record does not fit the game.
    """

    def __init__(self, log: Log, seat: Seat | None = None, remarks: Mapping[int, Remark] | None = None) -> None:
        self._onlooker = Onlooker(log.header, log.source, seat, remarks=remarks)
        self.frames = []
        for record in log.records:
            if isinstance(record, ActionRecord | ForfeitRecord):
                self.frames.append(self._onlooker.frame())
            self._onlooker.see(record)
        self.frames.append(self._onlooker.frame())

    @property
    def turns(self) -> range:
        """The turns that have frames."""
        return range(self.frames[-1].turn + 1)

    def draw(self, index: int, width: int) -> list[Text]:
        """Returns a frame as lines for a terminal that is `width` characters wide."""
        return self._onlooker.draw(self.frames[index], f"{index + 1}/{len(self.frames)}", width)

    def page(self, index: int, bar: Text, width: int, height: int, place: Shift) -> Page:
        """Returns a frame for a screen; see `Onlooker.page`."""
        return self._onlooker.page(self.frames[index], bar, width, height, place)

    @property
    def turn_name(self) -> str:
        """The game's word for a turn."""
        return self._onlooker.presenter.turn_name

    @property
    def gain_name(self) -> str:
        """The word for a moment in which a seat gains something."""
        return self._onlooker.presenter.gain_name or "gain"

    def legend(self) -> Iterator[Text]:
        """Yields what the signs of a board on a screen mean."""
        return self._onlooker.presenter.legend()

    def is_mistake(self, index: int) -> bool:
        """Returns whether somebody forfeited in a frame, or a remark calls its decision costly."""
        frame = self.frames[index]
        return bool(frame.forfeited) or (frame.remark is not None and frame.remark.is_costly)

    def gains(self, index: int) -> bool:
        """Returns whether somebody gained something in a frame: a captured piece, a point."""
        return any(self._onlooker.presenter.gains(event) for event in self.frames[index].events)


class Onlooker:
    """Follows a game record by record, and keeps what the shown seats know.

    Args:
        seat: The seat whose knowledge is shown; None means all seats, `EVERYBODY` what all of them know.
        whole: An onlooker of all seats that sees every record first: its views are taken, and not folded once more.
    """

    def __init__(
        self,
        header: Header,
        source: str,
        seat: Seat | None = None,
        *,
        whole: Onlooker | None = None,
        remarks: Mapping[int, Remark] | None = None,
    ) -> None:
        self.source = source
        self._whole = whole
        self._remarks = remarks or {}
        self.rules = rules_of(header, source)
        eyes = range(self.rules.seats) if seat is None else (seat,)
        self._first: Payload = {}
        """With `EVERYBODY`, the view of the first seat, of which what all seats know is made."""
        self.has_board = True
        """Whether there is a board to show. A game may not say what everybody knows: then there are words alone."""
        self.presenter = presenter(self.rules.name)(header, self.rules, eyes)
        self.seats = Seats([bot.name for bot in header.bots])
        self.seat = seat
        self.forfeited: tuple[Seat, ...] = ()
        """The seats that forfeited in the last decision."""
        self.views = self._first_views(eyes)
        self.before = dict(self.views)
        """Views before the last decision."""
        self.number = 1
        """The line of the last record in the log."""
        self.line = 1
        """The line of the last decision in the log."""
        self.turn = 0
        self.heading = Text().append("Start", "bold")
        self.told: list[Text | list[Payload]] = [_what_is_played(header)]
        """Events since the last frame: sentences, and runs of events that have no sentences yet."""
        self._told_last: Event | None = None
        self.ahead: list[Text] = []
        """Sentences for the top of the next frame."""

    def _first_views(self, eyes: Collection[Seat]) -> dict[Seat, Payload]:
        if self.seat != EVERYBODY:
            return {eye: self.rules.first_view(eye) for eye in eyes}
        self._first = self.rules.first_view(0)
        public = self.rules.public(self._first)
        self.has_board = public is not None
        return {EVERYBODY: public or {}}

    def see(self, record: Record) -> None:
        """Takes the next record.

        Raises:
            LogError: It does not fit the game.
        """
        self.number += 1
        if isinstance(record, ActionRecord | ForfeitRecord):
            self.line = self.number
        with self.fitting(self.number):
            self._read(record)

    def frame(self) -> Frame:
        """Returns the game as it is now, and what has happened since the last decision.

        Raises:
            LogError: What happened cannot be put into words.
        """
        lines: list[Text] = []
        events: list[Payload] = []
        with self.fitting(self.line):
            for told in self.told:
                if isinstance(told, Text):
                    lines.append(told)
                else:
                    lines += self.presenter.tell(told)
                    events += told
        remark = self._remarks.get(self.line)
        if remark is not None and self.seat not in (None, remark.seat):
            remark = None
        if remark is not None:
            style = "bold red" if remark.is_costly else "dim"
            lines[:0] = [*(Said(line, style) for line in remark.lines), Curve(remark.curve, "dim")]
        return Frame(
            turn=self.turn, line=self.line, heading=self.heading, lines=tuple(lines), views=dict(self.views),
            before=self.before, events=tuple(events), forfeited=self.forfeited, remark=remark,
        )  # fmt: skip

    def draw(self, frame: Frame, place: str, width: int) -> list[Text]:
        """Returns a frame as lines for a terminal that is `width` characters wide; `place` ends the first line.

        Raises:
            LogError: What the seats know by the log cannot be drawn.
        """
        heading = _heading(frame, place, width)
        words = [part for line in frame.lines for part in paragraph(line, width)]
        with self.fitting(frame.line):
            return [heading, *words, Text(), *self.presenter.draw(frame.views, frame.before, frame.events, width)]

    def page(self, frame: Frame, bar: Text, width: int, height: int, place: Shift) -> Page:
        """Returns a frame for a screen, on which the board stays where it is from frame to frame.

        Args:
            place: What was shown of a board that does not fit.

        Raises:
            LogError: What the seats know by the log cannot be drawn.
        """
        with self.fitting(frame.line):
            scene = Scene(facts=[], sheets=[Sheet(lines=[Text(_NO_BOARD, "dim")])])
            if self.has_board:
                scene = self.presenter.scene(frame.views, frame.before, frame.events, width, height - WORDS - 2)
            return page(frame.heading, frame.lines, scene, bar, width, height, place)

    def _read(self, record: Record) -> None:
        match record:
            case LateRecord():
                self._late(record)
            case Chance(tied=[_, *_]):
                self._tie(record)
            case ActionRecord():
                self._begin(record.turn)
                self._action(record)
            case ForfeitRecord():
                self._begin(record.turn)
                self._forfeit(record)
            case OutcomeRecord():
                self.told += self.ahead
                if record.termination == Termination.INTERRUPTED:
                    self.told.append(Text("The game was interrupted: nobody's fault, and it is not rated."))
                else:
                    self.told += self.presenter.over(tuple(record.ranks), record.scores)
        if not isinstance(record, LateRecord | OutcomeRecord):
            for event in record.events:
                self._take(event)

    def _begin(self, turn: int) -> None:
        self.turn = turn
        self.before = dict(self.views)
        self.told = [*self.ahead]
        self.ahead = []
        self.forfeited = ()
        self.heading = Text().append(self.presenter.when(turn), "bold").append(": ")

    def _action(self, record: ActionRecord) -> None:
        decision = self.presenter.decision(record.kind)
        self.heading.append_text(self.seats.who(record.seat)).append(f" {decision}" if decision else "")
        self.heading.append(f", {_time(record.used_ns / NS_PER_MS)}", "dim")
        self.told += self._note(record)

    def _forfeit(self, record: ForfeitRecord) -> None:
        self.forfeited = tuple(forfeit.seat for forfeit in record.forfeits)
        self.heading.append_text(self.seats.all(forfeit.seat for forfeit in record.forfeits))
        self.heading.append(" forfeits" if len(record.forfeits) == 1 else " forfeit")
        for forfeit in record.forfeits:
            # How it failed can reveal what it held: only its own seat may see that.
            if self.seat in (None, forfeit.seat):
                words = plain(forfeit.sentence.removeprefix(f"seat {forfeit.seat} "))
            else:
                words = plain(forfeit.code).replace("_", " ") + " (the machine was overloaded)" * forfeit.overloaded
            self.told.append(Fault().append_text(self.seats.who(forfeit.seat)).append(f": {words}", "bold red"))

    def _late(self, record: LateRecord) -> None:
        # No other seat was told what it wanted.
        if self.seat in (None, record.seat):
            decision = self.presenter.decision(record.kind, record.action)
            self.ahead.append(
                self.seats.who(record.seat).append(f" {decision} too late, after {_time(record.used_ns / NS_PER_MS)}")
            )
            self.ahead += self._note(record)

    def _tie(self, record: Chance) -> None:
        # No seat was told.
        if self.seat is None:
            tied = record.tied or []
            first, *others = tie_order(tied, record.draw)
            then = "".join(f", then {seat}" for seat in others) if len(others) > 1 else ""
            self.ahead.append(Text(f"seats {listed(tied)} were equally fast; chance put {first} first{then}"))

    def _note(self, record: ActionRecord | LateRecord) -> Iterator[Text]:
        if record.note and self.seat in (None, record.seat):
            yield Note(f"{NOTE}{plain(record.note)}", "italic")

    def _take(self, event: Event) -> None:
        data = event.data
        if self.seat == EVERYBODY:
            told = all(event.reaches(seat) for seat in range(self.rules.seats))
            if event.reaches(0):
                self._first = self.rules.fold(self._first, data)
                self.views[EVERYBODY] = self.rules.public(self._first) or {}
        else:
            eyes = [eye for eye in self.views if event.reaches(eye)]
            told = bool(eyes)
            for eye in eyes:
                self.views[eye] = self._whole.views[eye] if self._whole else self.rules.fold(self.views[eye], data)
        if not told:
            return
        last = self.told[-1] if self.told else None
        if not isinstance(last, list):
            self.told.append([data])
        elif not _is_one_fact(self._told_last, event):
            last.append(data)
        elif len(data) > len(last[-1]):
            last[-1] = data
        self._told_last = event

    @contextmanager
    def fitting(self, line: int) -> Iterator[None]:
        """Makes a `LogError` of whatever a game's functions raise for what cannot have happened in it."""
        try:
            yield
        except (
            ArithmeticError,
            AssertionError,
            AttributeError,
            LookupError,
            RuntimeError,
            StopIteration,
            TypeError,
            ValueError,
        ) as error:
            raise LogError(
                f"expected a record that fits the game, got: {type(error).__name__}: {error}"
                f" - at {self.source}:{line}; `arena verify` says what is wrong"
            ) from error


def _is_one_fact(one: Event | None, other: Event) -> bool:
    """Returns whether two events in a row tell one fact: all of it to some seats, less of it to others."""
    if one is None or one.to is None or other.to is None or set(one.to) & set(other.to):
        return False
    less, more = sorted((one.data, other.data), key=len)
    return len(less) < len(more) and less.items() <= more.items()


def _heading(frame: Frame, place: str, width: int) -> Text:
    end = f" {place} ──"
    heading = Text("── ").append_text(frame.heading)
    heading.truncate(width - len(end) - 2, overflow="ellipsis")
    return heading.append(" ").append("─" * (width - heading.cell_len - len(end)), "dim").append(end, "dim")


def _what_is_played(header: Header) -> Text:
    played = header.settings
    seated = players_text(played.players, played.teams)
    facts = f"{played.rules}, {played.ruleset}, {seated}, {header.times}, game {header.game}"
    return Text(plain(f"{facts}, board {played.board.name}" if played.board else facts))


def _time(ms: float) -> str:
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.1f} ms"
