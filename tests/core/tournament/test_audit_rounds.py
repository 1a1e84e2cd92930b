"""The audit of a folder whose rounds follow from results: it computes each round again from the logs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.errors import LaterVersion
from arena.core.ratings.running import Rating
from arena.core.record.log import read_log, write_log
from arena.core.record.published import CHANCE
from arena.core.referee.verify import verify
from arena.core.standings.verdicts import Audit
from arena.core.tournament.formats.compare import Compare
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.ladder import Ladder
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from tests.audit_kit import Folder, play, setup

SWISS = setup(Swiss(rounds=3, deals=1), 6, 2)
FORMATS = {
    "swiss": SWISS,
    "swiss of three with byes": setup(Swiss(rounds=2, deals=1), 7, 3),
    "knockout": setup(Knockout(deals=1, third_place=True), 5, 2),
    "knockout of three": setup(Knockout(deals=1), 7, 3),
    "swiss of three, planned as before": setup(Swiss(rounds=2, deals=1, planning=1), 7, 3),
    "knockout of three, planned as before": setup(Knockout(deals=1, planning=1), 7, 3),
    "round-robin in stages": setup(RoundRobin(deals=8), 3, 2),
    "extension in stages": setup(Extension(deals=9, extends="earlier", unchanged=(0, 1)), 3, 2),
    "ladder": setup(Ladder(matches=6), 8, 2),
    "compare": setup(Compare(deals=1, max_deals=4, sprt=(0, 400)), 2, 2),
    "extension": setup(Extension(deals=2, played=1, extends="earlier", unchanged=(0, 1)), 3, 2),
}


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", FORMATS)
def test_a_whole_tournament_keeps_every_promise(tmp_path: Path, name: str) -> None:
    starts = (Rating(30.0, 2.0), Rating(22.0, 3.0), Rating()) if name == "extension" else ()
    folder = Folder(tmp_path, FORMATS[name], starts=starts)
    audit = folder.audit(complete=True, db=True)
    assert audit.faults == ()
    assert audit.complete
    assert audit.games == audit.logs == folder.schedule.total
    assert len(folder.schedule.rounds) > 1


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", FORMATS)
def test_one_that_is_not_finished_has_no_fault_wherever_it_was_stopped(tmp_path: Path, name: str) -> None:
    for games in (1, 4):
        folder = Folder(tmp_path / str(games), FORMATS[name], games=games)
        audit = folder.audit(db=True)
        assert audit.faults == (), games
        assert not audit.complete
        faults = folder.audit(complete=True).faults
        assert {fault.check for fault in faults} == {"schedule", "secret"}


@pytest.fixture(scope="module")
def swiss(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("swiss"), SWISS)


@pytest.fixture
def forged(swiss: Folder) -> Iterator[Folder]:
    """A tournament that may be changed: it is as before afterwards."""
    copy = swiss.logs.with_name("copy")
    shutil.copytree(swiss.logs, copy)
    yield swiss
    shutil.rmtree(swiss.logs)
    copy.rename(swiss.logs)


def named(audit: Audit, check: str, says: str) -> bool:
    return any(fault.check == check and says in fault.reason for fault in audit.faults)


def test_results_from_which_another_pairing_follows_are_found(forged: Folder) -> None:
    """Every log is faultless by itself, since the forger played those games again."""
    for number in (0, 1):
        forged.play(forged.schedule.game(number), upside_down=True)
    assert forged.schedule.game(0).entrants == forged.schedule.game(1).entrants[::-1]
    audit = forged.audit()
    assert named(audit, "bots", "by the schedule it is")
    assert all(int(fault.reason.partition(".jsonl")[0][-6:]) >= 6 for fault in audit.faults), "round 1 is as it was"
    assert any(fault.check == "database" for fault in forged.audit(db=True).faults)


def test_a_game_of_a_later_round_that_others_played_is_found(forged: Folder) -> None:
    game = forged.schedule.game(6)
    others = tuple(entrant for entrant in range(6) if entrant not in game.entrants)[:2]
    forged.play(replace(game, entrants=others))
    audit = forged.audit()
    assert {fault.check for fault in audit.faults} == {"bots"}
    assert all(forged.log(6).name in fault.reason for fault in audit.faults)


def test_a_round_that_does_not_follow_is_found(forged: Folder) -> None:
    """The last round is there, but in the round before a log is missing: nothing can follow from it."""
    forged.log(7).unlink()
    (forged.logs / "secret.json").unlink()
    audit = forged.audit()
    assert len(audit.faults) == 6
    assert named(
        audit,
        "schedule",
        f"{forged.log(12).name}:1: '{forged.log(12).stem}' is of a round that follows from logs that are",
    )


def test_what_cannot_be_read_is_not_said_to_be_missing(forged: Folder) -> None:
    (forged.logs / "secret.json").write_text("{}")
    assert [fault.check for fault in forged.audit(complete=True).faults] == ["commitment"]


def test_a_log_cannot_be_made_one_of_a_version_before(forged: Folder) -> None:
    """Such a log need not prove which forfeits were the machine's, or how often its game was begun."""
    log = read_log(forged.log(0))
    write_log(forged.log(0), [replace(log.header, arena="0.2.0", chance=0, attempt=0), *log.records])
    assert named(forged.audit(), "log", "expected a `chance`, as commitment.json has a `format`, got none")


