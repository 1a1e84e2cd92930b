"""`arena play --mcp`: an agent in a seat, over the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from arena.cli.output import say
from arena.core.face import need, plain

if TYPE_CHECKING:
    from arena.pages.play.seat import Front, Table


def play_over_mcp(rules: str, set_table: Callable[[Front], Table]) -> None:
    """Serves stdin and stdout until the client closes them, or a signal comes. Says on stderr where the logs lie.

    Args:
        rules: The game that is played.
        set_table: Sets the table of each game.

    Raises:
        ConfigError: Something cannot be used. Show the message to the operator.
        KeyboardInterrupt: It was interrupted. A game that is not over has no log.
    """
    need("mcp", "--mcp")
    import asyncio

    from arena.core.face import game_worker, processor_cores
    from arena.pages.agents.mcp import Seating

    with processor_cores.local_worker() as worker:
        seating = Seating(rules, set_table, lambda job: worker.submit(game_worker.play, job))
        asyncio.run(seating.serve())
    for table, game in seating.played:
        if game.exception() is None:
            say(plain(f"The log: {table.log}"))
