"""By which time a league removes what is old: its clock's, or that of its last sign of life."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from arena.league.folder import Folder
from arena.league.keeping import calendar
from arena.league.keeping.clearing import Clearing
from arena.league.keeping.housekeeping import Tidy
from arena.league.keeping.retention import DAY_S, QUALIFYING
from arena.league.service.inbox import new_order
from arena.league.service.orders import obey
from arena.league.settings import Logs, Settings
from arena.league.store import LeagueStore, open_league
from arena.league.store.controls import Alive
from tests import league_kit

NOON = 1_800_000_000.0
SETTINGS = Settings(name="cup")
LAST = Alive(NOON, "a", 1_000.0)


def at(monkeypatch: pytest.MonkeyPatch, alive: Alive) -> None:
    monkeypatch.setattr(calendar, "here", lambda: alive)
    monkeypatch.setattr(time, "time", lambda: alive.clock)


def tidy(store: LeagueStore, folder: Folder) -> None:
    duty = Tidy(store, folder, Logs(), lambda sentence: None)
    duty.look()
    duty.look()


@pytest.mark.parametrize(
    ("days", "boot", "up_days", "doubted"),
    [
        (0.9, "b", 0, False),  # the machine was off overnight
        (7, "a", 7, False),  # the service was off for a week, and the machine was not
        (7, "b", 0, True),  # who knows
        (7, "b", 7, True),  # another machine may have run for long
        (7, "a", -0.001, True),  # a container whose uptime begins anew
        (0.1, "a", -0.001, False),
        (40, "a", 0, True),
        (-40, "a", 0, True),
        (-40, "b", 0, True),
        (0, "a", 7, True),  # it stood still
        (40, "", 0, True),
    ],
)
def test_a_clock_is_believed_that_agrees_with_the_last_sign_of_life(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, days: float, boot: str, up_days: float, doubted: bool
) -> None:
    with open_league(folder.database) as store:
        store.set_control("alive", {"clock": LAST.clock, "boot": LAST.boot, "uptime": LAST.uptime})
        at(monkeypatch, Alive(NOON + days * DAY_S, boot, LAST.uptime + up_days * DAY_S))
        clock, due = calendar.clocks(store)
        assert (abs(clock - due) > DAY_S) is doubted
        most = NOON + max(0.0, up_days if boot == "a" else 0.0) * DAY_S if doubted else NOON + days * DAY_S
        assert calendar.now(store) <= most


def test_a_machine_that_says_nothing_of_itself_has_a_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(calendar, "_UPTIME", tmp_path / "none")
    assert calendar.here().boot == ""
    assert abs(calendar.here().clock - time.time()) < 60


def test_a_league_of_an_earlier_version_was_alive_at_its_last_game(tmp_path: Path) -> None:
    with league_kit.league(tmp_path) as store:
        assert store.controls.alive is None
        assert abs(calendar.now(store) - time.time()) < 60, "nothing was played that could be removed"
        league_kit.plan(store, *store.versions.active())
        [claim] = league_kit.claim(store)
        league_kit.record(store, claim)
        alive = store.controls.alive
        assert alive is not None
        assert abs(alive.clock - time.time()) < 60


@pytest.mark.parametrize("days", [40, -40])
def test_nothing_goes_while_the_clock_is_in_doubt_and_it_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    folder = Folder(tmp_path)
    folder.make()
    (folder.logs / QUALIFYING).mkdir()
    here, said = calendar.here(), list[str]()
    paths = [
        folder.answers / "a.json",
        folder.inbox / "b.json.bad",
        folder.submissions / ("0" * 64 + ".tar.zst"),
        folder.logs / QUALIFYING / "qualify-ab-0.jsonl.zst",
    ]
    with league_kit.league(tmp_path) as store:
        for path in paths:
            path.write_bytes(b"{}")
        store.commands.once("1", "retire", {}, dict)
        calendar.SignsOfLife(store, folder, said.append).look()
        store.notices.mark_read(0, 10**6)
        assert said == []

        def look() -> None:
            tidy(store, folder)
            Clearing(store, folder, said.append).look()

        at(monkeypatch, Alive(here.clock + days * DAY_S, here.boot, here.uptime + 60))
        look()
        assert [path for path in paths if not path.exists()] == []
        assert store.commands.answer("1") is not None
        for _ in range(2):
            calendar.SignsOfLife(store, folder, said.append).look()
        assert len(said) == 2
        [notice] = store.notices.of(None)
        assert f"trust-clock {tmp_path}" in notice.text
        # The operator's word of another clock counts for nothing.
        for seen, code in ((here.clock - 80 * DAY_S, "clock"), (time.time(), None)):
            given = new_order("trust_clock", {"minute": int(seen / 60)})
            assert obey(store, folder, SETTINGS, given).get("code") == code
        assert calendar.now(store) == time.time()
        look()
        assert [path for path in paths if path.exists()] == (paths if days < 0 else [])


def test_what_was_written_while_the_clock_was_back_is_not_old_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(tmp_path)
    folder.make()
    (folder.logs / QUALIFYING).mkdir()
    here = calendar.here()
    paths = [folder.inbox / "b.json.bad", folder.logs / QUALIFYING / "qualify-ab-0.jsonl.zst"]
    with league_kit.league(tmp_path) as store:
        calendar.SignsOfLife(store, folder, lambda sentence: None).look()
        at(monkeypatch, Alive(here.clock - 40 * DAY_S, here.boot, here.uptime + 60))
        calendar.SignsOfLife(store, folder, lambda sentence: None).look()
        for path in paths:
            path.write_bytes(b"{}")
            os.utime(path, (here.clock - 40 * DAY_S,) * 2)
        at(monkeypatch, Alive(here.clock + 120, here.boot, here.uptime + 120))
        calendar.SignsOfLife(store, folder, lambda sentence: None).look()
        tidy(store, folder)
        assert all(path.exists() for path in paths)
        assert store.controls.alive == Alive(here.clock + 120, here.boot, here.uptime + 120)


def test_nothing_in_a_league_asks_the_clock_itself_what_is_old() -> None:
    """Else a clock that jumps would remove it, or bar somebody."""
    root = Path(calendar.__file__).parents[1]
    asks = {
        f"{path.parent.name}/{path.name}": len(found)
        for path in root.rglob("*.py")
        if path.parent.name not in ("commands", "door", "live")  # they decide nothing that lasts
        if (found := re.findall(r"time\.time\(\)|datetime\.now\(|\bdays_ago\((?!self\._store)", path.read_text()))
    }
    assert asks == {
        "keeping/calendar.py": 3,  # it is the place
        "public/monitoring.py": 2,  # when the service began, when a page was written
        "service/inbox.py": 1,  # when an order was given: nobody compares it
        "submissions/submitting.py": 2,  # when a version came, and how many came in the day before
    }
