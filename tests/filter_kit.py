"""What tests of the filters share: the kernel's answer to a call, and the numbers that libseccomp has."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from arena.sandbox import filter
from arena.sandbox.filter import MACHINES, Condition, Match, Sized

ALLOW = 0x7FFF_0000
UNKNOWN_TO_LIBSECCOMP = {
    "statmount", "listmount", "lsm_set_self_attr", "open_tree_attr", "fchmodat2", "file_getattr", "file_setattr",
    "getxattrat", "setxattrat", "listxattrat", "removexattrat",
}  # fmt: skip
"""Calls that are newer than libseccomp 2.5.4. A newer libseccomp knows them, and they are compared."""
ASK_LIBSECCOMP = """
import json, sys
sys.path.insert(0, "/usr/lib/python3/dist-packages")
import seccomp

def number(machine, name):
    try:
        found = seccomp.resolve_syscall(machine, name)
    except (RuntimeError, OSError, ValueError):
        return "unknown"
    return "unknown" if found == -1 else found

machines = seccomp.Arch.X86_64, seccomp.Arch.AARCH64
print(json.dumps({name: [number(machine, name) for machine in machines] for name in json.load(sys.stdin)}))
"""


def ask_libseccomp(names: list[str]) -> dict[str, list[int | str]]:
    """Each name's numbers. A negative one means that the machine has no such call."""
    if not Path("/usr/bin/python3").exists():
        pytest.skip("needs python3-seccomp, and there is no /usr/bin/python3")
    done = subprocess.run(
        ["/usr/bin/python3", "-c", ASK_LIBSECCOMP], input=json.dumps(names), capture_output=True, text=True, check=False
    )
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip("needs python3-seccomp, which /usr/bin/python3 has not")
    assert done.returncode == 0, done.stderr
    result: dict[str, list[int | str]] = json.loads(done.stdout)
    return result


def expected(rows: Iterable[Condition], call: str, argument: int, value: int) -> int | None:
    """The answer of the first row that treats a call with this value of an argument, if the others' rows do not."""
    return next((row.treatment.answer for row in rows if row.call == call and treats(row, argument, value)), None)


def treats(row: Condition, argument: int, value: int) -> bool:
    """Whether a row treats its call; all arguments but one are 1."""
    value = value & 0xFFFF_FFFF if row.argument == argument else 1
    if any(value & bits for bits in row.spared.values()):
        return False
    named = list(row.values.values())
    return {
        Match.ANY_BIT: bool(value & named[0]),
        Match.ALL_BITS: all(value & bits for bits in named) and not isinstance(row, Sized),  # of a byte
        Match.NO_BIT: not value & named[0],
        Match.ONE_OF: value in named,
        Match.NOT_ONE_OF: value not in named,
    }[row.match]


def some_values(row: Condition) -> set[int]:
    """Values of the argument that decides: those that are named, each bit, each bit with each other that matters."""
    bits = {1 << bit for bit in range(32)}
    named = {0, *row.values.values(), *row.spared.values()}
    return bits | named | {one | other for one in bits for other in named} | {~one & 0xFFFF_FFFF for one in named}


def at_isolated(
    machine: str, number: int, *arguments: int, kernel_machine: int | None = None, allowed: frozenset[str] = frozenset()
) -> int:
    """What the kernel would do in a box: a bot's has two filters, and what one of them lets through is the other's."""
    found = answer(filter.program(machine, allowed), machine, number, *arguments, kernel_machine=kernel_machine)
    if found != ALLOW or allowed:
        return found
    return answer(filter.asked(machine=machine), machine, number, *arguments, kernel_machine=kernel_machine)


def answer(program: bytes, machine: str, number: int, *arguments: int, kernel_machine: int | None = None) -> int:
    """What the kernel would do with a call, by interpreting a program."""
    data = struct.pack(
        "<iIQ6Q",
        number if number < 2**31 else number - 2**32,
        MACHINES[machine] if kernel_machine is None else kernel_machine,
        0,
        *(*arguments, *[0] * (6 - len(arguments))),
    )
    code = list(struct.iter_unpack("<HBBI", program))
    at = loaded = 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        if operation == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
        elif operation == 0x06:
            return int(value)
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[operation]
            at += yes if holds else no
