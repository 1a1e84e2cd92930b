"""A closed season can be checked to its end with what its league publishes, and nothing else.

What a league must keep to: §D7-2, §D7-3, §D7-4, §D7-5.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.core.record.log import log_bytes, read_log
from arena.core.record.published import SECRET_FILE, sha256_of
from arena.core.standings.audit import _published_in, examine
from arena.core.standings.verdicts import Audit
from arena.league.checking.audit import PROMISES, SeasonAuditor, logs_of
from arena.league.record.season import DEALS, RESULTS, SEASON_FILE, STANDINGS_FILE
from arena.league.store import open_league
from tests import season_kit

Edit = Callable[[Path], object]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is published of a season that is closed."""
    return season_kit.closed(tmp_path_factory.mktemp("plain")).published


@pytest.fixture(scope="module")
def with_final(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of one with a final."""
    return season_kit.closed(tmp_path_factory.mktemp("final"), final=("fox", "random")).published


def copy(published: Path, to: Path) -> Path:
    shutil.copytree(published, to)
    return to / "seasons" / "cup-1"


def audit(folder: Path, *, complete: bool = True, noted: Path | None = None) -> Audit:
    auditor = SeasonAuditor(folder, noted)
    for log in logs_of(folder):
        auditor.add(examine(str(log), str(folder)))
    return auditor.result(complete=complete)


def test_an_honest_season_is_checked_to_its_end(played: Path, with_final: Path) -> None:
    for published in (played, with_final):
        found = audit(published / "seasons" / "cup-1")
        assert found.faults == ()
        assert found.complete
        assert found.checked == tuple(name for name in PROMISES if name != "database")
        assert found.logs == 14 + 2 * (published == with_final)
    standings = json.loads((with_final / "seasons" / "cup-1" / STANDINGS_FILE).read_text())["standings"]
    assert [item["name"] for item in standings["items"]][:2] == ["fox/1", "random/1"]


def test_a_new_version_is_rated_after_its_predecessor(tmp_path: Path) -> None:
    folder = season_kit.closed(tmp_path, new_version=True).published / "seasons" / "cup-1"
    assert audit(folder).faults == ()
    closed = json.loads((folder / STANDINGS_FILE).read_text())
    assert {one["name"]: one["after"] for one in closed["entrants"] if one["after"]} == {"owl/2": "owl/1"}
    for name, check in ((None, "standings"), ("fox/1", "results"), ("owl/2", "results")):
        others = [one | {"after": name if one["name"] == "owl/2" else None} for one in closed["entrants"]]
        set_in(STANDINGS_FILE, entrants=others)(folder)
        assert check in {fault.check for fault in audit(folder).faults}
    set_in(STANDINGS_FILE, entrants=closed["entrants"], standings=closed["standings"] | {"method": "refit"})(folder)
    [fault] = audit(folder).faults
    assert fault.check == "standings"
    assert "by 'refit'" in fault.reason


def test_the_next_season_is_committed_to_and_its_secret_is_not_there(played: Path) -> None:
    folder = played / "seasons" / "cup-2"
    assert {path.name for path in folder.iterdir()} == {SEASON_FILE}
    found = audit(folder, complete=False)
    assert (found.faults, found.complete) == ((), False)
    first = json.loads((played / "seasons" / "cup-1" / STANDINGS_FILE).read_text())
    assert json.loads((folder / SEASON_FILE).read_text())["digest_before"] == first["digest"]
    assert {fault.check for fault in audit(folder).faults} == {"secret"}


def lines(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{kind}-0.jsonl").read_text().splitlines()]


def write_lines(folder: Path, kind: str, rows: list[dict[str, Any]], *, digest: bool = True) -> None:
    """Writes lines as a forger would: the digest over results is made right again."""
    data = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    (folder / f"{kind}-0.jsonl").write_bytes(data)
    if kind == RESULTS and digest:
        set_in(STANDINGS_FILE, digest=hashlib.sha256(b"\n" + data).hexdigest())(folder)


def set_in(name: str, **values: Any) -> Edit:
    def edit(folder: Path) -> None:
        document = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(document | values))

    return edit


def of_row(number: int, **values: Any) -> Edit:
    def edit(folder: Path) -> None:
        document = json.loads((folder / STANDINGS_FILE).read_text())
        document["standings"]["items"][number] |= values
        (folder / STANDINGS_FILE).write_text(json.dumps(document))

    return edit


def in_line(kind: str, number: int, **values: Any) -> Edit:
    def edit(folder: Path) -> None:
        rows = lines(folder, kind)
        rows[number] |= values
        write_lines(folder, kind, rows)

    return edit


def without(kind: str, *numbers: int) -> Edit:
    return lambda folder: write_lines(
        folder, kind, [row for number, row in enumerate(lines(folder, kind)) if number not in numbers]
    )


def other_settings(folder: Path) -> None:
    document = json.loads((folder / SEASON_FILE).read_text())
    document["settings"]["level"] = "strict"
    document["settings_sha256"] = sha256_of(document["settings"])
    (folder / SEASON_FILE).write_text(json.dumps(document))


def turned_around(folder: Path) -> None:
    document = json.loads((folder / STANDINGS_FILE).read_text())
    items = document["standings"]["items"]
    for item, other in zip(items, items[::-1], strict=True):
        item["name"], item["bot"] = f"{other['bot']}/1", other["bot"]
    (folder / STANDINGS_FILE).write_text(json.dumps(document))


def log_of(folder: Path, number: int) -> Path:
    return folder.parent.parent / "logs" / f"cup-1-{number:06d}.jsonl.zst"


def another_winner(folder: Path) -> None:
    """Changes a result wherever it is told but in the log."""
    in_line(RESULTS, 0, ranks=lines(folder, RESULTS)[0]["ranks"][::-1])(folder)


def another_log(folder: Path) -> None:
    """Puts another faultless log in the place of one: only its digest was published."""
    path = log_of(folder, 0)
    log = read_log(path)
    data, _ = log_bytes([msgspec.structs.replace(log.header, arena="another"), *log.records])
    path.unlink()
    path.with_suffix("").write_bytes(data)


FORGERIES: dict[str, tuple[Edit, str, str]] = {
    "another secret": (set_in(SECRET_FILE, secret="00" * 32), "commitment", "the secret of the commitment"),
    "another commitment": (set_in(SEASON_FILE, commitment="00" * 32), "commitment", "the secret of the commitment"),
    "the commitment beside the secret": (set_in(SECRET_FILE, commitment="00" * 32), "commitment", "got another"),
    "an end before the beginning": (
        set_in(STANDINGS_FILE, closed="2020-01-01T00:00:00+00:00"), "commitment", "its end after that",
    ),
    "settings": (set_in(SEASON_FILE, settings={}), "commitment", "settings_sha256"),
    "settings with their digest": (other_settings, "bots", "ran at level trusted"),
    "an unknown key": (set_in(SEASON_FILE, comment="x"), "commitment", "unknown field"),
    "the season before": (set_in(SEASON_FILE, digest_before="00" * 32), "results", "its digest is not that"),
    "a secret of a deal": (in_line(DEALS, 0, secret="00" * 32), "deals", "does not follow from that of the season"),
    "a chosen deal": (in_line(DEALS, 0, deal=50), "deals", "on the deal of its number, got: deal 50"),
    "a match left out": (without(DEALS, 1), "deals", "got none of number 1"),
    "games exchanged": (in_line(DEALS, 0, games=[1, 0]), "schedule", "expected rotation 1, got: 0"),
    "the digest of a log": (in_line(DEALS, 0, logs={"cup-1-000000": "00" * 32}), "results", "its SHA-256 is not"),
    "another log": (another_log, "results", "its SHA-256 is not"),
    "a log lost": (lambda folder: log_of(folder, 3).unlink(), "schedule", "1 of 16 games have no log here"),
    "another winner": (another_winner, "results", "its ranks is"),
    "ranks that no game has": (in_line(RESULTS, 0, ranks=[2, 3]), "results", "ranks from 1 on"),
    "a void game with ranks": (in_line(RESULTS, 0, status="void", ranks=[1]), "results", "ranks from 1 on"),
    "another play digest": (in_line(RESULTS, 0, play_digest="00" * 32), "results", "its play digest is"),
    "other bots": (in_line(RESULTS, 0, entrants=["fox/1", "owl/1"]), "bots", "in its seats sat"),
    "a game that is void": (
        in_line(RESULTS, 0, status="void", ranks=[], play_digest=None), "results", "its status is done",
    ),
    "games that count no more": (in_line(RESULTS, 0, counts=False), "standings", "expected"),
    "the last game left out": (without(RESULTS, 15), "schedule", "got results of others"),
    "the digest": (set_in(STANDINGS_FILE, digest="00" * 32), "results", "its digest is not that of the results"),
    "the last is the first": (turned_around, "standings", "items["),
    "a rank": (of_row(3, rank=2), "standings", "rank: expected"),
    "a rating": (of_row(0, rating=99.0), "standings", "rating: expected"),
    "an interval": (of_row(0, low=-9.0), "standings", "low: expected"),
    "wins": (of_row(0, wins=99), "standings", "wins: expected"),
    "forfeits": (of_row(1, forfeits=0), "standings", "forfeits: expected"),
    "a mean time": (of_row(0, mean_ms=0.5), "standings", "mean_ms: expected"),
    "a level": (of_row(0, level="strict"), "standings", "level: expected"),
    "a key of the standings": (of_row(0, comment="x"), "standings", "comment: expected None"),
    "standings left out": (lambda folder: (folder / STANDINGS_FILE).unlink(), "standings", "expected a standings.json"),
}  # fmt: skip


@pytest.mark.quick(12)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_of_a_season_is_found(played: Path, tmp_path: Path, forgery: str) -> None:
    edit, check, says = FORGERIES[forgery]
    folder = copy(played, tmp_path / "copy")
    edit(folder)
    faults = audit(folder).faults
    assert any(fault.check == check and says in fault.reason for fault in faults), faults


def test_a_forgery_of_a_final_is_found(with_final: Path, tmp_path: Path) -> None:
    for number, values in enumerate(({"outcome": "settled"}, {"items": []}, {"finalists": ["owl/1"]})):
        folder = copy(with_final, tmp_path / str(number))
        document = json.loads((folder / STANDINGS_FILE).read_text())
        document["standings"]["final"] |= values
        (folder / STANDINGS_FILE).write_text(json.dumps(document))
        assert {fault.check for fault in audit(folder).faults} == {"standings"}, values


def test_a_season_is_held_against_what_an_author_kept(played: Path, tmp_path: Path) -> None:
    folder = copy(played, tmp_path / "copy")
    noted = tmp_path / SEASON_FILE
    shutil.copy(folder / SEASON_FILE, noted)
    assert audit(folder, noted=noted).faults == ()
    set_in(SEASON_FILE, commitment="00" * 32)(tmp_path)
    assert any("expected the commitment of" in fault.reason for fault in audit(folder, noted=noted).faults)


def test_results_whose_logs_are_gone_count_as_listed(played: Path, tmp_path: Path) -> None:
    folder = copy(played, tmp_path / "copy")
    log_of(folder, 0).unlink()
    found = audit(folder, complete=False)
    assert found.faults == ()
    assert [note.partition(":")[0] for note in found.notes] == [
        "1 of 16 games have no log here, the first 0",
        "2 of 16 games are void",
    ]
    of_row(0, points=0.123)(folder)
    assert {fault.check for fault in audit(folder, complete=False).faults} == {"standings"}


def test_what_is_missing_is_written_again(tmp_path: Path) -> None:
    league = season_kit.closed(tmp_path)
    before = {path: path.read_bytes() for path in (league.published / "seasons").rglob("*.json*")}
    shutil.rmtree(league.published / "seasons")
    with open_league(league.database) as store:
        season_kit.publish(store, league)
    assert {path: path.read_bytes() for path in before} == before
    original = league.logs / "cup-1" / "deals.jsonl"
    with original.open("ab") as file:
        file.write(b'{"tournament":"cup-1","match":')  # a disk was full
    shutil.rmtree(league.published / "seasons")
    with open_league(league.database) as store:
        season_kit.publish(store, league)
    assert {path: path.read_bytes() for path in before} == before


def test_draws_of_an_open_season_are_checked_by_the_secrets_of_its_deals(tmp_path: Path) -> None:
    league = season_kit.cup(tmp_path)
    with open_league(league.database) as store:
        season_kit.match(store, league, *store.versions.active())
        season_kit.publish(store, league)
    folder = league.published / "seasons" / "cup-1"
    found = audit(folder, complete=False)
    assert (found.faults, found.games, found.complete) == ((), 2, False)
    assert all(examine(str(log), str(folder)).draws_checked for log in logs_of(folder))
    in_line(DEALS, 0, secret="00" * 32, commitment=hashlib.sha256(bytes(32)).hexdigest())(folder)
    _published_in.cache_clear()
    assert "does not belong to the secret that was revealed" in audit(folder, complete=False).faults[0].reason
