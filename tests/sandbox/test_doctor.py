"""The doctor: which probes a level needs, what is made of what they find, and the probes themselves in a real seat."""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.errors import ConfigError, LevelError, MachineFault
from arena.core.link.bots import BotSpec, load_bot
from arena.core.link.confinement import require
from arena.core.types import Level
from arena.sandbox import box, doctor, fenced, fenced_filter, filter, landlock, levels, probe_program
from arena.sandbox.doctor import ProbeResult, Strangers, examine, examine_bot, state
from arena.sandbox.levels import level_in_force
from arena.sandbox.probes import FENCED, FENCED_STARTS, PROBES, TABLE, calls_to_try, needed, start_remedy

OUTSIDE = {"descriptors", "sqlite", "bwrap", "seat", "socket", "user", "measured", "ended"}
"""What is found from outside a seat; the rest is tried inside, or on control groups."""
OF_FENCED = {"landlock", "seat", "user", "measured", "untouched", "ended"}  # the same of the seat of level fenced
HARD = {"control-groups", "frozen", "memory-limit"}


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    levels._examined.cache_clear()
    yield
    levels._examined.cache_clear()


def machine(monkeypatch: pytest.MonkeyPatch, *failing: str, untried: tuple[str, ...] = ()) -> list[Level]:
    """A machine on which these probes fail. Returns the levels that it is asked for."""
    asked: list[Level] = []

    def outcomes(levels: Sequence[Level]) -> Iterator[ProbeResult]:
        asked.extend(levels)
        names = [probe.name for probe in PROBES if probe.name not in untried]
        return iter([ProbeResult(name, name not in failing, f"{name} was tried", "fix it") for name in names])

    monkeypatch.setattr(doctor, "_outcomes", outcomes)
    return asked


# The table


def test_a_stronger_level_needs_all_that_a_weaker_one_needs() -> None:
    assert needed(Level.TRUSTED) == ()
    assert set(needed(Level.ISOLATED)) < set(needed(Level.STRICT))
    assert set(needed(Level.STRICT)) - set(needed(Level.ISOLATED)) == HARD
    assert len(TABLE) == len(PROBES), "names are unique"
    assert not set(needed(Level.FENCED)) & set(needed(Level.STRICT)), "it has a seat of its own"


def test_each_probe_of_the_table_is_tried_and_no_other() -> None:
    fenced = {name for name in TABLE if name.startswith(FENCED)}
    assert set(probe_program.PROFILES[""]) == set(TABLE) - OUTSIDE - HARD - fenced
    assert {FENCED + name for name in probe_program.PROFILES[FENCED]} == fenced - {FENCED + name for name in OF_FENCED}
    assert set(needed(Level.FENCED)) == fenced


def test_every_row_of_the_filter_is_tried() -> None:
    for number, name in enumerate(filter.MACHINES):
        rows = [numbers[number] for _, numbers, _ in filter.calls(filter.BOX.groups)]
        rows += [row.numbers[number] for row in filter.CONDITIONS]
        assert sorted(call for _, call, _, _ in calls_to_try(name)) == sorted(row for row in rows if row is not None)


def test_every_row_of_the_filters_of_level_fenced_is_tried_but_those_with_probes_of_their_own() -> None:
    for number, name in enumerate(filter.MACHINES):
        groups, conditions = fenced_filter.GROUPS, fenced_filter.CONDITIONS
        names = [call for group in groups for call, numbers in group.calls.items() if numbers[number] is not None]
        names += [row.call for row in conditions if row.numbers[number] is not None]
        names += [call for call, _, _, _ in calls_to_try(name)]
        tried = [call for call, _, _, _ in calls_to_try(name, fenced_filter.FENCED)]
        assert set(names) - set(tried) == {"fork", "vfork", "clone", "connect"} - (
            {"fork", "vfork"} if number else set()
        )


