"""Checks a referee against SPEC.md: it lets scripted bots play under it, and says which MUSTs it keeps.

    python protocol/check_referee.py [options] -- COMMAND

    python protocol/check_referee.py -- \\
        arena match {bots} --rules {rules} --rule={option} --time {time} --logs {folder}

COMMAND starts the referee, which plays at least one game between the bots and ends; the first one is played with the
bots in the order given. It is run again for every dialogue, several at once, each time with these words filled in:

    {bot}                               a bot's folder, with a bot.toml as of SPEC.md, section 16; the second {bot} is
                                        the second bot, and so on
    {bots}                              all the bots' folders: the word occurs as often as there are bots, two or three
    {rules}                             samurai or gardener
    {option}                            an option of the rules, NAME=VALUE, on the default ruleset; the word occurs as
                                        often as there are options, so perhaps not at all
    {time}                              the time control in seconds: BANK+INCREMENT, LIMIT/move, or both with a comma
    {bank_ms} {increment_ms} {limit_ms} the same in milliseconds, 0 for what there is not
    {folder}                            an empty folder to write in

Where COMMAND has no {option}, or {bot} only twice, the dialogues that need more are not tried. Its working directory is
this one. It must honour `limits.start_ms` of a bot.toml, must end by itself within 30 seconds, and SIGINT stops it.

Each line of the report is one duty, with its numbers in SPEC.md: kept, broken, or not tried, and what was seen. Times
are taken in the bots' processes. A referee may be later than the specification says by --tolerance-ms, since bots share
the machine with it, and may seem to be earlier by a tenth of that. The exit status is 0 if nothing is broken, 1 if
something is, and 2 if the check could not be made. Python 3.11, pyzmq and msgpack are all that it needs; the tables of
fields are read from messages.toml beside it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
import signal
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgpack

# Every bot imports this module, too. So what only the check needs is imported where it is used.
if TYPE_CHECKING:
    import argparse
    import subprocess

PROTOCOL = "1.0"
WANTS = ("view", "events", "legal")
CODES = {
    "malformed", "oversized", "protocol_violation", "illegal_action", "timeout", "bad_token", "unsupported_version",
}  # fmt: skip
"""What `error.code` may be from the referee."""
TERMINATIONS = {
    "finished", "timeout", "illegal_action", "malformed", "protocol_violation", "disconnected", "crashed",
    "out_of_memory", "start_failed", "interrupted",
}  # fmt: skip
MARGIN_MS = 30
"""Added to every deadline, unless game_start.time says another margin."""
EARLIER = 0.1
"""The part of the tolerance by which something may seem to happen too early: a bot can be late to see the beginning."""
LATE_MS = 150
"""How long after limit and margin an answer is sent that comes too late."""
ERROR_MS = 200
"""Between an `error` and the bot's end (§8.9-2)."""
SETTLE_MS = 2_000
"""How long a referee waits whether a process ends whose connection is closed (section 10)."""
LONGEST_S = 30
"""After so long a command is stopped."""
MAX_INT = 2**53 - 1
MAX_DEPTH = 16
MAX_FRAME = 65_536
MAX_REFEREE_FRAME = 1_048_576
MAX_NOTE = 1_024
MAX_IGNORED = 1_000
NS = 1_000_000
"""Nanoseconds of a millisecond."""


# --------------------------------------------------------------------------------------------------------------------
# The bots. They write down what they send and see; the check reads it when the command has ended.
# --------------------------------------------------------------------------------------------------------------------

LAUNCHER = """\
import os, sys
if os.path.exists({done!r}):
    sys.exit(3)  # its part is over
sys.path.insert(0, {home!r})
import referee_check_bot
referee_check_bot.be_a_bot({part!r})
"""


def be_a_bot(part: dict[str, Any]) -> None:
    """Plays a part in a dialogue, as a bot."""
    signal.alarm(LONGEST_S)  # whatever becomes of the referee
    Bot(part).play()


def play_of(legal: list[dict[str, Any]], rng: random.Random | None) -> dict[str, Any]:
    """Returns a play made from `legal`, the first one unless there is chance (SPEC.md, section 15)."""
    product = rng.choice(legal) if rng else legal[0]
    play = {}
    for key, values in product.items():
        if isinstance(values, dict):
            play[key] = rng.sample(values["of"], values["choose"]) if rng else values["of"][: values["choose"]]
        else:
            play[key] = rng.choice(values) if rng else values[0]
    return play


class Bot:
    """A bot that plays legal actions, but for what its part says."""

    def __init__(self, part: dict[str, Any]) -> None:
        """Connects nothing yet. `part` has the fields of `Part`, and the names of files."""
        import zmq

        self._zmq = zmq
        self.part = part
        self._file = open(f"{part['seen']}-{os.getpid()}.jsonl", "a", buffering=1)  # noqa: SIM115
        self.misdeed = self.deed() if part["misdeed"] else None
        """What it will do wrong."""
        self._context = zmq.Context()
        self.rng = None if part["first"] else random.Random(part["name"])
        self.start: dict[str, Any] = {}
        self.requests = 0
        self.seizes = 0
        self.kept: Any = None
        """What must not be closed."""

    def deed(self) -> Misdeed:
        """Returns what its part is to do wrong."""
        return next(deed for deed in MISDEEDS if deed.id == self.part["misdeed"])

    def note(self, kind: str, what: Any) -> None:
        """Writes down what happened."""
        self._file.write(json.dumps([time.monotonic_ns(), kind, what]) + "\n")

    def connect(self) -> Any:
        """Returns a socket that is connected to the referee."""
        made = self._context.socket(self._zmq.DEALER)
        made.linger = 0
        if self.part["heartbeats"]:
            made.heartbeat_ivl, made.heartbeat_timeout = 100, 1_000  # closes the connection if no answer comes
        made.connect(os.environ["ARENA_ENDPOINT"])
        return made

    def play(self) -> None:
        """Plays until the referee ends the session."""
        names = ("ARENA_ENDPOINT", "ARENA_TOKEN")
        self.note("began", {"environment": {name: os.environ.get(name) for name in names}, "folder": os.getcwd()})
        if any(name not in os.environ for name in names):
            sys.exit(4)
        hello = {"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": self.part["protocol"],
                 "name": self.part["secret"], "version": self.part["secret"], "want": self.part["want"]}  # fmt: skip
        if self.part["forms"]:
            hello |= {"capabilities": ["x_unknown"], "entropy": "5e" * 32}
            hello["rules"] = [{"name": name, "versions": [1, 99]} for name in (*OPTIONS, "x_unknown")]
        if self.err("connection", hello):
            time.sleep(LONGEST_S)
        self.socket = self.connect()
        time.sleep(self.part["hello_after_ms"] / 1000)
        if not self.err("hello", hello):
            self.send(hello, "long" if self.part["forms"] else "plain")
        while True:
            message = self.receive()
            if message is not None:
                getattr(self, f"on_{message.get('type')}", lambda message: None)(message)

    def err(self, when: str, good: dict[str, Any]) -> bool:
        """Does what is wrong in this part, if it is time for it. Returns whether it stands for the message `good`."""
        if self.misdeed is None or self.misdeed.when != when:
            return False
        deed, self.misdeed = self.misdeed, None
        self.note("misdeed", deed.id)
        self.stay()
        Path(self.part["done"]).touch()
        instead = deed.do(self, good)
        for parts in instead or ():
            self.send_parts(parts)
        return instead is not None

    # Messages

    def send(self, message: dict[str, Any], form: str = "plain") -> None:
        """Sends a message, in one of FORMS."""
        self.send_parts([FORMS[form](message)])

    def send_parts(self, parts: list[bytes], over: Any = None) -> None:
        """Sends a message of some frames."""
        self.note("out", [part.hex() for part in parts])
        (over or self.socket).send_multipart(parts)

    def receive(self, until: float | None = None, over: Any = None) -> dict[str, Any] | None:
        """Returns the next message; None if there is none until a moment of `time.monotonic`, or it cannot be read."""
        over = over or self.socket
        if until is not None and not over.poll(max(0, until - time.monotonic()) * 1000):
            return None
        parts = over.recv_multipart()
        self.note("in" if over is self.socket else "second", [part.hex() for part in parts])
        try:
            message = msgpack.unpackb(parts[0])
        except ValueError:
            return None
        return message if isinstance(message, dict) else None

    def wait(self, ms: float) -> None:
        """Waits; what comes meanwhile is written down, and an `error` heeded."""
        until = time.monotonic() + ms / 1000
        while time.monotonic() < until:
            message = self.receive(until)
            if message is not None and message.get("type") == "error":
                self.on_error(message)

    def stay(self) -> None:
        """Goes on to write down the time, so that the end of this process can be told."""

        def beat() -> None:
            with open(f"{self.part['seen']}-{os.getpid()}.alive", "wb", buffering=0) as file:
                while True:
                    os.pwrite(file.fileno(), struct.pack("=q", time.monotonic_ns()), 0)
                    time.sleep(0.002)

        threading.Thread(target=beat, daemon=True).start()

    def on_welcome(self, message: dict[str, Any]) -> None:
        """Does nothing, unless it is time to."""
        if self.part["forms"]:
            self.send({"type": "x_greeting", "of": [1, 2]})
        self.err("welcome", message)

    def on_game_start(self, message: dict[str, Any]) -> None:
        """Says `ready`."""
        self.start = message
        self.wait(self.part["ready_after_ms"])
        ready = {"type": "ready", "game": message["game"]}
        if self.part["forms"]:
            self.send({"type": "x_thinking"})
        if not self.err("ready", ready):
            self.send(ready, "unknown fields" if self.part["forms"] else "plain")
        self.err("playing", ready)

    def on_request(self, message: dict[str, Any]) -> None:
        """Answers."""
        self.requests += 1
        if self.part["silent"]:
            return
        self.wait(self.pace(message))
        action = {"type": "action", "id": message["id"], "action": {"plays": [self.choose(message)]}}
        if not (self.err("request", action) if self.requests == 1 else self.err("second request", action)):
            forms = list(FORMS)
            form = forms[self.requests % len(forms)] if self.part["forms"] else "plain"
            if form == "plain" and self.part["forms"]:
                self.send({"type": "x_thinking", "id": message["id"]})
                self.send({"type": "error", "code": "x_remark", "id": message["id"]})
            self.note("form", form)
            self.send(action, form)

    def pace(self, message: dict[str, Any]) -> float:
        """Returns how long to wait before the answer, in milliseconds."""
        if message.get("kind") == "seize":
            self.seizes += 1
            return self.part["race_ms"] if self.seizes <= 8 else 0
        paces = self.part["pace_ms"]
        return paces[self.requests - 1] if self.requests <= len(paces) else 0

    def choose(self, message: dict[str, Any]) -> dict[str, Any]:
        """Returns a play."""
        legal = message.get("legal")
        if not legal:  # a bot that wants none is only asked for its hand
            return {"hand": ["buddha4", "rice2", "samurai2", "samurai2", "ship1"]}
        if message["kind"] == "hand" and self.part["hand"] == "last":
            return {"hand": legal[0]["hand"]["of"][-legal[0]["hand"]["choose"] :]}
        if self.part["fast"]:
            legal = [product for product in legal if {*product.get("tile", ())} & {"ship1", "ship2", "ronin1"}] or legal
            legal = [{**product, "tile": product["tile"][-1:]} if "tile" in product else product for product in legal]
        return play_of(legal, None if message["kind"] == "seize" else self.rng)

    def on_game_over(self, message: dict[str, Any]) -> None:
        """Sends an answer that has lapsed, if its part says so."""
        if self.part["silent"] and self.part["lapsed"]:
            self.part["lapsed"] = False
            self.send({"type": "action", "id": self.requests, "action": {"plays": []}})

    def on_error(self, message: dict[str, Any]) -> None:
        """Stays, to see when it is killed; what it sends is nonsense."""
        self.send_parts([b"\xc1"])
        while True:
            self.receive()

    def on_goodbye(self, message: dict[str, Any]) -> None:
        """Ends."""
        if self.part["stays"]:
            self.stay()
            time.sleep(LONGEST_S)
        self.note("ended", 0)
        sys.exit(0)


# Forms of a message that say the same (§5.2-7), or say more that a receiver ignores.


def _long(value: Any) -> bytes:
    """Returns a value in the longest encodings of msgpack."""
    if isinstance(value, dict):
        inner = b"".join(_long(key) + _long(item) for key, item in value.items())
        return b"\xdf" + struct.pack(">I", len(value)) + inner
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(_long, value))
    if isinstance(value, str):
        data = value.encode()
        return b"\xdb" + struct.pack(">I", len(data)) + data
    if isinstance(value, int) and not isinstance(value, bool):
        return b"\xd3" + struct.pack(">q", value)
    return bytes(msgpack.packb(value))


