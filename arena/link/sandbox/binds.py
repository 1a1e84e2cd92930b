"""Computes what a bot's command needs to see of the machine's files: its folder, its interpreter, its libraries.

The system's programs (`/usr` and what links into it) are in every box. Of the rest a bot gets what is found by
following its command: each symbolic link, a `#!` line, what a Python imports from, the installation of an interpreter
elsewhere, shared libraries elsewhere, and what its manifest names. It never gets a folder that is more than one
program's: a home, `/tmp`, `/etc`, `/`.

A program that comes with the bot is never run here, not even to ask it something: it may be a stranger's. It can use
the libraries of the system and those that it brings.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

import arena
from arena.errors import BotError, MachineFault
from arena.link.bots import BotSpec
from arena.link.faults import is_of_the_program, machine_fault

_SYSTEM: Final = ("/usr", "/bin", "/lib", "/lib64", "/lib32", "/libx32", "/sbin", "/etc/alternatives")
"""What is in every box."""
_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_SHARED: Final = (
    *("/", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/run/user", "/srv", "/sys"),
    *("/tmp", "/var", "/var/lib", "/var/tmp"),
)
"""Folders that belong to nobody or to everybody."""
_NEVER: Final = ("/dev", "/etc", "/proc", "/sys", "/run/arena")
"""Folders of which nothing is given: a box has its own, or they are about the machine."""
_HOMES: Final = ("/home", "/run/user")
"""Folders whose folders are homes."""
_PROGRAMS: Final = ("bin", "shims")
"""Names of folders that programs lie in. Beside them lies what they need."""
_PARTS: Final = (*_PROGRAMS, "installs", "lib", "lib64", "libexec", "plugins", "versions")
"""What is given of an installation that shares its folder with private things, as `~/.local` and `~/.cargo` do."""
_TOOLS: Final = ("cargo", "rustc", "go", "java", "javac", "mvn", "node", "npm")
"""Programs that build bots and are often installed elsewhere than in `/usr`."""
_RUSTUP: Final = "rustup"
"""What `cargo` may be a link to: a program that looks for the compilers in a home, which a box has not."""
_OF_TOOLS: Final = ("/etc/maven",)
"""What such programs read of `/etc`."""
_ASK_S: Final = 30
_QUESTION: Final = "import json, sys; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, *sys.path]))"


class Needs(msgspec.Struct, frozen=True):
    """What a bot sees beside the system's programs."""

    trees: tuple[str, ...]
    """Absolute paths of folders and files. None lies in another, or in the system's folders. They may be links."""
    path: str
    """Its `PATH`: those folders of the referee's that it can see."""


@functools.cache
def needs(spec: BotSpec) -> Needs:
    """Returns what a bot needs to see.

    Raises:
        BotError: It needs what no bot may see, or TCP. Show the message to the operator.
        MachineFault: The machine cannot run a program to find out.
    """
    if spec.tcp:
        raise BotError(
            f"{spec.name}: expected a bot that connects by ipc, got: one that plays over TCP, which no level above "
            'trusted has, because a sandbox has no network; use a library with ipc and remove `endpoint = "tcp"`'
        )
    found = [spec.folder, *_read(spec)]
    command = spec.command[0]
    own = [spec.folder]
    if "/" in command and not os.path.isabs(command):
        own.append(os.path.dirname(spec.folder))
    first = os.path.join(spec.folder, command) if "/" in command else shutil.which(command)
    interpreters: list[str] = []
    for start in (first, *filter(_is_on_path, spec.reads)):
        for program in _followed(start):
            found += _names(program)
            if not _is_in(os.path.realpath(program), own):
                found += _installation(program, own)
                found += _libraries(os.path.realpath(program))
                if Path(program).name.startswith("python"):
                    answer = _ask(os.path.realpath(program) if _is_in(program, own) else program)
                    found += _imported(answer)
                    interpreters += map(os.path.dirname, answer[:1])
    there = [path for path in map(os.path.normpath, found) if os.path.exists(path)]
    trees = _outermost([spec.folder, *there])
    for tree in trees:
        _check(tree, spec)
    return Needs(trees, _path(trees, interpreters))


