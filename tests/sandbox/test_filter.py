"""The filter's table: its numbers are those of the kernel, and its program does what it says."""

from __future__ import annotations

import errno
import platform
import struct
from itertools import pairwise

import pytest
from filter_kit import ALLOW, UNKNOWN_TO_LIBSECCOMP, ask_libseccomp, expected, some_values
from filter_kit import at_isolated as run

from arena.core.errors import MachineFault
from arena.sandbox import filter as f
from arena.sandbox.fenced_filter import FENCED

ISOLATED = f.Profile(f.GROUPS, f.CONDITIONS)


def table(profile: f.Profile = ISOLATED) -> dict[str, f.Numbers]:
    return {name: numbers for group in profile.groups for name, numbers in group.calls.items()} | {
        condition.call: condition.numbers for condition in profile.conditions
    }


@pytest.mark.parametrize("profile", [ISOLATED, FENCED], ids=["isolated", "fenced"])
def test_the_numbers_are_those_that_libseccomp_has(profile: f.Profile) -> None:
    found = ask_libseccomp(list(table(profile)))
    assert {name for name, numbers in found.items() if "unknown" in numbers} <= UNKNOWN_TO_LIBSECCOMP
    for name, numbers in table(profile).items():
        for ours, theirs in zip(numbers, found[name], strict=True):
            if isinstance(theirs, int):
                assert ours == (theirs if theirs >= 0 else None), name


def test_no_call_is_in_the_table_twice() -> None:
    names = [name for group in f.GROUPS for name in group.calls] + list({condition.call for condition in f.CONDITIONS})
    assert len(names) == len(set(names))
    for column in range(len(f.MACHINES)):
        numbers = [numbers[column] for numbers in table().values() if numbers[column] is not None]
        assert len(numbers) == len(set(numbers))
        assert max(numbers) <= f.NEWEST


def test_every_reason_is_said() -> None:
    assert all(group.why for group in (*f.GROUPS, *f.CONDITIONS))


@pytest.mark.parametrize("machine", f.MACHINES)
def test_every_call_of_the_table_is_treated_as_it_says(machine: str) -> None:
    column = list(f.MACHINES).index(machine)
    for group in f.GROUPS:
        for numbers in group.calls.values():
            if numbers[column] is not None:
                assert run(machine, numbers[column]) == group.treatment.answer


@pytest.mark.parametrize("machine", f.MACHINES)
def test_a_build_may_lock_files_and_nothing_else_more(machine: str) -> None:
    column = list(f.MACHINES).index(machine)
    assert set(table()) > f.FOR_BUILDS
    for name, numbers in table().items():
        number = numbers[column]
        if number is not None and (name in f.FOR_BUILDS or any(name in group.calls for group in f.GROUPS)):
            with_all = run(machine, number, 2**31, 2**31, 2**31, allowed=f.FOR_BUILDS)
            assert (with_all == ALLOW) == (name in f.FOR_BUILDS), name


@pytest.mark.parametrize("machine", f.MACHINES)
@pytest.mark.parametrize("row", f.CONDITIONS, ids=lambda row: row.call)
@pytest.mark.parametrize("high", [0, 0xDEAD_BEEF])
def test_an_argument_decides(machine: str, row: f.Condition, high: int) -> None:
    number = row.numbers[list(f.MACHINES).index(machine)]
    assert number is not None
    for value in some_values(row):
        arguments = [1] * 6
        arguments[row.argument] = high << 32 | value
        assert run(machine, number, *arguments) == (expected(f.CONDITIONS, row.call, row.argument, value) or ALLOW), (
            value
        )


def test_what_is_answered_has_the_form_of_the_kernel_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the C library makes of it is seen in a box (tests/sandbox/e2e/test_box.py)."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert {number: (at, len(data)) for number, (at, data) in f.answers(100, 1).items()} == {
        99: (0, 112),
        137: (1, 120),
        138: (1, 120),
    }


@pytest.mark.parametrize("machine", f.MACHINES)
def test_shared_memory_without_a_file_is_refused_from_a_size_on(machine: str) -> None:
    number = next(row for row in f.CONDITIONS if isinstance(row, f.Sized)).numbers[list(f.MACHINES).index(machine)]
    assert number is not None
    refused = f.Treatment.EPERM.answer
    for size in (4096, 65_536, 65_537, 2**31, 2**32, 2**32 + 4096):
        assert run(machine, number, 0, size, 3, 0x21) == (ALLOW if size <= f.SHARED else refused), size
        assert run(machine, number, 0, size, 3, 0x4021) == (ALLOW if size <= f.SHARED else refused), size
        assert run(machine, number, 0, size, 3, 0x22) == ALLOW, "private memory"
        assert run(machine, number, 0, size, 3, 0x01) == ALLOW, "a file"


