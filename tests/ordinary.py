"""Runs a command as an ordinary user, from tests that root runs.

As a program: `ordinary.py COMMAND...`. Root's interpreter and this checkout may lie in a folder that is closed to
others, such as its home. Then they are mounted, for this process alone, so that the user can reach them.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
USER = 60_123  # a number that no account has
_NEW_MOUNTS = 0x0002_0000


def ordinary(*words: str) -> list[str]:
    """The command that runs `words` as an ordinary user: as they are, if that is who runs the tests."""
    return [sys.executable, __file__, *words] if os.geteuid() == 0 else list(words)


def closed_at(path: Path) -> Path | None:
    """The topmost folder above `path` that keeps other users out."""
    return next((parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001), None)


def others_can_run(program: str) -> bool:
    """Whether a program is found where every user may run it, and not in somebody's own folder."""
    found = shutil.which(program)
    return found is not None and closed_at(Path(found)) is None


def mount(*words: str) -> None:
    program = shutil.which("mount", path="/usr/bin:/bin:/usr/sbin:/sbin") or "mount"
    subprocess.run([program, *words], check=True)


def open_the_way(trees: list[Path]) -> None:
    """Mounts an empty folder over each one that is closed, and the trees in it."""
    ways = [(tree, closed, os.open(tree, os.O_PATH)) for tree in trees if (closed := closed_at(tree)) is not None]
    for closed in {closed for _, closed, _ in ways}:
        mount("-t", "tmpfs", "-o", "mode=755,size=1m", "none", str(closed))
    for tree, _, descriptor in ways:
        tree.mkdir(parents=True, exist_ok=True)
        mount("--no-canonicalize", "--bind", f"/proc/{os.getpid()}/fd/{descriptor}", str(tree))
        os.close(descriptor)


def main() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS) != 0:
        sys.exit(f"expected a mount namespace, got: {os.strerror(ctypes.get_errno())}")
    mount("--make-rprivate", "/")
    trees = {Path(tree).resolve() for tree in (sys.base_prefix, sys.prefix, ROOT)}
    open_the_way([tree for tree in trees if not trees & set(tree.parents)])
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    os.environ["HOME"] = "/nonexistent"
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
