"""What every game's rules offer, and nothing that only one game needs.

Laws:
1. A `Rules` object is one game's rules bound to a board, a number of seats and options. It holds tables computed
   once and never changes.
2. A state is immutable plain data. `apply` and the others return a new state and touch nothing else: no file, no
   clock, no random generator.
3. Chance is explicit: where `draw_wanted(state)` answers a `Draw`, the next step is `draw(state, index)`.
4. Otherwise `pending(state)` names the seats that owe a decision. Several at once decide simultaneously: their
   plays may be applied in any order and give the same state. Not so in a race: who is applied first has taken what
   others may have wanted, and a play that was legal is so no longer. Who was first is for the caller to say.
5. A decision is one or more plays; the seat owes plays until `pending` no longer names it with that decision.
   On the wire a decision is one action. An action may stop short where more plays must follow: then the seat is asked
   again for the rest.
6. Every fact is an `Event` with an audience. Folding the events that a seat received, from `first_view`, gives its
   `view`: a seat is told everything it may know, and knows nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec

from arena.errors import BoardError
from arena.types import Payload, Ranks, Seat


class Draw(msgspec.Struct, frozen=True):
    """Chance is to draw one of `n` equally likely outcomes, 0 to n - 1, from a stream of its own."""

    stream: str
    """Streams are independent, so that one seat's behaviour does not change another's draws."""
    n: int
    """How many outcomes there are, at least 1."""


class Decision(msgspec.Struct, frozen=True):
    """A seat owes a decision."""

    seat: Seat
    kind: str
    """Which decision; the names are the game's, and go on the wire."""
    race: bool = False
    """Whether the seats that owe it compete for who is first. Either all that are pending race, or none."""


class Event(msgspec.Struct, frozen=True):
    """A fact that happened, and who learns it."""

    data: Payload
    """`event` names the kind; the rest is as the game's protocol page says."""
    audience: tuple[Seat, ...] | None = None
    """The seats that are told, or None for everyone."""

    def reaches(self, seat: Seat) -> bool:
        """Whether `seat` is told."""
        return self.audience is None or seat in self.audience


class Option(msgspec.Struct, frozen=True):
    """One option of a game's rules."""

    name: str
    values: Mapping[str, str]
    """The values it can have, each with what it means; the first is the default."""
    help: str
    """What it decides, in one sentence without a full stop."""
    numbers: range | None = None
    """Whole numbers that it can have beside `values`, in decimal digits."""

    @property
    def default(self) -> str:
        """The value that it has unless a ruleset says otherwise."""
        return next(iter(self.values))

    def accepts(self, value: str) -> bool:
        """Whether it can have a value."""
        return value in self.values or (
            self.numbers is not None and value.isascii() and value.isdigit() and str(int(value)) == value
            and int(value) in self.numbers
        )  # fmt: skip

    def domain(self) -> str:
        """The values it can have, for people: `draft, random` or `25, or 1 to 999`."""
        names = ", ".join(self.values)
        return names if self.numbers is None else f"{names}, or {self.numbers.start} to {self.numbers.stop - 1}"


class Ruleset(msgspec.Struct, frozen=True):
    """A named set of options."""

    about: str
    """Where it comes from or what it is for, in a few words."""
    options: Mapping[str, str]
    """Every option with its value."""


class Product(msgspec.Struct, frozen=True):
    """All plays `make(a, b, ...)` with a, b, ... taken from `choices` in every combination."""

    make: Any
    """Makes the play from one value of each list of choices."""
    choices: tuple[Sequence[Any], ...]
    size: int
    """How many plays these are."""

    @classmethod
    def of(cls, make: Any, *choices: Sequence[Any]) -> Product:
        """The product of some lists of choices."""
        return cls(make, choices, prod(map(len, choices)))

    def __getitem__(self, index: int) -> Any:
        if len(self.choices) == 2:  # nearly every play of a game: worth a path of its own
            left, right = self.choices
            at, index = divmod(index, len(right))
            return self.make(left[at], right[index])
        picked = []
        for values in reversed(self.choices):
            index, at = divmod(index, len(values))
            picked.append(values[at])
        return self.make(*reversed(picked))


class Legal(Sequence[Any]):
    """The legal plays of one seat: a sequence that is stored as a few products and never spelled out."""

    __slots__ = ("products", "size")

    def __init__(self, products: Sequence[Product]) -> None:
        self.products = products
        size = 0
        for product in products:
            size += product.size
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: Any) -> Any:
        if index < 0:
            raise IndexError(index)
        for product in self.products:
            if index < product.size:
                return product[index]
            index -= product.size
        raise IndexError(index)

    def __iter__(self) -> Iterator[Any]:
        for product in self.products:
            for index in range(product.size):
                yield product[index]


