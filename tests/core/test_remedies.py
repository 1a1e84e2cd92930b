"""What the system's errors are told with."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from arena.core import remedies
from arena.core.link.faults import is_of_the_program, machine_fault


def test_a_machine_that_lacks_something_is_told_with_what_helps() -> None:
    error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    assert str(machine_fault("start greedy", error)) == (
        "expected to start greedy, got: Too many open files; raise the limit of open files (`ulimit -n`), "
        "or play fewer games at once (--concurrency)"
    )


def test_the_place_and_a_remedy_of_its_own_are_told() -> None:
    error = OSError(errno.EROFS, os.strerror(errno.EROFS))
    fault = machine_fault("make a folder", error, at=Path("/run/it"), remedy="make /run writable")
    assert str(fault) == "expected to make a folder, got: Read-only file system - at /run/it; make /run writable"


def test_an_error_without_a_known_remedy_is_told_all_the_same() -> None:
    assert str(machine_fault("start greedy", OSError("odd"))) == "expected to start greedy, got: odd"


@pytest.mark.parametrize("number", sorted(remedies.OF_MACHINES), ids=errno.errorcode.get)
def test_what_a_machine_lacks_is_no_programs_fault(number: int) -> None:
    assert not is_of_the_program(OSError(number, ""))
    assert number not in remedies.OF_NAMES
