"""A season can be checked to its end with what its league publishes, and nothing else, by the auditor of tournaments.

What a league must keep to: §D7-2, §D7-3, §D7-4, §D7-5.
"""

from __future__ import annotations

import json
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.core.record.log import log_bytes, read_log
from arena.core.record.published import COMMITMENT_FILE, CONTRIBUTIONS_FILE, SECRET_FILE, publish, sha256_of
from arena.core.referee import beacon
from arena.core.standings.examined import _published_in, examine
from arena.core.standings.verdicts import Audit
from arena.core.store import store as stores
from arena.league.checking.audit import PROMISES, SeasonAuditor, logs_of
from arena.league.public import documents
from arena.league.record import old, rounds
from arena.league.service.inbox import OrderDuty, new_order
from arena.league.service.orders import obey
from arena.league.settings import Season, load
from arena.league.store import open_league
from tests import league_kit, season_kit

CHECK_RECEIPTS: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "protocol" / "check_receipts.py"))
Edit = Callable[[Path], object]
Lines = list[dict[str, Any]]


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


def audit(
    folder: Path, *, complete: bool = True, noted: Path | None = None, heads: tuple[rounds.Noted, ...] = ()
) -> Audit:
    auditor = SeasonAuditor(folder, noted, heads=heads)
    for log in logs_of(folder):
        auditor.add(examine(str(log), str(folder)))
    return auditor.result(complete=complete)


def test_all_results_of_who_has_cheated_are_taken_back_and_everybody_is_told_why(tmp_path: Path) -> None:
    league = season_kit.cup(tmp_path)
    taken = new_order("strike", {"name": "anna", "of": "author", "reason": "two authors played for one"})
    with open_league(league.database) as store:
        for author in ("anna", "bert"):
            store.authors.add(author)
        fox = league_kit.active(store, "fox")
        owl = league_kit.active(store, "owl", author="bert")
        random, greedy = (one for one in store.versions.active() if one.is_of_house)
        for one, other in ((fox, random), (owl, greedy), (fox, owl)):
            season_kit.match(store, league, one, other)
        season_kit.publish(store, league)
        season_kit.match(store, league, fox, greedy, begun=lambda: obey(store, league, load(league), taken))
        answer = obey(store, league, load(league), taken)
        assert answer == {"retired": ["fox/1"], "matches": 3}, "one of them was being played"
        counted = {row[0] for row in store._db.execute("SELECT DISTINCT match FROM games WHERE counts")}
        assert counted == {1}, "that of the others, as if nothing else had counted"
        told = "all results of all bots of one author are taken back: two authors played for one"
        assert store.notices.of("anna")[0].text == told
        about = documents.league(store, load(league), league)
        assert ("taken back", "all results of all bots of anna, 3 matches: two authors played for one") in about["told"]
        again = new_order("strike", {"name": "fox", "reason": "still"})
        assert obey(store, league, load(league), again) == {"retired": ["fox/1"], "matches": 0}
        assert "still" not in str(documents.league(store, load(league), league)["told"]), "nothing was taken back by it"
        refused = obey(store, league, load(league), new_order("strike", {"name": "random", "reason": "x"}))
        assert refused["code"] == "house"
    season_kit.close(league)
    found = audit(league.published / "seasons" / "cup-1")
    assert found.faults == ()
    assert f"3 of 4 matches were taken back by the operator: {told}" in found.notes


def lines_of(folder: Path) -> Lines:
    return [json.loads(line) for line in (folder / "rounds-0.jsonl").read_text().splitlines()]


def write(folder: Path, lines: Lines) -> None:
    """Writes lines as a forger would: each follows from the one before it again."""
    before, data = lines[0]["before"], b""
    for number, line in enumerate(lines):
        line = line | {"number": number, "before": before}
        encoded = msgspec.json.encode(line, order="sorted")
        before, data = rounds.sha256(encoded), data + encoded + b"\n"
    (folder / "rounds-0.jsonl").write_bytes(data)


