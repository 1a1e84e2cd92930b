"""Steps through logged games: which frame is shown, through whose eyes, and what each key does. It prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.text import Text

from arena.core.commands.terminal import END, ESCAPE, MOST_WIDTH
from arena.core.record.log import read_log
from arena.core.show.layout import paragraph
from arena.core.show.replay import Remark, Replay
from arena.core.show.scene import Page, Shift
from arena.core.text import plain
from arena.core.types import Seat

_KEYS: Final = {
    "next": ("\x1b[C", "\x1bOC", " ", "\r", "\n", "l"),
    "back": ("\x1b[D", "\x1bOD", "\x7f", "\b", "h"),
    "next_turn": ("\x1b[B", "\x1bOB", "j"),
    "last_turn": ("\x1b[A", "\x1bOA", "k"),
    "first": ("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~", "g"),
    "last": ("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~", "G"),
    "down": ("\x1b[6~",),
    "up": ("\x1b[5~",),
    "next_gain": ("c",),
    "last_gain": ("C",),
    "next_forfeit": ("f", "m"),
    "last_forfeit": ("F", "M"),
    "next_game": ("n",),
    "last_game": ("p",),
    "turn": ("t", ":"),
    "all_eyes": ("a",),
    "words": ("w",),
    "keys": ("?",),
    "quit": ("q", "Q", END),
}
COMMANDS: Final = {key: command for command, keys in _KEYS.items() for key in keys}
"""Command of each key. Digits are the eyes of a seat."""

_HELP: Final = (
    ("← →  h l", "step back and on; Space and Enter too"),
    ("↑ ↓  k j", "to the {turn} before, to the next one"),
    ("Home End", "to the beginning, to the end; g and G too"),
    ("t", "to a {turn}: type its number, then Enter"),
    ("c C", "to the next and the last {gain}"),
    ("f F", "to the next and the last {mistake}"),
    ("0 1 …", "what this seat knew"),
    ("a", "what all seats knew together"),
    ("n p", "next and previous game of the folder"),
    ("w", "all that is said of this step, and the whole board"),
    ("PgUp PgDn", "move the window on a board that does not fit"),
    ("q", "quit"),
)


class Stepper:
    """Where somebody is in the games of a folder."""

    def __init__(
        self, logs: Sequence[Path], at: int, seat: Seat | None = None, remarks: Mapping[int, Remark] | None = None
    ) -> None:
        """Begins with game `at`, with the eyes of `seat` (None: of all) and `remarks` on it by line of its log.

        Raises:
            LogError: The game cannot be read or shown.
        """
        self._logs = logs
        self._seat = seat
        self._remarks = {at: remarks or {}}
        self._open(at)

    def _open(self, at: int) -> None:
        log = read_log(self._logs[at])
        players = log.header.settings.players
        seat = self._seat if self._seat is not None and self._seat < players else None
        self._shown = Replay(log, seat, self._remarks.get(at))
        self._log, self._at, self._seat = log, at, seat
        self._index = 0
        self._place = Shift()
        self._rows = 0
        self._typed: str | None = None
        """The number of a turn that is being typed."""
        self._long: Callable[[int], list[Text]] | None = None
        """Text that is shown in place of the board: the keys, or all that is said of a step."""
        self._top = 0
        self._message = ""

    @property
    def frames(self) -> int:
        """How many frames the game has."""
        return len(self._shown.frames)

    def press(self, key: str) -> bool:
        """Does what a key says. Returns whether to go on."""
        self._message = ""
        if self._typed is not None and key != END:
            self._type(key)
            return True
        command = COMMANDS.get(key, "eyes" if key in "0123456789" else "")
        if self._long is not None:
            if command in ("up", "down"):
                self._top += self._rows // 2 * (1 if command == "down" else -1)
            else:
                self._long = None
            return key != END
        if command == "quit":
            return False
        if command == "eyes":
            self._look(int(key))
        elif command:
            _DOES[command](self)
        return True

    def draw(self, width: int, height: int) -> list[Text]:
        """Returns the page for a screen of some size."""
        width = min(width, MOST_WIDTH)
        if self._long is not None:
            return self._long_page(self._long(width), height)
        page = self._shown.page(self._index, Text(), width, height, self._place)
        page = self._shown.page(self._index, self._bar(page), width, height, self._place)
        self._place, self._rows = page.place, page.rows
        return page.lines

    # The lines of help

    def _bar(self, page: Page) -> Text:
        if self._typed is not None:
            return Text(f" {self._turn_name} {self._typed}▏of {self._shown.turns[-1]}, Enter ", "reverse")
        if self._message:
            return Text(f" {self._message} ", "reverse")
        eyes = "all" if self._seat is None else f"seat {self._seat}"
        more = "w more  " * page.is_cut + "PgUp PgDn  " * bool(page.rows)
        return Text(f" {self._index + 1}/{self.frames}  {eyes}  ← → step  ↑ ↓ {more or 'turn  '}? keys ", "reverse")

    def _long_page(self, lines: list[Text], height: int) -> list[Text]:
        self._rows = height - 1
        self._top = max(0, min(self._top, len(lines) - self._rows))
        shown = lines[self._top : self._top + self._rows]
        above, below = self._top > 0, self._top + self._rows < len(lines)
        more = f"{'PgUp more above  ' * above}{'PgDn more below  ' * below}any other key: back"
        return [*shown, *(Text() for _ in range(self._rows - len(shown))), Text(f" {more} ", "reverse")]

    def _help(self, width: int) -> list[Text]:
        names = {"turn": self._turn_name.lower(), "gain": self._shown.gain_name}
        names["mistake"] = self._mistake
        lines = [Text("Keys", "bold"), Text()]
        lines += [Text.assemble((f"  {keys:<10}", "bold"), text.format(**names)) for keys, text in _HELP]
        facts = [Text(), Text(plain(f"Game {self._at + 1} of {len(self._logs)}: {self._logs[self._at]}"))]
        for legend in self._shown.legend():
            facts += paragraph(legend, width)
        return lines + facts

    @property
    def _turn_name(self) -> str:
        return self._shown.turn_name

    @property
    def _mistake(self) -> str:
        return "forfeit or costly decision" if self._remarks.get(self._at) else "forfeit"

    # What the keys do

    def _go(self, index: int) -> None:
        self._index = max(0, min(index, self.frames - 1))
        self._place = Shift(self._place.top, self._place.left)

    def _seek(self, is_it: Callable[[int], bool], step: int, what: str) -> None:
        """Goes to the next frame, or the last one before, that is looked for."""
        steps = range(self._index + 1, self.frames) if step > 0 else range(self._index - 1, -1, -1)
        found = next((index for index in steps if is_it(index)), None)
        if found is None:
            self._message = f"no {what} {'after' if step > 0 else 'before'} this"
        else:
            self._go(found)

    def _next_turn(self) -> None:
        turns = [frame.turn for frame in self._shown.frames]
        self._go(next((at for at in range(self._index, self.frames) if turns[at] > turns[self._index]), self.frames))

    def _last_turn(self) -> None:
        turns = [frame.turn for frame in self._shown.frames]
        before = max((turn for turn in turns if turn < turns[self._index]), default=0)
        self._go(turns.index(before))

    def _other_game(self, step: int) -> None:
        at = self._at + step
        if 0 <= at < len(self._logs):
            self._open(at)
        else:
            self._message = f"this is the {'last' if step > 0 else 'first'} game of its folder"

    def _type(self, key: str) -> None:
        assert self._typed is not None
        if key in "0123456789" and len(self._typed) < 4:
            self._typed += key
        elif key in ("\x7f", "\b") and self._typed:
            self._typed = self._typed[:-1]
        elif key in ("\r", "\n") and self._typed:
            self._go_to_turn(int(self._typed))
            self._typed = None
        elif key in (ESCAPE, "\x7f", "\b", "\r", "\n", "q"):
            self._typed = None

    def _go_to_turn(self, turn: int) -> None:
        turns = [frame.turn for frame in self._shown.frames]
        if turn in turns:
            self._go(turns.index(turn))
        else:
            self._message = f"expected a {self._turn_name.lower()} in 0..{turns[-1]}, got: {turn}"

    def _look(self, seat: Seat | None) -> None:
        players = self._log.header.settings.players
        if seat is not None and seat >= players:
            self._message = f"expected a seat in 0..{players - 1}, got: {seat}"
        else:
            self._shown, self._seat = Replay(self._log, seat, self._remarks.get(self._at)), seat

    def _move(self, step: int) -> None:
        """Moves the window on a board that does not fit by half of it."""
        self._place = Shift(self._place.top + step * (self._rows // 2), self._place.left, follow=False)

    def _type_a_turn(self) -> None:
        self._typed = ""

    def _show_long(self, lines: Callable[[int], list[Text]]) -> None:
        self._long, self._top = lines, 0


_DOES: Final[Mapping[str, Callable[[Stepper], object]]] = {
    "next": lambda at: at._go(at._index + 1),
    "back": lambda at: at._go(at._index - 1),
    "first": lambda at: at._go(0),
    "last": lambda at: at._go(at.frames - 1),
    "next_turn": Stepper._next_turn,
    "last_turn": Stepper._last_turn,
    "next_gain": lambda at: at._seek(at._shown.gains, 1, at._shown.gain_name),
    "last_gain": lambda at: at._seek(at._shown.gains, -1, at._shown.gain_name),
    "next_forfeit": lambda at: at._seek(at._shown.is_mistake, 1, at._mistake),
    "last_forfeit": lambda at: at._seek(at._shown.is_mistake, -1, at._mistake),
    "next_game": lambda at: at._other_game(1),
    "last_game": lambda at: at._other_game(-1),
    "down": lambda at: at._move(1),
    "up": lambda at: at._move(-1),
    "turn": Stepper._type_a_turn,
    "all_eyes": lambda at: at._look(None),
    "words": lambda at: at._show_long(lambda width: at._shown.draw(at._index, width)),
    "keys": lambda at: at._show_long(at._help),
}
"""Action of each command of `_KEYS`."""
