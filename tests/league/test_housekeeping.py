"""What a league forgets: logs whose time is over, of every season and of everybody, and old orders and notices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import msgspec
import pytest

from arena.core import files
from arena.league.folder import Folder
from arena.league.keeping import housekeeping
from arena.league.keeping import housekeeping as forgetting
from arena.league.keeping.housekeeping import ASIDE_DAYS, AT_ONCE, Tidy
from arena.league.service.inbox import Inbox, new_order
from arena.league.settings import Logs, Settings
from arena.league.store import LeagueStore, open_league
from arena.league.store.notices import NOTICES
from arena.league.store.played import EndedGame
from tests import league_kit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with league_kit.league(tmp_path, "anna") as store:
        yield store


@pytest.mark.parametrize(
    ("rule", "left"), [(Logs(days=10**6, forfeit_days=10**6), 8), (Logs(days=0), 2), (Logs(days=0, forfeit_days=0), 0)]
)
def test_what_the_rule_does_not_keep_is_removed(
    store: LeagueStore, tmp_path: Path, rule: Logs, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four games, each with a log and a published one. In the first, somebody forfeits."""
    folder = Folder(tmp_path)
    folder.make()
    random, greedy = store.versions.active()
    assert random.entrant is not None
    season = league_kit.season(store)
    logs = folder.logs / season.tournament
    logs.mkdir()
    (folder.published / "logs").mkdir()
    league_kit.plan(store, random, greedy)
    league_kit.plan(store, random, greedy)
    times = count()
    monkeypatch.setattr("arena.core.store.store.now", lambda: f"2026-01-01T12:00:{next(times):02d}+00:00")
    for forfeits in ((random.entrant,), (), (), ()):
        [claimed] = league_kit.claim(store)
        league_kit.record(store, claimed, forfeits)
        (logs / f"{claimed.game}.jsonl.zst").write_text("log")
        (folder.published / "logs" / f"{claimed.game}.jsonl.zst").write_text("log")
    said: list[str] = []
    tidy = Tidy(store, folder, rule, said.append)
    tidy.look()
    tidy.look()
    assert len([*logs.iterdir(), *(folder.published / "logs").iterdir()]) == left
    assert bool(said) == (left < 8)
    assert store.games.done(season.tournament) == 4
    tidy.look()
    assert len(said) <= 1


class Looked:
    """Files of games that do not exist that counts what is asked of it."""

    def __init__(self) -> None:
        self.sized = 0
        self.removed: list[str] = []

    def sizes(self) -> Iterator[int]:
        yield from [1] * 3_000

    def size(self, game: str, seats: int) -> int:
        self.sized += 1
        return 1

    def remove(self, game: str, seats: int) -> None:
        self.removed.append(game)


@pytest.mark.parametrize("rule", [Logs(days=10**6, forfeit_days=10**6), Logs(days=0)])
def test_one_look_reads_and_removes_a_bounded_number_of_games(
    store: LeagueStore, tmp_path: Path, rule: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million games were read in one turn of the loop once, and held it for up to a minute."""
    folder = Folder(tmp_path)
    folder.make()
    read = 0

    def ended(self: object) -> Iterator[EndedGame]:
        nonlocal read
        for number in range(4_000):
            read += 1
            yield EndedGame(f"cup-1-{number:06}", 0.0, 2)

    game_files = Looked()
    monkeypatch.setattr(type(store.played), "ended", ended)
    monkeypatch.setattr(housekeeping, "GameFiles", lambda folders: game_files)
    said: list[str] = []
    tidy = Tidy(store, folder, rule, said.append)
    for looks in range(10, 0, -1):
        before = (read, len(game_files.removed))
        tidy.look()
        assert read - before[0] <= AT_ONCE + 1
        assert len(game_files.removed) - before[1] <= AT_ONCE
        if looks == 2:
            assert not said, "it is not at the end before the last look"
    assert len(game_files.removed) == (4_000 if rule.days == 0 else 0)
    assert read == len(game_files.removed) or read == 1, "what is young is not even read"
    assert bool(said) == (rule.days == 0)


def rows(store: LeagueStore, table: str) -> int:
    return int(store._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_refused_orders_do_not_stay_for_ever(folder: Folder) -> None:
    """Nor is one obeyed twice that is there again, for instance from a backup."""
    with open_league(folder.database) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        inbox = Inbox(store, folder, Settings(name="cup"), lambda sentence: None)
        given = new_order("author_add", {"name": "anna"})
        files.write(folder.inbox / f"{given.id}.json", msgspec.json.encode(given))
        inbox.look()
        for number in range(50):
            store.commands.once(f"{number}", "retire", {"bot": "none"}, dict, "anna")
        Tidy(store, folder, Logs(), print).look()
        assert rows(store, "commands") == 51, "they are new"
        store._db.execute("UPDATE commands SET at = '2025-01-01T00:00:00+00:00'")
        files.write(folder.inbox / f"{given.id}.json", msgspec.json.encode(given))
        duty = Tidy(store, folder, Logs(), print)
        duty.look()
        assert rows(store, "commands") == 1, "the first is kept"
        inbox.look()
        assert msgspec.json.decode(folder.answer(given.id).read_bytes()) == {"author": "anna"}, "as it was answered"
        duty.look()
        assert rows(store, "commands") == 1, "it is looked once an hour"
        Tidy(store, folder, Logs(), print).look()
        assert rows(store, "commands") == 0


def test_what_a_status_shows_stays_however_old(folder: Folder) -> None:
    with open_league(folder.database) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        store.authors.add("anna")
        with store.transaction():
            for number in range(150):
                store.notices.add("anna", "note", str(number))
                store.notices.add(None, "note", str(number))
            store._db.execute("UPDATE notices SET at = '2025-01-01T00:00:00+00:00'")
        Tidy(store, folder, Logs(), print).look()
        assert len(store.notices.of("anna", limit=1000)) == NOTICES
        assert len(store.notices.of(None, limit=1000)) == 150, "nobody has read them"
        store.notices.mark_read(0, 10**9)
        Tidy(store, folder, Logs(), print).look()
        assert store.notices.of(None) == []


def test_the_docs_name_the_rule() -> None:
    text = (Path(__file__).parents[2] / "docs" / "league-running.md").read_text(encoding="utf-8")
    assert f"| an order that was obeyed or refused, as a row of the database | {forgetting.ORDER_DAYS} days |" in text
    assert f"| an order that was put aside, as `ORDER.json.bad` | {ASIDE_DAYS} days |" in text
    assert f"| a notice | {forgetting.NOTICE_DAYS} days; the last {NOTICES} of each author," in text
