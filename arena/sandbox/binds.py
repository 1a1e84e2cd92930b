"""Says what a bot, or a build, sees of the machine's files in a sandbox: its own files and the runtimes that it names.

The system's programs (`/usr` and what links into it) are in every sandbox. A bot's folder is at `BOT` there, whatever
it is called on the machine; what its manifest names beside the folder lies beside it there, too.

Laws:
1. What a bot sees is granted (`arena.core.link.runtimes`). Its manifest chooses among that and its own files.
2. No file of a bot is run, loaded or asked here: it may be a stranger's.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import bot_manifests, errors, resources, runtimes
from arena.sandbox.kinds import check_kinds

BOT: Final = "/bot"
"""Path of a bot's files in a sandbox."""
_TOOLS: Final = ("cargo", "rustc", "go", "java", "javac", "mvn", "node", "npm")
"""Programs that build bots and are often installed elsewhere than in `/usr`."""
_RUSTUP: Final = "rustup"
"""`cargo` may be a rustup shim, which needs $HOME; it is resolved to the real compiler."""
_OF_TOOLS: Final = ("/etc/maven",)
"""Files of `/etc` that such programs read."""


class Needs(msgspec.Struct, frozen=True):
    """What a bot or a build gets beside the system's programs."""

    trees: dict[str, str]
    """Paths that it sees: each absolute path in the sandbox, and that on the machine. None lies in another."""
    path: str
    folder: str = BOT
    command: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    """Folders that are empty there, though they lie in what it sees."""
    environment: dict[str, str] = {}


@functools.cache
def needs(spec: bot_manifests.BotSpec) -> Needs:
    """Returns what a bot sees, and how it is called there.

    Raises:
        BotError: It needs what no bot may see, or TCP. Show the message to the operator.
        MachineFault: The machine cannot find out.
    """
    if spec.tcp:
        raise errors.BotError(
            f"{spec.name}: expected a bot that connects by ipc, got: one that plays over TCP, which no level above "
            'trusted has, because a sandbox has no network; use a library with ipc and remove `endpoint = "tcp"`'
        )
    around = os.path.dirname(spec.folder)
    beside = {*_read(spec), *_own_program(spec)}
    own = {os.path.join(BOT, os.path.relpath(path, around)): path for path in (spec.folder, *beside)}
    if not beside:
        own = {BOT: spec.folder}
    for path in own.values():
        _check(path, spec)
    for path in beside:
        _check_no_other(path, spec)
    called = _called(spec)
    first = called.get(spec.command[0])
    used = list(called.values())
    own = {path: own[path] for path in runtimes.outermost(own)}
    trees = {path: place for each in used for path, place in each.trees.items()}
    shown = runtimes.outermost(trees)
    python = next(
        (each.program for name, each in called.items() if name in (runtimes.PYTHON, runtimes.PYTHON_WITH_ARENA)), ""
    )
    words = spec.command if first is None else (first.program, *_sizes(first.program, spec), *spec.command[1:])
    command = runtimes.resolved(words, python)
    return Needs(
        own | {path: trees[path] for path in shown},
        _path(each.program for each in used),
        next(path for path, place in own.items() if place == spec.folder),
        command,
        tuple(folder for each in used for folder in each.empty),
        {name: value for each in used for name, value in each.environment.items()},
    )


def given(spec: bot_manifests.BotSpec) -> Needs:
    """Returns what `needs` does, after a look whether a bot's own files are regular files, folders and links.

    Raises:
        BotError: They are not, or as `needs`. Show the message to the operator.
        MachineFault: As `needs`.
        OSError: One of them is not there.
    """
    found = needs(spec)
    for path, place in found.trees.items():
        if runtimes.is_in(path, [BOT]):
            check_kinds(place, spec.name, spec.sockets)
    return found


@functools.cache
def toolchains() -> Needs:
    """Returns what builds see: the compilers and package managers that are on the path, wherever they are installed.

    Raises:
        MachineFault: The machine cannot run a program to find out.
    """
    python = runtimes.python(runtimes.PYTHON_WITH_ARENA)
    trees = dict(python.trees)
    programs = [python.program]
    for name in _TOOLS:
        program = shutil.which(name, path=":".join(runtimes.search_path()))
        if program is not None and os.path.basename(os.path.realpath(program)) == _RUSTUP:
            program = os.fsdecode(runtimes.output([program.removesuffix(name) + _RUSTUP, "which", name])).strip()
        if program:
            programs.append(program)
            trees |= runtimes.program(program).trees
    trees |= {path: path for path in _OF_TOOLS if os.path.exists(path)}
    shown = runtimes.outermost(trees)
    return Needs(
        {path: trees[path] for path in shown}, _path(programs), empty=python.empty, environment=python.environment
    )


def shows(spec: bot_manifests.BotSpec, path: Path) -> bool:
    """Tells whether a bot would see a file or folder of the operator: a database, the logs, another bot.

    Raises:
        BotError: As `needs`.
        MachineFault: As `needs`.
    """
    return _around(spec, path) is not None


def check(specs: Sequence[bot_manifests.BotSpec], hidden: Iterable[Path]) -> None:
    """Checks before a tournament or a match that its bots can be started in sandboxes, and see no more than they must.

    `hidden` are the operator's own files and folders: the database, the logs. A bot's folder may be another's, too: who
    gives two bots one folder wants that. But none may lie in what another sees.

    Raises:
        BotError: One needs or would see too much, or has a named pipe in its folder. Show the message to the operator.
        MachineFault: As `needs`.
    """
    hidden = tuple(hidden)
    for spec in specs:
        given(spec)
        others = {Path(other.folder) for other in specs if other.folder != spec.folder}
        for path in (*hidden, *sorted(others)):
            if (tree := _around(spec, path)) is not None:
                raise errors.BotError(
                    f"{spec.name}: expected a bot that sees only its own files, got: one that would see {path}, "
                    f"because it lies in {tree}; move one of them to another folder"
                )


