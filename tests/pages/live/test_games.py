"""Games from the feed: records in any parts make the same frames, and nothing hidden is in them."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from golden.logs import FOLDER
from hypothesis import given, settings
from hypothesis import strategies as st
from live_kit import SAMURAI, laid, parts, tiles
from msgspec.structs import replace

from arena.core.record.log import Log, read_log
from arena.core.referee.feed import Part
from arena.core.show.seats import EVERYBODY
from arena.pages.frames import film, folded
from arena.pages.live.games import (
    MOST_FINISHED,
    MOST_LISTED,
    MOST_RUNNING,
    RENEWED_S,
    Games,
    LiveFilm,
    LiveGame,
    ended,
    how_ended,
)

LOGS = [read_log(path) for path in sorted(FOLDER.glob("*.jsonl"))]


def shown(live: LiveFilm) -> Any:
    return msgspec.json.decode(msgspec.json.encode(live.head() | {"frames": live.frames}))


def of_log(log: Log, seat: int | None) -> Any:
    """The scenes of all decisions, by the film of the log."""
    (scenes, *_) = folded(msgspec.json.decode(msgspec.json.encode(film(log, seat)[0]))).values()
    return scenes


@pytest.mark.quick(5, 8)
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.source.rpartition("/")[2])
@pytest.mark.parametrize("hands", [False, True])
def test_a_game_that_is_watched_shows_what_its_log_shows(log: Log, hands: bool) -> None:
    games = Games()
    game, live = None, None
    for part in parts(log):
        games.take(part)
        game = game or games.find(log.header.game)
        assert game is not None
        live = live or LiveFilm(game, hands=hands)
        list(live.go_on(0.0))  # no time passes: no decision is complete before the next one
    assert live is not None
    assert live.is_over
    (scenes, *_) = folded(shown(live)).values()
    assert scenes == of_log(log, None if hands else EVERYBODY)
    assert shown(live)["ground"] == msgspec.json.decode(msgspec.json.encode(film(log)[0]))["ground"]


LAST = of_log(SAMURAI, EVERYBODY)[-1], film(SAMURAI)[0]["frames"][-1]["v"]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=60))
def test_however_the_records_come_the_last_scene_is_the_same(steps: list[tuple[int, bool]]) -> None:
    """With time or without between the parts: a decision may be shown before its draws have come."""
    records = [SAMURAI.header, *SAMURAI.records]
    game, at, live = LiveGame(SAMURAI.header), 1, None
    for size, quiet in [*steps, (len(records), True)]:
        game.take(at, list(SAMURAI.records[at - 1 : at - 1 + size]))
        at += size
        live = live or LiveFilm(game)
        list(live.go_on(math.inf if quiet else 0.0))
        if at > len(records):
            break
    assert live is not None
    (scenes,) = folded(shown(live)).values()
    assert scenes[-1] == LAST[0]
    assert live.frames[-1]["v"] == LAST[1]


def test_sentences_come_once_and_in_order() -> None:
    game = LiveGame(SAMURAI.header)
    live = LiveFilm(game)
    list(live.go_on(math.inf))
    strings = list(live.head()["strings"])
    for at, record in enumerate(SAMURAI.records, start=1):
        game.take(at, [record])
        for frame in live.go_on(math.inf):
            strings += live.new_strings()
            assert max(frame["w"].get("l", [0])) < len(strings)
    assert strings == live.head()["strings"]


def test_no_hidden_tile_is_in_the_film_at_any_moment() -> None:
    game = LiveGame(SAMURAI.header)
    live = LiveFilm(game)
    for at, record in enumerate(SAMURAI.records, start=1):
        game.take(at, [record])
        list(live.go_on(math.inf))
        made = shown(live)
        assert tiles(msgspec.json.encode([made["frames"], made["strings"]]).decode()) <= laid(SAMURAI.records[:at])


def test_a_game_with_a_gap_stands_still_until_it_is_over() -> None:
    games = Games()
    pieces = list(parts(SAMURAI, 10))
    for part in pieces[:2]:
        games.take(part)
    game = games.running[SAMURAI.header.game]
    live = LiveFilm(game)
    frames = len(list(live.go_on(math.inf)))
    for part in pieces[3:-1]:
        games.take(part)
        assert not list(live.go_on(math.inf))
    assert not game.summary().whole
    games.take(pieces[-1])
    assert live.is_over
    assert len(live.frames) == frames
    assert games.finished[0] is game
    assert game.summary().ranks == list(SAMURAI.outcome.ranks)


def test_a_game_that_begins_once_more_is_shown_anew() -> None:
    games = Games()
    for part in [*parts(SAMURAI, 20)][:2]:
        games.take(part)
    before = games.running[SAMURAI.header.game]
    games.take(next(iter(parts(SAMURAI, 5))))
    again = games.running[SAMURAI.header.game]
    assert again is not before
    assert len(again.records) == 4


def test_a_board_that_grows_is_laid_out_anew_and_not_all_the_time() -> None:
    log = next(log for log in LOGS if log.source.endswith("gardener-young.jsonl"))
    game, now = LiveGame(log.header), 100.0
    live = LiveFilm(game)
    renewed = 0
    for at, record in enumerate(log.records, start=1):
        game.take(at, [record])
        now += RENEWED_S / 4
        list(live.go_on(now))
        renewed += live.renewed
        live.renewed = False
    assert 1 <= renewed <= len(log.records) / 4 + 1


def test_a_board_that_grew_gets_room_though_nothing_more_happens() -> None:
    """A bot may think for a minute after the card that has no room."""
    log = next(log for log in LOGS if log.source.endswith("gardener-young.jsonl"))
    for count in range(10, 20):
        game, now = LiveGame(log.header), 100.0
        live = LiveFilm(game)
        for at, record in enumerate(log.records[:count], start=1):
            game.take(at, [record])
            now += RENEWED_S / 4
            list(live.go_on(now))
        list(live.go_on(now + RENEWED_S))
        whole = LiveFilm(game)
        list(whole.go_on(math.inf))
        assert live.head()["size"] == whole.head()["size"], count
        assert live.head()["ground"] == whole.head()["ground"], count


def test_a_frame_says_how_many_records_it_shows() -> None:
    log = next(log for log in LOGS if log.source.endswith("gardener-young.jsonl"))
    game = LiveGame(log.header)
    live = LiveFilm(game)
    for at, record in enumerate(log.records, start=1):
        game.take(at, [record])
        frames = list(live.go_on(math.inf))
        assert not frames or frames[-1]["n"] == at
    numbers = [frame["n"] for frame in live.frames]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == len(log.records)


@pytest.mark.parametrize(("log", "words"), [("samurai-standard", "Turn 3"), ("gardener-young", "Round 3")])
def test_a_list_counts_turns_in_the_words_of_the_board(log: str, words: str) -> None:
    chosen = next(found for found in LOGS if found.source.endswith(f"{log}.jsonl"))
    game = LiveGame(chosen.header)
    assert game.summary().turn == ""
    told = set()
    for at, record in enumerate(chosen.records, start=1):
        game.take(at, [record])
        told.add(game.summary().turn)
    assert words in told


def test_what_is_kept_is_bounded() -> None:
    games = Games()
    for number in range(MOST_RUNNING + 5):
        games.take(Part(f"g{number}", 0, [replace(SAMURAI.header, game=f"g{number}")]))
    assert len(games.running) == MOST_RUNNING
    for number in range(MOST_FINISHED + 5):
        log = replace(SAMURAI, header=replace(SAMURAI.header, game=f"f{number}"))
        for part in parts(log, 100):
            games.take(part)
        if number == 1:
            assert games.find("f0") is not None, "somebody looks at it"
    last = [f"f{number}" for number in range(MOST_FINISHED + 4, MOST_FINISHED + 4 - MOST_LISTED, -1)]
    assert [game.id for game in games.listed()] == last
    assert [number for number in range(6) if games.find(f"f{number}")] == [0, 5]


def test_a_game_of_which_only_the_end_is_heard_is_passed_over() -> None:
    games = Games()
    games.take(Part("g", 70, [SAMURAI.outcome]))
    assert not games.running
    assert not games.finished


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([1, 2, 2], "fox won against owl, bear"),
        ([1, 1, 2], "fox, owl, bear: drawn"),
        ([], "fox, owl, bear: interrupted"),
    ],
)
def test_the_end_of_a_game_in_words(ranks: list[int], words: str) -> None:
    how = how_ended(ranks, msgspec.UNSET)
    summary = LiveGame(SAMURAI.header).summary()
    assert ended(msgspec.structs.replace(summary, names=["fox", "owl", "bear"], ranks=ranks, how=how)) == words
