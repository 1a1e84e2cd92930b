"""What is checked is what plays: a bot is started from the files that its digest was made of, or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.errors import BotError
from arena.core.link import contents
from arena.core.link.bots import COMMAND, load_bot
from arena.core.link.unchanged import check_files

MANIFEST = 'name = "fox"\ncommand = ["{python}", "bot.py"]\ninclude = ["vendor"]\nbuilt = ["model"]\n'
Change = Callable[[Path], object]


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has this process take all files for old: then it looks at their times only."""
    monkeypatch.setattr(contents, "_SETTLED_NS", -1)


@pytest.fixture
def fox(tmp_path: Path) -> Path:
    folder = tmp_path / "fox"
    (folder / "vendor").mkdir(parents=True)
    (folder / "model").mkdir()
    for name, text in {"bot.toml": MANIFEST, "bot.py": "1", "vendor/lib.py": "2", "model/w": "3", "a.py": "4"}.items():
        (folder / name).write_text(text)
    (folder / "b.py").symlink_to("a.py")
    return folder


def relink(folder: Path) -> None:
    (folder / "b.py").unlink()
    (folder / "b.py").symlink_to("bot.py")


def restore(path: Path, text: str) -> None:
    """Writes as many bytes in place, and sets the old times: only the time that nobody can set tells it."""
    times = os.stat(path)
    path.write_text(text)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


CHANGES: dict[str, Change] = {
    "bot.py": lambda at: (at / "bot.py").write_text("another"),
    "a.py": lambda at: restore(at / "a.py", "5"),
    "vendor/lib.py": lambda at: (at / "vendor/lib.py").write_text("another"),
    "new.py (new)": lambda at: (at / "new.py").write_text(""),
    "a.py (gone)": lambda at: ((at / "b.py").unlink(), (at / "a.py").unlink()),
    "b.py": relink,
    "model/w": lambda at: (at / "model/w").write_text("built anew"),
    "bot.toml": lambda at: (at / "bot.toml").write_text("name = "),
}


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("named", CHANGES)
def test_a_change_of_a_bot_is_seen_and_named(fox: Path, named: str) -> None:
    spec = load_bot(str(fox))
    check_files(spec)
    CHANGES[named](fox)
    with pytest.raises(BotError, match=r"expected the files of fox .* to stay as they were") as error:
        check_files(spec)
    assert named in str(error.value)


def test_a_process_that_never_looked_sees_that_the_files_are_others(fox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load_bot(str(fox))
    (fox / "bot.py").write_text("another")
    monkeypatch.setattr(contents, "_looks", contents.OrderedDict())
    with pytest.raises(BotError, match=r"got: bot\.py, which changed"):
        check_files(spec)


def test_what_the_digest_leaves_out_and_a_file_that_was_only_touched_may_change(fox: Path) -> None:
    spec = load_bot(str(fox))
    caches = ("__pycache__/bot.pyc", "vendor/__pycache__/lib.pyc", "model/__pycache__/x.pyc")
    for name in (
        ".weights",
        *caches,
        "arena.db",
        "arena.db-orders/tournament",
        "logs/1/commitment.json",
        "logs/1/game.jsonl",
    ):
        (fox / name).parent.mkdir(parents=True, exist_ok=True)
        (fox / name).write_text("learnt")
    (fox / "a.py").touch()
    (fox / "bot.py").write_text("1")
    check_files(spec)
    assert load_bot(str(fox)).digest == spec.digest


@pytest.mark.usefixtures("settled")
def test_files_that_were_not_changed_are_not_read_again(fox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load_bot(str(fox))
    (fox / ".log").write_text("what a bot writes at each start")
    monkeypatch.delattr(contents, "opened")  # whoever reads a file fails by that
    check_files(spec)
    check_files(spec)
    (fox / "a.py").touch()
    with pytest.raises(NameError):
        check_files(spec)


def test_a_file_that_is_written_again_at_once_is_seen(fox: Path) -> None:
    """A file system's clock ticks every few milliseconds; so files that are new are read again."""
    for number in range(20):
        (fox / "a.py").write_text(f"{number:4}")
        spec = load_bot(str(fox))
        restore(fox / "a.py", f"{number + 1:4}")
        with pytest.raises(BotError):
            check_files(spec)


def test_a_command_line_names_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.sh").write_text("exit 0")
    spec = load_bot(f'{COMMAND}sh  "bot.sh"')
    check_files(spec)
    (tmp_path / "bot.sh").write_text("exit 1")
    with pytest.raises(BotError, match=r"bot\.sh"):
        check_files(spec)


@pytest.mark.usefixtures("settled")
def test_a_look_at_a_large_folder_is_short(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(MANIFEST.replace('include = ["vendor"]\nbuilt = ["model"]\n', ""))
    (tmp_path / "bot.py").write_text("")
    for number in range(2_000):
        (tmp_path / f"{number}.txt").write_text("")
    spec = load_bot(str(tmp_path))
    began = time.process_time()
    check_files(spec)
    assert time.process_time() - began < 0.2
