"""Shows games. `Presenter` shows any game plainly; a game's own presenter overrides what it can do better.

Of its game's engine a presenter needs only the payloads: a replay folds events and hands in the views.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec
from rich.text import Text

from arena.core.catalogue import rules_of
from arena.core.errors import ConfigError
from arena.core.loading import Entry, entries, load
from arena.core.record.log import Header, LoggedBot
from arena.core.rules.base import Board, Rules
from arena.core.show import svg
from arena.core.show.drawing import Drawing
from arena.core.show.layout import NARROWEST, clip, entry, shelves
from arena.core.show.scene import Scene, Sheet
from arena.core.show.seats import Seats
from arena.core.text import plain
from arena.core.types import GameSettings, Payload, Ranks, Seat

if TYPE_CHECKING:
    from arena.core.link.bots import BotSpec

GROUP: Final = "arena.presenters"
"""The group of entry points in which presenters are registered under their game's name."""
CHANGED: Final = "*"
"""Marks what the last events changed, so that it can be seen without colours too."""
_SIDE_BY_SIDE = 38  # columns that a seat's table has at least


class BoardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a board file says. A game can subclass it to say more."""

    thing: ClassVar[str] = "board"
    """Word for such a board."""

    rules: str
    name: str
    source: str
    players: tuple[int, ...]
    """The numbers of players that can play on it, ascending."""

    def sentences(self) -> Iterator[str]:
        """Yields further sentences, beyond these fields."""
        yield from ()


class Presenter:
    """Tells and draws one logged game, and the boards of its game.

    Text from others (names of bots, events, board files) goes through `arena.core.text.plain`.

    Args:
        eyes: The seats whose knowledge is shown.
    """

    turn_name: ClassVar[str] = "Turn"
    """The word for a turn in the headings of frames."""
    gain_name: ClassVar[str] = ""
    """The word for what `gains` tells: "capture". A game that has no gains has none."""
    gained_name: ClassVar[str] = ""
    """Sum of a seat's gains in words: "pieces captured"."""
    follows: ClassVar[frozenset[str]] = frozenset()
    """The events that belong to the decision before them, though they name another seat or none."""

    def __init__(self, header: Header, rules: Rules[Any], eyes: Collection[Seat]) -> None:
        self.rules = rules
        self.names = [bot.name for bot in header.bots]
        self.seats = Seats(self.names)
        self.eyes = eyes

    # A game

    def decision(self, kind: str, action: Payload | None = None) -> str:
        """Returns what a deciding seat does, to be set after its name, or "" if its events say enough.

        Without the action, the phrase is general ("seizes a card"); with it, exact ("seizes card 12"). The action is
        given only if it had no effect, because in a race other seats were faster.
        """
        return plain(f"decides: {kind}" if action is None else f"decides: {kind} {_words(action)}")

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        """Yields events as sentences. A sentence may tell several events; what heading or picture tells has none."""
        for event in events:
            facts = [
                self.seats.who(value) if self._is_seat(key, value) else Text(plain(f"{key} {_words(value)}"))
                for key, value in event.items()
                if key != "event"
            ]
            sentence = Text(plain(str(event["event"])))
            yield sentence.append(": ").append_text(Text(", ").join(facts)) if facts else sentence

    def draw(
        self, views: Mapping[Seat, Payload], before: Mapping[Seat, Payload], events: Sequence[Payload], width: int
    ) -> list[Text]:
        """Returns the position as lines for a terminal that is `width` characters wide.

        Args:
            views: What each of the shown seats knows now; at least one.
            before: What they knew before the last decision. Differences are to be marked.
            events: What they have been told since.
        """
        room = max(_SIDE_BY_SIDE, (width - 3 * (len(views) - 1)) // len(views))
        return shelves((self._view(seat, view, before[seat], min(room, width)) for seat, view in views.items()), width)

    def gains(self, event: Payload) -> Mapping[Seat, int]:
        """Returns what seats gain by an event: captured pieces, points. People jump to such moments of a game."""
        return {}

    def scene(
        self,
        views: Mapping[Seat, Payload],
        before: Mapping[Seat, Payload],
        events: Sequence[Payload],
        width: int,
        height: int,
        marks: Collection[Any] = (),
    ) -> Scene:
        """Returns the position for a screen, on which the board is to stay at its place. By default it is what `draw`
        returns.

        Args:
            views: As for `draw`; so are `before`, `events` and `width`.
            height: Lines for facts and board together. What is higher may be cut.
            marks: Values of a play that a person may choose now, to be marked where they lie on the board.
        """
        lines = self.draw(views, before, events, width)
        changed = tuple((row, 0) for row, line in enumerate(lines) if CHANGED in line.plain)
        return Scene(facts=[], sheets=[Sheet(lines=lines, changed=changed)])

    # A person's choices

    def when(self, turn: int) -> str:
        """Returns a turn in words: `Turn 3`, or `Set-up` for number 0."""
        return f"{self.turn_name} {turn}" if turn else "Set-up"

    def turn_of(self, view: Payload) -> int:
        """Returns the number of the turn that a view is in; 0 in the set-up, or where there are none."""
        turn = view.get(self.turn_name.lower())
        return turn if type(turn) is int else 0

    def primer(self) -> Iterator[str]:
        """Yields how the game is played under these rules, in sentences for somebody who never saw it."""
        yield "Choose one of the plays that are offered; only those are legal."

    def hint(self, kind: str, key: str, *, begun: bool) -> str:
        """Returns a sentence that helps with a question, or "" if the question says enough.

        Args:
            key: The key of a play for which a value is to be chosen.
            begun: Whether plays of this decision were made before.
        """
        return ""

    def question(self, kind: str, key: str) -> str:
        """Returns what a person is asked who is to choose a value for a key of a play, in a kind of decision."""
        return plain(f"{key}?")

    def page_question(self, kind: str, key: str) -> str:
        """Returns what a person is asked on a page, where the places are marked on the board."""
        return self.question(kind, key)

    def word(self, key: str, value: Any, view: Payload) -> str:
        """Returns a value of a play in words, for a person with this view."""
        return plain(_words(value))

    def spot(self, key: str, value: Any) -> tuple[float, float] | None:
        """Returns where a value lies on the board, x to the right and y down; None if it is no place there."""
        return None

    def legend(self) -> Iterator[Text]:
        """Yields what the signs in a scene mean, as sentences and lists."""
        yield Text(f"{CHANGED} has just changed")

    def over(self, ranks: Ranks, scores: Sequence[int] | None) -> Iterator[Text]:
        """Yields sentences on how the game ended, unless the game's events tell it."""
        yield Text("The game is over: ").append_text(self.seats.places(ranks, scores))

    def drawing(self) -> Drawing:
        """Returns what draws the game for a page."""
        return Drawing(self.rules, self.names)

    def _view(self, seat: Seat, view: Payload, before: Payload, width: int) -> list[Text]:
        """Returns what a seat knows as a table of two columns."""
        column = min(max((len(plain(key)) for key in view), default=0) + 4, width - NARROWEST)
        lines = [self.seats.who(seat)]
        for key, value in view.items():
            changed = key not in before or before[key] != value
            mark, style = (CHANGED, "bold") if changed else (" ", "dim")
            lines += entry(clip(f"{mark} {key}", column - 1), _words(value), column, width, style)
        return lines

    def _is_seat(self, key: str, value: Any) -> bool:
        return key == "seat" and type(value) is int and 0 <= value < len(self.names)

    # Its boards

    @classmethod
    def board_facts(cls, rules: str, boards: Mapping[int, Board]) -> BoardFacts:
        """Returns what a file with boards, by number of players, says; `rules` is the game's name."""
        board = next(iter(boards.values()))
        return BoardFacts(rules=rules, name=board.name, source=board.source, players=tuple(boards))

    @classmethod
    def board_lines(cls, board: Board, players: int, width: int) -> Iterator[Text]:
        """Yields a board as lines for a terminal that is `width` characters wide: by default, the text of its file."""
        yield Text.assemble((plain(board.name), "bold"), f", {players} players")
        yield Text()
        for line in board.text.rstrip("\n").split("\n"):
            yield Text(plain(line))

    @classmethod
    def board_svg(cls, board: Board, players: int) -> str:
        """Returns a board as a picture: by default, the text of its file."""
        size, step, margin = 14.0, 18.0, 28.0
        lines = [f"{board.name}, {players} players", "", *board.text.rstrip("\n").split("\n")]
        width = max(svg.text_width(line, size) for line in lines)
        words = [
            svg.text(line, margin, margin + step * row, size, xml_space="preserve", font_family="monospace")
            for row, line in enumerate(lines, start=1)
            if line.strip()
        ]
        return svg.document(board.name, width + 2 * margin, step * len(lines) + 2 * margin, *words)


def presenter(name: str) -> type[Presenter]:
    """Returns the presenter of a game: its own or its family's if one is installed, else `Presenter`.

    Raises:
        ConfigError: Its package is broken. Show the message to the operator.
    """
    entry = _found().get(name) or _found().get(name.partition(":")[0])
    if entry is None:
        return Presenter
    loaded = load(entry.value, f"the presenter of {name!r}", entry.package)
    if not (isinstance(loaded, type) and issubclass(loaded, Presenter)):
        raise ConfigError(
            f"expected the entry point {name!r} of {GROUP!r} to name a subclass of "
            f"arena.core.show.presenter.Presenter, got: {entry.value}; correct the entry point or the class"
        )
    return loaded


@cache
def _found() -> Mapping[str, Entry]:
    """Returns the entry points by name. If two have one name, that of arena counts."""
    return {entry.name: entry for entry in reversed(entries(GROUP))}


def _words(value: Any) -> str:
    """Returns a value of a payload for people: text unchanged, nested values as compact JSON."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def header_of(game: str, settings: GameSettings, bots: Sequence[BotSpec | LoggedBot]) -> Header:
    """Returns what a presenter needs to know of a game: what is played, and who sits where. It has no secrets."""
    unknown = "0" * 64
    return Header(
        arena="", game=game, tournament=None, settings=settings,
        bots=[LoggedBot(bot.name, bot.version, bot.digest, 0) for bot in bots], deal=0, rotation=0,
        board=rules_of(settings).board_payload, commitment=unknown, salt=unknown, mix=unknown,
    )  # fmt: skip
