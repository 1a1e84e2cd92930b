"""Describes one game as work for a worker: plain data that crosses a process boundary."""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import asdict

from arena.core.link.bots import BotSpec
from arena.core.referee.chance import NO_MIX
from arena.core.types import GameSettings, Level, Seat


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a worker needs to play one game."""

    game: str
    """Identifier, unique in the database; letters, digits and hyphens: the log's name is `{game}.jsonl`."""
    tournament: str | None
    settings: GameSettings
    bots: tuple[BotSpec, ...]
    deal: int
    rotation: int
    secret: bytes
    mix: bytes = NO_MIX
    """Contribution of others to chance, 32 bytes (`chance.mix`)."""
    beacon: str = ""
    entropy: tuple[str | None, ...] = ()
    """Contribution of each seat's bot to it (hex), or None; empty if no bot put anything into it."""
    parameters: tuple[dict[str, str], ...] = ()
    """Values of parameters by seat that this game's round chooses; empty if it chooses none."""
    logs: str
    packed: bool = False
    """Whether its log is written compressed."""
    level: Level = Level.TRUSTED
    block: str = ""
    """Bot processes are kept for the games of one block, and end when a game of another comes."""
    deals_again: bool = False
    """Whether a process may meet a deal that it has met."""
    begun: int = 0
    """Number of times that it was begun before, as far as its folder of logs does not say it."""
    feed: str = ""
    """The folder in which watchers of this game wait ; empty if nobody can watch."""
    ahead: tuple[BotSpec, ...] = ()
    """The bots to start while this game is played, for the next block ..."""
    ahead_deal: int | None = None
    """... or for the game of this block that has this deal."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _read, (asdict(self) | {"settings": _pickled(self.settings)},)

    @property
    def met(self) -> tuple[bytes, int] | None:
        """The deal that its processes may not have met before; None if they may."""
        return None if self.deals_again else (self.secret, self.deal)

    @property
    def ahead_met(self) -> tuple[bytes, int] | None:
        """The same of the game for which bots are started; None if that is of the next block."""
        return None if self.ahead_deal is None else (self.secret, self.ahead_deal)

    def chosen(self, seat: Seat) -> dict[str, str]:
        """Returns the values of parameters that were chosen for a seat; its others are those of its bot's files."""
        own = dict(self.bots[seat].values)
        return own | self.parameters[seat] if self.parameters else own


_last: tuple[GameSettings | None, bytes] = None, b""


def _pickled(settings: GameSettings) -> bytes:
    global _last  # mostly all games in a row have the same settings, which take 0.1 ms
    if _last[0] is not settings:
        _last = settings, pickle.dumps(settings)
    return _last[1]


_settings = lru_cache(maxsize=8)(pickle.loads)


def _read(told: dict[str, Any]) -> Job:
    return Job(**told | {"settings": _settings(told["settings"])})
