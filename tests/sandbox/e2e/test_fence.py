"""Fences around real processes: what they see, limit, freeze and kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from arena.core.errors import MachineFault
from arena.core.link import tree
from arena.core.link.bots import BotSpec
from arena.core.link.confinement import confinement
from arena.core.link.fence import Fence
from arena.core.types import Level
from arena.sandbox import cgroups, fence, kept
from arena.sandbox.cgroups import ControlGroup, Ground, Mount
from arena.sandbox.fence import process_limit
from tests.ordinary import USER, ordinary

BOXED = Path(__file__).parents[2] / "boxed"
PATIENCE_S = 60  # how long anything may take on a busy machine; nothing here waits for it to pass

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")


def spec(memory_mib: int = 64) -> BotSpec:
    return BotSpec(name="it", version="", command=("it",), folder="/", digest="0" * 64, memory_mib=memory_mib)


@pytest.fixture(scope="module")
def place() -> Ground:
    try:
        return cgroups.ground()
    except MachineFault as error:
        pytest.skip(f"this machine does not give control groups: {error}")


EARLIER: set[str] = set()
"""The groups that this process had before a test: other tests keep bots in boxes for a later game."""


@pytest.fixture(autouse=True)
def earlier() -> None:
    with suppress(MachineFault):
        EARLIER.update(name for folder in cgroups.ground().folders for name in os.listdir(folder))


@pytest.fixture
def strict(place: Ground) -> Iterator[Fence]:
    made = fence.fence(Level.STRICT, spec())
    yield made
    made.close()
    eventually(lambda: not left(place))


def left(place: Ground) -> list[str]:
    """The groups of this process that are there, and were not before the test."""
    made = f"arena-{cgroups._identity()}-"
    names = (name for folder in place.folders for name in os.listdir(folder))
    return [name for name in names if name.startswith(made) and name not in EARLIER]


@contextmanager
def running(code: str, held: Fence) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a fence; what it starts is killed in the end."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", 'read -r go; exec "$@"', "sh", sys.executable, "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        held.adopt(process.pid)
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
        yield process
    finally:
        held.kill()
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def said(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def eventually(condition: Callable[[], Any]) -> Any:
    until = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


def lives(pid: int) -> bool:
    found = tree.process_stat(pid)
    return found is not None and not found.is_dead


SLEEP = "print('ready', flush=True); time.sleep(3600)"
SPIN = "while True: pass"
FORK = "import os, time\n"


# What is seen from outside, at any level


def test_the_memory_of_children_counts() -> None:
    held = confinement(Level.TRUSTED).fence(spec(150))
    code = FORK + f"for _ in range(8):\n if os.fork() == 0: x = b'x' * (30 << 20); {SLEEP}\n{SLEEP}"
    with running(code, held):
        excess = eventually(held.excess)
    assert excess == f"used {held.most_mib} MiB of memory; its limit is 150 MiB"
    assert held.most_mib > 150


def test_what_forked_children_share_counts_once() -> None:
    held = confinement(Level.TRUSTED).fence(spec(150))
    code = FORK + f"x = b'x' * (50 << 20)\nfor _ in range(8):\n if os.fork() == 0: {SLEEP}\n{SLEEP}"
    with running(code, held) as process:
        assert [said(process) for _ in range(9)] == [b"ready"] * 9
        members = tree.Tree(process.pid).members()
        assert len(members) == 9
        assert tree.memory(members).most > 400, "this is what it seems to use"
        assert eventually(lambda: held.excess() or held.most_mib) == held.most_mib
        assert 50 <= held.most_mib < 150


def test_a_bot_stands_while_weighing_takes_long_and_runs_on_then(monkeypatch: pytest.MonkeyPatch) -> None:
    weigh, may_end = tree.proportional_mib, threading.Event()
    monkeypatch.setattr(tree, "_SLOW_NS", -1)
    monkeypatch.setattr(tree, "proportional_mib", lambda members: weigh(members) if may_end.wait(PATIENCE_S) else 0)
    held = fence.fence(Level.ISOLATED, spec(150))
    code = FORK + f"x = b'x' * (50 << 20)\nfor _ in range(8):\n if os.fork() == 0: {SLEEP}\n{SLEEP}"
    with running(code, held) as process:
        assert [said(process) for _ in range(9)] == [b"ready"] * 9
        members = tree.Tree(process.pid).members()
        eventually(lambda: held.excess() is None and all(map(stands, members)))
        may_end.set()
        eventually(lambda: held.excess() is None and not any(map(stands, members)))
        assert 50 <= held.most_mib < 150
    held.close()


def stands(pid: int) -> bool:
    return b") T " in Path(f"/proc/{pid}/stat").read_bytes()


def test_the_children_of_threads_are_found() -> None:
    held = confinement(Level.TRUSTED).fence(spec())
    code = "import subprocess, threading, time\n" + (
        "def start(): subprocess.Popen(['sleep', '3600']); time.sleep(3600)\n"
        f"threading.Thread(target=start).start()\n{SLEEP}"
    )
    with running(code, held) as process:
        seen = tree.Tree(process.pid)
        eventually(lambda: len(seen.members()) == 2)


def test_a_process_that_was_seen_stays_known_without_its_parent() -> None:
    held = confinement(Level.TRUSTED).fence(spec())
    code = FORK + (
        "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0: print(os.getpid(), flush=True); time.sleep(3600)\n"
        f" time.sleep(3600)\n{SLEEP}"
    )
    with running(code, held) as process:
        daemon = next(int(line) for line in (said(process), said(process)) if line != b"ready")
        held.excess()
        for pid in tree.Tree(process.pid).members():
            if pid not in (process.pid, daemon):
                os.kill(pid, signal.SIGKILL)
        eventually(lambda: daemon not in tree.Tree(process.pid).members())
        assert lives(daemon)
        held.kill()
        eventually(lambda: not lives(daemon))


SUBREAPER = """
import ctypes, os, subprocess, sys
from arena.core.link import tree as tree_module
from arena.core.link.tree import Tree
system_read = tree_module._read
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
code = "import os, time\\nif os.fork() == 0:\\n os.setsid()\\n if os.fork() == 0: time.sleep(3600)\\n os._exit(0)\\n"
code += "os.wait(); print(flush=True); time.sleep(3600)"
bots = [
    subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env={"ARENA_TOKEN": token})
    for token in ("one", "other")
]
for bot in bots:
    bot.stdout.readline()
