"""The league: a tournament that never ends, whose entrants come and go."""

from __future__ import annotations

from arena.core.plugs import Command, Wing

WING = Wing(
    audits=dict.fromkeys(("seasons", "published/seasons"), "arena.league.checking.audit:audits"),
    revealed={"season.json": "arena.league.record.season:revealed"},
    instead={"league": "arena.league.store.records:status_words"},
    commands={
        "league": Command(
            "arena.league.commands:league", "Run a league of strangers' bots, or take part in one.", "Run", 1
        )
    },
)
