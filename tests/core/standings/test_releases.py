"""Tests that what each release has written can be checked, and that what a later one writes is not called forged.

`tests/data/releases/VERSION.tar.zst` holds `tournaments` of several formats, one with a compressed log, their database,
and a `league` with a closed season and an open one. `0.2.0-early` has commitments without a date, and seeds by version
2 of chance. Whoever releases a version adds what it writes, and never changes what is there.
"""

from __future__ import annotations

import io
import json
import re
import runpy
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import zstandard
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.core.errors import ConfigError, StoreError
from arena.core.record.log import read_log
from arena.core.record.published import sha256_of
from arena.core.store.database import MIGRATIONS, connect
from arena.core.store.store import open_reader, open_store
from arena.league.season.closing import check_season
from arena.league.settings import Settings, parse
from arena.league.store.opening import read_league

PROTOCOL = Path(__file__).parents[3] / "protocol"
CHECK_LOG: dict[str, Any] = runpy.run_path(str(PROTOCOL / "check_log.py"))
CHECK_RECEIPTS: dict[str, Any] = runpy.run_path(str(PROTOCOL / "check_receipts.py"))
RELEASES = sorted((Path(__file__).parents[2] / "data" / "releases").glob("*.tar.zst"))


def unpacked(archive: Path, folder: Path) -> Path:
    data = zstandard.ZstdDecompressor().decompressobj().decompress(archive.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        tar.extractall(folder, filter="data")
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return unpacked(RELEASES[-1].with_name("0.2.0.tar.zst"), tmp_path / "release")


def resummed(data: bytes) -> bytes:
    """Returns a log with its sums made again."""
    whole = b""
    for line in data.splitlines():
        whole += line[:-18]
        whole += b',"sum":"%08x"}\n' % crc32(whole)
    return whole


def verify(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["verify", *map(str, arguments)])


@pytest.mark.wing("league")
@pytest.mark.parametrize("archive", RELEASES, ids=lambda path: path.name.removesuffix(".tar.zst"))
def test_what_a_release_wrote_is_verified(archive: Path, tmp_path: Path) -> None:
    folder = unpacked(archive, tmp_path)
    database = ["--db", folder / "arena.db"] if (folder / "arena.db").exists() else []
    found = verify(folder / "tournaments", "--complete", *database)
    assert found.exit_code == 0, found.output
    assert found.output.count("  ok      deals") == len(list((folder / "tournaments").iterdir()))
    if (folder / "league").exists():
        found = verify(folder / "league")
        assert found.exit_code == 0, found.output
        seasons = list((folder / "league" / "published" / "seasons").iterdir())
        assert found.output.count("  ok      deals") == len(seasons)
    logs = map(str, folder.glob("tournaments/*/*.jsonl"))
    assert CHECK_LOG["main"]([*logs, "--json"]) == 0, "the checker of the protocol knows the seeds of each version"


def test_what_is_checked_of_a_release_is_checked_as_ever(tmp_path: Path) -> None:
    """The old form takes nothing from a check: seeds by another version of chance are found."""
    folder = unpacked(RELEASES[0].with_name("0.2.0-early.tar.zst"), tmp_path)
    [path] = folder.glob("tournaments/*/commitment.json")
    path.write_text(path.read_text().replace('"chance": 2', '"chance": 3'))
    found = verify(folder / "tournaments")
    assert found.exit_code == 4
    assert "the seed of the bot in seat 0 does not follow from the secret" in found.output
    assert "settings_sha256 is not the digest of its settings" in found.output


@pytest.mark.parametrize(
    ("file", "change", "unchecked"),
    [
        ("commitment.json", {"format": 9}, "with format 9, where this one knows up to 1"),
        ("commitment.json", {"settings": {"chance": 9}}, "with chance 9, where this one knows up to 3"),
        ("secret.json", {"format": 9}, "with format 9, where this one knows up to 1"),
    ],
)
def test_a_document_of_a_later_version_is_not_checked(
    release: Path, file: str, change: dict[str, object], unchecked: str
) -> None:
    [folder, *_] = sorted((release / "tournaments").iterdir())
    noted = shutil.copy(folder / "commitment.json", release)
    document = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps(document | change))
    for options in ([], ["--complete"]):
        found = verify(folder, *options)
        assert found.exit_code == 5, found.output
        assert "FAILED" not in found.output
        assert f"not checked: written by a later version, {unchecked}" in found.output
        assert "  ok      log" in found.output
    assert CHECK_LOG["main"](list(map(str, folder.glob("*.jsonl")))) == 5
    found = verify(folder, "--noted", noted)
    assert found.exit_code == (4 if "commitment" in file else 5), "what was kept proves a change, whoever wrote it"
    (folder / "commitment.json").unlink()
    assert verify(folder, "--noted", noted).exit_code == 4


