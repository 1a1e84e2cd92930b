"""What every game's rules offer. A game subclasses `Rules`; all that follows from the rest has a default.

Laws:
1. A `Rules` object is one game's rules for a number of seats, under options, on a board if the game has one. It holds
   tables that are computed once, and never changes.
2. A state is immutable plain data. `apply` and the others return a new state and touch nothing else: no file, no
   clock, no random generator.
3. Chance is explicit: where `draw_wanted(state)` returns a `Draw`, the next step is `draw(state, index)`.
4. Otherwise `pending(state)` names the seats that owe a decision. Several at once decide simultaneously: their
   plays may be applied in any order and give the same state. A race is the exception: the first to be applied takes
   what others may have wanted, and a play that was legal no longer is. The caller says who was first.
5. A decision is one or more plays; the seat owes plays until `pending` no longer names it with that decision in that
   `turn`. On the wire a decision is one action. An action may stop early where more plays must follow: then the seat is
   asked again for the rest, within the decision's time.
6. Every fact is an `Event`, for everyone or for some seats. Folding the events that a seat received, starting from
   `first_view`, gives its `view`: a seat is told everything that it may know, and knows nothing else.
7. Whatever a seat may not know can be exchanged: `resample` gives another state that the seat cannot tell from this
   one. Everything that the seat is shown is the same in both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import msgspec

from arena.core.errors import BoardError, ConfigError, IllegalAction, MalformedAction
from arena.core.rules.legal import Legal as Legal
from arena.core.rules.legal import Product as Product
from arena.core.rules.margin import Margin as Margin
from arena.core.rules.numbering import Bounds as Bounds
from arena.core.rules.reading import maps
from arena.core.types import Event as Event  # authors of games find all they need here
from arena.core.types import Payload, Ranks, Seat, Teams, board_hash

Choose: TypeAlias = Callable[[int], int]
"""Chooses one of the numbers 0 to n - 1, each equally likely: `random.Random(seed).randrange`, for example."""


class Draw(msgspec.Struct, frozen=True):
    """Chance must draw one of `n` equally likely outcomes, 0 to n - 1, from a stream of its own."""

    stream: str
    """Streams are independent, so that one seat's behaviour does not change another's draws."""
    n: int
    """Number of outcomes, at least 1."""


class Decision(msgspec.Struct, frozen=True):
    """A seat owes a decision."""

    seat: Seat
    kind: str
    """Which decision; the names are the game's, and go on the wire."""
    race: bool = False
    """Whether the seats that owe it compete for who is first. Either all that are pending race, or none."""


class Outcome(msgspec.Struct, frozen=True):
    """How a game ended."""

    ranks: Ranks
    """The rank of each seat: 1 is best. Ranks are what ratings go by."""
    scores: tuple[int, ...] | None = None
    """The score of each seat (chips, points), or None if the game has none."""

    @property
    def worth(self) -> list[float]:
        """Worth of the ranks to each seat: 1 for each other seat that it beat, -1 for each that beat it, on average.

        They add up to 0.
        """
        others = max(1, len(self.ranks) - 1)
        return [sum((other > own) - (other < own) for other in self.ranks) / others for own in self.ranks]


class Option(msgspec.Struct, frozen=True):
    """One option of a game's rules."""

    name: str
    values: Mapping[str, str]
    """The values it can have, each with what it means; the first is the default."""
    help: str
    """Help: one sentence about what it decides, without a full stop."""
    numbers: range | None = None
    """Whole numbers that it can have beside `values`, in decimal digits."""
    per_seat: bool = False
    """Whether each seat can have a value of its own: one for each seat, in their order, joined by commas."""
    later: bool = False
    """Whether games were played before there was the option: its default is never written, so that theirs are equal."""

    @property
    def default(self) -> str:
        """The value that it has unless a ruleset says otherwise."""
        return next(iter(self.values))

    def accepts(self, value: str) -> bool:
        """Returns whether it can have a value, at a table of some number of players."""
        if self.per_seat and "," in value:
            return all(one in self.values for one in value.split(","))
        return value in self.values or (
            self.numbers is not None and value.isascii() and value.isdigit() and str(int(value)) == value
            and int(value) in self.numbers
        )  # fmt: skip

    def by_seat(self, value: str, seats: int) -> tuple[str, ...]:
        """Returns the value of each seat: that of the list, or the one that all have.

        Raises:
            ConfigError: The list is not for so many seats.
        """
        if not (self.per_seat and "," in value):
            return (value,) * seats
        if value.count(",") + 1 != seats:
            raise ConfigError(
                f"expected {self.name} to have one value, or one for each of {seats} seats, got: {value!r}; "
                "write as many as there are seats"
            )
        return tuple(value.split(","))

    def domain(self) -> str:
        """Returns the values it can have, for people: `draft, random` or `25, or 1 to 999`."""
        names = ", ".join(self.values)
        if self.numbers is not None:
            return f"{names}, or {self.numbers.start} to {self.numbers.stop - 1}"
        return f"{names}, or one for each seat, joined by commas" if self.per_seat else names


