"""The command line: whatever the arguments and `arena.toml` say, a command ends with an answer or a clear error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from arena.cli import COMMANDS, cli, defaults
from arena.cli.output import console
from arena.core.errors import ConfigError
from arena.core.store.store import open_store
from tests import instant
from tests.conformance.logs import LOGS
from tests.fuzz.choices import TEXTS, Choices, scribbled

NO_BOT = "no-such-bot"  # is always among the bots, so that nothing is played
LEFT_OUT = frozenset({"bridge", "build", "watch", "serve"})
"""Commands that run what they are given, or until they are stopped. `rules check` plays for a minute."""
NUMBERS = (
    "-1",
    "0",
    "1",
    "2",
    "3",
    "1.5",
    "1e308",
    "-1e308",
    "1e-320",
    "inf",
    "nan",
    str(2**31),
    str(2**63),
    "9" * 400,
)
GOOD = (
    "latest", "latest:0", "game.jsonl", "logs", "arena.db", "board.txt", "bot", "samurai", "gardener", "standard",
    "japan", "setup=draft", "10+0.1", "1m,2/move", "today", "2d", "ann", "bob", "swiss", "ladder", "knockout",
)  # fmt: skip
FILES = ("pipe", "loop", "deep.toml", "empty", "folder", "zero", "closed", "missing/file", "/proc/self/mem")
SAFE_TEXTS = tuple(text for text in TEXTS if text != "/" and "\0" not in text)
"""No argument can hold a NUL character, and nothing is to be made in the root folder."""


def prepare(folder: Path) -> None:
    """Makes what commands may find: a database, logs, a board, a bot, and what is no file."""
    settings = instant.settings(deals=4)
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, settings, folder / "logs")
        for _ in instant.runner(store, begun, settings).run():
            pass
    shutil.copy(LOGS / "gardener-absent.jsonl", folder / "game.jsonl")
    (folder / "board.txt").write_text("name: a\nsource: b\nplayers: 2\nmap:\n.2\n   v2\n.2    v2\n   v2\n")
    (folder / "bot").mkdir()
    (folder / "bot" / "bot.toml").write_text('name = "bot"\ncommand = ["true"]\n')
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "deep.toml").write_text("x = " + "[" * 5_000)
    (folder / "empty").touch()
    (folder / "folder").mkdir()
    (folder / "closed").touch()
    (folder / "closed").chmod(0)


@contextmanager
def within(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@cache
def commands() -> list[tuple[tuple[str, ...], click.Command]]:
    found: list[tuple[tuple[str, ...], click.Command]] = []

    def walk(words: tuple[str, ...], command: click.Command) -> None:
        if isinstance(command, click.Group):
            ctx = click.Context(command)
            for name in command.list_commands(ctx):
                inner = command.get_command(ctx, name)
                assert inner is not None
                walk((*words, name), inner)
        elif not LEFT_OUT & {*words} and words != ("rules", "check"):
            found.append((words, command))

    walk((), cli)
    return found


def make_command(data: bytes) -> list[str]:
    choices = Choices(data)
    words, command = choices.pick(commands())
    line = list(words)
    arguments = []
    for parameter in command.params:
        plays = parameter.name in ("bots", "bot", "first", "second")
        if isinstance(parameter, click.Argument):
            for _ in range(choices.number(3) if parameter.nargs == -1 else 1):
                arguments.append(NO_BOT if plays else _value(choices))
            if plays and parameter.nargs == -1:
                arguments.append(NO_BOT)
        elif choices.number(3) == 0 and parameter.name != "help":
            line.append(choices.pick(parameter.opts))
            if isinstance(parameter, click.Option) and not parameter.is_flag:
                writes = isinstance(parameter.type, click.Path) and parameter.type.allow_dash
                line.append("written" if writes else _value(choices))
    if choices.number(8) == 7:
        arguments.append(_value(choices))
    return line + arguments


def _value(choices: Choices) -> str:
    return choices.pick(choices.pick((GOOD, GOOD, NUMBERS, SAFE_TEXTS, FILES)))


def check_command(line: list[str], folder: Path) -> None:
    """Runs a command in a folder made by `prepare`; it must not end as by a bug, or print what acts on a terminal."""
    console.cache_clear()
    with within(folder):
        result: Result = CliRunner().invoke(cli, line)
    assert result.exception is None or isinstance(result.exception, SystemExit), (line, repr(result.exception))
    assert result.exit_code in (0, 1, 2, 3, 4), (line, result.exit_code, result.output[-500:])
    assert all(one.isprintable() for one in result.output.split("\n")), (line, ascii(result.output))


TOML = b"""\
[defaults]
rules = "samurai"
time = "10+0.1"
[tournament]
bots = ["random", "greedy"]
deals = 3
rule = ["setup=draft"]
[match]
deal = 2
race-window = 1.5
[bot.check]
games = 2
"""


def make_settings(data: bytes) -> bytes:
    choices = Choices(data)
    lines = TOML.decode().splitlines()
    for _ in range(1 + choices.number(3)):
        at = choices.number(len(lines))
        key = lines[at].partition(" = ")[0]
        token = choices.pick(TEXTS)
        quoted = '"' + "".join(f"\\u{ord(c):04x}" if c != "\ud800" else "?" for c in token if c.isascii() or c) + '"'
        value = choices.pick(
            (quoted, quoted, *NUMBERS, "[]", "{}", "[[]]", "2020-01-01", "12:00:00", "true", "'''a'''")
        )
        lines[at] = choices.pick((f"{key} = {value}", f"{key} = [{value}]", f"[{token}]", token, f"{quoted} = {value}"))
    made = "\n".join(lines).encode(errors="surrogatepass")
    return scribbled(made, choices) if choices.number(4) == 3 else made


def check_settings(data: bytes, folder: Path) -> None:
    path = folder / "fuzz.toml"
    path.write_bytes(data)
    try:
        config = defaults.read(path, COMMANDS)
        for name in COMMANDS:
            command: Any = cli.get_command(click.Context(cli), name)
            for _ in defaults.default_map(config, command, name).items():
                pass
    except ConfigError:
        pass