def test_without_landlock_nothing_is_tried_in_a_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(*_arguments: object) -> int:
        raise OSError(errno.EOPNOTSUPP, "")

    monkeypatch.setattr(landlock, "_call", call)
    found = examine((Level.FENCED,))
    assert found.levels[Level.FENCED].missing == needed(Level.FENCED)
    [failed] = [outcome for outcome in found.probes if not outcome.ok]
    assert (
        failed.detail
        == "expected a kernel with Landlock, got: Landlock is in the kernel and was not turned on when it started"
    )
    assert failed.remedy == "add landlock to lsm=... of the kernel's command line, and restart"


def test_the_argument_that_decides_is_one_that_is_treated() -> None:
    tried = {name: arguments for name, _, arguments, _ in calls_to_try("x86_64")}
    assert tried["socket"][0] not in (-1, 1)
    assert tried["fcntl"][1] == 5, "the first command that is not allowed: a question for locks"
    assert tried["ioctl"][1] == 2, "none that programs need"
    assert tried["preadv2"][5] == 8


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: Creating new namespace failed: No space left on device", "user.max_user_namespaces"),
        ("bwrap: Creating new namespace failed: Operation not permitted", "container"),
        ("bwrap: No permissions to create new namespace, likely because the kernel does not allow", "userns_clone"),
        ("bwrap: Can't fork for pid 1: Resource temporarily unavailable", "ulimit -u"),
        ("bwrap: Can't read /proc/sys/kernel/overflowuid: No such file or directory", "ProcSubset"),
        ("bwrap: Can't find source path /root/x: Permission denied", "chmod o+x"),
    ],
)
def test_what_bwrap_says_has_a_remedy(said: str, remedy: str) -> None:
    assert remedy in start_remedy(said)
    assert start_remedy("what nobody has seen") != start_remedy(said)


def test_what_a_fenced_seat_says_has_a_remedy() -> None:
    said = "expected probe at level fenced, got: [Errno 16] load a filter: Device or resource busy"
    assert "interception" in start_remedy(said, starts=FENCED_STARTS)
    assert start_remedy("what nobody has seen", starts=FENCED_STARTS) == start_remedy("what nobody has seen")


# What is made of it


def test_a_level_is_given_if_all_its_probes_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch)
    found = examine()
    assert {level: (given.ok, given.missing) for level, given in found.levels.items()} == {
        Level.TRUSTED: (True, ()),
        Level.FENCED: (True, ()),
        Level.ISOLATED: (True, ()),
        Level.STRICT: (True, ()),
    }
    assert [outcome.name for outcome in found.probes] == [probe.name for probe in PROBES]


def test_a_level_lacks_what_failed_and_what_could_not_be_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "frozen", untried=("memory-limit",))
    found = examine()
    assert found.levels[Level.ISOLATED].ok
    assert found.levels[Level.STRICT].missing == ("frozen", "memory-limit")


def test_what_no_level_needs_keeps_none_away(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "descriptors", "sqlite")
    assert all(given.ok for given in examine().levels.values())


def test_a_level_that_is_not_given_is_refused_with_the_reason_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = machine(monkeypatch, "filter", "network")
    with pytest.raises(
        LevelError, match="expected a machine that gives level isolated, got one on which 2 of its"
    ) as e:
        require(Level.ISOLATED)
    assert "filter was tried; fix it" in str(e.value)
    assert "`arena doctor --level isolated`" in str(e.value)
    assert e.value.exit_code == 3
    assert level_in_force(Level.ISOLATED) == ("filter", "network")
    assert asked == [Level.ISOLATED, Level.FENCED], "it is found out once in a process"
    assert str(e.value).endswith("docs/safety.md says what stays open there"), "fenced can be had"


def test_a_refusal_does_not_name_a_level_that_cannot_be_had_either(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "network", "fenced-landlock")
    with pytest.raises(LevelError) as e:
        require(Level.STRICT)
    assert str(e.value).endswith("shows all of them")
    with pytest.raises(LevelError, match="first fenced-landlock"):
        require(Level.FENCED)


