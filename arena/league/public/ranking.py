"""The figures of the versions that play: the standings of the season's tournament, but for those that play no more.

Laws:
1. A rating is that of the refit over all results of the season. It is the same everywhere: in standings, in a status,
   here and elsewhere. `mu` and `sigma` are those that choose who meets, and are named so.
2. All versions of the season take part in the refit; only those that play have a rank.
3. A new version is expected to be about as strong as its predecessor, as far as that played in the season.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arena.core.face import Level, Payload, ranking_tables, standings_reports
from arena.league.store import LeagueReader
from arena.league.store.records import Season, Version

if TYPE_CHECKING:
    from arena.core.face import refit

RATING: Final = ("rating", "half_width", "low", "high")
"""What is known of a version's strength. All are None before its first game."""
_FROM_TABLE: Final = (
    *("ahead_of_next", "points", "mu", "sigma", "games", "wins", "draws", "losses", "forfeits", "mean_score"),
    *("mean_ms", "max_ms"),
)


class Ranking:
    """The figures of a season as they are when it is made. That takes seconds in a large league."""

    fit: refit.Fit | None
    """The refit of all results; None before any."""
    order: ranking_tables.Order | None
    """How much of the order is settled; None before any result."""
    final_matches: int
    """Before how many matches a rating is provisional."""
    better: frozenset[tuple[str, str]]
    """The names of pairs of versions that play, of whom the first is shown to be the better one."""
    items: tuple[Payload, ...]
    """A row for each version that plays, the best first."""

    def __init__(self, reader: LeagueReader, season: Season, *, costs: bool = True) -> None:
        """Computes them; with what games have cost by the versions' own notes, unless it is for the record."""
        finder, tournament = reader.finder, season.tournament
        settings = finder.tournament(tournament).settings
        tallies = finder.tallies(tournament)
        players = max(game["players"] for game in settings["games"])
        self.fit = ranking_tables.fit_of(
            tallies, finder.pairs(tournament), players, {}, finder.predecessors(tournament)
        )
        playing = {standing.entrant: standing for standing in reader.facts.standing()}
        table = ranking_tables.tabulate(
            finder.entrants(tournament), finder.ratings(tournament), tallies, finder.pairs(tournament), self.fit,
            crosstable=False, among=sorted(playing),
        )  # fmt: skip
        self.order = table.order
        shown = frozenset[tuple[int, int]]() if self.fit is None else self.fit.better(among=sorted(playing))
        self.better = frozenset((playing[one].name, playing[other].name) for one, other in shown)
        versions = {version.id: version for version in reader.versions.all()}
        by_name = {one.name: playing[one.number] for one in finder.entrants(tournament) if one.number in playing}
        self.final_matches = reader.controls.final_matches
        items, said = [], finder.costs(tournament) if costs else {}
        for row in table.standings:
            standing = by_name[row.bot]
            version = versions[standing.version]
            items.append(
                {
                    "rank": row.rank,
                    "name": version.name,
                    "bot": version.bot,
                    "author": version.author,
                    **confinement(Level.REMOTE if version.level == Level.REMOTE else settings["level"]),
                    **figures(row),
                    **(standings_reports.told_costs(said.get(row.bot, {})) if said else {}),
                    "matches": standing.matches,
                    "provisional": standing.matches < self.final_matches,
                    "since": version.since,
                    "display_name": row.display_name,
                }
            )
        self.items = tuple(items)
        self._by_name = {item["name"]: item for item in self.items}

    def of(self, version: Version) -> Payload | None:
        """Returns the figures of a version, or None if it does not play."""
        return self._by_name.get(version.name)


def ranking_of(reader: LeagueReader) -> Ranking | None:
    """Returns the figures of the open season, or None if no season is open."""
    season = reader.seasons.current()
    return None if season is None else Ranking(reader, season)


def confinement(level: str) -> Payload:
    """Returns how far a version of this level is confined, and whether nobody knows what it computes with."""
    return {"level": level, "uncontrolled": level == Level.REMOTE}


def figures(row: ranking_tables.Standing) -> Payload:
    """Returns what the row of a version shows of its results."""
    return {**_rating(row.rating, row.half_width), **{name: getattr(row, name) for name in _FROM_TABLE}}


def _rating(rating: float | None, half_width: float | None) -> Payload:
    if rating is None or half_width is None:
        return dict.fromkeys(RATING)
    low, high = round(rating - half_width, 3), round(rating + half_width, 3)
    return {"rating": rating, "half_width": half_width, "low": low, "high": high}
