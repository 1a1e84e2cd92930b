"""The games that run now, as the feed tells of them: their records, and the frames of those that somebody looks at.

Laws:
1. Nothing that only some seats know leaves a `LiveGame` while its game goes on: its film is made with the eyes of
   everybody, unless the operator may see all hands.
2. Keeping a record costs next to nothing. Only games that are looked at are folded, once for all who look.
3. A game of which something is missing stands still at its last whole scene, until it is known that it is over.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from arena.errors import LogError
from arena.pages.frames import Camera
from arena.record.log import ActionRecord, ForfeitRecord, Header, OutcomeRecord, Record
from arena.referee.feed import Part
from arena.show.seats import EVERYBODY
from arena.text import plain
from arena.types import Payload, Seat, Termination

MOST_RUNNING: Final = 64
"""Games that are followed at a time; beyond them the one that has been silent for longest is forgotten."""
MOST_LISTED: Final = 12
"""Games that are listed after their end."""
MOST_FINISHED: Final = 200
"""Games that are remembered after their end: quick bots end a dozen while somebody clicks on one."""
MOST_KEPT: Final = 50
"""Games that are remembered beyond that because somebody looked at them: they may want to see the replay."""
MOST_RECORDS: Final = 20_000
"""Records of a game that are kept."""
QUIET_S: Final = 0.05
"""After so long without a record, what a decision led to is complete: chance is drawn without waiting for anybody."""
RENEWED_S: Final = 3.0
"""A board that grows with the game is laid out anew at most so often."""
SOURCE: Final = "the game in progress"


class Summary(msgspec.Struct, frozen=True):
    """A game in a list: nothing in it is hidden from anybody."""

    id: str
    names: list[str]
    turn: int
    ranks: list[int] | None
    """How it ended, once it is over; empty if it was interrupted."""
    whole: bool
    """Whether every record has come so far."""


def ended(game: Summary) -> str:
    """Returns how a game ended, in words.

    >>> ended(Summary("g", ["fox", "owl"], 9, [1, 2], True)), ended(Summary("g", ["fox", "owl"], 9, [1, 1], True))
    ('fox won against owl', 'fox, owl: drawn')
    """
    if not game.ranks:
        return f"{', '.join(game.names)}: interrupted"
    first = [name for name, rank in zip(game.names, game.ranks, strict=True) if rank == 1]
    if len(first) > 1:
        return f"{', '.join(game.names)}: drawn"
    others = [name for name, rank in zip(game.names, game.ranks, strict=True) if rank > 1]
    return f"{first[0]} won against {', '.join(others)}"


class LiveGame:
    """A game that runs, or has just ended."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.records: list[Record] = []
        self.is_whole = True
        self.turn = 0
        self.outcome: OutcomeRecord | None = None
        self.moved = time.monotonic()
        """When something was heard of it."""

    @property
    def id(self) -> str:
        """Its identifier."""
        return self.header.game

    def take(self, first: int, records: list[Record]) -> None:
        """Takes records; `first` is the number of the first one, the header being 0."""
        self.moved = time.monotonic()
        if first != len(self.records) + 1 or len(self.records) + len(records) > MOST_RECORDS:
            self.is_whole = False
        if not self.is_whole:
            records = [record for record in records if isinstance(record, OutcomeRecord)]  # that it is over, at least
        for record in records:
            if isinstance(record, ActionRecord | ForfeitRecord):
                self.turn = record.turn
            elif isinstance(record, OutcomeRecord):
                self.outcome = record
                self.turn = record.turns
        if self.is_whole:
            self.records += records

    def summary(self) -> Summary:
        """Returns what a list says of it."""
        over, ranks = self.outcome, None
        if over is not None:
            ranks = [] if over.termination is Termination.INTERRUPTED else list(over.ranks)
        return Summary(self.id, [plain(bot.name) for bot in self.header.bots], self.turn, ranks, self.is_whole)