def test_trusted_needs_no_probe_and_remote_is_not_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = machine(monkeypatch, *TABLE)
    require(Level.TRUSTED)
    with pytest.raises(LevelError, match="remote"):
        require(Level.REMOTE)
    assert asked == []


def test_without_bubblewrap_nothing_is_tried_in_a_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "PROGRAM_FOLDERS", ("/nowhere",))
    found = examine((Level.ISOLATED,))
    assert [outcome.name for outcome in found.probes if not outcome.ok] == ["bwrap"]
    assert found.levels[Level.ISOLATED].missing == needed(Level.ISOLATED)


# In a real seat

SEATED = examine((Level.ISOLATED,)) if sys.platform == "linux" else None
isolated = pytest.mark.skipif(
    not (SEATED and SEATED.levels[Level.ISOLATED].ok),
    reason="this machine does not give level isolated: see `arena doctor`",
)


@isolated
def test_all_that_level_isolated_needs_holds_in_a_seat_here() -> None:
    assert SEATED is not None
    assert [(outcome.name, outcome.detail) for outcome in SEATED.probes if not outcome.ok] == []
    assert {outcome.name for outcome in SEATED.probes} == {"descriptors", "sqlite", "answers", *needed(Level.ISOLATED)}


def test_all_that_level_fenced_needs_holds_in_a_seat_here() -> None:
    found = examine((Level.FENCED,))
    if not next(outcome.ok for outcome in found.probes if outcome.name == "fenced-landlock"):
        pytest.skip("this machine does not give Landlock: see `arena doctor`")
    assert [(outcome.name, outcome.detail) for outcome in found.probes if not outcome.ok] == []
    assert {outcome.name for outcome in found.probes} == {"descriptors", "sqlite", *needed(Level.FENCED)}


@isolated
def test_a_machine_that_is_too_busy_is_told_from_one_that_lacks_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PATIENCE_S", 1e-6)
    [late] = [outcome for outcome in examine((Level.ISOLATED,)).probes if not outcome.ok]
    assert (late.name, late.detail.partition(":")[0]) == ("seat", "it did not connect in time")
    assert late.remedy == "the machine is too busy to tell: try again when it has less to do"


