"""The running bots of one worker process: started, greeted, kept for the games of a block, and ended.

Laws:
1. A bot's process is known by its token, a connection by the `hello` that carried the token: the first one. Whoever
   else claims the token, or speaks without one, is told `error` and has no effect.
2. A bot serves one seat at a time, so a bot that enters a game twice has two processes.
3. A process serves the games of one block only. When the next block begins, those that wait are told goodbye and end
   by themselves; nobody waits for that. So there are never more than those that play, and as many started ahead.
4. A worker is one thread of one process. `worker_pool` is made after any fork, never before.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.util import Finalize
from typing import Final

from arena.errors import RemoteProtocolError
from arena.link.base import LAST_MESSAGE_MS
from arena.link.bots import BotSpec
from arena.link.custody import Custody
from arena.link.hub import OLD_ZMTP, Hub, Part, Route, Unread, group_of
from arena.link.process import BotProcess
from arena.link.watch import Watch
from arena.types import NS_PER_MS, Level
from arena.wire.codec import decode, encode
from arena.wire.messages import Error, Goodbye, Hello
from arena.wire.session import Session, State

FAREWELL_MS: Final = 1_000
"""Time to exit after `goodbye`."""
_SEVERAL: Final = "expected one frame per message, got: several"
FREE_MEMORY: Final = 1 / 8
"""Share of the machine's memory that must be free for a bot to be started before it is needed."""
_BURST: Final = 256
"""How many messages that nobody asked for are read between two games."""


class Bot:
    """A bot that runs: its process, its connection, its session. It may serve many games, one after another."""

    def __init__(self, spec: BotSpec, token: str, process: BotProcess) -> None:
        """Takes a process that was just started and has not spoken."""
        self.spec = spec
        self.token = token
        self.process = process
        self.watch = Watch(process)
        self.session = Session(token)
        self.started_ns = time.monotonic_ns()
        self.route: Route | None = None
        """Its connection, once its `hello` was accepted."""
        self.refusal: RemoteProtocolError | None = None
        """Why its greeting was not accepted."""
        self.dies_ns: int | None = None
        """When the warden kills it, if that was ordered."""

    def is_fit(self) -> bool:
        """Tells whether it can serve a game: alive, connected, and between games by the protocol."""
        return (
            self.route is not None
            and not self.watch.is_closed
            and self.dies_ns is None
            and self.session.state in (State.GREETED, State.IDLE)
            and self.process.end() is None
        )

    def stop(self, after_ms: int) -> None:
        """Kills its process group now, or has the warden kill it in so many milliseconds."""
        if not after_ms:
            self.process.kill()
            return
        self.process.kill_in(after_ms)
        dies_ns = time.monotonic_ns() + after_ms * NS_PER_MS
        self.dies_ns = dies_ns if self.dies_ns is None else min(self.dies_ns, dies_ns)


