"""What programs and authors learn from games: analyses, tuning, tables, environments."""

from __future__ import annotations

from arena.core.face import plugs

WING = plugs.Wing(
    formats={"tune": "arena.learn.tune.format:Tune"},
    commands={
        "tune": plugs.Command("Play", 4, "Find better values for a bot's parameters, and prove them."),
        "analyse": plugs.Command("Look", 6, "Say which decisions of a game cost most, and what was better."),
        "export": plugs.Command("Look", 9, "Write the decisions of games as a table, to learn from."),
    },
)