@functools.cache
def toolchains() -> Needs:
    """Returns what builds see: the compilers and package managers that are on the path, wherever they are installed.

    Raises:
        MachineFault: The machine cannot run a program to find out.
    """
    found: list[str] = []
    first: list[str] = []
    for name in _TOOLS:
        program = shutil.which(name)
        if program is not None and os.path.basename(os.path.realpath(program)) == _RUSTUP:
            program = os.fsdecode(_output([program.removesuffix(name) + _RUSTUP, "which", name])).strip()
            first.append(os.path.dirname(program))
        if program:
            found += [*_names(program), *_installation(program, []), *_libraries(os.path.realpath(program))]
    found += [*_names(sys.executable), *_installation(sys.executable, []), *_imported(_ask(sys.executable)), *_OF_TOOLS]
    there = [path for path in map(os.path.normpath, found) if path and os.path.exists(path)]
    trees = tuple(tree for tree in _outermost(there) if tree in _OF_TOOLS or not is_private(os.path.realpath(tree)))
    return Needs(trees, _path(trees, [folder for folder in first if folder]))


def shows(spec: BotSpec, path: Path) -> bool:
    """Tells whether a bot would see a file or folder of the operator: a database, the logs, another bot.

    Raises:
        BotError: As `needs`.
        MachineFault: As `needs`.
    """
    real = os.path.realpath(path)
    return _is_in(real, [os.path.realpath(tree) for tree in needs(spec).trees])


def check(specs: Sequence[BotSpec], hidden: Iterable[Path]) -> None:
    """Checks before a tournament or a match that its bots can be started in boxes, and see nothing that they must not.

    `hidden` are the operator's own files and folders: the database, the logs. A bot's folder may be another's, too: who
    gives two bots one folder wants that. But none may lie in what another sees.

    Raises:
        BotError: One needs or would see too much. Show the message to the operator.
        MachineFault: As `needs`.
    """
    hidden = tuple(hidden)
    for spec in specs:
        others = {Path(other.folder) for other in specs if other.folder != spec.folder}
        for path in (*hidden, *sorted(others)):
            if shows(spec, path):
                raise BotError(
                    f"{spec.name}: expected a bot that sees only its own files, got: one that would see {path}, "
                    f"because it lies in {_around(spec, path)}; move one of them to another folder"
                )


def _around(spec: BotSpec, path: Path) -> str:
    """Returns the tree of a bot that a path lies in."""
    real = os.path.realpath(path)
    return next(tree for tree in needs(spec).trees if _is_in(real, [os.path.realpath(tree)]))


def is_private(path: str) -> bool:
    """Tells whether a folder is more than one program's: a home, a folder above one, one that all programs share."""
    home, temporary = os.path.realpath(os.path.expanduser("~")), os.path.realpath(tempfile.gettempdir())
    return (
        os.path.dirname(path) in _HOMES
        or any(_is_in(other, [path]) for other in (home, temporary, *_SHARED))
        or _is_in(path, _NEVER)
    )


def _check(tree: str, spec: BotSpec) -> None:
    """Checks that a bot may be given a tree.

    Raises:
        BotError: It may not.
    """
    if is_private(tree) or is_private(os.path.realpath(tree)):
        if tree == spec.folder:
            what, remedy = "a bot in a folder of its own, all of which it will see", "move the bot to one"
        else:
            what = "programs and files that lie in folders of their own, all of which it will see"
            remedy = "move them to one, or install another interpreter for the bot"
        raise BotError(f"{spec.name}: expected {what}, got: {tree}, which has other things; {remedy}")


def _read(spec: BotSpec) -> Iterator[str]:
    """Yields the files and folders that the manifest names, without programs that are on the path.

    Raises:
        BotError: One lies too far away. A manifest may be a stranger's, and could name any file.
    """
    around = os.path.dirname(spec.folder)
    for path in spec.reads:
        if not _is_on_path(path):
            if not _may_read(os.path.realpath(path), around):
                raise BotError(
                    f"{spec.name}: expected files beside the bot's folder, in {around}, and no hidden ones, "
                    f"got: {path}; move it there, or into the bot's folder"
                )
            yield path


def _may_read(path: str, around: str) -> bool:
    """Tells whether a manifest in a folder of `around` may name a path.

    If `around` is somebody's home, or everybody's, only the files right in it may be meant for the bot.
    """
    if _is_in(path, _SYSTEM):
        return True
    parts = os.path.relpath(path, around).split("/")
    return not any(part.startswith(".") for part in parts) and (
        not is_private(around) or (len(parts) == 1 and os.path.isfile(path))
    )


