"""The client of an arena bot, in one file. It needs pyzmq and msgpack, and nothing else.

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

Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves many games.

In every game `request["legal"]` is a list of products: maps that give, for each key of a play, the values it may have.
They are a list to choose one from, or a map {"choose": n, "of": [...]} to choose n from. The action is always a map
{"plays": [...]}; each play has a chosen value for each key of one product. One play is always enough.
"""

import os
import sys

import msgpack
import zmq

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
    return msgpack.packb(message)


def decode(frame):
    """Returns the message in a frame.

    Raises:
        ValueError: The frame is not one msgpack map with a type.
    """
    try:
        message = msgpack.unpackb(frame)
    except ValueError:
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(f"expected one msgpack map with a type in each frame, got: {len(frame)} bytes that are none")
    return message


def cut(text, size):
    """Returns the beginning of a text, at most `size` bytes of UTF-8."""
    return text.encode()[:size].decode(errors="ignore")


class _Socket(zmq.Socket):
    """A socket that only the end of the process closes.

    So the referee finds that the process of a bot that crashes has ended. If Python closed the socket a moment earlier,
    the referee would find a lost connection first, and would not know that the bot crashed.
    """

    def __del__(self):
        pass


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
    # This context lasts as long as the process: to delete it would mean to wait until its socket is closed.
    socket = zmq.Context.instance().socket(zmq.DEALER, socket_class=_Socket)
    socket.linger = 0
    socket.connect(endpoint)
    socket.send(encode(hello(bot, token)))
    max_note = 1024
    while True:
        try:
            message = decode(socket.recv())
        except ValueError as error:
            sys.exit(str(error))
        kind = message["type"]
        if kind == "request":
            answer = bot.decide(message)
            action, note = answer if isinstance(answer, tuple) else (answer, None)
            fields = {"type": "action", "id": message["id"], "action": action}
            socket.send(encode(fields if note is None else fields | {"note": cut(note, max_note)}))
        elif kind == "game_start":
            try:
                bot.start(message)
            except CannotPlay as reason:
                socket.send(encode({"type": "error", "code": "x_cannot_play", "message": str(reason)[:4096]}))
                continue
            socket.send(encode({"type": "ready", "game": message["game"]}))
        elif kind == "game_over":
            bot.over(message)
        elif kind == "welcome":
            max_note = message["max_note"]
        elif kind == "error":
            sys.exit(f"referee: {message['code']}: {message.get('message', '')}")
        elif kind == "goodbye":
            return
        # Any other type belongs to a later version of the protocol, and is ignored.