class Ruleset(msgspec.Struct, frozen=True):
    """A named set of options."""

    about: str
    """Origin or purpose, in a few words."""
    options: Mapping[str, str]


class Board(msgspec.Struct, frozen=True):
    """What a game is played on, as it is given in a text file: a map, a deck. A game subclasses it."""

    name: str
    """Name for people."""
    source: str
    text: str
    """The whole text of its file, with line ends normalised."""

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of `text` in UTF-8: equal boards have equal hashes."""
        return board_hash(self.text)

    def payload(self) -> Payload:
        """Returns the board as bots are sent it, in `game_start`. A game adds what it is played on."""
        return {"name": self.name, "hash": self.hash}


class BoardFormat(ABC):
    """How the text files of a game's boards are read."""

    section: str
    """The section that a board file of this game has and those of other games do not: `map` for a line `map:`."""
    default: str
    """The name of the board that is used unless another is named."""
    bundled: Mapping[str, str] = {}
    """Texts of boards by name, for a game whose boards do not lie in the `boards` folder of arena."""

    @abstractmethod
    def problems(self, text: str, source: str) -> list[BoardError]:
        """Returns everything that keeps a file's text from being a board of this game, in the order of the text."""

    @abstractmethod
    def players(self, text: str, source: str) -> tuple[int, ...]:
        """Returns the numbers of players that a board is for, ascending.

        Raises:
            BoardError: The text is not a board.
        """

    @abstractmethod
    def parse(self, text: str, source: str, players: int) -> Board:
        """Returns the board for a number of players.

        Raises:
            BoardError: The text is not a board.
            ConfigError: The board is not for so many players.
        """


S = TypeVar("S")


