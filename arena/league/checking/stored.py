"""Computes what follows from what is published of a season, and holds the database of a league against it.

The database of a season is not made anew, as that of a tournament is: who met, and when a version came, no file shows.
What standings and pages show of a season is compared: results, seats, sums, ratings, and the frozen standings.
"""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from arena.core.face import (
    GameResult,
    Payload,
    chance,
    game_rows,
    pentanomial,
    ranking_tables,
    rebuilding,
    record_files,
    temporary_store,
    true_skill,
    value_types,
)
from arena.league.checking.history import History
from arena.league.matches import finals
from arena.league.matches.final_tables import item
from arena.league.public import documents
from arena.league.public.ranking import confinement, figures
from arena.league.record import rounds
from arena.league.store import LeagueReader
from arena.league.store.records import Season

NEAR: Final = 1e-6
"""How far ratings and sums may be apart."""
FROM_RANKS: Final = ("games", "wins", "draws")
"""What of the sums of a version follows where logs are missing."""
FIRST: Final = 5
"""So many differences of a kind are named."""
FROM_LOGS: Final = ("forfeits", "mean_score", "mean_ms", "max_ms")
"""Figures of a row of the standings that only logs say."""
GIVEN: Final = ("author", "since")
"""Fields of a row that no file but the standings says."""
LATER: Final = {"display_name"}
"""The same, of which earlier versions of arena said nothing."""
ROUNDED: Final = 1.5e-3
"""How far figures of standings may be apart: they are rounded to thousandths."""


def contradictions(
    reader: LeagueReader,
    before: record_files.Commitment,
    history: History,
    computed: ComputedStandings | None,
    logged: Callable[[int], GameResult | None],
) -> Iterator[str]:
    """Yields where a database tells something else than what is published of a season.

    Args:
        before: What was published before the first game.
        computed: What follows from the results; None if the season goes on.
        logged: Returns the result of a game by its public log; None if there is no log.
    """
    opened, closed = history.opened, history.closed
    assert opened is not None
    with reader.snapshot(), temporary_store(reader.finder) as store:
        season = next((one for one in reader.seasons.all() if one.tournament == opened.tournament), None)
        if season is None:
            yield f"expected season {opened.season}, got none"
            return
        row = reader.finder.tournament(season.tournament)
        yield from _apart(
            "season", ("name", season.name, opened.season), ("opened", season.opened, opened.at),
            ("closed", season.closed, closed and closed.at),
            ("standings", _unnamed(season.standings), closed and _unnamed(closed.standings)),
            ("settings", row.settings, before.settings), ("commitment", row.commitment, before.commitment),
            ("commitment to its secret", chance.commitment(row.secret), before.commitment),
            ("status", row.status, "running" if closed is None else "finished"),
        )  # fmt: skip
        head = reader.seasons.head(season)
        if computed is None:
            yield from _further(reader, season, history := copy.deepcopy(history))
            computed = ComputedStandings(before.settings, history, logged)
        elif head.lines:  # a season that arena 0.2 closed has none
            yield from _apart(
                "season", ("last line", head.sha256, history.head), ("digest", season.digest, head.sha256)
            )
        yield from rebuilding.of_definitions(reader.finder, store)
        for part in (
            _of_entrants(reader, season.tournament, history),
            _of_sums(reader, season.tournament, computed),
            _of_fits(reader, season.tournament, [*history.entrants], closed.standings) if closed else (),
            _of_results(reader, season.tournament, history),
            _of_games(reader, season.tournament, logged),
        ):
            yield from _first(part)


