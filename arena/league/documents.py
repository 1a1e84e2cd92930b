"""What commands, the door and the site say of a league, as plain documents. Only reads.

An author's own things (states, reports, notices, words of the bot) come from functions that are told who asks.
"""

from __future__ import annotations

from typing import Final

import msgspec

from arena.league.settings import Settings
from arena.standings.table import Standing, fit_of, tabulate
from arena.store.league.ledger import LeagueReader
from arena.store.league.records import Match, Report, Season, Version
from arena.store.league.states import State
from arena.types import Level, Payload

MOST_NOTICES: Final = 100
"""How many notices of an author are shown, the latest."""
_SHOWN: Final = (
    "rating", "half_width", "mu", "sigma", "points", "games", "wins", "draws", "losses", "forfeits", "mean_ms",
)  # fmt: skip
"""Figures of a version that are shown, as `arena standings` has them."""


def league(reader: LeagueReader, settings: Settings) -> Payload:
    """Returns what a league is: its name, what it plays, how it confines bots."""
    season = reader.seasons.current()
    return {
        "name": settings.name,
        "season": None if season is None else season.name,
        "rules": settings.game.rules,
        "ruleset": settings.game.ruleset,
        "players": list(settings.game.players),
        "time": settings.game.time,
        "level": settings.bots.level,
        "remote": settings.bots.remote,
        "limits": msgspec.to_builtins(settings.limits),
    }


def figures(reader: LeagueReader, season: Season) -> dict[str, Standing]:
    """Returns the figures of a season's versions, by name, from the refit of all their results, the best first."""
    games = reader.finder
    row = games.tournament(season.tournament)
    entrants, tallies = games.entrants(row.id), games.tallies(row.id)
    most = max(game["players"] for game in row.settings.get("games", [row.settings["game"]]))
    fit = fit_of(tallies, games.pairs(row.id), most, {})
    table = tabulate(entrants, games.ratings(row.id), tallies, games.pairs(row.id), fit, crosstable=False)
    return {standing.bot: standing for standing in table.standings}


def standings(reader: LeagueReader, season: Season, known: dict[str, Standing] | None = None) -> Payload:
    """Returns the standings of a season: its active versions, the best first.

    Args:
        reader: The league.
        season: The season.
        known: What `figures` gives, if the caller has it.
    """
    if season.standings is not None:
        return season.standings
    known = figures(reader, season) if known is None else known
    active = {version.name: version for version in reader.versions.active()}
    rows = [standing for standing in known.values() if standing.bot in active]
    items = [_item(active[row.bot], row, 1 + sum(other.rank < row.rank for other in rows)) for row in rows]
    return {"season": season.name, "digest": season.digest, "items": items}


def _item(version: Version, standing: Standing, rank: int) -> Payload:
    return {
        "rank": rank,
        "name": version.name,
        "bot": version.bot,
        "author": version.author,
        "level": version.level,
        "uncontrolled": version.level == Level.REMOTE,
        **{name: getattr(standing, name) for name in _SHOWN},
    }


def status(reader: LeagueReader, author: str, known: dict[str, Standing] | None = None) -> Payload:
    """Returns how the versions of an author stand, the latest first, and what the league has told the author.

    Args:
        reader: The league.
        author: Who asks.
        known: What `figures` gives, if the caller has it.
    """
    season = reader.seasons.current()
    if known is None:
        known = {} if season is None else figures(reader, season)
    versions = sorted(reader.versions.of_author(author), key=lambda version: version.id, reverse=True)
    notices = reader.notices.of(author, limit=MOST_NOTICES)
    return {
        "author": author,
        "versions": [_version(reader, version, known.get(version.name)) for version in versions],
        "notices": [
            {"version": notice.version, "kind": notice.kind, "text": notice.text, "at": notice.at} for notice in notices
        ],
    }


def _version(reader: LeagueReader, version: Version, standing: Standing | None) -> Payload:
    document: Payload = {
        "version": version.name,
        "bot": version.bot,
        "number": version.number,
        "state": version.state.value,
        "since": version.since,
        "received": version.received,
        "digest": version.digest,
        "attempts": version.attempts,
        "level": version.level,
        "uncontrolled": version.level == Level.REMOTE,
    }
    if standing is not None:
        document.update({name: getattr(standing, name) for name in _SHOWN})
    if version.state in (State.REJECTED, State.BUILDING, State.CHECKING, State.QUALIFYING):
        reports = reader.reports.of(version.id)
        document["finding"] = reports[-1].report.get("finding", "") if reports else ""
    return document


def games(reader: LeagueReader, author: str, matches: list[Match]) -> list[Payload]:
    """Returns the games of an author's versions in some matches that are over, a row for each seat of theirs."""
    mine = {version.entrant: version for version in reader.versions.of_author(author)}
    rows = []
    for match in matches:
        for game in match.games:
            if game.status == "done" and any(entrant in mine for entrant in game.entrants):
                [found] = reader.finder.describe([game.game])
                rows += [
                    _seat(match, found, seat, mine[entrant])
                    for seat, entrant in enumerate(game.entrants)
                    if entrant in mine
                ]
    return rows


def _seat(match: Match, found: Payload, seat: int, version: Version) -> Payload:
    own: Payload = found["seats"][seat]
    return {
        "game": found["game"],
        "match": match.number,
        "bot": version.bot,
        "version": version.name,
        "seat": seat,
        "players": match.players,
        "opponents": own["opponents"],
        "rank": own["rank"],
        "outcome": own["outcome"],
        "lost": own["outcome"] == "lost",
        "forfeit": own["forfeit"],
        "sentence": own["sentence"],
        "turn": own["forfeit_turn"],
        "last_words": own["last_words"],
        "overloaded": None if own["overloaded"] is None else bool(own["overloaded"]),
        "rated": match.rated,
        "why": match.why,
        "turns": found["turns"],
        "finished": found["finished"],
        "rerun": f"arena bot rerun {found['game']}.jsonl.zst {version.bot} --seat {seat}",
    }


def report(version: Version, found: Report) -> Payload:
    """Returns what came of a step, for the version's author."""
    return {
        "version": version.name,
        "kind": found.kind,
        "attempt": found.attempt,
        "verdict": found.verdict,
        "at": found.at,
        **found.report,
        "output": found.output.decode(errors="backslashreplace"),
    }
