"""Everything that docs/boards.md shows works, in its order, and prints what the page says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "boards.md").read_text(encoding="utf-8")
RUN = runpy.run_path(str(ROOT / "docs" / "tour.py"))["run"]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def steps(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a `console` block, each with the output that is shown below it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(lines[0], lines[1:]) for lines in (part.splitlines() for part in parts)]


def show(output: str) -> list[str]:
    return [line.rstrip() for line in output.rstrip("\n").splitlines()]


def test_the_page_holds_files_and_commands_and_nothing_else() -> None:
    assert {kind for kind, _ in BLOCKS} == {"text", "console"}
    assert all(block.startswith("# ") for kind, block in BLOCKS if kind == "text"), "a file begins with its name"
    assert all(block.startswith("$ ") for kind, block in BLOCKS if kind == "console")


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who did all that the page says."""
    folder = tmp_path_factory.mktemp("boards")
    for kind, block in BLOCKS:
        if kind == "text":
            name = block.splitlines()[0].removeprefix("# ")
            (folder / name).write_text(block, encoding="utf-8")
            continue
        for command, shown in steps(block):
            done = RUN(command, folder)
            faulty = any(re.match(r"\S+:\d+:\d+: expected ", line) for line in shown)
            assert done.returncode == int(faulty), f"{command}\n{done.stdout}"
            if shown or command.startswith("arena board"):
                assert show(done.stdout) == shown, f"{command}\n{done.stdout}"
    return folder


@pytest.mark.long
def test_the_page_can_be_followed_and_prints_what_it_says(followed: Path) -> None:
    assert (followed / "islands.svg").read_text(encoding="utf-8").count("New Harbour") >= 1
    assert (followed / "deck.svg").exists()


@pytest.mark.long
def test_games_were_played_on_the_island_of_the_page(followed: Path) -> None:
    headers = [path.read_text(encoding="utf-8").splitlines()[0] for path in (followed / "logs").rglob("*.jsonl")]
    assert sum("Two islands" in header for header in headers) == 2 + 3
