"""A database as a site: whole at every moment, equal from equal rows, harmless, and without what is not public."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from golden.logs import FOLDER
from hypothesis import given
from hypothesis import strategies as st

from arena.cli import cli
from arena.core import files
from arena.core.record.log import read_log
from arena.pages.exhibits import open_exhibits
from arena.pages.frames import film
from arena.pages.site import figures, replays
from arena.pages.site.figures import Scale
from arena.pages.site.page_writer import POLICY
from tests import site_kit

SITE = Path(replays.__file__).parent


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a finished tournament and its site, and its identifier. Tests leave them as they are."""
    folder = tmp_path_factory.mktemp("played")
    id = site_kit.tournament(folder)
    site_kit.make(folder)
    return folder, id


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_a_site_has_a_page_for_everything_and_every_link_leads_somewhere(played: tuple[Path, str]) -> None:
    folder, id = played
    site = folder / "site"
    names = {path.name for path in (site / id).iterdir()}
    assert names >= {"index.html", "game.html", "games-0.html", "bot-0.html", "bot-1.html", "bot-2.html"}
    assert site_kit.broken(site) == []
    first = text(site / "index.html")
    for word in ("ann", "Score against each other", "samurai", "arena tournament", "To play it again"):
        assert word in first
    assert first.count("<circle") == 3, "a dot for each bot"
    assert (site / id / replays.name_of(0)).is_file()
    assert not (site / id / replays.name_of(5)).exists(), "its log is no log"


def test_forfeits_have_their_cause_and_evidence(played: tuple[Path, str]) -> None:
    folder, id = played
    pages = "".join(text(folder / "site" / id / f"bot-{number}.html") for number in range(3))
    with open_exhibits(folder / "arena.db") as reader:
        forfeits = list(reader.forfeits(id))
    assert forfeits
    assert pages.count('class="forfeit"') == len(forfeits)
    assert "exceeded its time by 240 ms" in pages
    assert "still \\x1b[31mthinking" in pages, "made plain"
    assert "arena bot rerun" in pages


def test_two_sites_of_one_database_are_equal_and_so_is_one_that_grew(tmp_path: Path) -> None:
    site_kit.tournament(tmp_path, games=5)
    site_kit.make(tmp_path)
    before = site_kit.content(tmp_path / "site")
    assert site_kit.make(tmp_path).pages == 0
    assert site_kit.content(tmp_path / "site") == before
    site_kit.tournament(tmp_path)
    site_kit.tournament(tmp_path, seed="another")
    site_kit.make(tmp_path)
    site_kit.make(tmp_path, "anew")
    assert site_kit.content(tmp_path / "site") == site_kit.content(tmp_path / "anew")
    assert len(site_kit.content(tmp_path / "site")) > len(before)


