"""A format of another package, as docs/tournaments.md shows it: played, verified, explained."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "tournaments.md").read_text(encoding="utf-8")


def arena(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder. Python finds packages there."""
    command = [sys.executable, "-m", "arena", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the page's format is installed."""
    section = PAGE.split("## A format of your own")[1].split("\n## ")[0]
    module, entry = re.findall(r"```(?:python|toml)\n(.*?)```", section, re.DOTALL)
    (tmp_path / "king_of_the_hill.py").write_text(module, encoding="utf-8")
    info = tmp_path / "hill-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hill\nVersion: 1.0\n", encoding="utf-8")
    entry = entry.replace("project.entry-points.", "").replace('"', "")
    (info / "entry_points.txt").write_text(f"{entry}broken = not_there:Format\n", encoding="utf-8")
    return tmp_path


def test_a_format_of_another_package_is_played_verified_and_explained(folder: Path) -> None:
    helped = arena(folder, "tournament", "--format", "hill", "--help").stdout
    assert "stays on the hill" in helped
    assert re.search(r"--laps VALUE +How often everybody comes to the hill\.  \[default: 1\]", helped)
    command = ("tournament", "random", "greedy", "--rules", "gardener", "--format", "hill", "--seed", "hill")
    refused = arena(folder, *command, "--laps", "0")
    assert refused.returncode == 2
    assert "Expected `int` >= 1 - at `$.laps`" in refused.stderr
    done = arena(folder, *command, "--deals", "1", "--laps", "2")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^challenge 2: 2 games, greedy - random$", done.stdout + done.stderr, re.MULTILINE), done.stderr
    verified = arena(folder, "verify", "logs", "--complete", "--db", "arena.db")
    assert verified.returncode == 0, verified.stdout
    repeated = arena(folder, "tournaments", "show", "latest").stdout
    assert "--format hill --deals 1 --laps 2" in repeated
    (folder / "elsewhere").mkdir()
    without = arena(folder / "elsewhere", "verify", str(folder / "logs"), "--complete")
    assert without.returncode == 5, "not checked, and not forged"
    assert "install the package that brings it" in " ".join(without.stdout.split())


def test_a_format_whose_package_is_broken_is_named(folder: Path) -> None:
    done = arena(folder, "tournament", "random", "greedy", "--format", "broken")
    assert done.returncode == 2
    assert "fix or uninstall hill" in " ".join(done.stderr.split())
