"""Lists bots, says whether they can play, and builds them: the command of the manifest, run in the bot's folder."""

from __future__ import annotations

import os
import re
import select
import shlex
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from arena.core.face import Payload, bot_manifests, errors, plain, programs, runtimes, wire_variables

FIRST_LINES: Final = 4_000
"""Number of lines that are shown of the beginning of what a build prints; then come the last ones."""
LAST_LINES: Final = 1_000
LONGEST_LINE: Final = 1_000
"""Characters of a line that are shown."""
_READ_BYTES: Final = 65_536
_LIVES_S: Final = 15  # seconds between two lines that say that a build goes on
_LACKS: Final = re.compile("(?m)^.*(?:No such file|not found|cannot find).*$")
_LIBRARIES: Final = {
    **dict.fromkeys(("zmq.h", "-lzmq"), "libzmq3-dev"),
    **dict.fromkeys(("msgpack.h", "-lmsgpackc", "-lmsgpack-c"), "libmsgpack-dev"),
}
"""Package of Debian and Ubuntu by the header and the library that it has."""
_LOOK_S: Final = 0.1
"""Seconds between two looks whether a build has ended that has left its output open to another process."""

Show: TypeAlias = Callable[[str], None]
"""Is called with each line that a build prints, as it comes. The line is safe to show."""


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of building one bot."""

    bot: str
    """The name it was given on the command line."""
    command: str = ""
    """The command that was run; empty if there is nothing to build, or it could not be run."""
    seconds: float = 0.0
    problem: str | None = None
    """Expectation and what was got, if the build failed."""
    output: str = ""
    """Output of the command, if it failed and its output was not shown already. It is safe to show, and bounded."""


def local_bots() -> list[str]:
    """Returns the bots here, by their names on the command line: this folder, if it is a bot's, and those in it."""
    folders = sorted(
        path.parent for path in Path().glob(f"*/{bot_manifests.MANIFEST}") if not path.parent.name.startswith(".")
    )
    return [*([] if not Path(bot_manifests.MANIFEST).is_file() else ["."]), *map(str, folders)]


def list_bots() -> list[Payload]:
    """Returns the bundled bots by name, then those in this folder."""
    bundled = bot_manifests.bundled_folders()
    here = {f"./{ref}" if ref in bundled else ref: Path(ref) for ref in local_bots()}
    return [
        *(_listed(ref, folder, bundled=True) for ref, folder in sorted(bundled.items())),
        *(_listed(ref, folder, bundled=False) for ref, folder in here.items()),
    ]


def _listed(ref: str, folder: Path, *, bundled: bool) -> Payload:
    """Returns a bot as `--json` prints it.

    Its `state` says whether it can play: at once (`ready`), or after it is built (`unbuilt`), something is installed
    (`missing`), or its manifest is fixed (`broken`). `remedy` is the command that builds it, what is missing,
    or what is wrong with the manifest. `rules` are the games it plays; none if its manifest does not say.
    """
    told: Payload = {"name": "", "version": "", "author": "", "language": "", "rules": ()}
    state, remedy = "ready", ""
    try:
        manifest = bot_manifests.read_manifest(folder)
    except errors.BotError as error:
        state, remedy = "broken", str(error)
    else:
        told = {name: getattr(manifest, name) for name in told}
        if lack := bot_manifests.missing(manifest, folder):
            tool = bot_manifests.missing_tool(manifest, folder)
            if lack.buildable and tool is None:
                state, remedy = "unbuilt", bot_manifests.work(manifest)
            else:
                lack = tool if lack.buildable and tool else lack
                state, remedy = "missing", lack.what if lack.why.is_absent else lack.told
    place = {"folder": str(folder.resolve()), "bundled": bundled}
    return {"bot": ref, **told, **place, "state": state, "remedy": remedy}


def build_bots(
    refs: Sequence[str],
    done: Callable[[Built], None],
    show: Show | None = None,
    *,
    anew: bool = False,
    begin: Callable[[str, str], None] = lambda bot, command: None,
) -> None:
    """Builds bots, one after another.

    Args:
        refs: Their folders or names, but no command lines; if empty, all bots that are here.
        done: Called with the outcome of each build.
        anew: Whether to fetch again what was fetched before.
        begin: Called with a bot's name and command before the command runs; that may take a minute.
        show: Shows what the commands print, as it comes. Without it, their output is passed to `done`.

    Raises:
        ConfigError: One of them cannot be found, or none is here. Nothing was built.
    """
    chosen = refs or local_bots()
    if not chosen:
        raise errors.ConfigError(
            f"expected a folder with a {bot_manifests.MANIFEST} here, got: none; name a bot, or make one: arena "
            f"bot new NAME"
        )
    for ref in chosen:
        bot_manifests.find_bot(ref)
    for ref in chosen:
        done(build_bot(ref, show, anew=anew, begin=begin))


