"""Races under the referee: who is served, who is asked again, what the log holds of it, and that it replays."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from referee_kit import SECRET, first_legal, make_job, on_turn, referee, revealed

from arena.core.catalogue import rules_of
from arena.core.errors import ReplayMismatch
from arena.core.record.log import (
    ActionRecord,
    Chance,
    ForfeitRecord,
    LateRecord,
    Record,
    play_digest,
    read_log,
    write_log,
)
from arena.core.referee.game import Game
from arena.core.referee.verify import verify
from arena.core.types import NS_PER_MS, Termination
from arena.core.wire.messages import Request
from arena.core.wire.session import State
from tests.memory_link import MemoryBot, MemoryLink, Reply, answer

Decide = Callable[[Request], Any]


def grab(*times_ms: float, card: Callable[[list[int]], int] = min) -> Decide:
    """Grab a card after so many milliseconds, the lowest unless told otherwise; the last time holds ever after."""
    times = itertools.chain(times_ms, itertools.repeat(times_ms[-1]))

    def decide(request: Request) -> Any:
        if request.kind != "seize" or request.legal is None:
            return first_legal(request)
        action = {"plays": [{"card": card(request.legal[0]["card"])}]}
        return [answer(request, action, after_ms=next(times))]

    return decide


def race(folder: Path, *decide: Decide, **options: Any) -> tuple[Any, list[Record], list[MemoryBot]]:
    """A game of races; its result, its log and the bots."""
    bots = [MemoryBot(one) for one in decide]
    result, _ = referee(folder, bots, rules="gardener", ruleset="race", **options)
    return result, read_log(folder / result.log).records, bots


def first_race(records: list[Record]) -> list[Record]:
    """The records of the first race that are of claims."""
    end = next(at for at, record in enumerate(records) if getattr(record, "kind", "seize") != "seize")
    return [record for record in records[:end] if not isinstance(record, Chance) or record.tied]


def asked(bot: MemoryBot) -> list[Request]:
    """What a bot was asked to seize."""
    return [message for message in bot.heard if isinstance(message, Request) and message.kind == "seize"]


def test_the_faster_has_the_card_and_the_other_is_asked_again(tmp_path: Path) -> None:
    """§9-9: with a new number and what is left, and nothing is held against it."""
    _, records, bots = race(tmp_path, grab(5), grab(2))
    served, late, again = first_race(records)
    assert isinstance(served, ActionRecord)
    assert isinstance(late, LateRecord)
    assert isinstance(again, ActionRecord)
    assert [served.seat, late.seat, again.seat] == [1, 0, 0]
    assert late.action == served.action != again.action
    assert [served.used_ns, late.used_ns, again.used_ns] == [2 * NS_PER_MS, 5 * NS_PER_MS, 5 * NS_PER_MS]
    first, second = asked(bots[0])[:2]
    assert second.id == first.id + 1
    assert first.legal is not None
    assert second.legal == [{"card": [again.action["plays"][0]["card"]]}]


def test_nobody_is_late_where_they_want_different_cards(tmp_path: Path) -> None:
    _, records, _ = race(tmp_path, grab(2, card=max), grab(2, card=min))
    assert not any(isinstance(record, LateRecord) for record in records)


def test_seats_that_tied_and_were_late_are_not_tied_when_they_claim_again(tmp_path: Path) -> None:
    """Three are equally fast and want the same card; the two that miss it need different times for the next."""
    _, records, _ = race(tmp_path, grab(2, 9), grab(2, 5), grab(2, 12))  # `race` verifies the log
    tie, *served = first_race(records)
    assert isinstance(tie, Chance)
    assert tie.tied == [0, 1, 2]
    assert sum(isinstance(record, LateRecord) for record in served[:3]) == 2


@pytest.mark.long
def test_equal_times_are_for_chance(tmp_path: Path) -> None:
    """§9-8: the same race on many deals: chance puts now this seat first, now that."""
    first = set()
    for deal in range(8):
        folder = tmp_path / str(deal)
        folder.mkdir()
        _, records, _ = race(folder, grab(3), grab(3.9), deal=deal)
        tie, served, late, again = first_race(records)
        assert isinstance(tie, Chance)
        assert (tie.stream, tie.n, tie.tied) == ("race", 2, [0, 1])
        assert isinstance(late, LateRecord)
        assert isinstance(served, ActionRecord)
        assert [served.seat, late.seat] == [tie.draw, 1 - tie.draw]
        assert isinstance(again, ActionRecord)
        first.add(served.seat)
    assert first == {0, 1}


def test_the_window_is_for_the_operator_to_choose(tmp_path: Path) -> None:
    _, records, _ = race(tmp_path, grab(3), grab(3.9), race_window_ms=0.5)
    assert not any(isinstance(record, Chance) and record.tied for record in records)


def test_a_late_seat_is_before_one_that_still_thinks(tmp_path: Path) -> None:
    """§9-8: its time runs on: 4 ms, then 4 more, are less than 10."""
    _, records, _ = race(tmp_path, grab(1), grab(4), grab(10))
    outcomes = [(record.seat, isinstance(record, LateRecord)) for record in first_race(records)]  # type: ignore[union-attr]
    assert outcomes == [(0, False), (1, True), (1, False), (2, True), (2, False)]


def test_five_seats_that_want_the_same_are_all_served(tmp_path: Path) -> None:
    result, records, _ = race(tmp_path, *(grab(1) for _ in range(5)))
    assert result.termination == Termination.FINISHED
    assert sum(isinstance(record, LateRecord) for record in first_race(records)) == 4 + 3 + 2 + 1


def test_time_for_being_late_is_charged(tmp_path: Path) -> None:
    _, _, bots = race(tmp_path, grab(5), grab(2), time="10+0.1")
    first, second = asked(bots[0])[:2]
    assert first.clock.bank_ms == 10_000
    assert second.clock.bank_ms == 10_000 - 5, "there is no increment for a late claim"
    plant = next(message for message in bots[0].heard if isinstance(message, Request) and message.kind == "plant")
    assert plant.clock.bank_ms == 10_000 - 5 - 5 + 100


@pytest.mark.parametrize("fault", ["never there", "insists", "silent", "unreadable"])
def test_a_fault_in_a_race_is_a_forfeit_and_the_others_race_on(tmp_path: Path, fault: str) -> None:
    mine: dict[int, int] = {}

    def insist(request: Request) -> list[Reply]:
        assert request.legal is not None
        card = mine.setdefault(0, min(request.legal[0]["card"]))
        return [answer(request, {"plays": [{"card": card}]}, after_ms=5)]

    faults: dict[str, tuple[Decide, Termination]] = {
        "never there": (lambda r: {"plays": [{"card": 999}]}, Termination.ILLEGAL_ACTION),
        "insists": (insist, Termination.ILLEGAL_ACTION),
        "silent": (lambda r: [], Termination.TIMEOUT),
        "unreadable": (lambda r: {"plays": [{"card": "7"}]}, Termination.MALFORMED),
    }
    misbehave, code = faults[fault]
    result, records, _ = race(
        tmp_path, lambda r: misbehave(r) if r.kind == "seize" else first_legal(r), grab(1), grab(4)
    )
    forfeit = result.seats[0].forfeit
    assert forfeit is not None
    assert forfeit.code == code
    assert forfeit.turn == 1
    assert result.seats[0].rank == 3
    assert result.termination == Termination.FINISHED
    at = next(at for at, record in enumerate(records) if isinstance(record, ForfeitRecord))
    assert [record.seat for record in records[:at] if isinstance(record, ActionRecord)] == [1, 2]
    assert sum(isinstance(record, LateRecord) for record in records[:at]) == (2 if fault == "insists" else 1)


@pytest.mark.long
def test_a_fault_while_a_claim_waits_counts_when_the_seat_is_next_asked(tmp_path: Path) -> None:
    """The second answer comes while the first waits for chance; on these deals chance puts the seat first, or last."""

    def twice(request: Request) -> list[Reply]:
        assert request.legal is not None
        card = {"plays": [{"card": min(request.legal[0]["card"])}]}
        return [answer(request, card, after_ms=5), answer(request, card, after_ms=5.2)]

    before = set()
    for deal in range(6):
        folder = tmp_path / str(deal)
        folder.mkdir()
        bots = (lambda r: twice(r) if r.kind == "seize" else first_legal(r)), grab(4.5), grab(100)
        result, records, _ = race(folder, *bots, deal=deal)
        forfeit = result.seats[0].forfeit
        assert forfeit is not None
        assert forfeit.code == Termination.PROTOCOL_VIOLATION
        at = next(at for at, record in enumerate(records) if isinstance(record, ForfeitRecord))
        mine = [record for record in records[:at] if getattr(record, "seat", None) == 0]
        assert len(mine) == 1
        before.add((type(mine[0]), getattr(records[at - 1], "kind", "")))
    assert before == {(LateRecord, "seize"), (ActionRecord, "plant")}


def test_failing_in_a_race_of_two_ends_the_game(tmp_path: Path) -> None:
    result, _, _ = race(tmp_path, grab(1), on_turn(1, first_legal), lambda r: [])
    assert result.seats[2].forfeit is not None
    result, _, _ = race(tmp_path, grab(1), lambda r: [] if r.kind == "seize" else first_legal(r))
    assert result.termination == Termination.TIMEOUT
    assert result.ranks == (1, 2)


def test_who_watches_is_told_all_and_only_while_nobody_is_asked(tmp_path: Path) -> None:
    link = MemoryLink([MemoryBot(grab(1)), MemoryBot(grab(1)), MemoryBot(grab(9))])
    job = make_job(tmp_path, 3, rules="gardener", ruleset="race")
    watched: list[Any] = []

    def watch(record: Any) -> None:
        assert not any(link.session(seat).state == State.ASKED for seat in range(3))
        watched.append(record)

    rules = rules_of(job.settings)
    result = Game(job, rules, link, watch).play()
    log = read_log(tmp_path / result.log)
    assert watched == [log.header, *log.records]


# What is altered must be noticed


def retold(folder: Path, change: Callable[[list[Record]], list[Record]]) -> Path:
    """A log of races in which something was changed, all its sums and its digest made right again."""
    result, records, _ = race(folder, grab(3, 5), grab(3, 4), grab(3.5, 9))
    log = read_log(folder / result.log)
    records = change(list(records))
    outcome = replace(records[-1], play_digest=play_digest([log.header, *records]))
    write_log(folder / result.log, [log.header, *records[:-1], outcome])
    return folder / result.log


def at_first(kind: type, records: list[Record]) -> int:
    return next(at for at, record in enumerate(records) if isinstance(record, kind) and getattr(record, "tied", 1))


def test_a_log_retold_as_it_was_is_good(tmp_path: Path) -> None:
    assert verify(retold(tmp_path, lambda records: records), revealed(SECRET)).draws_checked


def other_order(records: list[Record]) -> list[Record]:
    at = at_first(Chance, records)
    tie = records[at]
    assert isinstance(tie, Chance)
    records[at] = replace(tie, draw=(tie.draw + 1) % tie.n)
    return records


def lonely_tie(records: list[Record]) -> list[Record]:
    at = at_first(Chance, records)
    tie = records[at]
    assert isinstance(tie, Chance)
    assert tie.tied is not None
    records[at] = replace(tie, tied=tie.tied[:1], n=1, draw=0)
    return records


def tie_elsewhere(records: list[Record]) -> list[Record]:
    records.insert(0, records[at_first(Chance, records)])
    return records


def late_forgotten(records: list[Record]) -> list[Record]:
    del records[at_first(LateRecord, records)]
    return records


def late_invented(records: list[Record]) -> list[Record]:
    at = at_first(ActionRecord, records)
    served = records[at]
    assert isinstance(served, ActionRecord)
    late = LateRecord(seat=served.seat, kind="seize", turn=1, action=served.action, used_ns=1, ms=1)
    records.insert(at, late)
    return records


def late_for_nothing(records: list[Record]) -> list[Record]:
    at = at_first(LateRecord, records)
    late = records[at]
    assert isinstance(late, LateRecord)
    records[at] = replace(late, action={"plays": [{"card": 999}]})
    return records


def late_as_a_plant(records: list[Record]) -> list[Record]:
    at = at_first(LateRecord, records)
    late = records[at]
    assert isinstance(late, LateRecord)
    records[at] = replace(late, kind="plant")
    return records


@pytest.mark.parametrize(
    "change", [other_order, lonely_tie, tie_elsewhere, late_forgotten, late_invented, late_for_nothing, late_as_a_plant]
)
def test_an_altered_race_is_noticed_without_the_secret(
    tmp_path: Path, change: Callable[[list[Record]], list[Record]]
) -> None:
    path = retold(tmp_path, change)
    with pytest.raises(ReplayMismatch):
        verify(path)
