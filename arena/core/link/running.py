"""One bot that runs, and what it has met and used: what says whether it can serve another game."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final, TypeAlias

from arena.core.errors import RemoteProtocolError
from arena.core.link.connection import Connection, Listener
from arena.core.link.process import BotProcess
from arena.core.link.spec import BotSpec
from arena.core.link.watch import Watch
from arena.core.types import NS_PER_MS
from arena.core.wire.session import Session, State

REST_CPU_NS: Final = 1_000 * NS_PER_MS
"""CPU time that a bot may use while it waits for a game."""
MOST_MET: Final = 1_000
"""Deals of one process, at most: they are kept in memory, and a start costs nothing beside so many games."""
Deal: TypeAlias = tuple[bytes, int]
"""A deal: the secret of its tournament, and its number."""


class Bot:
    """A bot that runs: its process, its connection, its session. It may serve many games, one after another."""

    def __init__(self, spec: BotSpec, token: str, process: BotProcess, listener: Listener, folder: Path) -> None:
        """Takes a process that was just started and has not spoken."""
        self.spec = spec
        self.folder = folder  # what is the process's own, for its socket and its temporary files
        self.token = token
        self.process = process
        self.listener = listener
        self.watch = Watch(process)
        self.session = Session(token)
        self.started_ns = time.monotonic_ns()
        self.plays = False  # whether a game uses it: the game reads its messages
        self.met: set[Deal] = set()  # the deals of its games
        self.is_still = False  # whether it was frozen, if its level has that, since it began to wait
        self.rests_since_ns = 0  # the CPU time that it had used when it began to wait
        self.first_mib = 0  # the memory that it had used after its first game, in MiB
        self.unknown: list[Connection] = []  # connections over which nobody has said `hello`
        self.connection: Connection | None = None  # its connection, once its `hello` was accepted
        self.refusal: RemoteProtocolError | None = None  # why its greeting was not accepted
        self.dies_ns: int | None = None  # when the warden kills it, if that was ordered

    def is_fit(self) -> bool:
        """Tells whether it can serve a game: alive, connected, and between games by the protocol."""
        return (
            self.connection is not None
            and not self.watch.is_closed
            and self.dies_ns is None
            and self.session.state in (State.GREETED, State.IDLE)
            and self.process.end() is None
        )

    def rest(self) -> None:
        """Notes what it has used at the end of a game."""
        self.is_still = False
        self.rests_since_ns = self.process.fence.known_cpu_ns()
        self.first_mib = self.first_mib or self.watch.most_mib

    def is_restless(self) -> bool:
        """Tells whether it has computed since its last game."""
        return self.process.fence.known_cpu_ns() - self.rests_since_ns > REST_CPU_NS

    def has_served(self) -> bool:
        """Tells whether it has had its number of deals, or uses half of the memory that its first game left free."""
        grown_mib, free_mib = self.watch.most_mib - self.first_mib, self.spec.memory_mib - self.first_mib
        return len(self.met) >= MOST_MET or grown_mib > free_mib // 2

    def stop(self, after_ms: int) -> None:
        """Kills its process group now, or has the warden kill it after some milliseconds."""
        if not after_ms:
            self.process.kill()
            return
        self.process.kill_in(after_ms)
        dies_ns = time.monotonic_ns() + after_ms * NS_PER_MS
        self.dies_ns = dies_ns if self.dies_ns is None else min(self.dies_ns, dies_ns)
