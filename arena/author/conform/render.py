"""Shows a report: as lines for people, and as JUnit XML for continuous integration."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rich.cells import cell_len, chop_cells
from rich.text import Text

from arena.author.conform.report import BotReport, Evidence, Grade, Passed, Result, Verdict, hinders
from arena.core.face import plain

WIDEST: Final = 100
"""No line is longer, however wide the terminal."""
_STYLES: Final = {
    Verdict.OK: "green",
    Verdict.NON_STRICT: "yellow",
    Verdict.UNIMPLEMENTED: "cyan",
    Verdict.FAILED: "bold red",
    None: "dim",
}
_RULES: Final = 17
_TITLES: Final = 29  # the column where the rules' numbers and the titles begin
_MOST_DECODED: Final = 300
_MOST_HEX: Final = 144
_MOST_STDERR: Final = 8  # lines; `--json` has more

# For people


def report_lines(report: BotReport, width: int) -> Iterator[Text]:
    """Yields the lines of a report, for a terminal of `width` columns.

    First a line for each check, then what to fix, then a summary.
    """
    width = min(width, WIDEST)
    version = f" {report.version}" if report.version else ""
    yield Text(plain(f"{report.bot}{version}: {', '.join(report.rules)}"), style="bold")
    for section in dict.fromkeys(result.section for result in report.results):
        results = [result for result in report.results if result.section == section]
        yield Text()
        yield Text(plain(section))
        for result in results:
            if result.verdict is not None:
                yield from _line(result, width)
        yield from _not_attempted([result for result in results if result.verdict is None], width)
    for result in report.results:
        if result.evidence is not None or result.verdict is Verdict.FAILED:
            yield Text()
            yield from _explanation(result, width)
    yield Text()
    yield from _wrapped(summary(report), width)


def summary(report: BotReport) -> str:
    """Returns how the check ended, in a sentence or two."""
    reached = f"reaches level {report.level}" if report.level else "does not reach level core"
    counts = ", ".join(
        f"{number} {name.replace('not_attempted', 'not attempted')}" for name, number in report.counts.items() if number
    )
    measured = [f"{report.memory_mib:,} MiB of memory"]
    if report.max_ms is not None:
        measured.insert(0, f"slowest decision {report.max_ms:,.0f} ms")
    if report.start_ms is not None:
        measured.insert(0, f"start-up {report.start_ms:,.0f} ms")
    text = f"{report.bot} {reached}: {counts}, in {report.seconds:.1f} s. Measured: {', '.join(measured)}."
    if any(result.excuse for result in report.hindering(Grade.FULL)):
        text += " This machine did not let the bot run in time: check it again when it has less to do."
    return plain(text)


def verdict_lines(reports: Iterable[BotReport], demanded: Grade) -> Iterator[Text]:
    """Yields a line for each of several bots: whether it reaches the level that is demanded."""
    reports = list(reports)
    names = [plain(report.bot) for report in reports]
    column = max(map(len, names))
    for name, report in zip(names, reports, strict=True):
        passed = report.reaches(demanded)
        words = f"level {report.level}" if report.level else "no level"
        yield Text.assemble(
            f"{name:{column}}  ",
            (f"{'passed' if passed else 'failed'}  ", "green" if passed else "bold red"),
            words,
        )


def _line(result: Result, width: int) -> Iterator[Text]:
    """Yields verdict, first rule (`+2`: and two more), title, and what was measured; several lines if it is long."""
    words = "not attempted" if result.verdict is None else str(result.verdict)
    title = result.title
    if result.detail and result.evidence is None and result.verdict is not Verdict.FAILED:
        title += f": {result.detail}"
    spec = result.spec[0] + (f" +{len(result.spec) - 1}" if len(result.spec) > 1 else "")
    lines = textwrap.wrap(plain(title), width - _TITLES) or [""]
    yield Text.assemble((f"  {words:{_RULES - 2}}", _STYLES[result.verdict]), f"{spec:{_TITLES - _RULES}}", lines[0])
    for line in lines[1:]:
        yield Text(f"{'':{_TITLES}}{line}")


def _not_attempted(results: Sequence[Result], width: int) -> Iterator[Text]:
    """Yields a line for each reason."""
    for reason, number in Counter(result.detail for result in results).items():
        named = [result for result in results if result.detail == reason]
        if number == 1:
            yield from _line(named[0], width)
        else:
            yield Text.assemble(
                (f"  {'not attempted':{_TITLES - 2}}", _STYLES[None]), plain(f"{number} checks: {reason}")
            )


def _explanation(result: Result, width: int) -> Iterator[Text]:
    """Yields what a bot's author needs to fix it."""
    head = f"{result.verdict} {result.id}: {result.title} ({', '.join(result.spec)})"
    yield from _wrapped(head, width, style=_STYLES[result.verdict])
    yield from _wrapped(result.detail, width, indent=2)
    if result.remedy:
        yield from _wrapped(f"To fix it: {result.remedy}", width, indent=2)
    if result.evidence is not None:
        yield from _evidence(result.evidence, width)


