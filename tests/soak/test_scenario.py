"""Scenarios of a soak: the same for a seed, with everything that there is to try."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.soak.scenario import AT_ONCE, AUTHORS, BLOWS, LATER, draw

LENGTHS = st.floats(20, 3600)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**24), seconds=LENGTHS)
def test_a_seed_gives_the_same_scenario_with_everything_in_it(seed: int, seconds: float) -> None:
    scenario = draw(seed, seconds)
    assert scenario == draw(seed, seconds)
    assert len(scenario.bots) == len({bot.name for bot in scenario.bots}) == 30
    assert {bot.attack for bot in scenario.bots if bot.is_hostile} == {*AT_ONCE, *LATER}
    assert max(Counter(bot.author for bot in scenario.bots).values()) == AUTHORS
    assert {trouble.blow for trouble in scenario.troubles} == set(BLOWS)
    for times in ([one.at for one in scenario.arrivals], [one.at for one in scenario.troubles]):
        assert times == sorted(times)
        assert times[-1] < scenario.calm < seconds
    versions = [(one.bot.name, one.number) for one in scenario.arrivals]
    assert len(set(versions)) == len(versions) > 30
    assert {name for name, _ in versions} == {bot.name for bot in scenario.bots}
    for name, number in versions:
        assert number == 1 or versions.index((name, 1)) < versions.index((name, number))
    bad = {bot.name for bot in scenario.bots if bot.attack in LATER}
    assert all(one.at < scenario.wakes for one in scenario.arrivals if one.bot.name in bad)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**24), bots=st.integers(4, 12), hostile=st.integers(2, 4))
def test_a_short_scenario_has_both_kinds_of_hostile_bots(seed: int, bots: int, hostile: int) -> None:
    scenario = draw(seed, 30, bots + hostile, hostile)
    attacks = [bot.attack for bot in scenario.bots if bot.is_hostile]
    assert len(attacks) == hostile
    assert set(attacks) & set(AT_ONCE)
    assert set(attacks) & set(LATER)
    assert len(scenario.bots) == bots + hostile
