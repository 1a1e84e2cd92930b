"""Two bots are compared over as many tournaments as that takes. Games take no time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.ratings.evidence import Evidence
from arena.core.standings.closing import close
from arena.core.standings.comparison import Comparison, compared, earlier, going_on, others_of, so_far
from arena.core.store.records import Tournament
from arena.core.store.store import Store, open_store
from arena.core.tournament.formats.compare import Compare
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.settings import Settings
from tests import instant

TAKEN_BACK = "spring"
"""A seed with which ann is shown to be better than bob, and the deals of the last round take it back."""

MOST = 4  # the largest lead in instant games, and in Samurai


def comparison(bots: tuple[str, ...] = ("bob", "cid"), players: int = 2, **limits: Any) -> Settings:
    """Of bob and cid none is better in the long run, and ann is better than both."""
    return instant.settings(bots, players=players, seed="summer", format=Compare(**limits))


def play(store: Store, settings: Settings, logs: Path) -> str:
    begun = instant.start(store, settings, logs)
    list(instant.runner(store, begun, settings).run())
    close(store, begun.tournament)
    return begun.tournament.id


def finished(store: Store, settings: Settings, logs: Path) -> Comparison:
    return compared(store, play(store, settings, logs))


def of_many(store: Store, settings: Settings, logs: Path, *max_deals: int) -> Comparison:
    """Compares with one limit after the other, as the command does."""
    found = None
    for most in max_deals:
        wanted = replace(settings, format=replace(settings.format, max_deals=most))
        found = earlier(store, wanted)
        found = finished(store, wanted if found is None else going_on(wanted, found), logs)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("bots", "limits", "verdict"),
    [
        (("ann", "bob"), {}, "better"),
        (("bob", "ann"), {}, "worse"),
        (("bob", "cid"), {"delta": 0.25}, "level"),
        (("bob", "cid"), {"max_deals": 12}, "open"),
    ],
)
def test_the_verdict_is_told_of_the_first_bot(
    store: Store, tmp_path: Path, bots: tuple[str, str], limits: dict[str, Any], verdict: str
) -> None:
    found = finished(store, comparison(bots, **limits), tmp_path)
    assert found.bots == bots
    assert found.verdict == verdict
    assert found.answered == (verdict != "open")
    assert found.is_over(limits.get("max_deals", 5_000))
    assert found.games == 2 * found.deals == store.done(found.tournaments[0])
    evidence = Evidence()
    for share, count in found.counts:
        evidence.add(share, count)
    assert (found.deals, found.score) == (evidence.deals, pytest.approx(evidence.score))
    assert found.interval == pytest.approx(evidence.interval(0.05))
    assert (found.e_plus, found.e_minus, found.p) == pytest.approx((evidence.e_plus, evidence.e_minus, evidence.p))
    assert found.interval[0] < found.score < found.interval[1]
    assert found.needed == 40
    assert (found.e_plus >= 40) == (verdict == "better")
    assert (found.e_minus >= 40) == (verdict == "worse")


@pytest.mark.parametrize(("bots", "verdict"), [(("ann", "bob"), "better"), (("bob", "ann"), "worse")])
def test_by_margins_a_lead_is_judged_and_wins_are_told(
    store: Store, tmp_path: Path, bots: tuple[str, str], verdict: str
) -> None:
    found = finished(store, comparison(bots, margin=MOST), tmp_path)
    assert (found.by, found.verdict, found.rating) == ("margin", verdict, None)
    leads = [(pair.margin or 0) / pair.games / 2 for pair in store.pairs(found.tournaments[0])]
    assert found.lead is not None
    assert (found.lead.unit, found.lead.most) == ("captured pieces", MOST)
    assert found.lead.mean == pytest.approx(sum(leads) / len(leads))
    assert so_far(store, found.tournaments[0]).lead == (pytest.approx(found.lead.mean), "captured pieces")
    assert found.lead.level == pytest.approx(2 * MOST * found.delta)
    assert found.lead.interval[0] < found.lead.mean < found.lead.interval[1]
    assert found.lead.deals == tuple(sum(map(of, leads)) for of in (lambda x: x > 0, lambda x: x == 0, lambda x: x < 0))
    shares = Evidence.of(pair.share for pair in store.pairs(found.tournaments[0]))
    assert found.wins is not None
    assert (found.wins.score, found.wins.verdict) == (pytest.approx(shares.score), shares.verdict())


def test_by_margins_continued_comparisons_tell_what_one_long_one_tells(store: Store, tmp_path: Path) -> None:
    settings = comparison(delta=0.0, margin=MOST)
    continued = of_many(store, settings, tmp_path, 10, 11, 30)
    with open_store(tmp_path / "other.db") as other:
        once = of_many(other, settings, tmp_path, 30)
    assert replace(continued, tournaments=once.tournaments) == once


def test_what_is_judged_is_committed_to(store: Store, tmp_path: Path) -> None:
    """So nobody can choose it when they have seen the games."""
    by_wins, by_margin = comparison(max_deals=4), comparison(max_deals=4, margin=MOST)
    assert by_wins.digest != by_margin.digest
    finished(store, by_wins, tmp_path)
    assert earlier(store, by_margin) is None


def test_by_wins_the_lead_is_told_if_all_games_have_one(store: Store, tmp_path: Path) -> None:
    found = finished(store, comparison(max_deals=6), tmp_path)
    assert found.by == "wins"
    assert found.wins is None
    assert found.lead is not None
    store._db.execute("UPDATE pairs SET margin = NULL WHERE deal = 0")  # stored by an earlier version
    assert compared(store, found.tournaments[0]) == replace(found, lead=None)


def test_a_bot_that_scores_more_is_ahead_in_rating(store: Store, tmp_path: Path) -> None:
    ahead = finished(store, comparison(("ann", "bob")), tmp_path)
    behind = finished(store, comparison(("bob", "ann")), tmp_path)
    assert ahead.score > 0.5 > behind.score
    assert ahead.rating is not None
    assert behind.rating is not None
    assert ahead.rating > 0 > behind.rating


def test_continued_comparisons_tell_what_one_long_one_tells(store: Store, tmp_path: Path) -> None:
    settings = comparison(delta=0.0)
    continued = of_many(store, settings, tmp_path, 10, 11, 30)
    with open_store(tmp_path / "other.db") as other:
        once = of_many(other, settings, tmp_path, 30)
    assert len(continued.tournaments) == 3
    assert continued.forfeits != (0, 0)
    assert replace(continued, tournaments=once.tournaments) == once
    assert once.games == 60


def test_games_and_forfeits_of_all_parts_are_summed(store: Store, tmp_path: Path) -> None:
    found = of_many(store, comparison(delta=0.0), tmp_path, 10, 20)
    assert [store.done(part) for part in found.tournaments] == [20, 20]
    tallies = [store.tallies(part) for part in found.tournaments]
    assert found.forfeits == (
        tallies[0][0].forfeits + tallies[1][0].forfeits,
        tallies[0][1].forfeits + tallies[1][1].forfeits,
    )
    assert all(any(tally.forfeits for tally in part) for part in tallies), "the test adds nothing up"


def test_no_deal_is_played_twice(store: Store, tmp_path: Path) -> None:
    found = of_many(store, comparison(delta=0.0), tmp_path, 10, 20)
    deals = [{pair.deal for pair in store.pairs(part)} for part in found.tournaments]
    assert deals == [set(range(10)), set(range(10, 20))]


def test_an_answer_that_the_last_deals_took_back_is_not_given(store: Store, tmp_path: Path) -> None:
    """A round is under way when the answer comes. It counts, and so the comparison may end open, to be continued."""
    settings = replace(comparison(("ann", "bob")), seed=TAKEN_BACK)
    found = finished(store, settings, tmp_path)
    assert found.deals < 5_000
    assert found.verdict == "open"
    assert not found.is_over(5_000)
    assert earlier(store, settings) == found
    assert of_many(store, settings, tmp_path, 5_000).deals > found.deals


def test_other_settings_continue_nothing(store: Store, tmp_path: Path) -> None:
    settings = comparison(max_deals=8, delta=0.0)
    found = finished(store, settings, tmp_path)
    format, game, bots = settings.format, settings.game, settings.bots
    assert earlier(store, replace(settings, format=replace(format, max_deals=9))) == found
    for other in (
        replace(settings, seed="autumn"),
        replace(settings, format=replace(format, alpha=0.01)),
        replace(settings, format=replace(format, delta=0.1)),
        replace(settings, format=replace(format, sprt=(0, 50))),
        replace(settings, bots=bots[::-1]),
        replace(settings, bots=(bots[0], replace(bots[1], digest="00"))),
        replace(settings, game=replace(game, options={"setup": "random"})),
        replace(settings, game=replace(game, ruleset="basic")),
    ):
        assert earlier(store, other) is None


def test_only_what_is_finished_and_a_comparison_is_continued(store: Store, tmp_path: Path) -> None:
    settings = comparison(max_deals=8)
    play(store, replace(settings, format=RoundRobin(deals=8)), tmp_path)
    instant.start(store, settings, tmp_path)
    assert earlier(store, settings) is None


def test_the_latest_is_continued(store: Store, tmp_path: Path) -> None:
    settings = comparison(delta=0.0)
    of_many(store, settings, tmp_path, 8, 16)
    found = earlier(store, settings)
    assert found is not None
    assert found.deals == 16
    assert len(found.tournaments) == 2


def test_what_a_removed_part_showed_still_counts(store: Store, tmp_path: Path) -> None:
    settings = comparison(delta=0.0)
    before = of_many(store, settings, tmp_path, 8, 16)
    store.remove(before.tournaments[:1])
    after = earlier(store, settings)
    assert after is not None
    assert (after.deals, after.score, after.e_plus) == (16, before.score, before.e_plus)
    assert after.tournaments == before.tournaments[1:]
    assert after.games == 16


def test_a_deal_counts_when_all_its_games_are_done(store: Store, tmp_path: Path) -> None:
    settings = comparison(max_deals=6)
    begun = instant.start(store, settings, tmp_path)
    known = Counts(store, begun.tournament)
    for _ in instant.runner(store, begun, settings, lanes=1).run():
        known.check()
    assert known.seen == set(range(7)), "the deals were not looked at one by one"


class Counts:
    """Compares what is known while games are played with the games themselves."""

    def __init__(self, store: Store, tournament: Tournament) -> None:
        self._store = store
        self._id = tournament.id
        self.seen: set[int] = set()

    def check(self) -> None:
        known = so_far(self._store, self._id)
        whole = [pair.share for pair in self._store.pairs(self._id) if pair.games == 2]
        evidence = Evidence.of(whole)
        assert (known.deals, known.score) == (len(whole), pytest.approx(evidence.score))
        assert known.evidence == pytest.approx(max(evidence.e_plus, evidence.e_minus))
        assert (known.needed, known.bot, known.lead) == (40, "bob", None)
        assert compared(self._store, self._id).deals == len(whole)
        self.seen.add(len(whole))


def test_at_larger_tables_only_the_first_two_are_compared(store: Store, tmp_path: Path) -> None:
    settings = comparison(("bob", "ann", "bob#2", "ann#2"), players=3, max_deals=60)
    found = finished(store, settings, tmp_path)
    assert found.bots == ("bob", "ann")
    assert found.verdict == "worse"
    assert found.games == 3 * found.deals
    shares = [pair.share for pair in store.pairs(found.tournaments[0]) if (pair.one, pair.other) == (0, 1)]
    assert found.score == pytest.approx(sum(shares) / len(shares))


@pytest.mark.parametrize(("players", "others"), [(2, ""), (3, "ab"), (4, "abab"), (5, "ababab")])
def test_copies_of_both_take_the_remaining_seats(players: int, others: str) -> None:
    assert others_of("ab", players) == tuple(others)


def test_a_sequential_test_decides_when_it_is_over(store: Store, tmp_path: Path) -> None:
    found = finished(store, comparison(("ann", "bob"), sprt=(0, 50)), tmp_path)
    assert found.sprt is not None
    assert found.sprt.verdict == "H1"
    assert found.sprt.log_ratio is not None
    assert found.sprt.log_ratio >= found.sprt.bounds[1]
    assert found.answered
    short = finished(store, comparison(("ann", "bob"), sprt=(0, 50), max_deals=1), tmp_path)
    assert short.sprt is not None
    assert not short.answered
