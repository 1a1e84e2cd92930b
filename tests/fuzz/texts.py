"""What people write: boards, decks, manifests. Whatever is in them, what is wrong is said."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from pathlib import Path

from arena.core.errors import BoardError, BotError
from arena.core.link.bots import load_bot, missing, missing_tool, read_manifest
from arena.core.resources import board_names, board_text
from arena.core.show.boards import board_lines, board_svg, check_board
from arena.core.text import plain
from tests.fuzz.choices import TEXTS, Choices, scribbled

MANIFEST = """\
name = "fuzz"
version = "1"
author = "a"
language = "b"
command = ["{python}", "bot.py", "x"]
build = ["make", "it"]
built = ["out"]
needs = ["python3"]
rules = ["samurai"]
include = ["../beside.py"]
entropy = true
endpoint = "tcp"
[limits]
memory_mib = 64
file_mib = 1
start_ms = 1000
"""


@cache
def boards() -> list[list[str]]:
    """The bundled boards, and a small one, by their lines."""
    small = "name: a\nsource: b\nplayers: 2\nplace 1-0: c\nmap:\n.2\n   v2\n.2    v2\n   v2"
    return [small.split("\n"), *(board_text(name)[1].split("\n") for name in board_names())]


def make_board(data: bytes) -> bytes:
    choices = Choices(data)
    lines = list(choices.pick(boards()))
    for _ in range(1 + choices.number(3)):
        at = choices.number(len(lines))
        match choices.number(6):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[choices.number(len(lines))])
            case 2:
                lines[at] = lines[at].partition(":")[0] + ": " + choices.pick(TEXTS)
            case 3:
                lines[at] = choices.pick(
                    ("place 0-0: x", "place 999-999: x", "players: 2-4", "players: 4", "map:", "cards:")
                )
            case 4:
                where = choices.number(len(lines[at]) + 1)
                lines[at] = (
                    lines[at][:where] + choices.pick(("v", "c2", " ", "\t", "E4", "~", "\xb2")) + lines[at][where:]
                )
            case _:
                lines[at] = choices.pick(TEXTS)
        if not lines:
            break
    made = "\n".join(lines).encode(errors="surrogatepass")
    return scribbled(made, choices) if choices.number(4) == 3 else made


def check_board_file(data: bytes) -> None:
    found = check_board(data, "fuzz.txt")
    lines = data.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for problem in found.problems:
        assert isinstance(problem, BoardError)
        assert 1 <= problem.line <= len(lines) + 1, problem
        assert problem.column >= 1, problem
        assert plain(problem.reason) == problem.reason, "the reason quotes what a terminal could act on"
    if found.facts is not None:
        text = data.decode()
        head, *_ = re.split(r"(?m)^(?:map|cards)\s*:", "\n".join(lines))
        for line in head.split("\n"):
            assert line.startswith("#") or line.partition(":")[2].strip().isprintable(), ascii(line)
        assert all(line.plain.isprintable() for line in board_lines(text, "fuzz.txt", None, 80))
        board_svg(text, "fuzz.txt", None)


def make_manifest(data: bytes) -> bytes:
    choices = Choices(data)
    lines = MANIFEST.splitlines()
    for _ in range(1 + choices.number(3)):
        at = choices.number(len(lines))
        key, _, value = lines[at].partition(" = ")
        text = choices.pick(TEXTS)
        quoted = '"' + "".join(f"\\u{ord(char):04x}" for char in text if not "\ud800" <= char <= "\udfff") + '"'
        match choices.number(5):
            case 0:
                del lines[at]
            case 1:
                lines[at] = f"{key} = {quoted}"
            case 2:
                lines[at] = f"{key} = [{quoted}, {value}]"
            case 3:
                lines[at] = (
                    f"{key} = {choices.pick(('-1', '0', '1e308', 'inf', '9' * 5_000, '[' * 3_000, '{}', '[[]]'))}"
                )
            case _:
                lines[at] = f"{quoted} = {value}"
        if not lines:
            break
    made = "\n".join(lines).encode()
    return scribbled(made, choices) if choices.number(4) == 3 else made


def check_manifest(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "fuzz")
        folder.mkdir()
        Path(name, "beside.py").touch()
        for file in ("bot.py", "out"):
            (folder / file).touch()
        (folder / "bot.toml").write_bytes(data)
        try:
            manifest = read_manifest(folder)
            missing(manifest, folder)
            missing_tool(manifest, folder)
            load_bot(str(folder))
        except BotError:
            pass
