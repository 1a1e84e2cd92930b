"""The pages of a league: what everybody may see, and nothing else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import msgspec
import pytest

from arena.core.plugs import NotLoaded
from arena.core.record import compressed
from arena.league.folder import Folder
from arena.league.public import documents
from arena.league.public.showing import Showing
from arena.league.settings import Settings
from arena.league.store import LeagueStore
from arena.pages.live.scores import LiveStandings
from arena.pages.site import replays
from arena.pages.site.build import Wish, build
from tests import league_kit, site_kit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with league_kit.league(tmp_path, "anna") as store:
        yield store


@pytest.fixture
def cup(store: LeagueStore, tmp_path: Path) -> str:
    """A league in which two matches are over, one with a forfeit, and the first is published."""
    random, greedy = store.versions.active()
    assert random.entrant is not None
    for _ in range(2):
        league_kit.play(store, random, greedy, forfeits=(random.entrant,))
    assert len(store.matches.over()) == 2
    store.matches.publish(0)
    logs = tmp_path / "published" / "logs"
    logs.mkdir(parents=True)
    season = league_kit.season(store).tournament
    for number in range(4):  # one too many is there: it must not be shown all the same
        packed = compressed.compress(site_kit.LOG.read_bytes())
        (logs / f"{season}-{number:06d}.jsonl{compressed.SUFFIX}").write_bytes(packed)
    return season


def test_of_a_league_that_just_began_there_is_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with league_kit.league(tmp_path, "anna") as store:
        assert "No game" in (make(store, tmp_path) / "index.html").read_text()
        monkeypatch.setenv("ARENA_WINGS", "pages")
        with pytest.raises(NotLoaded, match="expected the wing 'league' to be loaded"):
            make(store, tmp_path)


def test_a_league_has_a_face_from_its_first_minute(store: LeagueStore, tmp_path: Path) -> None:
    face = documents.league(store, Settings(name="cup"), Folder(tmp_path))
    face["dates"] = {"opens": None, "closes": "2026-12-01T12:00:00+01:00"}
    items = [{"name": "greedy/1", "rank": 7}]
    final = {"outcome": None, "deals": 3, "most_deals": 40, "finalists": ["greedy/1", "random/1"], "items": items}
    rows = [{"name": name, "rank": rank} for rank, name in enumerate(("random/1", "greedy/1"), 1)]
    told = {"season": face["season"], "final": final, "items": rows}
    (tmp_path / "published").mkdir()
    for name, document in (("league", face), ("standings", told)):
        (tmp_path / "published" / f"{name}.json").write_bytes(msgspec.json.encode(document))
    page = (make(store, tmp_path) / "index.html").read_text()
    for words in ("Take part", "<code>arena rules show samurai</code>", "3 bots, 3 versions that wait", "now tried",
                  "arena league submit ./NAME --at ADDRESS",
                  '<time datetime="2026-12-01T12:00:00+01:00">2026-12-01 11:00 UTC</time>'):  # fmt: skip
        assert words in page
    assert "arena bot new NAME\narena match ./NAME random --rules samurai\n" in page
    assert page.count(" · final: 7") == page.count(" · final: ") == 1
    assert "The final is being played by 2 versions: 3 of at most 40 deals. First is random/1." in page
    assert page.index(">random/1</a>") < page.index(">greedy/1</a>")
    assert "Who played the final comes first, and the others follow by their ratings. Provisional: a rating" in page
    face["address"] = "https://cup.example#sha256=1b"
    (tmp_path / "published" / "league.json").write_bytes(msgspec.json.encode(face))
    assert '<a href="https://cup.example/me">my bots</a>' in (make(store, tmp_path) / "index.html").read_text()
    board = LiveStandings(store.path, title="cup", endless=True)
    assert board.read()
    assert board.scores.title == "cup: the final, 3 of at most 40 deals"


def test_the_games_of_a_season_are_those_that_count(store: LeagueStore, cup: str, tmp_path: Path) -> None:
    assert "4 games ·" in (make(store, tmp_path) / "index.html").read_text()
    store.matches.strike([1], "a test")
    store.matches.void(2, "a test")  # which was to be played instead
    league_kit.play(store, *store.versions.active(), rated=False)
    assert documents.league(store, Settings(name="cup"), Folder(tmp_path))["games"] == 2
    assert "2 games, 6 not counted ·" in (make(store, tmp_path) / "index.html").read_text()


def make(store: LeagueStore, folder: Path) -> Path:
    build(Wish(database=store.path, folder=folder / "site", title="Cup"), site_kit.quiet)
    return folder / "site"


def test_only_published_matches_are_shown(store: LeagueStore, cup: str, tmp_path: Path) -> None:
    site = make(store, tmp_path)
    assert replays.made(site / cup) == {0, 1}
    assert site_kit.broken(site) == []
    games = (site / cup / "games-0.html").read_text()
    assert 'id="g1"' in games
    assert 'id="g2"' not in games
    store.matches.publish(1)
    make(store, tmp_path)
    assert replays.made(site / cup) == {0, 1, 2, 3}
    assert 'id="g3"' in (site / cup / "games-0.html").read_text()


def test_what_a_bot_said_is_its_author_s_alone(store: LeagueStore, cup: str, tmp_path: Path) -> None:
    site = make(store, tmp_path)
    pages = "".join(page.read_text() for page in site.rglob("*.html"))
    assert pages.count('class="forfeit"') == 2
    for hidden in ("seat 0 ended", "seat 1 ended", "<pre tabindex", "arena bot rerun", "arena tournament"):
        assert hidden not in pages
    assert "arena league" in pages


def test_a_replay_goes_with_its_log(store: LeagueStore, cup: str, tmp_path: Path) -> None:
    site = make(store, tmp_path)
    for log in (tmp_path / "published" / "logs").glob("*-000001.*"):
        log.unlink()
    make(store, tmp_path)
    assert replays.made(site / cup) == {0}
    assert "game.html?n=1" not in (site / cup / "games-0.html").read_text()


def test_a_version_that_plays_no_more_is_named_so(store: LeagueStore, cup: str, tmp_path: Path) -> None:
    version = league_kit.active(store, "fox")
    league_kit.play(store, version, store.versions.active()[0])
    page = make(store, tmp_path) / cup / "index.html"
    assert "anna" in page.read_text()
    assert "superseded" not in page.read_text()
    league_kit.active(store, "fox", "other")
    make(store, tmp_path)
    assert "superseded" in page.read_text()


# The service's side

COUNT = count()  # games that are rated: at each look more


def until(happened: Callable[[], bool], look: Callable[[], object]) -> None:
    while not happened():
        look()
        time.sleep(0.01)


def program(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_process_that_fails_is_told_of_once(tmp_path: Path) -> None:
    said: list[str] = []
    showing = Showing(
        tmp_path, 0.001, said.append, lambda: next(COUNT), program("import sys; sys.exit('no \\x1b[2J ink')")
    )
    marks = iter(range(10**9))
    until(lambda: bool(said), showing.look)
    until(lambda: next(marks) > 100, showing.look)
    showing.finish()
    assert said == ["The pages are not made: no \\x1b[2J ink"]


def test_at_the_end_the_pages_are_made_once_more(tmp_path: Path) -> None:
    said: list[str] = []
    showing = Showing(
        tmp_path, 3600, said.append, lambda: next(COUNT), program(f"open({str(tmp_path / 'made')!r}, 'a').write('x')")
    )
    showing.look()
    assert not (tmp_path / "made").exists(), "it is not time yet"
    showing.finish()
    assert (tmp_path / "made").read_text() == "x"
    assert said == []


def test_if_nothing_was_rated_they_are_not_made_again(tmp_path: Path) -> None:
    code = program(f"open({str(tmp_path / 'made')!r}, 'a').write('x')")
    Showing(tmp_path, 3600, [].append, lambda: 7, code).finish()
    assert not (tmp_path / "made").exists()


def test_a_process_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.league.public.showing.PATIENCE_S", 0.2)
    said: list[str] = []
    Showing(tmp_path, 3600, said.append, lambda: next(COUNT), program("import time; time.sleep(600)")).finish()
    assert said == ["The pages are not all made: the service ends"]


def test_without_the_extra_the_operator_is_told_and_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.core.extras.find_spec", lambda name: None)
    said: list[str] = []
    showing = Showing(
        tmp_path, 0.001, said.append, lambda: next(COUNT), program(f"open({str(tmp_path / 'made')!r}, 'a')")
    )
    showing.look()
    showing.finish()
    assert not (tmp_path / "made").exists()
    assert "pip install jinja2 matplotlib starlette uvicorn" in said[0]


def test_no_pages_are_made_if_the_operator_wants_none(tmp_path: Path) -> None:
    showing = Showing(tmp_path, 0, [].append, lambda: next(COUNT), program("raise SystemExit(1)"))
    showing.look()
    showing.finish()