def _around(spec: bot_manifests.BotSpec, path: Path) -> str | None:
    """Returns the place on the machine in which a bot would see a path; None if it would not."""
    real, seen = os.path.realpath(path), needs(spec)
    if runtimes.is_in(real, seen.empty):
        return None
    return next((place for place in seen.trees.values() if runtimes.is_in(real, [os.path.realpath(place)])), None)


def _called(spec: bot_manifests.BotSpec) -> dict[str, runtimes.Runtime]:
    """Returns the runtimes that a bot calls, by name, that of its command first; BotError: one is not granted."""
    called: dict[str, runtimes.Runtime] = {}
    for word in spec.command:
        if word in (runtimes.PYTHON, runtimes.PYTHON_WITH_ARENA):
            called[word] = runtimes.python(word)
    first = spec.command[0]
    bare = () if "/" in first or first in called or dict(spec.runtimes) else ((first, runtimes.find(first)),)
    for name, path in (*bare, *spec.runtimes):
        if not path:
            raise runtimes.not_granted(spec.name, name)
        called[name] = runtimes.program(path)
    if first not in called and ("/" not in first or os.path.isabs(first)):
        raise runtimes.not_granted(spec.name, first)
    return called


def _own_program(spec: bot_manifests.BotSpec) -> Iterator[str]:
    """Yields the program of a bot's own if it lies beside its folder, as one that the bots of a folder share may.

    Raises:
        BotError: It is a script, or it is not the bot's.
    """
    word = spec.command[0]
    if "/" not in word or os.path.isabs(word):
        return
    path = os.path.normpath(os.path.join(spec.folder, word))
    real, around = os.path.realpath(path), os.path.dirname(spec.folder)
    if not runtimes.is_in(path, [spec.folder]) or not runtimes.is_in(real, [os.path.realpath(spec.folder)]):
        if (
            not runtimes.is_in(path, [around])
            or not runtimes.is_in(real, [os.path.realpath(around)])
            or not _may_read(real, around)
        ):
            raise errors.BotError(
                f"{spec.name}: expected a program in the bot's folder, got: {word}, which leads to {path}; "
                "move it there, or name a runtime in `command`"
            )
        yield path
    try:
        with open(real, "rb") as file:
            is_script = file.read(2) == b"#!"
    except OSError:
        return  # it is not there, or not to be read, and the start says so
    if is_script:
        raise runtimes.script(spec.name, word)


def _check(tree: str, spec: bot_manifests.BotSpec) -> None:
    if runtimes.is_private(tree) or runtimes.is_private(os.path.realpath(tree)):
        raise errors.BotError(
            f"{spec.name}: expected a bot in a folder of its own, all of which it will see, got: {tree}, which has "
            "other things; move the bot to one"
        )


def _check_no_other(path: str, spec: bot_manifests.BotSpec) -> None:
    """Checks that what lies beside a bot's folder is not another bot's. The bundled bots may share their files.

    Raises:
        BotError: It is.
    """
    around = os.path.dirname(spec.folder)
    if runtimes.is_in(spec.folder, [str(resources.bots_folder().resolve())]):
        return
    for at, top in ((Path(path), Path(around)), (Path(os.path.realpath(path)), Path(os.path.realpath(around)))):
        folders = [folder for folder in (at, *at.parents) if folder != top and folder.is_relative_to(top)]
        if other := next((folder for folder in folders if os.path.lexists(folder / bot_manifests.MANIFEST)), None):
            raise errors.BotError(
                f"{spec.name}: expected files that are no other bot's, got: {path}, of the bot in {other}; "
                "copy it to the bot's folder, or to one that is no bot's"
            )


def _read(spec: bot_manifests.BotSpec) -> Iterator[str]:
    """Yields the files and folders that the manifest names beside the bot's folder, without those of the system.

    Raises:
        BotError: One lies too far away. A manifest may be a stranger's, and could name any file.
    """
    around = os.path.dirname(spec.folder)
    for path in spec.reads:
        real = os.path.realpath(path)
        if runtimes.is_in(real, runtimes.SYSTEM) and runtimes.is_in(path, runtimes.SYSTEM):
            continue
        if not runtimes.is_in(path, [around]) or not _may_read(real, os.path.realpath(around)):
            raise errors.BotError(
                f"{spec.name}: expected files beside the bot's folder, in {around}, and no hidden ones, "
                f"got: {path}; move it there, or into the bot's folder"
            )
        if os.path.exists(path):  # what was fetched need not be there to play
            yield path


def _may_read(path: str, around: str) -> bool:
    """Tells whether a manifest in a folder of `around` may name a path.

    If `around` is somebody's home, or everybody's, only the files right in it may be meant for the bot.
    """
    parts = os.path.relpath(path, around).split("/")
    return not any(part.startswith(".") for part in parts) and (
        not runtimes.is_private(around) or (len(parts) == 1 and os.path.isfile(path))
    )


def _sizes(program: str, spec: bot_manifests.BotSpec) -> tuple[str, ...]:
    """Returns the arguments that tell a runtime how much memory there is, where the kernel is not answered for.

    What the bot's own arguments say counts more: it comes later.
    """
    return (f"-XX:MaxRAM={spec.memory_mib}m",) if os.path.basename(program) == "java" else ()


def _path(programs: Iterable[str]) -> str:
    """Returns the folders of `PATH`: those of the programs, then the system's, and no other that the operator has."""
    folders = [folder for folder in map(os.path.dirname, programs) if folder not in runtimes.PATH]
    return ":".join(dict.fromkeys((*folders, *runtimes.PATH)))
