"""Ten hostile bots among six honest ones, in a whole tournament at each level that this machine gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.thorough
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="needs bubblewrap, which only Linux has")
@pytest.mark.parametrize("level", ["isolated", "strict"])
def test_honest_bots_play_as_if_the_hostile_ones_were_not_there(level: str) -> None:
    doctor = [sys.executable, "-m", "arena", "doctor", "--level", level, "--json"]
    given = json.loads(subprocess.run(doctor, capture_output=True, text=True, check=False).stdout)["levels"][level]
    if not given["ok"]:
        pytest.skip(f"this machine does not give {level}: {'; '.join(given['missing'])}")
    command = [sys.executable, str(HERE / "tournament.py"), "--level", level, "--deals", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
