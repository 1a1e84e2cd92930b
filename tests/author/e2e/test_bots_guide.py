"""Everything that docs/bots.md shows works, in its order, and prints what the page says.

The page is followed as a reader would: files are written (a block that begins with a comment naming the file) and
changed (a `diff` block), and commands are run, one after another in one folder. The section of each other language
stands for itself, and is followed in a folder of its own if this machine has what it takes.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.author.new import templates
from arena.core.link.bots import read_manifest
from tests.author.e2e.test_bot_new import LACKING
from tests.thorough import but_thorough

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
RUN = runpy.run_path(str(ROOT / "docs" / "tour.py"))["run"]
LANGUAGES = {"JavaScript": "javascript", "C": "c", "Go": "go", "Rust": "rust", "Java": "java", "Perl": "perl"}
"""The sections that show a language, and its folder."""
FILE = re.compile(r"\A# (\w+(?:/\w+)?\.\w+)\n")
VARIES = re.compile(
    r'(?P<id>match-\d{8}-[0-9a-f]{6})|(?P<ms>"ms":\d+)|(?P<clock>"limit_ms":\d+,"bank_ms":\d+)'
    r"|(?P<time> *\d+(?:\.\d+)? m?s\b)|(?P<columns> +\d+\.\d+ +\d+$)|(?P<words>(?<=its last words: ).*)|(?P<rest>…)"
)
"""What is another each time: names of logs, times, the last columns of standings, words that a bot may have followed by
the error it was sent, and what the page itself leaves out."""
ANY = {
    "id": r"match-\d{8}-[0-9a-f]{6}",
    "ms": r'"ms":\d+',
    "clock": r'"limit_ms":\d+,"bank_ms":\d+',
    "time": r" *\d+(?:\.\d+)? m?s",
    "columns": r" +\d+\.\d+ +\d+",
    "words": r".*",
    "rest": r".*",
}
"""What may stand there instead."""


class Block(NamedTuple):
    section: str
    kind: str
    text: str

    @property
    def file(self) -> str | None:
        """The file that it shows, if it does."""
        found = FILE.match(self.text)
        return found and found[1]

    @property
    def steps(self) -> list[tuple[str, list[str]]]:
        """Its commands, each with the output that is shown below it."""
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
        return [(lines[0], lines[1:]) for lines in (part.splitlines() for part in parts)]


def blocks() -> Iterator[Block]:
    section = ""
    for heading, kind, text in re.findall(r"^##+ (.*)$|^```(\w*)\n((?:.*\n)*?)```$", PAGE, re.MULTILINE):
        if heading:
            section = heading
        else:
            yield Block(section, kind, text)


BLOCKS = list(blocks())
WHOLE = "A client of your own"  # the section with a whole bot, which tests/bots/test_clients.py plays
EXCERPTS = [
    block
    for block in BLOCKS
    if block.kind in {*LANGUAGES.values(), "python", "sh", "toml"} and block.file is None and block.section != WHOLE
]


def matches(shown: list[str], output: str) -> bool:
    """Returns whether a command printed what the page shows; `...` alone in a line stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else expected(line) + r" *\n" for line in shown)
    return re.fullmatch(pattern, output.rstrip("\n") + "\n") is not None


def expected(line: str) -> str:
    """Returns the pattern of a line of output."""
    parts, end = [], 0
    for found in VARIES.finditer(line):
        assert found.lastgroup is not None
        parts += [re.escape(line[end : found.start()]), ANY[found.lastgroup]]
        end = found.end()
    return "".join([*parts, re.escape(line[end:])])


def change(folder: Path, diff: str) -> None:
    """Applies a `diff` block: the name of a file, and places of it that are each there once."""
    name, *lines = diff.splitlines()
    path = folder / name.removeprefix("--- ")
    text = path.read_text(encoding="utf-8")
    for hunk in "\n".join(lines).split("\n@@\n"):
        before, after = (
            "".join(f"{line[1:]}\n" for line in hunk.splitlines() if line[0] in signs) for signs in (" -", " +")
        )
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


def follow(folder: Path, command: str, shown: list[str]) -> None:
    """Does as the page says in a console block."""
    done = RUN(command, folder)
    output = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    forfeits = any("would forfeit" in line for line in shown)
    assert done.returncode == (3 if forfeits else 0), f"{command}\n{output}"
    assert matches(shown, output), f"{command}\n{output}"


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    kinds = {"console", "diff", "python", "toml", "sh", *LANGUAGES.values()}
    assert {block.kind for block in BLOCKS} == kinds
    assert {block.section for block in BLOCKS} >= {*LANGUAGES}
    for block in BLOCKS:
        assert block.kind != "console" or block.text.startswith("$ ")
        assert block.kind != "diff" or block.text.startswith("--- ")
        assert block.kind not in ("sh", "toml") or block.file is not None


@pytest.mark.long
def test_the_page_can_be_followed_and_prints_what_it_says(tmp_path: Path) -> None:
    """By somebody who leaves the other languages out."""
    for block in BLOCKS:
        if block.section in LANGUAGES:
            continue
        if block.kind == "console":
            for command, shown in block.steps:
                follow(tmp_path, command, shown)
        elif block.kind == "diff":
            change(tmp_path, block.text)
        elif block.file is not None:
            (tmp_path / block.file).parent.mkdir(exist_ok=True)
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")


@pytest.mark.long(1)
@pytest.mark.parametrize("section", but_thorough(LANGUAGES, "Rust"))
def test_the_section_of_a_language_can_be_followed(section: str, needs: Callable[..., None], tmp_path: Path) -> None:
    language = LANGUAGES[section]
    manifest = read_manifest(templates()[language])
    tools = [*manifest.fetch[:1], *manifest.build[:1], *manifest.needs, manifest.command[0]]
    needs(*(tool for tool in tools if "/" not in tool and "{" not in tool))
    (block,) = (block for block in BLOCKS if (block.section, block.kind) == (section, "console"))
    for command, shown in block.steps:
        if command.startswith("arena bot build "):
            done = RUN(command, tmp_path)
            sign = next((sign for sign in LACKING if sign in done.stdout), None)
            if done.returncode != 0 and sign is not None:
                pytest.skip(f"needs a library or the network to build a bot in {language}: {sign}")
            assert matches(shown, done.stdout), done.stdout
        else:
            follow(tmp_path, command, shown)


@pytest.mark.parametrize("section", LANGUAGES)
def test_the_section_of_a_language_shows_its_bot(section: str) -> None:
    assert [block for block in EXCERPTS if block.section == section]


@pytest.mark.parametrize("block", EXCERPTS, ids=lambda block: f"{block.section}: {block.text.split()[1]}")
def test_an_excerpt_stands_in_the_bot_to_begin_from(block: Block) -> None:
    sources = (path for path in templates()[block.kind].glob("[Bb]ot.*") if path.suffix != ".toml")
    assert any(f"\n{block.text}" in source.read_text(encoding="utf-8") for source in sources)


@pytest.mark.parametrize(
    ("shown", "output"),
    [
        (["36 turns, 0.07 s"], "37 turns, 0.07 s\n"),
        (["...", "last"], "first\nlast but one\n"),
        (["first"], "first\nlast\n"),
        (["1  kite 0.1   20.37    0.4    2"], "1  kite 0.1   20.38    0.4    2\n"),
    ],
)
def test_output_that_differs_is_noticed(shown: list[str], output: str) -> None:
    assert not matches(shown, output)
    assert matches(output.splitlines(), output)
