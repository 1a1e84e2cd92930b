"""`arena play --mcp`: an agent in a seat, over the Model Context Protocol."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from arena.cli import signals
from arena.cli.output import say
from arena.core.face import need, plain

if TYPE_CHECKING:
    from arena.pages.commands.play import Hands
    from arena.pages.play.seat import Front, Start


def play_over_mcp(rules: str, set_table: Callable[[Front], Start], hands: Hands) -> None:
    """Serves stdin and stdout until the client closes them. Says on stderr where the logs lie.

    A signal ends the process at once, as a kill does: then a game that is not over has no log.

    Args:
        rules: The game that is played.
        set_table: Sets the table of each game.
        hands: Who plays it.

    Raises:
        ConfigError: Something cannot be used.
    """
    need("mcp", "--mcp")
    import asyncio

    from arena.pages.agents.mcp import Seating

    with hands.worker() as worker:
        for number in signals.STOPPING:  # a thread of the SDK waits for stdin, which no exception ends
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _: os._exit(128 + number))
        seating = Seating(rules, set_table, lambda job: worker.submit(hands.play, job))
        asyncio.run(seating.serve())
    for table, game in seating.played:
        if game.exception() is None:
            say(plain(f"The log: {table.log}"))
