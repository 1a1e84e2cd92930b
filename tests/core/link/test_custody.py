"""What a bot leaves ends with it, whatever session it is in, and a warden that is killed is replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arena.core.errors import MachineFault
from arena.core.link import custody as module
from arena.core.link import warden
from arena.core.link.custody import Custody
from tests.command_kit import lives

ROOT = Path(__file__).parents[3]
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and subreapers, which only Linux has")

DAEMON = "(setsid sleep 1000 >/dev/null 2>&1 & echo $!); "
"""A process in a session of its own, whose parent ends at once."""
BARE_DAEMON = "(env -i setsid /bin/sleep 1000 >/dev/null 2>&1 & echo $!); "
"""The same, without any variable that could tell whose it is."""
CHILD = "sleep 1000 >/dev/null 2>&1 & echo $!; "
SLEEP = "exec sleep 1000 >/dev/null"


@pytest.fixture
def custody() -> Iterator[Custody]:
    custody = Custody()
    yield custody
    custody.close()


class Bot:
    """A registered process with a token, which tells the numbers of what it has started."""

    def __init__(self, custody: Custody, script: str, token: str = "one") -> None:
        self.custody = custody
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f"read go; {script}{SLEEP}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True,
            env={"PATH": os.environ["PATH"], "ARENA_TOKEN": token, "ARENA_ENDPOINT": f"ipc://{custody.directory}/x"},
        )  # fmt: skip
        custody.add(self.process.pid, token)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("go\n")
        self.process.stdin.close()
        with self.process.stdout as told:
            self.started = [int(line) for line in told]

    def end(self) -> None:
        """As `BotProcess.kill` and `reap` do."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        self.custody.discard(self.process.pid)
        self.process.wait()


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true in twenty seconds, which it does at once if all is well."""
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def test_the_folder_of_a_process_is_private_and_removed_with_all_in_it(custody: Custody) -> None:
    folder, other = custody.seat_folder(), custody.seat_folder()
    assert folder.parent == custody.directory
    assert (folder.stat().st_mode & 0o777, (folder / "tmp").stat().st_mode & 0o777) == (0o711, 0o700)
    deep = folder / "tmp"
    descriptor = os.open(deep, os.O_RDONLY)
    for _ in range(1_500):  # deeper than any path reaches, and than Python recurses
        os.mkdir("deeper", dir_fd=descriptor)
        below = os.open("deeper", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    (deep / "closed").mkdir()
    (deep / "closed" / "file").touch()
    (deep / "closed").chmod(0)
    (deep / "link").symlink_to(other)
    os.mkfifo(deep / "pipe")
    custody.remove(folder)
    assert not folder.exists()
    assert (other / "tmp").is_dir(), "a link was followed"


def test_no_room_for_a_folder_is_the_machines_fault(custody: Custody) -> None:
    custody.directory.rmdir()
    with pytest.raises(MachineFault, match="expected to make a bot's temporary folder, got: No such file"):
        custody.seat_folder()


@needs_linux
@pytest.mark.parametrize("script", [CHILD, DAEMON, BARE_DAEMON, DAEMON * 20], ids=["child", "daemon", "bare", "many"])
def test_what_a_bot_has_started_ends_with_it(custody: Custody, script: str) -> None:
    before = set(warden.children(os.getpid()))
    bot = Bot(custody, script)
    assert all(map(lives, bot.started))
    bot.end()
    assert eventually(lambda: not any(map(lives, bot.started)))
    assert set(warden.children(os.getpid())) <= before, "none is unburied"


@needs_linux
def test_the_daemon_of_a_bot_that_lives_stays(custody: Custody) -> None:
    first, second = Bot(custody, DAEMON, "first"), Bot(custody, DAEMON, "second")
    first.end()
    assert not any(map(lives, first.started))
    assert all(map(lives, second.started))
    second.end()
    assert not any(map(lives, second.started))


@needs_linux
def test_a_process_that_is_just_starting_its_program_is_no_stray(custody: Custody) -> None:
    """It has no environment then. In 300 starts on an idle machine five or so are caught at that moment."""
    lives = Bot(custody, "", "one")
    for _ in range(300):
        with subprocess.Popen(
            ["sleep", "1000"], start_new_session=True, env=os.environ | {"ARENA_TOKEN": "one"}
        ) as own:
            strays, _ = module._strays()
            own.kill()
        assert own.pid not in strays
    lives.end()


@needs_linux
def test_a_bot_is_known_by_its_token_though_it_is_just_starting_its_program(
    custody: Custody, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(warden, "environment", lambda pid: None)
        lives = Bot(custody, DAEMON, "lives")
    Bot(custody, "").end()
    assert all(map(lives, lives.started))
    lives.end()


@needs_linux
def test_what_the_worker_has_started_in_its_own_session_stays(custody: Custody) -> None:
    with subprocess.Popen(["sleep", "1000"]) as own:
        Bot(custody, DAEMON).end()
        assert own.poll() is None
        own.kill()


@needs_linux
def test_the_bots_of_another_custody_stay(custody: Custody) -> None:
    other = Custody()
    stays = Bot(other, "", "other")
    Bot(custody, DAEMON).end()
    assert stays.process.poll() is None
    other.close()
    assert stays.process.wait() == -signal.SIGKILL


@needs_linux
def test_a_bot_that_another_thread_starts_is_no_stray_before_it_is_registered(custody: Custody) -> None:
    """One thread may serve a bot while another plays: each has a custody, and both have the same children."""
    first, other = Bot(custody, ""), Custody()
    try:
        with other.starting():
            started = subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True, env={"ARENA_TOKEN": "two"})
            ending = threading.Thread(target=first.end)
            ending.start()
            ending.join(0.2)
            assert ending.lives(), "it waits"
            other.add(started.pid, "two")
        ending.join()
        assert lives(started.pid)
    finally:
        started.kill()
        other.close()
        started.wait()


@needs_linux
def test_closing_ends_what_is_left(custody: Custody) -> None:
    bot = Bot(custody, DAEMON + BARE_DAEMON)
    custody.close()
    assert bot.process.wait() == -signal.SIGKILL
    assert not any(map(lives, bot.started))
    assert not custody.directory.exists()


# The warden is killed, or stopped.


def warden_of(custody: Custody) -> int:
    assert custody._warden is not None
    return custody._warden.pid


def test_a_warden_that_is_killed_is_replaced_with_all_that_it_guarded(custody: Custody) -> None:
    bot, doomed = Bot(custody, ""), Bot(custody, "", "two")
    custody.kill_in(doomed.process.pid, 600_000)
    custody.kill_in(doomed.process.pid, 300)
    old = warden_of(custody)
    os.kill(old, signal.SIGKILL)
    assert eventually(lambda: warden_of(custody) != old)
    assert doomed.process.wait(20) == -signal.SIGKILL, "the new one knows when it was to be killed"
    custody.kill_in(bot.process.pid, 0)
    assert bot.process.wait(20) == -signal.SIGKILL, "the new one knows whom it guards"
    assert custody.directory.is_dir()


def test_an_order_to_a_warden_that_was_just_killed_is_not_lost(custody: Custody) -> None:
    for _ in range(5):
        assert custody._warden is not None
        custody._warden.kill()
        custody._warden.wait()
        bot = Bot(custody, "")
        custody.kill_in(bot.process.pid, 0)
        assert bot.process.wait(20) == -signal.SIGKILL
        custody.discard(bot.process.pid)


def test_a_warden_that_is_stopped_holds_nothing_up(custody: Custody) -> None:
    """Its pipe fills; then another takes its place, and the stopped one kills nobody when it dies."""
    stopped = warden_of(custody)
    os.kill(stopped, signal.SIGSTOP)
    bot = Bot(custody, "")
    for _ in range(20_000):
        custody.kill_in(999_999_999, 1)
    assert warden_of(custody) != stopped
    assert bot.process.poll() is None
    assert custody.directory.is_dir()
    os.kill(warden_of(custody), signal.SIGSTOP)
    custody.close()
    assert bot.process.wait() == -signal.SIGKILL
    assert not custody.directory.exists()


WORKER = """\
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from arena.core.link import custody as module
from arena.core.link import warden
from arena.core.link.custody import Custody
from tests.core.link.test_custody import Bot, eventually
custody = Custody()
bot = Bot(custody, sys.argv[2])
old = custody._warden.pid
if "warden" in sys.argv[3:]:
    os.kill(old, signal.SIGKILL)
    assert eventually(lambda: custody._warden.pid != old)
