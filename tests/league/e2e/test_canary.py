"""No file that somebody submits is ever run with the operator's rights: not to build it, nor to check or to play it.

A canary is planted wherever a file can be named. It writes a file where only the operator can: so the file is there if
the canary was run, loaded or asked outside of a sandbox, and not if it was inside of one or nowhere. What tools look
for by themselves is planted in a whole league (`test_canary_league.py`).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.author.archives import pack
from arena.core.errors import ArchiveError
from arena.core.types import Level
from arena.league.submissions.steps import Verdict, check
from tests.league.e2e.test_steps import make
from tests.processes import level_of

LEVELS = (Level.FENCED, Level.ISOLATED, Level.STRICT)


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Level:
    return level_of(request)


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    """The league's bots. Somebody's first version is there already, with a program whose place its author knows."""
    folder = tmp_path / "league" / "bots"
    first = make(folder / "first", {"python3": canary(tmp_path), "ld.so": canary(tmp_path)}, ["python3", "ld.so"])
    for path in (tmp_path, *folder.parents[: len(folder.parents) - len(tmp_path.parents)], folder, first):
        path.chmod(0o755)
    return folder


def canary(tmp_path: Path) -> str:
    """A program that can be run as a shell's and as a Python's, and is a `python3` to whoever asks it something."""
    shell, python = f"echo was run >>{tmp_path}/canary; exit 0", f'open("{tmp_path}/canary", "a").write("was run")'
    return f'#!/bin/sh\n""":"\n{shell}\n"""\n{python}\n'


def manifest(command: str, more: str = "") -> str:
    return f'name = "fox"\ncommand = [{command}]\n{more}'


def plain(bots: Path, folder: Path, command: str, more: str = "") -> None:
    make(folder, {"bot.toml": manifest(command, more), "bot.py": "", "python3": ""}, [])


def script(bots: Path, folder: Path) -> None:
    make(folder, {"bot.toml": manifest('"./bot"'), "bot": f"#!{bots}/first/python3\n"}, ["bot"])


def link(bots: Path, folder: Path) -> None:
    plain(bots, folder, '"./linked"')
    (folder / "linked").symlink_to(bots / "first" / "python3")


def loader(bots: Path, folder: Path) -> None:
    """A program whose loader is the canary."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs cc, which is not on this machine's path")
    make(folder, {"bot.toml": manifest('"./bot"'), "bot.c": "int main(void) { return 0; }\n"}, [])
    words = [compiler, "-o", folder / "bot", folder / "bot.c", f"-Wl,--dynamic-linker={bots}/first/ld.so"]
    subprocess.run(words, check=True)


NAMED: dict[str, Callable[[Path, Path], None]] = {
    "the command": lambda bots, folder: plain(bots, folder, f'"{bots}/first/python3", "bot.py"'),
    "the command, by ..": lambda bots, folder: plain(bots, folder, '"../first/python3", "bot.py"'),
    "what it needs": lambda bots, folder: plain(bots, folder, '"sh"', f'needs = ["{bots}/first/python3"]\n'),
    "what it includes": lambda bots, folder: plain(bots, folder, '"sh"', 'include = ["../first/python3"]\n'),
    "a first line": script,
    "a link": link,
    "the loader": loader,
}
"""Where the second version names what the first one brought."""


@pytest.mark.quick(7)
@pytest.mark.parametrize("case", NAMED)
def test_a_version_that_names_a_program_of_another_does_not_get_it_run(
    case: str, level: Level, bots: Path, tmp_path: Path
) -> None:
    NAMED[case](bots, bots / "second")
    report = check(bots / "second", "samurai", level)
    assert report.verdict is not Verdict.PASSED
    assert not (tmp_path / "canary").exists(), report


@pytest.mark.parametrize("command", ["/x/first/python3", "../first/python3"])
def test_a_command_that_leads_out_is_refused_before_anything_is_kept(command: str, tmp_path: Path) -> None:
    plain(tmp_path, tmp_path / "second", f'"{command}"')
    with pytest.raises(ArchiveError, match="expected"):
        pack(tmp_path / "second")
