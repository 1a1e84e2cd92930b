"""The data of a page: what changed folds to what is seen, and no eyes see what they must not."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from golden.logs import FOLDER
from kit import Table, tables
from msgspec.structs import replace

from arena.core.errors import LogError
from arena.core.record.log import ActionRecord, Chance, ForfeitRecord, LateRecord, Log, Record, read_log
from arena.core.show.drawing import Drawing
from arena.core.show.presenter import Presenter, presenter
from arena.core.show.replay import Replay
from arena.core.show.seats import EVERYBODY
from arena.core.types import Event, Payload
from arena.pages import frames as module
from arena.pages.frames import MOST_NOTE, MOST_NOTES, Camera, film, folded, mark_slow
from arena.pages.game_page import game_page

LIMIT = 500_000  # bytes that a page may have


def data_of(log: Log, seat: int | None = None) -> Payload:
    """What a page has: JSON, as it was read."""
    data: Payload = msgspec.json.decode(msgspec.json.encode(film(log, seat)[0]))
    return data


def plainly(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def drawing_of(log: Log, seat: int | None, shown: Replay) -> Drawing:
    eyes = range(log.header.settings.players) if seat is None else (seat,)
    rules = shown._onlooker.rules
    drawing = presenter(rules.name)(log.header, rules, eyes).drawing()
    drawing.plan(event for frame in shown.frames for event in frame.events)
    return drawing


@pytest.mark.quick(2, 3)
def test_what_changed_folds_to_what_each_pair_of_eyes_sees(log: Log) -> None:
    """By another way: a replay for each pair of eyes, which folds the game anew, drawn frame by frame."""
    data = data_of(log)
    scenes = folded(data)
    players = log.header.settings.players
    assert data["eyes"] == ["all", *map(str, range(players))]
    for eye in data["eyes"]:
        seat = None if eye == "all" else int(eye)
        shown = Replay(log, seat)
        drawing = drawing_of(log, seat, shown)
        assert len(shown.frames) == len(data["frames"])
        for at, frame in enumerate(shown.frames):
            assert scenes[eye][at] == plainly(drawing.scene(frame.views, frame.events)), (eye, at)


@pytest.mark.quick(2, 3)
def test_every_sentence_of_the_replay_is_told(log: Log) -> None:
    data = data_of(log)
    for eye in data["eyes"]:
        shown = Replay(log, None if eye == "all" else int(eye))
        for frame, made in zip(shown.frames, data["frames"], strict=True):
            words = made.get("x", {}).get(eye, made["w"])
            said = [data["strings"][number] for key in "fln" for number in words.get(key, ())]
            assert len(said) == len(frame.lines)
            for line in frame.lines:
                facts = line.plain.removeprefix("note: ")
                for seat, name in enumerate(shown._onlooker.seats.names):
                    facts = facts.replace(f"{name} (seat {seat})", name)
                assert facts in said


def test_deltas_are_small(samurai: Log) -> None:
    data = data_of(samurai)
    full = sum(len(msgspec.json.encode(scene)) for scenes in folded(data).values() for scene in scenes)
    assert len(msgspec.json.encode(data["frames"])) < full / 8


@pytest.mark.quick(2, 3)
def test_every_symbol_that_is_placed_is_there(log: Log) -> None:
    data = data_of(log)
    for scene in folded(data).values():
        for sprites in scene:
            for key, value in sprites.items():
                names = [value[1]] if key[0] != "#" else [] if isinstance(value, str) else value
                for name in names:
                    assert (name if isinstance(name, str) else name[0]) in {*data["symbols"], ""}


def in_secret(record: Record, seat: int) -> Record:
    """A record in which all that a seat cannot know is something else."""

    def secret(event: Event) -> Event:
        if event.reaches(seat):
            return event
        tiles = {"tiles": ["SECRET"] * len(event.data["tiles"])} if "tiles" in event.data else {}
        return replace(event, data={**event.data, **tiles, "canary": "SECRET"})

    changed: dict[str, Any] = {}
    if isinstance(record, Chance | ActionRecord | ForfeitRecord):
        changed["events"] = [secret(event) for event in record.events]
    if isinstance(record, ActionRecord | LateRecord) and record.seat != seat:
        changed |= {"note": "SECRET", "action": {"plays": "SECRET"}}
    if isinstance(record, Chance) and record.tied is not None:
        changed["tied"] = list(reversed(record.tied))
    if isinstance(record, ForfeitRecord):
        forfeits = [
            forfeit if forfeit.seat == seat else replace(forfeit, sentence="SECRET") for forfeit in record.forfeits
        ]
        changed["forfeits"] = forfeits
    return replace(record, **changed)


@pytest.mark.quick(2)
def test_a_page_for_a_seat_is_the_same_whatever_that_seat_cannot_know(log: Log) -> None:
    for seat in range(log.header.settings.players):
        other = replace(log, records=[in_secret(record, seat) for record in log.records])
        assert other.records != log.records or log.header.settings.rules == "gardener"
        page = game_page(log, seat)
        assert game_page(other, seat) == page
        assert "SECRET" not in page


@pytest.mark.quick(2)
def test_the_eyes_of_a_seat_see_the_same_among_others_and_alone(log: Log) -> None:
    whole = folded(data_of(log))
    for seat in range(log.header.settings.players):
        alone = data_of(log, seat)
        assert alone["eyes"] == [str(seat)]
        assert folded(alone)[str(seat)] == whole[str(seat)]


def test_hidden_hands_are_backs_of_tiles(samurai: Log) -> None:
    scenes = folded(data_of(samurai))
    middle = len(scenes["all"]) // 2
    assert scenes["0"][middle]["#1.hand"] == ["B1"] * len(scenes["1"][middle]["#1.hand"])
    assert scenes["all"][middle]["#1.hand"] == scenes["1"][middle]["#1.hand"]
    assert all(tile.startswith("T1") for tile in scenes["1"][middle]["#1.hand"])


@pytest.mark.quick(2, 3)
@pytest.mark.parametrize("table", list(tables()), ids=str)
def test_a_page_is_small(table: Table, play: Callable[[Table], Log]) -> None:
    log = play(table)
    assert len(game_page(log).encode()) < LIMIT
    data = data_of(log)
    gained = [frame["v"] for frame in data["frames"]]
    assert gained[0] == [0] * table.seats
    assert all(later[seat] >= v[seat] for v, later in pairwise(gained) for seat in range(table.seats))
    if table.name == "gardener":
        assert gained[-1] == [seat["score"] for seat in data["seats"]]


@pytest.mark.quick(2, 3)
@pytest.mark.parametrize("letter", ["a", "<", "\0", "\u202e", "🏯", '"'])
def test_notes_of_a_megabyte_are_cut(letter: str, samurai: Log) -> None:
    records = [
        replace(record, note=f"{at}{letter * 1_000_000 if at == 9 else letter * 5_000}")
        if isinstance(record, ActionRecord)
        else record
        for at, record in enumerate(samurai.records)
    ]
    data = data_of(replace(samurai, records=records))
    notes = [data["strings"][number] for frame in data["frames"] for number in frame["w"].get("n", ())]
    assert all(note.endswith("… (cut)") and len(note) <= MOST_NOTE + 8 for note in notes)
    assert len(notes) == sum(isinstance(record, ActionRecord) for record in records)
    page = game_page(replace(samurai, records=records))
    assert len(page.encode()) < LIMIT
    assert len(page.encode()) > MOST_NOTES


def test_a_record_that_does_not_fit_names_its_line(samurai: Log) -> None:
    at, record = next((at, found) for at, found in enumerate(samurai.records) if isinstance(found, ActionRecord))
    wrong = replace(record, events=[Event({"event": "placed", "seat": 0, "tile": "none", "space": 9999})])
    with pytest.raises(LogError, match=rf":{at + 2}; "):
        film(replace(samurai, records=[*samurai.records[:at], wrong, *samurai.records[at + 1 :]]))


def test_a_drawing_that_fails_is_an_error_of_the_log(samurai: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("space")

    monkeypatch.setattr(Drawing, "scene", fail)
    monkeypatch.setattr("arena.games.samurai.show.drawing.SamuraiDrawing.scene", fail)
    with pytest.raises(LogError, match="expected a record that fits the game, got: KeyError"):
        film(samurai)


def test_frames_can_be_made_one_by_one(samurai: Log) -> None:
    """As a live game needs them: the same frames, without looking ahead."""
    camera = Camera(samurai.header, samurai.source)
    made = [frame for record in samurai.records for frame in camera.see(record)]
    made.append(camera.frame())
    assert [{**frame, "m": ""} for frame in plainly(made)] == [
        {**frame, "m": ""} for frame in data_of(samurai)["frames"]
    ]


def test_a_decision_is_slow_beside_those_of_its_own_bot() -> None:
    def frame(seat: int, ms: float) -> Payload:
        return {"s": seat, "ms": ms}

    frames = [frame(0, 1)] * 3 + [frame(1, 300)] * 3
    frames = [dict(one) for one in frames] + [frame(0, 201), frame(0, 199), frame(1, 5000), frame(1, 6001), {"t": 1}]
    mark_slow(frames)
    assert [one.get("m") for one in frames[6:]] == ["t", None, None, "t", None]


def test_marks_of_a_log() -> None:
    forfeits = data_of(read_log(FOLDER / "samurai-forfeits.jsonl"))
    assert sum("f" in frame.get("m", "") for frame in forfeits["frames"]) == 2
    assert all(frame["w"]["f"] for frame in forfeits["frames"] if "f" in frame.get("m", ""))
    captures = data_of(read_log(FOLDER / "samurai-standard.jsonl"))
    for before, frame in pairwise(captures["frames"]):
        assert ("c" in frame.get("m", "")) == (before["v"] != frame["v"])
        if "c" in frame.get("m", ""):
            assert frame["w"]["y"], "a capture explains itself"


def test_a_game_without_a_drawing_is_a_table(samurai: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.core.show.replay.presenter", lambda name: Presenter)
    data = data_of(samurai)
    assert data["size"] == [0, 0]
    assert data["gained"] == data["gain"] == ""
    assert {"hand", "captured", "phase"} <= {*data["labels"]}
    scenes = folded(data)
    assert scenes["all"][0]["#0.phase"] == "hand"
    assert "#1.hand" not in scenes["0"][5]
    assert {*data["symbols"]} == {"M0", "M1"}


def test_the_form_of_the_data_has_its_number() -> None:
    assert module.FORMAT == 1


def test_what_everybody_knows_is_the_same_whatever_only_some_know(log: Log) -> None:
    """What seat 0 cannot know is exchanged, and every note, action and sentence: nothing changes. The kit checks that
    it does not matter of which seat's view it is made."""
    shown = msgspec.json.encode(data_of(log, EVERYBODY)).decode()

    def secret(record: Record) -> Record:
        apart = in_secret(record, EVERYBODY)
        changed = {name: getattr(apart, name) for name in ("note", "action", "forfeits") if hasattr(apart, name)}
        return replace(in_secret(record, 0), **changed)

    other = replace(log, records=[secret(record) for record in log.records])
    assert msgspec.json.encode(data_of(other, EVERYBODY)).decode() == shown
    assert "SECRET" not in shown


def test_no_tile_of_a_hand_is_in_what_everybody_knows(samurai: Log) -> None:
    data = data_of(samurai, EVERYBODY)
    assert data["eyes"] == ["public"]
    (scenes,) = folded(data).values()
    hands = [scene[f"#{seat}.hand"] for scene in scenes for seat in (0, 1)]
    assert {tile for hand in hands for tile in hand} == {"B0", "B1"}
    laid = {value[1] for scene in scenes for key, value in scene.items() if key[0] == "t"}
    everything = msgspec.json.encode([data["frames"], data["strings"]]).decode()
    assert set(re.findall(r'"(T\d\w+)"', everything)) == laid


@pytest.mark.quick(2, 3)
def test_what_everybody_knows_is_seen_by_every_seat(log: Log) -> None:
    """On the board lies for everybody what lies there for each seat."""
    (public,) = folded(data_of(log, EVERYBODY)).values()
    for seat in range(log.header.settings.players):
        own = folded(data_of(log, seat))[str(seat)]
        assert [on_board(scene) for scene in public] == [on_board(scene) for scene in own]


def on_board(scene: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in scene.items() if key[0] != "#"}
