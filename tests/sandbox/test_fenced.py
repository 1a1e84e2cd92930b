"""Level fenced before a start: what a bot is granted, at which paths, and which bots cannot play there."""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.core.errors import BotError, MachineFault
from arena.core.link.bots import BotSpec, load_bot
from arena.core.types import Level
from arena.sandbox import accounts, fenced, landlock, launcher, staging
from arena.sandbox.binds import Needs, needs


def placed(spec: BotSpec, links: Path, seen: Needs | None = None) -> fenced.Placed:
    return fenced.placed(spec, seen or needs(spec), links, None)


def test_a_bot_is_granted_its_own_files_the_system_and_devices_at_their_real_paths_and_none_to_write(
    tmp_path: Path,
) -> None:
    spec = load_bot("random")
    found = placed(spec, tmp_path)
    rights = dict(found.granted)
    around = os.path.dirname(spec.folder)
    assert rights[spec.folder] == rights["/usr"] == rights[f"{around}/arena_bot.py"] == landlock.READ
    assert rights[around] == landlock.LIST, "Python lists a folder before it imports from it"
    assert {path for path, right in found.granted if right & ~landlock.READ} == set(fenced.DEVICES)
    assert found.folder == spec.folder
    assert os.path.isabs(found.command[0])
    assert found.command[1:] == ("bot.py",)


def test_packages_of_a_python_are_links_in_one_folder(tmp_path: Path) -> None:
    found, again = placed(load_bot("random"), tmp_path), placed(load_bot("greedy"), tmp_path)
    folder = Path(found.environment["PYTHONPATH"])
    assert again.environment["PYTHONPATH"] == str(folder), "made once"
    assert folder.parent == tmp_path
    assert (folder / "msgpack").is_symlink()
    assert (folder / "zmq").is_dir()
    assert not (folder / "arena").exists()
    assert {os.path.realpath(folder / name) for name in ("msgpack", "zmq")} <= dict(found.granted).keys()
    with_arena = Path(placed(load_bot("shogun"), tmp_path).environment["PYTHONPATH"])
    assert (with_arena / "arena" / "core").is_symlink()
    assert not (with_arena / "arena" / "bundled" / "bots").exists()