def head(folder: Path) -> rounds.Noted:
    """What somebody keeps who sees the season now."""
    lines = (folder / "rounds-0.jsonl").read_bytes().splitlines()
    return rounds.Noted(folder.name, len(lines), rounds.sha256(lines[-1]))


def test_an_honest_season_is_checked_to_its_end(played: Path, with_final: Path) -> None:
    for published in (played, with_final):
        folder = published / "seasons" / "cup-1"
        found = audit(folder, heads=(head(folder), rounds.Noted("cup-1", 1, head_of_first(folder))))
        assert found.faults == ()
        assert found.complete
        assert found.checked == tuple(name for name in PROMISES if name not in ("beacon", "database"))
        assert found.logs == 14 + 2 * (published == with_final)
    standings = lines_of(folder)[-1]["standings"]
    assert [item["name"] for item in standings["items"]][:2] == ["fox/1", "random/1"]


def head_of_first(folder: Path) -> str:
    return rounds.sha256((folder / "rounds-0.jsonl").read_bytes().splitlines()[0])


def test_a_new_version_is_rated_after_its_predecessor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    years = iter(range(9000, 1000, -1))  # the clock goes back: that is nobody's fault
    monkeypatch.setattr(stores, "now", lambda: f"{next(years)}-01-01T00:00:00+00:00")
    folder = season_kit.closed(tmp_path, new_version=True).published / "seasons" / "cup-1"
    assert audit(folder).faults == ()
    entered = [line for line in lines_of(folder) if line["kind"] == "entered"]
    assert {one["name"]: one["after"] for one in entered if one["after"]} == {"owl/2": "owl/1"}
    for name, check in ((None, "standings"), ("fox/1", "bots"), ("owl/2", "bots")):
        write(folder, [line | ({"after": name} if line.get("name") == "owl/2" else {}) for line in lines_of(folder)])
        assert check in {fault.check for fault in audit(folder).faults}


def test_the_next_season_follows_from_the_last_line_and_its_secret_is_not_there(played: Path, tmp_path: Path) -> None:
    folder = copy(played, tmp_path / "copy").with_name("cup-2")
    assert {path.name for path in folder.iterdir()} == {COMMITMENT_FILE, "rounds-0.jsonl"}
    assert audit(folder, complete=False).faults == ()
    assert lines_of(folder)[0]["before"] == head(folder.with_name("cup-1")).sha256
    assert {fault.check for fault in audit(folder).faults} == {"secret", "schedule"}
    write(folder, [line | {"before": "00" * 32} for line in lines_of(folder)])
    assert [fault.check for fault in audit(folder, complete=False).faults] == ["lines"]


def test_the_value_of_a_round_of_drand_is_in_the_deals_of_a_season(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = Path("protocol/vectors/tournaments/race")
    value = json.loads((race / "contributions.json").read_text())["beacon"]
    before = json.loads((race / COMMITMENT_FILE).read_text())
    monkeypatch.setattr(beacon, "soon", lambda: 657413)
    monkeypatch.setattr(stores, "now", lambda: before["created"])
    league = season_kit.cup(tmp_path, Season(final=0, beacon="quicknet"))
    folder = league.published / "seasons" / "cup-1"
    assert audit(folder, complete=False).unchecked["beacon"].startswith("no game has begun: the value of drand")
    with open_league(league.database) as store:
        random, greedy = store.versions.active()
        orders = OrderDuty(store, league, load(league), 1, print)

        def give(text: str) -> dict[str, Any]:
            return obey(store, league, load(league), new_order("season_beacon", {"value": text}))

        [told] = [text for name, text in documents.league(store, load(league), league)["told"] if name == "awaited"]
        assert told.startswith(
            "round 657413 of drand before the first game, out at 2023-09-15 11:00:03 UTC: `signature` at"
        )
        wrong = give("00" * 48)
        assert (wrong["code"], orders.paused) == ("argument", True)
        assert "expected the signature of quicknet's round 657413" in wrong["message"]
        assert (give(value), orders.paused) == ({"season": "first"}, False)
        assert "its value is known" in give(value)["message"]
        season_kit.match(store, league, random, greedy)
        season_kit.publish(store, league)
    season_kit.close(league)
    found = audit(folder)
    assert found.faults == ()
    assert {"beacon", "deals"} <= {*found.checked}
    (folder / CONTRIBUTIONS_FILE).unlink()
    assert {fault.check for fault in audit(folder).faults} >= {"beacon", "deals"}


def set_in(name: str, **values: Any) -> Edit:
    def edit(folder: Path) -> None:
        document = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(document | values))

    return edit


