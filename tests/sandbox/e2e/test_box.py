"""A bot in its box: what it can see and do, as a seat of root's referee and as one of an ordinary user's."""

from __future__ import annotations

import ast
import json
import os
import platform
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ordinary import ordinary

from arena.core.errors import BotError
from arena.core.link.bots import load_bot
from arena.core.link.tree import process_stat
from arena.sandbox.box import HOSTNAME, SHM_MIB, TMP_MIB
from arena.sandbox.fence import process_limit
from arena.sandbox.filter import CONDITIONS, GROUPS, MACHINES, NEWEST, Treatment

BOXED = Path(__file__).parents[2] / "boxed"
SECRET = "a-secret-of-the-referee"
WHO = ("root", "ordinary")
Start = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", autouse=True)
def works(needs: Callable[..., None]) -> None:
    needs("bwrap", "prlimit")
    if platform.machine() not in MACHINES:
        pytest.skip(f"needs a machine among {', '.join(MACHINES)}")
    tried = subprocess.run(
        ordinary("bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if tried.returncode:
        pytest.skip(f"needs user namespaces for ordinary users: {tried.stderr.strip()}")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A bot's folder that everybody can read. pytest's own are closed."""
    made = Path(tempfile.mkdtemp(dir="/tmp", prefix="arena-box-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def start(who: str, folder: Path, *command: str, level: str = "isolated", **environment: str) -> dict[str, Any]:
    """Starts a bot as the referee of somebody, and returns how it ended."""
    if who == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    words = [sys.executable, str(BOXED / "start.py"), level, *command]
    done = subprocess.run(
        words if who == "root" else ordinary(*words),
        cwd=folder, env=os.environ | {"SECRET": SECRET} | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def numbers() -> dict[str, int]:
    """The calls of the table that this machine has."""
    column = list(MACHINES).index(platform.machine())
    named = {name: both for group in GROUPS for name, both in group.calls.items()}
    named |= {condition.call: condition.numbers for condition in CONDITIONS}
    return {name: number for name, both in named.items() if (number := both[column]) is not None}


@pytest.fixture(scope="module", params=WHO)
def probed(request: pytest.FixtureRequest, folder: Path) -> dict[str, str]:
    """What the probe found, in one box of each kind."""
    rival = folder.parent / f"{folder.name}-rival"
    rival.mkdir()
    database = rival / "arena.db"
    database.write_text("hands")
    calls = numbers()
    refused = {name: calls[name] for group in GROUPS for name in group.calls if name in calls}
    name = f"arena-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        wanted = {
            "calls": calls, "refused": refused, "newest": NEWEST, "abstract": name,
            "paths": [*UNSEEN, *HOMES, *EMPTY, *COUNTERS, str(rival), str(database)],
        }  # fmt: skip
        (folder / "wanted.json").write_text(json.dumps(wanted))
        shutil.copy(BOXED / "probe.py", folder)
        try:
            ended = start(request.param, folder, "{python}", "probe.py", "wanted.json")
        finally:
            shutil.rmtree(rival)
    assert ended["detail"] == "exited with status 0", ended["output"]
    found: dict[str, str] = json.loads(ended["output"].splitlines()[-1])
    assert found.pop(f"read {rival}") == found.pop(f"read {database}") == "ENOENT"
    return found


UNSEEN = ("/etc/shadow", "/etc/hostname", "/sys", "/dev/kmsg", "/dev/mem", "/var")
HOMES = ("/root", "/home")
EMPTY = (
    "/proc/kcore", "/proc/kallsyms", "/proc/locks", "/proc/keys", "/proc/key-users", "/proc/pressure", "/proc/fs",
    "/proc/1", "/proc/sys",
)  # fmt: skip
COUNTERS = ("/proc/sys/kernel/pty/nr", "/proc/vmstat", "/proc/interrupts", "/proc/diskstats", "/proc/cgroups")
"""What the system may lack. If not, nothing is in it."""


def test_every_call_of_the_table_is_refused(probed: dict[str, str]) -> None:
    expected = {
        f"call {name}": {Treatment.PRETENDS: "0", Treatment.ASKED: "EFAULT", Treatment.EOPNOTSUPP: "ENOTSUP"}.get(
            group.treatment, group.treatment.name
        )
        for group in GROUPS
        for name in group.calls
    }
    assert {name: outcome for name, outcome in probed.items() if name.startswith("call ") and name in expected} == {
        name: expected[name] for name in expected if name in probed
    }
    assert len([name for name in probed if name in expected]) > 100


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        *((f"fcntl {lock}", "0") for lock in ("F_SETLK", "F_OFD_SETLK")),
        *((f"fcntl {lock}", "EPERM") for lock in ("F_GETLK", "F_SETLEASE", "F_GET_RW_HINT")),
        ("clone CLONE_NEWUSER", "EPERM"),
        ("prlimit64 of process 1", "EPERM"),
        ("personality ADDR_NO_RANDOMIZE", "EPERM"),
        ("ioctl TIOCSTI", "ENOTTY"),
        ("preadv2 RWF_NOWAIT", "ENOTSUP"),
        ("fallocate FALLOC_FL_KEEP_SIZE", "ENOTSUP"),
        ("call newer than the table", "ENOSYS"),
        *((f"socket AF_{family}", "EAFNOSUPPORT") for family in ("INET", "INET6", "NETLINK", "PACKET", "VSOCK", "ALG")),
        ("abstract socket of the referee", "ECONNREFUSED"),
        *((f"read {path}", "ENOENT") for path in UNSEEN),
        *((f"write {folder}", "0 EROFS") for folder in ("/", "/dev", "/usr")),
        ("set-user-id", "EINVAL"),
        ("sparse file", "EFBIG"),
        ("hostname", HOSTNAME),
        ("capabilities", f"{'0' * 16} {'0' * 16} {'0' * 16} {'0' * 16} {'0' * 16} 1"),
        ("descriptors", "[0, 1, 2]"),
    ],
)
def test_what_is_closed(probed: dict[str, str], name: str, outcome: str) -> None:
    assert probed[name] == outcome


@pytest.mark.parametrize(
    ("name", "outcome"), [("fcntl F_GETFD", "1"), ("prlimit64 of itself", "0"), ("own output", "None")]
)
def test_what_must_work(probed: dict[str, str], name: str, outcome: str) -> None:
    assert probed[name] == outcome


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86_64 has other interfaces")
@pytest.mark.parametrize("name", ["int 0x80", "x32"])
def test_other_interfaces_end_the_process(probed: dict[str, str], name: str) -> None:
    assert probed[name] == "SIGSYS"


@pytest.mark.parametrize("path", [*EMPTY, *COUNTERS])
def test_what_tells_of_the_machine_is_empty(probed: dict[str, str], path: str) -> None:
    assert probed[f"read {path}"] in ("b''", "[]", "ENOENT", "EACCES", "EPERM")


@pytest.mark.parametrize("home", HOMES)
def test_of_homes_only_the_way_to_the_interpreter_is_there(probed: dict[str, str], home: str) -> None:
    names = [] if probed[f"read {home}"] == "ENOENT" else ast.literal_eval(probed[f"read {home}"])
    assert all(any(prefix.startswith(f"{home}/{name}") for prefix in (sys.prefix, sys.base_prefix)) for name in names)


def test_writing_is_bounded(probed: dict[str, str]) -> None:
    assert probed["write /tmp"] == f"{TMP_MIB} ENOSPC"
    assert probed["write /dev/shm"] == f"{SHM_MIB} ENOSPC"
    assert probed["write /run/arena"] in ("0 EROFS", "0 EACCES")
    assert probed["write /proc/sys"] == "0 EROFS"
    assert probed[f"write {probed['folder']}"] == "0 EROFS"


def test_only_its_own_processes_are_there(probed: dict[str, str]) -> None:
    assert len(ast.literal_eval(probed["processes"])) <= 4


def test_process_1_which_has_no_limits_is_out_of_reach(probed: dict[str, str]) -> None:
    assert {probed[f"{name} of process 1"] for name in ("environ", "cmdline", "mem")} == {"ENOENT"}
    assert SECRET not in str(probed)


def test_nothing_counts_what_the_machine_uses(probed: dict[str, str]) -> None:
    devices = ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    assert probed["devices"] == str(devices), "no pseudo-terminals"
    counters = json.loads(probed["counters"])
    memory = dict(line.split(":") for line in counters["meminfo"].splitlines())
    assert {memory[name].split()[0] for name in ("MemTotal", "MemFree", "MemAvailable")} == {str(2048 << 10)}
    assert set(memory) <= {"MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "SwapTotal", "SwapFree"}
    assert counters["loadavg"].split() == ["0.00", "0.00", "0.00", "1/1", "1"]
    assert ast.literal_eval(probed["cores"])[1] <= os.cpu_count() == ast.literal_eval(probed["cores"])[2]


def test_processes_are_limited(probed: dict[str, str]) -> None:
    count, error = probed["forks"].split()
    assert error == "EAGAIN"
    assert 32 < int(count) < process_limit()


LANGUAGES = {
    "greedy-c": [], "greedy-rust": [], "greedy-go": [], "greedy": [], "greedy-js": ["node"], "greedy-java": ["java"],
    "random-perl": ["perl"],
}  # fmt: skip


@pytest.mark.quick(2)
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("bot", LANGUAGES)
def test_a_bot_of_every_language_greets_and_leaves(
    who: str, bot: str, folder: Path, needs: Callable[..., None]
) -> None:
    needs(*LANGUAGES[bot])
    try:
        load_bot(bot)
    except BotError as error:
        pytest.skip(str(error))
    ended = start(who, folder, "--greet", bot)
    assert ended["detail"] == "exited with status 0", ended["output"]


@pytest.mark.quick(2)
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize(
    ("script", "code", "detail"),
    [
        ("exit 3", "crashed", "exited with status 3"),
        ("kill -SEGV $$", "crashed", "was killed by SIGSEGV"),
        ("kill -KILL $$", "out_of_memory", "was killed by SIGKILL, probably because the machine ran out of memory"),
        ("exit 255", "crashed", "exited with status 255"),
        ("exec ./not-there", "crashed", "exited with status 127"),
    ],
)
def test_a_box_passes_on_how_its_bot_ended(who: str, script: str, code: str, detail: str, folder: Path) -> None:
    ended = start(who, folder, "sh", "-c", script)
    assert (ended["code"], ended["detail"]) == (code, detail)


def test_what_a_bot_wrote_is_kept(folder: Path) -> None:
    ended = start("ordinary", folder, "sh", "-c", "echo to stdout; echo to stderr >&2; echo by name >>/dev/stderr")
    assert ended["output"].splitlines() == ["to stdout", "to stderr", "by name"]


def test_a_closed_folder_is_reached_by_root_s_seats(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    bot = closed / "bot"
    bot.mkdir(parents=True)
    (bot / "file").write_text("found")
    closed.chmod(0o700)
    assert start("root", bot, "sh", "-c", "cat file")["output"] == "found"
    assert not [line for line in Path("/proc/1/mounts").read_text().splitlines() if "arena-seats" in line]


def test_a_bot_that_root_s_seats_may_not_read(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.mkdir(mode=0o700)
    with pytest.raises(AssertionError, match=rf"got: mode 0700 - at {bot}; run `chmod -R o\+rX {bot}`"):
        start("root", bot, "sh", "-c", "true")


MANY = """
import sys
from pathlib import Path
from arena.core.link.bots import load_bot
from arena.core.link.custody import Custody
from arena.core.link.process import BotProcess
from arena.sandbox.accounts import seat_user
from arena.core.types import Level

def mounted():
    return Path("/proc/self/mounts").read_text().count("/run/arena-seats/trees/")

custody, spec, seen = Custody(), load_bot("cmd:" + sys.argv[1] + " -c pass"), []
for number in range(4):
    folder = custody.directory / str(number)
    folder.mkdir(mode=0o711)
    user = seat_user(Level.ISOLATED)
    process = BotProcess(spec, custody, {}, level=Level.ISOLATED, socket_folder=folder, user=user)
    process.kill()
    folder.rmdir()
    process.reap(wait=True)
    seen.append((mounted(), user))
custody.close()
counts, users = zip(*seen)
assert len(set(counts)) == 1, counts
assert len(set(users)) == 4, users
"""


def test_what_was_mounted_for_one_seat_goes_with_it(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    words = [sys.executable, "-c", MANY, "{python}"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


ORPHAN = """
import os, signal, time
from arena.core.link.bots import load_bot
from arena.core.link.custody import Custody
from arena.core.link.process import BotProcess
from arena.sandbox import box
from arena.sandbox.accounts import seat_user
from arena.core.types import Level

# As one that was just being made when its worker was killed: its death signal was not set yet.
box._NAMESPACES = tuple(word for word in box._NAMESPACES if word != "--die-with-parent")
custody = Custody()
process = BotProcess(
    load_bot("cmd:sh -c 'sleep 1000; true'"), custody, {}, level=Level.ISOLATED, user=seat_user(Level.ISOLATED)
)
while process.init_pid() is None:
    time.sleep(0.005)
print(process.pid, process.init_pid(), custody.directory, flush=True)
os.kill(custody._warden.pid, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("who", WHO)
def test_a_box_whose_worker_and_warden_were_killed_together_is_ended_by_the_next(who: str, folder: Path) -> None:
    if who == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    words = [sys.executable, "-c", ORPHAN]
    then = [sys.executable, "-c", "from arena.core.link.custody import Custody; Custody().close()"]
    pids: list[int] = []
    try:
        for command in (words, then):
            done = subprocess.run(
                command if who == "root" else ordinary(*command),
                cwd=folder, stdout=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            if command is words:
                first, second, directory = done.stdout.split()
                pids = [int(first), int(second)]
                assert all(map(lives, pids))
                assert Path(directory).exists()
        until = time.monotonic() + 60
        while any(map(lives, pids)):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert not Path(directory).exists()
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def lives(pid: int) -> bool:
    found = process_stat(pid)
    return found is not None and not found.is_dead