def _evidence(evidence: Evidence, width: int) -> Iterator[Text]:
    for message in evidence.messages:
        yield from _message(message, width)
    if not evidence.stderr:
        yield Text("  It wrote nothing to its standard output and error.")
        return
    left_out = len(evidence.stderr) - _MOST_STDERR
    yield Text(f"  It wrote{f' (the last {_MOST_STDERR} lines)' if left_out > 0 else ''}:")
    for line in evidence.stderr[-_MOST_STDERR:]:
        yield from _wrapped(line, width, indent=4)


def _message(message: Passed, width: int) -> Iterator[Text]:
    whose = "the referee sent" if message.sender == "referee" else "the bot sent"
    yield Text(f"  At {message.ms:,.1f} ms {whose} {message.size:,} bytes:")
    yield from _wrapped(_cut(message.decoded, _MOST_DECODED), width, indent=4)
    yield from _wrapped(_cut(message.hex, _MOST_HEX), width, indent=4, style="dim")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip(' …')} …"


def _wrapped(text: str, width: int, *, indent: int = 0, style: str = "") -> Iterator[Text]:
    margin = " " * indent
    text, columns = plain(text), max(20, width - indent)
    # Characters of Chinese or Japanese are two columns wide, which textwrap does not know.
    narrow = cell_len(text) == len(text)
    lines = textwrap.wrap(text, columns, break_on_hyphens=False) if narrow else chop_cells(text, columns)
    for line in lines or [""]:
        yield Text(f"{margin}{line}", style=style)


# For continuous integration


def junit(reports: Sequence[BotReport], demanded: Grade) -> str:
    """Returns a JUnit XML document: a suite for each bot, a case for each check.

    A case fails if it keeps the bot from the level that is `demanded`. What was not attempted, and what the bot need
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


def _case(suite: Element, bot: str, result: Result, demanded: Grade) -> None:
    name = plain(f"{result.id} {result.title} ({', '.join(result.spec)})")
    case = SubElement(suite, "testcase", classname=plain(f"{bot}.{result.section}"), name=name)
    if hinders(result, demanded):
        failure = SubElement(case, "failure", type=str(result.verdict), message=plain(result.detail))
        failure.text = "\n".join(map(plain, _lines(result)))
    elif result.verdict is None or result.level is Grade.OPTIONAL:
        SubElement(case, "skipped", message=plain(result.detail))
    elif result.detail:
        SubElement(case, "system-out").text = plain(f"{result.verdict}: {result.detail}")


def _lines(result: Result) -> list[str]:
    lines = [result.detail, result.remedy]
    if result.evidence is not None:
        for message in result.evidence.messages:
            lines += [f"{message.sender} at {message.ms} ms, {message.size} bytes: {message.decoded}", message.hex]
        lines += [f"stderr: {line}" for line in result.evidence.stderr]
    return lines


def _count(element: Element, counts: list[int]) -> None:
    for name, number in zip(("tests", "failures", "skipped"), counts, strict=True):
        element.set(name, str(number))
    element.set("errors", "0")
