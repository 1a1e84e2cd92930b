"""CPU time of bots while others are to move. Bots in memory, a clock that jumps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from referee_kit import first_legal, make_job, on_turn

from arena.core.catalogue import rules_of
from arena.core.errors import ReplayMismatch
from arena.core.record.log import ForfeitRecord, OutcomeRecord, read_log, write_log
from arena.core.referee.game import Game
from arena.core.referee.table import OffTurn
from arena.core.referee.verify import verify
from arena.core.types import NS_PER_MS, GameResult, Level
from arena.core.wire.messages import Request
from tests.memory_link import CRASH, MemoryBot, MemoryLink, Reply, answer


class AskedLink(MemoryLink):
    """Notes how it was asked for CPU time."""

    def __init__(self, bots: list[Any]) -> None:
        super().__init__(bots)
        self.cpu = lambda seat, now_ns: now_ns if seat == 0 else 0
        self.looks: list[str] = []

    def cpu_ns(self, seat: int) -> int:
        self.looks.append("all")
        return super().cpu_ns(seat)

    def known_cpu_ns(self, seat: int) -> int:
        self.looks.append("known")
        return super().known_cpu_ns(seat)


def thinks(ms: int) -> MemoryBot:
    """A bot that answers after so long."""
    return MemoryBot(lambda request: [answer(request, first_legal(request), after_ms=ms)])


def played(folder: Path, link: MemoryLink, level: Level = Level.ISOLATED) -> GameResult:
    job = make_job(folder, 2, level=level)
    return Game(job, rules_of(job.settings), link).play()


def outcome(folder: Path) -> OutcomeRecord:
    return read_log(folder / "test-000000.jsonl").outcome


def test_what_a_bot_uses_while_its_opponent_thinks_is_counted(tmp_path: Path) -> None:
    link = AskedLink([thinks(2), thinks(40)])  # seat 0 computes all the time
    result = played(tmp_path, link)
    busy, idle = result.seats
    assert busy.off_turn_cpu_ms == idle.total_ms - 2, "they choose their hands at the same time"
    assert busy.off_turn_cpu_ms > 10 * busy.total_ms, "what it used for its own decisions is not counted"
    assert idle.off_turn_cpu_ms == 0
    assert outcome(tmp_path).off_turn_cpu_ms == [busy.off_turn_cpu_ms, 0]
    verify(tmp_path / "test-000000.jsonl")


def test_who_computes_only_in_its_own_turn_has_used_nothing(tmp_path: Path) -> None:
    result = played(tmp_path, AskedLink([thinks(40), thinks(0)]))
    assert result.seats[0].off_turn_cpu_ms == 0
    assert result.seats[0].total_ms >= 1_000


def test_nothing_is_measured_or_written_of_trusted_bots(tmp_path: Path) -> None:
    link = AskedLink([thinks(2), thinks(40)])
    result = played(tmp_path, link, Level.TRUSTED)
    assert [seat.off_turn_cpu_ms for seat in result.seats] == [None, None]
    assert b"off_turn_cpu_ms" not in (tmp_path / "test-000000.jsonl").read_bytes()
    assert link.looks == []


def test_the_play_digest_does_not_depend_on_it(tmp_path: Path) -> None:
    digests = set()
    for level in (Level.TRUSTED, Level.ISOLATED):
        (tmp_path / level).mkdir()
        digests.add(played(tmp_path / level, AskedLink([thinks(2), thinks(2)]), level).play_digest)
    assert len(digests) == 1


def test_nothing_is_counted_after_a_forfeit(tmp_path: Path) -> None:
    """One of three seats crashes in its first turn; the others play on for long."""

    def crash(request: Request) -> list[Reply]:
        return [Reply(CRASH)]

    link = AskedLink([MemoryBot(on_turn(1, crash)), thinks(40), thinks(40)])
    job = make_job(tmp_path, 3, level=Level.ISOLATED)
    result = Game(job, rules_of(job.settings), link).play()
    assert result.seats[0].forfeit is not None
    records = read_log(tmp_path / "test-000000.jsonl").records
    [forfeited] = [record for record in records if isinstance(record, ForfeitRecord)]
    assert result.seats[0].off_turn_cpu_ms is not None
    assert 0 < result.seats[0].off_turn_cpu_ms <= forfeited.ms < outcome(tmp_path).ms / 2


def test_processes_are_looked_for_only_after_a_long_time(tmp_path: Path) -> None:
    link = AskedLink([])
    measured = OffTurn(link, 0)
    measured.begin()
    measured.asked()
    assert link.looks == ["all", "known"]
    measured.answered(9 * NS_PER_MS)
    link.advance(9)
    measured.asked()
    assert link.looks[2:] == ["known", "known"]
    measured.answered(10 * NS_PER_MS)
    link.advance(10)
    measured.asked()
    assert link.looks[4:] == ["all", "all"]
    assert measured.cpu_ms == 19
    measured.asked()
    assert measured.cpu_ms == 19, "outside the game nothing is counted"


def test_a_log_without_a_figure_for_each_seat_is_refused(tmp_path: Path) -> None:
    played(tmp_path, AskedLink([thinks(0), thinks(0)]))
    path = tmp_path / "test-000000.jsonl"
    log = read_log(path)
    write_log(path, [log.header, *log.records[:-1], replace(log.outcome, off_turn_cpu_ms=[0])])
    with pytest.raises(ReplayMismatch, match="off_turn_cpu_ms of each of 2 seats"):
        verify(path)
