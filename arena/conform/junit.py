"""Reports as JUnit XML, which continuous integration reads: a suite for each bot, a case for each check."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from arena.conform.report import Level, Report, Result, Verdict
from arena.text import plain


def junit(reports: Sequence[Report], demanded: Level) -> str:
    """The document.

    A case fails if it keeps the bot from the level that is `demanded`; what was not attempted, and what the bot need
    not play, is skipped.
    """
    root = Element("testsuites", name="arena bot check")
    totals = [0, 0, 0]
    for report in reports:
        suite = SubElement(root, "testsuite", name=plain(report.bot), time=f"{report.seconds:.3f}")
        for result in report.results:
            _case(suite, report.bot, result, demanded)
        counts = [len(report.results), len(suite.findall("*/failure")), len(suite.findall("*/skipped"))]
        _count(suite, counts)
        totals = [total + number for total, number in zip(totals, counts, strict=True)]
    _count(root, totals)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def hinders(result: Result, level: Level) -> bool:
    """Whether a result keeps a bot from a level. What was not attempted does not: what it waited for does."""
    if result.level is Level.OPTIONAL or result.verdict in (Verdict.OK, None):
        return False
    if result.verdict is Verdict.FAILED or level is Level.FULL:
        return True
    return result.verdict is Verdict.UNIMPLEMENTED and result.level is Level.CORE


def _case(suite: Element, bot: str, result: Result, demanded: Level) -> None:
    name = f"{result.id} {result.title} ({', '.join(result.spec)})"
    case = SubElement(suite, "testcase", classname=plain(f"{bot}.{result.section}"), name=name)
    if hinders(result, demanded):
        failure = SubElement(case, "failure", type=str(result.verdict), message=plain(result.detail))
        failure.text = "\n".join(map(plain, _lines(result)))
    elif result.verdict is None or result.level is Level.OPTIONAL:
        SubElement(case, "skipped", message=plain(result.detail))
    elif result.detail:
        SubElement(case, "system-out").text = plain(f"{result.verdict}: {result.detail}")


def _lines(result: Result) -> list[str]:
    lines = [result.detail, result.mend]
    if result.evidence is not None:
        for message in result.evidence.messages:
            lines += [f"{message.sender} at {message.ms} ms, {message.size} bytes: {message.decoded}", message.hex]
        lines += [f"stderr: {line}" for line in result.evidence.stderr]
    return lines


def _count(element: Element, counts: list[int]) -> None:
    for name, number in zip(("tests", "failures", "skipped"), counts, strict=True):
        element.set(name, str(number))
    element.set("errors", "0")
