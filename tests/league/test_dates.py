"""The dates of a season: games begin, submissions freeze, it closes by itself, each once and in its zone."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.errors import ConfigError, Refused
from arena.league import dates
from arena.league.commands.tables import face_lines
from arena.league.folder import Folder
from arena.league.keeping import calendar
from arena.league.order_context import Order, OrderContext
from arena.league.season.closing import close_season
from arena.league.season.opening import make_league
from arena.league.service.inbox import OrderDuty
from arena.league.settings import Bots, Game, Season, Settings, load
from arena.league.store import open_league
from arena.league.submissions.submitting import check_frozen

HOUR = timedelta(hours=1)


def cup(tmp_path: Path, **given: str) -> Folder:
    game = Game(rules="samurai", ruleset="basic", time="5/move")
    folder = make_league(tmp_path / "cup", Settings(name="cup", game=game, bots=Bots(level="trusted")))
    text = folder.settings.read_text()
    for name, moment in given.items():
        text = text.replace(f'{name} = ""', f'{name} = "{moment}"')
    folder.settings.write_text(text)
    return folder


def local(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        ("2026-07-01 18:00", "2026-07-01T16:00"),
        ("2026-12-20 18:00", "2026-12-20T17:00"),
        ("2026-12-20T18:00-05:00", "2026-12-20T23:00"),
    ],
)
def test_a_date_is_of_its_zone_in_summer_and_in_winter(given: str, moment: str) -> None:
    found = dates.read("", "", given, "Europe/Berlin")
    assert found.closes == datetime.fromisoformat(f"{moment}+00:00").timestamp()
    assert datetime.fromisoformat(found.document()["closes"]).timestamp() == found.closes


@pytest.mark.parametrize(
    ("season", "message"),
    [
        (Season(closes="soon"), "expected a date and a time such as"),
        (Season(closes="2026-12-20"), "expected a date and a time such as"),
        (Season(closes="9999-12-31 23:59"), "expected a date and a time such as"),
        (Season(closes="0001-01-01 00:00", zone="Etc/GMT-14"), "expected a date and a time such as"),
        (Season(closes="2027-03-28 02:30", zone="Europe/Berlin"), "when clocks are put forward"),
        (Season(zone="Europe/Berln"), "expected a time zone such as"),
        (Season(zone="../../etc/passwd"), "expected a time zone such as"),
        (Season(freezes="2026-12-21 18:00", closes="2026-12-20 18:00"), "expected freezes before closes"),
        (Season(opens="2026-12-20 18:00", closes="2026-12-20 18:00"), "expected opens before closes"),
    ],
)
def test_what_is_no_date_is_refused(season: Season, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        season.dates  # noqa: B018


def test_utc_needs_no_database_of_time_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise dates.ZoneInfoNotFoundError(name)

    monkeypatch.setattr(dates, "ZoneInfo", missing)
    monkeypatch.setattr(dates, "available_timezones", set)
    read = Season(closes="2026-12-20 18:00").dates
    assert read.document() == {"closes": "2026-12-20T18:00:00+00:00"}
    assert read.closes is not None
    assert read.text(read.closes) == "2026-12-20 18:00 (UTC)"
    with pytest.raises(ConfigError, match=r"expected this machine's time zones, .*; install tzdata, or use UTC"):
        Season(zone="Europe/Berlin").dates  # noqa: B018


def test_a_season_closes_once_at_its_date_and_no_other_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    folder = cup(tmp_path, closes=local(now + 2 * HOUR))
    said: list[str] = []
    with open_league(folder.database) as store:
        duty = OrderDuty(store, folder, load(folder), 1, said.append)
        duty.look()
        assert not duty.closing
        monkeypatch.setattr(calendar, "now", lambda store: (now + 3 * HOUR).timestamp())
        duty.look()
        duty.look()
        assert duty.closing
        assert sum("closes, as was set" in each for each in said) == 1
        store.seasons.begin_final((), 0, "")
        close_season(store, folder, said.append)
    opened = (now + 3 * HOUR).isoformat()
    assert Season(closes=local(now + 2 * HOUR)).dates.of_season(opened).closes is None, "it was opened after that date"


def test_a_clock_in_doubt_closes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    folder = cup(tmp_path, closes=local(now + 50 * HOUR))
    with open_league(folder.database) as store:
        calendar.SignsOfLife(store, folder, print).look()
        real = calendar.here()
        monkeypatch.setattr(calendar, "here", lambda: replace(real, clock=real.clock + 80 * 3600))
        duty = OrderDuty(store, folder, load(folder), 1, print)
        duty.look()
        assert not duty.closing


def test_games_wait_for_the_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    folder = cup(tmp_path, opens=local(now + 2 * HOUR))
    with open_league(folder.database) as store:
        duty = OrderDuty(store, folder, load(folder), 1, print)
        assert duty.paused
        monkeypatch.setattr(calendar, "now", lambda store: (now + 3 * HOUR).timestamp())
        assert not duty.paused


@pytest.mark.parametrize(("hours", "taken"), [(1, True), (3, False)])
def test_submissions_freeze_by_when_they_were_sent(tmp_path: Path, hours: int, taken: bool) -> None:
    now = datetime.now(UTC)
    folder = cup(tmp_path, freezes=local(now + 2 * HOUR), closes=local(now + 9 * HOUR))
    order = Order(id="1", verb="submit", at=(now + hours * HOUR).isoformat())
    with open_league(folder.database) as store:
        context = OrderContext(store=store, folder=folder, settings=load(folder), order=order, archive=None)
        if taken:
            check_frozen(context)
        else:
            with pytest.raises(Refused, match=r"expected a submission before .* \(UTC\), .* froze, got: a later one"):
                check_frozen(context)


def test_dates_are_told_in_the_readers_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    soon = (datetime.now(UTC) + timedelta(minutes=47)).isoformat()
    league = {"told": [("time", "10s")], "dates": {"opens": soon, "freezes": "2126-12-20T18:00:00+01:00"}}
    try:
        lines = list(face_lines(league, "--league cup", is_here=False))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert any(line.startswith("  submissions freeze: Sat 21 Dec 2126, 02:00 JST (in ") for line in lines)
    assert any(line.endswith("JST (in 47 minutes)") for line in lines)
