"""`arena league init` on a machine that does not give the level."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import cli
from arena.core.errors import MachineFault
from arena.core.types import Level
from arena.sandbox import box, landlock, levels
from arena.sandbox.levels import level_in_force


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without bubblewrap."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(box, "PROGRAM_FOLDERS", ("/nowhere",))
    levels._examined.cache_clear()
    yield
    levels._examined.cache_clear()


def init(*words: str, code: int) -> str:
    done = CliRunner().invoke(cli, ["league", "init", *words], prog_name="arena")
    assert done.exit_code == code, done.output
    return done.output.replace("Usage: ", "")


def test_without_bubblewrap_one_line_says_what_to_install_and_what_to_type_instead(tmp_path: Path) -> None:
    if level_in_force(Level.FENCED):
        pytest.skip("this machine does not give level fenced")
    said = init("cup", "--rules", "gardener", code=3)
    assert said == (
        "Error: expected a machine that gives level isolated, got: one where there is no bwrap in /nowhere; "
        "apt install bubblewrap, and try again, or let bots be fenced: "
        "arena league init cup --rules gardener --level fenced\n"
    )
    assert not (tmp_path / "cup").exists(), "so that it can be typed"
    assert "cup is a league of gardener" in init("cup", "--rules", "gardener", "--level", "fenced", code=0)
    verified = CliRunner().invoke(cli, ["verify", "cup"], prog_name="arena")
    assert verified.exit_code == 0, "its lines are there before a service ran"


def test_where_fenced_cannot_be_had_either_it_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> int:
        raise MachineFault("expected a kernel with Landlock, got: none")

    monkeypatch.setattr(landlock, "version", none)
    said = init("cup", code=3)
    assert "apt install bubblewrap" in said
    assert "fenced" not in said


def test_a_level_that_is_named_may_be_given_elsewhere(tmp_path: Path) -> None:
    """A service may have rights that a shell has not."""
    said = init("cup", "--level", "strict", code=0)
    assert (tmp_path / "cup" / "league.toml").exists()
    [line] = [line for line in said.splitlines() if "bwrap" in line]
    assert line == (
        "The league runs only where level strict is given (arena doctor --level strict). "
        "Here: there is no bwrap in /nowhere; apt install bubblewrap"
        + ("" if level_in_force(Level.FENCED) else ", or begin anew: rm -r cup && arena league init cup --level fenced")
    )
