"""The client of an arena bot, in one file. It needs nothing but Python; with msgpack it reads and writes faster.

Copy it beside your bot, subclass `Bot`, override `decide`, and call `run`::

    from arena_bot import Bot, run

    class First(Bot):
        want = ("legal",)  # takes the first legal play of every request, in any game

        def decide(self, request):
            product = request["legal"][0]
            return {"plays": [{key: first(values) for key, values in product.items()}]}

    def first(values):
        if isinstance(values, dict):  # choose several
            return values["of"][: values["choose"]]
        return values[0]  # choose one

    run(First())

The referee starts the bot as a process with two environment variables, ARENA_ENDPOINT and ARENA_TOKEN. Then:

    bot       hello                                       action    ready   (one answer to each)
    referee          welcome   game_start   request ...          ...       game_over   ...   goodbye

Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves many games. The client
speaks ZMTP, ZeroMQ's own protocol, by itself: with a ZeroMQ library a bot starts in three times the time.

In every game `request["legal"]` is a list of products: maps that give, for each key of a play, the values it may have.
They are a list to choose one from, or a map {"choose": n, "of": [...]} to choose n from. The action is always a map
{"plays": [...]}; each play has a chosen value for each key of one product. One play is always enough.
"""

import os
import socket
import sys

try:
    import msgpack
except ImportError:
    msgpack = None

PROTOCOL = "1.0"


class Bot:
    """What a bot does. Override `decide`; the rest as you need it."""

    name = ""
    version = ""
    want = ("view", "legal")
    """What each request shall carry: any of "view", "events", "legal". The less, the faster. Or a dict of that by the
    name of the rules, if it differs."""
    rules = ()
    """The rules it plays, as pairs of name and version: ("samurai", 1). Empty: whatever it is asked to play."""
    receipts = ""
    """A file to which a line is added for each game that is over, for `arena verify --receipts`: by it the log can be
    held to what this bot saw and did. Empty: none. Only a bot that wants "events" can compute it by itself."""
    entropy = False
    """Whether it contributes to the deals; its manifest must say `entropy = true`."""

    def start(self, game):
        """Begins a game. `game` is the `game_start` message: rules, options, seat, seats, board, bot_seed, ...

        Raises:
            CannotPlay: It does not play this game.
        """

    def decide(self, request):
        """Answers a request: returns the action, {"plays": [...]}, or a pair (action, note).

        `request` has the `kind` of decision, the `clock`, and what `want` asks for. The note is a short text of what
        the bot was thinking, or None. It is kept in the log; no opponent sees it during the game.
        """
        raise NotImplementedError

    def over(self, result):
        """Ends a game. `result` is the `game_over` message: termination, ranks, forfeits."""


class CannotPlay(Exception):
    """The bot does not play a game that begins; the text says why. Its seat forfeits, and nobody waits."""


def encode(message):
    """Returns the frame of a message."""
    return msgpack.packb(message) if msgpack else bytes(_packed(message))


def decode(frame):
    """Returns the message in a frame.

    Raises:
        ValueError: The frame is not one msgpack map with a type.
    """
    try:
        message = msgpack.unpackb(frame) if msgpack else _unpacked(frame)
    except (ValueError, IndexError, RecursionError):
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(f"expected one msgpack map with a type in each frame, got: {len(frame)} bytes that are none")
    return message


_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_INTEGERS = {0xCC: (1, False), 0xCD: (2, False), 0xCE: (4, False), 0xCF: (8, False)}
_INTEGERS |= {0xD0: (1, True), 0xD1: (2, True), 0xD2: (4, True), 0xD3: (8, True)}
"""By first byte of an integer: how many bytes follow, and whether it has a sign."""
_SIZED = {0xD9: (1, str), 0xDA: (2, str), 0xDB: (4, str)}
_SIZED |= {0xDC: (2, list), 0xDD: (4, list), 0xDE: (2, dict), 0xDF: (4, dict)}
"""By first byte of a string, an array or a map: how many bytes its size has."""


