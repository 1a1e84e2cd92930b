"""Standard streams that are closed, go away, are full or lack characters; sizes and zones that mean nothing."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.command_kit import ARENA, environment

LOG = Path(__file__).parents[3] / "protocol" / "vectors" / "logs" / "samurai-standard.jsonl"
A = shlex.join(ARENA)


def shell(folder: Path, line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Runs a line of bash, of which every command counts."""
    given = environment() | variables
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], cwd=folder, env=given, capture_output=True)
    assert b"Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    "line",
    [
        f"{A} replay {LOG} --all | true",
        f"{A} rules show samurai --json | true",
        f"{A} rules list | true",
        f"{A} tournament --help | true",
        f"{A} replay {LOG} --all >&-",
        f"{A} rules list <&- >&- 2>&-",
        f"{A} board list 2>/dev/full",
        f'[ "$({A} --version 2>&1 >/dev/full | cut -c-22)" = "Error: expected to wri" ]',
        f"{A} nonsense 2>/dev/full || [ $? = 2 ]",
        f"{A} nonsense 2>&- || [ $? = 2 ]",
    ],
)
def test_nobody_has_to_read(tmp_path: Path, line: str) -> None:
    assert shell(tmp_path, line).returncode == 0


@pytest.mark.quick(2, 3)
@pytest.mark.parametrize("gone", ["2> >(head -1)", "2>&-", "2>/dev/full", "2>/dev/null >&-", "<&- >&- 2>&-"])
def test_who_cannot_be_told_ends_no_tournament(tmp_path: Path, gone: str) -> None:
    line = f"{A} tournament random random --deals 1 --each-game {gone} && {A} tournaments list --csv"
    assert shell(tmp_path, f"{line} | grep -c ',finished,samurai,'").stdout.endswith(b"1\n")


@pytest.mark.quick(2, 2)
@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp437", "ascii:strict"])
def test_what_an_encoding_lacks_is_replaced(tmp_path: Path, encoding: str) -> None:
    for words in ("replay {} --all", "rules list", "rules show samurai --json"):
        done = shell(tmp_path, f"{A} {words.format(LOG)}", PYTHONIOENCODING=encoding)
        assert done.returncode == 0
        assert done.stdout.decode(encoding.partition(":")[0])
        if "json" in words:
            assert json.loads(done.stdout) == json.loads(shell(tmp_path, f"{A} {words}").stdout)


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("name", "value"), [("COLUMNS", value) for value in ("0", "-1", "x", "\u00b2", "9" * 20, "1")] + [("LINES", "0")]
)
def test_a_size_that_means_nothing_is_no_size(tmp_path: Path, name: str, value: str) -> None:
    assert shell(tmp_path, f"{A} replay {LOG} --turn 1 && {A} rules --help", **{name: value}).returncode == 0


@pytest.mark.quick(1, 3)
@pytest.mark.parametrize("zone", ["UTC+25", "UTC-30", "A1B99", "nowhere/at_all"])
def test_a_zone_that_there_cannot_be_is_utc(tmp_path: Path, zone: str) -> None:
    played = f"{A} tournament random random --deals 1 -q && {A} tournaments list && {A} games --since today"
    assert shell(tmp_path, played, TZ=zone).returncode == 0
