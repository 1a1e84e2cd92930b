"""Files of others: only regular ones are read, no further than a limit, and nothing is written through a link."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core import files
from arena.core.errors import ArenaError, LogError


def read(path: Path, most: int = 100, *, links: bool = True) -> bytes:
    return files.read(path, "a thing", most, LogError, links=links)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


STRANGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pipe": (pipe, "got: a pipe, not a regular file"),
    "a pipe behind a link": (lambda path: (pipe(path.with_name("p")), path.symlink_to("p"))[0], "got: a pipe, not"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "got: a device, not a regular file"),
    "a folder": (Path.mkdir, "got: a folder, not a regular file"),
    "a socket": (bound, "got: a socket, not a regular file"),
    "nothing": (lambda path: None, "got: No such file or directory"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "got: Too many levels of symbolic links"),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", STRANGE)
def test_only_regular_files_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "f"
    make, got = STRANGE[kind]
    make(path)
    with pytest.raises(LogError, match=f"^expected a thing, {got}.* - at '{path}'; "):
        read(path)


@pytest.mark.parametrize("path", ["/proc/self/mem", "x\0y", "x" * 300, "/dev/tty"])
def test_whatever_is_named_the_error_is_a_message(path: str) -> None:
    with pytest.raises(LogError, match=r"^expected a thing, got: .+ - at .+; "):
        read(Path(path))


def test_a_file_that_tells_no_size_has_the_limit_too() -> None:
    assert read(Path("/proc/self/status"), 2**20)
    with pytest.raises(LogError, match=r"got: more than 100 bytes, the most that is read - at .*; give a smaller file"):
        read(Path("/proc/self/status"), 100)


def test_dev_null_is_an_empty_file() -> None:
    assert read(Path(os.devnull)) == b""


def test_a_sparse_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.touch()
    os.truncate(path, 2**40)
    with pytest.raises(LogError, match="got: more than 64 MiB, the most that is read"):
        read(path, files.MOST_LOG)


def test_the_limit_is_inclusive(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 100)
    assert read(path, 100) == b"x" * 100
    with pytest.raises(LogError, match="more than 99 bytes"):
        read(path, 99)


def test_links_are_for_the_caller_to_allow(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("here")
    (tmp_path / "f").symlink_to("real")
    assert read(tmp_path / "f") == b"here"
    with pytest.raises(LogError, match="got: a symbolic link, not a regular file"):
        read(tmp_path / "f", links=False)


def test_a_text_has_its_line_ends_normalised_and_is_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes("\ufeffa\r\nb\rc\n".encode())
    assert files.read_text(path, "a thing", 100, ArenaError) == "a\nb\nc\n"
    path.write_bytes(b"a\nb\n\xff")
    with pytest.raises(ArenaError, match=r"expected a thing in UTF-8, got: the byte 0xff - at .*/f:3; save the file"):
        files.read_text(path, "a thing", 100, ArenaError)


@pytest.mark.parametrize("durably", [False, True])
def test_nothing_is_written_through_a_link(tmp_path: Path, durably: bool) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("f", "f.part"):
        (folder / name).symlink_to(victim)
    files.write(folder / "f", b"new", durably=durably)
    assert (victim.read_text(), (folder / "f").read_text()) == ("mine", "new")
    assert not (folder / "f").is_symlink()
    assert sorted(os.listdir(folder)) == ["f", "f.part"]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(OSError, match="directory"):
        files.write(tmp_path / "f", b"new")
    assert os.listdir(tmp_path) == ["f"]


def test_a_file_has_the_rights_that_the_user_gives_to_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write(tmp_path / "f", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640


def test_what_a_kill_has_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    left = ["f.0123456789abcdef.part", ".f.0123456789abcdef.part"]
    kept = ["f", "f.part", "f.0123.part", "f.0123456789abcdef.part.txt", "f.0123456789ABCDEF.part"]
    for name in (*left, *kept):
        (tmp_path / name).touch()
    (tmp_path / "folder.0123456789abcdef.part").mkdir()
    (tmp_path / "link.0123456789abcdef.part").symlink_to(tmp_path / "f")
    kept += ["folder.0123456789abcdef.part", "link.0123456789abcdef.part"]
    files.remove_unfinished(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(kept)


def test_the_name_under_which_a_file_is_written_is_known_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(os, "rename", lambda part, path: 1 / 0)
        killed.setattr(os, "unlink", lambda part: None)
        with pytest.raises(ZeroDivisionError):
            files.write(tmp_path / "f", b"x")
    [name] = os.listdir(tmp_path)
    assert files.final_name(name) == "f"
    assert files.final_name("f.part") == "f", "as earlier versions wrote it"
    files.remove_unfinished(tmp_path)
    assert not os.listdir(tmp_path)
