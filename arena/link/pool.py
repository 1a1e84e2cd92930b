"""The running bots of one worker process: started, greeted, kept between games, and ended.

Laws:
1. A bot's process is known by its token, a connection by the `hello` that carried the token: the first one. Whoever
   else claims the token, or speaks without one, is told `error` and has no effect.
2. A bot serves one seat at a time, so a bot that enters a game twice has two processes.
3. A worker is one thread of one process. `worker_pool` is made after any fork, never before.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import deque
from contextlib import suppress
from multiprocessing.util import Finalize
from typing import Final

from arena.errors import RemoteProtocolError
from arena.link.bots import BotSpec
from arena.link.custody import Custody
from arena.link.hub import Hub, Part, Route, Unread, group_of
from arena.link.process import BotProcess
from arena.wire.codec import decode, encode
from arena.wire.messages import Error, Goodbye, Hello
from arena.wire.session import Session, State

MAX_IDLE: Final = 8
"""Processes that wait for another game."""
FAREWELL_MS: Final = 1_000
"""Time to exit after `goodbye`."""
LAST_MESSAGE_MS: Final = 200
"""Time to read an `error`, while other games go on."""
_MS: Final = 1_000_000
_BURST: Final = 256
"""How many messages that nobody asked for are read between two games."""


class Bot:
    """A bot that runs: its process, its connection, its session. It may serve many games, one after another."""

    def __init__(self, spec: BotSpec, token: str, process: BotProcess) -> None:
        """A process that was just started and has not spoken."""
        self.spec = spec
        self.token = token
        self.process = process
        self.session = Session(token)
        self.started_ns = time.monotonic_ns()
        self.route: Route | None = None
        """Its connection, once its `hello` was accepted."""
        self.descriptor = -1
        """The connection's descriptor in this process."""
        self.refusal: str | None = None
        """Why its greeting was not accepted."""
        self.closed_ns: int | None = None
        """When its connection was seen to be closed."""

    def fit(self) -> bool:
        """Whether it can serve a game: alive, connected, and between games by the protocol."""
        return (
            self.route is not None
            and self.closed_ns is None
            and self.session.state is State.IDLE
            and self.process.end() is None
        )