def in_line(kind: str, number: int = 0, *, chained: bool = True, **values: Any) -> Edit:
    """Changes a line of a kind, and those after it so that they follow from it."""

    def edit(folder: Path) -> None:
        lines = lines_of(folder)
        [line for line in lines if line["kind"] == kind][number].update(values)
        if chained:
            write(folder, lines)
        else:
            data = b"".join(msgspec.json.encode(line, order="sorted") + b"\n" for line in lines)
            (folder / "rounds-0.jsonl").write_bytes(data)

    return edit


def in_game(number: int, **values: Any) -> Edit:
    """Changes what came of the first game of a match that is over."""

    def edit(folder: Path) -> None:
        lines = lines_of(folder)
        over = [line for line in lines if line["kind"] == "over"][number]
        over["games"][0] |= values
        write(folder, lines)

    return edit


def in_row(number: int, **values: Any) -> Edit:
    def edit(folder: Path) -> None:
        lines = lines_of(folder)
        lines[-1]["standings"]["items"][number] |= values
        write(folder, lines)

    return edit


def without(*numbers: int) -> Edit:
    def edit(folder: Path) -> None:
        lines = lines_of(folder)
        write(folder, [line for number, line in enumerate(lines) if number not in [n % len(lines) for n in numbers]])

    return edit


def moved(kind: str, to: int, number: int = 0) -> Edit:
    """Moves a line of a kind so many places down."""

    def edit(folder: Path) -> None:
        lines = lines_of(folder)
        at = [place for place, line in enumerate(lines) if line["kind"] == kind][number]
        lines.insert(at + to, lines.pop(at))
        write(folder, lines)

    return edit


def with_line(at: int, **line: Any) -> Edit:
    def edit(folder: Path) -> None:
        lines = lines_of(folder)
        lines.insert(at % len(lines), {"at": lines[0]["at"], **line})
        write(folder, lines)

    return edit


def cut_off(folder: Path) -> None:
    path = folder / "rounds-0.jsonl"
    path.write_bytes(path.read_bytes()[:-9])


def other_settings(folder: Path) -> None:
    document = json.loads((folder / COMMITMENT_FILE).read_text())
    document["settings"]["level"] = "strict"
    document["settings_sha256"] = sha256_of(document["settings"])
    (folder / COMMITMENT_FILE).write_text(json.dumps(document))
    in_line("opened", commitment_sha256=sha256_of(document))(folder)


def turned_around(folder: Path) -> None:
    lines = lines_of(folder)
    items = lines[-1]["standings"]["items"]
    for item, other in zip(items, [dict(item) for item in items[::-1]], strict=True):
        item["name"], item["bot"] = other["name"], other["bot"]
    write(folder, lines)


def row_left_out(folder: Path) -> None:
    lines = lines_of(folder)
    lines[-1]["standings"]["items"].pop()
    write(folder, lines)


def first_over(folder: Path) -> dict[str, Any]:
    return next(line for line in lines_of(folder) if line["kind"] == "over")


def log_of(folder: Path, number: int) -> Path:
    return folder.parent.parent / "logs" / f"cup-1-{number:06d}.jsonl.zst"