def test_what_a_box_would_have_empty_is_not_granted(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name in ("lib/site-packages/secret", "lib/own", "bin"):
        (tree / name).mkdir(parents=True)
    (tree / "lib" / "link").symlink_to(tree / "lib" / "site-packages")
    rights = dict(fenced._without(str(tree), (str(tree / "lib" / "site-packages"),)))
    assert rights == {
        str(tree): landlock.LIST,
        str(tree / "lib"): landlock.LIST,
        str(tree / "lib" / "own"): landlock.READ,
        str(tree / "bin"): landlock.READ,
    }


def test_what_lies_in_closed_folders_is_mounted_where_it_is(tmp_path: Path) -> None:
    """Programs have paths of their libraries written into them: at another place they would find the system's."""
    home = tmp_path / "home"
    for folder in (home / "python" / "lib", home / "bots" / "fox", tmp_path / "open"):
        folder.mkdir(parents=True)
    (home / "program").symlink_to("python/lib")
    home.chmod(0o700)
    tmp_path.chmod(0o755)
    paths = [str(home / "program"), str(home / "bots" / "fox"), str(tmp_path / "open")]
    found = [path for paths in staging.ways(paths).values() for path in paths]
    assert {str(home / name) for name in ("bots/fox", "program", "python/lib")} <= set(found)
    assert (str(tmp_path / "open") in found) == staging.is_closed(str(tmp_path / "open")), "pytest's folder may be"


def test_a_bot_of_two_processes_is_refused_in_one_sentence() -> None:
    spec = load_bot("random").__class__(
        name="pearl", version="", command=("{python+arena}", "-m", "arena", "bot", "bridge", "--", "perl", "bot.pl"),
        folder="/", digest="",
    )  # fmt: skip
    with pytest.raises(BotError, match=r"^pearl: expected a bot of one process, .* play it at level isolated$"):
        fenced.check(spec.name, spec.command)
    fenced.check("random", load_bot("random").command)


def test_a_bot_that_must_be_built_is_refused_in_one_sentence() -> None:
    with pytest.raises(BotError, match=r"^crab: expected a bot that needs no build, .* send what it builds"):
        fenced.check_build("crab", ("make",))
    fenced.check_build("random", ())


def test_a_bot_whose_neighbours_are_private_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of all files beside it can be listed there: a home is no place for it."""
    own, beside = tmp_path / "bot", tmp_path / "client.py"
    own.mkdir()
    beside.touch()
    spec = BotSpec(name="fox", version="", command=("./bot",), folder=str(own), digest="")
    seen = Needs({"/bot/bot": str(own), "/bot/client.py": str(beside)}, "/usr/bin", command=("./bot",))
    assert placed(spec, tmp_path, seen).granted
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(BotError, match=r"got: .*; move the bot and what it includes"):
        placed(spec, tmp_path, seen)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EOPNOTSUPP, "was not turned on when it started; add landlock to lsm"),
        (errno.ENOSYS, "or a container's filter forbids it; use Linux 5.13 or newer"),
        (errno.EPERM, "a container's filter forbids Landlock; use Linux 5.13 or newer; in a container, Docker 23"),
    ],
)
def test_a_machine_without_landlock_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def call(*_: object) -> int:
        raise OSError(number, "")

    monkeypatch.setattr(landlock, "_call", call)
    with pytest.raises(MachineFault, match="expected a kernel with Landlock, got: ") as e:
        landlock.version()
    assert words in str(e.value)


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 7, 9])
def test_a_ruleset_has_the_rights_that_the_version_knows(
    monkeypatch: pytest.MonkeyPatch, version: int, tmp_path: Path
) -> None:
    """Rights that a kernel does not know are an error, so that a newer table would fail on an older kernel."""
    made: list[bytes] = []

    def call(number: int, *arguments: bytes) -> int:
        if number == landlock._CREATE:
            made.append(arguments[0])
        return os.open(tmp_path, os.O_RDONLY)

    monkeypatch.setattr(landlock, "_call", call)
    monkeypatch.setattr(landlock, "version", lambda: version)
    os.close(landlock.ruleset([]))
    words = [int.from_bytes(made[0][at : at + 8], "little") for at in range(0, len(made[0]), 8)]
    assert words[0].bit_length() == {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    assert len(words) == (1 if version < 4 else 2 if version < 6 else 3)


def test_root_without_a_user_for_each_seat_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(accounts, "_numbers", lambda: None)
    monkeypatch.setattr(accounts, "_is_root_outside", lambda: True)
    with pytest.raises(MachineFault, match="run arena as an ordinary user"):
        accounts.seat_user(Level.FENCED)
    assert accounts.seat_user(Level.ISOLATED) is None, "a box is between its seats and root"
    monkeypatch.setattr(accounts, "_is_root_outside", lambda: False)
    assert accounts.seat_user(Level.FENCED) is None


def door() -> launcher._Door:
    """One that answers for this process."""
    return launcher._Door(-1, {"socket": b"/nowhere", "answers": {}, "user": None, "pid": os.getpid()})


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_what_a_bot_connects_is_seen_without_a_list_of_all_that_it_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel writes 100 MB about an epoll that watches a million files before it says whether that waits."""
    monkeypatch.delattr("builtins.open")
    left, right = socket.socketpair()
    with left, right, select.epoll() as poll:
        assert door()._is_blocking(0, left.fileno())
        left.setblocking(False)
        assert not door()._is_blocking(0, left.fileno())
        monkeypatch.setattr(os, "pidfd_open", lambda _: os.open("/nowhere", 0))
        with pytest.raises(OSError, match=f"/proc/self/fd/{poll.fileno()}|anon_inode|nowhere"):
            door()._is_blocking(os.getpid(), poll.fileno())


def test_long_answers_use_up_what_a_bot_may_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """All bots of a worker are answered by one process."""

    class Libc:
        def ioctl(self, *_: object) -> int:
            return 0

    monkeypatch.setattr(launcher, "_libc", Libc())
    at_ns = iter(range(0, 10**12, 400_000_000))
    monkeypatch.setattr(time, "monotonic_ns", lambda: next(at_ns))
    one = door()
    monkeypatch.setattr(one, "_put", lambda *_: 0)
    assert [one.answer() for _ in range(3)] == [True, True, False]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_a_launcher_that_answered_too_late_starts_no_other_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its late answer would be the number of another bot's process."""
    monkeypatch.setattr(fenced, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(fenced, "_running", None)
    late = fenced._launcher()
    late._process.send_signal(signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        late.start({}, [])
    assert late._process.wait() == -signal.SIGKILL
    other = fenced._launcher()
    assert other is not late
    for one in (late, other):
        one.close()


@pytest.mark.skipif(shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs setpriv, as root")
def test_root_without_its_rights_counts_what_a_bot_of_another_user_has() -> None:
    """In Docker root may not look into processes of others, and a seat's user is another."""
    count = (
        "import sys; from arena.sandbox import kept; kept._see_as_user_of(int(sys.argv[1]))\n"
        r"print(kept._counts(f'/proc/{sys.argv[1]}/maps', b'\n')[0])"
    )
    with subprocess.Popen(["/bin/sleep", "60"], user=61_234, group=61_234, extra_groups=[]) as sleeping:
        try:
            words = ["setpriv", "--bounding-set=-sys_ptrace,-perfmon,-sys_admin", sys.executable, "-c", count]
            assert int(subprocess.check_output([*words, str(sleeping.pid)])) > 0
        finally:
            sleeping.kill()