def _reversed(value: Any) -> Any:
    """Returns a value with the fields of every map in reverse order, so that `type` is last."""
    if isinstance(value, dict):
        return {key: _reversed(item) for key, item in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _nested(levels: int) -> Any:
    """Returns arrays in arrays."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def _padded(message: dict[str, Any], size: int) -> bytes:
    """Returns a message with an unknown field, in exactly so many bytes."""
    empty = len(msgpack.packb({**message, "x_pad": "x" * 65_000}))
    return bytes(msgpack.packb({**message, "x_pad": "x" * (65_000 + size - empty)}))


def _with_action(message: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Returns a message with unknown keys in its action and in its plays, if it has them."""
    action = message.get("action", {})
    plays = [{**play, "x_why": "so", "x_list": [1, None]} for play in action.get("plays", [])]
    return {**message, "action": {**action, "plays": plays, **more}} if action else message


def _noted(message: dict[str, Any], note: str | None) -> dict[str, Any]:
    return {**message, "note": note} if message["type"] == "action" else message


_UNKNOWN = {"x_map": {"type": "goodbye", "": [None]}, "x_text": "知らない", "x_big": MAX_INT, "x_small": -MAX_INT}

FORMS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "plain": msgpack.packb,
    "long": _long,
    "fields in reverse order": lambda message: msgpack.packb(_reversed(message)),
    "unknown fields": lambda message: msgpack.packb({"x_first": True, **message, **_UNKNOWN}),
    "unknown keys in the action": lambda message: msgpack.packb(_with_action(message, {"x_more": {"a": 1}})),
    "a note of nil": lambda message: msgpack.packb(_noted(message, None)),
    "a note of 1,024 bytes": lambda message: msgpack.packb(_noted(message, "é" * (MAX_NOTE // 2))),
    "16 levels": lambda message: msgpack.packb({**message, "x_deep": _nested(MAX_DEPTH - 1)}),
    "65,536 bytes": lambda message: _padded(message, MAX_FRAME),
}
"""Ways in which a good bot writes a message."""


# What bots do wrong


@dataclass(frozen=True)
class Misdeed:
    """Something that a bot does wrong, once."""

    id: str
    """`SECTION.NAME`."""
    title: str
    """What the referee does about it."""
    spec: tuple[str, ...]
    when: str
    """`connection`, `hello`, `welcome`, `ready`, `playing` (after ready), `request` (the first), `second request`."""
    do: Callable[[Bot, dict[str, Any]], list[list[bytes]] | None]
    """Does it: gets the bot and the message that would be right, and returns what to send instead; each inner array
    holds the frames of a message. None: the right message is to be sent as well."""
    code: str | None
    """That of the referee's `error`; None if it need not be read."""
    termination: str
    """What the others are told; ` or ` between two of which either will do."""


def _frame(make: Callable[[dict[str, Any]], bytes]) -> Callable[[Bot, dict[str, Any]], list[list[bytes]]]:
    """Returns what sends a frame made of the right message instead of it."""
    return lambda bot, good: [[make(good)]]


def _with(**fields: Any) -> Callable[[Bot, dict[str, Any]], list[list[bytes]]]:
    """Returns what sends the right message with other fields."""
    return _frame(lambda good: bytes(msgpack.packb({**good, **fields})))


def _without(name: str) -> Callable[[Bot, dict[str, Any]], list[list[bytes]]]:
    return _frame(lambda good: bytes(msgpack.packb({key: value for key, value in good.items() if key != name})))


def _twice(good: dict[str, Any]) -> bytes:
    """Returns a message with its second field twice."""
    data, key = msgpack.packb(good), list(good)[1]
    return bytes([data[0] + 1]) + data[1:] + msgpack.packb(key) + msgpack.packb(good[key])


def _also(*messages: dict[str, Any]) -> Callable[[Bot, dict[str, Any]], None]:
    """Returns what sends messages before the right one."""

    def send(bot: Bot, good: dict[str, Any]) -> None:
        for message in messages:
            bot.send(message)

    return send


def _illegal(bot: Bot, good: dict[str, Any]) -> list[list[bytes]]:
    """Chooses five of one tile."""
    return [[msgpack.packb({**good, "action": {"plays": [{"hand": ["buddha4"] * 5}]}})]]


def _in_time_then_late(bot: Bot, good: dict[str, Any]) -> list[list[bytes]]:
    """Answers when limit and margin are over."""
    margin = bot.start["time"].get("margin_ms", MARGIN_MS)
    bot.stay()
    bot.wait(bot.start["time"]["limit_ms"] + margin + LATE_MS)
    return [[msgpack.packb(good)]]


def _old_zmtp(bot: Bot, good: dict[str, Any]) -> list[list[bytes]]:
    """Says hello over a connection that greets in ZMTP 1: an identity, which is empty, and then the frame.

    It is the only connection: a referee may take one and no other.
    """
    endpoint = os.environ["ARENA_ENDPOINT"]
    if endpoint.startswith("tcp://"):
        host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
        connection = socket.create_connection((host, int(port)))
    else:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(endpoint.removeprefix("ipc://"))
    frame = msgpack.packb({"type": "hello", "token": good["token"], "protocol": PROTOCOL})
    connection.sendall(b"\x01\x00" + bytes([len(frame) + 1, 0]) + frame)
    bot.kept = connection
    return []


def _never(bot: Bot, good: dict[str, Any]) -> list[list[bytes]]:
    bot.stay()
    return []


def _flood(bot: Bot, good: dict[str, Any]) -> list[list[bytes]] | None:
    """Sends 999 messages that are ignored, and answers; then one more, and waits."""
    if bot.requests > 1:
        return [[msgpack.packb({"type": "x_noise"})]]
    for _ in range(MAX_IGNORED - 1):
        bot.send({"type": "x_noise"})
    bot.misdeed = replace(bot.deed(), when="second request")
    return None


def _crash(bot: Bot, good: dict[str, Any]) -> None:
    os._exit(7)


def _disconnect(bot: Bot, good: dict[str, Any]) -> list[list[bytes]]:
    bot.socket.close(0)
    bot.stay()
    time.sleep(LONGEST_S)
    return []


def _disconnect_then_crash(bot: Bot, good: dict[str, Any]) -> None:
    """Closes its connection, and ends when its deadline is over and the referee still waits for its end."""
    bot.socket.close(0)
    time.sleep(SETTLE_MS * 0.75 / 1000)
    os._exit(7)


def _second_connection(bot: Bot, good: dict[str, Any]) -> None:
    """Says hello a second time over another connection, answers there what is not due, and closes it."""
    second = bot.connect()
    hello = {"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": PROTOCOL}
    bot.send_parts([msgpack.packb(hello)], second)
    until = time.monotonic() + 0.5
    while bot.receive(until, second) is not None:
        bot.send_parts([msgpack.packb({**good, "action": {"plays": []}})], second)
    second.close(0)


def _on_request(
    id: str, title: str, spec: str, do: Callable[[Bot, dict[str, Any]], Any], code: str = "malformed"
) -> Misdeed:
    """Returns a misdeed in an answer; the termination has the name of the code, but for `oversized`."""
    termination = "protocol_violation" if code == "oversized" else code
    return Misdeed(id, title, tuple(spec.split()), "request", do, code, termination)


def _in_hello(id: str, title: str, spec: str, do: Callable[[Bot, dict[str, Any]], Any], code: str | None) -> Misdeed:
    """Returns a misdeed in a greeting."""
    return Misdeed(id, title, tuple(spec.split()), "hello", do, code, "start_failed")


_VIOLATION = "protocol_violation"
MISDEEDS = [
    # A greeting that is not right
    _in_hello("start.token", "refuses another token", "§8.1-2", _with(token="no"), "bad_token"),
    _in_hello(
        "start.version", "refuses another major version", "§8.1-3 §11-2", _with(protocol="2.0"), "unsupported_version"
    ),
    _in_hello(
        "start.first",
        "refuses a first message that is no hello",
        "§8.1-1",
        _frame(lambda good: msgpack.packb({"type": "ready", "game": 1})),
        _VIOLATION,
    ),
    _in_hello(
        "start.malformed",
        "refuses a hello that cannot be read",
        "§5.1-2 §4.3-1",
        _frame(lambda good: msgpack.packb(good) + b"\xc0"),
        "malformed",
    ),
    _in_hello(
        "start.several",
        "names the token first where token and version are wrong",
        "§10-1",
        _with(token="no", protocol="2.0"),
        "bad_token",
    ),
    _in_hello(
        "start.rules",
        "does not ask a bot to play what it does not",
        "§8.1-6",
        _with(rules=[{"name": "gardener", "versions": [1]}, {"name": "samurai", "versions": [99]}]),
        None,
    ),
    Misdeed("start.old", "refuses a connection of ZMTP 1", ("§4.1-4",), "connection", _old_zmtp, None, "start_failed"),
    _in_hello("start.silence", "waits for hello no longer than the start-up time", "§4.3-1", _never, None),
    Misdeed(
        "start.twice",
        "refuses a second hello",
        ("§8.1-1", "§6-1"),
        "ready",
        lambda bot, good: [
            [msgpack.packb({"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": PROTOCOL})]
        ],
        _VIOLATION,
        _VIOLATION,
    ),
    # ready
    Misdeed(
        "ready.game", "refuses a ready for another game", ("§8.4-1",), "ready", _with(game=77), _VIOLATION, _VIOLATION
    ),
    Misdeed(
        "ready.twice",
        "refuses a second ready",
        ("§6-1",),
        "ready",
        lambda bot, good: [[msgpack.packb(good)], [msgpack.packb(good)]],
        _VIOLATION,
        _VIOLATION,
    ),
    Misdeed(
        "ready.late",
        "waits for ready no longer than the start-up time",
        ("§9-6",),
        "ready",
        _never,
        None,
        "start_failed",
    ),
    Misdeed(
        "ready.action",
        "refuses an action before ready",
        ("§6-1",),
        "ready",
        _frame(lambda good: msgpack.packb({"type": "action", "id": 1, "action": {"plays": []}})),
        _VIOLATION,
        _VIOLATION,
    ),
    Misdeed(
        "ready.unasked",
        "refuses an action that nobody asked for",
        ("§6-1", "§8.6-1"),
        "playing",
        _also({"type": "action", "id": 99, "action": {"plays": []}}),
        _VIOLATION,
        _VIOLATION,
    ),
    Misdeed(
        "ready.refused",
        "takes an error in place of ready as a refusal",
        ("§8.4-2",),
        "ready",
        _frame(lambda good: msgpack.packb({"type": "error", "code": "x_unknown_rules", "message": "no"})),
        None,
        "start_failed",
    ),
    # Frames and values
    Misdeed(
        "frames.parts",
        "refuses several frames in a message",
        ("§5.1-1",),
        "request",
        lambda bot, good: [[msgpack.packb(good), msgpack.packb(good)]],
        _VIOLATION,
        _VIOLATION,
    ),
    _on_request(
        "frames.trailing", "refuses bytes after the value", "§5.1-2", _frame(lambda good: msgpack.packb(good) + b"\xc0")
    ),
    _on_request("frames.cut", "refuses half a value", "§5.1-2", _frame(lambda good: msgpack.packb(good)[:-1])),
    _on_request("frames.empty", "refuses an empty frame", "§5.1-2", _frame(lambda good: b"")),
    _on_request("frames.map", "refuses what is no map", "§5.1-3", _frame(lambda good: msgpack.packb([good]))),
    _on_request(
        "frames.oversized",
        "refuses 65,537 bytes",
        "§5.1-4",
        _frame(lambda good: _padded(good, MAX_FRAME + 1)),
        "oversized",
    ),
    _on_request(
        "frames.keys", "refuses a key that is no string", "§5.2-1", _frame(lambda good: msgpack.packb({**good, 1: 2}))
    ),
    _on_request("frames.twice", "refuses a key that occurs twice", "§5.2-2", _frame(_twice)),
    _on_request("frames.float", "refuses a float", "§5.2-3", _with(x_float=1.0)),
    _on_request("frames.binary", "refuses binary", "§5.2-3", _with(x_binary=b"x")),
    _on_request("frames.extension", "refuses a timestamp", "§5.2-3", _with(x_time=msgpack.Timestamp(1, 0))),
    _on_request(
        "frames.utf8",
        "refuses a string that is not UTF-8",
        "§5.2-4",
        _frame(lambda good: msgpack.packb({**good, "x": "A?"}).replace(b"\xa2A?", b"\xa2A\xff")),
    ),
    _on_request("frames.integer", "refuses 2^53", "§5.2-5", _with(x_big=MAX_INT + 1)),
    _on_request("frames.depth", "refuses 17 levels", "§5.2-6", _with(x_deep=_nested(MAX_DEPTH))),
    _on_request(
        "frames.several",
        "names what cannot be read first where the id is wrong too",
        "§10-1",
        _with(id=77, x_float=1.0),
    ),
    Misdeed(
        "frames.huge",
        "ends the game of a bot that sends more than 131,072 bytes",
        ("§5.1-4",),
        "request",
        _frame(lambda good: _padded(good, 200_000)),
        None,
        "disconnected or protocol_violation",
    ),
    # Fields
    _on_request("fields.type", "refuses a message without a type", "§5.3-1", _without("type")),
    _on_request("fields.missing", "refuses a message without a required field", "§5.3-2", _without("id")),
    _on_request("fields.string", "refuses a string for an integer", "§5.3-3", _with(id="1")),
    _on_request("fields.boolean", "refuses a boolean for an integer", "§5.2-8", _with(id=True)),
    _on_request("fields.range", "refuses a number below its range", "§5.3-3", _with(id=0)),
    _on_request(
        "fields.sender",
        "refuses a message of the referee's",
        "§5.3-6",
        _frame(lambda good: msgpack.packb({"type": "goodbye", "reason": "x"})),
        _VIOLATION,
    ),
    _on_request("fields.note", "refuses a note of 1,025 bytes", "§8.6-3", _with(note="é" * 512 + "x")),
    # Actions
    _on_request("action.plays", "calls an action without plays malformed", "§8.6-4", _with(action={})),
    _on_request("action.key", "calls a play without its key malformed", "§8.6-4", _with(action={"plays": [{}]})),
    _on_request("action.illegal", "refuses an illegal action", "§8.6-5", _illegal, "illegal_action"),
    _on_request(
        "action.none", "refuses no play where one is due", "§8.6-5", _with(action={"plays": []}), "illegal_action"
    ),
    _on_request(
        "action.id",
        "refuses an answer to another request",
        "§8.6-1",
        _frame(lambda good: msgpack.packb({**good, "id": good["id"] + 1})),
        _VIOLATION,
    ),
    _on_request(
        "action.twice",
        "refuses a second answer",
        "§8.6-2",
        lambda bot, good: [[msgpack.packb(good)], [msgpack.packb(good)]],
        _VIOLATION,
    ),
    # The session
    Misdeed(
        "session.flood",
        "ignores 999 messages of unknown types, and not 1,000",
        ("§5.3-7", "§5.3-5"),
        "request",
        _flood,
        _VIOLATION,
        _VIOLATION,
    ),
    Misdeed("session.crash", "tells the others of a crash", ("§8.7-2",), "request", _crash, None, "crashed"),
    Misdeed(
        "session.disconnect",
        "tells the others of a lost connection",
        ("§4.3-2",),
        "request",
        _disconnect,
        None,
        "disconnected",
    ),
    Misdeed(
        "session.second", "does not serve a second connection", ("§4.1-2",), "request", _second_connection, None, ""
    ),
    # Time
    Misdeed(
        "time.late",
        "takes no answer after limit and margin",
        ("§9-3",),
        "second request",
        _in_time_then_late,
        None,
        "timeout",
    ),
    Misdeed(
        "time.closed",
        "calls nobody late whose connection was closed before the deadline, and waits whether the process ends",
        ("§10-4",),
        "request",
        _disconnect,
        None,
        "disconnected",
    ),
    Misdeed(
        "time.ended",
        "calls a process crashed that ends after its deadline, but within two seconds after its connection was closed",
        ("§10-4",),
        "request",
        _disconnect_then_crash,
        None,
        "crashed",
    ),
]
"""Each is played in a game of its own, against a bot that plays well."""


# --------------------------------------------------------------------------------------------------------------------
# The dialogues: which bots play what
# --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What a bot does."""

    want: tuple[str, ...] | dict[str, tuple[str, ...]] = ("legal",)
    tcp: bool = False
    """Its manifest asks for an endpoint of TCP."""
    heartbeats: bool = False
    """It sends heartbeats, and closes the connection if they are not answered."""
    misdeed: str = ""
    """The id of what it does wrong."""
    protocol: str = PROTOCOL
    forms: bool = False
    """It writes its messages in FORMS, and sends others that are ignored."""
    start_ms: int = 10_000
    """`limits.start_ms` of its manifest."""
    hello_after_ms: int = 0
    ready_after_ms: int = 0
    pace_ms: tuple[int, ...] = ()
    """How long it takes over its first decisions."""
    race_ms: int = 0
    """How long it takes to seize each of the first cards."""
    hand: str = ""
    """`last`: it chooses the last tiles of those that it may."""
    first: bool = False
    """It plays the first legal play, not just any."""
    fast: bool = False
    """It prefers fast tiles."""
    silent: bool = False
    """It never answers a request."""
    lapsed: bool = False
    """It answers after game_over."""
    stays: bool = False
    """It does not end after goodbye."""

    def wants(self, rules: str) -> set[str]:
        """Returns what its requests are to carry."""
        return {*(self.want.get(rules, ()) if isinstance(self.want, dict) else self.want)}


ALL = Part(want=WANTS)
GOOD = Part()


@dataclass(frozen=True)
class Run:
    """One command, and the bots that play in it."""

    parts: tuple[Part, ...] = (GOOD, GOOD)
    rules: str = "samurai"
    options: tuple[str, ...] = ()
    bank_ms: int | None = None
    increment_ms: int = 0
    limit_ms: int | None = 10_000
    alone: bool = False
    """It is about time, and no other command runs at once."""
    interrupted: bool = False
    """It is interrupted as soon as all bots are asked."""

    @property
    def time(self) -> str:
        """The time control in seconds."""
        limit = f"{(self.limit_ms or 0) / 1000:g}/move"
        bank = f"{(self.bank_ms or 0) / 1000:g}+{self.increment_ms / 1000:g}"
        return limit if self.bank_ms is None else bank if self.limit_ms is None else f"{bank},{limit}"


RUNS: dict[str, Run] = {
    "samurai": Run((ALL, ALL)),
    "gardener": Run((ALL, ALL), rules="gardener"),
    "face-down": Run((ALL, ALL), rules="gardener", options=("deck=face_down",)),
    "forms": Run((Part(want=("x_unknown", *WANTS), forms=True, protocol="1.9"), GOOD)),
    "wants-none": Run((Part(want=()), Part(misdeed="session.crash", pace_ms=(200,)))),
    "wants-view": Run((Part(want=("view",)), Part(misdeed="session.crash", pace_ms=(200,)))),
    "wants-events": Run((Part(want=("events",)), Part(misdeed="session.crash", pace_ms=(200,)))),
    "wants-map": Run(
        (Part(want={"samurai": ("view",), "gardener": ("legal",)}), Part(misdeed="session.crash", pace_ms=(200,)))
    ),
    "tcp": Run((Part(tcp=True), GOOD), rules="gardener"),
    "again": Run(
        (replace(ALL, fast=True, pace_ms=(0,) * 8 + (60,) * 12), replace(ALL, fast=True)),
        options=("fast=must_follow",), bank_ms=5_000, increment_ms=200, limit_ms=2_000, alone=True,
    ),
    "three": Run((ALL, Part(misdeed="action.illegal"), Part(pace_ms=(500,)))),
    "world-first": Run((Part(want=WANTS, first=True), Part(first=True))),
    "world-last": Run((Part(want=WANTS, first=True), Part(first=True, hand="last"))),
    "stays": Run((Part(stays=True), Part(misdeed="session.crash"))),
    "interrupt": Run((Part(silent=True, lapsed=True), Part(silent=True)), limit_ms=20_000, interrupted=True),
    "slow-start": Run(
        (Part(start_ms=3_000, hello_after_ms=1_500, ready_after_ms=1_500, heartbeats=True), GOOD),
        bank_ms=5_000, limit_ms=None,
    ),
    "bank": Run(
        (Part(pace_ms=(150,) * 8, first=True), Part(pace_ms=(10,) * 8, first=True)),
        bank_ms=5_000, increment_ms=400, limit_ms=None, alone=True,
    ),
    "race": Run((Part(want=WANTS, race_ms=150), ALL), rules="gardener", options=("seize=race",), alone=True),
}  # fmt: skip
"""The dialogues that are not about one misdeed."""
RUNS |= {
    deed.id: Run(
        (
            Part(
                misdeed=deed.id,
                start_ms=2_500 if deed.id in ("start.silence", "ready.late") else 10_000,
                pace_ms=(600,) if deed.id == "time.late" else (),
            ),
            GOOD,
        ),
        limit_ms=1_000 if deed.id.startswith("time.") else 10_000,
        alone=deed.id == "time.late",
    )
    for deed in MISDEEDS
}


# --------------------------------------------------------------------------------------------------------------------
# What the bots saw
# --------------------------------------------------------------------------------------------------------------------


class Map(list[tuple[Any, Any]]):
    """A map as it stands in a frame: pairs, in order, repeated keys and all."""


@dataclass(frozen=True)
class Entry:
    """Something that a bot sent or saw."""

    at: int
    """When, in nanoseconds."""
    kind: str
    """`in`, `out`, `second` (came over a second connection), or what a bot notes."""
    frames: tuple[bytes, ...] = ()
    message: dict[str, Any] = field(default_factory=dict)
    """What the frame says; empty if it is no map."""
    what: Any = None

    def of(self, *types: str) -> bool:
        """Tells whether it is a message of the referee of one of these types."""
        return self.kind == "in" and self.message.get("type") in types


@dataclass
class Session:
    """What one process of a bot saw."""

    run: str
    bot: int
    """Its number in the command."""
    part: Part
    secret: str
    """Its name and version, which no other bot may see."""
    entries: list[Entry]
    alive: int | None
    """When it was last alive, if it noted that; in nanoseconds."""

    def came(self, *types: str) -> list[Entry]:
        """Returns the referee's messages of some types, in order."""
        return [entry for entry in self.entries if entry.of(*types)]

    def came_at_all(self) -> list[Entry]:
        """Returns all that came, in order."""
        return [entry for entry in self.entries if entry.kind in ("in", "second")]

    def erred(self) -> Entry | None:
        """Returns the note of its misdeed."""
        return next((entry for entry in self.entries if entry.kind == "misdeed"), None)

    def games(self) -> list[list[Entry]]:
        """Returns what was sent and came from each game_start to its game_over, or to the end."""
        games: list[list[Entry]] = []
        inside = False
        for entry in self.entries:
            if entry.of("game_start"):
                games.append([])
                inside = True
            if inside:
                games[-1].append(entry)
            if entry.of("game_over"):
                inside = False
        return games

    def evidence(self, upto: Entry | None = None) -> list[str]:
        """Returns the last messages, in words."""
        shown = [entry for entry in self.entries if entry.kind in ("in", "out", "second", "misdeed")]
        if upto in shown:
            shown = shown[: shown.index(upto) + 1]
        began = self.entries[0].at
        return [f"{(entry.at - began) / NS:9.1f} ms  {_said(entry)}" for entry in shown[-5:]]


def _said(entry: Entry) -> str:
    ways = {"in": "the referee sent", "out": "the bot sent", "second": "over its second connection came"}
    if entry.kind == "misdeed":
        return f"the bot's misdeed: {entry.what}"
    text = f"{len(entry.frames)} frames" if len(entry.frames) != 1 else entry.frames[0][:80].hex()
    if entry.message:
        text = json.dumps(entry.message, ensure_ascii=False, default=repr)
    return f"{ways[entry.kind]}: {text if len(text) < 300 else text[:300] + '…'}"


@dataclass
class Played:
    """A command that was run."""

    name: str
    sessions: list[Session] = field(default_factory=list)
    problem: str = ""
    """Why there is nothing to judge."""
    stopped: bool = False
    """It did not end by itself."""
    output: str = ""
    """The end of what it wrote."""

    def of_bot(self, number: int) -> list[Session]:
        """Returns the sessions of one bot, in the order in which they began."""
        return [session for session in self.sessions if session.bot == number]


# --------------------------------------------------------------------------------------------------------------------
# Running commands
# --------------------------------------------------------------------------------------------------------------------


class Theatre:
    """Runs commands, each in a folder of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        """Takes the words of the command, and where to write."""
        import py_compile
        import shutil

        self._command = command
        self._folder = folder
        home = folder / "home"
        home.mkdir()
        module = home / "referee_check_bot.py"
        shutil.copy(__file__, module)
        py_compile.compile(str(module), doraise=True)
        self._home = str(home)

    def can(self, run: Run) -> str:
        """Returns why a run is not possible with this command, or nothing."""
        words = " ".join(self._command)
        if run.options and "{option}" not in words:
            return "the command has no {option}"
        if "{bots}" not in words and words.count("{bot}") != len(run.parts):
            return f"the command is not for {len(run.parts)} bots; {{bots}} would be"
        return ""

    def play(self, name: str, run: Run) -> Played:
        """Runs a command to its end."""
        import subprocess

        played = Played(name)
        if reason := self.can(run):
            played.problem = reason
            return played
        folder = self._folder / name
        bots = [self._write_bot(folder, number, part) for number, part in enumerate(run.parts)]
        (folder / "logs").mkdir()
        output = folder / "output"
        with open(output, "wb") as file:
            try:
                process = subprocess.Popen(
                    self.words(run, bots, folder / "logs"), stdin=subprocess.DEVNULL, stdout=file,
                    stderr=subprocess.STDOUT, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                played.problem = f"the command cannot be started: {error}"
                return played
        played.stopped = not _end(process, folder / "seen" if run.interrupted else None, len(run.parts))
        played.output = output.read_text(errors="replace")[-2_000:]
        for number, part in enumerate(run.parts):
            played.sessions += _read_sessions(name, folder, number, part)
        if not any(session.came("game_start", "error") for session in played.sessions):
            played.problem = f"no bot was in a game; the command wrote: {played.output[-300:].strip() or 'nothing'}"
        return played

    def words(self, run: Run, bots: list[Path], logs: Path) -> list[str]:
        """Returns the command for a run."""
        values = {
            "{rules}": run.rules, "{time}": run.time, "{folder}": str(logs), "{bank_ms}": str(run.bank_ms or 0),
            "{increment_ms}": str(run.increment_ms), "{limit_ms}": str(run.limit_ms or 0),
        }  # fmt: skip
        left = list(map(str, bots))
        words = []
        for word in self._command:
            for key, value in values.items():
                word = word.replace(key, value)
            if "{option}" in word:
                words += [word.replace("{option}", option) for option in run.options]
            elif "{bots}" in word:
                words += [word.replace("{bots}", bot) for bot in left]
            elif "{bot}" in word:
                words.append(word.replace("{bot}", left.pop(0)))
            else:
                words.append(word)
        return words

    def _write_bot(self, folder: Path, number: int, part: Part) -> Path:
        (folder / "seen").mkdir(parents=True, exist_ok=True)
        bot = folder / f"bot{number}"
        bot.mkdir()
        secret = _secret(folder.name, number)
        done, seen = str(folder / f"done{number}"), str(folder / "seen" / str(number))
        whole = asdict(part) | {"name": f"{folder.name}{number}", "secret": secret, "done": done, "seen": seen}
        launcher = LAUNCHER.format(done=done, home=self._home, part=whole)
        (bot / "bot.py").write_text(launcher, encoding="utf-8")
        command = json.dumps([sys.executable, "bot.py"])
        manifest = f'name = "{secret}"\nversion = "{secret}"\nauthor = "{secret}"\ncommand = {command}\n'
        manifest += 'endpoint = "tcp"\n' if part.tcp else ""
        (bot / "bot.toml").write_text(f"{manifest}\n[limits]\nstart_ms = {part.start_ms}\n", encoding="utf-8")
        return bot


def _secret(run: str, number: int) -> str:
    """Returns what stands for a bot's name, version and author."""
    return f"canary{number}-{run.replace('.', '-')}"


def _end(process: subprocess.Popen[bytes], seen: Path | None, bots: int) -> bool:
    """Waits for the end of a command, and stops it if it must. Returns whether it ended by itself.

    Args:
        process: The command.
        seen: Where the bots write if it is to be interrupted, as soon as so many of them have been asked.
        bots: How many bots there are.
    """
    import subprocess

    until = time.monotonic() + LONGEST_S
    while process.poll() is None and time.monotonic() < until:
        if seen is not None and _asked(seen) >= bots:
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            seen = None
        time.sleep(0.02)
    ended = process.poll() is not None
    if not ended:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
    time.sleep(0.05)  # for what the last bot still writes
    return ended


def _asked(seen: Path) -> int:
    """Returns how many bots have been sent a request."""
    request = msgpack.packb("request").hex()
    return sum(request in path.read_text(errors="replace") for path in seen.glob("*.jsonl"))


def _read_sessions(run: str, folder: Path, number: int, part: Part) -> list[Session]:
    sessions = []
    for path in (folder / "seen").glob(f"{number}-*.jsonl"):
        entries = []
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                at, kind, what = json.loads(line)
            except ValueError:
                continue  # the process was killed while it wrote
            if kind in ("in", "out", "second"):
                frames = tuple(map(bytes.fromhex, what))
                entries.append(Entry(at, kind, frames, _message(frames)))
            else:
                entries.append(Entry(at, kind, what=what))
        beat = path.with_suffix(".alive")
        data = beat.read_bytes() if beat.exists() else b""
        alive = struct.unpack("=q", data)[0] if len(data) == 8 else None
        if entries:
            sessions.append(Session(run, number, part, _secret(run, number), entries, alive))
    return sorted(sessions, key=lambda session: session.entries[0].at)


def _message(frames: tuple[bytes, ...]) -> dict[str, Any]:
    try:
        message = msgpack.unpackb(frames[0])
    except (ValueError, msgpack.UnpackException):
        return {}
    return message if isinstance(message, dict) else {}


# --------------------------------------------------------------------------------------------------------------------
# The duties
# --------------------------------------------------------------------------------------------------------------------


class Broken(Exception):
    """A duty was broken: what was expected, and what was seen."""

    def __init__(self, text: str, session: Session | None = None, upto: Entry | None = None) -> None:
        """Takes the session that shows it, and the entry up to which it does."""
        super().__init__(text)
        self.evidence = session.evidence(upto) if session else []
        self.run = session.run if session else ""


class Untimely(Broken):
    """A duty seems to be broken because of when something was seen: a busy machine may be why. So it is played again
    alone before it counts."""


class NotTried(Exception):
    """A duty could not be judged; the text says why."""


@dataclass(frozen=True)
class Check:
    """One line of the report."""

    id: str
    title: str
    """What the referee does, in words that go on from its name."""
    spec: tuple[str, ...]
    runs: tuple[str, ...]
    """The dialogues that it needs."""
    judge: Callable[..., str]
    """Gets the runs and returns what is worth saying, or raises `Broken` or `NotTried`."""


@dataclass
class Result:
    """What became of a check."""

    id: str
    title: str
    spec: tuple[str, ...]
    verdict: str
    """`kept`, `broken` or `not tried`."""
    seen: str
    run: str = ""
    evidence: list[str] = field(default_factory=list)


@dataclass
class World:
    """What a judge of all dialogues is given."""

    played: dict[str, Played]
    tables: dict[str, Any] | None
    """The fields of each message, as messages.toml has them; None if it is not there."""
    late_ms: int
    """How much later than the specification says a referee may be."""
    replay: Callable[[Iterable[str]], object] = lambda runs: None
    """Plays dialogues again, one after another."""

    @property
    def early_ms(self) -> float:
        """How much earlier a referee may seem to be."""
        return self.late_ms * EARLIER

    def sessions(self) -> Iterator[Session]:
        """Yields all sessions."""
        for played in self.played.values():
            yield from played.sessions


CHECKS: list[Check] = []


def duty(
    id: str, title: str, spec: str, runs: Iterable[str] = ()
) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Adds the function below as a check: it gets the world, and what was played in each of `runs`."""

    def add(judge: Callable[..., str]) -> Callable[..., str]:
        CHECKS.append(Check(id, title, tuple(spec.split()), tuple(runs), judge))
        return judge

    return add


def watch(
    id: str, title: str, spec: str, runs: Iterable[str] = ("samurai", "gardener", "forms")
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the function below as a check of every session, whatever is played; `runs` at least.

    It gets a session and the world, and yields an entry and None for each thing that is right, and otherwise the entry
    and what is wrong.
    """

    def add(look: Callable[[Session, World], Iterator[tuple[Entry, str | None]]]) -> Callable[..., Any]:
        def judge(world: World, *runs: Played) -> str:
            number = 0
            for session in world.sessions():
                for entry, wrong in look(session, world):
                    number += 1
                    if wrong:
                        raise Broken(wrong, session, entry)
            if not number:
                raise NotTried("it did not occur")
            return f"{number:,} times"

        CHECKS.append(Check(id, title, tuple(spec.split()), tuple(runs), judge))
        return look

    return add


# Frames and fields of the referee's messages


@watch("frames.one", "sends each message as one frame, of at most 1,048,576 bytes", "§5.1-1 §5.1-5")
def one_frame(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Counts frames and bytes."""
    for entry in session.came_at_all():
        sizes = [len(frame) for frame in entry.frames]
        right = len(sizes) == 1 and sizes[0] <= MAX_REFEREE_FRAME
        yield entry, None if right else f"expected one frame of at most {MAX_REFEREE_FRAME:,} bytes, got: {sizes}"


@watch("frames.value", "sends one msgpack map a frame", "§5.1-2 §5.1-3")
def one_map(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Reads it."""
    for entry in session.came_at_all():
        yield entry, None if entry.message else "expected one msgpack map, got: something else"


@watch("frames.values", "sends no value that is not allowed", "§5.2-1 §5.2-2 §5.2-3 §5.2-4 §5.2-5 §5.2-6")
def allowed_values(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks at each value."""
    for entry in session.came_at_all():
        try:
            value = msgpack.unpackb(entry.frames[0], object_pairs_hook=Map, strict_map_key=False)
        except (ValueError, msgpack.UnpackException):
            yield entry, "expected msgpack in UTF-8, got: something else"
        else:
            yield entry, _fault(value, 1)


def _fault(value: Any, depth: int) -> str | None:
    """Returns what is wrong with a value (§5.2), or None."""
    if value is None or isinstance(value, bool | str):
        return None
    if isinstance(value, int):
        return None if abs(value) <= MAX_INT else f"expected integers within 2^53 - 1, got: {value} (§5.2-5)"
    if not isinstance(value, list):
        return f"expected nil, boolean, integer, string, array or map, got: {type(value).__name__} (§5.2-3)"
    if depth > MAX_DEPTH:
        return f"expected at most {MAX_DEPTH} levels, got: more (§5.2-6)"
    if isinstance(value, Map):
        keys = [key for key, _ in value]
        if not all(isinstance(key, str) for key in keys):
            return f"expected strings as keys, got: {keys} (§5.2-1)"
        if len(set(keys)) < len(keys):
            return f"expected each key once, got: {keys} (§5.2-2)"
        value = [item for _, item in value]
    return next(filter(None, (_fault(item, depth + 1) for item in value)), None)


@watch("fields.tables", "sends the fields of the tables, with their types and ranges", "§5.3-1 §5.3-2 §5.3-3 §5.2-8")
def tables(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Compares with messages.toml."""
    if world.tables is None:
        return
    for entry in session.came_at_all():
        message = entry.message
        kind = message.get("type")
        if not isinstance(kind, str):
            yield entry, f"expected a string as type, got: {kind!r} (§5.3-1)"
        elif kind in world.tables:
            yield entry, _misfit(message, world.tables[kind]["fields"], kind)


def _misfit(value: dict[str, Any], fields: dict[str, Any], place: str) -> str | None:
    for name, kind in fields.items():
        if name not in value:
            if kind.get("required"):
                return f"expected the field {name}, got: none - at {place} (§5.3-2)"
        elif wrong := _mistyped(value[name], kind, f"{place}.{name}"):
            return wrong
    return None


_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool, "array": list, "map": dict}


def _mistyped(value: Any, kind: dict[str, Any], place: str) -> str | None:
    """Returns how a value does not fit a type of messages.toml, or None."""
    if value is None and kind.get("nil"):
        return None
    name = kind["type"]
    if not isinstance(value, _TYPES[name]) or (name == "integer" and isinstance(value, bool)):
        if "or" in kind:
            return _mistyped(value, kind["or"], place)
        return f"expected {name}, got: {value!r:.60} - at {place} (§5.3-3)"
    size = value if name == "integer" else 0 if name == "boolean" else len(value)
    if not kind.get("at_least", size) <= size <= kind.get("at_most", size):
        return f"expected a value in its range, got: {value!r:.60} - at {place} (§5.3-3)"
    if "pattern" in kind and not re.search(kind["pattern"].replace("$", r"\Z"), value):
        return f"expected {kind['pattern']}, got: {value!r:.60} - at {place} (§5.3-3)"
    if "fields" in kind:
        return _misfit(value, kind["fields"], place)
    inner = kind.get("items") or kind.get("values")
    items = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return next(filter(None, (_mistyped(item, inner, place) for item in items if inner)), None)


# The session

STATES = {
    "greeted": {"welcome": "idle", "goodbye": "closed"},
    "idle": {"game_start": "preparing", "goodbye": "closed"},
    "preparing": {"game_over": "idle"},
    "playing": {"request": "asked", "game_over": "idle"},
    "asked": {"game_over": "idle"},
}
"""By state: what the referee may send, and the state after it (§6)."""


@watch("session.order", "sends nothing that the state does not allow", "§6-1 §6-2 §5.3-6")
def order(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Follows the table of states, as the bot sees it."""
    state = "new"
    for entry in session.entries:
        kind = entry.message.get("type")
        if entry.kind == "out":
            after = {("new", "hello"): "greeted", ("preparing", "ready"): "playing", ("asked", "action"): "playing"}
            state = after.get((state, str(kind)), "greeted" if state == "new" else state)
        elif entry.kind == "in" and kind == "error" and state != "closed":
            state = "closed"
            yield entry, None
        elif entry.kind == "in" and (kind in KNOWN or state == "closed"):
            after_it = STATES.get(state, {}).get(str(kind))
            yield entry, None if after_it else f"expected what state {state} allows, got: {kind}"
            state = after_it or state


KNOWN = {"welcome", "game_start", "request", "game_over", "goodbye", "hello", "ready", "action"}


@watch("session.numbers", "counts games and requests from 1, and by nothing else", "§6-6 §8.3-1 §8.5-1 §8.7-1")
def numbers(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Counts with it."""
    games = requests = 0
    for entry in session.came("game_start", "request", "game_over"):
        message = entry.message
        if message["type"] == "request":
            requests += 1
            expected, got = requests, message.get("id")
        else:
            games += message["type"] == "game_start"
            expected, got = games, message.get("game")
        yield entry, None if got == expected else f"expected {message['type']} number {expected}, got: {got}"


@watch("session.over", "tells the end of its game to every seat that did not forfeit", "§8.7-1 §4.3-2")
def game_over_to_all(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks for a game_over, or for an error, after every game_start."""
    for game in session.games():
        if any(entry.kind == "misdeed" for entry in game):
            continue
        told = any(entry.of("game_over", "error") for entry in game)
        yield game[-1], None if told else "expected game_over, got: nothing more of the game"


@watch("session.lapsed", "ends no game while a seat owes an answer, unless it interrupts the game", "§10-2")
def lapsed(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks what the bot owed at each game_over, as it sees it."""
    asked = False
    for entry in session.entries:
        if entry.of("request"):
            asked = True
        elif entry.kind == "out":
            asked = False
        elif entry.of("game_over"):
            why = entry.message.get("termination")
            yield (
                entry,
                f"expected interrupted, as the bot was asked, got: {why}" if asked and why != "interrupted" else None,
            )
            asked = False


@watch("session.harmless", "sends no error to a bot that does nothing wrong", "§6-3 §8.1-4 §11-1 §11-5")
def harmless(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks for one."""
    if session.erred() is None:
        errors = session.came("error")
        yield (errors or session.entries)[-1], "expected no error, got: one" if errors else None


@watch("session.goodbye", "ends the session of a bot that did not forfeit with goodbye", "§4.3-2")
def goodbye(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks for a goodbye."""
    if session.erred() is None and session.came("welcome"):
        ended = session.came("goodbye", "error")
        yield session.entries[-1], None if ended else "expected goodbye, got: nothing more"


@watch("start.environment", "gives a bot its folder, an endpoint and a token", "§4.2-1 §4.1-7", runs=("samurai", "tcp"))
def environment(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks at what the process found when it began."""
    began = session.entries[0]
    endpoint, token = began.what["environment"]["ARENA_ENDPOINT"], began.what["environment"]["ARENA_TOKEN"]
    wanted = "tcp://127.0.0.1:" if session.part.tcp else "ipc://"
    if not token or not (endpoint or "").startswith(wanted):
        yield began, f"expected ARENA_ENDPOINT as {wanted}…, and ARENA_TOKEN, got: {endpoint}, {token}"
    elif os.path.basename(began.what["folder"]) != f"bot{session.bot}":
        yield began, f"expected to run in the bot's own folder, got: {began.what['folder']}"
    else:
        yield began, None


@watch("start.welcome", "names its limits, at least those of the specification", "§8.2-1")
def welcome(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks at them."""
    for entry in session.came("welcome"):
        frame, note = entry.message.get("max_frame"), entry.message.get("max_note")
        right = isinstance(frame, int) and isinstance(note, int) and frame >= MAX_FRAME and note >= MAX_NOTE
        yield entry, None if right else f"expected at least {MAX_FRAME:,} and {MAX_NOTE:,} bytes, got: {frame}, {note}"


# game_start, request and game_over

OPTIONS = {
    "samurai": {
        "setup",
        "hand",
        "captures",
        "capture_order",
        "captured",
        "fast",
        "move_is_fast",
        "placement",
        "scoring",
    },
    "gardener": {"seize", "deck", "exactly_over", "features", "target"},
}


@watch("messages.game_start", "says which seat, which board and which time a game has", "§8.3-2 §8.3-3 §8.3-4")
def start_of_game(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks at what is said."""
    for entry in session.came("game_start"):
        message = entry.message
        limits = [(message.get("time") or {}).get(name) for name in ("bank_ms", "limit_ms")]
        if not 0 <= message.get("seat", -1) < message.get("seats", 0):
            yield entry, f"expected a seat below {message.get('seats')}, got: {message.get('seat')}"
        elif not isinstance(message.get("board"), dict) and message.get("rules") in OPTIONS:
            yield entry, f"expected a board, got: {message.get('board')!r:.60}"
        else:
            yield entry, None if limits != [None, None] else "expected a bank or a limit, got: neither"


@watch(
    "messages.settings", "says what is played, as it was asked to", "§8.3-2 §8.3-5", runs=("samurai", "race", "bank")
)
def settings(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Compares with the command."""
    run = RUNS[session.run]
    for entry in session.came("game_start"):
        message = entry.message
        chosen = {f"{name}={value}" for name, value in message["options"].items() if name in _named(run)}
        told = message["time"]
        limits = {"bank_ms": run.bank_ms, "limit_ms": run.limit_ms}
        limits |= {"increment_ms": run.increment_ms} if run.bank_ms else {}
        has_race = message["options"].get("seize") == "race"
        if (message["rules"], message["seats"]) != (run.rules, len(run.parts)):
            yield entry, f"expected {run.rules} for {len(run.parts)}, got: {message['rules']} for {message['seats']}"
        elif set(message["options"]) != OPTIONS[run.rules] or chosen != set(run.options):
            yield entry, f"expected all options of {run.rules}, and {run.options}, got: {message['options']}"
        elif any(told[name] != value for name, value in limits.items()):
            yield entry, f"expected the time control {run.time}, got: {told}"
        elif not 0 <= told["margin_ms"] <= LARGEST_MARGIN_MS or (told["window_us"] is not None) != has_race:
            yield entry, f"expected a margin, and a window where there is a race and only there, got: {told}"
        else:
            yield entry, None


LARGEST_MARGIN_MS = 1_000
"""Beyond it the check cannot tell a margin from a referee that does not look at the time."""


def _named(run: Run) -> set[str]:
    return {option.partition("=")[0] for option in run.options}


@watch(
    "messages.wants",
    "sends view, events and legal to those who asked for them",
    "§8.5-2 §8.7-3 §8.1-4 §8.1-5",
    runs=("samurai", "forms", "wants-none", "wants-view", "wants-events", "wants-map"),
)
def wants(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Compares with `hello.want`."""
    rules = ""
    for entry in session.came("game_start", "request", "game_over"):
        message = entry.message
        rules = message.get("rules", rules)
        if message["type"] == "game_start":
            continue
        possible = {*WANTS} if message["type"] == "request" else {"events"}
        expected, got = (
            possible & session.part.wants(rules),
            possible & {key for key in message if message[key] is not None},
        )
        yield entry, None if expected == got else f"expected {sorted(expected)}, got: {sorted(got)}"


@watch("messages.experiments", "takes part in no experiment that a bot did not name", "§11-4 §11-5")
def experiments(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """No bot names a capability that a referee can have."""
    for entry in session.came_at_all():
        names = [name for name in (entry.message.get("type"), *entry.message) if str(name).startswith("x_")]
        names += entry.message.get("capabilities") or []
        yield entry, f"expected no experiments and no capabilities, got: {names}" if names else None


@watch("messages.legal", "sends legal plays as products", "§8.5-6")
def products(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks at their form."""
    for entry in session.came("request"):
        legal = entry.message.get("legal")
        if legal is not None:
            right = isinstance(legal, list) and legal and all(map(_is_product, legal))
            yield entry, None if right else f"expected an array of products, got: {legal!r:.100}"


def _is_product(product: Any) -> bool:
    for values in product.values() if isinstance(product, dict) else [None]:
        if isinstance(values, dict):
            if values.keys() != {"choose", "of"} or not 1 <= values["choose"] <= len(values["of"]):
                return False
        elif not isinstance(values, list) or not values:
            return False
    return True


@watch("messages.clock", "gives as limit the smaller of the limit and the bank", "§9-2")
def clock(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Compares with the time control and with the bank that is told. Where a decision may go on, less may be left."""
    for game in session.games():
        control = game[0].message.get("time", {})
        options = game[0].message.get("options", {})
        goes_on = options.get("fast", "optional") != "optional" or options.get("seize") == "race"
        for entry in game:
            if entry.of("request"):
                told = entry.message.get("clock", {})
                bank, limit = told.get("bank_ms"), control.get("limit_ms")
                most = min(time_ for time_ in (bank, limit) if time_ is not None)
                right = told["limit_ms"] == most or (goes_on and 0 <= told["limit_ms"] <= most)
                right = right and (bank is None) == (control.get("bank_ms") is None)
                yield entry, None if right else f"expected a limit of {most} ms, got: {told}"


@watch("messages.game_over", "says why a game ended, with a rank for each seat", "§8.7-2 §8.7-4")
def end_of_game(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks at what is said."""
    seats = 0
    for entry in session.came("game_start", "game_over"):
        message = entry.message
        if message["type"] == "game_start":
            seats = message.get("seats", 0)
            continue
        ranks, scores, why = message.get("ranks"), message.get("scores"), message.get("termination")
        guilty = [notice.get("seat") for notice in message.get("forfeits", ())]
        if why not in TERMINATIONS or any(notice.get("code") not in TERMINATIONS for notice in message["forfeits"]):
            yield entry, f"expected a termination of section 10, got: {why}, {message['forfeits']}"
        elif why == "interrupted" and (ranks or scores):
            yield entry, f"expected no ranks of an interrupted game, got: {ranks}"
        elif why != "interrupted" and (not ranks or len(ranks) != seats or not _are_ranks(ranks)):
            yield entry, f"expected a rank for each of {seats} seats, got: {ranks}"
        elif scores is not None and len(scores) != seats:
            yield entry, f"expected a score for each of {seats} seats, got: {scores}"
        elif len(set(guilty)) != len(guilty):
            yield entry, f"expected every forfeit once, got: {message['forfeits']}"
        else:
            yield entry, None


def _are_ranks(ranks: list[int]) -> bool:
    """Tells whether 1 is best, equal ranks share, and the next rank after k equal ones is k higher."""
    return all(rank == 1 + sum(other < rank for other in ranks) for rank in ranks)


@watch("messages.receipt", "gives a receipt, if any, of what the seat saw and did", "§8.7-5")
def receipt(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Computes it again from the seat's messages; the digest only where events are wanted and actions are plain."""
    names = ("board", "bot_seed", "options", "rules", "rules_version", "ruleset", "seat", "seats")
    for game in session.games():
        asked: dict[Any, dict[str, Any]] = {}
        answers: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for entry in game:
            message = entry.message
            if entry.of("request"):
                asked[message.get("id")] = message
            elif entry.kind == "out" and message.get("type") == "action" and message.get("id") in asked:
                answers.append((asked[message["id"]], message))
            elif entry.of("game_over"):
                told = message.get("receipt")
                if told is None or not message["ranks"]:
                    yield entry, None if told is None else "expected no receipt of an interrupted game, got one"
                    continue
                used, events = told["used_ns"], [*asked.values(), message]
                made = answers[: len(used)]
                notes = [action.get("note") for _, action in made]
                if len(made) < len(used) or told["notes"] != (_sha256(notes) if any(notes) else None):
                    yield entry, f"expected the digest of the notes of {len(made)} answers, got: {told}"
                elif session.part.forms or any(one.get("events") is None for one in events):
                    yield entry, None
                else:
                    result = {"forfeits": [{"seat": one["seat"], "code": one["code"]} for one in message["forfeits"]]}
                    result |= {name: message.get(name) for name in ("ranks", "scores", "termination")}
                    seen = {
                        "answers": [
                            {"action": _ordered(action["action"]), "kind": request["kind"], "used_ns": ns}
                            for (request, action), ns in zip(made, used, strict=True)
                        ],
                        "events": [event for one in events for event in one["events"]],
                        "over": result,
                        "start": {name: game[0].message.get(name) for name in names},
                    }
                    digest = _sha256(seen)
                    yield entry, None if told["digest"] == digest else f"expected the receipt {digest}, got: {told}"


def _ordered(action: dict[str, Any]) -> dict[str, Any]:
    """Returns an action with every array that is a value in a play in the order of its elements' canonical JSON."""
    plays = [
        {key: sorted(value, key=_canonical) if isinstance(value, list) else value for key, value in play.items()}
        for play in action["plays"]
    ]
    return action | {"plays": plays}


def _canonical(value: Any) -> bytes:
    """Returns the canonical JSON of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _sha256(value: Any) -> str:
    """Returns the SHA-256 (hex) of a value's canonical JSON."""
    return hashlib.sha256(_canonical(value)).hexdigest()


@watch("messages.error", "names an error by a code of the specification", "§8.9-1")
def error_code(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks at it."""
    for entry in session.came("error"):
        code = entry.message.get("code")
        yield entry, None if code in CODES else f"expected a code of section 10, got: {code}"


# Misdeeds


def _overs(played: Played, after: int) -> list[tuple[Session, Entry]]:
    """Returns the first game_over to each bot after a moment that tells of a forfeit, in whichever of its sessions."""
    found: dict[int, tuple[Session, Entry]] = {}
    for session in played.sessions:
        for entry in session.came("game_over"):
            if entry.at >= after and entry.message.get("forfeits"):
                first = found.get(session.bot)
                if first is None or entry.at < first[1].at:
                    found[session.bot] = (session, entry)
    return list(found.values())


def _misdeed_judge(deed: Misdeed) -> Callable[[World, Played], str]:
    def judge(world: World, played: Played) -> str:
        culprit, note = _culprit(played)
        if deed.code is not None:
            errors = [entry for entry in culprit.came("error") if entry.at >= note.at]
            got = errors[0].message.get("code") if errors else _next_after(culprit, note)
            if got != deed.code:
                raise (Broken if errors else Untimely)(f"expected error {deed.code}, got: {got}", culprit)
        if deed.when in ("connection", "hello") and culprit.came("game_start"):
            raise Broken("expected that the bot is in no game, got: game_start", culprit)
        overs = [(session, entry) for session, entry in _overs(played, note.at) if session is not culprit]
        if not overs:
            if deed.when in ("connection", "hello") and not any(session.games() for session in played.sessions):
                return f"error {deed.code}; no game was begun"
            raise Broken(f"expected the others to be told of a forfeit, {deed.termination}, got: nothing", culprit)
        for session, entry in overs:
            message, own = entry.message, _seat_at(session, entry)
            forfeit, after = message["forfeits"][0], (entry.at - note.at) / NS
            if deed.id not in PATIENT and after > AT_ONCE_MS + world.late_ms:
                raise Untimely(f"expected the others to be told at once, got: after {after:.0f} ms", session, entry)
            if forfeit.get("code") not in deed.termination.split(" or ") or forfeit.get("seat") == own:
                raise Broken(f"expected a forfeit, {deed.termination}, of another seat, got: {forfeit}", session, entry)
            if message["ranks"][own] >= message["ranks"][forfeit["seat"]]:
                raise Broken(f"expected a better rank than the guilty seat's, got: {message['ranks']}", session, entry)
        return f"error {deed.code}, {deed.termination}" if deed.code else deed.termination

    return judge


AT_ONCE_MS = 1_000
"""By then others have been told of a forfeit for which nothing is awaited."""
PATIENT = {
    "start.silence", "ready.late", "session.disconnect", "frames.huge", "time.late", "time.closed", "time.ended",
}  # fmt: skip
"""Misdeeds after which a time is awaited."""


def _seat_at(session: Session, entry: Entry) -> int:
    """Returns which seat a bot had in the game of an entry."""
    return next(int(game[0].message["seat"]) for game in session.games() if entry in game)


def _culprit(played: Played) -> tuple[Session, Entry]:
    """Returns who did what is wrong, and the note of it."""
    for session in played.sessions:
        note = session.erred()
        if note is not None:
            return session, note
    raise NotTried("the bot did not come so far")


def _next_after(session: Session, note: Entry) -> str:
    came = [entry for entry in session.entries if entry.kind == "in" and entry.at > note.at]
    return str(came[0].message.get("type")) if came else "nothing"


for _deed in MISDEEDS:
    if _deed.termination:
        duty(_deed.id, _deed.title, " ".join(_deed.spec), runs=[_deed.id])(_misdeed_judge(_deed))
REFUSED = (
    "start.version",
    "ready.game",
    "frames.float",
    "frames.parts",
    "action.illegal",
    "action.id",
    "session.flood",
)
"""Dialogues in which a bot is sent an error."""


@duty("session.killed", "kills a bot 200 ms after its error", "§8.9-2", runs=REFUSED)
def killed(world: World, *runs: Played) -> str:
    """Looks when the bots were last alive. The error was sent between the misdeed and when it was read."""
    lived = []
    for played in runs:
        culprit, note = _culprit(played)
        errors = culprit.came("error")
        if not errors or culprit.alive is None:
            raise Untimely("expected an error that the bot has time to read, got: none", culprit)
        lived.append((culprit.alive - errors[0].at) / NS)
        most = (culprit.alive - note.at) / NS
        if most < ERROR_MS - world.early_ms or lived[-1] > ERROR_MS + world.late_ms:
            raise Untimely(
                f"expected its end {ERROR_MS} ms after the error, got: {lived[-1]:.0f} ms, {most:.0f} ms after the "
                "misdeed",
                culprit,
            )
    return f"{len(lived)} times, after {min(lived):.0f} to {max(lived):.0f} ms"


@duty("session.deaf", "ignores all that comes after its error", "§6-5", runs=REFUSED)
def deaf(world: World, *runs: Played) -> str:
    """The bots sent nonsense after it; the others must not be harmed."""
    number = 0
    for played in runs:
        for session in played.sessions:
            if session.came("error") and session.entries[-1].kind == "out":
                number += 1
        if played.stopped:
            raise Broken(f"expected the command to end within {LONGEST_S} s, got: it had to be stopped ({played.name})")
    if not number:
        raise NotTried("no bot could send anything after an error")
    return f"{number} times"


@duty("session.second", "does not serve a second connection", "§4.1-2", runs=["session.second"])
def second_connection(world: World, played: Played) -> str:
    """Looks what came over it."""
    culprit, _ = _culprit(played)
    came = [entry for entry in culprit.entries if entry.kind == "second"]
    got = [(entry.message.get("type"), entry.message.get("code")) for entry in came]
    if got not in ([], [("error", "protocol_violation")]):
        raise Broken(f"expected error protocol_violation or nothing over the second connection, got: {got}", culprit)
    _finished(played, only=culprit)
    return "and goes on over the first"


# Sequences


@duty(
    "session.remarks",
    "reads every form of a message, and ignores what it does not know",
    "§5.2-7 §5.3-4 §5.3-5 §6-3 §8.1-4 §8.6-3 §8.6-6 §11-1 §5.1-4 §5.2-5 §5.2-6",
    runs=["forms"],
)
def forms(world: World, played: Played) -> str:
    """One bot wrote its messages in all forms, and remarks between them."""
    for session in played.of_bot(0):
        for entry in session.came("error"):
            before = [note.what for note in session.entries if note.kind == "form" and note.at < entry.at]
            raise Broken(f"expected all forms to be read, got: an error after {before[-1:] or 'hello'}", session, entry)
    used = Counter(note.what for session in played.of_bot(0) for note in session.entries if note.kind == "form")
    if len(used) < len(FORMS):
        raise Broken(f"expected all forms to be played, got: only {sorted(used)}", *played.of_bot(0)[:1])
    _finished(played)
    return f"{used.total()} actions in {len(used)} forms"


def _finished(played: Played, only: Session | None = None) -> int:
    """Returns how many games ended well for every bot, or for one.

    Raises:
        Broken: One did not.
    """
    number = 0
    for session in [only] if only else played.sessions:
        for entry in session.came("game_over", "error"):
            message = entry.message
            if message.get("termination") != "finished" or message.get("forfeits"):
                raise Broken("expected a game without forfeits, got: another end", session, entry)
            number += 1
    if not number:
        raise Broken("expected a game to end, got: none", *played.sessions[:1])
    return number


@duty("action.legal", "accepts every play that is made from legal", "§8.5-4", runs=["samurai", "gardener", "face-down"])
def legal(world: World, *runs: Played) -> str:
    """The bots chose by chance."""
    for played in runs:
        _finished(played)
    actions = sum(len(session.came("request")) for played in runs for session in played.sessions)
    return f"{actions:,} actions in {sum(len(played.sessions[0].games()) for played in runs)} games"


@watch(
    "action.complete",
    "names every legal first play, and no other",
    "§8.5-4 §12-1",
    runs=("samurai", "gardener", "face-down", "again", "race"),
)
def complete(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Works the legal plays out from board and view."""
    for game in session.games():
        start = game[0].message
        for entry in game:
            if entry.of("request") and {"view", "legal"} <= {*session.part.wants(start["rules"])}:
                rules = samurai_legal if start["rules"] == "samurai" else gardener_legal
                expected = rules(start, entry.message["kind"], entry.message["view"])
                named = plays_in(entry.message["legal"])
                wrong = [f"{len(plays)} {what}, such as {dict(min(plays, key=str))}" for plays, what in
                         ((expected - named, "left out"), (named - expected, "too many")) if plays]  # fmt: skip
                yield entry, f"expected all legal plays, got: {' and '.join(wrong)}" if wrong else None


Play = frozenset[tuple[str, Any]]


def plays_in(legal: list[dict[str, Any]]) -> set[Play]:
    """Returns the plays that products stand for. Those with `choose` stand as one, with what is chosen from."""
    plays = set()
    for product in legal:
        values = [
            [("choose", value["choose"], *sorted(value["of"]))] if isinstance(value, dict) else value
            for value in product.values()
        ]
        for chosen in itertools.product(*values):
            plays.add(_play(**{key: _frozen(value) for key, value in zip(product, chosen, strict=True)}))
    return plays


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _play(**play: Any) -> Play:
    if "with" in play:
        one, other = sorted([(play["caste"], play["space"]), (play["with_caste"], play["with"])])
        play |= {"caste": one[0], "space": one[1], "with_caste": other[0], "with": other[1]}
    return frozenset(play.items())


TILES = {
    **{f"{caste}{value}": 1 for caste in ("buddha", "rice", "castle") for value in (2, 3, 4)}, "samurai1": 2,
    "samurai2": 2, "samurai3": 1, "ship1": 2, "ship2": 1, "ronin1": 1, "switch": 1, "move": 1,
}  # fmt: skip
FAST = {"ship1", "ship2", "ronin1", "switch"}


def samurai_legal(start: dict[str, Any], kind: str, view: dict[str, Any]) -> set[Play]:
    """Returns the plays that may come first, with the options that the check sets (rules/samurai.md, §S3 and §S4)."""
    if kind == "hand":
        return {_play(hand=("choose", 5, *sorted(tile for tile in TILES for _ in range(TILES[tile]))))}
    of_kind: dict[str, list[int]] = {}
    for number, space in enumerate(start["board"]["spaces"]):
        of_kind.setdefault(space["kind"], []).append(number)
    pieces = [(caste, space) for caste, spaces in view["pieces"].items() for space in spaces]
    held = Counter(space for _, space in pieces)
    if kind == "setup":
        cities = [space for space in of_kind["city"] if held[space] < 2]
        places = cities or [space for space in of_kind["village"] if not held[space]]
        return {
            _play(caste=caste, space=space)
            for caste, left in view["supply"].items() if left
            for space in places if (caste, space) not in pieces
        }  # fmt: skip
    taken = {space for space, _, _ in view["tiles"]}
    land, sea = ([space for space in of_kind[kind] if space not in taken] for kind in ("land", "sea"))
    hand = {*view["hand"]} & (FAST if view["fast_only"] else {*TILES})
    plays = {
        _play(tile=tile, space=space)
        for tile in hand - {"switch", "move"}
        for space in (sea if tile.startswith("ship") else land)
    }
    if "switch" in hand:
        for (caste, space), (other, at) in itertools.combinations(pieces, 2):
            if caste == other or space == at or not {(caste, at), (other, space)} & {*pieces}:
                plays.add(_play(tile="switch", caste=caste, space=space, with_caste=other, **{"with": at}))
    if "move" in hand:
        own = [space for space, seat, tile in view["tiles"]
               if seat == view["seat"] and tile not in FAST | {"move"} and space not in view["placed"]]  # fmt: skip
        plays |= {_play(tile="move", to=to, **{"from": space}) for space in own for to in land}
    return plays


def gardener_legal(start: dict[str, Any], kind: str, view: dict[str, Any]) -> set[Play]:
    """Returns the plays that may come first, with the options that the check sets (rules/gardener.md, §G3)."""
    seat = view["seat"]
    if kind == "seize":
        return {_play(card=card) for card in view["offer"]}
    if kind == "score":
        rows = [row for row in view["rows"][seat] if row["kind"] in view["features"][seat]]
        return {_play(at=tuple(row["at"]), along=row["along"]) for row in rows}
    seen: dict[tuple[int, int], str] = {}
    for card, x, y, turned in view["gardens"][seat]:
        kinds = start["board"]["cards"][card]
        seen |= {(x + at % 2, y + at // 2): kinds[5 - at if turned else at] for at in range(6)}
    closed = set()  # the squares of rows
    for x, y in seen:
        for right, down in ((1, 0), (0, 1)):
            line = [(x + step * right, y + step * down) for step in range(3)]
            if len({seen.get(square, square) for square in line}) == 1:
                closed.update(line)
    beside = {(x + right, y + down) for x, y in seen for right, down in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))}
    put = {(x, y) for _, x, y, _ in view["gardens"][seat]}
    positions = {(x - at % 2, y - at // 2) for x, y in beside for at in range(6)} - put
    return {
        _play(at=(x, y), turned=turned)
        for x, y in positions if not closed & {(x + at % 2, y + at // 2) for at in range(6)}
        for turned in (False, True)
    }  # fmt: skip


@duty("action.again", "asks again where a decision needs more plays", "§8.5-5 §8.5-1", runs=["again"])
def again(world: World, played: Played) -> str:
    """The bots play a fast tile, which another one must follow."""
    _finished(played)
    number = 0
    for session in played.sessions:
        requests = session.came("request")
        for last, entry in itertools.pairwise(requests):
            placed = (
                (last.message.get("view") or {}).get("turn"),
                entry.message.get("view", {}).get("turn"),
            )
            number += placed[0] == placed[1] != 0 and entry.message["kind"] == "turn"
    if not number:
        raise Broken(
            "expected to be asked again after a fast tile with fast=must_follow, got: never", *played.sessions[:1]
        )
    return f"{number} times"


@duty("session.crossing", "ignores an action that has lapsed", "§6-4", runs=["interrupt"])
def crossing(world: World, played: Played) -> str:
    """One bot answers when it has been told that the game is over."""
    for session in played.of_bot(0):
        late = [entry for over in session.came("game_over") for entry in session.entries if entry.at > over.at]
        if any(entry.kind == "out" for entry in late):
            for entry in session.came("error"):
                raise Broken("expected a lapsed action to be ignored, got: an error", session, entry)
            return "nothing came of it"
    raise NotTried("no game was over while the bot was asked")


@duty("session.shutdown", "tells the bots when a game is interrupted", "§8.7-2 §4.3-2", runs=["interrupt"])
def shutdown(world: World, played: Played) -> str:
    """SIGINT came while all were asked. A process that was started ahead, for a later game, is not in this one."""
    for session in played.sessions:
        if not session.came("game_start"):
            continue
        last = [entry.message for entry in session.came("request", "game_over", "goodbye", "error")][-2:]
        got = [(message["type"], message.get("termination"), message.get("ranks")) for message in last]
        if got != [("game_over", "interrupted", []), ("goodbye", None, None)]:
            raise Broken(f"expected game_over, interrupted and without ranks, and goodbye, got: {got}", session)
    return f"{len(played.sessions)} bots"


@duty("session.three", "goes on with two seats when a third has forfeited", "§8.7-1 §8.6-5", runs=["three"])
def three(world: World, played: Played) -> str:
    """The bot in the middle does something illegal."""
    culprit, note = _culprit(played)
    for session, entry in _overs(played, note.at):
        message = entry.message
        later = [request for request in session.came("request") if note.at < request.at < entry.at]
        if message["termination"] != "finished" or [notice["code"] for notice in message["forfeits"]] != [
            "illegal_action"
        ]:
            raise Broken("expected a finished game with one forfeit, got: another end", session, entry)
        if not later:
            raise Broken("expected the game to go on, got: no request any more", session, entry)
    if culprit.came("game_over"):
        raise Broken("expected error as the last message to the guilty bot, got: game_over", culprit)
    return "both finished the game"


@duty(
    "session.together",
    "lets a seat forfeit when all that were asked with it have answered",
    "§10-2 §10-3",
    runs=["three"],
)
def together(world: World, played: Played) -> str:
    """The bot in the middle fails at once, and the last one takes half a second."""
    for session in played.of_bot(0):
        for game in session.games()[:1]:
            told = [event["event"] for event in _events(game)]
            if "forfeited" not in told:
                raise Broken("expected an event that says who forfeited, got: none", session)
            hands = told[: told.index("forfeited")].count("hand")
            if hands != 2:
                raise Broken(f"expected a forfeit after the other seats' answers, got: after {hands} of 2", session)
            return "after the slowest answer"
    raise NotTried("no game was begun")


@duty("start.slow", "gives hello, and again ready, the whole start-up time", "§4.3-1 §9-6 §4.1-5", runs=["slow-start"])
def slow_start(world: World, played: Played) -> str:
    """A bot takes half of it twice; its bank must not be charged."""
    _finished(played)
    for session in played.of_bot(0):
        for entry in session.came("request")[:1]:
            bank = entry.message["clock"]["bank_ms"]
            if bank != RUNS["slow-start"].bank_ms:
                raise Broken(f"expected a whole bank at the first request, got: {bank} ms", session, entry)
            return "1,500 ms each of 3,000; no bank was charged"
    raise NotTried("the bot was not asked")


@duty("session.farewell", "kills a bot that does not end a second after goodbye", "§4.3-3", runs=["stays"])
def farewell(world: World, played: Played) -> str:
    """One stays."""
    for session in played.of_bot(0):
        for entry in session.came("goodbye"):
            lived = ((session.alive or entry.at) - entry.at) / NS
            if not 1_000 - world.early_ms <= lived <= 1_000 + world.late_ms:
                raise Untimely(f"expected its end 1,000 ms after goodbye, got: {lived:.0f} ms", session, entry)
            return f"after {lived:.0f} ms"
    raise NotTried("the bot got no goodbye")


# Time


@duty(
    "time.deadline", "ends a decision at its limit and margin, and the bot with it", "§9-3 §8.9-2", runs=["time.late"]
)
def deadline(world: World, played: Played) -> str:
    """Compares when the bot was asked with when the other was told, and when it was last alive."""
    culprit, note = _culprit(played)
    request = next(entry for entry in reversed(culprit.came("request")) if entry.at <= note.at)
    start = culprit.came("game_start")[0].message
    allowed = request.message["clock"]["limit_ms"] + start["time"].get("margin_ms", MARGIN_MS)
    for session, entry in _overs(played, note.at):
        after = (entry.at - request.at) / NS
        if not allowed - world.early_ms <= after <= allowed + world.late_ms:
            raise Untimely(f"expected the end {allowed} ms after the request, got: {after:.0f} ms", session, entry)
        lived = ((culprit.alive or 0) - request.at) / NS
        if lived > allowed + world.late_ms:
            raise Untimely(f"expected the bot to be killed, got: it lived {lived - allowed:.0f} ms more", culprit)
        first = culprit.came("request")[0]
        return f"after {after:.0f} ms of {allowed}; an answer after 600 ms counted" if first is not request else ""
    raise Broken("expected the other bot to be told of a timeout, got: nothing", culprit)


STRAY_MS = 100
"""So much more than the bots measure, in the mean of all decisions, may be taken from a bank for the journey."""


@duty("time.bank", "takes from the bank what a seat used, and adds the increment", "§9-4 §9-1 §9-5", runs=["bank"])
def bank(world: World, played: Played) -> str:
    """Compares the banks that are told with what the bots measured.

    A bot sees less of its time than the referee, never more. How much less may not grow with every decision.
    """
    run, lost, number = RUNS["bank"], 0.0, 0
    for session in played.sessions:
        for game in session.games():
            own_lost, own_number, last = 0.0, 0, float(run.bank_ms or 0)
            asked = None
            for entry in game:
                if entry.of("request"):
                    told = entry.message["clock"]["bank_ms"]
                    if told > last + 1:
                        raise Broken(f"expected a bank of at most {last:.0f} ms, got: {told}", session, entry)
                    own_lost, own_number = own_lost + last - told, own_number + 1
                    asked, last = entry.at, told
                elif entry.kind == "out" and asked is not None:
                    last = max(0.0, last - (entry.at - asked) / NS) + run.increment_ms
                    asked = None
            if own_number and own_lost > STRAY_MS * own_number:
                raise Untimely(
                    f"expected banks to fall by what the bot uses, got: {own_lost / own_number:.0f} ms more a decision",
                    session,
                )
            lost, number = lost + own_lost, number + own_number
    if not number:
        raise NotTried("nobody was asked")
    return f"{number} decisions; {lost / number:.1f} ms of each were the journey"


@duty(
    "time.decision",
    "gives a decision one limit and one increment, however many requests it takes",
    "§9-2 §9-4 §8.5-5",
    runs=["again"],
)
def decision(world: World, played: Played) -> str:
    """One bot takes 60 ms for every play, also for those that must follow."""
    run, number = RUNS["again"], 0
    for session in played.sessions:
        for game in session.games():
            turns = [entry for entry in game if entry.of("request") and entry.message["kind"] == "turn"]
            answers = {entry.message.get("id"): entry.at for entry in game if entry.kind == "out" and entry.message}
            for last, entry in itertools.pairwise(turns):
                used = (answers[last.message["id"]] - last.at) / NS
                goes_on = last.message["view"]["turn"] == entry.message["view"]["turn"]
                before, now = last.message["clock"], entry.message["clock"]
                bank = before["bank_ms"] - used + (0 if goes_on else run.increment_ms)
                limit = min(before["limit_ms"] - used if goes_on else float(run.limit_ms or 0), now["bank_ms"])
                for expected, got in ((bank, now["bank_ms"]), (limit, now["limit_ms"])):
                    if not expected - world.late_ms / 2 <= got <= expected + 1:
                        raise Untimely(f"expected {expected:.0f} ms at most, got: {got}", session, entry)
                number += goes_on
    if not number:
        raise NotTried("no decision went on")
    return f"{number} decisions that went on"


@duty("time.race", "lets the faster seat seize first, and asks the slower again", "§9-8 §9-9", runs=["race"])
def race(world: World, played: Played) -> str:
    """Both want the first card; one takes 150 ms, the other answers at once."""
    _finished(played)
    number = 0
    for session in played.of_bot(0):
        for game in session.games()[:1]:
            seat = game[0].message["seat"]
            first = [entry for entry in game if entry.of("request") and entry.message["kind"] == "seize"][:8]
            for last, entry in itertools.pairwise(first):
                before, after = last.message, entry.message
                if before["view"]["round"] != after["view"]["round"]:
                    continue
                taken = set(before["legal"][0]["card"]) - set(after["legal"][0]["card"])
                won = [event["seat"] for event in after["events"] if event["event"] == "seized"]
                if not taken or seat in won:
                    raise Broken("expected the card to go to the faster seat, got: asked again", session, entry)
                number += 1
            seized = [
                event for entry in game if entry.of("request", "game_over")
                for event in entry.message.get("events") or () if event["event"] in ("round", "seized")
            ]  # fmt: skip
            for one, other in list(itertools.pairwise(seized))[:8]:
                if one["event"] == "round" and other["event"] == "seized" and other["seat"] == seat:
                    raise Broken("expected the faster seat to seize first, got: the slower did", session)
    if not number:
        raise Broken("expected the slower seat to be asked again, got: never", *played.of_bot(0)[:1])
    return f"{number} times"


# What a seat may know


@watch("secrets.anonymous", "tells nobody's name, version, author or token to another bot", "§12-2")
def anonymous(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Looks for them in the bytes."""
    others = [other for other in world.played[session.run].sessions if other.bot != session.bot]
    hidden = {other.secret.encode() for other in others}
    hidden |= {str(other.entries[0].what["environment"]["ARENA_TOKEN"]).encode() for other in others} - {b"", b"None"}
    for entry in session.came_at_all():
        found = [text for text in hidden if any(text in frame for frame in entry.frames)]
        yield entry, f"expected nothing of another bot's, got: {found}" if found else None


@watch("secrets.seeds", "gives each seat of a game another bot_seed", "§8.3-6")
def seeds(session: Session, world: World) -> Iterator[tuple[Entry, str | None]]:
    """Compares with what other bots were sent in the same game, which the commitment tells."""
    others = [
        entry.message
        for other in world.played[session.run].sessions if other.bot != session.bot
        for entry in other.came("game_start")
    ]  # fmt: skip
    for entry in session.came("game_start"):
        own = entry.message
        same = [
            other["seat"] for other in others
            if (other["commitment"], other["bot_seed"]) == (own["commitment"], own["bot_seed"])
        ]  # fmt: skip
        yield entry, f"expected another bot_seed for each seat, got: that of seats {same} too" if same else None


@duty(
    "secrets.events",
    "tells all seats the same, but for what only one may know",
    "§8.5-3 §12-1",
    runs=["samurai", "gardener", "face-down"],
)
def same_events(world: World, *runs: Played) -> str:
    """Compares what the two bots were told from beginning to end."""
    number = 0
    for played in runs:
        mine = [game for session in played.of_bot(0) for game in session.games()]
        theirs = [game for session in played.of_bot(1) for game in session.games()]
        for one, other in zip(mine, theirs, strict=False):
            seats = one[0].message["seat"], other[0].message["seat"]
            told = [_public(_events(game), seat) for game, seat in zip((one, other), seats, strict=True)]
            for event, twin in zip(*told, strict=False):
                if event != twin:
                    raise Broken(f"expected the same events for both seats, got: {event} and {twin} ({played.name})")
            if len(told[0]) != len(told[1]):
                raise Broken(f"expected events for both alike, got: {len(told[0])} and {len(told[1])} ({played.name})")
            number += len(told[0])
            if "deck=face_down" in RUNS[played.name].options and any(event["event"] == "next" for event in told[0]):
                raise Broken("expected no event next with deck=face_down, got: one", *played.of_bot(0)[:1])
    return f"{number:,} events"


def _events(game: list[Entry]) -> list[dict[str, Any]]:
    """Returns all events of a game."""
    return [event for entry in game if entry.of("request", "game_over") for event in entry.message.get("events") or ()]


def _public(events: list[dict[str, Any]], seat: int) -> list[dict[str, Any]]:
    """Returns events without what only a seat itself may know.

    Raises:
        Broken: It has been told what only others may know.
    """
    public = []
    for event in events:
        if event.get("event") == "hand":
            if event["seat"] == seat:
                event = {key: value for key, value in event.items() if key != "tiles"}
            elif event.keys() != {"event", "seat", "count"}:
                raise Broken(f"expected only the number of tiles that another seat draws, got: {event}")
        public.append(event)
    return public


@duty(
    "secrets.worlds",
    "sends the same bytes where only hidden things differ",
    "§12-1 §6-6",
    runs=["world-first", "world-last"],
)
def worlds(world: World, one: Played, other: Played) -> str:
    """In two games the other seat chose different tiles; up to its first turn the bot cannot know."""
    frames = [_before_the_other_moves(played) for played in (one, other)]
    for first, second in zip(*frames, strict=False):
        if first != second:
            pairs = enumerate(zip(first, second, strict=False))
            same = next((at for at, (one_, other_) in pairs if one_ != other_), min(len(first), len(second)))
            shown = " and ".join(repr(frame[max(0, same - 30) :][:60]) for frame in (first, second))
            raise Broken(f"expected the same bytes, got: {shown}")
    if len(frames[0]) != len(frames[1]):
        raise Broken(f"expected as many messages, got: {len(frames[0])} and {len(frames[1])}")
    return f"{len(frames[0])} messages, {sum(map(len, frames[0])):,} bytes"


def _before_the_other_moves(played: Played) -> list[bytes]:
    """Returns what the first bot was sent up to its first turn, without what differs from deal to deal."""
    game = played.of_bot(0)[0].games()[0]
    start = game[0].message
    if start["seat"] != 0:
        raise NotTried("the first bot was not in seat 0")
    frames = []
    for entry in game:
        if entry.kind == "in":
            frame = entry.frames[0].replace(start["commitment"].encode(), b"").replace(_seed(start["bot_seed"]), b"")
            frames.append(frame if entry is not game[0] else frame[: frame.find(b"bot_seed")])
            if entry.message.get("kind") == "turn":
                return frames
    raise NotTried("the bot had no turn")


def _seed(number: int) -> bytes:
    return bytes(msgpack.packb(number))


@duty(
    "secrets.view",
    "tells in events all that the view shows",
    "§8.5-3",
    runs=["samurai", "gardener", "face-down", "again", "race"],
)
def views(world: World, *runs: Played) -> str:
    """Adds up the events, and compares the result with each view."""
    number = 0
    for session in (session for played in runs for session in played.sessions):
        if not {"view", "events"} <= {*session.part.want}:
            continue
        for game in session.games():
            start = game[0].message
            known = (Samurai if start["rules"] == "samurai" else Gardener)(start)
            for entry in game:
                if entry.of("request"):
                    for event in entry.message["events"]:
                        known.add(event)
                    for key, value in known.view().items():
                        shown = entry.message["view"][key]
                        if shown != value:
                            raise Broken(f"expected {key} {value} by events, got in view: {shown}", session, entry)
                    number += 1
    return f"{number:,} views"


class Samurai:
    """What the events of a game of Samurai have told a seat (rules/samurai.md)."""

    def __init__(self, start: dict[str, Any]) -> None:
        """Begins with the board."""
        seats = start["seats"]
        room = {"village": 1, "city": 2, "edo": 3}
        each = sum(room.get(space["kind"], 0) for space in start["board"]["spaces"]) // 3
        self._seat = start["seat"]
        self._supply = dict.fromkeys(("buddha", "rice", "castle"), each)
        self._pieces: dict[str, set[int]] = {caste: set() for caste in self._supply}
        for number, space in enumerate(start["board"]["spaces"]):
            if space["kind"] == "edo":
                for caste in self._supply:
                    self._supply[caste] -= 1
                    self._pieces[caste].add(number)
        self._tiles: dict[int, tuple[int, str]] = {}
        self._hand: Counter[str] = Counter()
        self._hands = [0] * seats
        self._stacks = [20] * seats
        self._aside = dict.fromkeys(self._supply, 0)
        self._forfeited: set[int] = set()
        self._switched: set[int] = set()
        self._turn = 0

    def add(self, event: dict[str, Any]) -> None:
        """Adds what an event says."""
        seat, caste, space = event.get("seat"), event.get("caste"), event.get("space")
        match event["event"]:
            case "hand":
                self._hands[event["seat"]] += event["count"]
                self._stacks[event["seat"]] -= event["count"]
                self._hand.update(event.get("tiles", ()))
            case "piece":
                self._supply[event["caste"]] -= 1
                self._pieces[event["caste"]].add(event["space"])
            case "turn":
                self._turn = event["turn"]
            case "placed":
                self._tiles[event["space"]] = (event["seat"], event["tile"])
                self._leaves(event["seat"], event["tile"])
            case "moved":
                self._tiles[event["to"]] = (event["seat"], event["tile"])
                self._tiles[event["from"]] = (event["seat"], "move")
                self._leaves(event["seat"], "move")
            case "switched":
                self._pieces[event["caste"]].discard(event["space"])
                self._pieces[event["with_caste"]].discard(event["with"])
                self._pieces[event["caste"]].add(event["with"])
                self._pieces[event["with_caste"]].add(event["space"])
                self._switched.add(event["seat"])
                self._leaves(event["seat"], "switch")
            case "captured" | "set_aside":
                self._pieces[str(caste)].discard(int(space or 0))
                if event["event"] == "set_aside":
                    self._aside[str(caste)] += 1
            case "forfeited":
                self._forfeited.add(int(seat or 0))

    def _leaves(self, seat: int, tile: str) -> None:
        self._hands[seat] -= 1
        if seat == self._seat:
            self._hand[tile] -= 1

    def view(self) -> dict[str, Any]:
        """Returns the fields of the view that follow."""
        tile_order = [f"{caste}{value}" for caste in self._supply for value in (2, 3, 4)]
        tile_order += ["samurai1", "samurai2", "samurai3", "ship1", "ship2", "ronin1", "switch", "move"]
        return {
            "turn": self._turn,
            "pieces": {caste: sorted(spaces) for caste, spaces in self._pieces.items()},
            "supply": self._supply,
            "tiles": [[space, *self._tiles[space]] for space in sorted(self._tiles)],
            "hand": [tile for tile in tile_order for _ in range(self._hand[tile])],
            "hands": self._hands,
            "stacks": self._stacks,
            "switch_used": sorted(self._switched),
            "set_aside": self._aside,
            "forfeited": sorted(self._forfeited),
        }


class Gardener:
    """What the events of a game of Samurai Gardener have told a seat (rules/gardener.md)."""

    def __init__(self, start: dict[str, Any]) -> None:
        """Begins with the whole deck."""
        seats = start["seats"]
        kinds = ["tatami", "path", "pond", "garden"]
        self._view: dict[str, Any] = {
            "round": 0, "starter": 0, "deck": len(start["board"]["cards"]), "next": None, "offer": [],
            "taken": [None] * seats, "gardens": [[] for _ in range(seats)], "rows": [[] for _ in range(seats)],
            "features": [list(kinds) for _ in range(seats)], "scores": [0] * seats, "forfeited": [],
        }  # fmt: skip

    def add(self, event: dict[str, Any]) -> None:
        """Adds what an event says."""
        view, seat = self._view, event.get("seat", 0)
        match event["event"]:
            case "garden":
                self._deal()
                view["gardens"][seat].append([event["card"], 0, 0, False])
            case "round":
                seats = len(view["scores"])
                view |= {"round": event["round"], "starter": event["starter"], "offer": [], "taken": [None] * seats}
                view["rows"] = [[] for _ in range(seats)]
            case "next":
                view["next"] = event["card"]
            case "turned_up":
                self._deal()
                view["offer"] = sorted([*view["offer"], event["card"]])
            case "seized":
                view["offer"].remove(event["card"])
                view["taken"][seat] = event["card"]
            case "planted":
                view["taken"][seat] = None
                view["gardens"][seat].append([event["card"], *event["at"], event["turned"]])
                view["rows"][seat] = event["rows"]
            case "scored":
                view["rows"][seat] = [row for row in view["rows"][seat] if row != event["row"]]
                view["scores"][seat] += event["points"]
                view["features"][seat] = event["features"]
            case "bonus":
                view["scores"][seat] += event["points"]
            case "forfeited":
                view["forfeited"] = sorted([*view["forfeited"], seat])
                view["taken"][seat] = None

    def _deal(self) -> None:
        self._view["deck"] -= 1
        self._view["next"] = None

    def view(self) -> dict[str, Any]:
        """Returns the fields of the view that follow."""
        return self._view


# --------------------------------------------------------------------------------------------------------------------
# The report
# --------------------------------------------------------------------------------------------------------------------

SECTIONS = ("start", "ready", "frames", "fields", "session", "messages", "action", "time", "secrets", "untried")
UNTRIED = {
    "§4.1-6": "only a bot that breaks the rule itself could show that a routing id has a meaning",
    "§4.1-3": "a bot that reads nothing would have to be sent more than a game has",
    "§9-11": "whether the clock is on is the operator's choice",
    "§9-10": "a limit of CPU time is the operator's choice, and what a bot uses is known to the referee alone",
    "§9-7": "what the referee has ready before it sends the first request cannot be seen from outside",
    "§12-3": "that nobody can derive the secret cannot be shown by playing",
}
"""Duties of a referee that no dialogue can show, and why."""


def judge(check: Check, world: World, again: int = 2) -> Result:
    """Returns what becomes of a check. What may be the machine's fault is played so often again."""
    runs = [world.played[name] for name in check.runs if name in world.played]
    result = Result(check.id, check.title, check.spec, "not tried", "")
    problems = [played.problem for played in runs if played.problem]
    if problems and (len(problems) == len(runs) or len(runs) <= 3):
        return replace(result, seen=problems[0])
    try:
        seen = check.judge(world, *(played for played in runs if not played.problem))
    except NotTried as reason:
        return replace(result, seen=str(reason))
    except Broken as broken:
        if isinstance(broken, Untimely) and again:
            world.replay(check.runs)
            return judge(check, world, again - 1)
        return replace(result, verdict="broken", seen=str(broken), run=broken.run, evidence=broken.evidence)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        return replace(result, verdict="broken", seen=f"expected messages as the tables say, got: {error!r}")
    return replace(result, verdict="kept", seen=seen)


def lines_of(results: list[Result], command: str, seconds: float) -> Iterator[str]:
    """Yields the report for people."""
    yield f"referee: {command}"
    for section in SECTIONS:
        own = [result for result in results if result.id.partition(".")[0] == section]
        if own:
            yield ""
            yield section
        for result in own:
            spec = result.spec[0] + (f" +{len(result.spec) - 1}" if len(result.spec) > 1 else "")
            seen = [result.seen] if result.seen and result.verdict != "broken" else []
            yield f"  {result.verdict:<11}{spec:<12}{': '.join(filter(None, [result.title, *seen]))}"
    for result in results:
        if result.verdict == "broken":
            yield ""
            yield f"broken {result.id}: {result.title} ({', '.join(result.spec)})"
            yield f"  {result.seen}"
            if result.evidence:
                yield f"  In the dialogue {result.run}:"
                yield from (f"    {line}" for line in result.evidence)
    yield ""
    counts = Counter(result.verdict for result in results)
    yield f"{', '.join(f'{number} {verdict}' for verdict, number in counts.items())}, in {seconds:.1f} s."
    broken = sorted({number for result in results if result.verdict == "broken" for number in result.spec}, key=_order)
    if broken:
        yield f"Not kept, or not in every dialogue: {', '.join(broken)}"


def _order(number: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", number)]


def options(arguments: list[str]) -> argparse.Namespace:
    """Reads the command line."""
    import argparse

    text = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="check_referee.py", description=text[0], epilog=text[2], usage="%(prog)s [options] -- COMMAND",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="the checks to make: time.*, secrets.worlds")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2), help="commands at a time")
    parser.add_argument("--tolerance-ms", type=int, default=250, help="how much later a referee may be (default: 250)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write bots, and what they saw, into a new folder")
    parser.add_argument("--list", action="store_true", help="list the checks, and make none")
    parser.add_argument("command", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Makes the check. Returns the exit status."""
    import fnmatch
    import tempfile

    chosen = options(arguments)
    checks = [
        check for check in CHECKS if not chosen.only or any(fnmatch.fnmatch(check.id, only) for only in chosen.only)
    ]
    if chosen.list:
        for check in checks:
            print(f"{check.id:<22}{check.title} ({', '.join(check.spec)})")
        return 0
    if not chosen.command or not checks or not re.search(r"\{bots?\}", " ".join(chosen.command)):
        wanted = f"checks among {', '.join(SECTIONS)}" if not checks else "a command with {bot} or {bots} after --"
        print(f"expected {wanted}, got: {' '.join(chosen.only or chosen.command) or 'none'}", file=sys.stderr)
        return 2
    # A shell may have told this process to ignore SIGINT, and then the command would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="referee-") as folder:
        (place := (chosen.keep or Path(folder)).resolve()).mkdir(parents=True, exist_ok=not chosen.keep)
        world = play_all(chosen, checks, place)
        results = [judge(check, world) for check in checks]
    if not chosen.only:
        results += [Result(f"untried.{number}", "", (number,), "not tried", why) for number, why in UNTRIED.items()]
    seconds, command = time.monotonic() - began, " ".join(chosen.command)
    if chosen.json:
        counts = Counter(result.verdict for result in results)
        document = {
            "referee": command,
            "protocol": PROTOCOL,
            "seconds": round(seconds, 1),
            "counts": counts,
            "results": [asdict(result) for result in results],
        }
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        print("\n".join(lines_of(results, command, seconds)))
    if any(result.verdict == "broken" for result in results):
        return 1
    return 0 if any(result.verdict == "kept" for result in results) else 2


def play_all(chosen: argparse.Namespace, checks: list[Check], folder: Path) -> World:
    """Runs every command that the checks need: those about time one after another, then the others side by side."""
    import tomllib
    from concurrent.futures import ThreadPoolExecutor

    needed = {name for check in checks for name in check.runs}
    theatre = Theatre(chosen.command, folder)
    runs = [(name, run) for name, run in RUNS.items() if name in needed]
    played = {name: theatre.play(name, run) for name, run in runs if run.alone}
    with ThreadPoolExecutor(chosen.jobs) as pool:
        played |= {
            done.name: done for done in pool.map(lambda item: theatre.play(*item), [r for r in runs if not r[1].alone])
        }

    def replay(names: Iterable[str]) -> None:
        (inner := folder / f"again{len([*folder.glob('again*')])}").mkdir()
        played.update((name, Theatre(chosen.command, inner).play(name, RUNS[name])) for name in names)

    tables = Path(__file__).parent / "messages.toml"
    fields = tomllib.loads(tables.read_text(encoding="utf-8"))["messages"] if tables.exists() else None
    return World(played, fields, chosen.tolerance_ms, replay)


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(141)  # nobody reads on, as after `| head`: that of a program which SIGPIPE ends
    sys.exit(status)