trees = [Tree(bot.pid, token) for bot, token in zip(bots, ("one", "other"))]
members = [tree.members() for tree in trees]
read, tree_module._read = [], lambda path: read.append(path) or system_read(path)
again = [tree.members() for tree in trees]
tree_module._read = system_read
for tree in trees:
    tree.kill()
print([len(found) for found in members], len({pid for found in members for pid in found}), again == members)
print(sum(path.endswith("/environ") for path in read), max(read.count(path) for path in read))
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


def test_a_daemon_is_known_by_its_token_where_this_process_is_the_subreaper() -> None:
    """Once it is known, its environment is not read again, nor any other file twice by a tree: there may be many."""
    done = subprocess.run([sys.executable, "-c", SUBREAPER], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout, done.stderr) == ("[2, 2] 4 True\n0 2\n", ""), "and all of them have ended"


def test_the_cpu_time_of_children_that_ended_counts() -> None:
    held = confinement(Level.TRUSTED).fence(spec())
    burn = "while time.process_time() < 0.2: pass"
    code = FORK + f"pid = os.fork()\nif pid == 0:\n {burn}\n os._exit(0)\nos.waitpid(pid, 0)\n{burn}\n{SLEEP}"
    with running(code, held) as process:
        said(process)
        assert 380 < held.cpu_ns() / 1e6 < 800
        assert held.cpu_ns() <= held.cpu_ns()


