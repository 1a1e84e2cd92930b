"""What a person at the table sees and does: from messages and keys to pages and actions. It touches no terminal.

A front for a browser can take `hear`, `turn` and `send` as they are, and bring pages of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import randrange
from typing import Any, Final

from rich.text import Text

from arena.core.face import (
    Payload,
    Seat,
    catalogue,
    layouts,
    log_records,
    plain,
    presenters,
    scenes,
    seat_styles,
    value_types,
)
from arena.pages.play.turn import Choice, Turn

ENTER: Final = ("\r", "\n")
BACK: Final = ("\x7f", "\b")
ESCAPE: Final = "\x1b"
_ARROWS: Final = {
    "\x1b[A": (0, -1), "\x1bOA": (0, -1), "\x1b[B": (0, 1), "\x1bOB": (0, 1),
    "\x1b[D": (-1, 0), "\x1bOD": (-1, 0), "\x1b[C": (1, 0), "\x1bOC": (1, 0),
}  # fmt: skip
_HELP: Final = (
    ("arrows", "go through what may be chosen; the board shows what it would do"),
    ("Enter", "choose it; when the turn is whole, send it"),
    ("12 Enter", "choose by number: of the list, of a space, of a card"),
    ("rice Enter", "choose by name, or by its first letters"),
    ("*", "choose the rest of a play by chance: a hand, a place"),
    ("Backspace", "undo the last choice, as often as you like, until the turn is sent"),
    (".", "end the turn here, where that is allowed"),
    ("Tab", "all that was said since your last turn"),
    ("!", "resign"),
    ("?", "how to play, and again these keys"),
)


class Sitting:
    """A person at a table."""

    def __init__(self, header: log_records.Header, seat: Seat) -> None:
        """Sits down at a game that was announced."""
        self.rules = catalogue.rules_of(header.settings)
        self.presenter = presenters.presenter(self.rules.name)(header, self.rules, (seat,))
        self.seats = seat_styles.Seats([bot.name for bot in header.bots])
        self.seat = seat
        self.turn: Turn | None = None
        """The decision in the making, while the person is asked."""
        self.ranks: Sequence[int] | None = None
        """Set when the game is over; empty if it was interrupted."""
        self.is_resigning = False
        """Whether the person is asked if they really resign."""
        self.resigned = False
        self.view = self.rules.first_view(seat)
        self._known = self.view
        """View that the referee told last: without the turn that was sent since."""
        self._before = self.view
        self._events: list[Payload] = []
        self._said: list[Text] = []
        self._cursor = 0
        self._typed = ""
        self._remark = ""
        self._clock = ""
        self._untimed = True
        self._number = 0
        self._sent: tuple[str, int] | None = None
        """Kind and turn of the decision that was sent last."""
        self._long = ""
        self._place = scenes.Shift()

    # Messages

    def hear(self, message: Payload) -> None:
        """Takes a message of the referee."""
        match message["type"]:
            case "request":
                self._told(message["events"], message["view"])
                self.turn = Turn(self.rules, message)
                if self.turn.is_race and self._sent == (self.turn.kind, self.turn.number):
                    self._said.insert(0, Text("Others were faster: choose again.", "bold"))
                self._number = self.turn.number
                self._clock = _clock(message["clock"], self._untimed)
                self._begin_choice()
            case "game_start":
                self._untimed = message["time"].get("off") is True
            case "game_over":
                view = self._known
                for event in message["events"]:
                    view = self.rules.fold(view, event)
                self._told(message["events"], view)
                self.turn = None
                self.ranks = message["ranks"]
                if message["ranks"]:
                    self._said += self.presenter.over(tuple(message["ranks"]), message.get("scores"))
                else:
                    self._said.append(Text("The game was interrupted."))

    def _told(self, events: list[Payload], view: Payload) -> None:
        self._before, self.view, self._known, self._events = self.view, view, view, events
        self._said = list(self.presenter.tell(events))

    # Keys

    def leaves(self, key: str) -> bool:
        """Returns whether a key leaves the table. At the end of a game it takes more than a key that is held down."""
        return self.ranks is not None and not self._long and key in ("q", "Q")

    def press(self, key: str) -> Payload | None:
        """Does what a key says. Returns the action to send, if the turn was sent."""
        self._remark = ""
        if self._long:
            self._long = "keys" if self._long == "rules" and key == "?" else ""
        elif self.is_resigning:
            self.is_resigning = False
            self.resigned = key in ("y", "Y")
        elif key == "?":
            self._long = "rules"
        elif key == "\t":
            self._long = "said"
        elif key == "!" and self.ranks is None:
            self.is_resigning = True
        elif self.turn is not None:
            return self._press(self.turn, key)
        return None

    def _press(self, turn: Turn, key: str) -> Payload | None:
        choice = turn.choice()
        if key in _ARROWS and choice is not None:
            self._cursor = self._beside(choice, *_ARROWS[key])
            self._typed = ""
        elif key in BACK and self._typed:
            self._typed = self._typed[:-1]
        elif key in BACK:
            if not turn.is_begun:
                self._remark = "nothing to undo"
            turn.undo()
            self._begin_choice()
        elif key == ESCAPE:
            self._typed = ""
        elif key == "*":
            turn.fill(randrange)
            return self._chosen(turn)
        elif key == ".":
            if turn.may_end:
                return self.send()
            self._remark = "the turn cannot end here"
        elif key in ENTER:
            if choice is None:
                return self.send()
            return self._choose(turn, choice)
        elif len(key) == 1 and (key.isalnum() or key in " ,-"):
            self._typed += key
        return None

    def _choose(self, turn: Turn, choice: Choice) -> Payload | None:
        value = self._typed_value(choice) if self._typed.strip() else choice.values[self._cursor]
        if value is None:
            self._remark = f"expected one of those offered, got: {plain(self._typed)}"
            self._typed = ""
            return None
        turn.choose(value)
        return self._chosen(turn)

    def _chosen(self, turn: Turn) -> Payload | None:
        self._begin_choice()
        return self.send() if turn.is_whole and turn.is_race else None

    def send(self) -> Payload:
        """Ends the turn. Returns the action to send."""
        assert self.turn is not None
        action = self.turn.action()
        self._sent = (self.turn.kind, self.turn.number)
        self._before, self.view, self._events = self.view, self.turn.shown(), list(self.turn.events)
        self._said = list(self.presenter.tell(self._events))
        self.turn = None
        return action

    def _begin_choice(self) -> None:
        self._cursor, self._typed = 0, ""

    def _typed_value(self, choice: Choice) -> Any:
        """Returns the value that was typed: by number or by name; None if it is none, or could be several."""
        typed = _squeezed(self._typed)
        numbered = dict(choice.numbered())
        if typed in numbered:
            return numbered[typed]
        names = [(_squeezed(self.presenter.word(choice.key, value, self.view)), value) for value in choice.values]
        same = [value for name, value in names if name == typed]
        begin = [value for name, value in names if name.startswith(typed)]
        found = same or begin
        return found[0] if len(found) == 1 else None

    def _beside(self, choice: Choice, right: int, down: int) -> int:
        """Returns the index of the value that lies next in a direction: on the board, or else in the list."""
        spots = [self.presenter.spot(choice.key, value) for value in choice.values]
        here = spots[self._cursor]
        if here is None:
            return (self._cursor + right + down) % len(choice.values)
        best, found = float("inf"), self._cursor
        for index, spot in enumerate(spots):
            if spot is None:
                continue
            across, along = spot[0] - here[0], spot[1] - here[1]
            ahead = across * right + along * down
            aside = abs(across * down) + abs(along * right)
            if ahead > 0 and ahead + 2 * aside < best:
                best, found = ahead + 2 * aside, index
        return found

    # Pages

    def draw(self, width: int, height: int) -> list[Text]:
        """Returns the page for a screen of some size."""
        if self._long:
            return self._long_page(width, height)
        view, events, marks = self._position()
        scene = self.presenter.scene(
            {self.seat: view}, {self.seat: self._before}, events, width, height - scenes.WORDS - 2, marks
        )
        shown = scenes.page(self._heading(), self._words(), scene, self._bar(), width, height, self._place)
        self._place = shown.place
        return shown.lines

    def _position(self) -> tuple[Payload, Sequence[Payload], Sequence[Any]]:
        """Returns the view to draw, the events to mark in it, and what may be chosen on the board."""
        turn = self.turn
        if turn is None:
            return self.view, self._events, ()
        choice = turn.choice()
        if choice is None:
            return turn.shown(), turn.events, ()
        value = choice.values[self._cursor]
        on_board = self.presenter.spot(choice.key, value) is not None
        marks = choice.values if on_board else ()
        preview = turn.preview(value)
        if preview is not None:
            return *preview, marks
        if on_board:
            # What no event tells yet is marked by one that says no more than the place.
            return turn.shown(), [{"event": "", choice.key: value}], marks
        return (turn.shown(), turn.events, ()) if turn.plays else (self.view, self._events, ())

    def _heading(self) -> Text:
        name = self.presenter.turn_name
        heading = Text(f"{name} {self._number}: " if self._number else "", "bold")
        if self.resigned:
            return heading.append("You have resigned; the others play on.")
        if self.ranks is not None:
            return heading.append("The game is over.", "bold")
        if self.turn is None:
            return heading.append("the others are deciding …", "dim")
        return heading.append_text(self.seats.who(self.seat)).append(f": your turn{self._clock}", "bold")

    def _words(self) -> list[scenes.Words]:
        words = [] if self.turn is None else self._question(self.turn)
        return [*words, *self._said]

    def _question(self, turn: Turn) -> list[scenes.Words]:
        choice = turn.choice()
        made = ", ".join(self.presenter.word(key, value, self.view) for key, value in turn.chosen)
        if choice is None:
            return [Text("Enter sends this turn, Backspace takes it back.", "bold")]
        asked = self.presenter.question(turn.kind, choice.key)
        more = f" ({choice.left} left)" if choice.left > 1 else ""
        line = Text(f"{made}: " if made else "").append(asked + more, "bold")
        hint = self.presenter.hint(turn.kind, choice.key, begun=bool(turn.plays))
        hints: list[scenes.Words] = [Text(hint, "dim")] if hint else []
        numbered = choice.numbered()
        on_board = self.presenter.spot(choice.key, choice.values[0]) is not None
        if on_board:
            line.append(" ")
            number, value = numbered[self._cursor]
            word = self.presenter.word(choice.key, value, self.view)
            line.append(word if word.startswith(f"{number} ") or word == number else f"{number} {word}", "reverse")
            line.append(f" ({len(numbered)} marked +)" if type(value) is int else f" of {len(numbered)}", "dim")
            return [line, *hints]
        items = [line]
        for index, (number, value) in enumerate(numbered):
            word = self.presenter.word(choice.key, value, self.view)
            text = word if word.endswith(f" {number}") else f"{number} {word}"
            items.append(Text(text, "reverse" if index == self._cursor else ""))
        return [items, *hints]

    def _bar(self) -> Text:
        if self.is_resigning:
            return Text(" Resign? y resigns, any other key plays on ", "reverse")
        if self._remark:
            return Text(f" {self._remark} ", "reverse")
        if self.ranks is not None:
            return Text(" The game is over: q leaves  Tab more  ? how to play ", "reverse")
        if self.turn is None:
            return Text(" ! resign  Tab more  ? how to play ", "reverse")
        end = "  . end turn" if self.turn.may_end else ""
        typed = f"{self._typed}▏ " if self._typed else ""
        return Text(f" {typed}Enter choose  * by chance  Backspace undo{end}  ? how to play ", "reverse")

    def _long_page(self, width: int, height: int) -> list[Text]:
        if self._long == "rules":
            lines = [Text("How to play", "bold"), Text()]
            lines += [part for rule in self.presenter.primer() for part in layouts.paragraph(Text(rule), width)]
        elif self._long == "keys":
            lines = [Text("Keys", "bold"), Text()]
            lines += [Text.assemble((f"  {keys:<11}", "bold"), words) for keys, words in _HELP]
            lines += [
                Text(),
                *(part for legend in self.presenter.legend() for part in layouts.paragraph(legend, width)),
            ]
        else:
            lines = [row for one in self._said for row in layouts.paragraph(one, width)] or [Text("Nothing happened.")]
        lines = lines[: height - 1]
        bar = " ? the keys, any other key: back " if self._long == "rules" else " any key: back "
        return [*lines, *(Text() for _ in range(height - 1 - len(lines))), Text(bar, "reverse")]


def _squeezed(text: str) -> str:
    """Returns a name as it is compared: `rice 3` and `Rice3` are one, and so are `[3,-1]` and `3 -1`."""
    words = text.lower().replace(",", " ").strip("[] ").split()
    return ",".join(words) if all(word.lstrip("-").isdigit() for word in words) else "".join(words)


def _clock(clock: Payload, untimed: bool) -> str:
    if untimed:
        return ""
    return f", {value_types.seconds_text(round(clock['limit_ms'], -2))}"