def another_log(folder: Path) -> None:
    """Puts another faultless log in the place of one: only its digest was published."""
    path = log_of(folder, 0)
    log = read_log(path)
    data, _ = log_bytes([msgspec.structs.replace(log.header, arena="another"), *log.records])
    path.unlink()
    path.with_suffix("").write_bytes(data)


FORGERIES: dict[str, tuple[Edit, str, str]] = {
    "another secret": (set_in(SECRET_FILE, secret="00" * 32), "commitment", "the secret of the commitment"),
    "another commitment": (set_in(COMMITMENT_FILE, commitment="00" * 32), "commitment", "that was committed to"),
    "the commitment beside the secret": (set_in(SECRET_FILE, commitment="00" * 32), "commitment", "of the commitment"),
    "an end before the beginning": (in_line("closed", at="2020-01-01T00:00:00+00:00"), "commitment", "end after its"),
    "no commitment": (lambda folder: (folder / COMMITMENT_FILE).unlink(), "commitment", "got none; fetch it"),
    "settings": (set_in(COMMITMENT_FILE, settings={}), "commitment", "settings_sha256"),
    "settings with their digest": (other_settings, "bots", "as the season has it, got: trusted"),
    "a date of the commitment": (set_in(COMMITMENT_FILE, created="2020"), "commitment", "that the first line names"),
    "an unknown key": (set_in(COMMITMENT_FILE, comment="x"), "commitment", "unknown field"),
    "a line changed": (in_line("planned", 1, chained=False, rated=False), "lines", "it does not follow from the line"),
    "a line left out": (without(6), "schedule", "expected match"),
    "a key of a line": (in_line("planned", comment="x"), "lines", "unknown field"),
    "lines cut off": (cut_off, "lines", "a file that was cut off"),
    "the end left out": (without(-1), "standings", "the line that closes the season"),
    "the first line left out": (without(0), "schedule", "the line that opens the season"),
    "a second beginning": (moved("opened", 1), "schedule", "the line that opens the season first"),
    "a secret of a deal": (in_line("over", secret="00" * 32), "deals", "does not follow from that of the season"),
    "a chosen deal": (in_line("planned", match=50), "schedule", "expected match 0, got: 50"),
    "games exchanged": (in_line("planned", games=[1, 0]), "schedule", "the rotation 1, as the season has it, got: 0"),
    "a game twice": (in_line("planned", 1, games=[0, 1]), "schedule", "is also of match"),
    "no game for a seating": (in_line("planned", games=[0]), "schedule", "a game for each seating"),
    "no seating": (in_line("planned", seats=[]), "schedule", "a game for each seating"),
    "a seating that is no rotation": (
        in_line("planned", seats=[["fox/1", "random/1"]] * 2), "schedule", "is not rotation 1",
    ),
    "the digest of a log": (in_game(0, log="00" * 32), "results", "its SHA-256 is"),
    "another log": (another_log, "results", "its SHA-256 is"),
    "a log lost": (lambda folder: log_of(folder, 3).unlink(), "schedule", "1 of 16 games"),
    "another winner": (in_game(0, ranks=[2, 1]), "results", "its ranks is"),
    "ranks that no game has": (in_game(0, ranks=[2, 3]), "results", "ranks from 1 on"),
    "a void game with ranks": (in_game(0, status="void", ranks=[1]), "results", "ranks from 1 on"),
    "another play digest": (in_game(0, play_digest="00" * 32), "results", "its play digest is"),
    "other bots": (in_line("planned", seats=[["owl/1", "fox/1"], ["fox/1", "owl/1"]]), "bots", "in seat 0 sat"),
    "a game that is void": (in_game(0, status="void", ranks=[], play_digest=None, log=None), "results", "status is"),
    "a match that counts no more": (in_line("planned", rated=False), "standings", "expected"),
    "a match that is taken back": (
        with_line(-1, kind="struck", match=0, reason="x"), "standings", "expected",
    ),
    "a match that is taken back twice": (
        with_line(-1, kind="struck", match=6, reason="x"), "results", "one that counts",
    ),
    "a match that is over twice": (
        lambda folder: write(folder, [*lines_of(folder)[:-1], first_over(folder), lines_of(folder)[-1]]),
        "schedule", "is not over",
    ),
    "a match that was never played": (
        with_line(-1, kind="planned", match=8, games=[16, 17], rated=True,
                  seats=[["fox/1", "owl/1"], ["owl/1", "fox/1"]]), "schedule", "every match to be over",
    ),
    "a version of nobody": (in_line("entered", name="cat/1"), "bots", "expected versions that play"),
    "a version that plays beside another": (
        with_line(-1, kind="entered", name="fox/2", digest="", archive="", level="trusted", mu=25.0, sigma=8.0,
                  after=None), "bots", "beside fox/1",
    ),
    "another level of a version": (in_line("entered", level="strict"), "bots", "expected level trusted"),
    "other files of a version": (in_line("entered", digest="00" * 32), "bots", "in seat"),
    "a better start": (in_line("entered", mu=40.0), "standings", "expected"),
    "a version that left": (
        with_line(-1, kind="changed", name="fox/1", state="retired", by="author"), "standings", "got others: fox/1",
    ),
    "a version that left before it played": (
        with_line(6, kind="changed", name="random/1", state="retired", by="author"), "bots", "expected versions that",
    ),
    "a row left out": (row_left_out, "standings", "a row for each version that plays"),
    "the last is the first": (turned_around, "standings", "items["),
    "a rank": (in_row(3, rank=2), "standings", "rank: expected"),
    "a rating": (in_row(0, rating=99.0), "standings", "rating: expected"),
    "an interval": (in_row(0, low=-9.0), "standings", "low: expected"),
    "wins": (in_row(0, wins=99), "standings", "wins: expected"),
    "forfeits": (in_row(1, forfeits=0), "standings", "forfeits: expected"),
    "a mean time": (in_row(0, mean_ms=0.5), "standings", "mean_ms: expected"),
    "a level": (in_row(0, level="strict"), "standings", "level: expected"),
    "a key of the standings": (in_row(0, comment="x"), "standings", "comment: expected None"),
}  # fmt: skip


