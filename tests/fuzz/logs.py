"""Logs, and what is published beside them: whatever is in them, `verify`, `replay` and `rerun` end with an answer."""

from __future__ import annotations

import tempfile
from functools import cache
from itertools import islice
from pathlib import Path

from arena.author.rerun import requests_of
from arena.core.errors import ArenaError
from arena.core.record.log import parse_log, read_log
from arena.core.record.published import COMMITMENT_FILE, CONTRIBUTIONS_FILE, SECRET_FILE
from arena.core.referee.verify import Publication, verify
from arena.core.show.replay import Replay
from arena.core.standings.audit import Auditor
from arena.core.standings.examined import examine
from tests.conformance.logs import LOGS, bodies, summed
from tests.fuzz.choices import JSON_TOKENS, Choices, damaged, scribbled

TOURNAMENTS = LOGS.parent / "tournaments"
FRAMES = 4  # how many frames of a log are drawn


@cache
def examples() -> list[bytes]:
    return sorted((path.read_bytes() for path in LOGS.glob("*.jsonl")), key=len)


def make_log(data: bytes) -> bytes:
    """A log that is broken somewhere, its sums mostly right."""
    choices = Choices(data)
    lines = bodies(choices.pick(examples()))
    for _ in range(1 + choices.number(3)):
        end = len(lines) - 1
        at = choices.pick((0, end, choices.number(end + 1), choices.number(end + 1)))
        match choices.number(10):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[choices.number(end + 1)])
            case 2:
                other = bodies(choices.pick(examples()))
                lines.insert(at, other[choices.number(len(other))])
            case 3:
                lines[at] = f'{lines[at]},"x":{choices.pick(JSON_TOKENS)}'
            case _:
                lines[at] = damaged(lines[at] + "}", choices)[:-1]
        if not lines:
            break
    made = summed(lines)
    return scribbled(made, choices) if choices.number(8) == 7 else made


def check_log(data: bytes) -> None:
    """Only errors of arena, and nothing that a terminal could act on. Other errors end a command as a bug does."""
    try:
        log = parse_log(data, "fuzz.jsonl")
    except ArenaError as error:
        _check_message(error)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fuzz.jsonl")
        path.write_bytes(data)
        try:
            verify(path, Publication(None, None, None))
        except ArenaError as error:
            _check_message(error)
    for seat in (None, 0):
        try:
            shown = Replay(log, seat)
            for index in {*range(FRAMES // 2), *range(len(shown.frames) - FRAMES // 2, len(shown.frames))}:
                if 0 <= index < len(shown.frames):
                    for line in shown.draw(index, 80):
                        assert line.plain.isprintable(), ascii(line.plain)
        except ArenaError as error:
            _check_message(error)
    try:
        for _ in islice(requests_of(log, 0), 5):
            pass
    except ArenaError as error:
        _check_message(error)


def _check_message(error: ArenaError) -> None:
    assert type(error).exit_code != 70, repr(error)
    assert len(str(error)) < 100_000, "the message is as long as the file"


@cache
def tournaments() -> list[dict[str, bytes]]:
    """By tournament its files, by name."""
    return [
        {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        for folder in sorted(TOURNAMENTS.iterdir())
        if folder.is_dir()
    ]


PUBLISHED = (COMMITMENT_FILE, SECRET_FILE, CONTRIBUTIONS_FILE)


def make_folder(data: bytes) -> dict[str, bytes]:
    """What is published of a tournament, broken somewhere, and one log of it."""
    choices = Choices(data)
    whole = choices.pick(tournaments())
    logs = [name for name in whole if name not in PUBLISHED]
    made = {name: whole[name] for name in whole if name in PUBLISHED} | {logs[0]: whole[logs[0]]}
    for _ in range(1 + choices.number(3)):
        name = choices.pick([name for name in made if name in PUBLISHED] or [logs[0]])
        match choices.number(8):
            case 0:
                del made[name]
            case 1:
                made[name] = scribbled(made[name], choices)
            case _:
                try:
                    made[name] = damaged(made[name].decode(), choices).encode(errors="surrogatepass")
                except ValueError:
                    made[name] = choices.pick(JSON_TOKENS).encode()
    return made


def check_folder(made: dict[str, bytes]) -> None:
    """As `check_log`, for the audit of a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, data in made.items():
            (folder / file).write_bytes(data)
        try:
            auditor = Auditor(folder)
            for log in sorted(folder.glob("*.jsonl")):
                auditor.add(examine(str(log)))
            auditor.result(complete=True)
        except ArenaError as error:
            _check_message(error)


__all__ = ["check_folder", "check_log", "make_folder", "make_log", "read_log"]