class Pool:
    """The bots of this process, and the socket they speak to."""

    def __init__(self) -> None:
        """Open the socket and start the warden.

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
        self._idle: deque[Bot] = deque()
        """Those of them that wait for a game, the longest waiting first."""
        self._leaving: list[tuple[Bot, int]] = []
        """Those that were told goodbye, and the moment when they must be gone."""
        self._graves: list[BotProcess] = []
        """Killed, and not reaped yet."""
        self._at_exit = Finalize(None, self.shutdown, exitpriority=10)

    def tidy(self) -> None:
        """Between two games: bury the dead, and see whether waiting bots have misbehaved."""
        now = time.monotonic_ns()
        for bot, end in self._leaving:
            if now >= end or bot.process.end() is not None:
                self._discard(bot)
        self._leaving = [(bot, end) for bot, end in self._leaving if bot in self._bots]
        self._graves = [process for process in self._graves if not process.reap()]
        self.notice()
        for _ in range(_BURST):
            part = self.hub.receive()
            if part is None:
                break
            self.hear(part)

    def take(self, spec: BotSpec) -> Bot:
        """A bot for one seat: one that waits, or a new one, which has yet to say `hello`.

        Raises:
            OSError: Its process could not be started.
        """
        for bot in [bot for bot in self._idle if bot.spec == spec]:
            self._idle.remove(bot)
            if bot.fit():
                bot.process.forget_output()
                return bot
            self._discard(bot)
        token = secrets.token_hex(32)
        environment = {"ARENA_ENDPOINT": self.hub.endpoint, "ARENA_TOKEN": token}
        bot = Bot(spec, token, BotProcess(spec, self._custody, environment))
        self._bots.append(bot)
        return bot

    def give_back(self, bot: Bot, *, keep: bool) -> None:
        """End a seat's use of a bot: it waits for another game if `keep` and it can, otherwise it is killed.

        One that was sent an `error` has a moment to read it: its author will look for it in the bot's own output.
        """
        if bot.session.state is State.CLOSED and bot.process.end() is None:
            self._leaving.append((bot, time.monotonic_ns() + LAST_MESSAGE_MS * _MS))
            return
        if not keep or not bot.fit():
            self._discard(bot)
            return
        self._idle.append(bot)
        if len(self._idle) > MAX_IDLE:
            self._dismiss(self._idle.popleft(), "no more games for now")

    def notice(self) -> None:
        """Learn which connections were closed. What they sent before can be received now."""
        for descriptor in self.hub.closed():
            for bot in self._bots:
                if bot.descriptor == descriptor and bot.closed_ns is None:
                    bot.closed_ns = time.monotonic_ns()

    def hear(self, part: Part) -> None:
        """Treat a message that came over no seat's connection: a greeting, or nonsense."""
        # A descriptor that was closed and given out again must not be taken for the old connection's.
        self.notice()
        if any(bot.route == part.route for bot in self._bots):
            self._interrupted(part)
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
            culprit.session.receive(part.data)
        except RemoteProtocolError as error:
            # Whose connection it is must be known before it is told: it may close it at once.
            culprit = culprit or self._greeting(group_of(part.descriptor))
            self._send(part.route, encode(Error(code=error.error_code, message=str(error))))
            if culprit is not None and culprit.route is None:
                culprit.refusal = str(error)
            return
        culprit.route = part.route
        culprit.descriptor = part.descriptor

    def shutdown(self) -> None:
        """Say goodbye to the waiting bots, give them a second in all, kill what is left, and leave nothing behind."""
        if self.owner != os.getpid() or self.is_shut:
            return
        self.is_shut = True
        self._at_exit.cancel()
        for bot in self._idle:
            self._dismiss(bot, "all games are over")
        self._idle.clear()
        while any(bot.process.end() is None and time.monotonic_ns() < end for bot, end in self._leaving):
            self.hub.wait([bot.process for bot, _ in self._leaving], 20)
            while self.hub.receive() is not None:
                pass
        for bot in list(self._bots):
            self._discard(bot)
        for process in self._graves:
            process.reap(wait=True)
        self.hub.close()
        self._custody.close()

    def _by_token(self, token: str) -> Bot | None:
        claimed = token.encode()
        return next((bot for bot in self._bots if secrets.compare_digest(bot.token.encode(), claimed)), None)

    def _greeting(self, group: int | None) -> Bot | None:
        """The bot of a process group."""
        return next((bot for bot in self._bots if bot.process.pid == group), None)

    def _interrupted(self, part: Part) -> None:
        """A waiting bot spoke. An answer that has lapsed is forgiven; after anything else the bot is ended."""
        for bot in [bot for bot in self._idle if bot.route == part.route]:
            try:
                bot.session.receive(part.data)
            except RemoteProtocolError as error:
                self._send(part.route, bot.session.send(Error(code=error.error_code, message=str(error))))
                self._idle.remove(bot)
                self._discard(bot)

    def _dismiss(self, bot: Bot, reason: str) -> None:
        if bot.route is not None and bot.fit():
            self._send(bot.route, bot.session.send(Goodbye(reason=reason)))
        self._leaving.append((bot, time.monotonic_ns() + FAREWELL_MS * _MS))

    def _discard(self, bot: Bot) -> None:
        bot.process.kill()
        self._bots.remove(bot)
        self._graves.append(bot.process)

    def _send(self, route: Route, data: bytes) -> None:
        """Send what nobody waits for an answer to."""
        with suppress(Unread):
            self.hub.send(route, data)


def _hello(part: Part) -> Hello | None:
    """The greeting of a connection, or None for a message that asks for nothing: of an unknown type, or an `error`.

    Raises:
        RemoteProtocolError: It is something else.
    """
    if part.more:
        raise RemoteProtocolError("protocol_violation", "expected one frame per message, got: several", "§5.1-1")
    message = decode(part.data)
    if isinstance(message, Error):
        return None
    if message is not None and not isinstance(message, Hello):
        kind = message.__struct_config__.tag
        raise RemoteProtocolError("protocol_violation", f"expected hello, got: {kind} - at $.type", "§8.1-1")
    return message


_pool: Pool | None = None


def worker_pool() -> Pool:
    """This process's pool, opened at the first call. It shuts down when the process exits, if not before."""
    global _pool
    if _pool is None or _pool.owner != os.getpid() or _pool.is_shut:
        _pool = Pool()
    return _pool