@pytest.mark.quick(12)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_of_a_season_is_found(played: Path, tmp_path: Path, forgery: str, needs: Callable[..., None]) -> None:
    needs("zstd")
    edit, check, says = FORGERIES[forgery]
    folder = copy(played, tmp_path / "copy")
    seen = head(folder)
    (noted := tmp_path / "heads").write_bytes(msgspec.json.encode(seen))
    by_page = ["lines", str(tmp_path / "copy"), "--head", str(noted)]
    assert CHECK_RECEIPTS["main"](by_page) == 0
    edit(folder)
    faults = audit(folder).faults
    assert any(fault.check == check and says in fault.reason for fault in faults), faults
    if folder.joinpath("rounds-0.jsonl").read_bytes() != (played / "seasons/cup-1/rounds-0.jsonl").read_bytes():
        assert "lines" in {fault.check for fault in audit(folder, heads=(seen,)).faults}, (
            "a head that was kept shows it"
        )
        assert CHECK_RECEIPTS["main"](by_page) in (1, 2)


FORGERIES_OF_A_FINAL: dict[str, tuple[Edit, str, str]] = {
    "the outcome": (in_line("decided", outcome="settled"), "standings", "expected a final that is settled"),
    "a finalist who left at the end": (with_line(-1, kind="left", entrants=["fox/1"]), "schedule", "being played"),
    "a finalist who left before they played": (
        with_line(23, kind="left", entrants=["fox/1"]), "schedule", "expected finalists, got: fox/1",
    ),
    "a finalist who left though they are none": (
        with_line(23, kind="left", entrants=["owl/1"]), "schedule", "in the final, got others",
    ),
    "another finalist": (in_line("final", entrants=["owl/1", "fox/1"]), "schedule", "finalists, got: random/1"),
    "a finalist of nobody": (in_line("final", entrants=["cat/1", "fox/1"]), "schedule", "it contradicts the lines"),
    "a final that begins later": (moved("final", 2), "standings", "expected"),
    "a final that begins earlier": (moved("final", -12), "schedule", "expected finalists"),
    "a final without an end": (without(-2), "schedule", "expected the final to be over"),
    "a match after the final": (moved("decided", -2), "schedule", "expected no match after the final"),
    "two finals": (with_line(23, kind="final", entrants=[], deals=1, reason="x"), "schedule", "expected one final"),
}  # fmt: skip


