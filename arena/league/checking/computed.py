"""Computes the final standings of a season again, from the results and the logs that its league publishes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from arena.core.face import GameResult, Payload, game_rows, pentanomial, ranking_tables, true_skill, value_types
from arena.league.checking.history import History
from arena.league.matches import finals
from arena.league.matches.final_tables import item
from arena.league.public import documents
from arena.league.public.ranking import confinement, figures
from arena.league.record import rounds

FROM_LOGS: Final = ("forfeits", "mean_score", "mean_ms", "max_ms")
"""What of a row of the standings only logs say."""
GIVEN: Final = ("author", "since")
"""What of a row no file but the standings says."""
LATER: Final = {"display_name"}
"""The same, of which earlier versions of arena said nothing."""
NEAR: Final = 1.5e-3
"""How far figures of standings may be apart: they are rounded to thousandths."""


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
        whole = {match.deal for match in matches if match.whole}
        pairs = [pair for pair in self.pairs if pair.deal in whole]
        decided = history.decided
        standings = finals.standings(design, matches, pairs) if design.entrants else []
        return {
            "began": told["began"],
            "outcome": "not played" if decided is None else decided.outcome,
            "reason": final.reason if decided is None else decided.reason,
            "finalists": final.entrants,
            "left": [name for name in history.entrants if name in history.left],
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
