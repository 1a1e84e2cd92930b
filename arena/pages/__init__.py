"""Games, tournaments and leagues as pages for a browser, and a person in a seat."""

from __future__ import annotations

from arena.core.plugs import Command, Wing

WING = Wing(
    page="arena.pages.game:game_page",
    plot="arena.pages.plots:plot_of_standings",
    live="arena.pages.commands.live:live_board",
    commands={
        "play": Command(
            "arena.pages.commands.play:play", "Play against bots yourself, at the terminal or in a browser.", "Play", 5
        ),
        "watch": Command(
            "arena.pages.commands.watch:watch", "Show what is played now: standings, running games, results.", "Look", 1
        ),
        "site": Command(
            "arena.pages.commands.site:site",
            "Write pages of tournaments, for any browser, without a server.",
            "Look",
            8,
        ),
    },
)
