"""What a bot has of its own are files, folders and links: pipes and sockets are refused whenever they come."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.errors import BotError
from arena.core.link.bots import BotSpec
from arena.sandbox import kinds
from arena.sandbox.binds import check, given
from arena.sandbox.kinds import check_kinds


def listen(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot's folder, which has not changed for long."""
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    (tmp_path / "mine" / "sub").mkdir(parents=True)
    (tmp_path / "mine" / "sub" / "bot.py").touch()
    (tmp_path / "mine" / "link").symlink_to("sub/bot.py")
    monkeypatch.setattr(kinds, "_SETTLED_NS", -(10**9))
    time.sleep(0.02)  # some kernels stamp by a clock that ticks every 10 ms
    return tmp_path / "mine"


@pytest.mark.parametrize(("make", "kind"), [(os.mkfifo, "a named pipe"), (listen, "a socket")])
@pytest.mark.parametrize("before", [True, False], ids=["at first", "later"])
def test_what_is_no_file_is_refused(make: Callable[[Path], None], kind: str, before: bool, folder: Path) -> None:
    path = folder / "sub" / "it"
    if not before:
        check_kinds(str(folder), "mine")
    make(path)
    with pytest.raises(BotError, match=rf"^mine: expected files and folders, .*, got: {kind} - at {path}; remove it$"):
        check_kinds(str(folder), "mine")
    path.unlink()
    check_kinds(str(folder), "mine")


def test_what_was_looked_through_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: read.append(path) or scan(path))
    for _ in range(3):
        check_kinds(str(folder), "mine")
    assert sorted(read) == [str(folder), str(folder / "sub")]


def test_a_folder_that_has_just_changed_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a pipe made in the same tick of the clock as that change would not be seen."""
    monkeypatch.setattr(kinds, "_SETTLED_NS", 3600 * 10**9)
    check_kinds(str(folder), "mine")
    monkeypatch.setattr(kinds, "_state", lambda folder: kinds._State(0, 0, 0))  # as if no time had changed
    os.mkfifo(folder / "sub" / "it")
    with pytest.raises(BotError, match="a named pipe"):
        check_kinds(str(folder), "mine")


def test_a_file_by_itself_must_be_one(folder: Path) -> None:
    check_kinds(str(folder / "sub" / "bot.py"), "mine")
    os.mkfifo(folder / "it")
    with pytest.raises(BotError, match="a named pipe"):
        check_kinds(str(folder / "it"), "mine")


def test_a_folder_that_cannot_be_listed_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scan(path: str) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "scandir", scan)
    with pytest.raises(BotError, match=r"expected folders that can be listed, got: .*/mine, which cannot"):
        check_kinds(str(folder), "mine")


def test_a_bot_is_looked_at_when_it_is_loaded_and_whenever_it_starts(folder: Path) -> None:
    spec = BotSpec(name="mine", version="", command=("./sub/bot.py",), folder=str(folder), digest="0" * 64)
    check([spec], ())
    assert given(spec).trees == {"/bot": str(folder)}
    os.mkfifo(folder / "it", 0o666)
    for look in (lambda: check([spec], ()), lambda: given(spec)):
        with pytest.raises(BotError, match="a named pipe"):
            look()
