"""The games that run now, as the feed tells of them: their records, and the frames of those that somebody looks at.

Laws:
1. Nothing that only some seats know leaves a `LiveGame` while its game goes on: its film is made with the eyes of
   everybody, unless the operator may see all hands.
2. Keeping a record costs next to nothing. Only games that are looked at are folded, once for all who look.
3. A game of which something is missing stands still at its last whole scene, until it is known that it is over.
4. A game runs until its outcome comes, or until its process has gone or plays another one: a bot may think for as long
   as it likes. Where nobody knows the process, a game that is silent for long is not listed until it is heard of again.
   `Games.rest` is the only place that decides this, for terminal and web.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec
from msgspec import UnsetType

from arena.core.face import (
    Payload,
    Seat,
    Termination,
    errors,
    feeds,
    log_records,
    plain,
    presenters,
    process_trees,
    seat_styles,
    standings_texts,
    value_types,
)
from arena.pages.frames import Camera

MOST_RUNNING: Final = 64
"""Games that are listed at a time, without the one that has been silent for longest. As many that rest are kept."""
MOST_LISTED: Final = 12
"""Games that are listed after their end."""
MOST_FINISHED: Final = 200
"""Games that are remembered after their end: quick bots end a dozen while somebody clicks on one."""
MOST_KEPT: Final = 50
"""Games that are remembered beyond that because somebody looked at them: they may want to see the replay."""
SILENT_S: Final = 30.0
"""After so long without a word, a game of an unknown process is not listed any more."""
MOST_RECORDS: Final = 20_000
"""Records of a game that are kept."""
JUST_S: Final = 10.0
"""For so long it is told that games end which nobody can follow."""
FOLLOWED_S: Final = 1.5
"""A game that is heard of for less than this cannot be followed."""
QUIET_S: Final = 0.05
"""After so long without a record, what a decision led to is complete: chance is drawn without waiting for anybody."""
RENEWED_S: Final = 3.0
"""A board that grows with the game is laid out anew at most so often."""
SOURCE: Final = "the game in progress"


class Summary(msgspec.Struct, frozen=True):
    """A game in a list: nothing in it is hidden from anybody."""

    id: str
    names: list[str]
    turn: str
    """Turn in the words of the board: `Round 14`; empty before the first turn."""
    ranks: list[int] | None
    """Ranks, once it is over; empty if it was interrupted."""
    whole: bool
    how: str
    """End in a word (`how_ended`); empty while it goes on."""
    between: str = "v."


def how_ended(ranks: Sequence[int], teams: value_types.Teams | UnsetType) -> str:
    """Returns in a word how a game ended: `won`, `drawn`, `ended` where all play together, or `interrupted`.

    >>> how_ended([1, 2], msgspec.UNSET), how_ended([1, 1], msgspec.UNSET)
    ('won', 'drawn')
    >>> how_ended([1, 3, 1, 3], (0, 1, 0, 1)), how_ended([1, 1], (0, 0))
    ('won', 'ended')
    """
    if not ranks:
        return "interrupted"
    if value_types.is_cooperative(teams):
        return "ended"
    first = {team for team, rank in zip(value_types.sides(teams, len(ranks)), ranks, strict=True) if rank == 1}
    return "won" if len(first) == 1 else "drawn"


def ended(game: Summary) -> str:
    """Returns how a game ended, in words.

    >>> ended(Summary("g", ["fox", "owl"], "", [1, 1], True, "drawn"))
    'fox, owl: drawn'
    >>> ended(Summary("g", ["fox", "owl", "elk", "bee"], "", [1, 3, 1, 3], True, "won"))
    'fox, elk won against owl, bee'
    """
    if game.how != "won":
        return f"{', '.join(game.names)}: {game.how}"
    ranks = game.ranks or []
    first = [name for name, rank in zip(game.names, ranks, strict=True) if rank == 1]
    others = [name for name, rank in zip(game.names, ranks, strict=True) if rank > 1]
    return f"{', '.join(first)} won against {', '.join(others)}"


class LiveGame:
    """A game that runs, or has just ended.

    Args:
        process: The number of the process that plays it; 0 if nobody knows.
    """

    def __init__(self, header: log_records.Header, process: int = 0) -> None:
        self.header = header
        self.process = process
        self._process_began = _began(process)
        self.records: list[log_records.Record] = []
        self.is_whole = True
        self.turn = 0
        self.outcome: log_records.OutcomeRecord | None = None
        self.moved = self.began = time.monotonic()
        """When something was heard of it, last and first."""

    @property
    def id(self) -> str:
        """Its identifier."""
        return self.header.game

    def is_played(self, now: float) -> bool:
        """Returns whether its process lives, or, where nobody knows it, whether something was heard lately."""
        if self._process_began is None:
            return now <= self.moved + SILENT_S
        return _began(self.process) == self._process_began

    def take(self, first: int, records: list[log_records.Record]) -> None:
        """Takes records; `first` is the number of the first one, the header being 0."""
        self.moved = time.monotonic()
        if first != len(self.records) + 1 or len(self.records) + len(records) > MOST_RECORDS:
            self.is_whole = False
        if not self.is_whole:
            records = [
                record for record in records if isinstance(record, log_records.OutcomeRecord)
            ]  # that it is over, at least
        for record in records:
            if isinstance(record, log_records.ActionRecord | log_records.ForfeitRecord):
                self.turn = record.turn
            elif isinstance(record, log_records.OutcomeRecord):
                self.outcome = record
                self.turn = record.turns
        if self.is_whole:
            self.records += records

    def summary(self) -> Summary:
        """Returns what a list says of it."""
        over, teams, ranks, how = self.outcome, self.header.settings.teams, None, ""
        if over is not None:
            ranks = [] if over.termination is Termination.INTERRUPTED else list(over.ranks)
            how = how_ended(ranks, teams)
        names = [plain(bot.name) for bot in self.header.bots]
        return Summary(self.id, names, self._turn(), ranks, self.is_whole, how, standings_texts.between(teams))

    def _turn(self) -> str:
        if not self.turn:
            return ""
        try:
            name = presenters.presenter(self.header.settings.rules).turn_name
        except errors.ArenaError:  # its package is broken: such a game is not drawn, either
            name = presenters.Presenter.turn_name
        return f"{name} {self.turn}"


class LiveFilm:
    """The frames of a game, made as its records come.

    Args:
        hands: Whether all hands are shown while it goes on.
    """

    def __init__(self, game: LiveGame, *, hands: bool = False) -> None:
        self.game = game
        self._seat: Seat | None = None if hands else seat_styles.EVERYBODY
        self.renewed = False
        """Whether all frames were made anew: what was sent of them is no longer right."""
        self._renewed_at = 0.0
        self._begin()
        self.broken = False

    def _begin(self) -> None:
        """Makes room on the board for what has come, and begins with the first frame."""
        self._camera = Camera(self.game.header, SOURCE, self._seat, whole=True)
        self._camera.plan(self.game.records)
        self._fits = len(self.game.records)
        """For how many records it is known that the board has room."""
        self._seen = 0
        self._framed = -1
        """Number of records that were seen when the last frame was made."""
        self.frames: list[Payload] = []
        self.told = 0
        """Number of the frames' sentences that were taken."""

    def go_on(self, now: float) -> Iterator[Payload]:
        """Takes what has come, and yields the frames that are new. What may not be complete yet waits.

        A frame's `n` is the number of records that it shows. When all are made anew, there may be other frames: a page
        finds its moment again by that number.

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
        except errors.LogError:  # a bug of ours, or of the game: the others go on
            self.broken = True

    def _make_room(self, now: float) -> None:
        """Begins anew if what has come does not fit the board, now and then: the board is not to jump all the time."""
        is_over = self.game.outcome is not None
        if self._fits == len(self.game.records) or (now < self._renewed_at + RENEWED_S and not is_over):
            return
        self._fits = len(self.game.records)
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
        numbered = frame | {"n": self._seen}
        self.frames.append(numbered)
        return numbered


class Games:
    """All games of which the feed tells."""

    def __init__(self) -> None:
        self.running: dict[str, LiveGame] = {}
        """The one that began last is last."""
        self._resting: dict[str, LiveGame] = {}
        """Games that nobody seems to play. They run again with the next word of them."""
        self.finished: deque[LiveGame] = deque(maxlen=MOST_FINISHED)
        """The last one first."""
        self._kept: OrderedDict[str, LiveGame] = OrderedDict()
        """Games that somebody looked at, the last one last."""
        self.version = 0
        """Counts what has changed."""

    def find(self, id: str) -> LiveGame | None:
        """Returns a game that runs or has just ended, for somebody who looks at it."""
        game = (
            self.running.get(id)
            or self._resting.get(id)
            or next((game for game in self.finished if game.id == id), self._kept.get(id))
        )
        if game is not None:
            self._kept[id] = game
            self._kept.move_to_end(id)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return game

    def listed(self) -> list[LiveGame]:
        """Returns the games that ended last, the last one first."""
        return list(islice(self.finished, MOST_LISTED))

    def none_running(self, now: float, *, played: bool) -> str:
        """Returns what is said where no running game can be listed.

        Args:
            now: The time of the monotonic clock.
            played: Whether somebody writes the database now.
        """
        short = sum(game.moved > now - JUST_S and game.moved < game.began + FOLLOWED_S for game in self.finished)
        if short:
            played_now = "1 game was" if short == 1 else f"{short} games were"
            return f"{played_now} played in the last {JUST_S:.0f} seconds, too short to follow."
        if played:
            return "No game is heard of now: one may be about to begin, or they run on other machines."
        return "No game is running."

    def take(self, part: feeds.Part) -> None:
        """Takes a part that came over the feed."""
        self.version += 1
        first, records = part.first, [record for record in part.records if not isinstance(record, log_records.Header)]
        for other in [game for game in self.running.values() if part.sender and game.process == part.sender]:
            if other.id != part.game:  # a process plays one game at a time
                self._rest(other)
        if part.records and isinstance(part.records[0], log_records.Header):
            self._drop(part.game)  # it is played once more
            self.running[part.game] = LiveGame(part.records[0], part.sender)
            first = 1
        game = self.running.get(part.game) or self._resting.pop(part.game, None)
        if game is None:
            return
        self.running[game.id] = game
        while len(self.running) > MOST_RUNNING:
            self._rest(min(self.running.values(), key=lambda game: game.moved))
        if records:
            game.take(first, records)
        if game.outcome is not None:
            self._end(game)

    def rest(self, now: float) -> None:
        """Lists the games no more that nobody plays: their end was not told. Call it now and then.

        Args:
            now: The time of the monotonic clock.
        """
        for game in [game for game in self.running.values() if not game.is_played(now)]:
            self._rest(game)

    def _rest(self, game: LiveGame) -> None:
        self.version += 1
        self._resting[game.id] = self.running.pop(game.id)
        while len(self._resting) > MOST_RUNNING:
            del self._resting[next(iter(self._resting))]

    def _drop(self, id: str) -> None:
        self.running.pop(id, None)
        self._resting.pop(id, None)

    def _end(self, game: LiveGame) -> None:
        del self.running[game.id]
        self.finished.appendleft(game)


def _began(process: int) -> int | None:
    """Returns when a process began, which tells it from a later one of its number; None if it has ended."""
    stat = process_trees.process_stat(process) if process > 0 else None
    return None if stat is None or stat.is_dead else stat.started
