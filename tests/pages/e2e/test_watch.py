"""`arena watch` and `arena league serve` as people use them: who watches changes nothing, and sees nothing hidden."""

from __future__ import annotations

import asyncio
import json
import select
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from command_kit import FAULTY, arena, started
from live_kit import laid, tiles
from web_kit import ask, run_apart

from arena.core.record.log import read_log
from arena.core.referee.feed import FeedReader, feed_folder
from arena.pages.live.games import Games
from arena.pages.web.serving import Listening

TOURNAMENT = ("tournament", "random", "greedy", "--deals", "6", "--seed", "watched", "--concurrency", "1", "-q")
PATIENCE_S = 100.0
MOST_FOLLOWED = 3  # games that each watcher follows


@contextmanager
def watched(folder: Path, *words: str) -> Iterator[str]:
    """The address of a watch that has begun; at the end it must end politely."""
    with started(folder, *words) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        yield address
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in said
        assert "bug" not in said
        assert process.returncode == 128 + signal.SIGTERM


def cookie_of(address: str) -> str:
    """What a browser keeps that has opened an address with its key."""
    found = urlsplit(address)
    assert found.port is not None
    answer = ask(Listening(None, "127.0.0.1", found.port, True), f"/?{found.query}")  # type: ignore[arg-type]
    (kept,) = SimpleCookie(answer.headers["set-cookie"]).values()
    return f"{kept.key}={kept.value}"


class Watcher:
    """A browser that follows the lists, and every game that it hears of."""

    def __init__(self, port: int, cookie: str) -> None:
        self.port = port
        self.cookie = cookie
        self.seen: dict[str, str] = {}
        """By game all that came of it."""
        self.over: set[str] = set()
        self.tasks: set[asyncio.Task[None]] = set()

    async def follow(self, path: str, game: str = "") -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**24)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie}\r\n\r\n".encode())
        try:
            await self._read(reader, game)
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader, game: str) -> None:
        event = ""
        while line := (await reader.readline()).decode():
            if line.startswith("event: "):
                event = line[7:].strip()
            elif line.startswith("data: "):
                if game:
                    self.seen[game] = self.seen.get(game, "") + (frames_of(event, line[6:]))
                    if event == "over":
                        self.over.add(game)
                        break
                elif event == "games":
                    told = json.loads(line[6:])
                    for each in (*told["running"], *told["finished"]):  # a quick game may be over before it is listed
                        if each["id"] not in self.seen and len(self.seen) < MOST_FOLLOWED:
                            self.seen[each["id"]] = ""
                            self.begin(f"/game/{each['id']}/events", each["id"])

    def begin(self, path: str, game: str = "") -> None:
        task = asyncio.create_task(self.follow(path, game))
        self.tasks.add(task)


def frames_of(event: str, data: str) -> str:
    """All of a message but the symbols, which are drawn for every tile that there is."""
    told: Any = json.loads(data)
    return json.dumps([told["frames"], told["strings"]] if event == "film" else told)


async def play_among(watchers: list[Watcher], folder: Path) -> None:
    for watcher in watchers:
        watcher.begin("/events")
    await asyncio.to_thread(arena, folder, *TOURNAMENT)
    for _ in range(600):
        if all(watcher.over for watcher in watchers):
            break
        await asyncio.sleep(0.1)
    for watcher in watchers:
        for task in watcher.tasks:
            task.cancel()
        await asyncio.gather(*watcher.tasks, return_exceptions=True)
    await asyncio.sleep(0)  # connections close in the next turn of the loop


def results(folder: Path) -> list[Any]:
    """What was played: every game's play digest and the running ratings."""
    with closing(sqlite3.connect(folder / "arena.db")) as connection:
        games = connection.execute("SELECT number, play_digest FROM games ORDER BY number").fetchall()
        ratings = connection.execute("SELECT * FROM ratings ORDER BY 1, 2, 3").fetchall()
    return [games, [row[1:] for row in ratings]]


@pytest.mark.long(1)
@pytest.mark.parametrize("count", [3, 100])
def test_watchers_change_nothing_and_see_nothing_hidden(count: int, tmp_path: Path) -> None:
    alone, among = tmp_path / "alone", tmp_path / "among"
    alone.mkdir()
    among.mkdir()
    arena(alone, *TOURNAMENT)
    with watched(among, "watch", "--web") as address:
        port = urlsplit(address).port
        assert port is not None
        cookie = cookie_of(address)
        watchers = [Watcher(port, cookie) for _ in range(count)]
        run_apart(play_among(watchers, among))
    assert results(among)[0] == results(alone)[0]
    assert not (among / "arena.db.feed").exists()
    for watcher in watchers:
        assert watcher.over
        for game, seen in watcher.seen.items():
            (path,) = among.glob(f"logs/*/{game}.jsonl")
            assert tiles(seen) <= laid(read_log(path).records)


def test_without_the_key_nobody_sees_anything(tmp_path: Path) -> None:
    with watched(tmp_path, "watch", "--web") as address:
        port = urlsplit(address).port
        assert port is not None
        listening = Listening(None, "127.0.0.1", port, True)  # type: ignore[arg-type]
        for path in ("/", "/events", "/viewer.js"):
            assert ask(listening, path).status == 403


def test_a_watch_needs_a_terminal_or_the_web(tmp_path: Path) -> None:
    assert "--web" in arena(tmp_path, "watch", code=2).stderr
    assert not list(tmp_path.iterdir())


def test_a_match_that_is_interrupted_is_told_as_such(tmp_path: Path) -> None:
    games = Games()
    thinker = f"cmd:{sys.executable} {FAULTY} ok,ok,silent"
    with (
        closing(FeedReader(feed_folder(tmp_path / "arena.db"))) as feed_reader,
        started(tmp_path, "match", thinker, thinker, "--time", "60s", "-q") as playing,
    ):
        while not games.running:
            assert playing.poll() is None
            hear(feed_reader, games)
        playing.send_signal(signal.SIGINT)
        while not games.finished and playing.poll() is None:
            hear(feed_reader, games)
        hear(feed_reader, games)
    assert not games.running
    assert games.finished[0].summary().ranks == []


def hear(feed_reader: FeedReader, games: Games) -> None:
    """Takes what comes soon."""
    select.select([feed_reader], [], [], 0.1)
    for part in feed_reader.hear():
        games.take(part)


def test_hands_are_not_shown_where_bots_play_from_elsewhere(tmp_path: Path) -> None:
    arena(tmp_path, "league", "init", "cup")
    settings = tmp_path / "cup" / "league.toml"
    text = settings.read_text(encoding="utf-8")
    assert "remote = false" in text
    settings.write_text(text.replace("remote = false", "remote = true"), encoding="utf-8")
    said = arena(tmp_path, "watch", "--league", "cup", "--hands", "--web", code=2).stderr
    assert "--hands" in said


def test_a_league_serves_its_pages_and_what_is_played(tmp_path: Path) -> None:
    arena(tmp_path, "league", "init", "cup")
    (tmp_path / "cup" / "site" / "index.html").write_text("<!doctype html><title>cup</title>", encoding="utf-8")
    with watched(tmp_path, "league", "serve", "cup", "--bind", "127.0.0.1:0") as address:
        port = urlsplit(address).port
        assert port is not None
        listening = Listening(None, "127.0.0.1", port, True)  # type: ignore[arg-type]
        assert b"<title>cup</title>" in ask(listening).body
        assert ask(listening, "/live/").status == 200
        assert ask(listening, "/../league.db").status == 404
