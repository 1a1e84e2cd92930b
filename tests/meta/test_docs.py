"""Documents cannot drift: the command reference, the README's first lines and commands, words that must not appear."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from arena.cli import COMMANDS, cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = [README, *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))]


def command(words: Sequence[str]) -> tuple[str, click.Command]:
    """The command that a command line without `arena` calls, and its name: `board check` for `board check a.txt`."""
    name, found = "", cli
    for word in words:
        if not isinstance(found, click.Group):
            break
        inner = found.get_command(click.Context(found), word)
        assert inner is not None, f"there is no command: arena {' '.join(words)}"
        name, found = f"{name} {word}".strip(), inner
    return name, found


def under(group: click.Group, name: str = "") -> Iterator[str]:
    """The names of all commands in a group, and in the groups in it."""
    for word in group.list_commands(click.Context(group)):
        inner = group.get_command(click.Context(group), word)
        yield f"{name}{word}"
        if isinstance(inner, click.Group):
            yield from under(inner, f"{name}{word} ")


ALL = list(under(cli))


def test_the_command_reference_is_current() -> None:
    """In a process of its own: click keeps the help of commands that other tests have called alone."""
    words = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_help_that_the_table_says(name: str) -> None:
    assert command([name])[1].get_short_help_str(limit=200) == COMMANDS[name][1]


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_its_name_and_help(name: str) -> None:
    found, called = command(name.split())
    assert found == name
    assert called.name == name.split()[-1]
    assert called.help


@pytest.mark.parametrize("name", ALL)
def test_every_option_has_help(name: str) -> None:
    for parameter in command(name.split())[1].params:
        assert not isinstance(parameter, click.Option) or parameter.help, f"arena {name} {parameter.name}"


@pytest.mark.parametrize("name", ALL)
def test_every_help_ends_with_an_example(name: str) -> None:
    paragraphs = (command(name.split())[1].help or "").strip().split("\n\n")
    assert paragraphs[-1].lstrip("\b\n ").startswith("Example"), paragraphs[-1]
    assert f"arena {name}" in paragraphs[-1]


def test_the_readme_begins_with_the_two_commands() -> None:
    first = [line.split("#")[0].strip() for line in README.splitlines()[:8] if "make " in line]
    assert first[:2] == ["make tournament", "make test"]


def shown_commands() -> Iterator[list[str]]:
    """The words of every `arena ...` command that a page shows, in a block or in backquotes."""
    for text in TEXTS:
        for found in re.finditer(r"(?:^\$ |`|^ {4,})(arena [a-z][^`\n]*)", text.replace("\\\n", " "), re.MULTILINE):
            yield shlex.split(found[1], comments=True)


def test_shown_commands_exist() -> None:
    shown = [(words, *command(words[1:])) for words in shown_commands()]
    calls = {name for name in ALL if not isinstance(command(name.split())[1], click.Group)}
    assert {name for _, name, _ in shown} >= calls, "a command that no page shows"
    for words, _, called in shown:
        known = {name for parameter in called.params for name in parameter.opts + parameter.secondary_opts}
        options = {word.split("=")[0] for word in words[2:] if word.startswith("--") and word != "--"}
        assert options <= known | {"--help"}, words


def test_shown_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    shown = {found for text in TEXTS for found in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)}
    assert shown
    assert shown <= targets


def test_shown_files_exist() -> None:
    for found in re.findall(r"\]\(([^):#]+)\)", README):
        assert (ROOT / found).exists(), found


def test_no_file_names_what_lies_outside_the_project() -> None:
    words = ("/" + "work/", ".." + "/shared", "." + "library")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("needs a git checkout: only git knows which files are the project's")
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = ROOT / name
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not [word for word in words if word in text], name
