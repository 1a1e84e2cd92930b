"""Games that are lost because the machine is overloaded: they count and are marked, or they are void for good."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from arena.cli import cli
from arena.core.catalogue import make_settings, rules_of
from arena.core.link.bots import BotSpec
from arena.core.record.log import ForfeitRecord, read_log, write_log
from arena.core.record.receipts import receipts_of
from arena.core.referee.game import Game
from arena.core.referee.job import Job
from arena.core.standings.audit import Auditor
from arena.core.standings.closing import close
from arena.core.standings.examined import examine
from arena.core.standings.report import report
from arena.core.standings.verdicts import Audit
from arena.core.store.finding import Wanted, open_finder
from arena.core.store.records import Played
from arena.core.store.store import Store, open_reader, open_store
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from arena.core.tournament.plan import Begun, begin
from arena.core.tournament.planner import schedule_of
from arena.core.tournament.runner import Runner, crowded, overload
from arena.core.tournament.settings import OnOverload, Settings, Setup, enter
from arena.core.tournament.steering import Directions
from arena.core.types import NS_PER_MS, GameResult, Level, Termination
from arena.core.wire.messages import Request
from tests import instant
from tests.memory_link import MemoryBot, MemoryLink, Reply, answer
from tests.referee_kit import first_legal

SPECS = tuple(BotSpec(name=f"bot{n}", version="1", command=("x",), folder="/", digest=f"{n:x}" * 64) for n in range(5))


class Late(MemoryLink):
    """A machine on which the referee wakes late, and so does seat 0's bot."""

    def receive(self, until_ns: int) -> Any:
        self.lateness_ns = 80 * NS_PER_MS
        return super().receive(until_ns)


def play(job: Job) -> GameResult:
    """Plays a game; in the first of each three, seat 0 is late on an overloaded machine."""
    is_late = int(job.game.rpartition("-")[2]) % 3 == 0

    def decide(seat: int) -> Callable[[Request], list[Reply]]:
        silent = is_late and seat == 0
        return lambda request: [] if silent else [answer(request, first_legal(request), after_ms=1 + seat)]

    link = (Late if is_late else MemoryLink)([MemoryBot(decide(seat)) for seat in range(len(job.bots))])
    return Game(job, rules_of(job.settings), link).play()


def settings(format: Format, on_overload: OnOverload, entrants: int = 3) -> Settings:
    game = make_settings("samurai", 2, ruleset="basic")
    return Settings(game=game, format=format, on_overload=on_overload, seed="late", bots=enter(SPECS[:entrants]))


def run(store: Store, root: Path, setting: Settings) -> tuple[Begun, list[Played]]:
    setup = Setup(settings=setting, specs=SPECS[: len(setting.bots)], refs=())
    begun = begin(store, setting, setup.specs, root / "logs")
    runner = Runner(
        store,
        begun.tournament,
        schedule_of(store, begun.tournament, setting),
        lambda game: setup.job(begun.tournament, game),
        play,
        instant.inline,
        Directions(1),
        ahead=False,
        on_overload=setting.on_overload,
    )
    played = list(runner.run())
    close(store, begun.tournament)
    return begun, played


def audit(root: Path, begun: Begun) -> Audit:
    with open_reader(root / "arena.db") as reader:
        auditor = Auditor(Path(begun.tournament.logs), reader)
        for log in sorted(Path(begun.tournament.logs).glob("*.jsonl")):
            auditor.add(examine(str(log)))
        return auditor.result(complete=True)


