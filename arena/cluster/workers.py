"""Which workers a cluster has, and which of them can play what. No I/O: whoever asks the scheduler notes it here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from typing import Final, NamedTuple

from arena.core.face import errors, lane_kit

REST_S: Final = 2 * lane_kit.PATIENCE_S
"""Seconds that a worker is skipped after its machine ran short of something. If all are, a tournament ends before."""
_MOST_REASONS: Final = 3
"""The number of workers of which a message says why they do not play."""


class NoneAble(BrokenExecutor):
    """No worker can play a block now. It was not begun."""


class WorkerRefused(NamedTuple):
    """Why a worker cannot play."""

    until: float
    """Until when, on the monotonic clock; infinite if waiting does not help."""
    why: str
    bot: str
    """The digest of the bot that cannot be started there; empty if it is for all bots."""


class Workers:
    """The workers of a cluster."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self.names: Mapping[str, str] = {}
        """Names of the workers that there are, by their addresses."""
        self.known: set[str] = set()
        """The addresses of those that have said which arena they have."""
        self.untold: list[str] = []
        self.blocks: dict[str, Callable[[str], object]] = {}
        """Function to call with the task's folder when a game of a block begins, by the key of the block's task."""
        self._tell = tell
        self._refusals: dict[tuple[str, str], WorkerRefused] = {}
        """Refusals by a worker's address and a bot's digest."""

    def say(self) -> None:
        """Tells what happened since it was told last."""
        while self.untold:
            self._tell(self.untold.pop(0))

    def note(self, names: Mapping[str, str]) -> None:
        """Notes which workers there are, by their addresses."""
        self.names = names
        self.known &= names.keys()  # who comes to an address later is another
        self._refusals = {key: refusal for key, refusal in self._refusals.items() if key[0] in names}

    def refuse(self, address: str, why: str, bot: str = "", *, rests: bool = False) -> None:
        """Notes that a worker cannot play.

        Args:
            bot: The digest of the bot that it cannot start, if that is why.
            rests: Whether it may be able to later.
        """
        refusal = WorkerRefused(
            time.monotonic() + REST_S if rests else math.inf,
            f"worker {self.names.get(address, address)} is left out: {why}",
            bot,
        )
        if self.why_not(address, [bot]) is None:
            self.untold.append(refusal.why)
        self._refusals[address, bot] = refusal

    def why_not(self, address: str, bots: Sequence[str] = ()) -> WorkerRefused | None:
        """Returns why a worker cannot play with bots, given by their digests; None if it can."""
        if address not in self.known:
            return WorkerRefused(0.0, f"worker {self.names.get(address, address)} has not said which arena it has", "")
        for bot in ("", *bots):
            refusal = self._refusals.get((address, bot))
            if refusal is not None and time.monotonic() < refusal.until:
                return refusal
        return None

    def refusals(self, bots: Sequence[str] = ()) -> list[WorkerRefused]:
        """Returns why workers cannot play with bots."""
        return [refusal for address in self.names if (refusal := self.why_not(address, bots)) is not None]

    def able(self, bots: Sequence[str] = ()) -> list[str]:
        """Returns the addresses of the workers that can play with bots.

        Raises:
            BotError: No worker can start one of them.
            NoneAble: No worker can play now.
        """
        able = [address for address in self.names if self.why_not(address, bots) is None]
        refusals = self.refusals(bots)
        if not able and refusals and all(refusal.bot for refusal in refusals):
            raise errors.BotError(said(refusals))
        if not able:
            raise NoneAble(said(refusals) or "there is no worker")
        return able


def said(refusals: Sequence[WorkerRefused]) -> str:
    """Returns what to say of workers that cannot play."""
    return "; ".join(refusal.why for refusal in refusals[:_MOST_REASONS])
