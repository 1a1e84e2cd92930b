"""What programs and authors learn from games: analyses, tuning, tables, environments."""

from __future__ import annotations

from arena.core.plugs import Command, Wing

WING = Wing(
    formats={"tune": "arena.learn.tune.format:Tune"},
    commands={
        "tune": Command("Play", 4, "Find better values for a bot's parameters, and prove them."),
        "analyse": Command("Look", 6, "Say which decisions of a game cost most, and what was better."),
        "export": Command("Look", 9, "Write the decisions of games as a table, to learn from."),
    },
)