@pytest.mark.wing("league")
def test_a_commitment_of_before_it_had_a_date_agrees_with_its_database(release: Path) -> None:
    for path in release.glob("tournaments/*/commitment.json"):
        path.write_text(re.sub(r' "created": .*\n', "", path.read_text()))
    assert verify(release / "tournaments", "--db", release / "arena.db").exit_code == 0


@pytest.mark.wing("league")
@pytest.mark.parametrize("file", ["season.json", "deals-0.jsonl"])
def test_a_season_of_a_later_version_is_not_checked(release: Path, file: str) -> None:
    for path in (release / "league").glob(f"published/seasons/*/{file}"):
        first, *rest = path.read_text().splitlines() if "deals" in file else [path.read_text()]
        later = json.dumps(json.loads(first) | {"format": 9, "more": {}})
        path.write_text("".join(f"{line}\n" for line in (later, *rest)))
    found = verify(release / "league")
    assert found.exit_code == 5, found.output
    assert "FAILED" not in found.output
    assert re.search(rf"with format 9, .*{file}.*; install the newest arena", found.output)
    found = CliRunner().invoke(cli, ["league", "audit", str(release / "league")])
    assert (found.exit_code, found.output.count("FAILED")) == (5, 0), found.output


@pytest.mark.wing("league")
def test_lines_of_a_later_version_are_not_checked(release: Path) -> None:
    place = release / "league" / "published"
    for folder in (place / "seasons").iterdir():
        (folder / "rounds-0.jsonl").write_text('{"format":9,"of":"a later form"}\n')
    found = verify(release / "league")
    assert (found.exit_code, found.output.count("FAILED")) == (5, 0), found.output
    assert CHECK_RECEIPTS["main"](["lines", str(place)]) == 5


def test_a_receipt_of_a_later_version_is_not_checked_and_the_others_are(release: Path) -> None:
    log = next((release / "tournaments").glob("*/*.jsonl"))
    (kept := release / "kept").write_text('{"format":9,"of":"a later form"}\n')
    found = verify(log, "--receipts", kept)
    assert (found.exit_code, found.output.count("FAILED")) == (5, 0), found.output
    assert "written by a later version, with format 9, where this one knows up to 1 - at" in found.output
    assert CHECK_RECEIPTS["main"](["receipts", str(kept), str(log)]) == 5
    line = {"bot_seed": read_log(log).header.bots[0].bot_seed, "seat": 0, "own": None, "told": None, "notes": None}
    with kept.open("a") as file:
        file.write(json.dumps(line | {"termination": "finished", "ranks": [9, 9]}) + "\n")
    assert verify(log, "--receipts", kept).exit_code == 4
    kept.write_text("[]\n")
    assert CHECK_RECEIPTS["main"](["receipts", str(kept), str(log)]) == 2, "it is no receipt"


def test_a_log_of_a_later_version_is_not_checked_and_the_others_are(release: Path) -> None:
    path = next((release / "tournaments").glob("*/*.jsonl"))
    text = path.read_text().replace('"format":3,"arena":"0.2.0"', '"format":9,"arena":"9.1"', 1)
    path.write_bytes(resummed(text.encode()))
    found = verify(path)
    assert (found.exit_code, found.output.count("FAILED")) == (5, 0)
    assert CHECK_LOG["main"]([str(path)]) == 5
    assert "written by a later version, arena 9.1 with log format 9" in found.output
    found = verify(path.parent, "--complete")
    assert (found.exit_code, found.output.count("FAILED")) == (5, 0), found.output
    commitment = path.with_name("commitment.json")
    text = commitment.read_text().replace('"seeded": false', '"seeded": true').replace("random", "other")
    commitment.write_text(text)
    assert verify(path.parent).exit_code == 4


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ('"rules_version":9,"options":{"a later one":"on",', "written by a later version, by version 9 of"),
        ('"rules_version":0,"options":{"a former one":"on",', "by version 0 of the rules of"),
    ],
)
def test_a_log_of_rules_that_are_not_here_is_not_checked(release: Path, new: str, says: str) -> None:
    path = next((release / "tournaments").glob("*/*.jsonl"))
    text = re.sub(r'"rules_version":1,"ruleset":"\w+","options":\{', f'"ruleset":"of then",{new}', path.read_text())
    path.write_bytes(resummed(text.encode()))
    assert verify(path.parent).exit_code == verify(path).exit_code == 4, "the commitment names those that are here"
    found = verify(path.rename(release / path.name))
    output = found.output
    assert (found.exit_code, output.count("FAILED"), output.count(f"not checked: {says}")) == (5, 0, 1), output