def test_wherever_it_is_killed_the_old_site_or_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before each of its writes. The first page is the last, so all that people see leads somewhere."""
    site_kit.tournament(tmp_path, games=5)
    site_kit.make(tmp_path)
    old = text(tmp_path / "site" / "index.html")
    site_kit.tournament(tmp_path)
    write, left = files.write, 0

    def dying(path: Path, data: bytes, **options: bool) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        write(path, data, **options)

    monkeypatch.setattr(files, "write", dying)
    for writes in range(100):
        left = writes
        try:
            site_kit.make(tmp_path)
            break
        except KeyboardInterrupt:
            assert site_kit.broken(tmp_path / "site") == []
            assert text(tmp_path / "site" / "index.html") == old
    assert writes > 3
    monkeypatch.undo()
    site_kit.make(tmp_path, "anew")
    assert site_kit.content(tmp_path / "site") == site_kit.content(tmp_path / "anew")


def test_what_is_there_is_not_made_again_and_what_is_missing_is(tmp_path: Path) -> None:
    id = site_kit.tournament(tmp_path)
    built = site_kit.make(tmp_path)
    assert (built.replays, built.left) == (2, 0)
    assert len(built.faults) == 10, "the logs that are none"
    (tmp_path / "site" / id / "index.html").unlink()
    (tmp_path / "site" / id / "bot-1.html").unlink()
    (tmp_path / "site" / id / replays.name_of(1)).unlink()
    built = site_kit.make(tmp_path)
    assert (built.pages, built.replays) == (2, 1)


def test_before_the_first_game_there_are_pages_too(tmp_path: Path) -> None:
    id = site_kit.tournament(tmp_path, games=0)
    site_kit.make(tmp_path)
    assert site_kit.broken(tmp_path / "site") == []
    assert "No game is over yet" in text(tmp_path / "site" / id / "index.html")


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    id = site_kit.tournament(tmp_path, ("ann", "bob"))
    with sqlite3.connect(tmp_path / "arena.db") as database:
        database.execute("UPDATE entrants SET name = ?, version = ? WHERE number = 1", (site_kit.EVIL, site_kit.EVIL))
        database.execute(site_kit.WORDS, (site_kit.EVIL, json.dumps([site_kit.EVIL] * 3)))
    site_kit.make(tmp_path, title=site_kit.EVIL)
    pages = [page for page in (tmp_path / "site").rglob("*") if page.suffix in (".html", ".svg")]
    for page in pages:
        found = text(page)
        assert "<script>" not in found
        assert "<img src=https" not in found
        assert "\u202e" not in found
        assert "\0" not in found
        assert page.suffix == ".svg" or POLICY.replace("'", "&#39;") in found
    assert any("&lt;/td&gt;" in text(page) for page in pages if page.suffix == ".svg"), "shown, as text"
    assert (tmp_path / "site" / id / "bot-1.html").is_file()


def test_shared_pages_have_a_title_a_sentence_and_a_picture(played: tuple[Path, str], tmp_path: Path) -> None:
    folder, id = played
    site_kit.make(folder, str(tmp_path), address="http://a.example/cup")
    for site, address in ((folder / "site", ""), (tmp_path, f"http://a.example/cup/{id}/")):
        for page in (site / "index.html", *(site / id).glob("*.html")):
            where = address or f"{id}/" * (page.parent == site)
            assert f'<meta property="og:image" content="{where}preview.png">' in text(page)
            assert all(f'property="og:{name}" content="' in text(page) for name in ("title", "description"))
        assert (site / id / "preview.png").read_bytes().startswith(b"\x89PNG")


def test_a_hostile_display_name_is_not_shown(tmp_path: Path) -> None:
    id = site_kit.tournament(tmp_path, ("ann", "bob"))
    with sqlite3.connect(tmp_path / "arena.db") as database:
        change = "UPDATE entrants SET spec = json_set(spec, '$.display_name', ?) WHERE number = ?"
        database.executemany(change, [("\u202exof", 0), ("狐", 1)])
    site_kit.make(tmp_path)
    pages = [text(tmp_path / "site" / id / f"{page}.html") for page in ("bot-0", "bot-1", "index")]
    assert ['<bdi class="display"' in page for page in pages] == [False, True, True]
    assert "xof" not in "".join(pages)


def test_pages_have_no_style_of_their_own_and_ask_no_network() -> None:
    for path in [*SITE.glob("*"), *(SITE / "templates").glob("*")]:
        if path.suffix in (".jinja", ".js", ".css"):
            found = text(path)
            for word in ("style=", "http://", "https://", "innerHTML", "eval(", "fetch(", "url(", "|safe", " onclick"):
                assert word not in found, f"{path}: {word}"


def test_finished_tournaments_are_verified_once(tmp_path: Path) -> None:
    id = site_kit.tournament(tmp_path, ("ann", "bob"))
    site_kit.make(tmp_path, verify=True)
    kept = tmp_path / "site" / id / "promises.json"
    found = json.loads(kept.read_text())
    assert {fault["check"] for fault in found["audit"]["faults"]} >= {"log"}
    page = text(tmp_path / "site" / "index.html")
    assert "broken" in page
    assert f"{id}/{id}-000000.jsonl" in page
    assert str(tmp_path) not in kept.read_text(), "where the logs are is nobody's business"
    kept.write_text(json.dumps(found | {"audit": found["audit"] | {"faults": []}}))
    site_kit.make(tmp_path, verify=True)
    assert "✓ verified" in text(tmp_path / "site" / "index.html"), "what is kept is taken, not checked again"
    kept.write_text(json.dumps({"finished": "", "checks": 2, "audit": found["audit"] | {"faults": []}}))
    site_kit.make(tmp_path, verify=True)
    assert "broken" in text(tmp_path / "site" / "index.html"), "an earlier version looked at less"


def test_a_mark_goes_when_what_was_checked_differs(tmp_path: Path) -> None:
    id = site_kit.tournament(tmp_path, ("ann", "bob"))
    site_kit.make(tmp_path, verify=True)
    kept = tmp_path / "site" / id / "promises.json"
    found = json.loads(kept.read_text())
    kept.write_text(json.dumps(found | {"audit": found["audit"] | {"faults": []}}))
    log = next((tmp_path / "logs" / id).glob("*.jsonl"))
    before = log.read_bytes()
    copy = (tmp_path / "arena.db").read_bytes()
    changes: list[Callable[[], object]] = [
        lambda: log.unlink(),
        lambda: log.write_bytes(before.replace(b"1", b"2", 1)),
        lambda: log.with_name("more.jsonl.zst").write_bytes(b""),
        lambda: log.with_name("more.begun").write_bytes(b""),
        lambda: log.symlink_to(log.rename(tmp_path / "elsewhere")),
        lambda: _sql(tmp_path, "UPDATE seats SET figures = json_set(figures, '$.rank', 1)"),
        lambda: _sql(tmp_path, "CREATE VIEW more AS SELECT 1"),
    ]
    for change in changes:
        site_kit.make(tmp_path)
        assert f"✓ verified {found['found'][:10]}" in text(tmp_path / "site" / "index.html")
        change()
        site_kit.make(tmp_path)
        assert "✓ verified" not in text(tmp_path / "site" / "index.html")
        for path in (log, log.with_name("more.jsonl.zst"), log.with_name("more.begun")):
            path.unlink(missing_ok=True)
        log.write_bytes(before)
        (tmp_path / "arena.db").write_bytes(copy)


def _sql(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "arena.db", isolation_level=None)) as database:
        database.execute(statement)


def test_the_last_game_has_no_next_one(tmp_path: Path) -> None:
    id = site_kit.tournament(tmp_path, ("a", "b"), deals=2)
    site_kit.make(tmp_path)
    assert 'id="arena" data-last="3"' in text(tmp_path / "site" / id / "game.html")
    assert "if (at < +root.dataset.last)" in text(SITE / "replay.js")


def test_the_frames_have_the_folder_that_the_script_asks_for() -> None:
    assert f"`{replays.FOLDER}/" in text(SITE / "replay.js")


def test_games_share_what_they_are_drawn_with(tmp_path: Path) -> None:
    logs = [FOLDER / f"{name}.jsonl" for name in ("samurai-standard", "samurai-forfeits")]
    seats = [read_log(log).header.settings.players for log in logs]
    names = ("greedy", "greedy#2", "greedy#3", "greedy#4")
    reels = [
        replays.Reel(number, str(log), str(tmp_path), "cup", names[:count], ("渡鴉", *names)[:count])
        for number, (log, count) in enumerate(zip(logs, seats, strict=True))
    ]
    assert list(replays.make_all(reels, len(reels), 1, None)) == [(0, ""), (1, "")]
    sceneries = {text(tmp_path / "cup" / replays.name_of(number)).split('"')[1] for number in range(2)}
    assert all((tmp_path / "assets" / name).is_file() for name in sceneries)
    size = (tmp_path / "cup" / replays.name_of(0)).stat().st_size
    assert size < 12_000, "packed, and without the board"
    packed = text(tmp_path / "cup" / replays.name_of(0)).split('"')[5]
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert [seat["name"] for seat in data["seats"]] == ["greedy", "greedy#2"], "as the standings name them"
    assert [seat["display"] for seat in data["seats"]] == ["渡鴉", "greedy"]


@pytest.mark.parametrize("name", ["samurai-standard", "gardener-race"])
def test_what_games_share_has_every_symbol_as_each_game_has_it(name: str) -> None:
    log = read_log(FOLDER / f"{name}.jsonl")
    shown, shared = film(log)[0]["symbols"], film(log, whole=True)[0]["symbols"]
    assert len(shared) >= len(shown)
    assert {key: shared[key] for key in shown} == shown


def test_after_its_time_no_replay_is_begun(tmp_path: Path) -> None:
    reels = [replays.Reel(number, str(site_kit.LOG), str(tmp_path), "cup", ("a", "b"), ("", "")) for number in range(3)]
    assert list(replays.make_all(reels, 3, 1, 0)) == []


@given(st.lists(st.tuples(st.floats(-50, 100), st.floats(0, 40)), min_size=1, max_size=20))
def test_a_scale_shows_every_rating_within_it(intervals: list[tuple[float, float]]) -> None:
    scale = figures.scale_of(intervals)
    for middle, width in intervals:
        assert 0 < scale.at(middle) < 100
        assert 0 <= scale.at(middle - width) <= scale.at(middle) <= scale.at(middle + width) <= 100
    ticks = scale.ticks()
    assert len(ticks) <= 7
    assert all(scale.low <= tick <= scale.high for tick in ticks)


@given(st.floats(0.5, 1000), st.floats(-1000, 1000))
def test_ticks_are_few_and_in_order(width: float, low: float) -> None:
    ticks = Scale(low, low + width).ticks()
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= 7


@given(st.lists(st.floats(0, 1e6), max_size=50))
def test_a_histogram_counts_everything(times: list[float]) -> None:
    counts = figures.histogram(times)
    assert sum(counts) == len(times)
    bars = figures.bars(counts)
    assert sum(bar["count"] for bar in bars) == len(times)
    assert not bars or max(bar["height"] for bar in bars) == 100


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site_kit.tournament(tmp_path, ("ann", "bob"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str, code: int = 0) -> str:
    from click.testing import CliRunner

    done = CliRunner().invoke(cli, words)
    assert done.exit_code == code, done.output
    return done.output


def test_the_command_names_the_page(here: Path) -> None:
    said = run("site", "--no-verify", "--jobs", "1")
    assert said.splitlines()[-1] == "site/index.html"
    assert "2 replays are new" in said
    assert run("site", "--no-verify", "--quiet").strip() == "site/index.html"


def test_only_the_latest_games_have_replays_unless_more_are_asked_for(here: Path) -> None:
    said = run("site", "--no-verify", "--replays", "3", "--jobs", "1")  # the last two have no log that can be shown
    assert "Without a replay: 1 game. `arena site --replays all` makes them." in said
    [folder] = [path for path in (here / "site").iterdir() if path.is_dir() and path.name != "assets"]
    assert replays.made(folder) == {1}
    assert text(folder / "games-0.html").count("no replay") == 3
    assert site_kit.broken(here / "site") == []
    assert "0 replays" in run("site", "--no-verify", "--replays", "3", "--jobs", "1"), "not the next one"
    run("site", "--no-verify", "--replays", "all", "--jobs", "1")
    assert replays.made(folder) == {0, 1}
    assert "got: 'few'" in run("site", "--replays", "few", code=2)


def test_without_the_extra_the_command_says_what_to_install(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.core.extras.find_spec", lambda name: None)
    for words in (("site",), ("standings", "--plot", "a.svg")):
        said = run(*words, code=2)
        assert "pip install jinja2 matplotlib starlette uvicorn" in said


def test_a_folder_that_cannot_be_written_is_named(here: Path) -> None:
    (here / "taken").write_text("a file")
    assert "taken" in run("site", "-o", "taken/site", "--no-verify", code=2)


@pytest.mark.parametrize("form", ["svg", "png"])
def test_standings_are_drawn_alike_each_time(form: str, here: Path) -> None:
    pictures = []
    for name in ("one", "two"):
        run("standings", "--plot", f"{name}.{form}")
        pictures.append((here / f"{name}.{form}").read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG" if form == "png" else b"<?xml")
    assert len(pictures[0]) > 5_000
    run("standings", "--pool", "--plot", f"pool.{form}")
    assert "expected a file that ends with .svg or .png" in run("standings", "--plot", "a.gif", code=2)


def test_a_bot_s_page_begins_with_what_it_lost_and_by_how_much(played: tuple[Path, str]) -> None:
    folder, id = played
    with open_exhibits(folder / "arena.db") as reader:
        games, entrants = reader.shown_games(id), reader.entrants(id)
    for entrant in entrants:
        page = text(folder / "site" / id / f"bot-{entrant.number}.html")
        own = [game for game in games if entrant.number in game.entrants]
        ranks = [(game, game.seats[game.entrants.index(entrant.number)].rank) for game in own]
        lost = [game for game, rank in ranks if rank > 1]
        assert page.count('<tr class="lost">') == len(lost)
        assert page.count('<tr class="won">') + page.count('<tr class="drawn">') == len(own) - len(lost)
        assert f'id="only-{"lost" if lost else "all"}" checked' in page
        assert page.index('id="games"') < page.index('id="opponents"')
        for game in lost:
            lead = game.seats[game.entrants.index(entrant.number)].margin
            assert lead is not None
            row = page.partition(f'num">{game.number}</th>')[2].partition("</tr>")[0]
            assert f'<td class="num">{lead:+d}</td>'.replace("-", "\u2212") in row
