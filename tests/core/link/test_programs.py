"""Why a program cannot be started is told by its file, in words for its author."""

from __future__ import annotations

import os
import platform
import shutil
import struct
import sys
from pathlib import Path

import pytest

from arena.core.errors import BotError
from arena.core.link import programs
from arena.core.link.bots import load_bot

OWN = {"x86_64": 62, "aarch64": 183}.get(platform.machine(), 0)


def elf(*, processor: int = OWN, kind: int = 2, loader: str = "") -> bytes:
    """The beginning of a program for Linux."""
    ident = b"\x7fELF\2\1\1".ljust(16, b"\0")
    name = loader.encode() + b"\0"
    header = ident + struct.pack("<HHIQQQIHHHHHH", kind, processor, 1, 0, 64, 0, 0, 64, 56, bool(loader), 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 3, 4, 120, 0, 0, len(name), len(name), 1) + name


CASES: dict[str, tuple[bytes, str, str]] = {
    "for Windows": (b"MZ\x90\0\3\0", "a program for Windows", "build it for Linux on"),
    "for macOS": (b"\xcf\xfa\xed\xfe\7\0\0\1", "a program for macOS", "build it for Linux on"),
    "a JAR": (b"PK\3\4....", "a ZIP archive, as a JAR is (java -jar", "build it"),
    "for another processor": (elf(processor=183 if OWN == 62 else 62), "a program for ", "build it for Linux on"),
    "cut off": (elf()[:18], "a program for another processor", "build it"),
    "cut": (Path("/bin/sh").read_bytes()[:9_000], "a program whose end is missing", "copy it again"),
    "not linked": (elf(kind=1), "an object file", "link it"),
    "for another C library": (elf(loader="/lib/ld-no.so"), "a program that needs /lib/ld-no.so", "link it statically"),
    "empty": (b"", "an empty file", "copy it again"),
    "a text": (b"print(1)\n", "a text whose first line names no interpreter (#!)", "begin it with a line such as #!"),
    "nothing known": (b"\x1f\x8b\0\1", "no program of this system", "build it"),
    "an interpreter without the right": (
        b"#!/etc/passwd\n",
        "a script for /etc/passwd, which this user may not",
        "corr",
    ),
    "CRLF": (b"#!/bin/sh\r\nexit\r\n", "a script with the line ends of Windows (CRLF)", "of Unix"),
    "a BOM": (b"\xef\xbb\xbf#!/bin/sh\n", "a script that begins with a byte order mark (BOM)", "without BOM"),
    "no interpreter": (b"#!/opt/no/python -u\n", "a script for /opt/no/python, which is not there", "install"),
    "none by env": (
        b"#!/usr/bin/env -S A=1 no-python\n",
        "a script for no-python, which is not on the path",
        "install",
    ),
    "a first line of nothing": (b"#!  \n", "a script whose first line names no program", "correct its first line"),
}


def make(folder: Path, content: bytes, mode: int = 0o755, command: str = '"./bot"') -> Path:
    (folder / "bot.toml").write_text(f'name = "fox"\ncommand = [{command}]\n')
    (folder / "bot").write_bytes(content)
    (folder / "bot").chmod(mode)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere other programs are the system's")
@pytest.mark.parametrize("case", CASES)
def test_a_program_that_cannot_be_started(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_BINFMT", str(tmp_path / "none"))
    content, got, remedy = CASES[case]
    with pytest.raises(BotError) as error:
        load_bot(str(make(tmp_path, content)))
    assert f"expected './bot', which fox needs, got: {got}" in str(error.value)
    assert remedy in str(error.value).partition("; ")[2]


@pytest.mark.parametrize("content", [Path("/bin/sh").read_bytes(), b"#! /bin/sh -e\n", b"#!/usr/bin/env -S A=1 sh\n"])
def test_a_program_that_can_be_started(tmp_path: Path, content: bytes) -> None:
    load_bot(str(make(tmp_path, content)))


def test_programs_that_an_emulator_starts_are_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_BINFMT", str(tmp_path))
    (tmp_path / "qemu-aarch64").touch()
    load_bot(str(make(tmp_path, b"MZ\x90\0")))


def test_a_file_that_may_not_be_executed(tmp_path: Path) -> None:
    with pytest.raises(BotError, match=r"got: a file that may not be executed \(mode 644\); run `chmod \+x \S+/bot`"):
        load_bot(str(make(tmp_path, b"#!/bin/sh\n", 0o644)))
    make(tmp_path, b"")
    (tmp_path / "bot").unlink()
    (tmp_path / "bot").mkdir()
    with pytest.raises(BotError, match="got: a folder or device"):
        load_bot(str(tmp_path))


def test_a_disk_without_programs_is_the_machines_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, b"#!/bin/sh\n")
    usual = os.statvfs
    monkeypatch.setattr(
        os, "statvfs", lambda path: os.statvfs_result((*usual(path)[:8], os.ST_NOEXEC, *usual(path)[9:]))
    )
    assert (why := programs.unfit("./bot", tmp_path)) is not None
    assert why.of_machine
    with pytest.raises(BotError, match=r"got: a file on a disk from which nothing may be executed .*noexec"):
        load_bot(str(tmp_path))


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfexit\n", b"exit\r\n"])
def test_a_script_that_a_shell_cannot_read(tmp_path: Path, content: bytes) -> None:
    make(tmp_path, content, command='"sh", "bot"')
    with pytest.raises(
        BotError, match=r"expected 'bot', which fox needs, got: a script (that begins with|with the line)"
    ):
        load_bot(str(tmp_path))


def test_a_file_of_the_bot_is_no_program_on_the_path(tmp_path: Path) -> None:
    with pytest.raises(BotError, match=r"no such program on the path, but a file of the bot; write ./bot"):
        load_bot(str(make(tmp_path, b"#!/bin/sh\n", command='"bot"')))


def test_a_command_line_is_looked_at_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make(tmp_path, b"MZ\x90\0"))
    with pytest.raises(BotError, match=r"expected a program to run, got: './bot', a program for Windows; build it"):
        load_bot("cmd:./bot")


def test_a_folder_one_level_up_or_down_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "outer" / "fox"
    (inner / "src").mkdir(parents=True)
    make(inner, b"")
    monkeypatch.chdir(tmp_path)
    for given, has in {"./outer": "outer/fox", "outer": "outer/fox", "outer/fox/src": "outer/fox"}.items():
        with pytest.raises(BotError, match=f"got: {given}, which has none; give {has}, which has one"):
            load_bot(given)


def test_a_manifest_may_begin_with_a_bom(tmp_path: Path) -> None:
    shutil.copy("/bin/sh", tmp_path / "bot")
    (tmp_path / "bot.toml").write_bytes(b'\xef\xbb\xbfname = "fox"\r\ncommand = ["./bot"]\r\n')
    assert load_bot(str(tmp_path)).name == "fox"
    (tmp_path / "bot.toml").write_bytes('name = "fox"\n'.encode("utf-16"))
    with pytest.raises(BotError, match=r"got: UTF-16 - at .*bot.toml:1; save the file as UTF-8"):
        load_bot(str(tmp_path))
