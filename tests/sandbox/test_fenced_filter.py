"""The filters of level fenced: they do what their table says, and what they let through is treated as at isolated."""

from __future__ import annotations

import pytest
from filter_kit import ALLOW, answer, ask_libseccomp, at_isolated, expected, some_values

from arena.sandbox import filter, launcher
from arena.sandbox.fenced_filter import CONDITIONS, FENCED, GROUPS
from arena.sandbox.filter import MACHINES, Condition, Numbers, Treatment


def numbers_of() -> dict[str, Numbers]:
    return {name: numbers for group in GROUPS for name, numbers in group.calls.items()} | {
        row.call: row.numbers for row in CONDITIONS
    }


def run(machine: str, number: int, *arguments: int) -> int:
    return answer(filter.program(machine, profile=FENCED), machine, number, *arguments)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_of_the_table_is_treated_as_it_says(machine: str) -> None:
    column = list(MACHINES).index(machine)
    for group in GROUPS:
        for name, numbers in group.calls.items():
            if (number := numbers[column]) is not None:
                assert run(machine, number) == group.treatment.answer, name


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("row", CONDITIONS, ids=lambda row: row.call)
def test_an_argument_decides_and_the_rest_is_treated_as_at_isolated(machine: str, row: Condition) -> None:
    number = row.numbers[list(MACHINES).index(machine)]
    for value in some_values(row) if number is not None else ():
        assert number is not None
        arguments = [1] * 6
        arguments[row.argument] = value
        below = at_isolated(machine, number, *arguments)
        assert run(machine, number, *arguments) == (expected(CONDITIONS, row.call, row.argument, value) or below), value


@pytest.mark.parametrize("machine", MACHINES)
def test_what_the_rows_do_not_name_is_treated_as_at_isolated(machine: str) -> None:
    column = list(MACHINES).index(machine)
    named = {numbers[column] for numbers in numbers_of().values()}
    for number in {*range(filter.NEWEST + 3)} - named:
        assert run(machine, number, 7) == at_isolated(machine, number, 7)
    for other in MACHINES.values():
        if other != MACHINES[machine]:
            assert (
                answer(filter.program(machine, profile=FENCED), machine, 90, kernel_machine=other)
                == Treatment.KILLED.answer
            )
    if machine == "x86_64":
        assert run(machine, filter.X32 + 90) == Treatment.KILLED.answer


@pytest.mark.parametrize("machine", MACHINES)
def test_a_bot_may_do_what_one_process_does(machine: str) -> None:
    names = "read write openat close mmap munmap mprotect brk futex execve exit_group nanosleep epoll_ctl epoll_pwait"
    names += " sendto recvfrom getsockopt pipe2 dup3 getrandom sched_getaffinity rt_sigaction set_robust_list rseq"
    names += " eventfd2 timerfd_create statx readlinkat unlinkat getpid gettid sendmsg recvmsg shutdown"
    for name, numbers in ask_libseccomp(names.split()).items():
        number = numbers[list(MACHINES).index(machine)]
        assert isinstance(number, int)
        assert run(machine, number) == ALLOW, name
    threads = 0x3D0F00
    clone, clock = (numbers_of()[name][list(MACHINES).index(machine)] or 0 for name in ("clone", "clock_gettime"))
    assert run(machine, clone, threads) == ALLOW
    assert {run(machine, clock, value) for value in (0, 1, 2, 3, 4, 7)} == {ALLOW}


def test_a_process_may_signal_itself_and_nobody_else() -> None:
    """The launcher's own filter, on the machine that it runs on."""
    pid = 4711
    made = launcher.only_itself(pid)
    [machine] = {name for name in MACHINES if {"x86_64": 62, "aarch64": 129}[name] == launcher._KILL}
    for call in (launcher._KILL, launcher._TGKILL):
        assert answer(made, machine, call, pid, 10) == ALLOW
        assert answer(made, machine, call, 0, 10) == ALLOW, "its own group, in which nobody else is"
        for other in (1, pid + 1, 2**32 - 1, 2**32 - pid):
            assert answer(made, machine, call, other, 10) == Treatment.EPERM.answer, other
    assert answer(made, machine, 39) == ALLOW