class Rules(ABC, Generic[S]):
    """One game's rules for a number of seats, under options, on a board if the game has one.

    It keeps nothing of a game: all games at equal tables share one object.
    """

    # What holds for every game of these rules

    name: ClassVar[str]
    """The game's name on the wire, in logs and on the command line."""
    version: ClassVar[int] = 1
    """Raised whenever the same inputs would give another game."""
    about: ClassVar[str]
    """The game in one sentence."""
    seat_counts: ClassVar[range]
    """The numbers of players that the game can have (a board may allow fewer)."""
    option_list: ClassVar[tuple[Option, ...]] = ()
    """Every option, in the order they are shown."""
    rulesets: ClassVar[Mapping[str, Ruleset]] = {"standard": Ruleset("the rules without options", {})}
    """Rulesets by name; the first is the default."""
    contradictions: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Pairs of settings `OPTION=VALUE` that cannot both hold."""
    boards: ClassVar[BoardFormat | None] = None
    """Reader of its boards, or None for a game without boards."""
    nothing_hidden: ClassVar[bool] = False
    """Whether every seat may know the whole state. Then `resample` is not needed, and every event is for everyone."""
    state_type: ClassVar[Any] = None
    """The type of a state, for `load`: a msgspec Struct, for example."""
    play_type: ClassVar[Any] = None
    """The type of a play, for `read_play`: a msgspec Struct whose fields are the keys of the play on the wire. A game
    with several types of plays reads and writes them itself."""

    # What holds for this table

    seats: int
    options: Mapping[str, str]
    board: Board | None
    has_race: bool = False

    def __init__(self, seats: int, options: Mapping[str, str], board: Board | None = None) -> None:
        self.seats = seats
        self.options = dict(options)
        self.board = board

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.seats, self.options, self.board)  # tables are computed again where it is read

    def __deepcopy__(self, memo: Any) -> Rules[S]:
        return self

    @classmethod
    def margin(cls, seats: int, options: Mapping[str, str]) -> Margin | None:
        """Returns by how much a seat can be ahead of another in the end; None if the game counts nothing but ranks."""
        return None

    @classmethod
    def teams(cls, seats: int, options: Mapping[str, str]) -> Teams | None:
        """Returns the team of each seat, numbered from 0 as they first come; None if each plays for itself.

        Those of a team have the same rank. If all are of one team, the game is cooperative: then its scores count.
        """
        return None

    @cached_property
    def board_payload(self) -> Payload | None:
        """The board as bots are sent it, in `game_start`; None for a game without boards."""
        return None if self.board is None else self.board.payload()

    # The engine

    @abstractmethod
    def start(self) -> S:
        """Returns the state before anything happened."""

    def draw_wanted(self, state: S) -> Draw | None:
        """Returns what chance must draw next, or None."""
        return None

    def draw(self, state: S, index: int, events: list[Event] | None = None) -> S:
        """Returns the state after chance drew `index`; appends what happened to `events` if given."""
        raise NotImplementedError(f"{self.name} wants draws, and does not say what they do: override draw")

    @abstractmethod
    def pending(self, state: S) -> tuple[Decision, ...]:
        """Returns the decisions that are owed, in seat order; none when chance is due or the game is over."""

    @abstractmethod
    def legal(self, state: S, seat: Seat) -> Legal:
        """Returns the next plays that `seat` may make; none if it owes no decision."""

    def check(self, state: S, seat: Seat, play: Any) -> None:
        """Refuses a play that is not in `legal`. A game can override it to say why, and to do so faster.

        Raises:
            IllegalAction: The play is not legal; the state is as it was.
        """
        if play not in self.legal(state, seat):
            raise IllegalAction(f"expected one of the legal plays, got: {self.write_play(play)!r:.200}")

    @abstractmethod
    def apply(self, state: S, seat: Seat, play: Any, events: list[Event] | None = None) -> S:
        """Returns the state after a legal play; appends what happened to `events` if given.

        The play is not checked: call `check` first for a play that does not come from `legal`.
        """

    def forfeit(self, state: S, seats: Sequence[Seat], events: list[Event] | None = None) -> S | None:
        """Returns the state after `seats` forfeited, all at the same moment: they take no more turns.

        What they still owe to the set-up stays pending, and is then decided by chance. None means that the game does
        not go on without them: it ends, and the seats that are left share the first rank.
        """
        return None

    @abstractmethod
    def outcome(self, state: S) -> Outcome | None:
        """Returns how the game ended once it is over, else None."""

    def amounts(self, state: S) -> tuple[int, ...]:
        """Returns by seat how much it has of what `margin` counts, also while the game goes on, if it can be cut: its
        score in the end, unless overridden."""
        outcome = self.outcome(state)
        if outcome is None or outcome.scores is None:
            raise NotImplementedError(f"{self.name} has a margin and no scores: override amounts")
        return outcome.scores

    def turn(self, state: S) -> int:
        """Returns the number of the current turn, counted from 1; 0 during the set-up.

        Where a seat may have two turns in a row, they must have two numbers: else they are one decision.
        """
        return 1

    # What a seat may know

    @abstractmethod
    def view(self, state: S, seat: Seat) -> Payload:
        """Returns all that `seat` may know now, built field by field."""

    def first_view(self, seat: Seat) -> Payload:
        """Returns what a seat knows before the first event."""
        return self.view(self.start(), seat)

    @abstractmethod
    def fold(self, view: Payload, event: Payload) -> Payload:
        """Returns the view after an event's data; the view that is given stays as it was."""

    def public(self, view: Payload) -> Payload | None:
        """Returns what everybody at the table knows, made from what one seat knows: the same from every seat's view.

        So a watcher of a running game can tell no seat anything new. None, the default of a game that hides something,
        means that watchers see no board.
        """
        return {**view, "seat": None} if self.nothing_hidden else None

    def resample(self, state: S, seat: Seat, choose: Choose) -> S:
        """Returns another state that `seat` cannot tell from this one, all such states equally likely."""
        if not self.nothing_hidden:
            raise NotImplementedError(
                f"{self.name} does not say what is hidden: override resample, or set nothing_hidden"
            )
        return state

    def guess(self, view: Payload, kind: str) -> S | None:
        """Returns a state that has this view for its seat, which owes a decision of this kind: one of all that the seat
        may take for the true one. So a person can try plays on the board before they send them.

        None, the default, means that this game offers none: then a person sends one play at a time.
        """
        return None

    # Plays and views as numbers, for programs that learn

    def every_play(self) -> Legal | None:
        """Returns every play that a seat can ever make at this table, as products with the `make` of those in `legal`,
        one for each. Programs that learn number plays by it (`arena.core.rules.numbering`).

        None, the default, means that the game does not say.
        """
        return None

    def relative(self, state: S, seat: Seat) -> Legal:
        """Returns `legal` as `every_play` has it: a game can count places there from what is the seat's own, so that
        there are few."""
        return self.legal(state, seat)

    def absolute(self, state: S, seat: Seat, play: Any) -> Any:
        """Returns the play that one of `every_play` is for a seat: the inverse of `relative`.

        Raises:
            IllegalAction: It is none in this state.
        """
        return play

    def bounds(self) -> Bounds:
        """Returns what nothing at this table is ever beyond."""
        return Bounds()

    def returns(self, state: S) -> Sequence[float]:
        """Returns what each seat gets in the end: its score, or what its rank is worth in a game without scores."""
        outcome = self.outcome(state)
        if outcome is None:
            return [0.0] * self.seats
        return outcome.worth if outcome.scores is None else list(map(float, outcome.scores))

    def numbers(self, view: Payload) -> Sequence[int] | None:
        """Returns a view as whole numbers: at one table always as many, and each place with one meaning.

        None, the default, means that the game does not say.
        """
        return None

    def observe(self, state: S, seat: Seat) -> Sequence[int] | None:
        """Returns the `numbers` of the seat's view. A game can override it to make them faster, without the view."""
        return self.numbers(self.view(state, seat))

    # Actions and legal plays in the form of the wire

    def read_action(self, state: S, seat: Seat, action: Payload) -> list[Any]:
        """Returns the plays of a decision as it came over the wire: a map with an array `plays`.

        Raises:
            MalformedAction: It cannot be read; the message ends with the place, ` - at $.plays[1].space`.
        """
        return [self.read_play(state, play, path) for path, play in maps(action, "plays", "a play")]

    def read_play(self, state: S, play: Payload, path: str) -> Any:
        """Returns the play that a map on the wire stands for; `path` is its place in the action, for errors.

        Raises:
            MalformedAction: It cannot be read.
        """
        try:
            return msgspec.convert(play, self.play_type)
        except msgspec.ValidationError as error:
            reason, _, place = str(error).replace("`", "").partition(" - at $")
            raise MalformedAction(f"{reason[:1].lower()}{reason[1:]} - at {path}{place}") from None

    def write_play(self, play: Any) -> Payload:
        """Returns a play as a map; `read_play` is the inverse."""
        written: Payload = msgspec.to_builtins(play)
        return written

    def act(self, state: S, seat: Seat, plays: Sequence[Any], events: list[Event] | None = None) -> S:
        """Returns the state after a whole decision: each play checked and applied in turn.

        The default is for games whose decisions are one play each.

        Raises:
            IllegalAction: A play is not legal when its turn comes; the message ends with the place. What was appended
                to `events` is void.
        """
        if len(plays) != 1:
            raise IllegalAction(f"expected one play, got: {len(plays)} - at $.plays")
        return self.step(state, seat, plays[0], "$.plays[0]", events)

    def step(self, state: S, seat: Seat, play: Any, path: str, events: list[Event] | None) -> S:
        """Returns the state after one play of an action, which is checked; `path` is its place, for errors.

        Raises:
            IllegalAction: The play is not legal.
        """
        try:
            self.check(state, seat, play)
        except IllegalAction as error:
            raise IllegalAction(f"{error} - at {path}") from None
        return self.apply(state, seat, play, events)

    def write_action(self, plays: Sequence[Any]) -> Payload:
        """Returns the action from which `read_action` reads `plays`: always the same one for equal plays."""
        return {"plays": [self.write_play(play) for play in plays]}

    def write_legal(self, state: S, seat: Seat) -> list[Payload]:
        """Returns the legal first plays of the decision that `seat` owes, as products.

        A product maps each key of a play to the array of its values: one value of each key makes a play. A value that
        is a map `{"choose": n, "of": [...]}` stands for any n of the values.
        """
        return [
            dict(zip(product.make.__struct_fields__, map(list, product.choices), strict=True))
            for product in self.legal(state, seat).products
        ]

    # States as bytes

    def dump(self, state: S) -> bytes:
        """Returns the state as bytes, for `load`. They hold everything, secrets too."""
        return msgspec.msgpack.encode(state)

    def load(self, data: bytes) -> S:
        """Returns the state that `dump` wrote."""
        state: S = msgspec.msgpack.decode(data, type=self.state_type)
        return state