def test_cpu_time_of_what_is_known_is_read_without_a_look_for_new_processes() -> None:
    held = confinement(Level.TRUSTED).fence(spec())
    burn = "while time.process_time() < 0.2: pass"
    code = (
        "import signal\n" + FORK + "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\nprint(flush=True)\n"
        f"signal.sigwait([signal.SIGUSR1])\npid = os.fork()\n{burn}\nif pid == 0: os._exit(0)\n"
        f"os.waitpid(pid, 0)\n{SLEEP}"
    )
    with running(code, held) as process:
        said(process)
        held.cpu_ns()
        process.send_signal(signal.SIGUSR1)
        said(process)
        assert 190 < held.known_cpu_ns() / 1e6 < 380, "the child was not seen"
        assert 380 < held.cpu_ns() / 1e6 < 800
        assert 380 < held.known_cpu_ns() / 1e6 < 800, "what ended is counted once, and nothing falls"


def test_a_process_with_a_name_like_its_own_state() -> None:
    held = confinement(Level.TRUSTED).fence(spec())
    code = "open('/proc/self/comm', 'w').write('a) Z 1 (b')\nimport time\n" + SLEEP
    with running(code, held) as process:
        said(process)
        found = tree.process_stat(process.pid)
        assert found is not None
        assert (found.parent, found.is_dead) == (os.getpid(), False)


def test_a_number_that_is_anothers_by_now_is_left_alone() -> None:
    held = confinement(Level.TRUSTED).fence(spec())
    with running("import time\n" + SLEEP, held) as process:
        said(process)
        seen = tree.Tree(process.pid)
        seen._started = 1  # as if it had been given to another process since
        seen.kill()
        assert seen.members() == []
        assert lives(process.pid)


# What a bot was denied


@pytest.fixture
def rival(one_core: None) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True)
    yield
    process.kill()
    process.wait()


def denied_share(code: str, *, asleep: bool = False) -> float:
    """The part of some time in which a program was denied its core, once it is asleep if that is what it does."""
    held = confinement(Level.TRUSTED).fence(spec())
    with running(f"import os, time\nprint('ready', flush=True)\n{code}", held) as process:
        said(process)
        eventually(lambda: held.cpu_ns() > 0)
        if asleep:
            eventually(lambda: b") S " in Path(f"/proc/{process.pid}/stat").read_bytes())
        before, begun = held.denied_ns(), time.monotonic_ns()
        eventually(lambda: time.monotonic_ns() > begun + 3 * 10**8)
        after = held.denied_ns()
        assert before is not None
        assert after is not None
        return (after - before) / (time.monotonic_ns() - begun)


@pytest.mark.usefixtures("rival")
def test_a_bot_that_shares_its_core_with_a_stranger_is_denied() -> None:
    assert denied_share(SPIN) > 0.25


@pytest.mark.usefixtures("rival")
def test_a_bot_that_sleeps_is_denied_nothing() -> None:
    assert denied_share("time.sleep(3600)", asleep=True) < 0.05


@pytest.mark.quick(1)
@pytest.mark.usefixtures("rival")
@pytest.mark.parametrize(
    "code",
    [
        "os.nice(19)",
        "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
        "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))",
    ],
)
def test_who_gives_its_core_away_is_denied_nothing(code: str) -> None:
    assert denied_share(f"{code}\n{SPIN}") == 0


def test_who_asks_for_fewer_cores_is_denied_nothing() -> None:
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("this machine does not give two cores")
    code = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nfor _ in range(3): os.fork()\n"
    assert denied_share(code + SPIN) == 0


