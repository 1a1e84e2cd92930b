"""The author's page in a real browser, against a door that serves; the league behind it answers what a test says."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser_kit import heard
from door_kit import League, opened

from arena.author.archives import pack
from arena.league.door import checks
from arena.league.door.tokens import read_hash
from arena.pages.web import league_pages

MATCH = f"match-{'0a' * 16}-0"
LOST = {
    "version": "fox/1", "bot": "fox", "seat": 1, "opponents": ["<b>bear</b>/2"], "outcome": "lost", "lost": True,
    "finished": "2026-11-28T10:00:00+00:00", "published": True,
}  # fmt: skip
FORFEIT = {
    "forfeit": "illegal_action",
    "sentence": "expected a card of the hand",
    "turn": 7,
    "last_words": ["<i>oh</i>"],
}
CHECK = {
    "kind": "check", "verdict": "failed", "seconds": 2.5, "finding": "expected a legal play, got: card 9",
    "detail": {"results": [{"id": "play.legal", "title": "plays", "verdict": "failed", "detail": "card 9", "remedy": "",
                            "evidence": {"stderr": ["IndexError: <script>"]}}]},
}  # fmt: skip


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """A bot's folder, with what tools leave in it."""
    folder = tmp_path / "owl-main"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "__pycache__" / "owl.pyc").write_text("x")
    (folder / "bot.toml").write_text(
        'name = "owl"\nversion = "1"\nlanguage = "python"\ncommand = ["{python}", "owl.py"]\n'
    )
    (folder / "owl.py").write_text("print('owl')\n" * 100)
    return folder


class Stage:
    """A league with an author, anna, and her page."""

    def __init__(self, league: League, page: Any, address: str, token: str) -> None:
        self.league, self.page, self.address, self.token = league, page, address, token

    def say(self, *versions: tuple[str, str]) -> None:
        """Publishes how anna's versions stand."""
        rows = [{"version": name, "bot": name[:3], "state": state, "since": ""} for name, state in versions]
        notices = [{"at": "", "text": f"{name} is {state}"} for name, state in versions]
        notices.append({"at": "", "kind": "match", "text": f"fox/1 has met owl/1: rank 2 in {MATCH}"})
        notices.append({"at": "", "kind": "match", "text": f"{MATCH} was cut short: the season has ended"})
        self.league.publish("authors/anna/status.json", {"versions": rows, "notices": notices, "seat": MATCH})

    def enter(self) -> None:
        """Signs in, by keys alone."""
        self.page.goto(f"{self.address}/me")
        self.page.get_by_label("Your token").focus()
        self.page.keyboard.type(self.token)
        self.page.keyboard.press("Enter")
        self.page.locator("#inside").wait_for()

    def tried(self, act: Callable[[], None], state: str) -> dict[str, Any]:
        """Does what submits a bot; the league takes it and tries it. Returns the order."""
        orders: list[dict[str, Any]] = []

        def answer() -> None:
            orders.append(self.league.order("submit"))
            self.league.answer(orders[0], {"version": "owl/1", "state": "received", "digest": "1" * 64})

        thread = threading.Thread(target=answer)
        thread.start()
        act()
        self.page.locator("#said", has_text="owl/1: received …").wait_for()
        thread.join()
        self.say(("owl/1", state), ("fox/1", "active"))
        self.page.locator("#said", has_text=f"owl/1: {state}").wait_for()
        return orders[0]


@pytest.fixture
def stage(browser: Any, tmp_path: Path) -> Callable[..., Any]:
    @contextmanager
    def stage(**options: Any) -> Iterator[Stage]:
        league = League(tmp_path / "cup")
        league.publish(
            "league.json",
            {
                "name": "cup",
                "told": [["time", "10+0.1"]],
                "dates": {"closes": "2026-12-01T12:00:00+01:00"},
                "seasons": [{"tournament": "cup-1"}],
            },
        )
        token = league.author("anna")
        games = [{**LOST, "game": f"cup-1-{number:06}"} for number in range(25)]
        league.publish("authors/anna/games-1.json", {"games": [*games, {**LOST, **FORFEIT, "game": "cup-1-000025"}]})
        site = league_pages(league.folder / "site")
        with opened(league, check=checks.check, site=site) as door, browser.new_context(**options) as context:
            page = context.new_page()
            console, requests = heard(page)
            made = Stage(league, page, str(door.address), token)
            made.say(("fox/1", "active"))
            yield made
            assert context.cookies() == []
            assert all(url.startswith((made.address, "data:", "blob:")) and token not in url for url in requests)
            assert all(re.search("the server responded with a status of (4|502)", text) for text in console), console

    return stage


