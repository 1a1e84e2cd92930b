"""Runs the commands that README.md and docs/tour.md show, in their order, and writes what they print below them.

A `console` block of a page holds commands (`$ ...`) and under each the start of its real output. The commands of a
page run one after another in one folder, where the files lie that the page shows (a block that begins with `# PATH`); a
later one may use what an earlier one left there. Those of make run at the top of the checkout. Times and rates differ
from run to run, so nothing checks that the output is current; `tests/core/e2e/test_readme.py` checks that it all works.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "tour.md")
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+\n# (\w+/[\w.]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PASSING = re.compile(r"\d+/\d+ games, |Installing |left out: __pycache__")
"""What a terminal shows for a while, or what only a checkout has in which tests ran."""
MOST_LINES = 40


def commands(text: str) -> list[str]:
    """Returns the command lines of all `console` blocks."""
    return [line[2:] for block in BLOCK.findall(text) for line in block.splitlines() if line.startswith("$ ")]


def prepare(text: str, folder: Path) -> None:
    """Writes the files that the README shows, and the checkout's bots beside them, into `folder`."""
    (folder / "bots").symlink_to(ROOT / "bots")
    for name, content in FILE.findall(text):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs one command line in `folder`, with this interpreter's `arena` first on the path."""
    if command.startswith("make "):
        folder = ROOT
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{outside['PATH']}"
    environment = {**outside, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip


def rewrite(block: str, folder: Path) -> str:
    """Returns the block with each command's output as it is now."""
    lines: list[str] = []
    for command in commands(f"```console\n{block}```\n"):
        done = run(command, folder)
        if done.returncode != 0:
            sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}")
        output = [line.rstrip() for line in done.stdout.strip("\n").splitlines() if not PASSING.match(line)]
        lines += [f"$ {command}", *output[:MOST_LINES], *(["..."] if len(output) > MOST_LINES else [])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for page in PAGES:
        with tempfile.TemporaryDirectory() as name:
            text = page.read_text(encoding="utf-8")
            prepare(text, Path(name))
            page.write_text(BLOCK.sub(lambda found: rewrite(found[0], Path(name)), text), encoding="utf-8")
