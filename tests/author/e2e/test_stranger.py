"""A bot that was written from protocol/ alone, in a language without a client, keeps the whole protocol."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.author.conform.report import Level
from arena.author.conform.runner import check_bot
from arena.core.link.bots import load_bot


@pytest.mark.long
def test_the_specification_alone_is_enough_for_a_bot_of_the_level_full(needs: Callable[..., None], root: Path) -> None:
    needs("ruby")
    libraries = subprocess.run(["ruby", "-e", 'require "ffi-rzmq"; require "msgpack"'], capture_output=True, text=True)
    if libraries.returncode:
        pytest.skip(f"needs Ruby's ffi-rzmq and msgpack: {libraries.stderr.strip()}")
    report = check_bot(load_bot(str(root / "tests/stranger")))
    assert report.counts["not_attempted"] == 0
    assert [result for result in report.hindering(Level.FULL) if not result.excuse] == [], "but for a busy machine"