# In a box


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(dir="/tmp", prefix="arena-fence-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(params=["isolated", "isolated as an ordinary user", "strict"])
def seat(request: pytest.FixtureRequest, folder: Path, needs: Callable[..., None]) -> Callable[..., dict[str, Any]]:
    """Runs a program in a box with 64 MiB, and returns what its fence told."""
    needs("bwrap", "prlimit")
    if request.param == "strict":
        request.getfixturevalue("place")
    level, _, is_ordinary = request.param.partition(" ")

    def run(code: str) -> dict[str, Any]:
        words = [sys.executable, str(BOXED / "fenced.py"), level, "64", "{python}", "-c", code]
        done = subprocess.run(
            ordinary(*words) if is_ordinary else words, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = {**json.loads(done.stdout), "level": level}
        assert told["left"] == 0
        return told

    return run


def too_much(told: dict[str, Any]) -> bool:
    if told["level"] == "strict":
        return bool(told["excess"] == "used more memory than its limit of 64 MiB")
    return bool(told["excess"] == f"used {told['most_mib']} MiB of memory; its limit is 64 MiB")


HOG = "x = b'x' * ({mib} << 20)\nimport time; time.sleep(3600)"


@pytest.mark.quick(1)
def test_a_process_that_takes_too_much(seat: Callable[..., dict[str, Any]]) -> None:
    told = seat(HOG.format(mib=300))
    assert too_much(told), told


@pytest.mark.quick(1)
def test_daemons_that_take_too_much_together(seat: Callable[..., dict[str, Any]]) -> None:
    code = FORK + (
        "for _ in range(8):\n if os.fork() == 0:\n  os.setsid()\n  if os.fork(): os._exit(0)\n"
        "  x = b'x' * (30 << 20); time.sleep(3600)\ntime.sleep(3600)"
    )
    told = seat(code)
    assert too_much(told), told


@pytest.mark.quick(1)
def test_files_in_memory_are_memory(seat: Callable[..., dict[str, Any]]) -> None:
    told = seat(
        "open('/tmp/x', 'wb').write(bytes(14 << 20))\nopen('/tmp/y', 'wb').write(bytes(14 << 20))\n"
        + HOG.format(mib=44)
    )
    assert too_much(told), told


@pytest.mark.quick(1)
def test_files_without_content_are_counted(seat: Callable[..., dict[str, Any]]) -> None:
    told = seat("import itertools\nfor n in itertools.count(): open(f'/tmp/{n}', 'w').close()")
    many = "files in /tmp and /dev/shm; its limit is 2,000"
    assert told["excess"].endswith(many) or (told["level"] == "strict" and too_much(told)), told


SOCKETS = """
import os, socket, time
for _ in range(3):
    if os.fork() == 0:
        pairs = [socket.socketpair() for _ in range(100)]
        for end in (end for pair in pairs for end in pair):
            end.setblocking(False)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            try:
                while True: end.send(bytes(4096))
            except BlockingIOError: pass
        time.sleep(3600)
time.sleep(3600)
"""


@pytest.mark.quick(1)
def test_what_sockets_hold_is_memory(seat: Callable[..., dict[str, Any]]) -> None:
    told = seat(SOCKETS)
    assert too_much(told), told


@pytest.mark.quick(1)
def test_page_tables_are_memory(seat: Callable[..., dict[str, Any]]) -> None:
    """Of each 2 MiB of address space one page is read. It takes a page of the tables, and is nobody's itself."""
    told = seat(
        "import mmap, time\nx = mmap.mmap(-1, 60 << 30, mmap.MAP_PRIVATE, mmap.PROT_READ)\n"
        "print(sum(x[at] for at in range(0, len(x), 2 << 20)))\ntime.sleep(3600)"
    )
    assert too_much(told), told


@pytest.mark.quick(1)
def test_who_keeps_to_its_limits_is_left_alone(seat: Callable[..., dict[str, Any]]) -> None:
    code = (
        "open('/tmp/x', 'wb').write(bytes(1 << 20))\nimport time; time.sleep(0.3)\n"
        "while time.process_time() < 0.2: pass"
    )
    told = seat(code)
    assert (told["excess"], told["end"]) == (None, "exited with status 0")
    assert 0 < told["most_mib"] <= 64


@pytest.mark.quick(1)
def test_a_fork_bomb_is_bounded(seat: Callable[..., dict[str, Any]]) -> None:
    told = seat(
        FORK + "n = 0\ntry:\n while True:\n  if os.fork() == 0: time.sleep(3600)\n  n += 1\nexcept OSError: print(n)"
    )
    assert 1 < int(told["output"]) <= process_limit()
    assert told["excess"] is None


SHORT_LIVED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(120):
    if os.fork() == 0:
        while time.process_time() < 0.005: pass
        os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass  # all have ended
"""


def test_the_cpu_time_of_children_for_which_nobody_waits_counts_where_there_are_groups(
    seat: Callable[..., dict[str, Any]], request: pytest.FixtureRequest
) -> None:
    """The system adds a child's time to its parent's when that waits for it. A group counts it anyway."""
    if cgroups.counting_place() is None or "ordinary" in request.node.name:
        pytest.skip("this user may not make control groups")
    assert seat(SHORT_LIVED)["cpu_ms"] >= 600


WATCHES = """
import os, select, socket, time
watched = [socket.socket() for _ in range(20)]
polls = [select.epoll() for _ in range(20)]
for file in watched:
    for number in range(100, 200):
        os.dup2(file.fileno(), number)
        for poll in polls: poll.register(number)
print("ready", flush=True)
time.sleep(60)
"""


def test_what_the_kernel_keeps_for_watches_is_counted_by_a_group_and_without_one() -> None:
    """40,000 watches take 8 MiB, whose files and numbers are 140 in all."""
    held = fence.fence(Level.ISOLATED, spec())
    with running(WATCHES, held) as process:
        assert said(process) == b"ready"
        assert 8 <= kept.kept_mib([process.pid]) <= 12
        if (of_group := held._group and held._group.memory_mib()) is not None:  # type: ignore[attr-defined]
            assert of_group >= 8
    held.close()


def test_a_group_that_counts_ends_with_its_bot_and_with_its_worker() -> None:
    place = cgroups.counting_place()
    if place is None:
        pytest.skip("this user may not make control groups")
    before = set(os.listdir(place))
    held = fence.fence(Level.ISOLATED, spec())
    with running(FORK + f"os.setsid() if os.fork() == 0 else None; {SLEEP}", held) as process:
        assert [said(process) for _ in range(2)] == [b"ready"] * 2
        pids = tree.Tree(process.pid).members()
        assert len(pids) == 2
        held.kill()
        eventually(lambda: not any(map(lives, pids)))
    held.close()
    eventually(lambda: (fence._clear(), set(os.listdir(place)) <= before)[1])


# In a control group


def test_a_group_counts_cpu_time_exactly_and_freezes(strict: Fence) -> None:
    with running(SPIN, strict):
        eventually(lambda: strict.cpu_ns() > 10**7)
        strict.freeze()
        eventually(strict.is_frozen)
        before = strict.cpu_ns()
        time.sleep(0.1)
        assert strict.cpu_ns() == before, "not a nanosecond"
        strict.thaw()
        eventually(lambda: strict.cpu_ns() > before)


def test_frozen_time_is_not_denied(strict: Fence) -> None:
    with running("import time\nwhile True: time.sleep(0.001)", strict) as process:
        eventually(lambda: strict.cpu_ns() > 10**6)
        strict.freeze()
        eventually(strict.is_frozen)
        before = strict.denied_ns()
        time.sleep(0.3)
        assert strict.denied_ns() == before
        strict.kill()
        assert process.wait(PATIENCE_S) == -signal.SIGKILL


def test_what_is_frozen_can_be_killed(strict: Fence, place: Ground) -> None:
    code = FORK + f"for _ in range(4):\n if os.fork() == 0: os.setsid(); {SLEEP}\n{SLEEP}"
    with running(code, strict) as process:
        for _ in range(5):
            said(process)
        members = tree.Tree(process.pid).members()
        assert len(members) == 5
        strict.freeze()
        strict.kill()
        assert process.wait(PATIENCE_S) == -signal.SIGKILL
        eventually(lambda: not any(map(lives, members)))
    strict.close()
    eventually(lambda: (fence._clear(), not left(place))[1])


def test_a_group_is_gone_after_its_close(place: Ground) -> None:
    descriptors = os.listdir("/proc/self/fd")
    held = fence.fence(Level.STRICT, spec())
    assert len(left(place)) == len(place.folders)
    held.close()
    assert left(place) == []
    assert os.listdir("/proc/self/fd") == descriptors
    held.kill()
    held.freeze()
    held.close()
    assert held.excess() is None


def test_groups_of_a_dead_worker_are_removed_with_what_is_in_them(place: Ground) -> None:
    code = (
        "import os, subprocess\nfrom arena.sandbox import cgroups\n"
        "group = cgroups.ControlGroup(place := cgroups.ground(), 64, 9)\n"
        "bot = subprocess.Popen(['sleep', '3600'], stdout=subprocess.DEVNULL)\n"
        "for folder in place.folders:  # a worker that ran in this one's group\n"
        "    inner = folder / group.name / group.name\n    inner.mkdir()\n"
        "    (inner / 'cgroup.procs').write_text(str(bot.pid))\n"
        "print(bot.pid, cgroups._identity(), flush=True)\nos.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    pid, identity = done.stdout.split()
    groups = [folder / f"arena-{identity}-1" for folder in place.folders]
    assert all(group.exists() for group in groups)
    assert lives(int(pid))
    mine = ControlGroup(place, 64, 9)
    eventually(lambda: (cgroups.sweep(place), not any(group.exists() for group in groups))[1])
    assert not lives(int(pid))
    assert len(left(place)) == len(place.folders), "the groups of living workers stay"
    assert mine.remove()


def test_a_group_that_cannot_be_made_leaves_nothing(place: Ground) -> None:
    broken = Ground(1, place.memory, place.pids, Path("/proc"), place.unified)
    with pytest.raises(MachineFault, match=r"expected to make group arena-.*, got: "):
        ControlGroup(broken, 64, 9)
    assert left(place) == []


DELEGATED = """
import os, sys
from pathlib import Path
from arena.sandbox import cgroups
folder = Path(sys.argv[1])
unified = cgroups.Mount(folder, "/", frozenset(), True)
place = cgroups.v2_place(unified, "/", {sys.argv[2]: ["cgroup.procs"]})
assert place == folder, place
print((folder / "arena.workers" / "cgroup.procs").read_text().split() == [str(os.getpid())])
again = cgroups.v2_place(unified, "/arena.workers", {sys.argv[2]: ["cgroup.procs"]})
print(again == folder, (folder / "cgroup.subtree_control").read_text().split() == [sys.argv[2]])
"""


def test_on_version_2_the_processes_of_a_delegated_group_make_room(place: Ground) -> None:
    controllers = (place.unified / "cgroup.controllers").read_text().split()
    if os.geteuid() != 0 or not controllers:
        pytest.skip("needs root and a controller of version 2")
    controller = controllers[0]
    given = (place.unified / "cgroup.subtree_control").read_text().split()
    folder = place.unified / f"arena-test-{os.getpid()}"
    folder.mkdir()
    try:
        cgroups._write(place.unified / "cgroup.subtree_control", f"+{controller}")
        for name in (".", "cgroup.procs", "cgroup.subtree_control"):
            os.chown(folder / name, USER, USER)
        program = ["sh", "-c", f'echo $$ > {folder}/cgroup.procs; exec "$@"', "sh"]
        words = [*program, *ordinary(sys.executable, "-c", DELEGATED, str(folder), controller)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
        assert (done.stdout, done.stderr) == ("True\nTrue True\n", "")
    finally:
        leaf = folder / "arena.workers"
        if leaf.exists():
            leaf.rmdir()
        folder.rmdir()
        if controller not in given:
            with suppress(OSError):  # others use it by now
                cgroups._write(place.unified / "cgroup.subtree_control", f"-{controller}")


def test_a_plain_folder_is_no_group(tmp_path: Path) -> None:
    mounted = [Mount(tmp_path, "/", frozenset(), True)]
    with pytest.raises(MachineFault, match=r"expected a group with cgroup.kill in .*, got: none; run as root"):
        cgroups.find_ground(mounted, {})
    assert list(tmp_path.iterdir()) == []
