"""Bots that were written from protocol/ alone, in languages without a client, keep the whole protocol."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.author.conform.report import Grade
from arena.author.conform.runner import check_bot
from arena.core.link.bots import load_bot


@pytest.mark.long
@pytest.mark.parametrize(
    ("folder", "language", "libraries"),
    [
        ("tests/stranger", ["ruby", "-e"], 'require "ffi-rzmq"; require "msgpack"'),
        ("examples/lua_bot", ["lua", "-e"], 'require "cjson"'),
    ],
    ids=["SPEC.md, in Ruby", "BOT.md, in Lua"],
)
def test_a_page_alone_is_enough_for_a_bot_of_the_level_full(
    needs: Callable[..., None], root: Path, folder: str, language: list[str], libraries: str
) -> None:
    needs(language[0])
    loaded = subprocess.run([*language, libraries], capture_output=True, text=True)
    if loaded.returncode:
        pytest.skip(f"needs {libraries}: {loaded.stderr.strip()}")
    report = check_bot(load_bot(str(root / folder)))
    assert report.counts["not_attempted"] == 0
    assert [result for result in report.hindering(Grade.FULL) if not result.excuse] == [], "but for a busy machine"
