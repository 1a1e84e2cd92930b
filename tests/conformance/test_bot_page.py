"""The page for authors of bots: its game is a real one, byte by byte, and it is as short as it says.

`python -m tests.conformance.test_bot_page` plays the game again and writes it into the page.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import msgpack

from tests.command_kit import ARENA, ROOT, environment
from tests.conformance.kit import FOLDER

PAGE = FOLDER / "BOT.md"
KUHN = ROOT / "examples" / "kuhn_poker"
SEED = "q3"
GAME = re.compile(r"(?<=<!-- game -->\n).*?(?=<!-- end -->)", re.DOTALL)
HEX = 58  # bytes of a frame in a line


def played(folder: Path) -> list[tuple[str, bytes]]:
    """What passed between the referee and seat 0 of a game, with the token that the page shows."""
    known = folder / "kuhn_poker-1.0.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: kuhn-poker\nVersion: 1.0\n")
    (known / "entry_points.txt").write_text("[arena.games]\nkuhn_poker = kuhn_poker:KuhnPoker\n")
    paths = os.pathsep.join([str(folder), str(KUHN), environment()["PYTHONPATH"]])
    bot = f"cmd:{sys.executable} {Path(__file__).with_name('page_bot.py')} {folder}"
    words = [*ARENA, "match", bot, bot, "--rules", "kuhn_poker", "--seed", SEED, "--time", "1/move"]
    done = subprocess.run(
        words, cwd=folder, env={**environment(), "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    frames = [(way, bytes.fromhex(frame)) for way, frame in json.loads((folder / "seat0.json").read_text())]
    hello = {**msgpack.unpackb(frames[0][1]), "token": "TOKEN"}
    return [("<", msgpack.packb(hello)), *frames[1:]]


def shown(frames: list[tuple[str, bytes]]) -> str:
    lines = []
    for way, frame in frames:
        lines += textwrap.wrap(f"{way} {json.dumps(msgpack.unpackb(frame))}", 118, subsequent_indent="  ")
        lines += [f"  {frame[at : at + HEX].hex()}" for at in range(0, len(frame), HEX)]
    return "\n".join(["```text", *lines, "```\n"])


def read(block: str) -> list[tuple[str, Any, bytes]]:
    """Of each message on the page: its way, the JSON and the frame."""
    messages: list[list[str]] = []
    for line in block.splitlines()[1:-1]:
        if line[0] in "<>":
            messages.append([line[0], line[2:], ""])
        elif re.fullmatch(r"  [0-9a-f]+", line):
            messages[-1][2] += line.strip()
        else:
            messages[-1][1] += " " + line.strip()
    return [(way, json.loads(text), bytes.fromhex(frame)) for way, text, frame in messages]


def same(message: dict[str, Any]) -> dict[str, Any]:
    """A message without what is another each time: by the game's identifier, and by the times that were measured."""
    return {key: value for key, value in message.items() if key not in ("bot_seed", "commitment", "receipt")}


def test_the_game_on_the_page_is_a_real_one(tmp_path: Path) -> None:
    (block,) = GAME.findall(PAGE.read_text(encoding="utf-8"))
    page = read(block)
    assert [msgpack.unpackb(frame) for _, _, frame in page] == [text for _, text, _ in page]
    now = played(tmp_path)
    assert [(way, same(text)) for way, text, _ in page] == [(way, same(msgpack.unpackb(frame))) for way, frame in now]
    assert [frame for way, text, frame in page if way == "<"] == [frame for way, frame in now if way == "<"]


def test_the_page_is_short() -> None:
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= 150


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        text = shown(played(Path(folder)))
    PAGE.write_text(GAME.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
