"""Runs a command as an ordinary user, from tests that root runs.

As a program: `ordinary.py COMMAND...`. Root's interpreter may lie in a folder that is closed to others, such as its
home. Then it is mounted, for this process alone, so that the user can reach it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

USER = 60_123
"""A number that no account has."""
_NEW_MOUNTS = 0x0002_0000


def ordinary(*words: str) -> list[str]:
    """The command that runs `words` as an ordinary user: as they are, if that is who runs the tests."""
    return [sys.executable, __file__, *words] if os.geteuid() == 0 else list(words)


def closed_at(path: Path) -> Path | None:
    """The topmost folder above `path` that keeps other users out."""
    return next((parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001), None)


def mount(*words: str) -> None:
    program = shutil.which("mount", path="/usr/bin:/bin:/usr/sbin:/sbin") or "mount"
    subprocess.run([program, *words], check=True)


def open_the_way(tree: Path) -> None:
    """Mounts an empty folder over the one that is closed, and the tree in it."""
    closed = closed_at(tree)
    if closed is not None:
        descriptor = os.open(tree, os.O_PATH)
        mount("-t", "tmpfs", "-o", "mode=755,size=1m", "none", str(closed))
        tree.mkdir(parents=True)
        mount("--no-canonicalize", "--bind", f"/proc/{os.getpid()}/fd/{descriptor}", str(tree))
        os.close(descriptor)


def main() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS) != 0:
        sys.exit(f"expected a mount namespace, got: {os.strerror(ctypes.get_errno())}")
    mount("--make-rprivate", "/")
    for tree in dict.fromkeys((sys.base_prefix, sys.prefix)):
        open_the_way(Path(tree).resolve())
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    os.environ["HOME"] = "/nonexistent"
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
