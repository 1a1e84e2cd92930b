"""What a league forgets of orders and notices, and what it must not."""

from __future__ import annotations

from pathlib import Path

import msgspec

from arena.core import files
from arena.league.folder import Folder
from arena.league.keeping import housekeeping as forgetting
from arena.league.keeping.housekeeping import Forget
from arena.league.service.inbox import ASIDE_DAYS, Inbox, new_order
from arena.league.settings import Settings
from arena.league.store import LeagueStore, open_league
from arena.league.store.notices import NOTICES


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
        Forget(store, folder).look()
        assert rows(store, "commands") == 51, "they are new"
        store._db.execute("UPDATE commands SET at = '2025-01-01T00:00:00+00:00'")
        files.write(folder.inbox / f"{given.id}.json", msgspec.json.encode(given))
        duty = Forget(store, folder)
        duty.look()
        assert rows(store, "commands") == 1, "the first is kept"
        inbox.look()
        assert msgspec.json.decode(folder.answer(given.id).read_bytes()) == {"author": "anna"}, "as it was answered"
        duty.look()
        assert rows(store, "commands") == 1, "it is looked once an hour"
        Forget(store, folder).look()
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
        Forget(store, folder).look()
        assert len(store.notices.of("anna", limit=1000)) == NOTICES
        assert len(store.notices.of(None, limit=1000)) == 150, "nobody has read them"
        store.notices.mark_read(0, 10**9)
        Forget(store, folder).look()
        assert store.notices.of(None) == []


def test_the_docs_name_the_rule() -> None:
    text = (Path(__file__).parents[2] / "docs" / "league-running.md").read_text(encoding="utf-8")
    assert f"| an order that was obeyed or refused, as a row of the database | {forgetting.ORDER_DAYS} days |" in text
    assert f"| an order that was put aside, as `ORDER.json.bad` | {ASIDE_DAYS} days |" in text
    assert f"| a notice | {forgetting.NOTICE_DAYS} days; the last {NOTICES} of each author," in text