def build_bot(
    ref: str,
    show: Show | None = None,
    *,
    anew: bool = False,
    begin: Callable[[str, str], None] = lambda bot, command: None,
) -> Built:
    """Builds one bot and checks that it can then be started. Problems are in what it returns.

    What its manifest's `fetch` gets is got first, if something of it is missing or `anew` asks for it.
    """
    try:
        folder = bot_manifests.find_bot(ref)
        manifest = bot_manifests.read_manifest(folder)
        tool = bot_manifests.missing_tool(manifest, folder)
        if tool is not None:
            return Built(
                bot=ref, problem=f"expected {tool.what!r}, which builds it, got: {tool.why.got}; {tool.why.remedy}"
            )
        fetches = bool(manifest.fetch) and (anew or bot_manifests.unfetched(manifest, folder) is not None)
        commands = [command for command in (manifest.fetch * fetches, manifest.build) if command]
        if not commands:
            bot_manifests.load_bot(ref)
            return Built(bot=ref)
        told = bot_manifests.work(manifest if fetches else msgspec.structs.replace(manifest, fetch=()))
        begin(ref, told)
        began = time.monotonic()
        built = Built(bot=ref, command=told)
        for command in commands:
            status, output = _run(
                runtimes.resolved(command), folder, show, lambda seconds: begin(ref, f"{told}, {seconds} s so far")
            )
            built = msgspec.structs.replace(built, seconds=time.monotonic() - began)
            if status:
                problem = _failure(manifest, folder, command, status, fetches) + _to_install(command[0], output)
                return msgspec.structs.replace(built, problem=problem, output="" if show else output)
        bot_manifests.load_bot(ref)
    except errors.BotError as error:
        return Built(bot=ref, problem=str(error))
    return built


def _failure(manifest: bot_manifests.Manifest, folder: Path, command: Sequence[str], status: int, fetches: bool) -> str:
    """Returns what was expected of a command and what was got. `fetches` tells whether packages were just fetched."""
    problem = f"expected `{shlex.join(command)}` in {folder} to succeed, got: exit status {status}"
    if manifest.fetch and not fetches:
        problem += "; if it needs other packages than before, run `arena bot build --fetch`"
    return problem


def _to_install(tool: str, output: str) -> str:
    """Returns which packages have what a tool did not find, by what it printed."""
    known = {**programs.PACKAGES, **_LIBRARIES}
    words = {word for line in _LACKS.findall(output) for word in re.findall(r"[\w.+-]+", line)} - {tool}
    packages = sorted({known[word] for word in words & known.keys()})
    return f"; install what it lacks (Debian and Ubuntu: apt install {' '.join(packages)})" if packages else ""


def _run(command: Sequence[str], folder: Path, show: Show | None, live: Callable[[int], None]) -> tuple[int, str]:
    """Runs a command in a folder, and tells from time to time how long. Returns its status, and what it printed."""
    began = due = time.monotonic()
    printed: list[str] = []
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | wire_variables.FIXED,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise errors.BotError(f"expected {command[0]!r} to run, got: {error.strerror}") from None
    with process:
        assert process.stdout is not None
        lines, pipe = _Lines((printed.append, *([] if show is None else [show]))), process.stdout.fileno()
        try:
            while True:
                has_ended = process.poll() is not None
                if (now := time.monotonic()) > due + _LIVES_S:
                    due = now
                    live(round(now - began))
                if select.select([pipe], [], [], 0 if has_ended else _LOOK_S)[0]:
                    data = os.read(pipe, _READ_BYTES)
                    if not data:
                        break
                    lines.take(data)
                elif has_ended:
                    break
        except BaseException:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_S)  # Ctrl-C reached it, too: it may remove what it has begun
            process.kill()
            raise
        lines.end()
    return process.returncode, "\n".join(printed)


class _Lines:
    """Makes lines of a program's output that are safe to show. Whatever the output is, little of it is kept."""

    def __init__(self, shown: Sequence[Show]) -> None:
        self._to = shown
        self._begun = b""
        """The beginning of a line that has not ended."""
        self._shown = 0
        self._left_out = 0
        self._last: deque[str] = deque()
        """Lines that may be the last ones."""

    def take(self, data: bytes) -> None:
        """Takes what was printed next."""
        *whole, begun = (self._begun + data).split(b"\n")
        for line in whole:
            self._add(line)
        self._begun = begun[:_READ_BYTES]

    def end(self) -> None:
        """Shows the last lines, and how many before them were left out."""
        if self._begun:
            self._add(self._begun)
        if self._left_out:
            self._show(f"... {self._left_out} lines are left out ...")
        for line in self._last:
            self._show(line)

    def _show(self, text: str) -> None:
        for show in self._to:
            show(text)

    def _add(self, line: bytes) -> None:
        text = plain(line.removesuffix(b"\r").decode(errors="backslashreplace"))
        if len(text) > LONGEST_LINE:
            text = f"{text[:LONGEST_LINE]}…"
        if self._shown < FIRST_LINES:
            self._shown += 1
            self._show(text)
            return
        self._last.append(text)
        if len(self._last) > LAST_LINES:
            self._last.popleft()
            self._left_out += 1
