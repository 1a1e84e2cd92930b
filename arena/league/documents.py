"""What a league tells about itself, as plain documents: what commands print as JSON, and what the service publishes.

Laws:
1. A document for an author holds nothing of another's but what everybody may see.
2. A rating is never without its interval, nor a version of level `remote` without that level.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from arena.door.health import health
from arena.league.folder import Folder
from arena.league.settings import Settings
from arena.store.league import LeagueReader
from arena.store.league.played import Only
from arena.store.league.records import Report, Season, Standing, Version
from arena.store.league.states import State
from arena.types import Level, Payload

if TYPE_CHECKING:
    from arena.ratings.refit import Fit

_NORMAL_95: Final = 1.96
"""The half width of an interval of 95 %, in standard deviations."""
NOTICES: Final = 20
"""How many notices a status holds."""


def league(reader: LeagueReader, settings: Settings) -> Payload:
    """Returns what everybody may know of a league: what is played, and the commitment to its deals."""
    season = reader.seasons.current()
    game = settings.season_settings()["game"]
    row = None if season is None else reader.finder.tournament(season.tournament)
    return {
        "name": settings.name,
        "rules": game["rules"],
        "ruleset": game["ruleset"],
        "options": game["options"],
        "players": list(settings.game.players),
        "board": game["board"] and game["board"]["name"],
        "time": settings.game.time,
        "level": settings.bots.level,
        "remote": settings.bots.remote,
        "limits": msgspec.structs.asdict(settings.limits),
        "season": season and season.name,
        "commitment": row and row.commitment,
        "games": 0 if row is None else row.rated,
    }


def keys(reader: LeagueReader) -> dict[str, str]:
    """Returns whose key each is, of those that are not revoked."""
    return {key.public_key: key.author for key in reader.authors.keys_of() if key.revoked is None}


def refit_of(reader: LeagueReader) -> Fit | None:
    """Returns the refit of all results of the open season; None before any. It takes seconds in a large league."""
    season = reader.seasons.current()
    if season is None:
        return None
    from arena.standings.table import fit_of

    row = reader.finder.tournament(season.tournament)
    tallies = reader.finder.tallies(row.id)
    players = max(game["players"] for game in row.settings["games"])
    return fit_of(tallies, reader.finder.pairs(row.id), players, {})


def standings(reader: LeagueReader, fit: Fit | None = None) -> Payload:
    """Returns the standings of the open season: the versions that play.

    Args:
        reader: The league.
        fit: The refit, as `refit_of` returns it. The ratings are its; without it they are the running ones.
    """
    season = reader.seasons.current()
    if season is None:
        last = reader.seasons.all()[-1:]
        return dict(last[0].standings or {}) if last else {"season": None, "method": "running", "items": []}
    figures = _Figures(reader, season, fit)
    items = sorted(map(figures.of, reader.facts.standing()), key=lambda item: -item["rating"])
    ranked = [{"rank": _rank(items, item["rating"]), **item} for item in items]
    method = "running" if fit is None else "refit"
    return {"season": season.name, "digest": season.digest, "method": method, "items": ranked}


def _rank(items: Iterable[Payload], rating: float) -> int:
    return 1 + sum(float(item["rating"]) > rating for item in items)


class _Figures:
    """The figures of versions in a season."""

    def __init__(self, reader: LeagueReader, season: Season, fit: Fit | None) -> None:
        self._tallies = reader.finder.tallies(season.tournament)
        self._versions = {version.id: version for version in reader.versions.all()}
        self._fit = fit

    def of(self, standing: Standing) -> Payload:
        """Returns the figures of an active version."""
        version = self._versions[standing.version]
        tally = self._tallies[standing.entrant]
        mu, sigma = standing.rating.mu, standing.rating.sigma
        rating, half = mu, _NORMAL_95 * sigma
        if self._fit is not None and standing.entrant < len(self._fit.ratings):
            width = self._fit.half_width[standing.entrant]
            if width is not None:  # it has games
                rating, half = self._fit.ratings[standing.entrant], width
        return {
            "name": version.name,
            "bot": version.bot,
            "author": version.author,
            "level": version.level,
            "uncontrolled": version.level == Level.REMOTE,
            "rating": round(rating, 2),
            "low": round(rating - half, 2),
            "high": round(rating + half, 2),
            "mu": round(mu, 3),
            "sigma": round(sigma, 3),
            "matches": standing.matches,
            "games": tally.games,
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.games - tally.wins - tally.draws,
            "forfeits": tally.forfeits,
            "since": version.since,
        }


def author_status(reader: LeagueReader, author: str, fit: Fit | None = None) -> Payload:
    """Returns how an author's versions stand, the latest first, and the last notices for them, the latest last."""
    season = reader.seasons.current()
    figures: dict[int, Payload] = {}
    if season is not None:
        made = _Figures(reader, season, fit)
        figures = {one.version: made.of(one) for one in reader.facts.standing() if one.author == author}
    versions = sorted(reader.versions.of_author(author), key=lambda version: -version.id)
    notices = reversed(reader.notices.of(author, limit=NOTICES))
    return {
        "author": author,
        "versions": [_version(version, figures.get(version.id)) for version in versions],
        "notices": [
            {"at": notice.at, "kind": notice.kind, "version": notice.version, "text": notice.text} for notice in notices
        ],
    }


