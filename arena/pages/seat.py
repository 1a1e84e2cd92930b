"""A game as a page for the person who plays it: what their seat was told, as frames, and what they may choose now.

`SeatPage` takes the referee's messages and what the person does, and makes data for the viewer. It does no I/O.

Laws:
1. Everything is made from the messages of one seat. So nothing that is hidden from the seat can reach its browser.
2. The page holds no rules: what may be chosen is listed here, each with what the board would show.
3. Each change has a number. Whoever acts names the request and the number they have seen, so that a click that comes
   late, comes twice or comes from an older page does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from arena.core.face import Payload, Seat, catalogue, drawing_kit, game_kit, log_records, plain, presenters, seat_styles
from arena.pages.agents.seat import ASKED, OVER, AgentSeat
from arena.pages.frames import difference, every_symbol, opening
from arena.pages.parts import HERE, read_part, render, viewer_script, viewer_style
from arena.pages.play.turn import Choice, Choosing, Turn

Words: TypeAlias = dict[str, Any]
"""Texts that the viewer writes: a heading `h`, sentences `l`, reasons `y`."""


class SeatStep(msgspec.Struct, frozen=True):
    """What one decision brought about, as far as a seat was told."""

    turn: int
    seat: Seat | None
    events: tuple[Payload, ...]
    view: Payload


class _Told(SeatStep, frozen=True):
    words: Words
    gained: tuple[int, ...]
    gains: bool


class SeatPage:
    """A person at a table, seen in a browser."""

    def __init__(self, header: log_records.Header, seat: Seat) -> None:
        """Sits down at a game that was announced."""
        self.header = header
        self.seat = seat
        self.rules = catalogue.rules_of(header.settings)
        self.presenter = presenters.presenter(self.rules.name)(header, self.rules, (seat,))
        self.seats = seat_styles.Seats([bot.name for bot in header.bots])
        self.agent = AgentSeat(self.rules, seat)
        """How the seat stands: for the page, and for a program that plays in it."""
        self.number = 0
        """Counts the changes."""
        self.layout = 0
        """Counts how often more has changed than frames are added: places on the board, and at the end the ranks."""
        self._choosing: Choosing | None = None
        self._drawing = self.presenter.drawing()
        self._view = self.rules.first_view(seat)
        self._remark = ""
        self._ranks: list[int] | None = None
        self._scores: list[int] | None = None
        self._end = ""
        self._since = 0
        self._sent: tuple[str, int] | None = None
        self._acted: tuple[Payload, tuple[Payload, ...]] | None = None
        """Part of the board about the turn that was sent, until the referee tells."""
        start = _Told(
            0, None, (), self._view, {"h": "Start", "l": list(self.presenter.primer())}, (0,) * self.rules.seats, False
        )
        self._told = [start]
        self._drawing.make_room({seat: self._view})
        self._scenes = [self._scene(self._view, ())]

    @property
    def style(self) -> str:
        """The CSS of the game's symbols."""
        return self._drawing.style

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the board."""
        return self._drawing.size

    # What happens

    def hear(self, message: Payload) -> None:
        """Takes a message of the referee."""
        self.agent.hear(message)
        match message["type"]:
            case "request":
                self._tell(message["events"], message["view"])
                turn = Turn(self.rules, message)
                self._choosing = Choosing(turn)
                if turn.is_race and self._sent == (turn.kind, turn.number):
                    self._remark = "Others were faster: choose again."
            case "game_over":
                view = self._view
                for event in message["events"]:
                    view = self.rules.fold(view, event)
                self._tell(message["events"], view)
                self._ranks, self._scores = list(message["ranks"]), message.get("scores")
                over = self.presenter.over(tuple(message["ranks"]), self._scores) if message["ranks"] else ()
                lines = [self.seats.brief(line.plain) for line in over]
                self._told[-1].words["l"] += lines if message["ranks"] else ["The game was interrupted."]
                self.layout += 1
                self._choosing = None
        self.number += 1

    def close(self, why: str) -> None:
        """Takes the end of the seat, of which its messages do not tell: it has forfeited. The last word counts."""
        if self.agent.phase != OVER:
            self._end, self._choosing = why, None
            self.agent.close()
            self.number += 1

    def choose(self, place: int) -> Payload | None:
        """Chooses the value at a place of the list. Returns the action to send, if that ends a race."""
        choosing = self._open()
        return self._chosen(choosing) if choosing is not None and choosing.choose(place) else None

    def fill(self, choose: game_kit.Choose) -> Payload | None:
        """Chooses the rest of a play by chance. Returns the action to send, if that ends a race."""
        choosing = self._open()
        return self._chosen(choosing) if choosing is not None and choosing.fill(choose) else None

    def _chosen(self, choosing: Choosing) -> Payload | None:
        self._changed()
        return self.send() if choosing.turn.is_whole and choosing.turn.is_race else None

    def undo(self) -> None:
        """Takes the last choice back."""
        choosing = self._open()
        if choosing is not None and choosing.undo():
            self._changed()

    def send(self) -> Payload | None:
        """Ends the turn where that is allowed. Returns the action to send."""
        choosing = self._open()
        if choosing is None or not choosing.turn.may_end:
            return None
        turn = choosing.turn
        self._acted = self._made(turn)
        self._sent = (turn.kind, turn.number)
        self.agent.wait()
        self.decided()
        return turn.action()

    def decided(self) -> None:
        """Takes that the open decision was sent, by this page or by other means."""
        self._choosing = None
        self._changed()

    def _open(self) -> Choosing | None:
        return self._choosing if self.agent.phase == ASKED else None

    def _changed(self) -> None:
        self._remark = ""
        self.number += 1

    def _tell(self, events: Sequence[Payload], view: Payload) -> None:
        self._acted = None
        self._remark = ""
        self._since = len(self._told)
        begun = len(self._told)
        for step in steps(self.rules, self.presenter, self._view, events):
            words = {
                "h": self._heading(step.turn, step.seat),
                "l": self._sentences(step.events),
                "y": [self.seats.brief(why) for why in self._drawing.why({self.seat: step.view}, step.events)],
            }
            gained, gains = list(self._told[-1].gained), False
            for event in step.events:
                for seat, points in self.presenter.gains(event).items():
                    gained[seat] += points
                    gains = True
            self._told.append(_Told(step.turn, step.seat, step.events, step.view, words, tuple(gained), gains))
        self._view = view
        if self._drawing.make_room({self.seat: view}):
            self.layout += 1
            begun = 0
            self._scenes = []
        self._scenes += [self._scene(told.view, told.events) for told in self._told[begun:]]

    def _heading(self, turn: int, seat: Seat | None) -> str:
        name = self.presenter.when(turn)
        return name if seat is None else f"{name}: {seat_styles.MARKS[seat]} {self.seats.names[seat]}"

    # Data for the page

    def data(self) -> Payload:
        """Returns the data of the viewer, with all frames so far."""
        symbols = every_symbol(self._drawing, self.rules.seats)
        data = opening(self.header, self.presenter, self._drawing, symbols)
        for at, shown in enumerate(data["seats"]):
            shown["rank"] = self._ranks[at] if self._ranks else None
            if self._scores is not None:
                shown["score"] = self._scores[at]
        data["end"] = "finished" if self._ranks else ""
        return data | {"eyes": [str(self.seat)], "strings": [], "frames": self.frames(0)}

    def frames(self, first: int) -> list[Payload]:
        """Returns the frames from one on."""
        return [self._frame(at) for at in range(first, len(self._told))]

    @property
    def length(self) -> int:
        """How many frames there are."""
        return len(self._told)

    def now(self) -> Payload:
        """Returns what the page shows beside the frames: the phase, what is asked, and the turn in the making."""
        shown: Payload = {
            "n": self.number,
            "id": self.agent.request,
            "phase": self.agent.phase,
            "since": self._since,
            "seat": self.seat,
            "help": list(self.presenter.primer()),
        }
        scene, heading = self._scenes[-1], self._told[-1].words["h"]
        if (choosing := self._open()) is not None:
            turn = choosing.turn
            view, events = self._made(turn)
            scene = self._scene(view, events) if turn.plays else scene
            shown["ask"] = self._ask(choosing, scene, view)
            heading = f"{self.presenter.when(turn.number)}: your turn"
            shown["turn"] = turn.number
        elif self._acted is not None:
            scene = self._scene(*self._acted)
        if changed := difference(self._scenes[-1], scene):
            shown["d"] = changed
        shown["w"] = self._said(heading)
        if self._remark:
            shown["remark"] = self._remark
        if self.agent.phase == OVER:
            shown["place"] = self._ranks[self.seat] if self._ranks else None
        if self._end:
            shown["end"] = self._end
        return shown

    def _ask(self, choosing: Choosing, scene: drawing_kit.Scene, view: Payload) -> Payload:
        turn, choice = choosing.turn, choosing.choice
        pictures = (self._drawing.offered(view, turn.kind, key, value).symbol for key, value in turn.chosen)
        asked: Payload = {
            "race": turn.is_race,
            "end": turn.may_end,
            "undo": choosing.is_begun,
            "done": ", ".join(self.presenter.word(key, value, view) for key, value in turn.chosen),
            "pictures": [symbol for symbol in pictures if symbol],
        }
        if choice is None:
            return asked | {"line": "Your turn is whole: send it, or undo.", "hint": "", "items": []}
        more = f" ({choice.left} left)" if choice.left > 1 else ""
        return asked | {
            "line": self.presenter.page_question(turn.kind, choice.key) + more,
            "hint": self.presenter.hint(turn.kind, choice.key, begun=bool(turn.plays)),
            "items": items(turn, choice, self.presenter, self._drawing, scene, view),
        }

    def _said(self, heading: str) -> Words:
        told = self._told[self._since :] or self._told[-1:]
        if self._choosing is not None and self._choosing.turn.events:
            mine = self._sentences(self._made(self._choosing.turn)[1])
        elif self._acted is not None:
            mine = self._sentences(self._acted[1])
        else:
            mine = []
        if mine:
            return {"h": heading, "l": mine}
        greeting = ["Never seen this game? The button “? how to play” explains it."] if self.agent.request == 1 else []
        return {
            "h": heading,
            "l": [*greeting, *(line for frame in told for line in frame.words["l"])],
            "y": [line for frame in told for line in frame.words.get("y", ())],
        }

    def _made(self, turn: Turn) -> tuple[Payload, tuple[Payload, ...]]:
        """Returns the view after the plays so far, and what they bring about."""
        return own(self.rules, self.presenter, self._view, turn.events, self.seat)

    def _sentences(self, events: Sequence[Payload]) -> list[str]:
        return [self.seats.brief(line.plain) for line in self.presenter.tell(events)]

    def _frame(self, at: int) -> Payload:
        told = self._told[at]
        before = self._scenes[at - 1] if at else {}
        shown: Payload = {"t": told.turn, "v": list(told.gained), "w": told.words}
        if told.seat is not None:
            shown["s"] = told.seat
        if told.gains:
            shown["m"] = "c"
        if changed := difference(before, self._scenes[at]):
            shown["d"] = changed
        return shown

    def _scene(self, view: Payload, events: Sequence[Payload]) -> drawing_kit.Scene:
        return self._drawing.scene({self.seat: view}, events)


def items(
    turn: Turn,
    choice: Choice,
    presenter: presenters.Presenter,
    drawing: drawing_kit.Drawing,
    scene: drawing_kit.Scene,
    view: Payload,
) -> list[Payload]:
    """Returns the values that may be chosen, in their order.

    Each is a map: its number `k`, by which it can be typed, and what it is in words, `w`; if it has them, its place
    `at`, the symbol `r` that surrounds it there, and `l`, what to write into it; or its picture `s`; and `p`, what
    changes in the scene with it.

    Args:
        choice: What is to be chosen next.
        view: What the person knows after the plays so far.
    """
    found: list[Payload] = []
    for number, value in choice.numbered():
        offered = drawing.offered(view, turn.kind, choice.key, value)
        item: Payload = {"k": number, "w": presenter.word(choice.key, value, view)}
        if offered.at is not None:
            item |= {"at": [round(at, 1) for at in offered.at], "r": offered.ring}
            if type(value) is not int:  # numbers stand on the board already
                item["l"] = number
        if offered.symbol:
            item["s"] = offered.symbol
        if (preview := turn.preview(value)) is not None:
            after, events = own(turn.rules, presenter, turn.view, preview[1], turn.seat)
            if changed := _on_board(difference(scene, drawing.scene({turn.seat: after}, events))):
                item["p"] = changed
        found.append(item)
    return found


def _on_board(changed: drawing_kit.Scene) -> drawing_kit.Scene:
    """Returns what changes on the board: what stands beside it would only be restless."""
    return {key: value for key, value in changed.items() if not key.startswith("#")}


def page(header: log_records.Header) -> str:
    """Returns the page at which a person plays. It has no data: these come by its stream."""
    return render(HERE / "play.html.jinja", title=plain(header.settings.rules).replace("_", " ").capitalize())


def script() -> str:
    """Returns the one script of the page."""
    return viewer_script() + read_part(HERE / "viewer" / "play.js")


def style(drawn: str) -> str:
    """Returns its one style, with that of the game's symbols."""
    return viewer_style() + read_part(HERE / "viewer" / "play.css") + drawn