S = TypeVar("S")


class Rules(Protocol[S]):
    """One game's rules at a board, for a number of seats, under options."""

    name: ClassVar[str]
    """The game's name on the wire, in logs and on the command line."""
    version: ClassVar[int]
    """Raised whenever the same inputs would give another game."""
    seat_counts: ClassVar[range]
    """The numbers of players that the game can have (a board may allow fewer)."""
    option_list: ClassVar[tuple[Option, ...]]
    """Every option, in the order they are shown."""
    rulesets: ClassVar[Mapping[str, Ruleset]]
    """By name; the first is the default."""
    contradictions: ClassVar[tuple[tuple[str, str], ...]]
    """Pairs of settings `OPTION=VALUE` that cannot both hold."""
    about: ClassVar[str]
    """The game in one sentence."""
    board_section: ClassVar[str]
    """The section that a board file of this game has and those of other games have not: `map` for a line `map:`."""

    seats: int
    """How many seats."""
    options: Mapping[str, str]
    """Every option with its value."""
    has_race: bool
    """Whether any decision is a race."""

    @classmethod
    def at(cls, board_text: str, board_name: str, seats: int, options: Mapping[str, str]) -> Rules[Any]:
        """The rules at a board given as text; `board_name` is for errors.

        Raises:
            BoardError: The text is not a board of this game.
            ConfigError: The board is not for so many players.
        """

    @classmethod
    def board_problems(cls, board_text: str, board_name: str) -> list[BoardError]:
        """Everything that keeps a text from being a board of this game, in the order of the text."""

    def board_payload(self) -> Payload:
        """The board as bots are told it, in `game_start`."""

    def start(self) -> S:
        """The state before anything happened."""

    def draw_wanted(self, state: S) -> Draw | None:
        """What chance must draw next, or None."""

    def draw(self, state: S, index: int, events: list[Event] | None = None) -> S:
        """The state after chance drew `index`; appends what happened to `events` if given."""

    def pending(self, state: S) -> tuple[Decision, ...]:
        """The seats that owe a decision, in seat order; empty when chance is due or the game is over."""

    def legal(self, state: S, seat: Seat) -> Legal:
        """The next plays that `seat` may make; empty if it owes no decision."""

    def check(self, state: S, seat: Seat, play: Any) -> None:
        """Refuse a play that is not in `legal`, saying why.

        Raises:
            IllegalAction: The play is not legal; the state is as it was.
        """

    def apply(self, state: S, seat: Seat, play: Any, events: list[Event] | None = None) -> S:
        """The state after a legal play; appends what happened to `events` if given.

        The play is not checked: call `check` first for a play that does not come from `legal`.
        """

    def forfeit(self, state: S, seats: Sequence[Seat], events: list[Event] | None = None) -> S:
        """The state after `seats` forfeited, all at the same moment: they take no more turns.

        What they still owe to the set-up stays pending, and is then decided by chance.
        """

    def ranks(self, state: S) -> Ranks | None:
        """The rank of each seat once the game is over, else None."""

    def turn(self, state: S) -> int:
        """The number of the current turn, from 1; 0 during set-up."""

    def first_view(self, seat: Seat) -> Payload:
        """What a seat knows before the first event."""

    def view(self, state: S, seat: Seat) -> Payload:
        """All that `seat` may know now, built field by field."""

    def fold(self, view: Payload, event: Payload) -> Payload:
        """The view after an event's data."""

    def act(self, state: S, seat: Seat, action: Payload, events: list[Event] | None = None) -> S:
        """The state after a whole decision as it came over the wire: each play read, checked and applied in turn.

        Raises:
            MalformedAction: It cannot be read; the message ends with the place, ` - at $.plays[1].space`.
            IllegalAction: A play is not legal when its turn comes. What was appended to `events` is void.
        """

    def write_action(self, state: S, seat: Seat, plays: Sequence[Any]) -> Payload:
        """The action for which `act` applies `plays`."""

    def write_legal(self, state: S, seat: Seat) -> Payload:
        """The legal first plays of the decision that `seat` owes, in the compact form of the protocol."""

    def dump(self, state: S) -> bytes:
        """The state as bytes, for `load`. It holds everything, secrets too."""

    def load(self, data: bytes) -> S:
        """The state that `dump` wrote."""