@pytest.mark.parametrize("machine", f.MACHINES)
def test_a_bot_may_do_what_programs_do(machine: str) -> None:
    names = "read write openat close mmap munmap mprotect brk futex execve exit_group wait4 kill nanosleep epoll_ctl"
    names += " epoll_pwait connect sendto recvfrom getsockopt pipe2 dup3 getrandom clock_gettime sched_getaffinity"
    names += " rt_sigaction tgkill prctl set_robust_list rseq eventfd2 timerfd_create statx readlinkat unlinkat setsid"
    column = list(f.MACHINES).index(machine)
    for name, numbers in ask_libseccomp(names.split()).items():
        number = numbers[column]
        assert isinstance(number, int)
        assert number >= 0
        assert run(machine, number) == ALLOW, name


def test_what_is_said_to_be_allowed_is() -> None:
    for name, (number, _) in ask_libseccomp(sorted({name for calls in f.OPEN for name in calls.split()})).items():
        assert isinstance(number, int)
        assert run("x86_64", number, *[1] * 6) == ALLOW, name


@pytest.mark.parametrize("machine", f.MACHINES)
def test_a_call_newer_than_the_table_does_not_exist(machine: str) -> None:
    assert run(machine, f.NEWEST) == ALLOW
    for number in (f.NEWEST + 1, 500, f.X32 - 1):
        assert run(machine, number) == f.Treatment.ENOSYS.answer
    first, last = f.UNUSED[machine]
    assert {run(machine, number) for number in range(first, last + 1)} == {f.Treatment.ENOSYS.answer}
    assert all(before != f.Treatment.ENOSYS.answer for before in (run(machine, first - 1), run(machine, last + 1)))


def test_other_interfaces_of_the_kernel_end_the_process() -> None:
    assert run("x86_64", f.X32 + 39) == f.Treatment.KILLED.answer
    assert run("x86_64", 2**32 - 1) == f.Treatment.KILLED.answer
    for machine in f.MACHINES:
        for other in (0x4000_0003, 0x4000_0028, *(number for name, number in f.MACHINES.items() if name != machine)):
            assert run(machine, 39, kernel_machine=other) == f.Treatment.KILLED.answer


@pytest.mark.parametrize("profile", [f.BOX, FENCED], ids=["isolated", "fenced"])
@pytest.mark.parametrize("machine", f.MACHINES)
def test_every_jump_ends_inside_the_program(machine: str, profile: f.Profile) -> None:
    code = list(struct.iter_unpack("<HBBI", f.program(machine, profile=profile)))
    assert len(code) <= 4096, "the kernel takes no longer program"
    for at, (operation, yes, no, _) in enumerate(code):
        if operation in (0x15, 0x35, 0x45):
            assert at + 1 + max(yes, no) < len(code)
    assert code[-1][0] == 0x06


def test_treatments_are_answers_of_the_kernel() -> None:
    numbers = {treatment.answer & 0xFFFF for treatment in f.Treatment if treatment.answer >> 16 == 5}
    assert numbers == {0, errno.EPERM, errno.EINVAL, errno.EAFNOSUPPORT, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTTY}
    assert all(first.answer != second.answer for first, second in pairwise(f.Treatment))


def test_a_machine_that_the_table_does_not_know() -> None:
    with pytest.raises(MachineFault, match=r"got: riscv64; only level trusted"):
        f.program("riscv64")


@pytest.mark.parametrize("machine", f.MACHINES)
def test_threads_can_be_made_and_no_namespace(machine: str) -> None:
    """The flags are those of the kernel's sched.h: a filter that is only compared with its own table forgets one."""
    column = list(f.MACHINES).index(machine)
    number = table()["clone"][column]
    assert number is not None
    namespaces = {
        "NEWNS": 0x0002_0000, "NEWCGROUP": 0x0200_0000, "NEWUTS": 0x0400_0000, "NEWIPC": 0x0800_0000,
        "NEWUSER": 0x1000_0000, "NEWPID": 0x2000_0000, "NEWNET": 0x4000_0000,
    }  # fmt: skip
    for name, flag in namespaces.items():
        assert run(machine, number, flag | 17) == f.Treatment.EPERM.answer, name
    assert run(machine, number, 0x003D_0F00) == ALLOW, "a thread, as glibc makes it"
    assert run(machine, number, 0x0120_0011) == ALLOW, "a process, as fork makes it"
