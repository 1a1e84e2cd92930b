"""What counts as a race, and who won it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from arena.core.record.log import ActionRecord, Chance, LateRecord, Log, Record


@pytest.fixture
def tally(benchmark_module: Callable[[str], Any]) -> Any:
    return benchmark_module("race").Tally()


def seized(seat: int, card: int) -> Record:
    return ActionRecord(
        seat=seat, kind="seize", turn=1, action={"plays": [{"card": card}]}, events=[], used_ns=1_000_000, ms=1
    )


def late(seat: int, card: int) -> Record:
    return LateRecord(seat=seat, kind="seize", turn=1, action={"plays": [{"card": card}]}, used_ns=1_000_000, ms=1)


def planted() -> Iterator[Record]:
    for seat in (0, 1):
        yield ActionRecord(seat=seat, kind="plant", turn=1, action={"plays": []}, events=[], used_ns=1_000_000, ms=1)


def drawn(tied: list[int] | None = None) -> Record:
    return Chance(stream="race" if tied else "deck", n=2, draw=0, tied=tied, events=[], ms=1)


def test_races_of_a_game(tally: Any) -> None:
    records = [
        *[drawn(), drawn(), seized(0, 5), late(1, 5), seized(1, 9), *planted()],
        *[drawn(), drawn(), drawn([0, 1]), seized(1, 3), late(0, 3), seized(0, 4), *planted()],
        *[drawn(), drawn(), seized(1, 6), late(0, 6), seized(0, 7), *planted()],
    ]
    tally.add(Log("test", None, records, ""))
    assert (tally.races, tally.won, tally.tied) == (3, 1, 1)


def test_only_a_card_that_both_wanted_is_a_race(tally: Any) -> None:
    records = [drawn(), drawn(), drawn([0, 1]), seized(0, 5), seized(1, 9), *planted()]
    tally.add(Log("test", None, records, ""))
    assert (tally.races, tally.won, tally.tied) == (0, 0, 0)
