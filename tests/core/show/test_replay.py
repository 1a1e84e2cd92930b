"""A logged game as frames: all of it, and what one seat could know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.errors import LogError
from arena.core.record.log import ActionRecord, Chance, ForfeitRecord, LateRecord, Log, OutcomeRecord, read_log
from arena.core.referee.replay import replay, rules_of
from arena.core.show.replay import Replay
from arena.core.types import Event

Play = Callable[..., Path]

NAMES = ("samurai", "gardener")


@pytest.fixture(scope="module")
def log(logs: dict[str, Log]) -> Log:
    return logs["samurai"]


@pytest.fixture(scope="module")
def race(logs: dict[str, Log]) -> Log:
    return logs["gardener"]


@pytest.fixture(scope="module")
def forfeited(forfeits: dict[str, Log]) -> Log:
    return forfeits["samurai"]


def text(shown: Replay, width: int = 80) -> str:
    return "\n".join(line.plain for index in range(len(shown.frames)) for line in shown.draw(index, width))


def words(shown: Replay) -> str:
    return "\n".join(line.plain for frame in shown.frames for line in (frame.heading, *frame.lines))


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_frame_for_the_start_and_each_decision(name: str, logs: dict[str, Log]) -> None:
    log = logs[name]
    shown = Replay(log)
    decisions = [record for record in log.records if isinstance(record, ActionRecord)]
    assert [frame.turn for frame in shown.frames] == [0] + [record.turn for record in decisions]
    assert shown.turns == range(log.outcome.turns + 1)


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_a_frame_shows_what_the_seat_could_know_then(name: str, seat: int | None, logs: dict[str, Log]) -> None:
    log = logs[name]
    rules = rules_of(log.header, log.source)
    steps = list(replay(log))
    begins = [index for index, step in enumerate(steps) if isinstance(step.record, ActionRecord)]
    states = [steps[begin].before for begin in begins] + [steps[-1].after]
    shown = Replay(log, seat)
    assert len(shown.frames) == len(states)
    for frame, state in zip(shown.frames, states, strict=True):
        seats = range(3) if seat is None else [seat]
        assert frame.views == {eye: rules.view(state, eye) for eye in seats}


@pytest.mark.quick(4)
@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", ["logs", "forfeits"])
def test_nothing_but_the_seat_s_own_events_goes_into_its_frames(
    which: str, name: str, seat: int, request: pytest.FixtureRequest
) -> None:
    """Everything that the seat was not told is taken out of the log or made wrong: nothing changes."""
    log: Log = request.getfixturevalue(which)[name]

    def censored(record: Any) -> Any:
        if isinstance(record, OutcomeRecord):
            return record
        if not isinstance(record, LateRecord):
            record = replace(record, events=[event for event in record.events if event.reaches(seat)])
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


def test_who_was_too_late_is_told_to_that_seat_and_to_all_seeing_eyes(race: Log) -> None:
    late = [record for record in race.records if isinstance(record, LateRecord)]
    assert {record.seat for record in late} == {0, 1, 2}
    for seat in (None, 0, 1, 2):
        seen = [record for record in late if seat in (None, record.seat)]
        lines = [line.plain for frame in Replay(race, seat).frames for line in frame.lines]
        told = [index for index, line in enumerate(lines) if "too late" in line]
        assert [lines[index].partition(" ")[2] for index in told] == [
            f"bot{record.seat} (seat {record.seat}) grabs card {record.action['plays'][0]['card']} too late, "
            f"after {record.used_ns / 1e6:.1f} ms"
            for record in seen
        ]
        assert all(lines[index + 1].startswith("note: seat") for index in told)


def test_who_was_too_late_stands_above_what_was_decided_next(race: Log) -> None:
    frame = next(frame for frame in Replay(race).frames if any("too late" in line.plain for line in frame.lines))
    lines = [line.plain for line in frame.lines]
    late = next(index for index, line in enumerate(lines) if "too late" in line)
    assert any(" seizes card " in line for line in lines[late:])


def test_ties_are_told_to_nobody_but_all_seeing_eyes(race: Log) -> None:
    told = words(Replay(race))
    assert sum(isinstance(record, Chance) and record.tied is not None for record in race.records) == told.count(
        "equally fast; chance put "
    )
    assert "equally fast" not in words(Replay(race, 0))


@pytest.mark.parametrize(
    ("tied", "draw", "sentence"),
    [
        ([0, 2], 0, "seats 0 and 2 were equally fast; chance put 0 first"),
        ([0, 2], 1, "seats 0 and 2 were equally fast; chance put 2 first"),
        ([0, 1, 2], 3, "seats 0, 1 and 2 were equally fast; chance put 1 first, then 2, then 0"),
    ],
)
def test_a_tie_is_told_with_the_order_that_was_drawn(race: Log, tied: list[int], draw: int, sentence: str) -> None:
    at = next(index for index, record in enumerate(race.records) if isinstance(record, ActionRecord))
    tie = Chance(stream="race", n=6, draw=draw, tied=tied, events=[], ms=0)
    records = [record for record in race.records[:at] if isinstance(record, Chance) and record.tied is None]
    shown = Replay(replace(race, records=[*records, tie, *race.records[at:]]))
    assert not any("equally fast" in line.plain for line in shown.frames[0].lines)
    assert shown.frames[1].lines[0].plain == sentence


@pytest.mark.parametrize(
    ("to", "less", "told"),
    [((1, 2), {}, 1), ((0, 1), {}, 2), (None, {}, 2), ((1, 2), {"card": 8}, 2), ((1, 2), {"card": 7}, 2)],
)
def test_an_event_in_two_forms_is_told_once(
    log: Log, to: tuple[int, ...] | None, less: dict[str, Any], told: int
) -> None:
    forms = [Event({"event": "dealt", "card": 7}, to=(0,)), Event({"event": "dealt", **less}, to=to)]
    for events in (forms, forms[::-1]):
        shown = Replay(log)._onlooker
        shown.told = []
        shown.rules = SimpleNamespace(seats=3, fold=lambda view, event: view)  # type: ignore[assignment]
        for event in events:
            shown._take(event)
        assert sum(map(len, shown.told)) == told
        assert {"event": "dealt", "card": 7} in shown.told[-1]


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
        "(Kyoto)",
        "The game is over: ",
    ):
        assert phrase in told


def test_tiles_drawn_in_one_turn_are_told_together(log: Log) -> None:
    for frame in Replay(log).frames:
        takers = [line.plain.split(" takes ")[0] for line in frame.lines if " takes " in line.plain]
        assert len(takers) == len(set(takers))


def test_rounds_are_told_in_words(forfeits: dict[str, Log]) -> None:
    told = words(Replay(forfeits["gardener"]))
    for phrase in (
        "gardener, custom, 3 players, 10+0.1",
        "▲ bot0 (seat 0) begins with card ",
        "Round 1: ",
        " seizes a card, ",
        "(seat 1) forfeits",
        "exited with status 3",
        "The game is over: ",
    ):
        assert phrase in told


def test_a_forfeit_tells_its_reason_to_the_guilty_seat_only(forfeited: Log) -> None:
    guilty = next(record for record in forfeited.records if isinstance(record, ForfeitRecord)).forfeits[0].seat
    for seat in (None, 0, 1, 2):
        told = words(Replay(forfeited, seat))
        assert ("played what it did not hold" in told) == (seat in (None, guilty))
        assert ": illegal action" in told or seat in (None, guilty)


def fits(shown: Replay) -> None:
    for index in range(len(shown.frames)):
        for width in (80, 100):
            for line in shown.draw(index, width):
                assert line.cell_len <= width
                assert line.plain.isprintable()


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_frames_fit_the_terminal_and_hold_no_control_characters(play_log: Play, tmp_path: Path, seats: int) -> None:
    fits(Replay(read_log(play_log(tmp_path / "game.jsonl", seats=seats, ruleset="basic", seed=seats))))


@pytest.mark.quick(1)
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_gardens_fit_the_terminal_too(play_garden: Callable[..., Log], seats: int) -> None:
    fits(Replay(play_garden(seats, "young", target="5", seed=seats)))


def test_a_record_that_does_not_fit_the_game_is_refused_with_its_line(log: Log) -> None:
    at = next(index for index, record in enumerate(log.records) if isinstance(record, ActionRecord))
    for events in ([{"event": "unheard of"}], [{"event": "placed", "seat": 9, "tile": "rice3", "space": 0}], [{}]):
        records = [*log.records]
        records[at] = replace(records[at], events=[Event(event) for event in events])
        with pytest.raises(LogError, match=rf"expected a record that fits the game, got: .*:{at + 2}; `arena verify`"):
            Replay(replace(log, records=records))


def test_an_event_that_cannot_be_told_is_refused_too(race: Log) -> None:
    at = next(index for index, record in enumerate(race.records) if isinstance(record, ActionRecord))
    records = [*race.records]
    event = {"event": "over", "reason": "\x1b[2J", "ranks": [1, 2, 3], "scores": [0, 0, 0]}
    records[at] = replace(records[at], events=[Event(event)])
    with pytest.raises(LogError, match=rf"expected a record that fits the game, got: KeyError: .*:{at + 2}; "):
        Replay(replace(race, records=records))


@pytest.mark.parametrize("draw", [-1, 2])
def test_an_order_that_there_is_not_is_refused_too(race: Log, draw: int) -> None:
    tie = Chance(stream="race", n=2, draw=draw, tied=[0, 2], events=[], ms=0)
    with pytest.raises(LogError, match=r"expected a record that fits the game, got: .*:2; "):
        Replay(replace(race, records=[tie, *race.records]))


def test_a_late_claim_at_the_end_of_a_log_is_not_lost(race: Log) -> None:
    at = next(index for index, record in enumerate(race.records) if isinstance(record, LateRecord))
    end = replace(race.outcome, termination="interrupted", ranks=[])
    last = Replay(replace(race, records=[*race.records[: at + 1], end])).frames[-1].lines
    assert "too late" in last[-3].plain
    assert last[-2].plain.startswith("note: ")
    assert last[-1].plain.startswith("The game was interrupted")


def test_an_interrupted_game_says_so(log: Log) -> None:
    records = [*log.records[:40], replace(log.outcome, termination="interrupted", ranks=[])]
    assert "The game was interrupted" in words(Replay(replace(log, records=records)))


def test_a_forfeit_names_its_seat_and_the_overload_once(forfeited: Log) -> None:
    def late(record: Any) -> Any:
        if not isinstance(record, ForfeitRecord):
            return record
        [forfeit] = record.forfeits
        sentence = f"seat {forfeit.seat} was late (the machine was overloaded: the referee itself ran late)"
        return replace(record, forfeits=[replace(forfeit, sentence=sentence, overloaded=True)])

    log = replace(forfeited, records=[late(record) for record in forfeited.records])
    guilty = next(record for record in log.records if isinstance(record, ForfeitRecord)).forfeits[0].seat
    for seat in (None, guilty, 1 - guilty):
        [line] = [line for line in words(Replay(log, seat)).splitlines() if "overloaded" in line]
        assert line.count(f"seat {guilty}") == line.count("overloaded") == 1