def _further(reader: LeagueReader, season: Season, history: History) -> Iterator[str]:
    """Adds the lines and results that are not published yet, as the database has them. Yields contradictions."""
    told = [*reader.seasons.lines(season)]
    shown = [rounds.sha256(line) for line in told]
    chained = all(rounds.decoded(line).before == before for line, before in zip(told[1:], shown, strict=False))
    if history.head not in shown or not chained:
        yield f"expected the lines that are published, the last {history.head}, got: others"
        return
    for line in told[shown.index(history.head) + 1 :]:
        yield from (f"a line not published yet: {reason}" for _, reason in history.take(rounds.decoded(line)))
    ranks = _ranks(reader, season.tournament)
    rows = reader.finder.rows("games", season.tournament, ("number", "id", "status"), ("number",))
    games = {
        number: rounds.GameOver(status=status, ranks=[*ranks[id].values()], play_digest=None, log=None)
        for number, id, status in rows
    }
    for match in history.matches:
        played = [games[number] for number in match.planned.games if number in games]
        if match.over is None and len(played) == len(match.planned.games):
            match.over = rounds.Over(match=match.planned.match, secret=rounds.FIRST, games=played, reason="")
    plays = {one.name: [*history.entrants][one.entrant] for one in reader.versions.active() if one.entrant is not None}
    for name in sorted(history.playing ^ plays.keys() | plays.keys()):
        yield from _apart(f"versions, {name}", ("entrant", plays.get(name), name if name in history.playing else None))


def _ranks(reader: LeagueReader, tournament: str) -> defaultdict[str, dict[int, int]]:
    """Returns by game and seat's entrant the ranks, in the order of the seats."""
    ranks: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for game, entrant, rank in reader.finder.rows("seats", tournament, ("game", "entrant", "rank"), ("game", "seat")):
        ranks[game][entrant] = rank
    return ranks


def _of_entrants(reader: LeagueReader, tournament: str, history: History) -> Iterator[str]:
    entrants = reader.finder.entrants(tournament)
    told = [*history.entrants.values()]
    stored = [(one.number, one.name, one.digest, one.start.mu, one.start.sigma) for one in entrants]
    if any(one.after is not None for one in told):  # earlier versions of arena did not tell
        found = reader.finder.predecessors(tournament)
        before = [entrants[found[one.number]].name if one.number in found else None for one in entrants]
        yield from _apart("entrants", ("predecessors", before, [one.after for one in told]))
    yield from _apart("entrants", ("number", len(stored), len(told)))
    for number, (one, other) in enumerate(zip(stored, told, strict=False)):
        expected = (number, other.name, other.archive, other.mu, other.sigma)
        yield from _apart(f"entrants, {other.name}", ("number, name, archive and start", one, expected))


def _of_results(reader: LeagueReader, tournament: str, history: History) -> Iterator[str]:
    """Yields where games are others than the lines say, whether their logs are there or not."""
    ranks = _ranks(reader, tournament)
    names = [*history.entrants]
    columns = ("id", "number", "seating", "match", "deal", "rotation", "status", "counts")
    stored = {number for (number,) in reader.finder.rows("games", tournament, ("number",), ("number",))}
    yield from _apart("games", ("numbers without a row", [*history.games.keys() - stored], []))
    for game, number, seating, *told in reader.finder.rows("games", tournament, columns, ("number",)):
        match, rotation = history.games.get(number, (None, 0))
        over = history.result(number)
        result = ranks[game] if told[3] == "done" else {}
        planned = msgspec.json.decode(seating, type=list[int])
        found = [*told, [names[one] for one in result or planned], [*result.values()], [names[one] for one in planned]]
        expected = match and over and [
            *(match.planned.match, match.planned.match, rotation, over.status, int(match.counts)),
            *(match.planned.seats[rotation], over.ranks, match.planned.seats[rotation]),
        ]  # fmt: skip
        yield from _apart(f"game {number}", ("match, deal, rotation, status, count, seats and ranks", found, expected))


