"""Drives one process of a bot by hand, over a socket of its own: the check decides what each frame is.

The referee's link is of no use here. It hides what a check is about, such as greetings, second connections, and how a
process ends.
"""

from __future__ import annotations

import secrets
import select
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.author.conform.findings import Budget, Finding, Moment, breach
from arena.author.conform.frames import Form, decoded, hexed, type_is_first
from arena.author.conform.report import Evidence, Passed, Verdict
from arena.core.face import (
    NS_PER_MS,
    Custody,
    Level,
    Termination,
    bot_manifests,
    bot_processes,
    clocks,
    confining,
    connections,
    cpu_watch,
    errors,
    link_base,
    plain,
    process_trees,
    wire_messages,
    wire_session,
    wire_variables,
)

MAX_CONNECTIONS: Final = 4
"""Number of connections of a process that are looked at. The referee takes one only."""
KEPT: Final = 4
"""Number of messages that are shown as evidence."""


class Dialogue:
    """A process, its connection, and the messages in both directions."""

    def __init__(
        self,
        spec: bot_manifests.BotSpec,
        custody: Custody,
        directory: Path,
        budget: Budget,
        ready_ms: dict[str, float],
        routing_ids: set[bytes],
        *,
        tcp: bool = False,
        bare: bool = False,
        level: Level = Level.TRUSTED,
    ) -> None:
        """Starts the process. It has not said anything yet.

        Args:
            custody: Ends the process if this one ends.
            directory: An empty private folder for the socket.
            ready_ms: By game, how long the bot took for its `ready`. This is kept up to date.
            routing_ids: Those that other processes of the bot have set. That of this one is added.
            bare: Whether it gets no environment but PATH and the two variables of the protocol.

        Raises:
            OSError: The process could not be started.
            MachineFault: The machine is the reason.
            BotError: It cannot be started at this level.
        """
        self.spec = spec
        self.hello: wire_messages.Hello | None = None
        self.start_ms = 0.0
        """From the start of the process to its `hello`."""
        self.max_ms = 0.0
        """The slowest answer to a request."""
        self.type_last: Evidence | None = None
        """Set when a message had another field before `type`: the messages up to then."""
        self.remarks: list[str] = []
        """The `error` messages of the bot since it was last asked."""
        self.used_ns = 0
        """The time of the last answer."""
        self._budget = budget
        self._ready_ms = ready_ms
        self._routing_ids = routing_ids
        user = confining.confinement(level).allot_user()
        self._listener = connections.Listener(directory, user=user, tcp=tcp or spec.tcp, most=MAX_CONNECTIONS)
        self._connections: list[connections.Connection] = []
        """All that were made and are open."""
        self._connection: connections.Connection | None = None
        """The one over which the first message came."""
        token = secrets.token_hex(32)
        self.session = wire_session.Session(token)
        try:
            self._process = bot_processes.BotProcess(
                spec,
                custody,
                {wire_variables.ENDPOINT: self._listener.endpoint, wire_variables.TOKEN: token},
                level=level,
                socket_folder=directory,
                user=user,
                bare=bare,
            )
        except BaseException:
            self._listener.close()
            raise
        self._watch = cpu_watch.Watch(self._process)
        self._began_ns = time.monotonic_ns()
        self._sent_ns = self._began_ns
        self._before = Moment(clocks.CpuShare(0, 0), process_trees.own_wait_ns())
        """When it was last sent something, or the first request of a decision."""
        self._before_game: Moment | None = None
        """When it was sent the first request of the game; None before that."""
        self._late_ns = 0
        """Longest delay with which this process woke since then."""
        self._waited_ns = 0
        """Nanoseconds spent waiting for the bot."""
        self._written = 0
        """Bytes of output before the current game. The file of the output is emptied for each game."""
        self._passed: deque[tuple[str, int, bytes]] = deque(maxlen=KEPT)

    # Sending

    def send(self, message: wire_messages.FromReferee, form: Form | None = None, *, goes_on: bool = False) -> None:
        """Sends a message, in an unusual `form` if one is given. The session moves on.

        `goes_on`: it is a further request of the same decision, and what the bot was denied in it adds up.
        """
        frame = self.session.send(message)
        if isinstance(message, wire_messages.GameStart):
            self._written += self._process.output_bytes()
            self._process.forget_output()
            self._before_game = None
        elif isinstance(message, wire_messages.Request):
            self.remarks.clear()
        self.send_frame(form(frame) if form else frame, goes_on=goes_on)
        if isinstance(message, wire_messages.Request) and self._before_game is None:
            self._before_game = self._before

    def send_frame(self, frame: bytes, *, goes_on: bool = False) -> None:
        """Sends a frame as it is."""
        if not goes_on:
            self._before = self._moment()
            self._late_ns = 0
        self._sent_ns = time.monotonic_ns()
        self._passed.append(("referee", self._sent_ns, frame))
        if self._connection is not None:
            try:
                self._connection.send(frame)
            except connections.Closed:
                pass  # reading finds that out, after all that was sent before
            except connections.Unread:
                raise Finding(
                    "expected a bot that reads its messages, got: hundreds unread",
                    "Read the socket all the time.",
                    "§4.1-3",
                    about="session.connection",
                ) from None

    def welcome(self, form: Form | None = None, *, minor: int | None = None) -> None:
        """Accepts the bot; with `minor`, as a referee of a later version that allows more."""
        if minor is None:
            self.send(
                wire_messages.Welcome(
                    protocol=wire_messages.PROTOCOL, max_frame=wire_messages.MAX_FRAME, max_note=wire_messages.MAX_NOTE
                ),
                form,
            )
        else:
            major = wire_messages.PROTOCOL.partition(".")[0]
            self.send(
                wire_messages.Welcome(
                    protocol=f"{major}.{minor}",
                    max_frame=2 * wire_messages.MAX_FRAME,
                    max_note=2 * wire_messages.MAX_NOTE,
                ),
                form,
            )

    # Receiving

    def greet(self) -> wire_messages.Hello:
        """Waits for the `hello`. Raises Finding: there is no good one in time."""
        limit_ms = self.spec.start_ms
        message = self.receive(self._began_ns + limit_ms * NS_PER_MS)
        if not isinstance(message, wire_messages.Hello):
            raise Finding(
                f"expected hello within {limit_ms:,} ms of the start, got: nothing",
                "Connect a DEALER socket to $ARENA_ENDPOINT and send hello at once; leave slow work until game_start. "
                "Or allow more time by limits.start_ms in bot.toml.",
                "§4.3-1",
                excuse=self.excuse(limit_ms),
            )
        self.hello = message
        self.start_ms = (time.monotonic_ns() - self._began_ns) / NS_PER_MS
        return message

    def ready(self, rules: str) -> None:
        """Waits for the `ready` to the game that was announced.

        The bot has all of its start-up time. It has less if it was ready for this game much faster before, so that a
        bot that hangs does not hold up the check for long.

        Raises:
            Finding: It does not come in time, or something else does.
        """
        known_ms = self._ready_ms.get(rules, self.spec.start_ms)
        wait_ms = min(self.spec.start_ms, max(self._budget.patience_ms, round(10 * known_ms)))
        message = self.receive(self._sent_ns + wait_ms * NS_PER_MS)
        if not isinstance(message, wire_messages.Ready):
            raise Finding(
                f"expected ready to game_start, got: nothing in {wait_ms:,} ms",
                "Answer each game_start with ready, with its number.",
                "§9-6",
                excuse=self.excuse(wait_ms),
            )
        self._ready_ms[rules] = max(self._ready_ms.get(rules, 0), (time.monotonic_ns() - self._sent_ns) / NS_PER_MS)

    def action(self, wait_ms: int) -> wire_messages.Action | None:
        """Waits `wait_ms` for the action that was asked for. Returns None if it does not come.

        Raises:
            Finding: Something else comes, or the bot ends.
        """
        sent_ns = self._sent_ns
        message = self.receive(sent_ns + wait_ms * NS_PER_MS)
        if not isinstance(message, wire_messages.Action):
            return None
        self.used_ns = time.monotonic_ns() - sent_ns
        self.max_ms = max(self.max_ms, self.used_ns / NS_PER_MS)
        return message

    def listen(self) -> None:
        """Listens for a moment for what should not come. Raises Finding: something came."""
        self.receive(time.monotonic_ns() + self._budget.quiet_ms * NS_PER_MS)

    def receive(self, until_ns: int) -> wire_messages.FromBot | None:
        """Returns the next message that is an answer, or None when `until_ns` has passed.

        Raises:
            Finding: The bot breaks the protocol, ends, or uses too much memory.
        """
        while (came := self._next(until_ns)) is not None:
            message = self._read(*came)
            if message is not None:
                return message
        return None

    def end(self, wait_ms: int) -> bot_processes.Exit | None:
        """Waits `wait_ms` for the process to end, whatever it sends. Returns how it ended, or None."""
        until_ns = time.monotonic_ns() + wait_ms * NS_PER_MS
        while (end := self._process.end()) is None and (left := until_ns - time.monotonic_ns()) > 0:
            self._wait(min(cpu_watch.LOOK_MS, -(-left // NS_PER_MS)))
            with suppress(errors.RemoteProtocolError):
                while (came := self._received()) is not None and time.monotonic_ns() < until_ns:
                    self._passed.append(("bot", time.monotonic_ns(), came[1]))
        return end

    def excuse(self, time_ms: float, over_ms: float | None = None, *, of_game: bool = False) -> str:
        """Returns what the machine did that the bot may be late by, as the referee decides it; empty if nothing.

        Args:
            time_ms: The time that it had since it was sent something, or since its start.
            over_ms: How long after that its answer came, if it came.
            of_game: Whether all that it was denied since the game began counts, as it has one bank for all decisions.
        """
        before, now = (self._before_game if of_game else None) or self._before, self._moment()
        got = None if now.share is None or before.share is None else now.share.since(before.share)
        over_ns = None if over_ms is None else round(over_ms * NS_PER_MS)
        own_wait_ns = now.own_wait_ns - before.own_wait_ns
        late_ns = max(self._late_ns, own_wait_ns if over_ns is None or own_wait_ns >= over_ns else 0)
        return clocks.too_late("", round(time_ms * NS_PER_MS), share=got, late_ns=late_ns, over_ns=over_ns).excuse

    @property
    def denied_ms(self) -> int:
        """Returns how long the machine kept the bot from running so far."""
        return (self._process.fence.denied_ns() or 0) // NS_PER_MS

    @property
    def own_ms(self) -> int:
        """Returns how long the bot was waited for, without what the machine kept it from running."""
        return max(0, self._waited_ns // NS_PER_MS - self.denied_ms)

    def _moment(self) -> Moment:
        denied_ns = self._process.fence.denied_ns()
        share = None if denied_ns is None else clocks.CpuShare(denied_ns, self._process.fence.cpu_ns())
        return Moment(share, process_trees.own_wait_ns())

    @property
    def lives(self) -> bool:
        """Returns whether the process has not ended."""
        return self._process.end() is None

    # Facts

    @property
    def memory_mib(self) -> int:
        """Returns the most memory that was seen."""
        return self._watch.most_mib

    def last_words(self) -> tuple[str, ...]:
        """Returns the last lines that the process wrote."""
        return self._process.last_words()

    def output_bytes(self) -> int:
        """Returns how many bytes the process wrote."""
        return self._written + self._process.output_bytes()

    def evidence(self) -> Evidence:
        """Returns the last messages, and what the process wrote."""
        messages = tuple(
            Passed(
                sender=sender,
                ms=round((at_ns - self._began_ns) / NS_PER_MS, 1),
                size=len(frame),
                hex=hexed(frame),
                decoded=decoded(frame),
            )
            for sender, at_ns, frame in self._passed
        )
        return Evidence(messages=messages, stderr=self.last_words())

    def close(self) -> None:
        """Kills the process and closes the socket."""
        self._process.kill()
        self._process.reap(wait=True)
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _next(self, until_ns: int) -> tuple[connections.Connection, bytes] | None:
        """Returns the next message, and over which connection it came; None when `until_ns` has passed."""
        while True:
            now = time.monotonic_ns()
            self._watch.look(now)
            # What is read now includes all that was sent before an end seen above.
            try:
                came = self._received()
            except errors.RemoteProtocolError as error:
                raise self._broken(error) from None
            if came is not None:
                return came
            failure = self._watch.failure(now)
            if failure is not None:
                raise self._failed(failure)
            if self._watch.is_failing:
                wait_ms = cpu_watch.FAILING_LOOK_MS
            elif now < until_ns:
                wait_ms = min(cpu_watch.LOOK_MS, -(-(until_ns - now) // NS_PER_MS))
            else:
                return None
            self._wait(wait_ms)

    def _received(self) -> tuple[connections.Connection, bytes] | None:
        """Returns a message that has come, and over which connection; None if there is none."""
        while self._listener.is_open and (connection := self._listener.accept()) is not None:
            self._connections.append(connection)
        for connection in list(self._connections):
            try:
                if connection.is_behind:
                    connection.flush()
                message = connection.receive()
                while message is None and connection.has_more:
                    message = connection.receive()
            except errors.RemoteProtocolError:
                self._passed.append(("bot", time.monotonic_ns(), connection.unread))
                raise
            except connections.Closed:
                self._connections.remove(connection)
                connection.close()
                if connection is self._connection:
                    self._watch.disconnect(time.monotonic_ns())
                continue
            if message is not None:
                return connection, message
        return None

    def _wait(self, wait_ms: int) -> None:
        """Waits until something may have come, a connection has room again, or the process ends."""
        poll = select.poll()
        if self._listener.is_open:
            poll.register(self._listener.descriptor, select.POLLIN)
        for connection in self._connections:
            poll.register(connection.descriptor, select.POLLIN | (select.POLLOUT if connection.is_behind else 0))
        if self._process.pidfd is not None and self._process.end() is None:
            poll.register(self._process.pidfd, select.POLLIN)
        began_ns = time.monotonic_ns()
        poll.poll(wait_ms)
        waited_ns = time.monotonic_ns() - began_ns
        self._late_ns = max(self._late_ns, waited_ns - wait_ms * NS_PER_MS)
        self._waited_ns += min(waited_ns, wait_ms * NS_PER_MS)

    def _broken(self, error: errors.RemoteProtocolError) -> Finding:
        """Returns what is found if a connection breaks the protocol below its messages."""
        if error.rule == "§4.1-4":
            return Finding(
                str(error),
                "Use a ZeroMQ library that speaks ZMTP 3.0 or 3.1, and a DEALER socket.",
                "§4.1-4",
                about="session.connection",
            )
        return breach(error.rule, str(error), greeted=self.session.state is not wire_session.State.NEW)

    def _failed(self, failure: link_base.Cause) -> Finding:
        if self._watch.is_too_big:
            return Finding(
                f"expected at most {self.spec.memory_mib:,} MiB of memory, got: {self.memory_mib:,}",
                "Use less, or raise limits.memory_mib in bot.toml if your host allows it.",
                "§10",
                about="resources.memory",
            )
        if failure.code is Termination.DISCONNECTED:
            return Finding(
                "expected a connection that stays open, got: one that is closed",
                "Keep the one socket open until goodbye.",
                "§4.3-2",
                about="session.connection",
            )
        return self._dead(failure)

    def _dead(self, failure: link_base.Cause) -> Finding:
        if self.hello is None:
            return Finding(
                f"expected hello, got: a process that {failure.detail}",
                "Read what it wrote. The command in bot.toml must start the bot in the environment that it has here.",
                "§4.3-1",
                "§4.3-2",
            )
        return Finding(
            f"expected a process that lives until goodbye, got: one that {failure.detail}",
            "Read what it wrote, and go on reading messages until goodbye comes.",
            "§4.3-2",
        )

    def _look_at(self, routing_id: bytes) -> None:
        """Looks at what the bot's socket calls itself."""
        if not routing_id:
            return
        if routing_id in self._routing_ids:
            raise Finding(
                f"expected another routing id in each process, or none, got twice: {plain(repr(routing_id))[:80]}",
                "Do not set a routing id (an identity): two processes of the bot would shut each other out.",
                "§4.1-6",
                about="session.connection",
            )
        self._routing_ids.add(routing_id)

    def _read(self, connection: connections.Connection, data: bytes) -> wire_messages.FromBot | None:
        self._passed.append(("bot", time.monotonic_ns(), data))
        if self._connection is None:
            self._connection = connection
            self._watch.connect()
            self._look_at(connection.routing_id)
        elif connection is not self._connection:
            raise Finding(
                "expected one connection, got: another that speaks for the same process",
                "Connect once, and never again: a lost connection is a lost game.",
                "§4.1-2",
                about="session.connection",
            )
        try:
            message = self.session.receive(data)
        except errors.RemoteProtocolError as error:
            raise breach(error.rule, str(error), greeted=self.session.state is not wire_session.State.NEW) from None
        if self.type_last is None and not type_is_first(data):
            self.type_last = self.evidence()
        if message is not None and not isinstance(message, wire_messages.Error):
            return message
        if isinstance(message, wire_messages.Error):
            self.remarks.append(f"{message.code}: {message.message}")
            if self.session.state is wire_session.State.PREPARING:
                raise Finding(
                    f"expected ready to game_start, got: an error of the bot, {plain(self.remarks[-1])[:200]}",
                    "Play these rules, or leave them out of `rules` in bot.toml and in the hello.",
                    "§8.4-2",
                    verdict=Verdict.UNIMPLEMENTED,
                )
        return None
