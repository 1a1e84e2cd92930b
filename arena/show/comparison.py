"""Shows a comparison of two bots as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.show.standings import percent
from arena.text import plain


def comparison_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yields what is known about two bots; `found` is the JSON document."""
    yield from map(plain, _lines(found))


def brief(bot: str, score: float, deals: int, evidence: float, needed: float) -> str:
    """Returns what is known so far, for a line of progress."""
    return f"{bot} {percent(score)} of {_number(deals, 'deal')}, evidence {_odds(evidence)} of {_odds(needed)}"


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    one, other = found["bots"]
    forfeits = ", ".join(
        f"{bot} forfeited {count}" for bot, count in zip(found["bots"], found["forfeits"], strict=True) if count
    )
    yield f"{_number(found['deals'], 'deal')} ({_number(found['games'], 'game')}){': ' if forfeits else ''}{forfeits}"
    if not found["deals"]:
        return
    yield f"{one}'s share of a deal, and how many had it: {_counts(found['counts'])}"
    confidence = f"{100 * (1 - found['alpha']):g} %"
    score = f"{one} scores {percent(found['score'])} a deal ({confidence}: {_range(found['interval'])} at any look"
    if found["one_look"] is not None:
        score += f", {_range(found['one_look'])} at this one alone"
    rating = "" if found["rating"] is None else f", {found['rating']:+.1f} rating points"
    yield f"{score}){rating}"
    better, evidence = max((one, found["e_plus"]), (other, found["e_minus"]), key=lambda each: each[1])
    shown = f"Evidence {_odds(evidence)} that {better} is better" if evidence > 1 else "No evidence for either"
    yield f"{shown}; {_odds(found['needed'])} is needed"
    if found["sprt"] is not None:
        yield _sprt(found["sprt"], one)
    yield _answer(found)


def _answer(found: Mapping[str, Any]) -> str:
    one, other = found["bots"]
    error = f"an answer like this is wrong in {100 * found['alpha']:g} % of comparisons at most"
    match found["verdict"]:
        case "better":
            return f"{one} is better than {other} ({error})."
        case "worse":
            return f"{other} is better than {one} ({error})."
        case "level":
            return f"{one} and {other} are level: the score is within {100 * found['delta']:g} % of one half ({error})."
    if found["answered"]:
        return "Open: the sequential test has its answer, and that much evidence is not there."
    more = found["more_deals"]
    forecast = "" if more is None else f"; about {_number(more, 'more deal')} like these would tell"
    return f"Open: neither is shown to be better{forecast}."


def _sprt(test: Mapping[str, Any], bot: str) -> str:
    low, high = test["bounds"]
    zero, ahead = test["elo"]
    ratio = "not known yet" if test["log_ratio"] is None else f"{test['log_ratio']:.2f}"
    words = {"H0": f"rather {zero:+g}", "H1": f"rather {ahead:+g}", "open": "open"}[test["verdict"]]
    return f"SPRT of {zero:+g} and {ahead:+g} Elo for {bot}: log ratio {ratio} ({low:.2f} to {high:.2f}): {words}"


def _counts(counts: list[tuple[float, int]]) -> str:
    return ", ".join(f"{100 * share:.0f} % {count}" for share, count in counts)


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.1%} to {ends[1]:.1%}".replace("%", " %")


def _odds(evidence: float) -> str:
    return f"{evidence:,.0f} : 1" if evidence >= 10 else f"{evidence:.2g} : 1"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
