"""The feed: what running games send to watchers on this machine, over real sockets."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from golden.logs import FOLDER
from msgspec.structs import replace

from arena.core.errors import ConfigError
from arena.core.record.log import ActionRecord, Header, OutcomeRecord, Record, read_log
from arena.core.referee import feed as module
from arena.core.referee.feed import MOST_NOTE, Feed, FeedReader, feed_folder
from arena.core.types import Termination

LOG = read_log(FOLDER / "samurai-standard.jsonl")
RECORDS: list[Header | Record] = [LOG.header, *LOG.records]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return feed_folder(tmp_path / "arena.db")


@pytest.fixture
def feed_reader(folder: Path) -> Iterator[FeedReader]:
    with closing(FeedReader(folder)) as feed_reader:
        yield feed_reader


@pytest.fixture
def feed(folder: Path) -> Iterator[Feed]:
    with closing(Feed(folder)) as feed:
        yield feed


@pytest.fixture(autouse=True)
def always_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.0)
    monkeypatch.setattr(module, "REST_S", 0.0)


def heard(feed_reader: FeedReader) -> list[Header | Record]:
    """All records that came, which must follow each other."""
    found: list[Header | Record] = []
    for part in feed_reader.hear(10_000):
        assert part.game == LOG.header.game
        assert part.first == len(found)
        found += part.records
    return found


def test_a_watcher_hears_every_record(folder: Path, feed_reader: FeedReader, feed: Feed) -> None:
    found = []
    for record in RECORDS:
        feed(record)
        found += [each for part in feed_reader.hear() for each in part.records]
    feed.flush()
    assert found == RECORDS


def test_who_comes_late_hears_the_game_from_its_beginning(folder: Path, feed: Feed) -> None:
    for record in RECORDS[:20]:
        feed(record)
    with closing(FeedReader(folder)) as feed_reader:
        feed(RECORDS[20])
        assert heard(feed_reader) == RECORDS[:21]
    feed.flush()


def test_a_watcher_that_takes_nothing_holds_up_nobody_and_lacks_nothing(
    folder: Path, feed_reader: FeedReader, feed: Feed
) -> None:
    found: list[Header | Record] = []
    games = 50
    for game in range(games):
        for record in RECORDS:
            feed(record if not isinstance(record, Header) else replace(record, game=f"game-{game}"))
        feed.flush()
    parts = list(feed_reader.hear(10_000))
    assert parts
    assert len(parts) < games * len(RECORDS)
    for part in parts:
        if part.game == "game-0":
            assert part.first == len(found)
            found += part.records
    assert found[1:] == RECORDS[1 : len(found)]


def test_what_could_not_be_sent_is_sent_together_later(folder: Path, feed_reader: FeedReader, feed: Feed) -> None:
    blocked = iter([True] * (len(RECORDS) - 3))

    class Stopped:
        def __init__(self, inner: socket.socket) -> None:
            self.inner = inner

        def send(self, data: bytes) -> int:
            if next(blocked, False):
                raise BlockingIOError
            return self.inner.send(data)

        def close(self) -> None:
            self.inner.close()

    feed(RECORDS[0])
    watcher = next(iter(feed._watchers.values()))
    watcher.socket = Stopped(watcher.socket)  # type: ignore[assignment]
    for record in RECORDS[1:]:
        feed(record)
    feed.flush()
    assert heard(feed_reader) == RECORDS


def test_the_end_of_a_game_that_could_not_be_sent_goes_with_the_next_game(
    folder: Path, feed_reader: FeedReader, feed: Feed
) -> None:
    for game in range(100):
        for record in RECORDS:
            feed(record if not isinstance(record, Header) else replace(record, game=f"game-{game}"))
        feed.flush()
        if game % 7 == 0:  # it looks seldom, and lacks nothing in the end
            assert game or [part.game for part in feed_reader.hear()]
    found: dict[str, list[Header | Record]] = {}
    while parts := list(feed_reader.hear(10_000)):
        for part in parts:
            found.setdefault(part.game, []).extend(part.records)
        feed.flush()
    assert found["game-99"][1:] == RECORDS[1:]


def test_after_a_game_whose_end_could_not_be_sent_records_come_one_by_one_again(
    folder: Path, feed_reader: FeedReader, feed: Feed
) -> None:
    for _ in range(100):
        for record in RECORDS:
            feed(record)
        feed.flush()
    while list(feed_reader.hear(10_000)):
        feed.flush()
    for record in RECORDS[:5]:
        feed(record)
        assert [part.records for part in feed_reader.hear()] == [[record]]


def test_a_game_without_watchers_sends_and_keeps_no_lines(folder: Path, feed: Feed) -> None:
    for record in RECORDS:
        feed(record)
    assert not feed._watchers
    assert not folder.exists()


def test_long_notes_are_cut_and_what_does_not_fit_is_left_out(
    folder: Path, feed_reader: FeedReader, feed: Feed
) -> None:
    action = next(record for record in LOG.records if isinstance(record, ActionRecord))
    for record in (
        LOG.header,
        replace(action, note="n" * 100_000),
        replace(action, action={"a": "a" * 100_000}),
        action,
    ):
        feed(record)
    feed.flush()
    parts = list(feed_reader.hear())
    assert [part.first for part in parts] == [0, 1, 3]
    noted = parts[1].records[0]
    assert isinstance(noted, ActionRecord)
    assert noted.note == "n" * MOST_NOTE


def test_a_watcher_that_was_killed_is_forgotten(folder: Path, feed: Feed) -> None:
    dead = FeedReader(folder)
    dead.socket.close()
    feed(LOG.header)
    assert not feed._watchers
    with closing(FeedReader(folder)):
        assert len(list(folder.iterdir())) == 1
    assert not folder.exists()
    feed.flush()


def test_a_watcher_that_leaves_in_a_game_is_forgotten(folder: Path, feed: Feed) -> None:
    with closing(FeedReader(folder)):
        feed(RECORDS[0])
        assert len(feed._watchers) == 1
    feed(RECORDS[1])
    assert not feed._watchers


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702])
def test_a_folder_that_others_can_write_to_gets_no_hands(folder: Path, mode: int, feed: Feed) -> None:
    with closing(FeedReader(folder)) as feed_reader:
        folder.chmod(mode)
        for record in RECORDS:
            feed(record)
        feed.flush()
        assert list(feed_reader.hear()) == []
        folder.chmod(mode)
        with pytest.raises(ConfigError, match="one that others can write to: call `chmod 700` on it"):
            FeedReader(folder)


def test_a_link_to_a_folder_is_no_feed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="got: something else of this name, which has to be removed - at"):
        FeedReader(folder)


def test_what_is_no_record_is_passed_over(folder: Path, feed_reader: FeedReader) -> None:
    (name,) = os.listdir(folder)
    other = module._connect(folder, name)
    assert other is not None
    with other:
        for data in (b"", b"\xff", b"{}", b'{"game":"g","first":0}\n{"record":"header"}', b"[" * 60_000):
            other.send(data)
    assert list(feed_reader.hear()) == []


def test_a_feed_may_lie_as_deep_as_a_database(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d" * 50] * 4)
    deep.mkdir(parents=True)
    folder = feed_folder(deep / "arena.db")
    with closing(FeedReader(folder)) as feed_reader:
        with closing(Feed(folder)) as feed:
            feed(LOG.header)
        assert heard(feed_reader) == [LOG.header]


def test_a_watcher_knows_which_process_plays(feed_reader: FeedReader, feed: Feed) -> None:
    feed(LOG.header)
    assert [part.sender for part in feed_reader.hear()] == [os.getpid()]


def drained(feed_reader: FeedReader, feed: Feed) -> list[Header | Record]:
    """All records that come, those too that a full socket did not take at first."""
    found: list[Header | Record] = []
    while parts := list(feed_reader.hear(10_000)):
        found += [record for part in parts for record in part.records]
        feed.flush()
    return found


@pytest.mark.parametrize("count", [1, 30])
def test_a_game_that_is_broken_off_is_told_as_interrupted(feed_reader: FeedReader, feed: Feed, count: int) -> None:
    for record in RECORDS[:count]:
        feed(record)
    feed.abandon()
    *_, last = drained(feed_reader, feed)
    assert isinstance(last, OutcomeRecord)
    assert last.termination == Termination.INTERRUPTED
    assert last.ranks == []


def test_a_game_that_is_over_or_has_not_begun_is_not_broken_off(feed_reader: FeedReader, feed: Feed) -> None:
    feed.abandon()
    for record in RECORDS:
        feed(record)
    feed.abandon()
    assert drained(feed_reader, feed) == RECORDS