def test_what_a_package_brings_that_is_not_installed_is_not_checked(release: Path) -> None:
    for path in next((release / "tournaments").glob("*/*.jsonl")).parent.glob("*.jsonl"):
        path.write_bytes(resummed(re.sub(r'"rules":"(\w+)"', r'"rules":"gone:\1"', path.read_text()).encode()))
    commitment = path.with_name("commitment.json")
    document = json.loads(commitment.read_text())
    document["settings"]["game"]["rules"] = f"gone:{document['settings']['game']['rules']}"
    document["settings_sha256"] = sha256_of(document["settings"])
    commitment.write_text(json.dumps(document))
    found = verify(path.parent)
    assert (re.findall("  ok      (\\w+)", found.output), found.output.count("FAILED")) == (["commitment"], 0)
    found = verify(path)
    assert (found.exit_code, found.output.count("FAILED")) == (5, 0), found.output
    assert "install the package that brings these rules" in found.output
    commitment.write_text(json.dumps(document | {"settings": document["settings"] | {"format": "gone"}}))
    found = verify(path.parent, "--complete")
    assert (found.exit_code, found.output.count("FAILED")) == (5, 0), found.output
    assert "unknown format 'gone': install the package that brings it" in found.output


def test_a_league_in_mid_season_goes_on_and_later_settings_are_refused(release: Path) -> None:
    text = (release / "league" / "league.toml").read_text()
    settings = parse(text)
    fixed = settings.season_settings()
    check_season(settings, "first", {**fixed, "chance": 2, "processes": "game"}, "league.toml", text)
    games = [{**game, "margin_ms": 7} for game in fixed["games"]]
    with pytest.raises(ConfigError, match=r"expected margin_ms .* finish the season with the version that began it"):
        check_season(settings, "first", {**fixed, "games": games}, "league.toml", text)
    assert parse(text.replace("[logs]", "[logs]\nlast_games = 50")) == settings
    with pytest.raises(ConfigError, match="format 1 or less, got: 9, of a later version of arena"):
        parse("format = 9\n" + text)
    assert Settings(name="cup").format == 1


def test_a_database_of_a_later_version_is_refused_with_its_name(release: Path) -> None:
    path = shutil.copy(release / "arena.db", release / "later.db")
    connection = connect(path, write=True)
    for set_, name, opened in (
        ("arena-versions", "9.1", read_league),
        ("league", "a later step", read_league),
        ("arena", f"{len(MIGRATIONS) + 1:04}_more", open_reader),
    ):
        insert = "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, '2100-01-01')"
        connection.execute(insert, (set_, name))
        if set_ != "arena-versions":
            with pytest.raises(StoreError, match=rf"one that arena 9\.1 wrote \(it has .*{name}\) - at"), opened(path):
                pass
    connection.close()


def test_a_database_of_before_the_first_release_is_refused_and_its_error_names_no_copy(
    release: Path,
) -> None:
    with closing(connect(release / "arena.db", write=True)) as connection:
        connection.execute("DELETE FROM _sqlite_migrations WHERE name = '0001_tournaments'")
    says = r"of arena 0\.2\.0 or later, got one without 0001_tournaments - at .*/release/arena\.db"
    with pytest.raises(StoreError, match=says), open_reader(release / "arena.db"):
        pass


def test_a_database_of_a_release_gets_the_tables_of_a_new_one_and_says_the_same(release: Path) -> None:
    def read(path: Path, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute(sql).fetchall()

    path, before = release / "arena.db", (release / "arena.db").read_bytes()
    seats = f"SELECT {', '.join(name for _, name, *_ in read(path, 'PRAGMA table_info(v_seats)'))} FROM v_seats"
    told = read(path, f"{seats} ORDER BY game, seat")
    with open_reader(path):
        assert path.read_bytes() == before
    with open_store(path), open_store(release / "new.db"):
        pass
    assert read(path, f"{seats} ORDER BY game, seat") == told != []
    made = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    both = (read(of, made) for of in (release / "new.db", path))
    new, old = ({(*names, " ".join(sql.split())) for *names, sql in rows} for rows in both)
    assert new - old == set()
    names = read(path, "SELECT name FROM _sqlite_migrations WHERE migration_set = 'arena'")
    assert tuple(name for (name,) in names) == MIGRATIONS


def test_a_database_of_a_release_whose_rows_do_not_belong_together_is_left_as_it_is(release: Path) -> None:
    with closing(sqlite3.connect(path := release / "arena.db")) as connection, connection:
        connection.execute("DELETE FROM entrants WHERE number = 1")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"got: a row of \w+ without its row of entrants - at .*arena\.db"):
        open_store(path).__enter__()
    assert path.read_bytes() == before
