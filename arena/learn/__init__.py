"""What programs and authors learn from games: analyses, tuning, tables, environments."""

from __future__ import annotations

from arena.core.plugs import Command, Wing

WING = Wing(
    formats={"tune": "arena.learn.tune.format:Tune"},
    commands={
        "tune": Command(
            "arena.learn.commands.tune:tune", "Find better values for a bot's parameters, and prove them.", "Play", 4
        ),
        "analyse": Command(
            "arena.learn.commands.analyse:analyse",
            "Say which decisions of a game cost most, and what was better.",
            "Look",
            6,
        ),
        "export": Command(
            "arena.learn.commands.export:export", "Write the decisions of games as a table, to learn from.", "Look", 9
        ),
    },
)
