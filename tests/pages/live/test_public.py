"""What `arena league serve` serves, and what it does not, over real sockets."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from live_kit import Still
from web_kit import Watching as Browser
from web_kit import ask, served

from arena.core.referee.feed import FeedReader
from arena.pages.live.app import Watching, public_app
from arena.pages.web.guard import Guard
from arena.pages.web.serving import Listening, listen
from arena.pages.web.site import MOST_THREADS

PAGE = b"<!doctype html><title>cup</title>" + b"<p>standings</p>" * 100


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = tmp_path / "cup" / "site"
    (site / "s1").mkdir(parents=True)
    (site / "assets").mkdir()
    (site / "index.html").write_bytes(PAGE)
    (site / "s1" / "index.html").write_bytes(b"season<!--live-->")
    (site / "assets" / "viewer-0a1b.js").write_bytes(b"'use strict';")
    (tmp_path / "cup" / "league.db").write_bytes(b"SECRET")
    return site


@pytest.fixture
def cup(site: Path, tmp_path: Path) -> Iterator[Listening]:
    with closing(FeedReader(tmp_path / "feed")) as feed_reader:
        watching = Watching(feed_reader, Still(), revealed=False)
        listening = listen()
        app = Guard(public_app(site, watching), key=None, port=listening.port, names=["cup.example"])
        with served(app, listening, on_stop=watching.close):
            yield listening


def test_pages_are_served_and_asked_for_again(cup: Listening) -> None:
    first = ask(cup)
    assert (first.status, first.body) == (200, PAGE)
    assert first.headers["cache-control"] == "no-cache"
    assert "text/html" in first.headers["content-type"]
    again = ask(cup, if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    for path in ("/s1/", "/s1/index.html"):
        assert ask(cup, path).body == b'season<a href="../live/">live</a>'
    policy = "content-security-policy"
    assert "frame-ancestors" in ask(cup, "/s1/").headers[policy]
    assert "frame-ancestors" not in ask(cup, "/s1/?embed").headers[policy]
    assert ask(cup, "/index.html", "HEAD").body == b""


def test_many_who_read_pages_take_few_threads(cup: Listening) -> None:
    before = set(threading.enumerate())
    with ThreadPoolExecutor(16) as readers:
        answers = list(readers.map(lambda number: ask(cup, f"/?{number}"), range(160)))
        began = [thread for thread in set(threading.enumerate()) - before if "AnyIO" in thread.name]
    assert {answer.status for answer in answers} == {200}
    assert 1 <= len(began) <= MOST_THREADS, began


def test_what_never_changes_is_kept(cup: Listening) -> None:
    answer = ask(cup, "/assets/viewer-0a1b.js")
    assert "immutable" in answer.headers["cache-control"]
    assert "immutable" not in ask(cup, "/assets/none.js").headers["cache-control"]


def test_pages_travel_compressed(cup: Listening) -> None:
    answer = ask(cup, accept_encoding="gzip")
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.body) == PAGE
    with closing(Browser(cup, "/live/events", "Accept-Encoding: gzip")) as browser:
        assert browser.until("scores")["title"] == "a test"  # a stream is not: each message must come at once


@pytest.mark.quick(6)
@pytest.mark.parametrize("path", [
    "/../league.db", "/%2e%2e/league.db", "/s1/../../league.db", "/..%2fleague.db", "/%2e%2e%2fleague.db",
    "//league.db", "/..\\league.db", "/..%5cleague.db", "/%00", "/s1/%00/x", "/" + "a" * 5000, "/etc/passwd",
    "//etc/passwd", "/.git/config", "/.hidden", "/index.html.0123456789abcdef.part", "/s1/.hidden", "/league.db",
])  # fmt: skip
def test_no_path_leads_out(cup: Listening, site: Path, path: str) -> None:
    (site / ".hidden").write_bytes(b"SECRET")
    (site / "s1" / ".hidden").write_bytes(b"SECRET")
    (site / "index.html.0123456789abcdef.part").write_bytes(b"SECRET")
    answer = ask(cup, path)
    assert answer.status in (400, 404), answer
    assert b"SECRET" not in answer.body


def test_no_link_leads_out(cup: Listening, site: Path) -> None:
    (site / "leak.html").symlink_to(site.parent / "league.db")
    (site / "up").symlink_to(site.parent)
    os.mkfifo(site / "pipe.html")
    for path in ("/leak.html", "/up/league.db", "/pipe.html", "/up/"):
        answer = ask(cup, path)
        assert answer.status == 404, path
        assert b"SECRET" not in answer.body


def test_a_page_of_the_site_loads_nothing_from_elsewhere_and_is_framed_by_nobody(cup: Listening) -> None:
    policy = ask(cup).headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy
    assert "script-src 'self' ;" in policy, "nothing that stands in a page may run"


def test_the_live_view_is_beside_it(cup: Listening) -> None:
    assert ask(cup, "/live").headers["location"].endswith("/live/")
    answer = ask(cup, "/live/")
    assert answer.status == 200
    assert b'src="watch.js"' in answer.body
    assert ask(cup, "/live/watch.js").status == 200


def test_without_pages_the_live_view_comes_first(cup: Listening, site: Path) -> None:
    (site / "index.html").unlink()
    assert ask(cup).headers["location"] == "/live/"


def test_only_names_that_were_given_pass_and_nothing_can_be_done(cup: Listening) -> None:
    assert ask(cup, host="cup.example").status == 200
    assert ask(cup, host="evil.example").status == 421
    for path in ("/", "/index.html", "/live/", "/live/events"):
        assert ask(cup, path, "POST", b"{}", origin=f"http://127.0.0.1:{cup.port}").status == 405
