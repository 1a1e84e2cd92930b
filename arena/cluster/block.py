"""The messages between a cluster and its workers: a block of games, and an answer for each of them. All is msgpack.

Both ends are of the same version of arena: a worker of another gets no block.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from arena.cluster.delivery import Delivery
from arena.core.face import Job, bot_manifests, files

ORDER: Final = "order"
"""The file with the block, in the folder of its player."""
ANSWER: Final = ".answer"
"""Suffix of the files with the answers; they begin with the game's place in the block."""
BROUGHT: Final = "brought"
"""The folder for archives that came with the block; they are called like their digests."""
GAMES: Final = "game"
"""The folder in which games are played."""

MOST_BLOCK: Final = 1024 * files.MIB
"""Bytes of a block, or of an answer."""


class Want(msgspec.Struct, frozen=True):
    """A bot that games need."""

    bot: bot_manifests.BotSpec
    """Bot as it is started where the games are ordered."""
    archive: str = ""
    """The digest of its archive; empty if it cannot travel."""
    why: str = ""


class Block(msgspec.Struct, frozen=True):
    """Games that follow each other on one worker. Their bots are the same, and confined to the same level."""

    jobs: tuple[Job, ...]
    wants: tuple[Want, ...] = ()
    """The bots; none if they are where the jobs say."""


class GameDone(msgspec.Struct, frozen=True, tag=True):
    """A game was played."""

    delivery: Delivery


class Lacking(msgspec.Struct, frozen=True, tag=True):
    """Nothing was played: the archives of these bots have to come with the block."""

    digests: tuple[str, ...]


class Failed(msgspec.Struct, frozen=True, tag=True):
    """A game could not be played, or the block not be begun."""

    reason: str
    begun: bool = True
    """Whether the block was begun; else no game of it was."""
    of_machine: bool = False
    """Whether the machine lacks something that it may have later."""
    bot: str = ""
    """The digest of the bot that cannot be started there, if that is why."""


Answer: TypeAlias = GameDone | Lacking | Failed


class BlockOutcome(msgspec.Struct, frozen=True):
    """The outcome of a block."""

    address: str
    worker: str
    answers: tuple[Answer, ...]
    """Answers by game, in order. Games without one were not finished."""
    ended: str = ""
    """End of the player in words, if not at the end of the block."""
    killed: bool = False
    """Whether it was killed from outside: nothing in a game sends SIGKILL or SIGTERM to it."""


encode = msgspec.msgpack.Encoder().encode
decode_block = msgspec.msgpack.Decoder(Block).decode
decode_answer = msgspec.msgpack.Decoder(Answer).decode
decode_outcome = msgspec.msgpack.Decoder(BlockOutcome).decode
