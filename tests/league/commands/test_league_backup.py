"""`arena league backup` and `restore` as an operator and as a script call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from league_kit import active, league, opened, submit

from arena.cli import cli


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A league's folder with the archives of one version, and not of another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cup" / "submissions").mkdir(parents=True)
    (tmp_path / "cup" / "league.toml").touch()
    with league(tmp_path / "cup", "anna") as store:
        fox = active(store, "fox")
        submit(store, "owl")
    (tmp_path / "cup" / "submissions" / f"{fox.digest}.tar.zst").touch()
    return tmp_path / "cup"


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["league", *words])


def test_a_league_is_copied_and_made_again(cup: Path) -> None:
    done = run("backup", "cup", "cup.tar")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("cup.tar: 3 files, ")
    assert done.stderr.count("cannot be built again without this archive, which is missing: submissions/") == 1
    again = run("restore", "cup.tar", "cup2")
    assert again.exit_code == 0, again.output
    assert "arena league run cup2" in again.stderr
    with opened(cup.with_name("cup2")) as store:
        assert {version.name for version in store.versions.of_author("anna")} == {"fox/1", "owl/1"}
    assert (cup.with_name("cup2") / "logs" / "cup-1").is_dir()
    refused = run("restore", "cup.tar", "cup2")
    assert refused.exit_code == 1
    assert "a new folder" in refused.stderr


def test_a_backup_is_only_checked(cup: Path, tmp_path: Path) -> None:
    assert run("backup", "cup", "cup.tar").exit_code == 0
    before = sorted(path.name for path in tmp_path.iterdir())
    assert run("restore", "cup.tar").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    data = bytearray((tmp_path / "cup.tar").read_bytes())
    data[data.index(b"fox")] ^= 1
    (tmp_path / "cup.tar").write_bytes(data)
    broken = run("restore", "cup.tar")
    assert broken.exit_code == 1
    assert "expected a whole backup" in broken.stderr


def test_scripts_get_json(cup: Path) -> None:
    for words in (("backup", "cup", "cup.tar", "--without-logs"), ("restore", "cup.tar")):
        found = json.loads(run(*words, "--json").stdout)
        assert found["file"] == "cup.tar"
        assert found["backup"]["files"] == 3
        assert len(found["backup"]["missing"]) == 1