def steps(
    rules: game_kit.Rules[Any], presenter: presenters.Presenter, view: Payload, events: Sequence[Payload]
) -> Iterator[SeatStep]:
    """Yields the steps that a seat was told of.

    Args:
        presenter: Says which events begin a step.
    """
    begun: list[Payload] = []
    seat: Seat | None = None
    turn = presenter.turn_of(view)
    for event in events:
        decider = _decider(event, rules.seats)
        if event["event"] not in presenter.follows and (not begun or decider != seat):
            if begun:
                yield SeatStep(turn, seat, tuple(begun), view)
                begun = []
            seat = decider
        first = not begun
        begun.append(event)
        view = rules.fold(view, event)
        if first:
            turn = presenter.turn_of(view)
    if begun:
        yield SeatStep(turn, seat, tuple(begun), view)


def own(
    rules: game_kit.Rules[Any], presenter: presenters.Presenter, view: Payload, events: Sequence[Payload], seat: Seat
) -> tuple[Payload, tuple[Payload, ...]]:
    """Returns what a seat's own decision brings about, of what is tried on a guessed state, and the view after it.

    There the others may owe nothing more, and the next round begins at once: that is no news for anybody.
    """
    done: list[Payload] = []
    for at, step in enumerate(steps(rules, presenter, view, events)):
        if at and step.seat != seat:
            break
        done += step.events
        view = step.view
    return view, tuple(done)


def _decider(event: Payload, seats: int) -> Seat | None:
    seat = event.get("seat")
    return seat if type(seat) is int and 0 <= seat < seats else None