def _of_sums(reader: LeagueReader, tournament: str, computed: ComputedStandings) -> Iterator[str]:
    names = game_rows.Tally.__struct_fields__
    for stored, tally, rating, mine in zip(
        reader.finder.tallies(tournament),
        computed.tallies,
        computed.ratings,
        reader.finder.ratings(tournament),
        strict=False,
    ):
        name = computed.names[tally.entrant]
        known = FROM_RANKS if tally.entrant in computed.incomplete else names
        for field in known:
            yield from _apart(f"tallies, {name}", (field, getattr(stored, field), getattr(tally, field)))
        yield from _apart(f"ratings, {name}", ("mu", mine.mu, rating.mu), ("sigma", mine.sigma, rating.sigma))
    pairs = {astuple(pair)[:3]: astuple(pair)[3:] for pair in reader.finder.pairs(tournament)}
    expected = {astuple(pair)[:3]: astuple(pair)[3:] for pair in computed.pairs}
    for key in sorted({*pairs, *expected}):
        one, other = pairs.get(key), expected.get(key)
        if one and other and None in (one[-1], other[-1]):  # of an earlier version, or a log is missing
            one, other = one[:-1], other[:-1]
        yield from _apart(f"pairs, deal and versions {key}", ("results", one, other))


def _unnamed(standings: Payload | None) -> Payload | None:
    """Returns standings without names of authors: those of the database change when somebody leaves."""
    return standings and rounds.renamed(standings, dict.fromkeys((row.get("author") for row in standings["items"]), ""))


def _of_fits(reader: LeagueReader, tournament: str, names: Sequence[str], standings: Payload) -> Iterator[str]:
    columns = ("entrant", "rating", "half_width", "rank")
    rows = reader.finder.rows("fits", tournament, columns, ("entrant",))
    stored = {entrant: values for entrant, *values in rows}
    items = {item["name"]: item for item in standings["items"] if item["rating"] is not None}
    for number, name in enumerate(names):
        item = items.get(name)
        told = item and [item[column] for column in columns[1:]]
        found = stored.get(number)
        if told is None or found is None or not all(_near(*both, ROUNDED) for both in zip(found, told, strict=True)):
            yield from _apart(f"fits, {name}", ("rating, interval and rank", found, told))


def _of_games(reader: LeagueReader, tournament: str, logged: Callable[[int], GameResult | None]) -> Iterator[str]:
    columns = ("id", "number", "termination", "turns", "actions", "seconds", "play_digest", "level", "log")
    numbers = {}
    for id, number, *told in reader.finder.rows("games", tournament, columns, ("number",)):
        if (result := logged(number)) is None:
            continue
        numbers[id] = result
        expected = [getattr(result, name) for name in columns[2:]]
        yield from _apart(f"game {id}", *zip(columns[2:], told, expected, strict=True))
    for id, seat, row in reader.finder.rows("seats", tournament, ("game", "seat", "figures"), ("game", "seat")):
        if id in numbers:
            did = game_rows.figures_of(row)
            yield from _apart(f"game {id}, seat {seat}", *_of_seat(did, numbers[id].seats[seat]))


def _of_seat(told: value_types.SeatResult, expected: value_types.SeatResult) -> Iterator[tuple[str, Any, Any]]:
    """Yields what is compared of a seat. Earlier versions did not store margins, nor which rule a forfeit broke.

    What its decisions have cost stands in its notes, which not every log has.
    """
    absent = {name for name, one in (("margin", told.margin), ("cost", expected.cost)) if one is None}
    for name in told.__struct_fields__:
        if name != "forfeit" and name not in absent:
            yield name, getattr(told, name), getattr(expected, name)
    yield "forfeit", told.forfeit and told.forfeit.code, expected.forfeit and expected.forfeit.code
    for name in ("turn", "overloaded", "denied_ms"):
        yield name, told.forfeit and getattr(told.forfeit, name), expected.forfeit and getattr(expected.forfeit, name)


def _apart(where: str, *values: tuple[str, Any, Any]) -> Iterator[str]:
    """Yields which of these values are others: each is a name, what the database has, and what it should be."""
    for name, told, expected in values:
        if not _near(told, expected, 0.1 if name == "seconds" else NEAR):
            yield f"{where}: expected {name} {expected!s:.80}, got: {told!s:.80}"