def test_nobody_gets_in_without_a_token_and_it_stays_in_its_tab(stage: Callable[..., Any]) -> None:
    with stage() as it:
        page = it.page
        policy = page.goto(f"{it.address}/me").headers["content-security-policy"]
        assert "script-src 'self'; style-src 'self';" in policy
        assert "require-trusted-types-for 'script'" in policy
        page.get_by_text("I have none yet").click()
        page.get_by_role("button", name="make a token").click()
        made = page.locator("#new")
        made.wait_for()
        with page.expect_download() as download:
            page.get_by_role("link", name="this file").click()
        page.get_by_role("button", name="sign in").click()
        page.locator("#said", has_text="its operator has to add yours first").wait_for()
        assert page.locator("#inside").is_hidden()
        it.league.keys[read_hash(Path(download.value.path()))] = "anna"
        it.league.publish("keys.json", it.league.keys)
        page.get_by_role("button", name="sign in").click()
        page.locator("#who", has_text="anna in cup").wait_for()
        page.reload()
        page.locator("#who", has_text="anna in cup").wait_for()
        other = page.context.new_page()
        other.goto(f"{it.address}/me")
        other.get_by_label("Your token").wait_for()
        page.get_by_role("button", name="sign out").click()
        assert page.evaluate("sessionStorage.length + localStorage.length") == 0
        assert "fox/1" not in page.inner_text("body")


def test_a_folder_is_submitted_followed_and_its_report_read(stage: Callable[..., Any], bot: Path) -> None:
    with stage() as it:
        it.league.publish("reports/anna/owl/1/check.json", CHECK)
        it.enter()
        it.page.route("**/versions?wait=5*", lambda route: route.fulfill(status=502), times=1)
        order = it.tried(lambda: it.page.locator("#folder").set_input_files(bot), "rejected")
        assert order["arguments"] == {"bot": "owl", "digest": pack(bot).digest, "size": order["arguments"]["size"]}
        it.page.locator("#report h2", has_text="owl/1").wait_for()
        assert it.page.evaluate("document.activeElement.id") == "report"
        report = it.page.inner_text("#report")
        assert CHECK["finding"] in report
        assert "IndexError: <script>" in report


def test_what_needs_one_word_is_asked_for_and_ordered(stage: Callable[..., Any]) -> None:
    orders = [
        ("match", "match", "bear"), ("hand over", "bot_author", "bert"), ("rename", "bot_display", "狐 & co"),
        ("leave the league", "author_remove", "anna"),
    ]  # fmt: skip
    with stage() as it:
        it.enter()
        for button, verb, word in orders:
            it.page.once("dialog", lambda dialog, word=word: dialog.accept(word))
            it.page.get_by_role("button", name=button).click()
            order = it.league.order(verb)
            assert word in order["arguments"].values(), order
            it.league.answer(order, {})
            it.page.locator("#said", has_text="The league has it").wait_for()
        it.league.publish(f"own/anna/{MATCH}.jsonl.zst", b"log")
        with it.page.expect_download() as download:
            it.page.locator("#notices").get_by_role("button", name="log").click()
        assert download.value.suggested_filename == f"{MATCH}.jsonl.zst"
        it.page.once("dialog", lambda dialog: dialog.accept())
        it.page.locator("#seat", has_text=f"You have a seat in {MATCH}").get_by_role("button", name="resign").click()
        it.page.locator("#said", has_text="expected a game of yours that is played, got: none yet").wait_for()


@pytest.mark.long
def test_a_folder_and_an_archive_can_be_dropped(stage: Callable[..., Any], bot: Path) -> None:
    def drop(path: str) -> None:
        protocol = it.page.context.new_cdp_session(it.page)
        box = it.page.locator("#drop").bounding_box()
        data = {"items": [], "files": [path], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            protocol.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 9, "y": box["y"] + 9, "data": data})

    with stage() as it:
        it.enter()
        assert it.tried(lambda: drop(str(bot)), "active")["arguments"]["digest"] == pack(bot).digest
        it.say(("fox/1", "active"))
        archive = shutil.make_archive(str(bot.parent / "v7"), "zip", bot.parent, bot.name)
        assert it.tried(lambda: drop(archive), "active")["arguments"]["bot"] == "owl", "the name is in the manifest"
        drop(str(bot / "owl.py"))
        it.page.locator("#said.fault").wait_for()


def test_lost_games_are_shown_with_replays_and_last_words(stage: Callable[..., Any]) -> None:
    with stage(
        viewport={"width": 390, "height": 800}, color_scheme="dark", timezone_id="Asia/Tokyo", locale="en-US"
    ) as it:
        it.league.publish("logs/cup-1-000025.jsonl.zst", b"log")
        it.enter()
        page = it.page
        rows = page.locator("#games tbody tr")
        rows.nth(19).wait_for()
        page.get_by_role("button", name="more").click()
        rows.nth(25).wait_for()
        assert rows.nth(1).locator("a").get_attribute("href") == "cup-1/game.html?n=24#seat=1"
        rows.first.get_by_text("why").click()
        told = rows.first.inner_text()
        assert all(text in told for text in ("<b>bear</b>/2", "<i>oh</i>", "expected a card of the hand, turn 7"))
        with page.expect_download() as download:
            rows.first.get_by_role("button", name="log").click()
        assert (download.value.suggested_filename, download.value.path().read_bytes()) == (
            "cup-1-000025.jsonl.zst",
            b"log",
        )
        page.locator("#only").select_option("forfeits")
        rows.nth(1).wait_for(state="detached")
        assert "10+0.1" in page.inner_text("#about")
        assert re.search(r"season closes\s+Dec 1, 2026, 8:00.PM", page.inner_text("#about")), "the reader is in Tokyo"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        it.league.revoke(it.token)
        page.locator("#only").select_option("lost")
        page.locator("#said", has_text="that the league knows").wait_for()
        assert page.locator("#inside").is_hidden()