@pytest.mark.quick(4)
@pytest.mark.parametrize("forgery", FORGERIES_OF_A_FINAL)
def test_a_forgery_of_a_final_is_found(with_final: Path, tmp_path: Path, forgery: str) -> None:
    edit, check, says = FORGERIES_OF_A_FINAL[forgery]
    folder = copy(with_final, tmp_path / "copy")
    edit(folder)
    faults = audit(folder).faults
    assert any(fault.check == check and says in fault.reason for fault in faults), faults


def test_a_season_is_held_against_what_an_author_kept(played: Path, tmp_path: Path) -> None:
    folder = copy(played, tmp_path / "copy")
    noted = tmp_path / COMMITMENT_FILE
    shutil.copy(folder / COMMITMENT_FILE, noted)
    assert audit(folder, noted=noted).faults == ()
    set_in(COMMITMENT_FILE, commitment="00" * 32)(tmp_path)
    assert any("expected the commitment of" in fault.reason for fault in audit(folder, noted=noted).faults)


def test_logs_of_a_match_whose_last_line_is_still_to_come_are_no_fault(played: Path, tmp_path: Path) -> None:
    folder = copy(played, tmp_path / "copy")
    (folder / SECRET_FILE).unlink()
    over = [number for number, line in enumerate(lines_of(folder)) if line["kind"] in ("over", "struck", "closed")]
    without(*over[-4:])(folder)
    found = audit(folder, complete=False)
    assert found.faults == ()
    assert "4 logs are of matches whose end no line tells yet: they were not compared with their lines" in found.notes


def test_lines_that_somebody_saw_and_are_gone_are_missed(played: Path, tmp_path: Path) -> None:
    folder = copy(played, tmp_path / "copy").with_name("cup-2")
    seen = rounds.Noted("cup-2", 9, "00" * 32)
    assert "expected the 9 lines that were noted" in str(audit(folder, complete=False, heads=(seen,)).faults)


def test_results_whose_logs_are_gone_count_as_listed(played: Path, tmp_path: Path) -> None:
    folder = copy(played, tmp_path / "copy")
    log_of(folder, 0).unlink()
    found = audit(folder, complete=False)
    assert found.faults == ()
    assert [note.partition(":")[0] for note in found.notes] == [
        "1 of 16 games have no log here, the first 0",
        "2 of 16 games are void",
        "1 of 8 matches were taken back by the operator",
    ]
    in_row(0, points=0.123)(folder)
    assert {fault.check for fault in audit(folder, complete=False).faults} == {"standings"}


def test_what_is_missing_is_written_again(tmp_path: Path) -> None:
    league = season_kit.closed(tmp_path)
    before = {path: path.read_bytes() for path in (league.published / "seasons").rglob("*.json*")}
    for damage in ("all of it", "a line that was not written whole"):
        if damage == "all of it":
            shutil.rmtree(league.published / "seasons")
        else:
            for path in (league.published / "seasons").rglob("rounds-0.jsonl"):
                path.write_bytes(path.read_bytes()[:-20])
            (league.published / "seasons" / "cup-1" / SECRET_FILE).unlink()
        with open_league(league.database) as store:
            season_kit.publish(store, league)
        assert {path: path.read_bytes() for path in before} == before


