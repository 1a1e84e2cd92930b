"""The folder of bots on a machine of a cluster: each is built once, whole or not there, and there are not too many."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.author.archives import pack
from arena.cluster.cache import BotCache
from arena.core.errors import BotError, InternalError, MachineFault
from arena.core.types import Level
from tests.command_kit import environment

MAKE = "import os, pathlib; fd = os.open('{log}', os.O_WRONLY | os.O_APPEND | os.O_CREAT); os.write(fd, b'x'); {more}"


class Sent:
    """A bot that was packed, and notes each time that it is built."""

    def __init__(self, folder: Path, name: str = "fox", more: str = "pathlib.Path('built.py').touch()") -> None:
        bot = folder / "home" / name
        bot.mkdir(parents=True)
        self.log = folder / f"{name}.builds"
        (bot / "make.py").write_text(MAKE.format(log=self.log, more=more))
        (bot / "bot.toml").write_text(
            f'name = "{name}"\ncommand = ["{{python}}", "built.py"]\nbuild = ["{{python}}", "make.py"]\n'
            'built = ["built.py"]\n'
        )
        packed = pack(bot)
        self.digest = packed.digest
        self.archive = folder / f"{name}.archive"
        self.archive.write_bytes(packed.data)

    @property
    def builds(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def build(self, cache: BotCache) -> Path:
        return cache.build(self.digest, self.archive, Level.TRUSTED)


@pytest.fixture
def fox(tmp_path: Path) -> Sent:
    return Sent(tmp_path)


def test_a_bot_is_built_once_and_found_by_others(tmp_path: Path, fox: Sent) -> None:
    first, second = BotCache(tmp_path / "bots"), BotCache(tmp_path / "bots")
    assert first.take(fox.digest) is None
    folder = fox.build(first)
    assert (folder / "built.py").is_file()
    assert fox.build(second) == second.take(fox.digest) == folder
    assert fox.builds == 1


PROGRAM = """
import sys
from pathlib import Path
from arena.cluster.cache import BotCache
from arena.core.types import Level
print(BotCache(Path(sys.argv[1])).build(sys.argv[2], Path(sys.argv[3]), Level.TRUSTED))
"""


def test_processes_that_need_a_bot_at_once_build_it_once(tmp_path: Path) -> None:
    slow = Sent(tmp_path, "slow", "import time; time.sleep(0.5); pathlib.Path('built.py').touch()")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "bots"), slow.digest, str(slow.archive)]
    running = [subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate()[0] for process in running}
    assert len(said) == 1
    assert [process.returncode for process in running] == [0, 0, 0]
    assert slow.builds == 1


def test_what_a_builder_that_was_killed_has_left_is_not_used_and_goes(tmp_path: Path) -> None:
    calm = tmp_path / "calm"
    deadly = Sent(
        tmp_path, "deadly", f"pathlib.Path('built.py').touch(); os.path.exists('{calm}') or os.kill(os.getppid(), 9)"
    )
    bots = tmp_path / "bots"
    command = [sys.executable, "-c", PROGRAM, str(bots), deadly.digest, str(deadly.archive)]
    assert subprocess.run(command, env=environment(), check=False).returncode == -9
    assert [path.suffix for path in bots.iterdir() if path.is_dir()] == [".part"]
    cache = BotCache(bots)
    assert cache.take(deadly.digest) is None
    calm.touch()
    assert (deadly.build(cache) / "built.py").is_file()
    assert {path.name for path in bots.iterdir()} == {deadly.digest, f"{deadly.digest}.lock"}
    assert deadly.builds == 2


def test_a_bot_that_cannot_be_built_says_why_and_leaves_the_lock_free(tmp_path: Path) -> None:
    broken = Sent(tmp_path, "broken", "raise SystemExit(3)")
    cache = BotCache(tmp_path / "bots")
    for _ in range(2):
        with pytest.raises(BotError, match="exited with status 3"):
            broken.build(cache)
    assert broken.builds == 2


def test_the_longest_unused_goes_and_what_is_played_stays(tmp_path: Path) -> None:
    bots = [Sent(tmp_path, name) for name in ("ann", "bob", "cid", "dan")]
    cache, player = BotCache(tmp_path / "bots", most_bytes=1), BotCache(tmp_path / "bots")
    played = bots[0].build(player)
    for bot in bots[1:3]:
        bot.build(cache)
        os.close(cache._held.pop(bot.digest))  # as when its process ends
    os.utime(played, (0, 0))
    last = bots[3].build(cache)
    there = {path.name for path in (tmp_path / "bots").iterdir()}
    assert there == {name for bot in (bots[0], bots[3]) for name in (bot.digest, f"{bot.digest}.lock")}
    assert last.is_dir()
    assert cache.take(bots[1].digest) is None
    assert (bots[1].build(cache) / "built.py").is_file()


def test_a_lock_that_was_removed_while_one_waited_is_no_lock(tmp_path: Path, fox: Sent) -> None:
    cache = BotCache(tmp_path / "bots")
    fox.build(cache)
    lock = tmp_path / "bots" / f"{fox.digest}.lock"
    lock.unlink()
    other = BotCache(tmp_path / "bots")
    assert other.take(fox.digest) is not None
    with lock.open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_another_archive_is_refused(tmp_path: Path, fox: Sent) -> None:
    owl = Sent(tmp_path, "owl")
    with pytest.raises(InternalError, match="expected the archive"):
        BotCache(tmp_path / "bots").build(owl.digest, fox.archive, Level.TRUSTED)
    with pytest.raises(InternalError, match="expected a digest"):
        BotCache(tmp_path / "bots").take("../home")


def test_a_folder_that_others_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots").chmod(0o777)
    with pytest.raises(MachineFault, match="only this user writes to"):
        BotCache(tmp_path / "bots")
    (tmp_path / "link").symlink_to(tmp_path / "home")
    with pytest.raises((MachineFault, FileExistsError)):
        BotCache(tmp_path / "link")