class Pool:
    """The bots of this process, and the socket they speak to."""

    def __init__(self) -> None:
        """Opens the socket and starts the warden.

        Raises:
            ConfigError: The temporary folder cannot hold a socket. Show the message to the operator.
        """
        self.owner = os.getpid()
        self.is_shut = False
        """`shutdown` was called."""
        self._custody = Custody()
        self.hub = Hub(self._custody.directory)
        self._bots: list[Bot] = []
        """All whose process may live and whose messages mean something."""
        self._block = ""
        """The block whose games are played."""
        self._level = Level.TRUSTED
        self._idle: deque[Bot] = deque()
        """Those of them that wait for a game of this block, the longest waiting first."""
        self._ahead: deque[Bot] = deque()
        """Those of them that were started for the next block."""
        self._leaving: list[Bot] = []
        """Those of them that serve no game any more and may read a last message. The warden kills those that stay."""
        self._graves: list[BotProcess] = []
        """Killed, and not reaped yet."""
        self._refused: set[Route] = set()
        """Connections that were told an `error`: it was the last message over them, whatever they still say (§6-5)."""
        self._at_exit = Finalize(None, self.shutdown, exitpriority=10)

    def tidy(self) -> None:
        """Buries the dead, and finds out whether waiting bots have misbehaved. Call it between two games."""
        for bot in self._leaving:
            if bot.process.end() is not None:
                self._discard(bot)
        self._leaving = [bot for bot in self._leaving if bot in self._bots]
        self._graves = [process for process in self._graves if not process.reap()]
        self.notice()
        for _ in range(_BURST):
            part = self.hub.receive()
            if part is None:
                break
            self.hear(part)

    def enter(self, block: str, level: Level = Level.TRUSTED) -> None:
        """Begins a block, unless its games are being played already. Its bots are confined as the level says.

        Bots that waited for games of another block are told goodbye. Those that were started ahead wait for this one's.
        """
        if block == self._block:
            return
        self._block, self._level = block, level
        for bot in self._idle:
            self._dismiss(bot, "no more games for now")
        self._idle, self._ahead = self._ahead, deque()

    def start_ahead(self, specs: Iterable[BotSpec]) -> None:
        """Starts the bots of the next block that are not started yet, if there is memory. Failures show when needed."""
        started = [bot.spec for bot in self._ahead]
        for spec in specs:
            if spec in started:
                started.remove(spec)
            elif _has_memory():
                with suppress(OSError):
                    self._ahead.append(self._start(spec))

    def take(self, spec: BotSpec) -> Bot:
        """Returns a bot for one seat: one that waits, or a new one. It may have yet to say `hello`.

        Raises:
            OSError: Its process could not be started.
        """
        for bot in [bot for bot in self._idle if bot.spec == spec]:
            self._idle.remove(bot)
            if bot.session.state is State.NEW:
                return bot
            if bot.is_fit():
                if bot.session.state is State.IDLE:
                    bot.process.forget_output()
                return bot
            self._discard(bot)
        return self._start(spec)

    def give_back(self, bot: Bot, *, keep: bool) -> None:
        """Ends a seat's use of a bot: it waits for another game of its block if `keep` and it can, else it is killed.

        One that was stopped has until then to read its `error`: its author will look for it in the bot's own output.
        """
        if bot.dies_ns is not None:
            self._leaving.append(bot)
            return
        if not keep or not bot.is_fit():
            self._discard(bot)
            return
        self._idle.append(bot)

    def notice(self) -> None:
        """Learns which connections were closed. What they sent before can be received now."""
        closed = self.hub.closed()
        if closed:
            now = time.monotonic_ns()
            for bot in self._bots:
                bot.watch.hear_closed(closed, now)

    def hear(self, part: Part) -> None:
        """Treats a message that came over no seat's connection: a greeting, or nonsense."""
        if part.route in self._refused:
            return
        # A descriptor that was closed and given out again must not be taken for the old connection's.
        self.notice()
        if any(bot.route == part.route for bot in self._bots):
            self._hear_known(part)
            return
        culprit: Bot | None = None
        try:
            hello = _hello(part)
            if hello is None:
                return
            culprit = self._by_token(hello.token)
            if culprit is None:
                reason = "expected the value of ARENA_TOKEN, got: another - at $.token"
                raise RemoteProtocolError("bad_token", reason, "§8.1-2")
            if culprit.route is not None:
                reason = "expected one connection, got: another with its token"
                raise RemoteProtocolError("protocol_violation", reason, "§4.1-2")
            if part.descriptor == OLD_ZMTP:
                reason = "expected a connection that speaks ZMTP 3, got: one of an older version"
                raise RemoteProtocolError("protocol_violation", reason, "§4.1-4")
            culprit.session.receive(part.data)
        except RemoteProtocolError as error:
            # Whose connection it is must be known before it is told: it may close it at once.
            culprit = culprit or self._by_group(group_of(part.descriptor))
            self._send(part.route, encode(Error(code=error.error_code, message=str(error))))
            self._refused.add(part.route)
            if culprit is not None and culprit.route is None:
                culprit.refusal = error
            return
        culprit.route = part.route
        culprit.watch.connect(part.descriptor)

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
        while any(bot.process.end() is None for bot in self._leaving) and time.monotonic_ns() < until_ns:
            self.hub.wait([bot.process for bot in self._leaving], 20)
            while self.hub.receive() is not None:
                pass
        for bot in list(self._bots):
            self._discard(bot)
        for process in self._graves:
            process.reap(wait=True)
        self.hub.close()
        self._custody.close()

    def _start(self, spec: BotSpec) -> Bot:
        token = secrets.token_hex(32)
        endpoint = self.hub.tcp_endpoint() if spec.tcp else self.hub.endpoint
        environment = {"ARENA_ENDPOINT": endpoint, "ARENA_TOKEN": token}
        bot = Bot(spec, token, BotProcess(spec, self._custody, environment, level=self._level))
        self._bots.append(bot)
        return bot

    def _by_token(self, token: str) -> Bot | None:
        """Returns the bot that was given a token."""
        claimed = token.encode()
        return next((bot for bot in self._bots if secrets.compare_digest(bot.token.encode(), claimed)), None)

    def _by_group(self, group: int | None) -> Bot | None:
        """Returns the bot of a process group."""
        return next((bot for bot in self._bots if bot.process.pid == group), None)

    def _hear_known(self, part: Part) -> None:
        """Treats a message of a known bot: one that waits may only send an answer that has lapsed, or it is ended."""
        for waiting in (self._idle, self._ahead):
            for bot in [bot for bot in waiting if bot.route == part.route]:
                try:
                    if part.more:
                        raise RemoteProtocolError("protocol_violation", _SEVERAL, "§5.1-1")
                    bot.session.receive(part.data)
                except RemoteProtocolError as error:
                    self._send(part.route, bot.session.send(Error(code=error.error_code, message=str(error))))
                    waiting.remove(bot)
                    self._leave(bot, LAST_MESSAGE_MS)

    def _dismiss(self, bot: Bot, reason: str) -> None:
        """Says goodbye to a bot."""
        if bot.route is not None and bot.is_fit():
            self._send(bot.route, bot.session.send(Goodbye(reason=reason)))
        self._leave(bot, FAREWELL_MS)

    def _leave(self, bot: Bot, after_ms: int) -> None:
        """Gives a bot so many milliseconds to read its last message and to end."""
        bot.stop(after_ms)
        self._leaving.append(bot)

    def _discard(self, bot: Bot) -> None:
        """Kills a bot and forgets it."""
        bot.process.kill()
        self._bots.remove(bot)
        self._graves.append(bot.process)

    def _send(self, route: Route, data: bytes) -> None:
        """Sends what nobody waits for an answer to."""
        with suppress(Unread):
            self.hub.send(route, data)


def _has_memory() -> bool:
    """Tells whether enough of the machine's memory is free to start a bot that nobody needs yet."""
    try:
        with open("/proc/meminfo", encoding="ascii") as meminfo:
            sizes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in meminfo)}
        return sizes["MemAvailable"] > sizes["MemTotal"] * FREE_MEMORY
    except (OSError, KeyError):
        return True  # the system does not tell


def _hello(part: Part) -> Hello | None:
    """Returns the greeting of a connection, or None for an `error` or a message of an unknown type.

    Raises:
        RemoteProtocolError: It is something else.
    """
    if part.more:
        raise RemoteProtocolError("protocol_violation", _SEVERAL, "§5.1-1")
    message = decode(part.data)
    if isinstance(message, Error):
        return None
    if message is not None and not isinstance(message, Hello):
        kind = message.__struct_config__.tag
        raise RemoteProtocolError("protocol_violation", f"expected hello, got: {kind} - at $.type", "§8.1-1")
    return message


_pool: Pool | None = None


def worker_pool() -> Pool:
    """Returns this process's pool, opened at the first call. It shuts down when the process exits, if not before."""
    global _pool
    if _pool is None or _pool.owner != os.getpid() or _pool.is_shut:
        _pool = Pool()
    return _pool
