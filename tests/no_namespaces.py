"""Runs a command where no user namespace and no mount can be had, as in a container with Docker's own filter.

As a program: `no_namespaces.py COMMAND...`. A filter of system calls refuses them: nothing of the machine is changed.
`no_namespaces.py --landlock COMMAND...` refuses Landlock instead, and leaves namespaces, as gVisor does.
`no_namespaces.py --root COMMAND...` is for root: it has the capabilities that Docker leaves it, and no others, and the
interpreter and this checkout lie where every user can reach them, as in an image.
"""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from pathlib import Path

from ordinary import ROOT, mount, open_the_way

_NEW_MOUNTS, _DROP = 0x0002_0000, 24
_OF_DOCKER = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}  # no CAP_SYS_ADMIN and no CAP_SYS_PTRACE among them
_SECCOMP, _CLONE, _CLONE3, _REFUSED = {
    "x86_64": (317, 56, 435, (272, 308, 165, 166, 155)),  # unshare, setns, mount, umount2, pivot_root
    "aarch64": (277, 220, 435, (97, 268, 40, 39, 41)),
}.get(os.uname().machine, (0, 0, 0, ()))
_OF_LANDLOCK = (444, 445, 446)
_NEW_NAMESPACES = 0x7E02_0080
_LOAD, _EQUAL, _BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _EPERM, _ENOSYS = 0x7FFF_0000, 0x0005_0001, 0x0005_0026


def without_namespaces(*words: str) -> list[str]:
    """The command that runs `words` there."""
    return [sys.executable, __file__, *words]


def are_refused() -> bool:
    """Whether this machine can be made to refuse them."""
    if not _REFUSED:
        return False
    return subprocess.run(without_namespaces("unshare", "-U", "true"), capture_output=True, check=False).returncode != 0


def be_a_container_s_root() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_MOUNTS) != 0:
        sys.exit(f"expected a mount namespace, got: {os.strerror(ctypes.get_errno())}")
    mount("--make-rprivate", "/")
    trees = {Path(tree).resolve() for tree in (sys.base_prefix, sys.prefix, ROOT)}
    open_the_way([tree for tree in trees if not trees & set(tree.parents)])
    for capability in set(range(64)) - _OF_DOCKER:
        libc.prctl(_DROP, capability, 0, 0, 0)


def main() -> None:
    words = sys.argv[1:]
    if words[0] == "--root":
        be_a_container_s_root()
        del words[0]
    steps = [(_LOAD, 0, 0, 0)]
    if words[0] == "--landlock":
        del words[0]
        steps += [step for number in _OF_LANDLOCK for step in ((_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ENOSYS))]
    else:
        for number in _REFUSED:
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _EPERM)]
        steps += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ENOSYS)]
        steps += [(_EQUAL, 0, 3, _CLONE), (_LOAD, 0, 0, 16), (_BITS, 0, 1, _NEW_NAMESPACES), (_RETURN, 0, 0, _EPERM)]
    steps += [(_RETURN, 0, 0, _ALLOW)]
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(program, len(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.syscall(_SECCOMP, 1, 0, struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(held))) != 0:
        sys.exit(f"expected a filter, got: {os.strerror(ctypes.get_errno())}")
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
