"""Building bots: the command of the manifest, run in the bot's folder."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import msgspec

from arena.errors import BotError, ConfigError
from arena.link.bots import COMMAND, MANIFEST, build_command, find_bot, load_bot, missing_tool, read_manifest


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of building one bot."""

    bot: str
    """The name it was given on the command line."""
    command: str = ""
    """The command that was run; empty if there is nothing to build, or it could not be run."""
    seconds: float = 0.0
    """How long that took."""
    problem: str | None = None
    """What was expected and what was got, if the build failed."""
    output: str = ""
    """Everything that the command printed, if it failed and its output was not shown already."""


def local_bots() -> list[str]:
    """Returns the bots here, by their names on the command line: this folder, if it is a bot's, and those in it."""
    folders = sorted(path.parent for path in Path().glob(f"*/{MANIFEST}") if not path.parent.name.startswith("."))
    return [*([] if not Path(MANIFEST).is_file() else ["."]), *map(str, folders)]


def build_bots(
    refs: Sequence[str],
    done: Callable[[Built], None],
    live: IO[bytes] | None = None,
    *,
    begin: Callable[[str, str], None] = lambda bot, command: None,
) -> None:
    """Builds bots, one after another.

    Args:
        refs: Their folders or names, but no command lines; if empty, all bots that are here.
        done: Called with the outcome of each build.
        begin: Called with a bot's name and command before the command runs; that may take a minute.
        live: Where the commands write their output. Without it, the output is passed to `done`.

    Raises:
        ConfigError: One of them cannot be found, or none is here. Nothing was built.
    """
    chosen = refs or local_bots()
    if not chosen:
        raise ConfigError(
            f"expected a folder with a {MANIFEST} here, got: none; name a bot, or make one: arena bot new NAME"
        )
    for ref in chosen:
        if ref.startswith(COMMAND):
            raise BotError(f"expected a bot's folder, or the name of a bundled bot, got: {ref!r}, a command line")
        find_bot(ref)
    for ref in chosen:
        done(build_bot(ref, live, begin=begin))


def build_bot(
    ref: str, live: IO[bytes] | None = None, *, begin: Callable[[str, str], None] = lambda bot, command: None
) -> Built:
    """Builds one bot and checks that it can then be started. Problems are in what it returns."""
    try:
        folder = find_bot(ref)
        manifest = read_manifest(folder)
        command = build_command(manifest)
        tool = missing_tool(manifest, folder)
        if tool is not None:
            return Built(bot=ref, problem=f"expected {tool!r}, which builds it, got: no such program; install it")
        if not command:
            load_bot(ref)
            return Built(bot=ref)
        begin(ref, shlex.join(manifest.build))
        began = time.monotonic()
        status, output = _run(command, folder, live)
        built = Built(bot=ref, command=shlex.join(manifest.build), seconds=time.monotonic() - began)
        if status:
            problem = f"expected `{built.command}` in {folder} to succeed, got: exit status {status}"
            return msgspec.structs.replace(built, problem=problem, output=output)
        load_bot(ref)
    except BotError as error:
        return Built(bot=ref, problem=str(error))
    return built


def _run(command: Sequence[str], folder: Path, live: IO[bytes] | None) -> tuple[int, str]:
    """Runs a command in a folder. Returns its exit status, and its output unless that went to `live`."""
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=live or subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False,
        )  # fmt: skip
    except OSError as error:
        raise BotError(f"expected {command[0]!r} to run, got: {error.strerror}") from None
    return done.returncode, (done.stdout or b"").decode(errors="replace")
