"""The running bots of one worker process: started, greeted, kept for the games of a block, and ended.

Laws:
1. Each process has a socket of its own. A connection is the bot's once it said `hello` with the process's token.
   What comes over another is told `error` and has no effect.
2. A bot serves one seat at a time, so a bot that enters a game twice has two processes.
3. A process serves the games of one block only, no two games of one deal, and `MOST_MET` deals. When the next block
   begins, those that wait are told goodbye and end by themselves; nobody waits for that.
4. Those that wait are an LRU cache: there are `MOST_WAITING` at most, fewer where memory is short. One that computes
   while it waits, or grows from game to game, is ended before that costs a game.
5. A worker is one thread of one process. `worker_pool` is made after any fork, never before.
"""

from __future__ import annotations

import os
import secrets
import select
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Final, Generic, TypeVar

from arena.core.errors import MachineFault, RemoteProtocolError
from arena.core.link.base import LAST_MESSAGE_MS
from arena.core.link.bots import BotSpec
from arena.core.link.confinement import confinement
from arena.core.link.connection import Closed, Connection, Listener, Unread
from arena.core.link.custody import Custody
from arena.core.link.process import BotProcess
from arena.core.link.running import Bot, Deal
from arena.core.types import Level
from arena.core.wire.codec import encode
from arena.core.wire.messages import Error, Goodbye
from arena.core.wire.session import State
from arena.core.wire.variables import ENDPOINT, TOKEN

FAREWELL_MS: Final = 1_000  # time to exit after `goodbye`
FREE_MEMORY: Final = 1 / 8
"""Share of the machine's memory that must be free for a bot to be started before it is needed."""
MOST_WAITING: Final = 32  # Bots that wait for a game, at most ...
LEAST_WAITING: Final = 8  # ... and how many may wait whatever memory there is: those of a game.
MAX_UNKNOWN: Final = 8  # connections to a bot's port of which it is not known who they are; the oldest makes room
_BURST: Final = 256  # how many times is looked between two games for messages that nobody asked for
T = TypeVar("T")

_READ: Final = select.POLLIN
_WRITE: Final = select.POLLOUT


