"""A bot that was written from protocol/ alone, in a language without a client, keeps the whole protocol."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.long
def test_the_specification_alone_is_enough_for_a_bot_of_the_level_full(needs: Callable[..., None], root: Path) -> None:
    needs("ruby")
    libraries = subprocess.run(["ruby", "-e", 'require "ffi-rzmq"; require "msgpack"'], capture_output=True, text=True)
    if libraries.returncode:
        pytest.skip(f"needs Ruby's ffi-rzmq and msgpack: {libraries.stderr.strip()}")
    check = subprocess.run(
        [sys.executable, "-m", "arena", "bot", "check", "tests/stranger", "--level", "full"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert check.returncode == 0, check.stdout + check.stderr
