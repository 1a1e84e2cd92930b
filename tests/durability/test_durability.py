"""Whatever happens to files, processes and machine: what was announced is stored once, and the end is the same.

The tests try a few places of each row. `make durability` tries all, and makes docs/durability.md of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.durability.trials import ROWS, Row, build

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs LD_PRELOAD and /proc, as on Linux"),
    pytest.mark.timeout(3_600),
]


@pytest.fixture(scope="session")
def _compiler(tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        build(tmp_path_factory.mktemp("build"))
    except OSError:
        pytest.skip("needs a C compiler, which is not on this machine's path")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"needs the headers of the C library: {error.stderr.decode(errors='replace')[:200]}")


def named(rows: list[Row]) -> list[object]:
    """Storms take longest."""
    return [pytest.param(row, id=row.name, marks=[pytest.mark.long] if "kill -9" in row.name else []) for row in rows]


def check(row: Row, folder: Path, *, whole: bool) -> None:
    result = row.run(folder, whole)
    if row.is_mutant:
        assert result.wrong, f"the mutant was not caught at {result.places} places"
    else:
        assert not result.wrong, "\n".join(result.wrong)


@pytest.mark.quick(1, 5)
@pytest.mark.usefixtures("_compiler")
@pytest.mark.parametrize("row", named([row for row in ROWS if row.short]))
def test_a_few_places(row: Row, tmp_path: Path) -> None:
    check(row, tmp_path, whole=False)