class LiveFilm:
    """The frames of a game, made as its records come.

    Args:
        game: The game.
        hands: Whether all hands are shown while it goes on.
    """

    def __init__(self, game: LiveGame, *, hands: bool = False) -> None:
        self.game = game
        self._seat: Seat | None = None if hands else EVERYBODY
        self.renewed = False
        """Whether all frames were made anew: what was sent of them is no longer right."""
        self._renewed_at = 0.0
        self._begin()
        self.broken = False

    def _begin(self) -> None:
        """Makes room on the board for what has come, and begins with the first frame."""
        self._camera = Camera(self.game.header, SOURCE, self._seat, whole=True)
        self._camera.plan(self.game.records)
        self._seen = 0
        self._framed = -1
        """How many records were seen when the last frame was made."""
        self.frames: list[Payload] = []
        self.told = 0
        """How many of the frames' sentences were taken."""

    def go_on(self, now: float) -> Iterator[Payload]:
        """Takes what has come, and yields the frames that are new. What may not be complete yet waits.

        Args:
            now: The time of the monotonic clock.
        """
        if self.broken:
            return
        try:
            self._make_room(now)
            for record in self.game.records[self._seen :]:
                for frame in self._camera.see(record):
                    if self._framed < self._seen:
                        yield self._new(frame)
                self._seen += 1
            is_complete = self.game.outcome is not None or now >= self.game.moved + QUIET_S
            if is_complete and self._framed < self._seen:
                yield self._new(self._camera.frame())
        except LogError:  # a bug of ours, or of the game: the others go on
            self.broken = True

    def _make_room(self, now: float) -> None:
        """Begins anew if what has come does not fit the board, now and then: the board is not to jump all the time."""
        is_over = self.game.outcome is not None
        if self._seen == len(self.game.records) or (now < self._renewed_at + RENEWED_S and not is_over):
            return
        if self._camera.is_outgrown(self.game.records):
            self._renewed_at = now
            self.renewed = bool(self.frames)
            self._begin()

    def head(self) -> Payload:
        """Returns all but the frames. What it says of sentences holds for those that were taken."""
        self.told = len(self._camera.strings)
        return self._camera.head()

    def new_strings(self) -> list[str]:
        """Returns the sentences since the last call, or since `head`."""
        new = self._camera.strings[self.told :]
        self.told += len(new)
        return new

    @property
    def is_over(self) -> bool:
        """Whether the game is over, and all of it was taken, or no more can be."""
        return self.game.outcome is not None and (self._framed == len(self.game.records) or self.broken)

    @property
    def style(self) -> str:
        """The CSS of its symbols."""
        return self._camera.style

    def _new(self, frame: Payload) -> Payload:
        self._framed = self._seen
        self.frames.append(frame)
        return frame


class Games:
    """All games of which the feed tells."""

    def __init__(self) -> None:
        self.running: dict[str, LiveGame] = {}
        self.finished: deque[LiveGame] = deque(maxlen=MOST_FINISHED)
        """The last one first."""
        self._kept: OrderedDict[str, LiveGame] = OrderedDict()
        """Those that somebody looked at, the last one last."""
        self.version = 0
        """Counts what has changed."""

    def find(self, id: str) -> LiveGame | None:
        """Returns a game that runs or has just ended, for somebody who looks at it."""
        game = self.running.get(id) or next((game for game in self.finished if game.id == id), self._kept.get(id))
        if game is not None:
            self._kept[id] = game
            self._kept.move_to_end(id)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return game

    def listed(self) -> list[LiveGame]:
        """Returns the games that ended last, the last one first."""
        return list(islice(self.finished, MOST_LISTED))

    def take(self, part: Part) -> None:
        """Takes a part that came over the feed."""
        self.version += 1
        first, records = part.first, [record for record in part.records if not isinstance(record, Header)]
        if part.records and isinstance(part.records[0], Header):
            self.running[part.game] = LiveGame(part.records[0])  # also when it is played once more
            first = 1
            while len(self.running) > MOST_RUNNING:
                del self.running[min(self.running.values(), key=lambda game: game.moved).id]
        game = self.running.get(part.game)
        if game is None:
            return
        if records:
            game.take(first, records)
        if game.outcome is not None:
            self._end(game)

    def clear(self) -> None:
        """Forgets what runs: nobody plays any more."""
        if self.running:
            self.version += 1
            self.running.clear()

    def ended(self, id: str) -> None:
        """Forgets a running game whose end the feed did not tell."""
        if self.running.pop(id, None) is not None:
            self.version += 1

    def _end(self, game: LiveGame) -> None:
        del self.running[game.id]
        self.finished.appendleft(game)