if "alone" in sys.argv[3:]:
    custody._closed = True  # so the warden is not replaced
    os.kill(old, signal.SIGKILL)
if "seen" in sys.argv[3:]:
    time.sleep(2 * warden.LOOK_S)
print(custody.directory, bot.process.pid, *bot.started, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@needs_linux
@pytest.mark.parametrize(
    ("script", "conditions"),
    [(DAEMON * 3 + CHILD, []), (DAEMON, ["warden"]), (BARE_DAEMON, ["seen"])],
    ids=["daemons", "a new warden", "without variables"],
)
def test_what_bots_have_started_ends_with_a_worker_that_is_killed(script: str, conditions: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKER, str(ROOT), script, *conditions], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    directory, *pids = done.stdout.split()
    assert eventually(lambda: not Path(directory).exists())
    assert eventually(lambda: not any(lives(int(pid)) for pid in pids))


@needs_linux
def test_the_warden_of_a_worker_that_was_killed_cleans_up_though_another_process_wants_orphans(
    custody: Custody,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKER, str(ROOT), DAEMON * 20], capture_output=True, text=True, check=False
    )
    Bot(custody, "").end()  # ends what it takes for left behind
    directory, *pids = done.stdout.split()
    assert eventually(lambda: not Path(directory).exists())
    assert eventually(lambda: not any(lives(int(pid)) for pid in pids))


@needs_linux
def test_what_a_worker_and_its_warden_left_ends_with_the_next_custody(custody: Custody) -> None:
    """`custody` lives, and stays as it is."""
    command = [sys.executable, "-c", WORKER, str(ROOT), DAEMON, "alone"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    directory, *pids = done.stdout.split()
    assert Path(directory).is_dir()
    assert all(lives(int(pid)) for pid in pids)
    bot = Bot(custody, "")
    Custody().close()
    assert eventually(lambda: not Path(directory).exists())  # another process may be removing it
    assert eventually(lambda: not any(lives(int(pid)) for pid in pids))
    assert custody.directory.is_dir()
    assert bot.process.poll() is None
    bot.end()
