"""Checks by SPEC.md, LOG.md and LEAGUE.md that what bots and authors were once shown is still what is shown.

    python3 check_receipts.py receipts KEPT LOG...             receipts that a bot has kept, against logs
    python3 check_receipts.py lines FOLDER [--head FILE]...    the lines of seasons, against logs and heads

KEPT has a line for each game, as section 8.10 of SPEC.md says. FOLDER has `seasons`, and
`logs` if there are any: what a league publishes, or what `arena league season get` fetched. FILE has a head on each
line: a JSON object with `tournament`, `lines` and `sha256`.

It needs Python 3.11 and check_log.py beside it, and nothing else. Exit status: 0 if all is right, 1 if something is
not, 2 if a file cannot be read, 5 if a later version wrote one, which was not checked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import runpy
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LOGS = runpy.run_path(str(Path(__file__).with_name("check_log.py")))
Fault, Later, bytes_of, canonical, known_versions, read, receipts = (
    _LOGS[name] for name in ("Fault", "Later", "bytes_of", "canonical", "known_versions", "read", "receipts")
)
PAGE = 10_000
"""Lines in one file."""

Record = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Does what is asked for. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Checks receipts and lines of seasons.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    one = kinds.add_parser("receipts", help="receipts that were kept, against logs")
    one.add_argument("kept", type=Path, metavar="KEPT")
    one.add_argument("logs", type=Path, nargs="+", metavar="LOG")
    one = kinds.add_parser("lines", help="the lines of seasons, against logs and heads that were seen")
    one.add_argument("folder", type=Path, metavar="FOLDER")
    one.add_argument("--head", type=Path, action="append", default=[], metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        found = list(
            compare(options.kept, options.logs)
            if options.kind == "receipts"
            else check_lines(options.folder, options.head)
        )
    except Later as later:
        print(later, file=sys.stderr)
        return 5
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        print(f"expected files as the pages say, got: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print("\n".join(found) or "right")
    return 1 if found else 0


# Receipts


def compare(kept: Path, logs: list[Path]) -> Iterator[str]:
    """Yields how receipts that were kept differ from logs. Those of games without a log are passed over."""
    lines: dict[tuple[int, int], list[tuple[int, Record]]] = {}
    for number, text in enumerate(kept.read_bytes().splitlines(), start=1):
        line = json.loads(text)
        known_versions(line, "format")
        check_kept(line, f"{kept}:{number}")
        lines.setdefault((line["bot_seed"], line["seat"]), []).append((number, line))
    count = 0
    for path in logs:
        try:
            records = list(read(bytes_of(path)))
        except Later:
            raise
        except Fault as fault:
            yield f"{path}:{fault}"
            continue
        attempt = records[0].get("attempt", 0)
        for seat, bot in enumerate(records[0]["bots"]):
            kept_here = [
                (number, line, list(differ(line, seat, records)))
                for number, line in lines.get((bot["bot_seed"], seat), ())
            ]
            count += len(kept_here)
            proven = attempt != 1 and any(not wrong for _, _, wrong in kept_here)
            thrown_away = 0
            for number, line, wrong in kept_here:
                fits_itself = line["own"] in (None, line["told"])
                if line["termination"] == "interrupted" or (wrong and proven and fits_itself):
                    thrown_away += 1
                else:
                    yield from (f"{kept}:{number}: game {records[0]['game']}, seat {seat}: {text}" for text in wrong)
            if 0 < attempt <= thrown_away:
                yield (
                    f"{path}:1: it was begun {attempt} times, seat {seat} was told the end of {thrown_away} games "
                    "that were interrupted or do not count"
                )
    if count == 0:
        yield f"{kept}: expected receipts of these games, got none"


def check_kept(line: Record, at: str) -> None:
    """Raises ValueError: a line is no receipt, as section 8.10 of SPEC.md has them."""
    numbers = [line["bot_seed"], line["seat"], *line["ranks"]]
    digests = [line["own"], line["told"], line["notes"], line.get("forfeits")]
    if (
        not all(type(number) is int and number >= 0 for number in numbers)
        or not all(digest is None or re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
        or not isinstance(line["termination"], str)
    ):
        raise ValueError(f"no receipt - at {at}")


def differ(line: Record, seat: int, records: list[Record]) -> Iterator[str]:
    """Yields how a receipt differs from the records of its game."""
    outcome = records[-1]
    if line["own"] is not None and line["own"] != line["told"]:
        yield f"its messages give the receipt {line['own']}, and it was told {line['told']}"
    for key in ("termination", "ranks"):
        if line[key] != outcome[key]:
            yield f"it was told the {key} {line[key]}, the log says {outcome[key]}"
    right = {one["seat"]: one for one in receipts(records)}.get(seat)
    if right is None:
        yield "it was told the end of the game, the log says that it forfeited"
        return
    for key in ("own", "told"):
        if line[key] is not None and line[key] != right["digest"]:
            yield f"what it saw and did ({key}) has the digest {line[key]}, that of the log is {right['digest']}"
    if line.get("forfeits") not in (None, right.get("forfeits")):
        yield f"it was told forfeits with the digest {line['forfeits']}, those of the log have {right.get('forfeits')}"
    logged = {one["seat"]: one for one in outcome.get("receipts") or ()}.get(seat, {})
    notes = right.get("notes") or logged.get("notes")
    if line["notes"] != notes:
        yield f"its notes have the digest {line['notes']}, those of the log {notes}"


# Lines of seasons


def check_lines(folder: Path, heads: list[Path]) -> Iterator[str]:
    """Yields what is wrong with the lines of the seasons in a folder."""
    seen = [json.loads(line) for path in heads for line in path.read_bytes().splitlines()]
    for season in sorted((folder / "seasons").glob("*/")):
        count, before, logs = 0, None, {}
        for at, line in lines_of(season):
            told = json.loads(line)
            known_versions(told, "format")
            if canonical(told) != line:
                yield f"{at}: expected canonical JSON, got another form"
            if told["number"] != count or before not in (None, told["before"]):
                yield f"{at}: it does not follow from the line before it"
            count, before = count + 1, hashlib.sha256(line).hexdigest()
            for head in seen:
                if (head["tournament"], head["lines"]) == (season.name, count) and head["sha256"] != before:
                    yield f"{at}: expected the line with the SHA-256 {head['sha256']} that was seen, got: {before}"
            if told["kind"] == "planned":
                logs[told["match"]] = [f"{season.name}-{number:06d}" for number in told["games"]]
            elif told["kind"] == "over":
                for game, one in zip(logs[told["match"]], told["games"], strict=True):
                    paths = (folder / "logs" / f"{game}.jsonl{end}" for end in ("", ".zst"))
                    path = next((path for path in paths if path.exists()), None)
                    if path and (sha256 := hashlib.sha256(bytes_of(path)).hexdigest()) != one["log"]:
                        yield f"{path}: expected the log with the SHA-256 {one['log']}, got: {sha256}"
        if (most := max((head["lines"] for head in seen if head["tournament"] == season.name), default=0)) > count:
            yield f"{season}: expected the {most} lines that were seen, got: {count}"


def lines_of(season: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the lines of a season without their line feeds, each with its place.

    Raises:
        ValueError: A file is missing, is not full though another follows, or is cut off.
    """
    names = [path.name for path in season.glob("rounds-*.jsonl")]
    for number in range(len(names)):
        path = season / f"rounds-{number}.jsonl"
        *lines, rest = path.read_bytes().split(b"\n")
        if rest or len(lines) > PAGE or (len(lines) < PAGE and number + 1 < len(names)):
            raise ValueError(f"expected {PAGE} whole lines, or fewer in the last file - at {path}")
        yield from ((f"{path}:{at}", line) for at, line in enumerate(lines, start=1))


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # `| head` ends it without a traceback
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
