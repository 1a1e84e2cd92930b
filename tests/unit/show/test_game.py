"""A logged game as frames: all of it, and what one seat could know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.errors import LogError
from arena.record.log import ActionRecord, Chance, ForfeitRecord, Log, OutcomeRecord, read_log
from arena.referee.replay import replay, rules_of
from arena.show.game import Replay

Play = Callable[..., Path]


@pytest.fixture(scope="module")
def log(play_log: Play, tmp_path_factory: pytest.TempPathFactory) -> Log:
    return read_log(play_log(tmp_path_factory.mktemp("logs") / "game.jsonl", seats=3))


@pytest.fixture(scope="module")
def forfeited(play_log: Play, tmp_path_factory: pytest.TempPathFactory) -> Log:
    return read_log(play_log(tmp_path_factory.mktemp("logs") / "game.jsonl", seats=3, forfeit_turn=5))


def text(shown: Replay, width: int = 80) -> str:
    return "\n".join(line.plain for index in range(len(shown.frames)) for line in shown.draw(index, width))


def words(shown: Replay) -> str:
    return "\n".join(line.plain for frame in shown.frames for line in (frame.heading, *frame.lines))


def test_there_is_a_frame_for_the_start_and_each_decision(log: Log) -> None:
    shown = Replay(log)
    decisions = [record for record in log.records if isinstance(record, ActionRecord)]
    assert [frame.turn for frame in shown.frames] == [0] + [record.turn for record in decisions]
    assert shown.turns == range(log.outcome.turns + 1)


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_a_frame_shows_what_the_seat_could_know_then(log: Log, seat: int | None) -> None:
    rules = rules_of(log)
    steps = list(replay(log))
    begins = [index for index, step in enumerate(steps) if isinstance(step.record, ActionRecord)]
    states = [steps[begin].before for begin in begins] + [steps[-1].after]
    shown = Replay(log, seat)
    assert len(shown.frames) == len(states)
    for frame, state in zip(shown.frames, states, strict=True):
        seats = range(3) if seat is None else [seat]
        assert frame.views == {eye: rules.view(state, eye) for eye in seats}


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("which", ["log", "forfeited"])
def test_nothing_but_the_seat_s_own_events_goes_into_its_frames(
    which: str, seat: int, request: pytest.FixtureRequest
) -> None:
    """Everything that the seat was not told is taken out of the log or made wrong: nothing changes."""
    log: Log = request.getfixturevalue(which)

    def reaches(event: dict[str, Any]) -> bool:
        return "only" not in event or seat in event["only"]

    def censored(record: Any) -> Any:
        if isinstance(record, OutcomeRecord):
            return record
        record = replace(record, events=[event for event in record.events if reaches(event)])
        if isinstance(record, Chance):
            return replace(record, draw=-1)
        if isinstance(record, ForfeitRecord):
            forfeits = [
                forfeit if forfeit.seat == seat else replace(forfeit, sentence="hidden") for forfeit in record.forfeits
            ]
            return replace(record, forfeits=forfeits)
        return record if record.seat == seat else replace(record, action={}, note="hidden")

    blind = replace(log, records=[censored(record) for record in log.records])
    assert text(Replay(blind, seat)) == text(Replay(log, seat))


def test_notes_are_shown_to_their_own_seat_and_to_all_seeing_eyes(log: Log) -> None:
    own, everything = words(Replay(log, 1)), words(Replay(log))
    assert "note: seat 1 thinks in turn 2" in own
    assert "note: seat 0" not in own
    assert all(f"note: seat {seat} thinks" in everything for seat in range(3))


def test_hands_are_shown_to_their_own_seat_and_to_all_seeing_eyes(log: Log) -> None:
    assert "5 tiles" not in text(Replay(log)).replace("takes 5 tiles", "")
    hands = [line.plain for line in Replay(log, 1).draw(4, 80) if " tiles " in line.plain and "takes" not in line.plain]
    assert [line[1] for line in hands] == ["▲", "●"]


def test_what_is_told_in_words(log: Log) -> None:
    told = words(Replay(log))
    for phrase in (
        "samurai, standard, 3 players, 10+0.1",
        "Set-up: ▲ greedy (seat 0) chooses a hand",
        "(seat 1) puts a ",
        "(seat 2) places ",
        "(seat 0) captures the ",
        "of Kyoto)",
        "(Edo)",
        "The game is over: ",
    ):
        assert phrase in told


def test_tiles_drawn_in_one_turn_are_told_together(log: Log) -> None:
    for frame in Replay(log).frames:
        takers = [line.plain.split(" takes ")[0] for line in frame.lines if " takes " in line.plain]
        assert len(takers) == len(set(takers))


def test_a_forfeit_tells_its_reason_to_the_guilty_seat_only(forfeited: Log) -> None:
    guilty = next(record for record in forfeited.records if isinstance(record, ForfeitRecord)).forfeits[0].seat
    for seat in (None, 0, 1, 2):
        told = words(Replay(forfeited, seat))
        assert ("played what it did not hold" in told) == (seat in (None, guilty))
        assert ": illegal action" in told or seat in (None, guilty)


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("width", [80, 100])
def test_frames_fit_the_terminal_and_hold_no_control_characters(
    play_log: Play, tmp_path: Path, seats: int, width: int
) -> None:
    shown = Replay(read_log(play_log(tmp_path / "game.jsonl", seats=seats, ruleset="basic", seed=seats)))
    for index in range(len(shown.frames)):
        for line in shown.draw(index, width):
            assert line.cell_len <= width
            assert line.plain.isprintable()


def test_a_record_that_does_not_fit_the_game_is_refused_with_its_line(log: Log) -> None:
    at = next(index for index, record in enumerate(log.records) if isinstance(record, ActionRecord))
    for events in ([{"event": "unheard of"}], [{"event": "placed", "seat": 9, "tile": "rice3", "space": 0}], [{}]):
        records = [*log.records]
        records[at] = replace(records[at], events=events)
        with pytest.raises(LogError, match=rf"expected a record that fits the game, got: .*:{at + 2}; `arena verify`"):
            Replay(replace(log, records=records))


def test_an_interrupted_game_says_so(log: Log) -> None:
    records = [*log.records[:40], replace(log.outcome, termination="interrupted", ranks=[])]
    assert "The game was interrupted" in words(Replay(replace(log, records=records)))
