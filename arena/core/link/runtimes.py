"""Runtimes: programs of the operator that a bot calls by name, and what a bot in a sandbox sees of them.

Above level trusted a bot's command begins with a program of its own files or with the name of a runtime. `PYTHON` and
`PYTHON_WITH_ARENA` are always there. Beside these are those of `NAMES` that this machine has, and those that the
operator grants in `[runtimes]` of `league.toml` or `arena.toml`.

Laws:
1. A runtime is granted, never deduced: nothing that a manifest says widens what a bot sees.
2. What a runtime shows is found out from the operator's own programs. No file of a bot is run, loaded or asked.
3. A Python shows its standard library and `PACKAGES`, and nothing else that is installed beside these.
"""

from __future__ import annotations

import csv
import functools
import importlib.util
import os
import pwd
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Final

import msgspec

import arena
from arena.core.errors import BotError, ConfigError, MachineFault, did_you_mean
from arena.core.link.faults import is_of_the_program, machine_fault
from arena.core.resources import boards_folder
from arena.core.text import plain

PYTHON: Final = "{python}"  # the Python that runs arena, with `PACKAGES`
PYTHON_WITH_ARENA: Final = "{python+arena}"
"""The same, which can import arena too: its rules, and `-m arena bot bridge`."""
PACKAGES: Final = ("msgpack", "msgspec", "numpy", "pyzmq")
"""The distributions that a bot in Python may import at every level. docs/bots.md names them."""
_OF_ARENA: Final = ("click", "networkx")  # what arena's rules and its bridge need beside these
NAMES: Final = ("awk", "bash", "java", "lua", "node", "perl", "php", "ruby", "sh")
"""Programs that are granted without being named, where they are on the operator's path."""
_VARIABLE: Final = "ARENA_RUNTIMES"
"""The variable that keeps what is granted: the processes that this one starts have it too."""
PYTHON_FOLDER: Final = "/python"  # where a sandbox has a Python's packages

PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
"""Folders of the system's programs. They are on every bot's `PATH`."""
SYSTEM: Final = ("/usr", "/bin", "/lib", "/lib64", "/lib32", "/libx32", "/sbin", "/etc/alternatives")
"""Paths in every sandbox."""
_SHARED: Final = (
    *("/", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/run/user", "/srv", "/sys"),
    *("/tmp", "/var", "/var/lib", "/var/tmp"),
)
"""Folders that belong to nobody or to everybody."""
_NEVER: Final = ("/dev", "/etc", "/proc", "/sys", "/run/arena")
"""Folders of which nothing is given: a sandbox has its own, or they are about the machine."""
_HOMES: Final = ("/home", "/run/user")  # folders whose folders are homes
_PROGRAMS: Final = ("bin", "shims")  # Names of folders that programs lie in. Beside them lies what they need.
_PARTS: Final = (*_PROGRAMS, "installs", "lib", "lib64", "libexec", "plugins", "versions")
"""Folders given of an installation that shares its folder with private things, as `~/.local` and `~/.cargo` do."""
_CONDA, _OF_CONDA = "conda-meta", ("envs", "pkgs")
"""Mark by which an environment of conda is known, and the folders of the first one that have all others."""
_ASK_S: Final = 30


class Runtime(msgspec.Struct, frozen=True):
    """What a bot in a sandbox gets of one runtime."""

    program: str
    """Absolute path of the program, in the sandbox as outside."""
    trees: dict[str, str]
    """Paths that it sees beside the system's programs: each path in the sandbox, and the path of it on the machine."""
    empty: tuple[str, ...] = ()
    """Folders of the machine that are empty in the sandbox, though they lie in what it sees."""
    environment: dict[str, str] = {}


def _unusable(path: object) -> str:
    """Returns why nothing can be started by a path; empty if something can."""
    if not isinstance(path, str):
        return "which is no text"
    if not os.path.isabs(path):
        return "which does not begin with /"
    if os.path.isdir(path):
        return "which is a folder"
    there = "which may not be run: `chmod +x` it" if os.path.exists(path) else "which is not there"
    return "" if os.access(path, os.X_OK) else there


def grant(table: Mapping[str, str], source: str) -> None:
    """Grants the runtimes of a `[runtimes]` table to all bots that are loaded after this, here or in a child process.

    Args:
        table: Names, and the absolute paths of programs. A name of `NAMES` stands for this program then.
        source: The file that has the table, for errors.

    Raises:
        ConfigError: A name or a path cannot be used.
    """
    for name, path in table.items():
        if not name or "/" in name or name.startswith((".", "{")) or "\0" in name:
            raise ConfigError(f"{source}: expected names of programs in [runtimes], got: {name!r}; choose another name")
        if reason := _unusable(path):
            raise ConfigError(
                f"{source}: expected the absolute path of a program that can be run, got: {path!r}, {reason} - at "
                f"runtimes.{name}; `command -v {name}` prints where it is"
            )
    os.environ[_VARIABLE] = msgspec.json.encode({**_granted(), **table}).decode()


def names() -> tuple[str, ...]:
    """Returns the names of all runtimes that bots can call here."""
    return (PYTHON, PYTHON_WITH_ARENA, *sorted({*_granted(), *filter(find, NAMES)}))


def not_granted(bot: str, program: str) -> BotError:
    """Returns the error for a bot that calls a program which is neither its own nor granted."""
    known = names()
    return BotError(
        f"{bot}: expected a command that begins with a program in the bot's folder, such as ./bot, or with the name of "
        f"a runtime ({', '.join(known)}), got: {plain(program)!r}{did_you_mean(program, known)}; change `command` and "
        "`needs`, or ask the operator to grant it in [runtimes]"
    )


def script(bot: str, program: str) -> BotError:
    """Returns the error for a bot whose own program is a script: its first line names the program that would run."""
    return BotError(
        f"{bot}: expected a program that needs no other, got: {plain(program)}, a script; name its runtime in "
        f'`command`, such as command = ["sh", "{plain(program)}"], instead of a first line with #!'
    )


def is_granted(name: str) -> bool:
    """Tells whether a bot may call a program by this name here."""
    return name in (PYTHON, PYTHON_WITH_ARENA) or find(name) is not None


def find(name: str) -> str | None:
    """Returns the absolute path of a granted program; None if it is not granted or not there."""
    if name in (granted := _granted()):
        return granted[name]
    return shutil.which(name, path=":".join(search_path())) if name in NAMES else None


def _granted() -> dict[str, str]:
    return msgspec.json.decode(os.environ.get(_VARIABLE, "{}"), type=dict[str, str])


def search_path() -> list[str]:
    """Returns the absolute folders of the operator's `PATH`. Others depend on the folder in which one stands.

    Those of the system are among them: a service may have no `PATH` at all.
    """
    folders = [*os.environ.get("PATH", "").split(":"), *PATH]
    return list(dict.fromkeys(os.path.normpath(folder) for folder in folders if folder.startswith("/")))


def resolved(words: Iterable[str], program: str = sys.executable) -> tuple[str, ...]:
    """Returns the words of a command with a Python's path in the place of each `PYTHON` and `PYTHON_WITH_ARENA`."""
    return tuple(word.replace(PYTHON, program).replace(PYTHON_WITH_ARENA, program) for word in words)


@functools.cache
def python(name: str) -> Runtime:
    """Returns what `PYTHON` or `PYTHON_WITH_ARENA` shows: the interpreter without what is installed, and `PACKAGES`."""
    program = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    prefixes = (sys.base_prefix, sys.base_exec_prefix)
    shown = [program, *_libraries(program), *(part for prefix in prefixes for part in _parts(prefix))]
    shared = [folder for folder in site.getsitepackages([*prefixes]) if os.path.isdir(folder)]
    packages: dict[str, str] = {}
    for distribution in (*PACKAGES, *(_OF_ARENA if name == PYTHON_WITH_ARENA else ())):
        packages |= _package(distribution)
    if name == PYTHON_WITH_ARENA:
        packages |= _arena()
    return Runtime(
        program,
        {path: path for path in outermost(shown)} | packages,
        tuple(folder for folder in shared if is_in(folder, (*SYSTEM, *shown))),
        {"PYTHONPATH": PYTHON_FOLDER},
    )


@functools.cache
def program(path: str) -> Runtime:
    """Returns what a program of the operator shows: each link to it, the folder it is installed in, its libraries.

    Raises:
        MachineFault: The machine cannot find out.
    """
    found = [*_links(path), *_installation(path), *_libraries(os.path.realpath(path))]
    there = outermost(part for part in map(os.path.normpath, found) if os.path.exists(part))
    return Runtime(path, {part: part for part in there if not is_private(os.path.realpath(part))})


def is_private(path: str) -> bool:
    """Tells whether a folder is more than one program's: a home, a folder above one, one that all programs share."""
    own = map(os.path.realpath, (os.path.expanduser("~"), _home_of(os.geteuid()), tempfile.gettempdir()))
    return _is_home(path) or any(is_in(other, [path]) for other in (*own, *_SHARED)) or is_in(path, _NEVER)


def _is_home(path: str) -> bool:
    """Tells whether a folder is somebody's home: by its place, by `HOME`, or by the account of its owner."""
    if os.path.dirname(path) in _HOMES or path == os.path.realpath(os.path.expanduser("~")):
        return True
    return os.path.exists(path) and path == os.path.realpath(_home_of(os.stat(path).st_uid))


def _home_of(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_dir
    except KeyError:  # a number without an account
        return "/root"


def is_in(path: str, folders: Iterable[str]) -> bool:
    """Tells whether a path is one of the folders, or lies in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Returns the paths without the system's, and without those that lie in others."""
    trees: list[str] = []
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if not is_in(path, (*SYSTEM, *trees)):
            trees.append(path)
    return tuple(trees)


def _arena() -> dict[str, str]:
    """Returns what arena itself has, as `_package` does: without the bundled bots, but with the boards and games."""
    package = Path(arena.__file__).parent.resolve()
    entries = [entry for entry in sorted(package.iterdir()) if entry.name not in ("bundled", "__pycache__")]
    found = {f"{PYTHON_FOLDER}/arena/{entry.name}": str(entry) for entry in entries}
    found[f"{PYTHON_FOLDER}/arena/bundled/boards"] = str(boards_folder())
    for path, place in _package("samurai-arena").items():
        for file in ("METADATA", "entry_points.txt"):
            if path.endswith(".dist-info") and os.path.exists(f"{place}/{file}"):
                found[f"{path}/{file}"] = f"{place}/{file}"
    return found


def _package(name: str) -> dict[str, str]:
    """Returns what an installed distribution has: each path in a sandbox, and its path here; nothing if it is not."""
    from importlib.metadata import PackageNotFoundError, distribution  # not before: only bots in sandboxes need it

    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return {}
    # `installed.files` makes a path of each of a thousand files, for 20 ms.
    rows = csv.reader((installed.read_text("RECORD") or "").splitlines())
    files = [row[0] for row in rows if row] or list(map(str, installed.files or ()))
    tops = {file.partition("/")[0] for file in files} - {"", ".."}
    if not tops:  # a system's own package has no list of its files
        found = importlib.util.find_spec({"pyzmq": "zmq"}.get(name, name))
        origin = Path(found.origin) if found is not None and found.origin is not None else None
        return {} if origin is None else {f"{PYTHON_FOLDER}/{origin.parent.name}": str(origin.parent)}
    places = {top: Path(str(installed.locate_file(PurePath(top)))).resolve() for top in tops - {"__pycache__"}}
    return {f"{PYTHON_FOLDER}/{top}": str(place) for top, place in sorted(places.items()) if place.exists()}


def _links(path: str) -> Iterator[str]:
    """Yields a path, the target of each symbolic link on the way, and where it ends."""
    while os.path.islink(path) and os.path.exists(path):
        yield path
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    yield path
    yield os.path.realpath(path)


def _installation(path: str) -> Iterator[str]:
    """Yields what lies beside the folder of a program: a node, a JDK."""
    for link in _links(path):
        parent = os.path.dirname(link)
        if os.path.basename(parent) in _PROGRAMS and not is_in(link, SYSTEM):
            yield from _parts(os.path.dirname(parent))


def _parts(installation: str) -> Iterator[str]:
    """Yields the folder of an installation, or only some folders in it if it has private or other things too."""
    parent, name = os.path.split(installation)
    if is_private(installation) or (name.startswith(".") and _is_home(os.path.realpath(parent))):
        yield from (os.path.join(installation, name) for name in _PARTS)
    elif os.path.isdir(os.path.join(installation, _CONDA)):
        names = (name for name in sorted(os.listdir(installation)) if name not in _OF_CONDA and name[0] != ".")
        yield from (os.path.join(installation, name) for name in names)
    else:
        yield installation


@functools.cache
def _libraries(path: str) -> tuple[str, ...]:
    """Returns the shared libraries that the system's loader would take for a program of the operator."""
    words = os.fsdecode(output(["ldd", path])).split()
    return tuple(name for word in words if word.startswith("/") for name in _links(word))


def output(command: list[str]) -> bytes:
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