def _packed(value):
    """Returns a value of the protocol in msgpack: None, a boolean, an integer, a string, a list or a map of these."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        if -32 <= value < 128:
            return bytes((value & 0xFF,))
        return b"\xd3" + value.to_bytes(8, "big", signed=True)
    if isinstance(value, str):
        text = value.encode()
        return (bytes((0xA0 | len(text),)) if len(text) < 32 else b"\xdb" + len(text).to_bytes(4, "big")) + text
    if isinstance(value, dict):
        parts = [_packed(part) for item in value.items() for part in item]
    else:
        parts = [_packed(part) for part in value]
    short, long = (0x80, b"\xdf") if isinstance(value, dict) else (0x90, b"\xdd")
    size = len(value)
    return (bytes((short | size,)) if size < 16 else long + size.to_bytes(4, "big")) + b"".join(parts)


def _unpacked(frame):
    """Returns the one value of the protocol that a frame is in msgpack.

    Raises:
        ValueError: It is none.
        IndexError: It ends too early.
    """
    at = 0

    def take(size):
        nonlocal at
        if at + size > len(frame):
            raise ValueError("it ends too early")
        at += size
        return frame[at - size : at]

    def value():
        first = take(1)[0]
        if first < 0x80:
            return first
        if first >= 0xE0:
            return first - 256
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _INTEGERS:
            size, signed = _INTEGERS[first]
            return int.from_bytes(take(size), "big", signed=signed)
        if first < 0xC0:
            kind, size = (
                (dict, first & 15) if first < 0x90 else (list, first & 15) if first < 0xA0 else (str, first & 31)
            )
        else:
            size, kind = _SIZED.get(first, (0, None))
            size = int.from_bytes(take(size), "big")
        if kind is str:
            return take(size).decode()
        if kind is list:
            return [value() for _ in range(size)]
        if kind is dict:
            return {key(): value() for _ in range(size)}
        raise ValueError("it is none of the protocol's values")

    def key():
        found = value()
        if not isinstance(found, str):
            raise ValueError("a key is no string")
        return found

    whole = value()
    if at != len(frame):
        raise ValueError("something follows it")
    return whole


def cut(text, size):
    """Returns the beginning of a text, at most `size` bytes of UTF-8."""
    return text.encode()[:size].decode(errors="ignore")


class Receipt:
    """What the bot saw and did in one game, as section 8.10 of SPEC.md digests it."""

    def __init__(self, game):
        """Begins with the `game_start` message."""
        names = ("board", "bot_seed", "options", "rules", "rules_version", "ruleset", "seat", "seats")
        self._start = {name: game.get(name) for name in names}
        self._answers, self._notes, self._events = [], [], []

    def add(self, request, answer):
        """Takes a request, and the `action` message that answers it."""
        self._tell(request)
        self._answers.append({"action": answer["action"], "kind": request["kind"]})
        self._notes.append(answer.get("note"))

    def _tell(self, message):
        if message.get("events") is None:
            self._events = None
        elif self._events is not None:
            self._events += message["events"]

    def line(self, over):
        """Returns what to keep, by the `game_over` message: the digest that was told, and the one that is computed."""
        self._tell(over)
        told = over.get("receipt") or {"digest": None, "used_ns": []}
        used, own = told["used_ns"], None  # an answer more than these has lapsed
        if self._events is not None and told["digest"] is not None:
            result = {name: over.get(name) for name in ("forfeits", "ranks", "scores", "termination")}
            result["forfeits"] = [{"code": one["code"], "seat": one["seat"]} for one in over["forfeits"]]
            answers = [self._answers[place] | {"used_ns": ns} for place, ns in enumerate(used)]
            own = _digest({"answers": answers, "events": self._events, "over": result, "start": self._start})
        notes = self._notes[: len(used)]
        return {
            "bot_seed": self._start["bot_seed"],
            "seat": self._start["seat"],
            "own": own,
            "told": told["digest"],
            "notes": None if all(note is None for note in notes) else _digest(notes),
            "termination": over["termination"],
            "ranks": over["ranks"],
        }


def _digest(value):
    """Returns the SHA-256 (hex) of a value's canonical JSON."""
    import hashlib  # not before: most bots keep no receipts, and start sooner without it
    import json

    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def keep(path, line):
    """Adds a line to the file of receipts, and complains if the referee's digest is another than the bot's own."""
    import json

    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    if line["own"] not in (None, line["told"]):
        print(f"receipt: computed {line['own']}, got: {line['told']}; kept in {path}", file=sys.stderr)


_LONG, _COMMAND = 2, 4
"""Flags of a frame of ZMTP."""


def _frame(body, flags=0):
    """Returns a frame as ZMTP sends it."""
    size = len(body)
    return (bytes((flags, size)) if size < 256 else bytes((flags | _LONG,)) + size.to_bytes(8, "big")) + body


_GREETING = b"\xff" + bytes(8) + b"\x7f\3\1" + b"NULL".ljust(20, b"\0") + bytes(32)
"""Signature, version 3.1, mechanism, and that this is a client."""
_READY = _frame(b"\5READY\x0bSocket-Type\0\0\0\6DEALER", _COMMAND)


