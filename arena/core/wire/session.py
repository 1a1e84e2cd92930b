"""Keeps the referee's side of one session with one bot: which message may come or go now. No I/O, no clock.

Laws:
1. `TRANSITIONS` is the protocol: a message that it does not list for the current state is not allowed. A test compares
   it with the specification's table (§6).
2. An `error` is not in the table: from the referee it closes the session in any state but `closed`; from the bot it is
   allowed in any state and changes nothing.
3. Numbers belong to the session: games and requests count from 1 and tell a bot nothing about other seats.
4. A bot is never blamed for a message that crossed one of ours: what it still owed when `game_over` was sent has
   lapsed, and is dropped once if it still comes. After `goodbye` or `error` everything is dropped.
5. Only `receive` raises `RemoteProtocolError`, and it leaves the state unchanged: the referee then sends `error`.
6. What is ignored is counted from one `game_over` to the next: the thousandth such message is not allowed.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeAlias, get_args

from arena.core.errors import LocalProtocolError, RemoteProtocolError
from arena.core.wire import messages
from arena.core.wire.codec import decode, encode
from arena.core.wire.variables import TOKEN


class State(StrEnum):
    """The state of a session."""

    NEW = "new"
    """No message has come yet."""
    GREETED = "greeted"
    """The bot has said `hello`; the referee owes `welcome`."""
    IDLE = "idle"
    """No game is in progress."""
    PREPARING = "preparing"
    """A game was announced; the bot owes `ready`."""
    PLAYING = "playing"
    """A game is in progress; the bot owes nothing."""
    ASKED = "asked"
    """The bot owes an `action`."""
    CLOSED = "closed"
    """The session is over."""


_Event: TypeAlias = type[messages.FromBot] | type[messages.FromReferee]

# One machine is enough, where h11 has one for each side: here the sides take turns. The exception is a game that ends
# while a bot still owes an answer. That has no state: there would be one for each answer on its way, and of several
# games. `_lapsed` has them instead.
TRANSITIONS: Final[Mapping[State, Mapping[_Event, State]]] = {
    State.NEW: {messages.Hello: State.GREETED},
    State.GREETED: {messages.Welcome: State.IDLE, messages.Goodbye: State.CLOSED},
    State.IDLE: {messages.GameStart: State.PREPARING, messages.Goodbye: State.CLOSED},
    State.PREPARING: {messages.Ready: State.PLAYING, messages.GameOver: State.IDLE},
    State.PLAYING: {messages.Request: State.ASKED, messages.GameOver: State.IDLE},
    State.ASKED: {messages.Action: State.PLAYING, messages.GameOver: State.IDLE},
    State.CLOSED: {},
}
"""State, message, next state. Each message but `error` is sent by one side only."""

_Answer: TypeAlias = tuple[type[messages.Ready] | type[messages.Action], int]
"""Message that a bot owes or sends, and the number it must repeat."""


class Session:
    """One bot's session. Every frame to it passes through `send`, every frame from it through `receive`."""

    def __init__(self, token: str) -> None:
        """Begins a session. `token` is what the bot's `hello` must carry."""
        self._token = token
        self._state = State.NEW
        self._hello: messages.Hello | None = None
        self._games = 0
        self._requests = 0
        self._owed: _Answer | None = None
        self._lapsed: set[_Answer] = set()
        self._ignored = 0
        """Number of messages that were ignored since the last `game_over`."""

    @property
    def state(self) -> State:
        """The state of the session."""
        return self._state

    @property
    def hello(self) -> messages.Hello:
        """The bot's `hello`.

        Raises:
            LocalProtocolError: It has not come yet.
        """
        if self._hello is None:
            raise LocalProtocolError("expected a session that has had its hello, got: one in state new")
        return self._hello

    def next_game(self) -> int:
        """Returns the number that the next `game_start` must carry."""
        return self._games + 1

    def next_request(self) -> int:
        """Returns the number that the next `request` must carry."""
        return self._requests + 1

    def send(self, message: messages.FromReferee) -> bytes:
        """Returns the frame of a message to the bot. The session moves on as if it had been sent.

        Raises:
            LocalProtocolError: The message is not allowed now, or has a wrong number: a bug of the caller.
        """
        after = TRANSITIONS[self._state].get(type(message))
        if after is None:
            if not isinstance(message, messages.Error) or self._state is State.CLOSED:
                raise LocalProtocolError(f"expected a message allowed in state {self._state}, got: {_name(message)}")
            after = State.CLOSED
        if isinstance(message, messages.Request):
            self._requests = _numbered(message.id, self._requests + 1, "$.id")
            self._owed = (messages.Action, message.id)
        elif isinstance(message, messages.GameStart):
            self._games = _numbered(message.game, self.next_game(), "$.game")
            self._owed = (messages.Ready, message.game)
        elif isinstance(message, messages.GameOver):
            _numbered(message.game, self._games, "$.game")
            self._ignored = 0
            if self._owed is not None:
                self._lapsed.add(self._owed)
                self._owed = None
        self._state = after
        return encode(message)

    def receive(self, frame: bytes) -> messages.FromBot | None:
        """Reads a frame from the bot. The session moves on.

        Returns:
            The message, or None for one to be ignored: its type is unknown, what it answers has lapsed, or the
            session is closed. An `error` is returned too: while the bot owes `ready`, it says that it will not play.

        Raises:
            RemoteProtocolError: The frame breaks the protocol. Send its code in an `error`; the seat forfeits.
        """
        if self._state is State.CLOSED:
            return None
        message = decode(frame)
        if message is None or isinstance(message, messages.Error):  # unknown types: a later minor version may have them
            self._count_ignored()
            return message
        if not isinstance(message, messages.Hello):
            answer = (
                (messages.Action, message.id)
                if isinstance(message, messages.Action)
                else (messages.Ready, message.game)
            )
            if answer in self._lapsed:  # it crossed our `game_over`, and nobody can tell who was late
                self._lapsed.remove(answer)
                self._count_ignored()
                return None
            if answer != self._owed:
                raise self._unexpected(message)
            self._owed = None
        elif self._state is State.NEW:
            self._greet(message)
        else:
            raise self._unexpected(message)
        self._state = TRANSITIONS[self._state][type(message)]
        return message

    def _count_ignored(self) -> None:
        self._ignored += 1
        if self._ignored >= messages.MAX_IGNORED:
            reason = f"expected fewer than {messages.MAX_IGNORED:,} messages that ask for nothing, got: as many"
            raise RemoteProtocolError("protocol_violation", reason, "§5.3-7")

    def _greet(self, hello: messages.Hello) -> None:
        # Another process may have found the socket. How long the comparison takes must not help it to guess.
        if not hmac.compare_digest(hello.token.encode(), self._token.encode()):
            reason = f"expected the value of {TOKEN}, got: another - at $.token"
            raise RemoteProtocolError("bad_token", reason, "§8.1-2")
        major = messages.PROTOCOL.partition(".")[0]
        if hello.protocol.partition(".")[0] != major:
            reason = f"expected a protocol version {major}.x, got: {hello.protocol} - at $.protocol"
            raise RemoteProtocolError("unsupported_version", reason, "§8.1-3")
        self._hello = hello

    def _unexpected(self, message: messages.Hello | messages.Ready | messages.Action) -> RemoteProtocolError:
        if type(message) not in TRANSITIONS[self._state]:
            return _violation(_expected(self._state), _name(message), "$.type", self._rule_of(message))
        assert not isinstance(message, messages.Hello)
        place, number = ("$.id", message.id) if isinstance(message, messages.Action) else ("$.game", message.game)
        owed = str(self._owed[1] if self._owed else None)
        return _violation(owed, str(number), place, self._rule_of(message))

    def _rule_of(self, message: messages.Hello | messages.Ready | messages.Action) -> str:
        """Returns the number of the rule that a message breaks when it is not allowed now."""
        if isinstance(message, messages.Hello) or self._state is State.NEW:
            return "§8.1-1"
        if isinstance(message, messages.Action):
            if self._was_answered(message.id):
                return "§8.6-2"
            if self._state is State.ASKED:
                return "§8.6-1"
        elif self._state is State.PREPARING:
            return "§8.4-1"
        return "§6-1"

    def _was_answered(self, request: int) -> bool:
        """Says whether the bot has answered a request, in time or after the game was over.

        Requests count from 1. So each one that was sent has its answer, unless the bot still owes it or it has lapsed.
        """
        return (
            request <= self._requests
            and (messages.Action, request) != self._owed
            and (messages.Action, request) not in self._lapsed
        )


def _numbered(got: int, expected: int, place: str) -> int:
    if got != expected:
        raise LocalProtocolError(f"expected {expected}, got: {got} - at {place}")
    return got


def _violation(expected: str, got: str, place: str, rule: str) -> RemoteProtocolError:
    return RemoteProtocolError("protocol_violation", f"expected {expected}, got: {got} - at {place}", rule)


def _expected(state: State) -> str:
    """Returns in words what a bot may send in a state."""
    allowed = [str(kind.__struct_config__.tag) for kind in TRANSITIONS[state] if kind in get_args(messages.FromBot)]
    return f"{' or '.join(allowed) or 'no message'} in state {state}"


def _name(message: messages.FromBot | messages.FromReferee) -> str:
    return str(message.__struct_config__.tag)