def _version(version: Version, figures: Payload | None) -> Payload:
    own = ("rating", "low", "high", "mu", "sigma", "matches", "games", "forfeits")
    return {
        "version": version.name,
        "bot": version.bot,
        "author": version.author,
        "state": version.state,
        "since": version.since,
        "digest": version.digest,
        "level": version.level,
        "uncontrolled": version.level == Level.REMOTE,
        **{name: figures and figures[name] for name in own},
    }


def status(reader: LeagueReader, settings: Settings, folder: Folder) -> Payload:
    """Returns how the league is: for its operator, and for monitoring."""
    season = reader.seasons.current()
    versions = reader.versions.all()
    found = reader.facts.standing()
    made = season and _Figures(reader, season, None)
    figures = {standing.version: made.of(standing) for standing in found} if made else {}
    matches = reader.matches.count() if season is not None else 0
    waits = [matches - max(standing.last_match + 1, standing.since_match) for standing in found if not standing.playing]
    return {
        "name": settings.name,
        "season": season and season.name,
        "running": folder.is_running,
        "paused": reader.controls.paused,
        "workers": reader.controls.workers or settings.service.workers or None,
        "games": _games(reader, season),
        "matches": matches,
        "longest_wait": max(waits, default=0),
        "authors": sum(author.status == "active" for author in reader.authors.all()),
        "states": {str(state): sum(version.state is state for version in versions) for state in State},
        "versions": [
            _version(version, figures.get(version.id)) for version in versions if version.is_pending or _plays(version)
        ],
        "notices": [
            {"at": notice.at, "kind": notice.kind, "version": notice.version, "text": notice.text}
            for notice in reader.notices.of(None, unread=True, limit=NOTICES)
        ],
        "door": msgspec.to_builtins(health(folder.path)),
        "orders_waiting": sum(path.suffix == ".json" for place in _boxes(folder) for path in place.iterdir()),
    }


def _plays(version: Version) -> bool:
    return version.state in (State.ACTIVE, State.SUSPENDED)


def _boxes(folder: Folder) -> list[Path]:
    return [place for place in (folder.inbox, folder.incoming) if place.is_dir()]


def _games(reader: LeagueReader, season: Season | None) -> Mapping[str, int]:
    counts = dict.fromkeys(("planned", "running", "done", "void"), 0)
    return counts if season is None else {**counts, **reader.played.counts(season.tournament)}


def games(
    reader: LeagueReader,
    *,
    author: str | None = None,
    bot: str | None = None,
    only: Only | None = None,
    matches: range | None = None,
    limit: int | None = None,
) -> list[Payload]:
    """Returns games of the open season, a row for each seat that is asked for, the latest first.

    Args:
        reader: The league.
        author: Of this author's versions; None means everybody's.
        bot: Of this bot, or this version of one; None means all.
        only: Which games; None means all.
        matches: In matches with these numbers; None means all.
        limit: The most rows; None means all.

    Raises:
        Refused: There is no such bot, or it is not the author's.
    """
    season = reader.seasons.current()
    if season is None:
        return []
    names: set[str] | None = None
    if author is not None:
        names = {version.name for version in reader.versions.of_author(author)}
    if bot is not None:
        version = reader.versions.named(bot)
        wanted = {version.name} if "/" in bot else {one.name for one in reader.versions.of_bot(bot)}
        names = wanted if names is None else wanted & names
    rows = reader.played.of(season.tournament, names=names, only=only, matches=matches, limit=limit)
    return [_game(row) for row in rows]


def _game(row: Payload) -> Payload:
    name, seat = row["game"], row["seat"]
    bot = row["version"].partition("/")[0]
    is_asked = row["forfeit"] not in (None, "start_failed") and row["published"]
    return {
        **row,
        "bot": bot,
        "lost": row["outcome"] == "lost",
        "replay": f"arena replay {name}.jsonl --seat {seat}" if row["published"] else None,
        "rerun": shlex.join(["arena", "bot", "rerun", f"{name}.jsonl", bot, "--seat", str(seat)]) if is_asked else None,
    }


def report(version: Version, found: Report) -> Payload:
    """Returns what a step found out about a version, for its author."""
    return {
        "version": version.name,
        "state": version.state,
        "kind": found.kind,
        "attempt": found.attempt,
        "verdict": found.verdict,
        "at": found.at,
        **{name: value for name, value in found.report.items() if name not in ("kind", "verdict", "output")},
        "output": found.output.decode(errors="replace"),
    }


def reports(reader: LeagueReader, name: str, kind: str | None = None) -> list[Payload]:
    """Returns the reports on a version, or on the newest of a bot, in the order of its steps.

    Raises:
        Refused: There is no such version.
    """
    version = reader.versions.named(name)
    return [report(version, found) for found in reader.reports.of(version.id) if kind in (None, found.kind)]
