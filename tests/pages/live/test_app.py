"""The live view over real sockets: what a browser is sent, and what nobody is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from live_kit import SAMURAI, Still, laid, play_over, tiles
from web_kit import Watching as Browser
from web_kit import ask, served

from arena.core.record.log import Log
from arena.core.referee import feed as module
from arena.core.referee.feed import Feed, FeedReader
from arena.pages.live.app import Watching
from arena.pages.live.games import Summary, ended, how_ended
from arena.pages.live.scores import LiveStandings
from arena.pages.web.guard import Guard
from arena.pages.web.serving import Listening, listen

GAME = SAMURAI.header.game
COUNT = len(SAMURAI.records) + 1
Open = Callable[..., Browser]


@pytest.fixture(autouse=True)
def always_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.0)
    monkeypatch.setattr(module, "REST_S", 0.0)


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[Feed]:
    with closing(Feed(tmp_path / "feed")) as feed:
        yield feed


@pytest.fixture
def live(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Listening]:
    options = getattr(request, "param", {})
    with closing(FeedReader(tmp_path / "feed")) as feed_reader:
        watching = Watching(feed_reader, Still(), **options)
        listening = listen()
        app = Guard(watching.app(), key=None, port=listening.port)
        with served(app, listening, on_stop=watching.close):
            yield listening


@pytest.fixture
def browse(live: Listening) -> Iterator[Open]:
    opened: list[Browser] = []

    def browse(path: str = "/events") -> Browser:
        opened.append(Browser(live, path))
        return opened[-1]

    yield browse
    for browser in opened:
        browser.close()


def summary_of(log: Log) -> Summary:
    names = [bot.name for bot in log.header.bots]
    ranks, teams = list(log.outcome.ranks), log.header.settings.teams
    return Summary(log.header.game, names, f"Turn {log.outcome.turns}", ranks, True, how_ended(ranks, teams))


def started(browse: Open, feed: Feed, records: slice) -> Browser:
    """Begins a game, and a browser that waited for it in the list follows it."""
    lists = browse()
    lists.until("games")
    play_over(feed, SAMURAI, records)
    while not lists.until("games")["running"]:
        pass
    return browse(f"/game/{GAME}/events")


def test_a_board_moves_and_the_end_is_told(browse: Open, live: Listening, feed: Feed) -> None:
    browser = started(browse, feed, slice(0, 10))
    film = browser.until("film")
    assert film["eyes"] == ["public"]
    play_over(feed, SAMURAI, slice(10, COUNT))
    sent = browser.until("frames")
    assert set(sent) == {"frames", "strings"}
    assert sent["frames"]
    assert browser.until("over") == {"sentence": ended(summary_of(SAMURAI)), "replay": True}
    page = ask(live, f"/game/{GAME}/replay")
    assert page.status == 200
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert tiles(page.body.decode())


def test_no_hidden_tile_is_in_any_byte_while_a_game_goes_on(browse: Open, live: Listening, feed: Feed) -> None:
    half = COUNT // 2
    browser = started(browse, feed, slice(0, half))
    film = browser.until("film")
    frames = msgspec.json.encode([film["frames"], film["strings"]]).decode()
    assert tiles(frames)
    assert tiles(frames) <= laid(SAMURAI.records[: half - 1])
    assert "salt" not in film
    assert ask(live, f"/game/{GAME}/replay").status == 404
    page = ask(live, f"/game/{GAME}/")
    assert page.status == 200
    assert not tiles(page.body.decode())


@pytest.mark.parametrize("live", [{"hands": True}], indirect=True)
def test_all_hands_are_shown_if_the_operator_asks(browse: Open, live: Listening, feed: Feed) -> None:
    film = started(browse, feed, slice(0, 10)).until("film")
    assert film["eyes"] == ["all", "0", "1"]


@pytest.mark.parametrize("live", [{"revealed": False}], indirect=True)
def test_hands_of_a_game_that_is_over_stay_hidden_where_its_deal_is_played_again(
    browse: Open, live: Listening, feed: Feed
) -> None:
    browser = started(browse, feed, slice(0, 10))
    play_over(feed, SAMURAI, slice(10, COUNT))
    assert browser.until("over")["replay"] is False
    assert ask(live, f"/game/{GAME}/replay").status == 404


def test_the_pages_load_nothing_from_elsewhere(browse: Open, live: Listening, feed: Feed) -> None:
    started(browse, feed, slice(0, 5))
    for path in ("/", f"/game/{GAME}/"):
        answer = ask(live, path)
        assert answer.status == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert b"//" not in answer.body.replace(b"<!doctype", b"")
    for path, kind in (("/viewer.js", "javascript"), ("/tools.js", "javascript"), ("/watch.js", "javascript"),
                       ("/game.js", "javascript"), ("/viewer.css", "css"), ("/watch.css", "css"),
                       (f"/game/{GAME}/style.css", "css")):  # fmt: skip
        answer = ask(live, path)
        assert answer.status == 200, path
        assert kind in answer.headers["content-type"]


@pytest.mark.parametrize("path", ["/game/none/", "/game/none/events", "/game/none/replay", "/game/none/style.css",
                                  "/secret", "/game/..%2f..%2fetc/", "/viewer.js/x"])  # fmt: skip
def test_what_is_not_there_is_not_found(live: Listening, path: str) -> None:
    assert ask(live, path).status == 404


@pytest.mark.parametrize("garbage", [True, False])
@pytest.mark.parametrize("public", [True, False])
def test_the_page_is_told_why_there_are_no_standings(tmp_path: Path, garbage: bool, public: bool) -> None:
    database = tmp_path / "arena.db"
    if garbage:
        database.write_bytes(b"no database" * 1000)
    board = LiveStandings(database)
    board.read()
    with closing(FeedReader(tmp_path / "feed")) as feed_reader:
        watching = Watching(feed_reader, board, public=public)
        listening = listen()
        with (
            served(Guard(watching.app(), key=None, port=listening.port), listening, on_stop=watching.close),
            closing(Browser(listening)) as browser,
        ):
            told = browser.until("scores")
    assert told["id"] == ""
    assert bool(told["error"]) is garbage
    assert ("arena.db" in told["error"]) is (garbage and not public)


def test_nothing_can_be_done(live: Listening) -> None:
    origin = f"http://127.0.0.1:{live.port}"
    for path in ("/", "/events", "/viewer.js"):
        assert ask(live, path, "POST", b"{}", origin=origin).status == 405