@pytest.mark.quick(1)
@pytest.mark.parametrize("version", [1, 3, 4, 5])
def test_level_fenced_gives_the_same_with_an_older_landlock(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """An older one knows fewer rights. What it does not govern is closed by the filters."""
    try:
        newest = landlock.version()
    except MachineFault:
        pytest.skip("this machine does not give Landlock: see `arena doctor`")
    monkeypatch.setattr(landlock, "version", lambda: min(version, newest))
    fenced._ruleset.cache_clear()
    found = examine((Level.FENCED,))
    fenced._ruleset.cache_clear()
    assert [(outcome.name, outcome.detail) for outcome in found.probes if not outcome.ok] == []


@pytest.mark.skipif(platform.machine() not in filter.MACHINES, reason="the filters do not know this machine")
def test_outside_a_fence_every_probe_sees_that_it_is_not_in_one(tmp_path: Path) -> None:
    """Each probe can fail: here it runs as a program of this user. It attacks what this test has made."""
    (tmp_path / "canary").write_text("x")
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        with Strangers(tmp_path) as strangers:
            before = state(tmp_path / "canary")
            told = {
                "profile": FENCED,
                "python": "2.7.18",
                "calls": [("getpid", {"x86_64": 39, "aarch64": 172}[platform.machine()], [0] * 6, errno.EPERM)],
                "canary": str(tmp_path / "canary"),
                "folder": str(tmp_path),
                "referee": child.pid,
                "open": [0, 1, 2, 7],
                **strangers.told,
            }
            assert {name for name, (ok, _) in probe_program.results(told) if ok} == set()
            assert {words.split()[-1] for words in strangers.touched()} == {"path", "name", "TCP"}
            assert state(tmp_path / "canary") != before
    finally:
        child.kill()
        child.wait()


def test_outside_a_box_most_probes_see_that_they_are_not_in_one(tmp_path: Path) -> None:
    """Each probe can fail: here it runs as a program of this user."""
    told = {
        "profile": "",
        "python": "2.7.18",
        "calls": [],
        "newest": filter.NEWEST,
        "canary": str(tmp_path),
        "folder": str(tmp_path),
        "processes": 4,
        "open": [0, 1, 2, 7],
    }
    if sys.platform != "linux":
        pytest.skip("the probes are for Linux")
    held = {name for name, (ok, _) in probe_program.results(told) if ok}
    assert not held & {
        "python",
        "filter",
        "files",
        "read-only",
        "descriptors-inherited",
        "processes",
        "network",
        "room",
    }


def test_a_call_that_is_not_treated_as_the_table_says_is_named() -> None:
    if platform.machine() != "x86_64" or sys.platform != "linux":
        pytest.skip("numbers of x86_64")
    ok, detail = probe_program.calls_are_treated(
        {"calls": [("getpid", 39, [], errno.EPERM), ("close", 3, [-1], errno.EBADF)]}
    )
    assert (ok, detail) == (False, "getpid: OK instead of EPERM")


# A bot


def bot(tmp_path: Path, program: str) -> BotSpec:
    tmp_path.chmod(0o755)
    (tmp_path / "bot.py").write_text(program)
    (tmp_path / "bot.toml").write_text('name = "ronin"\ncommand = ["{python}", "bot.py"]\n')
    return load_bot(str(tmp_path))


@pytest.mark.parametrize("level", [Level.TRUSTED, pytest.param(Level.ISOLATED, marks=isolated)])
def test_a_bot_that_connects_has_started(level: Level) -> None:
    found = examine_bot(load_bot("random"), level)
    assert (found.name, found.ok, found.remedy) == (f"bot random at {level}", True, "")


@pytest.mark.parametrize("level", [Level.TRUSTED, pytest.param(Level.ISOLATED, marks=isolated)])
def test_a_bot_that_ends_is_named_with_its_last_words(tmp_path: Path, level: Level) -> None:
    found = examine_bot(bot(tmp_path, "import nothing_of_that_name\n"), level)
    assert not found.ok
    assert "exited with status 1: " in found.detail
    assert "No module named 'nothing_of_that_name'" in found.detail
    assert "`include` or `needs`" in found.remedy


@isolated
def test_a_bot_that_reads_what_its_manifest_does_not_name_starts_at_level_trusted_only(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("x")
    random = load_bot("random")
    opening = f"open({str(tmp_path / 'elsewhere')!r}); import runpy; runpy.run_path('bot.py', run_name='__main__')"
    spec = replace(random, command=(random.command[0], "-c", opening))
    assert examine_bot(spec, Level.TRUSTED).ok
    found = examine_bot(spec, Level.ISOLATED)
    assert not found.ok
    assert f"No such file or directory: '{tmp_path}/elsewhere'" in found.detail
    assert "`include` or `needs`" in found.remedy


@isolated
@pytest.mark.skipif(os.geteuid() != 0, reason="only the seats of root's referee are other users")
def test_a_folder_that_seats_cannot_read_is_named_with_the_remedy(tmp_path: Path) -> None:
    spec = bot(tmp_path, "pass\n")
    tmp_path.chmod(0o700)
    found = examine_bot(spec, Level.ISOLATED)
    assert f"got: mode 0700 - at {tmp_path}" in found.detail
    assert found.remedy.startswith(f"run `chmod -R o+rX {tmp_path}`")


def test_a_temporary_folder_with_a_long_path_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"leaves room for a socket \(103 bytes in all\), got: .*; set TMPDIR"):
        Strangers(tmp_path / ("x" * 100))
