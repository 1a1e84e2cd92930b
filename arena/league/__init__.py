"""The league: a tournament that never ends, whose entrants come and go."""

from __future__ import annotations

from arena.core.face import plugs

WING = plugs.Wing(
    audits=dict.fromkeys(
        ("seasons", "published/seasons", "rounds-0.jsonl", "season.json", "*/rounds-0.jsonl", "*/season.json"),
        "arena.league.checking.audit:audits",
    ),
    revealed={
        "season.json": "arena.league.record.old:of_folder",
        "rounds-0.jsonl": "arena.league.record.rounds:of_folder",
    },
    seasons={"league": "arena.league.store.seasons:OfSeasons"},
    shown={"league.toml": "arena.league.public.showing:ShownLeague"},
    tables="arena.league.store.schema:OF_LEAGUES",
    commands={
        "league": plugs.Command(
            "Run", 1, "Run a league of strangers' bots, or take part in one.", "arena.league.commands:league"
        )
    },
)