def _is_on_path(path: str) -> bool:
    """Tells whether a program is found by its name."""
    return shutil.which(os.path.basename(path)) == path


def _followed(program: str | None) -> Iterator[str]:
    """Yields a program, and its interpreter if it is a script, and so on."""
    seen: set[str] = set()
    while program is not None and program not in seen:
        yield program
        seen.add(program)
        program = _interpreter(program)


def _names(path: str) -> Iterator[str]:
    """Yields a path, the target of each symbolic link on the way, and where it ends."""
    while os.path.islink(path) and os.path.exists(path):
        yield path
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    yield path
    yield os.path.realpath(path)


def _interpreter(program: str) -> str | None:
    """Returns the program that a `#!` line names; None if the program has none, or cannot be read."""
    try:
        with open(program, "rb") as file:
            line = file.readline(256)
    except OSError:
        return None
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    if words and Path(words[0]).name == "env":
        names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return shutil.which(names[0]) if names else None
    return words[0] if words else None


@functools.cache
def _ask(python: str) -> tuple[str, ...]:
    """Returns what a Python says of itself: its program, its prefixes, the folders that it imports from."""
    try:
        return tuple(msgspec.json.decode(_output([python, "-I", "-c", _QUESTION]), type=list[str]))
    except msgspec.DecodeError:
        return ()  # it does not run, and will say why when the bot is started


def _imported(answer: tuple[str, ...]) -> Iterator[str]:
    """Yields the folders that a Python imports from, given what it says of itself."""
    _, *prefixes = answer[:3] or ("",)
    for prefix in prefixes:
        yield from _parts(prefix)
    package = os.path.dirname(os.path.realpath(arena.__file__))
    # A checkout that is installed to be worked on has bots and databases beside the package.
    yield from (package if path == os.path.dirname(package) else path for path in answer[3:])


def _installation(program: str, own: list[str]) -> Iterator[str]:
    """Yields what lies beside the folder of a program: a node, a JDK."""
    for path in _names(program):
        parent = os.path.dirname(path)
        if os.path.basename(parent) in _PROGRAMS and not _is_in(path, (*own, *_SYSTEM)):
            yield from _parts(os.path.dirname(parent))


def _parts(installation: str) -> Iterator[str]:
    """Yields the folder of an installation, or only the folders of programs in it if it has private things too."""
    in_home = os.path.dirname(installation) == os.path.expanduser("~")
    if is_private(installation) or (in_home and os.path.basename(installation).startswith(".")):
        yield from (os.path.join(installation, name) for name in _PARTS)
    else:
        yield installation


@functools.cache
def _libraries(program: str) -> tuple[str, ...]:
    """Returns the shared libraries that the system's loader would take for a program of the operator."""
    words = os.fsdecode(_output(["ldd", program])).split()
    return tuple(name for word in words if word.startswith("/") for name in _names(word))


def _output(command: list[str]) -> bytes:
    """Returns what a program of the operator prints; nothing if it fails.

    Raises:
        MachineFault: The machine cannot run it.
    """
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MachineFault(f"expected {command[0]} to answer within {_ASK_S} s, got: nothing") from None
    except OSError as error:
        if is_of_the_program(error):
            return b""
        raise machine_fault(f"run {command[0]}", error) from None
    return b"" if done.returncode else done.stdout


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Returns the paths without the system's, and without those that lie in others."""
    trees: list[str] = []
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if not _is_in(path, (*_SYSTEM, *trees)):
            trees.append(path)
    return tuple(trees)


def _path(trees: tuple[str, ...], first: list[str]) -> str:
    """Returns the folders of `PATH` that can be seen, those of interpreters that were found by another name first."""
    own = [os.path.normpath(folder) for folder in os.environ.get("PATH", "").split(":") if folder.startswith("/")]
    seen = {*trees, *map(os.path.dirname, trees)}
    folders = [folder for folder in (*first, *own, *_PATH) if folder in seen or _is_in(folder, (*trees, *_SYSTEM))]
    return ":".join(dict.fromkeys(folders))


def _is_in(path: str, folders: Iterable[str]) -> bool:
    """Tells whether a path is one of the folders, or lies in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