def test_by_default_such_a_loss_counts_and_is_marked(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        begun, played = run(store, tmp_path, settings(RoundRobin(deals=1), "rate"))
        lost = [one for one in played if overload(one.result)]
        assert [one.game.number for one in lost] == [0, 3]
        assert all(one.void == "" for one in played)
        assert store.done(begun.tournament.id) == len(played) == 6
        assert [forfeit.overloaded for _, forfeit in store.forfeits(begun.tournament.id)] == [True, True]
    assert audit(tmp_path, begun).faults == ()


@pytest.mark.parametrize("format", [RoundRobin(deals=1), Swiss(rounds=2, deals=1), Knockout(deals=1)])
def test_a_void_game_is_not_rated_and_not_played_again_and_an_audit_finds_the_same(
    tmp_path: Path, format: Format
) -> None:
    with open_store(tmp_path / "arena.db") as store:
        begun, played = run(store, tmp_path, settings(format, "void"))
        id = begun.tournament.id
        numbers = [one.game.number for one in played]
        assert numbers == list(range(len(numbers))), "each game is played once"
        void = {number for number in numbers if number % 3 == 0}
        assert {one.game.number for one in played if one.void} == void
        kept = store._db.execute("SELECT number FROM games WHERE status = 'void' AND log IS NOT NULL")
        assert {number for (number,) in kept} == void
        assert {int(log.partition(".")[0][-6:]) for log in store.logs(id)} == set(numbers) - void
        assert sum(tally.games for tally in store.tallies(id)) == 2 * (len(numbers) - len(void))
        assert store.tournament(id).rated == len(numbers)
        assert list(store.forfeits(id)) == []
    assert audit(tmp_path, begun).faults == ()


@pytest.fixture
def void(tmp_path: Path) -> Begun:
    with open_store(tmp_path / "arena.db") as store:
        return run(store, tmp_path, settings(RoundRobin(deals=1), "void"))[0]


def test_it_is_found_with_its_reason_its_bots_and_its_log(tmp_path: Path, void: Begun) -> None:
    with open_finder(tmp_path / "arena.db") as finder:
        found = finder.void(Wanted(tournament=void.tournament.id))
        assert [row["number"] for row in found] == [3, 0]
        first = found[1]
        assert first["bots"] == ["bot0", "bot1"]
        assert "seat 0 did not answer in time" in first["reason"]
        assert "overloaded" in first["reason"]
        assert Path(first["log"]).exists()
        assert [row["number"] for row in finder.void(Wanted(), 1)] == [3]
        one, other = found[0]["bots"]
        assert finder.void(Wanted(bot=other, against=one)) == [row for row in found if {one, other} == {*row["bots"]}]
        assert finder.void(Wanted(bot="nobody")) == []
        assert finder.void(Wanted(outcome="lost")) == [], "it has no result"


def test_an_audit_finds_that_the_database_has_another_log_of_a_void_game(tmp_path: Path, void: Begun) -> None:
    with closing(sqlite3.connect(tmp_path / "arena.db")) as connection, connection:
        connection.execute("UPDATE games SET log_sha256 = 'ff' WHERE number = 3")
    [fault] = audit(tmp_path, void).faults
    assert fault.check == "database"
    assert f"games, id {void.tournament.id}-000003: expected log_sha256 " in fault.reason


def test_a_log_whose_mark_was_removed_counts_and_the_database_contradicts_it(tmp_path: Path, void: Begun) -> None:
    path = sorted(Path(void.tournament.logs).glob("*.jsonl"))[0]
    log = read_log(path)
    records = [
        replace(record, forfeits=[replace(forfeit, overloaded=False) for forfeit in record.forfeits])
        if isinstance(record, ForfeitRecord)
        else record
        for record in log.records
    ]
    write_log(path, [log.header, *records])
    faults = [found.reason for found in audit(tmp_path, void).faults]
    assert any("the forfeits, with `overloaded` and `denied_ms`, give seat" in reason for reason in faults)
    outcome = log.outcome
    found = receipts_of(log.header, records, outcome.termination, outcome.ranks, outcome.scores)
    receipts = [receipt.logged for receipt in found if receipt is not None]
    write_log(path, [log.header, *records[:-1], replace(outcome, receipts=receipts)])
    faults = [found.reason for found in audit(tmp_path, void).faults]
    assert any("is void, and by its log it counts" in reason for reason in faults)


def test_it_is_said_how_many_games_are_void_and_whose(tmp_path: Path, void: Begun) -> None:
    said = "2 games are void, lost while the machine was overloaded by: bot0 "
    assert audit(tmp_path, void).notes[0].startswith(said)
    with open_reader(tmp_path / "arena.db") as reader:
        document, _ = report(reader, void.tournament.id)
    assert document.void == audit(tmp_path, void).notes[0]
    path = sorted(Path(void.tournament.logs).glob("*.jsonl"))[0]
    log = read_log(path)
    write_log(path, [replace(log.header, chance=0), *log.records])  # as before 0.3.0, whatever version it claims
    assert audit(tmp_path, void).notes[1].startswith("of 1 of them no receipt says so")


def test_an_audit_finds_games_of_another_level(tmp_path: Path, void: Begun) -> None:
    path = sorted(Path(void.tournament.logs).glob("*.jsonl"))[1]
    log = read_log(path)
    write_log(path, [replace(log.header, level=Level.STRICT), *log.records])
    faults = [found.reason for found in audit(tmp_path, void).faults if found.check == "bots"]
    assert [reason.partition(": ")[2] for reason in faults] == [
        "expected the level trusted, as the tournament has it, got: strict"
    ]


# The warning


@pytest.mark.parametrize(
    ("games", "each", "cores", "most"),
    [(1, 1, 2, None), (3, 1, 2, 2), (1, 1, 1, None), (1, 2, 2, None), (2, 2, 2, 1), (3, 3, 8, 2), (1, 4, 2, 0)],
)
def test_the_operator_is_warned_if_bots_have_to_wait_for_a_core(
    games: int, each: int, cores: int, most: int | None
) -> None:
    warning = crowded(games, each, cores)
    assert bool(warning) == (most is not None)
    if most:
        assert f"use --concurrency {most}," in warning
        assert not crowded(most, each, cores)
    elif warning:
        assert "no --concurrency helps" in warning


def test_only_what_is_marked_is_an_overload() -> None:
    late = instant.forfeit(1)
    assert late.code is Termination.TIMEOUT
    result = GameResult(
        game="g",
        termination=Termination.TIMEOUT,
        seats=(),
        turns=1,
        actions=1,
        seconds=1.0,
        play_digest="",
        log="",
        log_sha256="",
    )
    seat = instant.SeatResult(rank=1, decisions=1, total_ms=1, max_ms=1)
    assert overload(replace(result, seats=(seat, replace(seat, forfeit=late)))) == ""
    assert (
        overload(replace(result, seats=(seat, replace(seat, forfeit=replace(late, overloaded=True))))) == late.sentence
    )


def test_people_and_scripts_are_shown_void_games_below_the_others(tmp_path: Path, void: Begun) -> None:
    words = ["games", "--db", str(tmp_path / "arena.db")]
    table = CliRunner().invoke(cli, words).stdout
    assert f"{void.tournament.id}-000001" in table
    assert f"\n{void.tournament.id}-000000: void (bot0, bot1): seat 0 did not answer in time" in table
    document = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert [row["number"] for row in document["void"]] == [3, 0]
    assert len(document["games"]) == 4
    assert "No game is like that" in CliRunner().invoke(cli, [*words, "--slow", "1e9"]).stderr
