"""What a machine is for games: versions, levels of protection, toolchains, cores, memory, clock.

`python -m arena.cluster.survey` prints it as msgpack. It is a process of its own, because probes start bots.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from importlib import metadata
from typing import Final

import msgspec

from arena.core.face import Level, bot_manifests, files, processor_cores, resources
from arena.sandbox.doctor import examine

_PACKAGES: Final = ("dask", "distributed", "msgpack", "msgspec", "pyzmq", "zstandard")
"""Packages that arena and the bundled bots work with."""
_TOOL_S: Final = 10.0
_LONGEST: Final = 80


class MachineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A machine, as a process on it sees it."""

    machine: str
    versions: dict[str, str]
    """Versions of arena, Python, and packages; those that are not installed are left out."""
    levels: dict[Level, tuple[str, ...]]
    """Probes that fail, by level of protection; none if the machine gives it."""
    tools: dict[str, str]
    """First line that a program says of its version, for those that build or run bundled bots and are there."""
    cores: int
    """That the process may use."""
    memory_mib: int
    load: float
    """Processes that ran or waited for a core, as a mean of the last minute."""
    clock_ns: int
    """The step of the clock that thinking is measured with."""


def facts() -> MachineFacts:
    """Looks at this machine. It takes some seconds."""
    examined = examine()
    return MachineFacts(
        machine=socket.gethostname(),
        versions=versions(),
        levels={level: given.missing for level, given in examined.levels.items()},
        tools={tool: _said(path) for tool in sorted(_tools()) if (path := shutil.which(tool)) is not None},
        cores=processor_cores.available_cores(),
        memory_mib=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // files.MIB,
        load=round(os.getloadavg()[0], 2),
        clock_ns=round(time.get_clock_info("monotonic").resolution * 1e9),
    )


def versions() -> dict[str, str]:
    """Returns the versions of what this process works with; packages that are not installed are left out.

    That of arena has a digest of its code: a checkout that was changed is another.
    """
    found = {"arena": resources.code_version(), "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    if "pyzmq" in found:
        import zmq

        found["libzmq"] = zmq.zmq_version()
    return found


def _tools() -> set[str]:
    manifests = [bot_manifests.read_manifest(folder) for folder in bot_manifests.bundled_folders().values()]
    words = {word for each in manifests for word in (*each.build[:1], *each.command[:1], *each.needs)}
    return {word for word in words if "/" not in word and not word.startswith("{")} | {"cc"}  # `make` needs it, too


def _said(program: str) -> str:
    for asking in ("--version", "version"):
        try:
            done = subprocess.run(
                [program, asking], capture_output=True, text=True, errors="replace", timeout=_TOOL_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        if done.returncode == 0 and lines:
            return lines[0][:_LONGEST]
    return "there"


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.msgpack.encode(facts()))