def _near(told: Any, expected: Any, near: float) -> bool:
    if isinstance(told, float) or isinstance(expected, float):
        numbers = isinstance(told, int | float) and isinstance(expected, int | float)
        return numbers and math.isclose(told, expected, rel_tol=1e-9, abs_tol=near)
    if isinstance(told, list | tuple) and isinstance(expected, list | tuple):
        return len(told) == len(expected) and all(_near(*both, near) for both in zip(told, expected, strict=True))
    if isinstance(told, dict | msgspec.Struct):
        return bool(msgspec.to_builtins(told) == msgspec.to_builtins(expected))
    return bool(told == expected)


def _first(reasons: Iterable[str]) -> Iterator[str]:
    count = 0
    for reason in reasons:
        count += 1
        if count <= FIRST:
            yield reason
    if count > FIRST:
        yield f"{count - FIRST} more differences like the last"


class ComputedStandings:
    """The standings of a season, computed from what is published."""

    def __init__(self, settings: Payload, history: History, logged: Callable[[int], GameResult | None]) -> None:
        """Adds up the results.

        Args:
            logged: Returns the result of a game by its log; None if there is no log.
        """
        self._history = history
        teams = {int(game["players"]): game.get("teams") for game in settings["games"]}
        self._players = [*teams]
        self.names = [*history.entrants]
        self._number = {name: number for number, name in enumerate(self.names)}
        self.predecessors = {
            self._number[one.name]: self._number[one.after]
            for one in history.entrants.values()
            if one.after is not None
        }
        self.ratings = [true_skill.Rating(one.mu, one.sigma) for one in history.entrants.values()]
        self.tallies = [game_rows.Tally(number) for number in range(len(self.names))]
        self._matches: defaultdict[int, set[int]] = defaultdict(set)
        """Deals of each entrant's matches."""
        self.incomplete: set[int] = set()
        """Entrants of whom a log is missing: of their sums only what ranks say is known."""
        pairs: list[pentanomial.PairResult] = []
        rated = True
        """Whether all games so far are over: a result after others that are awaited moves no rating yet."""
        for number, (match, rotation) in sorted(history.games.items()):
            game = history.result(number)
            if game is None or game.status != "done":
                rated = rated and game is not None and game.status == "void"
                continue
            deal, ranks = match.planned.match, tuple(game.ranks)
            entrants = [self._number[name] for name in match.planned.seats[rotation]]
            for entrant in entrants:
                self._matches[entrant].add(deal)
            if not match.counts:
                continue
            log = logged(number)
            self.incomplete |= {*entrants} if log is None else set()
            together = teams[len(entrants)]
            seats = (
                log.seats
                if log is not None
                else tuple(
                    value_types.SeatResult(rank=rank, decisions=0, total_ms=0.0, max_ms=0.0, team=team)
                    for rank, team in zip(ranks, together or (None,) * len(ranks), strict=True)
                )
            )
            after = [self.ratings[entrant] for entrant in entrants]
            after = true_skill.rate(after, ranks, together) if rated else after
            for rating, tally in zip(after, game_rows.Tally.of_game(entrants, seats), strict=True):
                self.ratings[tally.entrant] = rating
                self.tallies[tally.entrant] = self.tallies[tally.entrant].plus(tally)
            pairs += pentanomial.pairs_of(deal, entrants, ranks, [seat.margin for seat in seats], together)
        self.pairs = pentanomial.add_up(pairs)

    def document(self, told: Payload) -> Payload:
        """Returns what the standings must be. What nobody can compute is as in those of the season's end (`told`)."""
        history = self._history
        assert history.opened is not None
        rows = {row["name"]: row for row in told["items"]}
        if {*rows} != history.playing or len(rows) != len(told["items"]):
            strange = min({*rows} ^ history.playing, default="a version twice")
            raise ValueError(f"expected a row for each version that plays at the end, got others: {strange:.80}")
        if told["method"] not in (documents.BY_FINAL, documents.BY_RATING):
            raise ValueError(f"by {told['method']!r}, which the version of arena computes that closed the season")
        fit = ranking_tables.fit_of(self.tallies, self.pairs, max(self._players), {}, self.predecessors)
        entrants = [
            game_rows.Entrant(number=number, name=name, version="", digest="", spec={})
            for number, name in enumerate(self.names)
        ]
        table = ranking_tables.tabulate(
            entrants, self.ratings, self.tallies, self.pairs, fit, crosstable=False,
            among=sorted(self._number[name] for name in rows),
        )  # fmt: skip
        least = told.get("final_matches")  # there was none in earlier versions of arena
        items = []
        for row in table.standings:
            number, found = self._number[row.bot], rows[row.bot]
            skipped = FROM_LOGS if number in self.incomplete else ()
            known = {
                "rank": row.rank,
                "name": row.bot,
                "bot": row.bot.partition("/")[0],
                **confinement(history.entrants[row.bot].level),
                **figures(row),
                "matches": len(self._matches[number]),
            }
            if least is not None:
                known["provisional"] = known["matches"] < least
            items.append(known | {name: found[name] for name in (*GIVEN, *skipped, *(LATER & {*found}))})
        order = table.order and {"enough": table.order.enough, "open": [list(group) for group in table.order.open]}
        document = {"season": history.opened.season, "digest": None, "method": told["method"], "remaking": None}
        if least is not None:
            document["final_matches"] = least
        if history.final is None:
            return {**document, "order": order, "items": items}
        last = self._final(told["final"], history.final)
        better: list[tuple[str, str]] = []
        if fit is not None and told["method"] == documents.BY_FINAL:
            shown = fit.better(among=[self._number[name] for name in rows])
            better = [(self.names[one], self.names[other]) for one, other in shown]
        return {
            **document,
            "order": None,
            "final": last,
            "items": documents.finalists_first(last["items"], items, better),
        }

    def _final(self, told: Payload, final: rounds.FinalBegun) -> Payload:
        history, design = self._history, self._history.design()
        matches = history.of_final()
        decided = history.decided
        return {
            "began": told["began"],
            "outcome": "not played" if decided is None else decided.outcome,
            "reason": final.reason if decided is None else decided.reason,
            "finalists": final.entrants,
            "left": [name for name in history.entrants if name in history.left],
            "deals": sum(match.whole for match in matches),
            "most_deals": final.deals,
            "items": [item(one, self.names[one.entrant]) for one in finals.standings(design, matches, self.pairs)],
        }


def differences(expected: Any, told: Any, place: str) -> Iterator[str]:
    """Yields where a document differs from what it must be."""
    if isinstance(expected, dict) and isinstance(told, dict):
        for key in sorted({**expected, **told}):
            yield from differences(expected.get(key), told.get(key), f"{place}.{key:.80}")
    elif isinstance(expected, Sequence) and isinstance(told, list) and not isinstance(expected, str):
        if len(expected) != len(told):
            yield f"{place}: expected {len(expected)} entries, got: {len(told)}"
        for number, (one, other) in enumerate(zip(expected, told, strict=False)):
            name = one.get("name", number) if isinstance(one, dict) else number
            yield from differences(one, other, f"{place}[{name}]")
    elif not _same(expected, told):
        yield f"{place}: expected {expected!s:.80}, got: {told!s:.80}"


def _same(expected: Any, told: Any) -> bool:
    if isinstance(expected, float) or isinstance(told, float):
        numbers = isinstance(expected, int | float) and isinstance(told, int | float)
        return numbers and math.isclose(expected, told, rel_tol=0.0, abs_tol=ROUNDED)
    return bool(expected == told) and isinstance(expected, bool) == isinstance(told, bool)
