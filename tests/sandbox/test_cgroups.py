"""Where control groups are made, and what is written to them. The system is played by folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.errors import MachineFault
from arena.sandbox import cgroups
from arena.sandbox.cgroups import ControlGroup, Ground, Mount, find_ground, mounts, own_groups

MOUNTINFO = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 /docker/a /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""


def test_mounted_hierarchies() -> None:
    folder = Path("/sys/fs/cgroup")
    assert mounts(MOUNTINFO) == [
        Mount(folder / "cpu,cpuacct", "/", frozenset({"cpuacct"}), False),
        Mount(folder / "memory", "/docker/a", frozenset({"memory"}), False),
        Mount(folder / "unified", "/", frozenset(), True),
    ]


@pytest.mark.parametrize(
    ("root", "own", "places"),
    [
        ("/", "/", ["/m"]),
        ("/", "/user/scope", ["/m", "/m/user/scope"]),
        ("/docker/a", "/docker/a", ["/m"]),
        ("/docker/a", "/docker/a/b", ["/m", "/m/b"]),
        ("/docker/a", "/docker/ab", ["/m"]),
        ("/..", "/", ["/m"]),
    ],
)
def test_places(root: str, own: str, places: list[str]) -> None:
    assert cgroups._places(Mount(Path("/m"), root, frozenset(), True), own) == list(map(Path, places))


@pytest.mark.parametrize(
    ("usable", "place"), [(["/m", "/m/own"], "/m/own"), (["/m"], "/m"), ([], None)], ids=["own", "root", "none"]
)
def test_a_group_that_counts_lies_in_the_worker_s_own_if_it_can(
    usable: list[str], place: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the root the limits of the worker's own group would not hold for its bots."""
    monkeypatch.setattr(cgroups, "mounts", lambda: [Mount(Path("/m"), "/", frozenset(), True)])
    monkeypatch.setattr(cgroups, "own_groups", lambda: {"": "/own"})
    monkeypatch.setattr(
        cgroups, "_usable", lambda places, files: next((path for path in places if str(path) in usable), None)
    )
    monkeypatch.setattr(cgroups, "sweep", lambda place: None)
    assert cgroups.counting_place.__wrapped__() == (place and Path(place))


V1 = {
    "memory": {"memory.limit_in_bytes": "", "memory.memsw.limit_in_bytes": "", "memory.oom_control": "oom_kill 0\n",
               "memory.max_usage_in_bytes": "73400320\n"},
    "pids": {"pids.max": "max\n"},
    "cpuacct": {"cpuacct.usage": "1234567\n"},
    "unified": {"cgroup.freeze": "0\n", "cgroup.kill": "", "cgroup.events": "populated 1\nfrozen 1\n"},
}  # fmt: skip
V2 = {
    "memory.max": "max\n", "memory.swap.max": "max\n", "memory.oom.group": "0\n",
    "memory.events": "oom 1\noom_kill 0\n", "memory.peak": "73400320\n", "pids.max": "max\n",
    "cpu.stat": "usage_usec 1234\nuser_usec 1000\n", "cgroup.freeze": "0\n", "cgroup.kill": "",
    "cgroup.subtree_control": "", "cgroup.controllers": "cpu memory pids\n",
}  # fmt: skip


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Path], dict[str, str]]], None]:
    """Plays the system: it puts files into each folder that is made, and takes them with the folder."""

    def play(files: Callable[[Path], dict[str, str]]) -> None:
        def make(folder: Path) -> None:
            folder.mkdir(exist_ok=True)
            for name, text in {"cgroup.procs": "", **files(folder)}.items():
                (folder / name).write_text(text)

        def remove(folder: Path) -> bool:
            if folder.exists():
                for file in folder.iterdir():
                    file.unlink()
                folder.rmdir()
            return True

        monkeypatch.setattr(cgroups, "_make", make)
        monkeypatch.setattr(cgroups, "_remove", remove)

    return play


@pytest.fixture
def v1(tmp_path: Path, kernel: Callable[..., None]) -> list[Mount]:
    kernel(lambda folder: V1[folder.parent.name])
    for name in V1:
        (tmp_path / name).mkdir()
    return [Mount(tmp_path / name, "/", frozenset({name} & set(cgroups.CONTROLLERS)), name == "unified") for name in V1]


@pytest.fixture
def v2(tmp_path: Path, kernel: Callable[..., None]) -> list[Mount]:
    kernel(lambda folder: V2)
    for name, text in V2.items():
        (tmp_path / name).write_text(text)
    return [Mount(tmp_path, "/", frozenset(), True)]


def text(*parts: object) -> str:
    return Path(*map(str, parts)).read_text()


