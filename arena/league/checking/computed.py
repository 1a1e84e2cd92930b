"""Computes the final standings of a season again, from the results and the logs that its league publishes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from arena.core.face import Payload, game_rows, pentanomial, ranking_tables, true_skill, value_types
from arena.league.matches import finals
from arena.league.matches.final_tables import item
from arena.league.public import documents
from arena.league.public.ranking import confinement, figures
from arena.league.record.season import FinalResult, Result, SeasonClosed, SeasonOpened
from arena.league.store.records import FinalMatch

FROM_LOGS: Final = ("forfeits", "mean_score", "mean_ms", "max_ms")
"""What of a row of the standings only logs say."""
GIVEN: Final = ("author", "since")
"""What of a row no file but the standings says."""
NEAR: Final = 1.5e-3
"""How far figures of standings may be apart: they are rounded to thousandths."""


class Played(msgspec.Struct, frozen=True):
    """A game that has a result."""

    deal: int
    result: Result
    seats: tuple[value_types.SeatResult, ...] | None
    """By seat what its log says; None if there is no log."""


class Computed:
    """The standings of a season, computed from what is published."""

    def __init__(self, opened: SeasonOpened, closed: SeasonClosed, played: Iterable[Played]) -> None:
        """Adds up the results.

        Args:
            opened: What was fixed before the first game.
            closed: What is told of the end.
            played: The games that are done, in order.
        """
        self._closed = closed
        teams = {int(game["players"]): game.get("teams") for game in opened.settings["games"]}
        self._players = [*teams]
        self._season = opened.season
        self.names = [one.name for one in closed.entrants]
        self._number = {name: number for number, name in enumerate(self.names)}
        self.predecessors = {
            self._number[one.name]: self._number[one.after] for one in closed.entrants if one.after is not None
        }
        self.ratings = [true_skill.Rating(one.mu, one.sigma) for one in closed.entrants]
        self.tallies = [game_rows.Tally(number) for number in range(len(self.names))]
        self._matches: defaultdict[int, set[int]] = defaultdict(set)
        """By entrant the deals of its matches."""
        self.incomplete: set[int] = set()
        """Entrants of whom a log is missing: of their sums only what ranks say is known."""
        pairs: list[pentanomial.PairResult] = []
        for game in played:
            deal, result = game.deal, game.result
            entrants = [self._number[name] for name in result.entrants]
            for entrant in entrants:
                self._matches[entrant].add(deal)
            if not result.counts:
                continue
            self.incomplete |= {*entrants} if game.seats is None else set()
            together = teams[len(entrants)]
            seats = game.seats or tuple(
                value_types.SeatResult(rank=rank, decisions=0, total_ms=0.0, max_ms=0.0, team=team)
                for rank, team in zip(result.ranks, together or (None,) * len(result.ranks), strict=True)
            )
            after = true_skill.rate([self.ratings[entrant] for entrant in entrants], tuple(result.ranks), together)
            for rating, tally in zip(after, game_rows.Tally.of_game(entrants, seats), strict=True):
                self.ratings[tally.entrant] = rating
                self.tallies[tally.entrant] = self.tallies[tally.entrant].plus(tally)
            pairs += pentanomial.pairs_of(
                deal, entrants, tuple(result.ranks), [seat.margin for seat in seats], together
            )
        self.pairs = pentanomial.add_up(pairs)

    def document(self, final: FinalResult | None, matches: Sequence[tuple[int, list[Result]]]) -> Payload:
        """Returns what the standings must be. What nobody can compute is as it is told.

        Args:
            final: The line about the final; None if there was none.
            matches: Of each match of the final the deal and the results, in order.
        """
        told = self._closed.standings
        rows = {row["name"]: row for row in told["items"]}
        if told["method"] not in (documents.BY_FINAL, documents.BY_RATING):
            raise ValueError(f"by {told['method']!r}, which the version of arena computes that closed the season")
        fit = ranking_tables.fit_of(self.tallies, self.pairs, max(self._players), {}, self.predecessors)
        entrants = [
            game_rows.Entrant(number=number, name=name, version="", digest="", spec={})
            for number, name in enumerate(self.names)
        ]
        table = ranking_tables.tabulate(
            entrants,
            self.ratings,
            self.tallies,
            self.pairs,
            fit,
            crosstable=False,
            among=sorted(self._number[name] for name in rows),
        )
        least = told.get("final_matches")  # there was none in earlier versions of arena
        items = []
        for row in table.standings:
            number, found = self._number[row.bot], rows[row.bot]
            skipped = FROM_LOGS if number in self.incomplete else ()
            known = {
                "rank": row.rank,
                "name": row.bot,
                "bot": row.bot.partition("/")[0],
                **confinement(self._closed.entrants[number].level),
                **figures(row),
                "matches": len(self._matches[number]),
            }
            if least is not None:
                known["provisional"] = known["matches"] < least
            items.append(known | {name: found[name] for name in (*GIVEN, *skipped)})
        order = table.order and {"enough": table.order.enough, "open": [list(group) for group in table.order.open]}
        document = {"season": self._season, "digest": None, "method": told["method"], "remaking": None}
        if least is not None:
            document["final_matches"] = least
        if final is None:
            return {**document, "order": order, "items": items}
        last = self._final(told, final, matches)
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

    def _final(self, told: Payload, final: FinalResult, played: Sequence[tuple[int, list[Result]]]) -> Payload:
        playing = tuple(self._number[name] for name in final.entrants if name not in final.left)
        design = finals.Design(
            entrants=playing, begun_with=len(final.entrants), sizes=tuple(self._players), deals=final.deals
        )
        matches = [
            FinalMatch(
                deal=deal,
                table=tuple(sorted(self._number[name] for name in results[0].entrants)),
                over=True,
                whole=all(result.status == "done" for result in results),
            )
            for deal, results in played
            if all(result.counts for result in results)
        ]
        whole = {match.deal for match in matches if match.whole}
        pairs = [pair for pair in self.pairs if pair.deal in whole]
        outcome = final.outcome
        if outcome == "settled" and not finals.is_settled(design, pairs, whole):
            outcome = "not settled"
        standings = finals.standings(design, matches, pairs) if playing else []
        return {
            "began": told["final"]["began"],
            "outcome": outcome,
            "reason": told["final"]["reason"],
            "finalists": final.entrants,
            "left": final.left,
            "deals": len(whole),
            "most_deals": final.deals,
            "items": [item(one, self.names[one.entrant]) for one in standings],
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
        return numbers and math.isclose(expected, told, rel_tol=0.0, abs_tol=NEAR)
    return bool(expected == told) and isinstance(expected, bool) == isinstance(told, bool)