class Connection:
    """The end of a DEALER: it sends frames to a ROUTER, and waits for the ROUTER's.

    It has the number of a socket, which only the end of the process closes. So the referee finds that the process of a
    bot that crashes has ended. If Python closed the socket a moment earlier, the referee would find a lost connection
    first, and would not know that the bot crashed.
    """

    def __init__(self, endpoint):
        """Connects to an endpoint, ipc://PATH, ipc://@NAME or tcp://HOST:PORT.

        Raises:
            OSError: Nobody listens there.
        """
        way, _, address = endpoint.partition("://")
        if way == "tcp":
            host, _, port = address.rpartition(":")
            connected = socket.create_connection((host.strip("[]"), int(port)))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            connected = socket.socket(socket.AF_UNIX)
            connected.connect("\0" + address[1:] if address.startswith("@") else address)
        self._descriptor = connected.detach()
        self._unread = b""
        self._write(_GREETING)
        if self._take(len(_GREETING))[:1] != _GREETING[:1]:
            raise ConnectionError("expected a peer that speaks ZMTP 3")
        self._write(_READY)

    def send(self, frame):
        """Sends a frame."""
        self._write(_frame(frame))

    def receive(self):
        """Returns the next frame.

        Raises:
            ConnectionError: The connection is closed.
        """
        while True:
            flags, size = self._take(2)
            if flags & _LONG:
                size = int.from_bytes(bytes((size,)) + self._take(7), "big")
            body = self._take(size)
            if not flags & _COMMAND:
                return body
            if body.startswith(b"\4PING"):  # it has a time to live, two bytes, and a context
                self._write(_frame(b"\4PONG" + body[7:], _COMMAND))

    def _take(self, size):
        """Returns the next bytes, once so many have come."""
        while len(self._unread) < size:
            read = os.read(self._descriptor, 1 << 16)
            if not read:
                raise ConnectionError("the referee has closed the connection")
            self._unread += read
        taken, self._unread = self._unread[:size], self._unread[size:]
        return taken

    def _write(self, data):
        while data:
            data = data[os.write(self._descriptor, data) :]


def hello(bot, token):
    """Returns the message with which a bot greets."""
    want = bot.want if isinstance(bot.want, dict) else list(bot.want)
    message = {"type": "hello", "token": token, "protocol": PROTOCOL, "name": bot.name, "version": bot.version}
    message["want"] = want
    if bot.rules:
        message["rules"] = [{"name": name, "versions": [version]} for name, version in bot.rules]
    if bot.entropy:
        message["entropy"] = os.urandom(32).hex()
    return message


def run(bot):
    """Plays games with `bot` until the referee says goodbye.

    Raises:
        SystemExit: The referee complains, cannot be understood, or did not start this program. Python then prints the
            reason to stderr and ends with status 1.
    """
    try:
        endpoint, token = os.environ["ARENA_ENDPOINT"], os.environ["ARENA_TOKEN"]
    except KeyError:
        sys.exit("expected ARENA_ENDPOINT and ARENA_TOKEN in the environment: arena's referee starts this program")
    try:
        connection = Connection(endpoint)
    except OSError as error:
        sys.exit(f"expected a referee at {endpoint}, got: {error}")
    connection.send(encode(hello(bot, token)))
    max_note, receipt = 1024, None
    while True:
        try:
            message = decode(connection.receive())
        except (ValueError, ConnectionError) as error:
            sys.exit(str(error))
        kind = message["type"]
        if kind == "request":
            answer = bot.decide(message)
            action, note = answer if isinstance(answer, tuple) else (answer, None)
            fields = {"type": "action", "id": message["id"], "action": action}
            fields |= {} if note is None else {"note": cut(note, max_note)}
            connection.send(encode(fields))
            if receipt:
                receipt.add(message, fields)
        elif kind == "game_start":
            try:
                bot.start(message)
            except CannotPlay as reason:
                connection.send(encode({"type": "error", "code": "x_cannot_play", "message": str(reason)[:4096]}))
                continue
            connection.send(encode({"type": "ready", "game": message["game"]}))
            receipt = Receipt(message) if bot.receipts else None
        elif kind == "game_over":
            if receipt and message["ranks"]:
                keep(bot.receipts, receipt.line(message))
            bot.over(message)
        elif kind == "welcome":
            max_note = message["max_note"]
        elif kind == "error":
            sys.exit(f"referee: {message['code']}: {message.get('message', '')}")
        elif kind == "goodbye":
            return
        # Any other type belongs to a later version of the protocol, and is ignored.
