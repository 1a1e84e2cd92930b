"""Shows a comparison of two bots as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.core.show.standings import percent
from arena.core.text import counted, plain


def comparison_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yields what is known about two bots; `found` is the JSON document."""
    yield from map(plain, _lines(found))


def brief(
    bot: str, score: float, deals: int, evidence: float, needed: float, lead: tuple[float, str] | None = None
) -> str:
    """Returns what is known so far, for a line of progress; `lead` is that of a game and its unit, if it is judged."""
    told = f"{percent(score)} of" if lead is None else f"{lead[0]:+.2f} {lead[1]} in"
    return f"{bot} {told} {counted(deals, 'deal')}, evidence {_odds(evidence)} of {_odds(needed)}"


def accepted(found: Mapping[str, Any]) -> bool | None:
    """Returns whether the first bot may replace the second: it is better, or level. None while that is open."""
    verdict = found["verdict"] if found["sprt"] is None else found["sprt"]["verdict"]
    return None if verdict == "open" else verdict in ("better", "level", "H1")


def ci_line(found: Mapping[str, Any]) -> str:
    """Returns what is known in one line of Markdown, for a pull request."""
    lead, deals, confidence = found["lead"], counted(found["deals"], "deal"), f"{100 * (1 - found['alpha']):g} %"
    figures = []
    if found["by"] == "margin" and lead is not None:
        figures.append(f"{lead['mean']:+.2f} {lead['unit']} a game ({confidence}: {_leads(lead['interval'])})")
    wins = found["wins"] or found
    figures.append(f"{percent(wins['score'])} by wins ({confidence}: {_range(wins['interval'])})")
    verdict = found["verdict"] if found["sprt"] is None else f"{found['sprt']['verdict']} of the sequential test"
    sign = {True: "✅", False: "❌", None: "❔"}[accepted(found)]
    one, other = found["bots"]
    return plain(f"{sign} `{one}` against `{other}`: **{verdict}** after {deals}, {', '.join(figures)}")


def junit(found: Mapping[str, Any]) -> str:
    """Returns a JUnit XML document with one case, which fails unless the first bot may replace the second."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    is_accepted = accepted(found)
    counts = {"tests": "1", "failures": str(int(not is_accepted)), "errors": "0", "skipped": "0"}
    root = Element("testsuites", counts | {"name": "arena compare"})
    suite = SubElement(root, "testsuite", counts | {"name": "arena compare"})
    one, other = map(plain, found["bots"])
    case = SubElement(suite, "testcase", classname="arena.compare", name=f"{one} is not worse than {other}")
    lines = list(comparison_lines(found))
    if is_accepted:
        SubElement(case, "system-out").text = "\n".join(lines)
    else:
        SubElement(case, "failure", type=found["verdict"], message=lines[-1]).text = "\n".join(lines)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    one, other = found["bots"]
    forfeits = ", ".join(
        f"{bot} forfeited {count}" for bot, count in zip(found["bots"], found["forfeits"], strict=True) if count
    )
    yield f"{counted(found['deals'], 'deal')} ({counted(found['games'], 'game')}){': ' if forfeits else ''}{forfeits}"
    if not found["deals"]:
        return
    confidence = f"{100 * (1 - found['alpha']):g} %"
    lead, wins = found["lead"], found["wins"]
    if wins is None:
        yield from _score(found, one, confidence)
    if lead is not None:
        yield _lead(lead, one, confidence)
    if wins is not None:
        if lead is not None:
            ahead, level, behind = lead["deals"]
            yield f"It is ahead on {counted(ahead, 'deal')}, level on {level}, behind on {behind}"
        yield (
            f"By wins it is {wins['verdict']}: {percent(wins['score'])} a deal"
            f" ({confidence}: {_range(wins['interval'])} at any look)"
        )
    better, evidence = max((one, found["e_plus"]), (other, found["e_minus"]), key=lambda each: each[1])
    of = "" if wins is None else f" by {lead['unit'] if lead else 'margins'}"
    shown = f"Evidence {_odds(evidence)} that {better} is better{of}" if evidence > 1 else "No evidence for either"
    yield f"{shown}; {_odds(found['needed'])} is needed"
    if found["sprt"] is not None:
        yield _sprt(found["sprt"], one)
    yield _answer(found, of)


def _lead(lead: Mapping[str, Any], one: str, confidence: str) -> str:
    sure = f"{confidence}: {_leads(lead['interval'])} at any look"
    if lead["one_look"] is not None:
        sure += f", {_leads(lead['one_look'])} at this one alone"
    return f"{one}'s lead is {lead['mean']:+.2f} {lead['unit']} a game ({sure})"


def _score(found: Mapping[str, Any], one: str, confidence: str) -> Iterator[str]:
    counts = ", ".join(f"{100 * share:.0f} % {count}" for share, count in found["counts"])
    yield f"{one}'s share of a deal, and how many had it: {counts}"
    score = f"{one} scores {percent(found['score'])} a deal ({confidence}: {_range(found['interval'])} at any look"
    if found["one_look"] is not None:
        score += f", {_range(found['one_look'])} at this one alone"
    rating = "" if found["rating"] is None else f", {found['rating']:+.1f} rating points"
    yield f"{score}){rating}"


def _answer(found: Mapping[str, Any], of: str) -> str:
    one, other = found["bots"]
    error = f"an answer like this is wrong in {100 * found['alpha']:g} % of comparisons at most"
    match found["verdict"]:
        case "better":
            return f"{one} is better than {other}{of} ({error})."
        case "worse":
            return f"{other} is better than {one}{of} ({error})."
        case "level":
            near = f"the score is within {100 * found['delta']:g} % of one half"
            if found["by"] == "margin" and found["lead"] is not None:
                near = f"the lead is within {found['lead']['level']:.2g} of none"
            return f"{one} and {other} are level{of}: {near} ({error})."
    if found["answered"]:
        return "Open: the sequential test has its answer, and that much evidence is not there."
    more = found["more_deals"]
    forecast = "" if more is None else f"; about {counted(more, 'more deal')} like these would tell"
    return f"Open: neither is shown to be better{forecast}."


def _sprt(test: Mapping[str, Any], bot: str) -> str:
    low, high = test["bounds"]
    zero, ahead = test["elo"]
    ratio = "not known yet" if test["log_ratio"] is None else f"{test['log_ratio']:.2f}"
    words = {"H0": f"rather {zero:+g}", "H1": f"rather {ahead:+g}", "open": "open"}[test["verdict"]]
    return f"SPRT of {zero:+g} and {ahead:+g} Elo for {bot}: log ratio {ratio} ({low:.2f} to {high:.2f}): {words}"


def _leads(ends: tuple[float, float]) -> str:
    return f"{ends[0]:+.2f} to {ends[1]:+.2f}"


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.1%} to {ends[1]:.1%}".replace("%", " %")


def _odds(evidence: float) -> str:
    return f"{evidence:,.0f} : 1" if evidence >= 10 else f"{evidence:.2g} : 1"