def test_a_file_that_contradicts_the_database_stays_and_the_operator_is_told(tmp_path: Path) -> None:
    from arena.league.public.season_files import Rounds

    league = season_kit.cup(tmp_path)
    folder = league.published / "seasons" / "cup-1"
    told: list[str] = []
    with open_league(league.database) as store:
        season_kit.publish(store, league)
        write(folder, [line | {"at": "2020-01-01T00:00:00+00:00"} for line in lines_of(folder)])
        before = (folder / "rounds-0.jsonl").read_bytes()
        [season] = store.seasons.all()
        Rounds(store, league, told.append).write(season)
    assert (folder / "rounds-0.jsonl").read_bytes() == before
    assert "authors will see that it was changed" in told[0]


def test_draws_of_an_open_season_are_checked_by_the_secrets_of_its_deals(tmp_path: Path) -> None:
    league = season_kit.cup(tmp_path)
    with open_league(league.database) as store:
        season_kit.match(store, league, *store.versions.active())
        season_kit.publish(store, league)
    folder = league.published / "seasons" / "cup-1"
    found = audit(folder, complete=False)
    assert (found.faults, found.games, found.complete) == ((), 2, False)
    assert all(examine(str(log), str(folder)).draws_checked for log in logs_of(folder))
    in_line("over", secret="00" * 32)(folder)
    _published_in.cache_clear()
    assert "does not belong to the secret that was revealed" in audit(folder, complete=False).faults[0].reason


@pytest.mark.parametrize("at", ["before the final", "in the final"])
def test_an_open_season_of_arena_0_2_gets_lines_and_goes_on(tmp_path: Path, at: str) -> None:
    league = season_kit.cup(tmp_path)
    folder = league.published / "seasons" / "cup-1"
    with open_league(league.database) as store:
        store.authors.add("anna")
        random, greedy = store.versions.active()
        fox = league_kit.active(store, "fox")
        for one, other in ((fox, random), (random, greedy)):
            season_kit.match(store, league, one, other)
        season_kit.match(store, league, fox, greedy, rated=False)
        league_kit.active(store, "fox", "new")
        season_kit.publish(store, league)
        if at == "in the final":
            store.seasons.begin_final([0, 1], 100)
        season_kit.match(store, league, random, greedy)  # not published yet
        for statement in ("DROP TABLE season_lines", "DELETE FROM _sqlite_migrations WHERE name = '0006_lines'"):
            store._db.execute(statement)
        before = json.loads((folder / COMMITMENT_FILE).read_text())
        opened = old.SeasonOpened(
            tournament="cup-1", season="first", opened=before["created"], digest_before="",
            **{key: before[key] for key in ("commitment", "settings", "settings_sha256")},
        )  # fmt: skip
    shutil.rmtree(folder)
    folder.mkdir()
    publish(folder, old.SEASON_FILE, opened)
    with open_league(league.database) as store:
        season_kit.publish(store, league)
        if at == "in the final":
            season_kit.match(store, league, random, greedy)
            season_kit.publish(store, league)
            store.seasons.end_final("not settled", "a test")
    found = audit(folder, complete=False, noted=folder / old.SEASON_FILE)
    assert (found.faults, found.games) == ((), 10 if at == "in the final" else 8)
    season_kit.close(league)
    assert audit(folder).faults == ()
    assert not (folder / COMMITMENT_FILE).exists(), "what authors have kept is still what is published"


def test_lines_of_a_later_version_are_not_checked(played: Path, tmp_path: Path) -> None:
    folder = copy(played, tmp_path / "copy")
    in_line("opened", format=9, more="x")(folder)
    _published_in.cache_clear()
    found = audit(folder, complete=False)
    assert "with format 9, where this one knows up to 1" in str(found.later)
    assert not {fault.check for fault in found.faults} & {"lines", "standings"}