def test_chance_of_a_later_version_is_not_checked_where_a_log_alone_says_it(forged: Folder, tmp_path: Path) -> None:
    log = read_log(forged.log(0))
    write_log(tmp_path / "a.jsonl", [replace(log.header, chance=CHANCE + 1), *log.records])
    with pytest.raises(LaterVersion, match=f"with chance {CHANCE + 1}, where this one knows up to {CHANCE}"):
        verify(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("was", "forged_as", "says"),
    [
        ('"name": "bot1"', '"name": "bot2"', "expected another name for each entrant"),
        ('"created": "2', '"created": "1', "expected a tournament created on "),
        ('"created": "2', '"created": "x', "expected a tournament created on "),
        ('"format": "swiss"', '"formed": "swiss"', "its settings are no tournament's: unknown format 'None'"),
    ],
)
def test_a_commitment_that_arena_would_not_write_is_found(forged: Folder, was: str, forged_as: str, says: str) -> None:
    path = forged.logs / "commitment.json"
    path.write_text(path.read_text().replace(was, forged_as))
    assert named(forged.audit(), "commitment", says)


def test_a_round_after_the_last_is_found(forged: Folder) -> None:
    game = forged.schedule.game(12)
    forged.play(replace(game, number=18, deal=3))
    audit = forged.audit(complete=True)
    assert [fault.check for fault in audit.faults] == ["schedule"]
    assert named(audit, "schedule", "is no game of the schedule")


def test_a_last_round_that_is_missing_is_found(forged: Folder) -> None:
    for number in range(12, 18):
        forged.log(number).unlink()
    for complete in (True, False):  # the secret is out, so that it is said to be over
        assert named(forged.audit(complete=complete), "schedule", "6 of 18 games of the schedule are missing")
    (forged.logs / "secret.json").unlink()
    assert forged.audit().faults == (), "it may go on"
    assert {fault.check for fault in forged.audit(complete=True).faults} == {"schedule", "secret"}


def test_rounds_that_would_follow_a_forged_end_are_missed(tmp_path: Path) -> None:
    """A knockout whose final is level goes on. Who leaves that out is found."""
    folder = Folder(tmp_path, FORMATS["knockout"])
    last = folder.schedule.rounds[-1]
    folder.play(folder.schedule.game(last.end - 1), upside_down=True)
    audit = folder.audit()
    assert named(audit, "schedule", "games of the schedule are missing")


def test_a_game_with_more_seats_is_found(forged: Folder) -> None:
    more = setup(Swiss(rounds=3, deals=1), 6, 3)
    game = replace(forged.schedule.game(0), entrants=(0, 1, 2))
    play(more.job(forged.tournament, game))
    audit = forged.audit()
    assert named(audit, "schedule", "expected the SHA-256 of what is played")
    assert named(audit, "bots", "expected the number of bots 2, as the tournament has it, got: 3")
