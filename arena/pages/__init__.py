"""Games, tournaments and leagues as pages for a browser, and a person in a seat."""

from __future__ import annotations

from arena.core.face import plugs

WING = plugs.Wing(
    page="arena.pages.game_page:game_page",
    plot="arena.pages.plots:plot_of_standings",
    live="arena.pages.commands.live:live_board",
    commands={
        "play": plugs.Command("Play", 5, "Play against bots yourself, at the terminal or in a browser."),
        "watch": plugs.Command("Look", 1, "Show what is played now: standings, running games, results."),
        "site": plugs.Command("Look", 8, "Write pages of tournaments, for any browser, without a server."),
    },
)
