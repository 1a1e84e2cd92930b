"""Tells how the final of a season stands, from the database."""

from __future__ import annotations

from collections.abc import Sequence

from arena.core.face import Payload, pentanomial
from arena.league.matches import finals
from arena.league.store import LeagueReader
from arena.league.store.records import FinalMatch, Season


def sizes(reader: LeagueReader, season: Season) -> tuple[int, ...]:
    """Returns the numbers of players that matches of a season may have."""
    games = reader.finder.tournament(season.tournament).settings["games"]
    return tuple(game["players"] for game in games)


def design(reader: LeagueReader, season: Season) -> finals.Design:
    """Returns what the final of a season is planned from. The season must have one."""
    final = season.final
    assert final is not None
    return finals.Design(
        entrants=final.playing, begun_with=len(final.entrants), sizes=sizes(reader, season), deals=final.deals
    )


def pairs(reader: LeagueReader, season: Season, matches: Sequence[FinalMatch]) -> list[pentanomial.PairResult]:
    """Returns the results from the first of a final's matches to the last: the rule takes those that count."""
    deals = range(matches[0].deal, matches[-1].deal + 1) if matches else range(0)
    return list(reader.finder.pairs(season.tournament, deals))


def document(reader: LeagueReader, season: Season) -> Payload | None:
    """Returns how a season's final stands, for people and programs; None if it has none."""
    final = season.final
    if final is None:
        return None
    names = {entrant.number: entrant.name for entrant in reader.finder.entrants(season.tournament)}
    matches = reader.seasons.final_matches(season)
    standings = finals.standings(design(reader, season), matches, pairs(reader, season, matches))
    return {
        "began": final.began,
        "outcome": final.outcome,
        "reason": final.reason,
        "finalists": [names[entrant] for entrant in final.entrants],
        "left": [names[entrant] for entrant in final.left],
        "deals": sum(match.whole for match in matches),
        "most_deals": final.deals,
        "items": [item(one, names[one.entrant]) for one in standings],
    }


def item(one: finals.Finalist, name: str) -> Payload:
    """Returns the row of a finalist."""
    interval = None if one.rating is None or one.half_width is None else (one.rating, one.half_width)
    return {
        "rank": one.rank,
        "name": name,
        "points": one.points and round(one.points, 4),
        "deals": one.deals,
        "rating": interval and round(interval[0], 2),
        "low": interval and round(interval[0] - interval[1], 2),
        "high": interval and round(interval[0] + interval[1], 2),
    }
