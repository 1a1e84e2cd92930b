"""The client of an arena bot, in one file. It needs pyzmq and msgpack, and nothing else.

Copy it beside your bot, subclass `Bot`, override `decide`, and call `run`::

    from arena_bot import Bot, run

    class First(Bot):
        want = ("legal",)  # takes the first legal play of every turn

        def decide(self, request):
            legal = request["legal"]
            if request["kind"] == "hand":
                return {"hand": legal["hand"][: legal["choose"]]}
            if request["kind"] == "setup":
                return first(legal["setup"])
            return {"plays": [first(legal["plays"])]}

    def first(products):
        return {key: values[0] for key, values in products[0].items()}

    run(First())

The referee starts the bot as a process with two environment variables, ARENA_ENDPOINT and ARENA_TOKEN. Then:

    bot       hello                                       action    ready   (one answer to each)
    referee          welcome   game_start   request ...          ...       game_over   ...   goodbye

Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves many games.
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
    """What each request shall carry: any of "view", "events", "legal". The less, the faster."""

    def start(self, game):
        """A game begins. `game` is the `game_start` message: rules, options, seat, seats, board, bot_seed, ..."""

    def decide(self, request):
        """Answer a request: the action, a map as the game's protocol page says, or a pair (action, note).

        `request` has the `kind` of decision, the `clock`, and what `want` asks for. The note is a short text of what
        the bot was thinking; it is kept in the log and shown to no opponent during the game.
        """
        raise NotImplementedError

    def over(self, result):
        """A game has ended. `result` is the `game_over` message: termination, ranks, forfeits."""


def encode(message):
    """The frame of a message."""
    return msgpack.packb(message)


def decode(frame):
    """The message in a frame.

    Raises:
        ValueError: It is not one msgpack map with a type.
    """
    try:
        message = msgpack.unpackb(frame)
    except ValueError:
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(f"expected one msgpack map with a type in each frame, got: {len(frame)} bytes that are none")
    return message


def cut(text, size):
    """The beginning of a text, in at most so many bytes of UTF-8."""
    return text.encode()[:size].decode(errors="ignore")


def run(bot):
    """Play games with `bot` until the referee says goodbye.

    Raises:
        SystemExit: The referee complains, cannot be understood, or did not start this program. Python then prints the
            reason to stderr and ends with status 1.
    """
    try:
        endpoint, token = os.environ["ARENA_ENDPOINT"], os.environ["ARENA_TOKEN"]
    except KeyError:
        sys.exit("expected ARENA_ENDPOINT and ARENA_TOKEN in the environment: arena's referee starts this program")
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.connect(endpoint)
        hello = {"type": "hello", "token": token, "protocol": PROTOCOL, "name": bot.name, "version": bot.version}
        socket.send(encode(hello | {"want": list(bot.want)}))
        max_note = 1024
        while True:
            try:
                message = decode(socket.recv())
            except ValueError as error:
                sys.exit(str(error))
            kind = message["type"]
            if kind == "request":
                action = bot.decide(message)
                answer = {"type": "action", "id": message["id"], "action": action}
                if isinstance(action, tuple):
                    answer["action"], note = action
                    answer["note"] = cut(note, max_note)
                socket.send(encode(answer))
            elif kind == "game_start":
                bot.start(message)
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
