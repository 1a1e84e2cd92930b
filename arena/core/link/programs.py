"""Says why a program cannot be started, by a look at its file.

What the system says of it is short (`Exec format error`), about something else (`No such file` of a script whose
interpreter is missing), or not said at all: a shell takes for a script whatever the system does not know. A sandbox
hides even that.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import stat
import struct
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from arena.core.errors import BotError, MachineFault
from arena.core.files import MOST_PROGRAM, opened
from arena.core.link.runtimes import find

_ELF: Final = b"\x7fELF"
_SCRIPT: Final = b"#!"
_MOST_LINE: Final = 255  # bytes of the first line of a script that Linux reads
_PROCESSORS: Final = {
    3: "i386", 8: "mips", 21: "ppc64", 22: "s390", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv",
}  # fmt: skip
"""Processors by their number in an ELF file."""
_OWN: Final = {
    "x86_64": (62, 3), "i686": (3,), "aarch64": (183, 40), "armv7l": (40,), "riscv64": (243,), "ppc64le": (21,),
    "s390x": (22,),
}  # fmt: skip
"""Numbers of the processors whose programs a machine runs, by machine."""
_MACHO: Final = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce")
_FOREIGN: Final = {
    b"MZ": "a program for Windows",
    _ELF: "a program for Linux",
    **dict.fromkeys(_MACHO, "a program for macOS"),
    b"\xca\xfe\xba\xbe": "a program for macOS, or a class of Java",
    b"PK\x03\x04": "a ZIP archive, as a JAR is (java -jar starts one)",
    b"\0asm": "a program in WebAssembly",
}
"""Files that people take for programs, by their first bytes."""
_BINFMT: Final = "/proc/sys/fs/binfmt_misc"
_LINES: Final = ("sh", "bash", "dash", "awk")  # runtimes that read neither a BOM nor the line ends of Windows


class Unfit(NamedTuple):
    """Why a program cannot be started."""

    got: str
    remedy: str
    of_path: bool = False
    is_absent: bool = False
    of_machine: bool = False
    """True if the machine is at fault, and not the program."""


PACKAGES: Final = {
    **dict.fromkeys(("c++", "cc", "g++", "gcc", "ld", "make"), "build-essential"), "pkg-config": "pkg-config",
    "go": "golang", "cargo": "rustup", "rustc": "rustup", "javac": "default-jdk", "java": "default-jdk", "mvn": "maven",
    "node": "nodejs", "npm": "npm", "perl": "perl", "ruby": "ruby", "php": "php-cli", "lua": "lua5.4", "cmake": "cmake",
}  # fmt: skip
"""Package of Debian and Ubuntu that has a program, by program."""
NOT_INSTALLED: Final = Unfit("no such program on the path", "install it, or correct the manifest", True, True)
ABSENT: Final = Unfit("no such file", "install it, or correct the manifest", is_absent=True)


def unfit(program: str, folder: Path) -> Unfit | None:
    """Returns why a program cannot be started; None if nothing is seen that speaks against it.

    Args:
        program: Its name on the path, or its path.
        folder: What the path is relative to.

    Raises:
        BotError: Its file cannot be read.
    """
    if "/" not in program:
        if find(program) is not None or shutil.which(program) is not None:
            return None
        if os.path.isfile(folder / program):
            return Unfit("no such program on the path, but a file of the bot", f"write ./{program}")
        package = f" (Debian and Ubuntu: apt install {PACKAGES[program]})" if program in PACKAGES else ""
        return NOT_INSTALLED._replace(remedy=f"install it{package}, or correct the manifest")
    path = folder / program
    if not os.path.exists(path):
        return ABSENT
    if not os.path.isfile(path):
        return Unfit("a folder or device", "name a program")
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & 0o111:
        return Unfit(
            f"a file that may not be executed (mode {mode:03o})", f"run `chmod +x {shlex.quote(program)}` in its folder"
        )
    if is_without_programs(path):
        disk = "a file on a disk from which nothing may be executed (it is mounted with noexec)"
        return Unfit(disk, "move it to another disk, or mount that one with exec", of_machine=True)
    if not os.access(path, os.X_OK):
        return Unfit(f"a file that this user may not execute (mode {mode:03o})", "give this user the right to")
    return _unknown_format(program, path)


def is_without_programs(place: Path) -> bool:
    """Says whether nothing may be executed on a disk.

    Raises:
        OSError: The place is gone.
    """
    return bool(os.statvfs(place).f_flag & getattr(os, "ST_NOEXEC", 0))


def check_disk(folder: Path) -> None:
    """Checks that programs in a folder can be started.

    Raises:
        MachineFault: Its disk is mounted without that. Show the message to the operator.
        OSError: The folder is gone.
    """
    if is_without_programs(folder):
        raise MachineFault(
            f"expected a disk from which programs can be started, got: one that is mounted noexec - at {folder}; "
            "mount it with exec (mount -o remount,exec), or move the folder to another disk"
        )


def unfit_script(program: str, script: Path) -> Unfit | None:
    """Returns why a runtime cannot read the script that it is to run; None if nothing is seen."""
    if os.path.basename(program) not in _LINES or not os.path.isfile(script):
        return None
    with opened(script, "a script", MOST_PROGRAM, BotError) as file:
        head = file.part(0, 4096)
    return _windows_text(head)


def _unknown_format(program: str, path: Path) -> Unfit | None:
    with opened(path, f"the program {program!r}", MOST_PROGRAM, BotError) as file:
        head = file.part(0, 4096)
        loader = file.part(*place) if (place := _loader_place(head)) else b""
        is_cut = len(head) < 20 or any(kind == 1 and at + length > file.size for kind, at, length in _segments(head))
    if not head:
        return Unfit("an empty file", "build it, or copy it again")
    if head.startswith((_SCRIPT, BOM_UTF8)):
        return _windows_text(head) or _no_interpreter(head)
    own = _ELF if sys.platform == "linux" else _MACHO
    if not head.startswith(own):
        what = next((what for start, what in _FOREIGN.items() if head.startswith(start)), "")
        if _others_are_started():
            return None
        if not what and b"\0" not in head:
            remedy = "begin it with a line such as #!/usr/bin/env python3, or name a runtime before it in `command`"
            return Unfit("a text whose first line names no interpreter (#!)", remedy)
        return Unfit(what or "no program of this system", f"build it for {_here()}")
    if not head.startswith(_ELF):
        return None
    kind, processor = struct.unpack_from("<HH" if head[5:6] != b"\2" else ">HH", head.ljust(20, b"\0"), 16)
    if processor not in _OWN.get(platform.machine(), (processor,)):
        told = f"a program for {_PROCESSORS.get(processor, 'another processor')}"
        return None if _others_are_started() else Unfit(told, f"build it for {_here()}")
    if is_cut:
        return Unfit("a program whose end is missing", "build it, or copy it again")
    if kind not in (2, 3):
        return Unfit("an object file, which is no whole program", "link it")
    if loader and not os.path.exists(name := os.fsdecode(loader.rstrip(b"\0"))):
        return Unfit(f"a program that needs {name}, which is not there", "link it statically, or build it here")
    return None


def _loader_place(head: bytes) -> tuple[int, int] | None:
    """Returns where in an ELF file of 64 bits the name of its loader is, and how long; None if it needs none."""
    return next(((place, min(length, 4096)) for kind, place, length in _segments(head) if kind == 3), None)


def _segments(head: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields of each segment of an ELF file of 64 bits its kind, its place in the file and its length there."""
    if head.startswith(_ELF + b"\2\1") and len(head) >= 64:
        (at,), (size, count) = struct.unpack_from("<Q", head, 32), struct.unpack_from("<HH", head, 54)
        for place in range(at, min(at + size * count, len(head) - 55), max(size, 1)):
            kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", head, place)
            yield kind, offset, length