class Poller(Generic[T]):
    """Descriptors, and what is done when something happens at one. Whoever closes a descriptor takes it out before."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._readers: dict[int, Callable[[], T]] = {}
        self._writers: dict[int, Callable[[], bool]] = {}

    def add(self, descriptor: int, read: Callable[[], T]) -> None:
        """Has `read` called when the descriptor can be read, or is at its end. Replaces what was called before."""
        self._readers[descriptor] = read
        self._poll.register(descriptor, _READ)

    def remove(self, descriptor: int) -> None:
        """Has nothing called for the descriptor any more. It need not be there."""
        self._writers.pop(descriptor, None)
        if self._readers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def push(self, descriptor: int, write: Callable[[], bool]) -> None:
        """Has `write` called when there is room, until it returns that nothing is left to be sent."""
        if descriptor in self._readers:
            self._writers[descriptor] = write
            self._poll.register(descriptor, _READ | _WRITE)

    def wait(self, wait_ms: int) -> list[T]:
        """Waits until something happens, does what is to be done, and returns what the `read`s did that were called."""
        happened = []
        for descriptor, event in self._poll.poll(wait_ms):
            if event & _WRITE and descriptor in self._writers and not self._writers[descriptor]():
                del self._writers[descriptor]
                self._poll.register(descriptor, _READ)
            # Another's `read` may have taken it out.
            if event != _WRITE and descriptor in self._readers:
                happened.append(self._readers[descriptor]())
        return happened


class Pool:
    """The bots of this process, and the one place where it waits for them."""

    def __init__(self) -> None:
        """Starts the warden.

        Raises:
            MachineFault: The machine cannot give what that needs.
        """
        self.owner = os.getpid()
        self.is_shut = False  # `shutdown` was called
        self._custody = Custody()
        self._poller = Poller[Bot | None]()  # its `read`s return the bot whose game must do the rest, if there is one
        self._level = Level.TRUSTED
        self._bots: list[Bot] = []  # all whose process may live and whose messages mean something
        self._block: str | None = None  # the block whose games are played
        self._idle: deque[Bot] = deque()  # those of them that wait for a game of this block, the longest waiting first
        self._looks = 0  # how often one of them was looked at
        self._ahead: deque[Bot] = deque()  # those of them that were started for the next block
        self._leaving: list[Bot] = []
        """Processes that serve no game any more and may read a last message. The warden kills those that stay."""
        self._graves: list[Bot] = []  # killed, and not reaped yet
        self._at_exit = Finalize(None, self.shutdown, exitpriority=10)

    @property
    def directory(self) -> Path:
        """The private folder of this process. It is gone after `shutdown`."""
        return self._custody.directory

    def tidy(self) -> None:
        """Buries the dead, and finds out whether waiting bots have misbehaved. Call it between two games."""
        for bot in self._leaving:
            if bot.process.end() is not None:
                self._discard(bot)
        self._leaving = [bot for bot in self._leaving if bot in self._bots]
        self._graves = [bot for bot in self._graves if not self._bury(bot)]
        for bot in self._idle:
            if bot.met and not bot.is_still:  # it knows a deal that another process of its bot may be about to play
                bot.is_still = True
                bot.process.fence.freeze()
        self._look_at_one()
        for _ in range(_BURST):
            if not self._poller.wait(0):
                break

    def enter(self, block: str, level: Level = Level.TRUSTED) -> bool:
        """Begins a block, unless its games are being played already. Returns whether it did.

        Bots that waited for games of another block are told goodbye. Those that were started ahead wait for this one's.

        Args:
            level: How far the bots of its games are confined, and those that are started ahead.
        """
        if block == self._block and level is self._level:
            return False
        stale, ahead = self._idle, self._ahead
        if level is not self._level:
            stale, ahead = deque([*stale, *ahead]), deque()
        for bot in stale:
            self._dismiss(bot, "no more games for now")
        self._block, self._level = block, level
        self._idle, self._ahead = ahead, deque()
        return True

    # Waiting

    def wait(self, wait_ms: int) -> list[Bot]:
        """Waits for something to happen, or in vain, and deals with what concerns no game.

        Returns the bots of games of which something can be received, or whose process has ended.
        """
        return [bot for bot in self._poller.wait(wait_ms) if bot is not None and bot.plays]

    def listen(self, bot: Bot) -> None:
        """Has `wait` tell what comes from a bot that has greeted."""
        if bot.connection is not None:
            self._poller.add(bot.connection.descriptor, partial(self._readable, bot))
            if bot.connection.is_behind:
                self.push(bot)

    def ignore(self, bot: Bot) -> None:
        """Leaves unread what comes from a bot, until `listen` is called. Its end is noticed."""
        if bot.connection is not None:
            self._poller.remove(bot.connection.descriptor)

    def push(self, bot: Bot) -> None:
        """Has `wait` send what a bot has not had room for."""
        if bot.connection is not None:
            self._poller.push(bot.connection.descriptor, bot.connection.flush)

    def look(self, now: int) -> None:
        """Looks at the limits of all bots, those that wait for a game too, and kills who uses too much.

        Its game, or the next one that it is given, is told by its `watch`.
        """
        for bot in self._bots:
            bot.watch.look(now)
            if bot.watch.is_too_big:
                bot.process.kill()

    def _ended(self, bot: Bot) -> Bot:
        if bot.process.pidfd is not None:
            self._poller.remove(bot.process.pidfd)
        bot.watch.look(time.monotonic_ns())
        return bot

    def _accept(self, bot: Bot) -> None:
        descriptor = bot.listener.descriptor
        connection = bot.listener.accept()
        if not bot.listener.is_open:
            self._poller.remove(descriptor)
        if connection is None:
            return
        if len(bot.unknown) >= MAX_UNKNOWN:
            self._drop(bot, bot.unknown[0])
        bot.unknown.append(connection)
        self._poller.add(connection.descriptor, partial(self._greet, bot, connection))

    def _greet(self, bot: Bot, connection: Connection) -> Bot | None:
        try:
            while bot.session.state is State.NEW:
                message = connection.receive()
                if message is not None:
                    bot.session.receive(message)
                elif not connection.has_more:
                    return None
        except Closed:
            self._drop(bot, connection)
            if not bot.listener.is_open and not bot.unknown:
                bot.watch.disconnect(time.monotonic_ns())
            return bot
        except RemoteProtocolError as error:
            self._poller.remove(connection.descriptor)
            _send(connection, encode(Error(code=error.error_code, message=str(error)[:1000])))
            if not bot.spec.tcp:  # over a port it may have been anybody
                bot.refusal = error
            return bot
        bot.connection = connection
        bot.watch.connect()
        bot.unknown.remove(connection)
        self._close_door(bot)
        self.listen(bot)
        bot.process.fence.freeze()  # until it is welcome
        return self._readable(bot) if connection.has_more else bot

    def _readable(self, bot: Bot) -> Bot | None:
        """Lets a bot's game read what came, or treats what a bot that waits says: that is not allowed, and ends it.

        Only an answer that has lapsed may come, or something that is ignored.
        """
        if bot.plays:
            return bot
        assert bot.connection is not None
        try:
            message = bot.connection.receive()
            while message is not None:
                bot.session.receive(message)
                message = bot.connection.receive() if bot.connection.has_more else None
        except Closed:
            self.ignore(bot)
            bot.watch.disconnect(time.monotonic_ns())
        except RemoteProtocolError as error:
            self.ignore(bot)
            _send(bot.connection, bot.session.send(Error(code=error.error_code, message=str(error)[:1000])))
            for waiting in (self._idle, self._ahead):
                if bot in waiting:
                    waiting.remove(bot)
                    self._leave(bot, LAST_MESSAGE_MS)
        return None

    def _drop(self, bot: Bot, connection: Connection) -> None:
        self._poller.remove(connection.descriptor)
        connection.close()
        bot.unknown.remove(connection)

    def _close_door(self, bot: Bot) -> None:
        """Closes all of a bot's sockets but its own connection."""
        if bot.listener.is_open:
            self._poller.remove(bot.listener.descriptor)
            bot.listener.close()
        for connection in list(bot.unknown):
            self._drop(bot, connection)

    # Bots

    def missing(self, specs: Iterable[BotSpec], deal: Deal | None, *, soon: bool = False) -> list[BotSpec]:
        """Returns the bots for which no process waits that may play a deal; `soon`, none that waits or plays."""
        there = [bot.spec for bot in self._idle if deal not in bot.met]
        there += [bot.spec for bot in self._bots if soon and bot.plays and deal not in bot.met]
        return _without(specs, there)

    def start_ahead(self, specs: Iterable[BotSpec], deal: Deal | None = None) -> None:
        """Starts bots that are not there yet, if there is memory. Failures show when they are needed.

        Args:
            specs: The bots of a game.
            deal: Its deal, if it is of this block; None if it is of the next.
        """
        if deal is None:
            waiting, missing = self._ahead, _without(specs, [bot.spec for bot in self._ahead])
        else:
            waiting, missing = self._idle, self.missing(specs, deal, soon=True)
        for spec in missing:
            if _has_memory():
                with suppress(OSError, MachineFault):
                    waiting.append(self._start(spec))

    def take(self, spec: BotSpec, deal: Deal | None = None) -> Bot:
        """Returns a bot for one seat: one that waits and has not met the deal, or a new one.

        It may have yet to say `hello`. The one that waited last comes first, so that those that are not needed age.

        Raises:
            MachineFault: The machine could not give what every bot needs.
            OSError: Its program could not be started.
        """
        for bot in [bot for bot in reversed(self._idle) if bot.spec == spec and deal not in bot.met]:
            self._idle.remove(bot)
            if bot.session.state is State.NEW or bot.watch.is_too_big or bot.is_fit():
                if bot.session.state is State.IDLE:
                    bot.process.forget_output()
                break
            self._discard(bot)
        else:
            bot = self._start(spec)
        if deal is not None:
            bot.met.add(deal)
        bot.plays = True
        return bot

    def give_back(self, bot: Bot, *, keep: bool) -> None:
        """Ends a seat's use of a bot: it waits for another game of its block if `keep` and it can, else it is killed.

        One that was stopped has until then to read its `error`: its author will look for it in the bot's own output.
        """
        bot.plays = False
        if bot.dies_ns is not None:
            self._leaving.append(bot)
            return
        if not keep or not bot.is_fit():
            self._discard(bot)
            return
        bot.rest()
        if bot.has_served():
            self._dismiss(bot, "no more games for now")
            return
        self._idle.append(bot)
        if len(self._idle) > LEAST_WAITING:
            most = MOST_WAITING if _has_memory() else LEAST_WAITING
            while len(self._idle) > most:
                self._dismiss(self._idle.popleft(), "no more games for now")
        if bot.connection is not None and bot.connection.has_more:
            self._readable(bot)

    def shutdown(self) -> None:
        """Says goodbye to the waiting bots, gives them a second in all, and kills what is left."""
        if self.owner != os.getpid() or self.is_shut:
            return
        self.is_shut = True
        self._at_exit.cancel()
        for bot in (*self._idle, *self._ahead):
            self._dismiss(bot, "all games are over")
        self._idle.clear()
        self._ahead.clear()
        until_ns = max((bot.dies_ns or 0 for bot in self._leaving), default=0)
        with suppress(MachineFault):
            while any(bot.process.end() is None for bot in self._leaving) and time.monotonic_ns() < until_ns:
                self._poller.wait(20)
        for bot in list(self._bots):
            self._discard(bot)
        for bot in self._graves:
            self._bury(bot, wait=True)
        self._custody.close()

    def _start(self, spec: BotSpec) -> Bot:
        token = secrets.token_hex(32)
        with ExitStack() as held:
            folder = self._custody.seat_folder()
            held.callback(self._custody.remove, folder)
            with ExitStack() as lent:
                confined_by = confinement(self._level)
                user = confined_by.allot_user()
                lent.callback(confined_by.release_user, user)
                listener = Listener(folder, user=user, tcp=spec.tcp)
                lent.pop_all()  # the process gives it back
            held.callback(listener.close)
            environment = {ENDPOINT: listener.endpoint, TOKEN: token, "TMPDIR": str(folder / "tmp")}
            process = BotProcess(spec, self._custody, environment, level=self._level, socket_folder=folder, user=user)
            held.pop_all()
        bot = Bot(spec, token, process, listener, folder)
        self._bots.append(bot)
        self._poller.add(listener.descriptor, partial(self._accept, bot))
        if process.pidfd is not None:
            self._poller.add(process.pidfd, partial(self._ended, bot))
        return bot

    def _look_at_one(self) -> None:
        """Ends a bot that waits if it computes meanwhile. Each call looks at another."""
        if self._idle:
            self._looks += 1
            bot = self._idle[self._looks % len(self._idle)]
            if bot.met and bot.is_restless():
                self._idle.remove(bot)
                self._dismiss(bot, "no more games for now")

    def _dismiss(self, bot: Bot, reason: str) -> None:
        if bot.connection is not None and bot.is_fit():
            _send(bot.connection, bot.session.send(Goodbye(reason=reason)))
        self._leave(bot, FAREWELL_MS)

    def _leave(self, bot: Bot, after_ms: int) -> None:
        bot.process.fence.thaw()
        bot.stop(after_ms)
        self.ignore(bot)
        self._leaving.append(bot)

    def _discard(self, bot: Bot) -> None:
        bot.process.kill()
        self._close_door(bot)
        self.ignore(bot)
        if bot.connection is not None:
            bot.connection.close()
        if bot.process.pidfd is not None:
            self._poller.remove(bot.process.pidfd)
        self._bots.remove(bot)
        self._graves.append(bot)

    def _bury(self, bot: Bot, *, wait: bool = False) -> bool:
        """Reaps a killed bot, and removes what was its own. Tells whether it is gone."""
        gone = bot.process.reap(wait=wait)
        if gone:
            self._custody.remove(bot.folder)
        return gone


def _without(specs: Iterable[BotSpec], there: list[BotSpec]) -> list[BotSpec]:
    """Returns the bots that are not there, each as often as it is missing. Empties `there`."""
    missing = []
    for spec in specs:
        if spec in there:
            there.remove(spec)
        else:
            missing.append(spec)
    return missing


def _send(connection: Connection, message: bytes) -> None:
    """Sends what nobody waits for an answer to."""
    with suppress(Closed, Unread):
        connection.send(message)


def _has_memory() -> bool:
    try:
        with open("/proc/meminfo", encoding="ascii") as meminfo:
            sizes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in meminfo)}
        return sizes["MemAvailable"] > sizes["MemTotal"] * FREE_MEMORY
    except (OSError, KeyError):
        return True  # the system does not tell


_pool: Pool | None = None


def worker_pool() -> Pool:
    """Returns this process's pool, opened at the first call. It shuts down when the process exits, if not before."""
    global _pool
    if _pool is None or _pool.owner != os.getpid() or _pool.is_shut:
        _pool = Pool()
    return _pool
