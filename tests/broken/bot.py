"""A bot that breaks one rule: `bot.py RULE`; without one it keeps all of them, SHOULDs too.

It plays any game, the first legal play of each request. What RULE may be is the names of the functions below that
are marked with `@rule`; each says what it does in its docstring.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from random import SystemRandom
from typing import Any

import msgpack
import zmq

Message = dict[str, Any]
RULES: dict[str, Callable[[Bot], None]] = {}  # by name: what makes a sound bot break the rule


class Bot:
    """A sound bot, made of parts that a rule replaces."""

    def __init__(self) -> None:
        self.endpoint = os.environ["ARENA_ENDPOINT"]
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.games = 0
        self.game: Message = {}
        self.kept: list[Any] = []
        self.pack: Callable[[Message], bytes] = msgpack.packb
        self.unpack: Callable[[bytes], Message] = msgpack.unpackb
        self.hello: Message = {
            "type": "hello",
            "token": os.environ["ARENA_TOKEN"],
            "protocol": "1.0",
            "name": "broken",
            "want": ["legal"],
        }
        self.decide: Callable[[Message], Message] = first_legal

    def run(self) -> None:
        self.greet()
        while True:
            message = self.unpack(self.socket.recv())
            getattr(self, f"on_{message['type']}", self.on_unknown)(message)

    def greet(self) -> None:
        self.socket.connect(self.endpoint)
        self.send(self.hello)

    def send(self, message: Message) -> None:
        self.post(self.pack(message))

    def post(self, frame: bytes) -> None:
        self.socket.send(frame)

    def on_unknown(self, message: Message) -> None:
        pass

    def on_welcome(self, message: Message) -> None:
        pass

    def on_game_start(self, message: Message) -> None:
        self.games += 1
        self.game = message
        self.ready({"type": "ready", "game": message["game"]})

    def ready(self, message: Message) -> None:
        self.send(message)

    def on_request(self, message: Message) -> None:
        self.answer({"type": "action", "id": message["id"], "action": self.decide(message)})

    def answer(self, message: Message) -> None:
        self.send(message)

    def on_game_over(self, message: Message) -> None:
        pass

    def on_error(self, message: Message) -> None:
        print(message["code"], message.get("message"), file=sys.stderr, flush=True)
        raise SystemExit(1)

    def on_goodbye(self, message: Message) -> None:
        self.leave(0)

    def leave(self, status: int) -> None:
        self.context.destroy(linger=500)
        sys.stdout.flush()
        os._exit(status)


def first_legal(request: Message) -> Message:
    return {"plays": [{key: first(values) for key, values in request["legal"][0].items()}]}


def first(values: Any) -> Any:
    """The first of some values; several where the request says so."""
    return values["of"][: values["choose"]] if isinstance(values, dict) else values[0]


def rule(change: Callable[[Bot], None]) -> Callable[[Bot], None]:
    RULES[change.__name__] = change
    return change


def after(bot: Bot, part: str, then: Callable[[Message], None]) -> None:
    """Do something after a part of the bot has done its own."""
    own = getattr(bot, part)

    def both(message: Message) -> None:
        own(message)
        then(message)

    setattr(bot, part, both)


def before(bot: Bot, part: str, change: Callable[[Message], Message | None]) -> None:
    """Change what a part of the bot is given; None keeps it."""
    own = getattr(bot, part)
    setattr(bot, part, lambda message: own(change(message) or message))


def hang() -> None:
    time.sleep(1000)


# The start


@rule
def unwell(bot: Bot) -> None:
    """Cannot even be started properly: dies before hello."""
    bot.greet = lambda: bot.leave(4)


@rule
def mute(bot: Bot) -> None:
    """Never says hello."""
    bot.greet = hang


@rule
def wrong_token(bot: Bot) -> None:
    """Says hello with a token of its own."""
    bot.hello["token"] = "00"


@rule
def new_version(bot: Bot) -> None:
    """Speaks version 2."""
    bot.hello["protocol"] = "2.0"


@rule
def ready_first(bot: Bot) -> None:
    """Does not begin with hello."""
    bot.hello = {"type": "ready", "game": 1}


@rule
def hello_twice(bot: Bot) -> None:
    """Says hello again after welcome."""
    after(bot, "on_welcome", lambda _: bot.send(bot.hello))


@rule
def no_tcp(bot: Bot) -> None:
    """Knows only endpoints that are files."""
    own = bot.greet
    bot.greet = lambda: own() if bot.endpoint.startswith("ipc://") else bot.leave(5)


@rule
def home(bot: Bot) -> None:
    """Needs a variable that nobody promised."""
    bot.kept.append(os.environ["HOME"])


@rule
def exact_version(bot: Bot) -> None:
    """Accepts no other minor version."""
    after(bot, "on_welcome", lambda message: None if message["protocol"] == "1.0" else bot.leave(6))


@rule
def typo(bot: Bot) -> None:
    """Wants what does not exist, which breaks no rule."""
    bot.hello["want"].append("lega")


# Frames


@rule
def two_parts(bot: Bot) -> None:
    """Sends each message with an empty frame before it, as REQ sockets do."""
    bot.post = lambda frame: bot.socket.send_multipart([b"", frame])


@rule
def trailing(bot: Bot) -> None:
    """Ends each frame with a line feed."""
    own = bot.pack
    bot.pack = lambda message: own(message) + b"\n"


@rule
def array(bot: Bot) -> None:
    """Sends its actions as arrays."""
    bot.answer = lambda message: bot.post(msgpack.packb(list(message.values())))


@rule
def oversized(bot: Bot) -> None:
    """Sends actions that are too long."""
    before(bot, "answer", lambda message: message | {"pad": "x" * 70_000})


@rule
def number_keys(bot: Bot) -> None:
    """Has a key that is no string."""
    before(bot, "answer", lambda message: message | {7: 7})


@rule
def repeated_key(bot: Bot) -> None:
    """Writes the id twice."""
    own = bot.pack

    def pack(message: Message) -> bytes:
        frame = own(message)
        return bytes([frame[0] + 1]) + frame[1:] + own("id") + own(message["id"]) if "id" in message else frame

    bot.pack = pack


@rule
def floats(bot: Bot) -> None:
    """Sends the id as a float."""
    before(bot, "answer", lambda message: message | {"id": float(message["id"])})


@rule
def binary(bot: Bot) -> None:
    """Packs strings as binary."""
    before(bot, "answer", lambda message: message | {"note": b"thinking"})


@rule
def timestamp(bot: Bot) -> None:
    """Sends an extension type."""
    before(bot, "answer", lambda message: message | {"when": msgpack.Timestamp(1, 2)})


@rule
def no_type(bot: Bot) -> None:
    """Forgets the type."""
    before(bot, "answer", lambda message: {key: value for key, value in message.items() if key != "type"})


@rule
def missing_field(bot: Bot) -> None:
    """Sends ready without its number."""
    before(bot, "ready", lambda _: {"type": "ready"})


@rule
def echo(bot: Bot) -> None:
    """Sends back a message that only the referee sends."""
    bot.on_game_start = bot.send


@rule
def long_note(bot: Bot) -> None:
    """Thinks too loud."""
    before(bot, "answer", lambda message: message | {"note": "x" * 1_025})


@rule
def type_last(bot: Bot) -> None:
    """Writes the type last (a SHOULD)."""
    own = bot.pack
    bot.pack = lambda message: own(dict(reversed(message.items())))


# The session


@rule
def wrong_game(bot: Bot) -> None:
    """Counts games from 0."""
    before(bot, "ready", lambda message: message | {"game": message["game"] + 1})


@rule
def never_ready(bot: Bot) -> None:
    """Never gets ready."""
    bot.ready = lambda _: None


@rule
def never_answers(bot: Bot) -> None:
    """Never answers."""
    bot.answer = lambda _: None


@rule
def wrong_id(bot: Bot) -> None:
    """Has ids of its own."""
    before(bot, "answer", lambda message: message | {"id": message["id"] + 1_000})


@rule
def two_answers(bot: Bot) -> None:
    """Says everything twice."""
    after(bot, "answer", lambda message: bot.send(message))


@rule
def unasked(bot: Bot) -> None:
    """Acts before it is asked."""
    after(bot, "ready", lambda _: bot.send({"type": "action", "id": 1, "action": {}}))


@rule
def named(bot: Bot) -> None:
    """Sets a routing id."""
    bot.socket.routing_id = b"ronin"


@rule
def declines(bot: Bot) -> None:
    """Says an error instead of ready."""
    bot.ready = lambda _: bot.send({"type": "error", "code": "x_unknown_rules"})


@rule
def specialist(bot: Bot) -> None:
    """Names other rules in its hello than in its manifest."""
    bot.hello["rules"] = [{"name": "samurai", "versions": [99]}]


@rule
def reconnects(bot: Bot) -> None:
    """Connects again for every game."""

    def again(_: Message) -> None:
        bot.socket.close(0)
        bot.socket = bot.context.socket(zmq.DEALER)
        bot.greet()

    bot.on_game_over = again


@rule
def disconnects(bot: Bot) -> None:
    """Closes its connection after a game, and lives on."""

    def close(_: Message) -> None:
        bot.socket.close(0)
        hang()

    bot.on_game_over = close


@rule
def chatters(bot: Bot) -> None:
    """Sends a thousand remarks before it answers."""
    before(bot, "answer", lambda _: [bot.send({"type": "error", "code": "x_thinking"}) for _ in range(1_000)] and None)


# Decisions


@rule
def illegal(bot: Bot) -> None:
    """Plays where it may not."""
    bot.decide = lambda request: (
        {"plays": [{"tile": "rice4", "space": 255}]} if request["kind"] == "turn" else first_legal(request)
    )


@rule
def malformed(bot: Bot) -> None:
    """Misunderstands the form of an action."""
    bot.decide = lambda request: {"tiles": []} if request["kind"] == "hand" else first_legal(request)


@rule
def no_setup(bot: Bot) -> None:
    """Answers one kind of decision with nothing."""
    bot.decide = lambda request: {} if request["kind"] == "setup" else first_legal(request)


@rule
def unsupported(bot: Bot) -> None:
    """Says of one kind of decision that it cannot take it."""
    own = bot.on_request

    def request(message: Message) -> None:
        if message["kind"] == "score":
            bot.send({"type": "error", "code": "x_unsupported", "message": "no idea how to score"})
        else:
            own(message)

    bot.on_request = request


@rule
def misruled(bot: Bot) -> None:
    """Gets one ruleset wrong."""
    bot.decide = lambda request: (
        {"plays": [{"tile": "rice4", "space": 255}]}
        if bot.game["ruleset"] == "summary" and request["kind"] == "turn"
        else first_legal(request)
    )


@rule
def duel_only(bot: Bot) -> None:
    """Cannot sit in the last seat of four."""
    before(bot, "on_game_start", lambda message: bot.leave(8) if message["seat"] == 3 else None)


@rule
def sore_loser(bot: Bot) -> None:
    """Asks for the same card again when another was faster."""
    taken: list[Message] = []

    def decide(request: Message) -> Message:
        action = taken[-1] if taken and request["kind"] == "seize" else first_legal(request)
        taken[:] = [action] if request["kind"] == "seize" and bot.game["options"].get("seize") == "race" else []
        return action

    bot.decide = decide


# Sequences


@rule
def second_game(bot: Bot) -> None:
    """Dies in the second game of a session."""
    before(bot, "on_request", lambda message: bot.leave(9) if bot.games >= 2 else None)


@rule
def leaver(bot: Bot) -> None:
    """Leaves when a game is called off while it thinks for the first time."""
    asked: list[int] = []

    def think(message: Message) -> None:
        asked.append(bot.games)
        if asked.count(bot.games) > 1 or not bot.socket.poll(50):
            return
        next_one = msgpack.unpackb(bot.socket.recv())  # of an unknown type, unless it is one of these
        if next_one["type"] == "game_over":
            bot.leave(0)
        if next_one["type"] == "error":
            sys.exit(next_one["message"])

    before(bot, "on_request", think)


@rule
def dice(bot: Bot) -> None:
    """Plays by chance of its own (a SHOULD)."""
    dice_within(bot, 10**9)


@rule
def hurried(bot: Bot) -> None:
    """Plays by chance where it has little time, as one does that the clock cuts short on a busy machine."""
    dice_within(bot, 250)


def dice_within(bot: Bot, most_ms: int) -> None:
    def decide(request: Message) -> Message:
        if request["kind"] == "hand" and request["clock"]["limit_ms"] <= most_ms:
            tiles = request["legal"][0]["hand"]
            return {"plays": [{"hand": SystemRandom().sample(tiles["of"], tiles["choose"])}]}
        return first_legal(request)

    bot.decide = decide


# Tolerance


@rule
def strict_fields(bot: Bot) -> None:
    """Takes no field that it does not know."""

    def check(message: Message) -> None:
        known = {"type", "id", "kind", "clock", "view", "events", "legal"}
        if not {*message} <= known:
            raise SystemExit("unknown field")

    before(bot, "on_request", check)


@rule
def strict_messages(bot: Bot) -> None:
    """Dies of a message that it does not know."""
    bot.on_unknown = lambda message: bot.leave(10)


@rule
def obliging(bot: Bot) -> None:
    """Answers messages that it does not know."""
    bot.on_unknown = lambda message: bot.send({"type": "action", "id": 1, "action": {}})


@rule
def type_first(bot: Bot) -> None:
    """Reads the type from where it usually stands."""

    def unpack(frame: bytes) -> Message:
        message = msgpack.unpackb(frame)
        return message if next(iter(message)) in ("type", "a_first") else {"type": "x_none"}

    bot.unpack = unpack


@rule
def short_integers(bot: Bot) -> None:
    """Reads no integer of eight bytes but for bot_seed."""

    def unpack(frame: bytes) -> Message:
        if b"\xa2id\xd3" in frame or b"\xa2id\xcf" in frame or b"\xa4game\xd3" in frame or b"\xa4game\xcf" in frame:
            raise SystemExit("too long")
        return msgpack.unpackb(frame)

    bot.unpack = unpack


@rule
def small_buffer(bot: Bot) -> None:
    """Drops dead when a message is longer than its buffer."""
    own = bot.unpack
    bot.unpack = lambda frame: own(frame) if len(frame) <= 2**19 else bot.leave(11)


@rule
def small_seed(bot: Bot) -> None:
    """Keeps the seed in 32 bits."""
    before(bot, "on_game_start", lambda message: None if message["bot_seed"] < 2**32 else bot.leave(12))


# Limits


@rule
def slow(bot: Bot) -> None:
    """Takes its time for each turn, whatever it has."""
    before(bot, "on_request", lambda message: time.sleep(0.3) if message["kind"] == "turn" else None)


@rule
def wasteful(bot: Bot) -> None:
    """Takes the same time for each decision where there is a bank, whatever is left."""
    before(bot, "on_request", lambda message: time.sleep(0.12 if message["clock"]["bank_ms"] is not None else 0))


@rule
def greedy_of_memory(bot: Bot) -> None:
    """Uses ever more memory."""
    before(bot, "on_request", lambda _: bot.kept.append(b"x" * 2**23))


@rule
def floods(bot: Bot) -> None:
    """Prints masses (a SHOULD)."""
    before(bot, "on_request", lambda _: os.write(1, b"thinking " * 2_000) and None)


# The end


@rule
def stays(bot: Bot) -> None:
    """Ignores goodbye."""
    bot.on_goodbye = lambda _: None


@rule
def status(bot: Bot) -> None:
    """Ends with status 3."""
    bot.on_goodbye = lambda _: bot.leave(3)


@rule
def needs_welcome(bot: Bot) -> None:
    """Does not understand a goodbye before welcome."""
    own = bot.on_goodbye
    bot.on_goodbye = lambda _: bot.leave(13)
    before(bot, "on_welcome", lambda _: setattr(bot, "on_goodbye", own))


@rule
def stoic(bot: Bot) -> None:
    """Keeps errors to itself (a SHOULD)."""
    bot.on_error = lambda _: None


if __name__ == "__main__":
    sound = Bot()
    for name in sys.argv[1:]:
        RULES[name](sound)
    sound.run()