def _windows_text(head: bytes) -> Unfit | None:
    first = head.partition(b"\n")[0]
    if head.startswith(BOM_UTF8):
        return Unfit("a script that begins with a byte order mark (BOM)", "save it as UTF-8 without BOM")
    if first.endswith(b"\r"):
        return Unfit("a script with the line ends of Windows (CRLF)", "save it with the line ends of Unix (LF)")
    return None


def _no_interpreter(head: bytes) -> Unfit | None:
    words = os.fsdecode(head[: _MOST_LINE + 1].partition(b"\n")[0]).removeprefix("#!").split()
    remedy = "correct its first line, or install that"
    if not words:
        return Unfit("a script whose first line names no program", remedy)
    if not os.path.isfile(words[0]):
        return Unfit(f"a script for {words[0]}, which is not there", remedy)
    if not os.access(words[0], os.X_OK):
        return Unfit(f"a script for {words[0]}, which this user may not execute", remedy)
    called = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if os.path.basename(words[0]) == "env" and called and shutil.which(called[0]) is None:
        return Unfit(f"a script for {called[0]}, which is not on the path", remedy)
    return None


def _others_are_started() -> bool:
    """Says whether the system starts programs of other systems or processors, by emulators that somebody installed."""
    try:
        return not {"register", "status"}.issuperset(os.listdir(_BINFMT))
    except OSError:
        return False


def _here() -> str:
    return f"{platform.system()} on {platform.machine()}"
