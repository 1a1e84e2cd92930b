"""Tells how the final of a season stands, from the database."""

from __future__ import annotations

from arena.core.face import Payload, pentanomial
from arena.league.matches import finals
from arena.league.store import LeagueReader
from arena.league.store.records import Season


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


def deals_played(reader: LeagueReader, season: Season) -> int:
    """Returns the number of deals of a season's final whose results are all there."""
    return sum(match.whole for match in reader.seasons.final_matches(season))


def pairs(reader: LeagueReader, season: Season, deals: set[int]) -> list[pentanomial.PairResult]:
    """Returns the results of a final's matches, which have these deals."""
    if not deals:
        return []
    found = reader.finder.pairs(season.tournament, range(min(deals), max(deals) + 1))
    return [pair for pair in found if pair.deal in deals]


def standings(reader: LeagueReader, season: Season) -> list[finals.Finalist]:
    """Returns how the finalists stand who are still in it, the best first. Nobody if there is no final."""
    if season.final is None or not season.final.playing:
        return []
    matches = reader.seasons.final_matches(season)
    return finals.standings(design(reader, season), matches, pairs(reader, season, {match.deal for match in matches}))


def document(reader: LeagueReader, season: Season) -> Payload | None:
    """Returns how a season's final stands, for people and programs; None if it has none."""
    final = season.final
    if final is None:
        return None
    names = {entrant.number: entrant.name for entrant in reader.finder.entrants(season.tournament)}
    return {
        "began": final.began,
        "outcome": final.outcome,
        "reason": final.reason,
        "finalists": [names[entrant] for entrant in final.entrants],
        "left": [names[entrant] for entrant in final.left],
        "deals": deals_played(reader, season),
        "most_deals": final.deals,
        "items": [item(one, names[one.entrant]) for one in standings(reader, season)],
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