def test_a_group_of_version_1(v1: list[Mount], tmp_path: Path) -> None:
    place = find_ground(v1, {})
    assert place == Ground(1, *(tmp_path / name for name in ("memory", "pids", "cpuacct", "unified")))
    assert [list(folder.iterdir()) for folder in place.folders] == [[]] * 4, "the trial is gone"
    group = ControlGroup(place, 64, 68)
    [name] = {folder.name for parent in place.folders for folder in parent.iterdir()}
    size = str(64 << 20)
    assert text(tmp_path, "memory", name, "memory.limit_in_bytes") == size
    assert text(tmp_path, "memory", name, "memory.memsw.limit_in_bytes") == size
    assert text(tmp_path, "pids", name, "pids.max").startswith("68")
    group.join(77)
    assert {text(folder, name, "cgroup.procs") for folder in place.folders} == {"77"}
    assert (group.cpu_ns(), group.most_mib(), group.killed_for_memory()) == (1_234_567, 70, 0)
    (tmp_path / "memory" / name / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    assert group.killed_for_memory() == 2
    group.freeze()
    assert text(tmp_path, "unified", name, "cgroup.freeze").strip() == "1"
    assert group.is_frozen()
    group.thaw()
    assert text(tmp_path, "unified", name, "cgroup.freeze").strip() == "0"
    group.kill()
    assert text(tmp_path, "unified", name, "cgroup.kill") == "1"
    assert group.members() == [77]
    assert group.remove()
    assert [list(folder.iterdir()) for folder in place.folders] == [[]] * 4


def test_a_group_of_version_2(v2: list[Mount], tmp_path: Path) -> None:
    place = find_ground(v2, {"": "/"})
    assert place == Ground(2, tmp_path, tmp_path, tmp_path, tmp_path)
    assert set(text(tmp_path, "cgroup.subtree_control").split()) == {"+memory", "+pids"}
    group = ControlGroup(place, 64, 68)
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert text(folder, "memory.max").strip() == str(64 << 20)
    assert text(folder, "memory.swap.max").startswith("0")
    assert text(folder, "memory.oom.group").strip() == "1"
    assert text(folder, "pids.max").startswith("68")
    assert (group.cpu_ns(), group.most_mib(), group.killed_for_memory()) == (1_234_000, 70, 0)
    (folder / "memory.events").write_text("oom 3\noom_kill 1\noom_group_kill 1\n")
    assert group.killed_for_memory() == 1
    assert group.remove()


def test_version_2_without_the_controllers(v2: list[Mount], tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("hugetlb\n")
    with pytest.raises(MachineFault, match=r"expected the controllers memory and pids .* systemd-run --user"):
        find_ground(v2, {})


def test_version_1_without_a_controller_that_can_be_written(v1: list[Mount], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(V1, "pids", {})
    with pytest.raises(MachineFault, match="expected to make control groups for pids, got: none; run as root"):
        find_ground(v1, {})


def test_no_unified_hierarchy(v1: list[Mount]) -> None:
    with pytest.raises(MachineFault, match="mount -t cgroup2"):
        find_ground([mount for mount in v1 if not mount.is_unified], {})


def test_swap_that_would_not_be_counted(v1: list[Mount], monkeypatch: pytest.MonkeyPatch) -> None:
    place = find_ground(v1, {})
    monkeypatch.setitem(V1, "memory", {name: text for name, text in V1["memory"].items() if "memsw" not in name})
    lines = cgroups._lines
    monkeypatch.setattr(cgroups, "_lines", lambda path: ["Filename", "/swap"] if path == "/proc/swaps" else lines(path))
    with pytest.raises(MachineFault, match="swapaccount=1, or swapoff -a"):
        ControlGroup(place, 64, 9)
    monkeypatch.setattr(cgroups, "_lines", lambda path: ["Filename"] if path == "/proc/swaps" else lines(path))
    assert ControlGroup(place, 64, 9).remove()


def test_whose_group_it_is(tmp_path: Path) -> None:
    mine = cgroups._identity()
    namespace, pid, started = map(int, mine.split("-"))
    for name in (
        f"arena-{mine}-1",
        f"arena-{namespace}-{pid}-{started + 1}-1",  # another process had this number
        f"arena-{namespace}-{2**22 + 1}-5-1",  # no process has it
        f"arena-{namespace + 1}-{2**22 + 1}-5-1",  # a process that we cannot see may have it
        "arena.workers",
        "arena-x",
        "system.slice",
    ):
        (tmp_path / name).mkdir()
    abandoned = {path.name for path in cgroups._abandoned(tmp_path)}
    assert abandoned == {f"arena-{namespace}-{pid}-{started + 1}-1", f"arena-{namespace}-{2**22 + 1}-5-1"}


def test_own_groups_of_a_machine_with_both_versions() -> None:
    assert own_groups("4:memory:/a:b\n0::/c") == {"memory": "/a:b", "": "/c"}
