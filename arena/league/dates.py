"""The dates of a season: when its games begin, when submissions freeze, and when it closes by itself.

Law: a date is of the open season only if that was opened before it. So what is left in `league.toml` from the season
before closes no other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import msgspec

from arena.core.face import Payload, errors

_SHAPE: Final = "%Y-%m-%d %H:%M"
_EARLIEST, _LATEST = datetime(1970, 1, 2), datetime(9000, 1, 1)


class Dates(msgspec.Struct, frozen=True):
    """Moments in seconds since 1970, each None where nothing was set; and the time zone that they were set in."""

    opens: float | None = None
    freezes: float | None = None
    closes: float | None = None
    zone: str = "UTC"

    def of_season(self, opened: str | None) -> Dates:
        """Returns those that are of a season, by when that was opened (ISO 8601); none of None, where none is open."""
        since = math.inf if opened is None else datetime.fromisoformat(opened).timestamp()
        given = {name: moment for name, moment in self.each() if moment > since}
        return Dates(zone=self.zone, **given)

    def each(self) -> Iterator[tuple[str, float]]:
        """Yields the name and the moment of each that is set."""
        for name in ("opens", "freezes", "closes"):
            if (moment := getattr(self, name)) is not None:
                yield name, moment

    def text(self, moment: float) -> str:
        """Returns a moment as its operator wrote it: `2026-12-20 18:00 (Europe/Berlin)`."""
        return f"{datetime.fromtimestamp(moment, _zone(self.zone)):{_SHAPE}} ({self.zone})"

    def document(self) -> Payload:
        """Returns them as ISO 8601 with their offset, for programs and pages."""
        zone = _zone(self.zone)
        return {name: datetime.fromtimestamp(moment, zone).isoformat() for name, moment in self.each()}


def read(opens: str, freezes: str, closes: str, zone: str) -> Dates:
    """Reads dates as `league.toml` has them.

    Raises:
        ConfigError: One is no date, or they are not in this order. Show the message to the operator.
    """
    try:
        where = _zone(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # of a name that is none, no path below, or a folder
        if not available_timezones():
            raise errors.ConfigError(
                f"expected this machine's time zones, to find {zone!r}, got: none; install tzdata, or use UTC"
            ) from None
        raise errors.ConfigError(
            f'expected a time zone such as "Europe/Berlin" or "UTC", got: {zone!r}; correct it'
        ) from None
    given = {"opens": opens, "freezes": freezes, "closes": closes}
    found = {name: _moment(text, where) for name, text in given.items() if text}
    for one, other in pairwise(found):
        if found[one] >= found[other]:
            raise errors.ConfigError(
                f"expected {one} before {other}, got: {given[one]!r} and {given[other]!r}; correct one of them"
            )
    return Dates(zone=zone, **found)


def _zone(name: str) -> tzinfo:
    """Returns a time zone. UTC is there without a database, which small machines lack."""
    return UTC if name == "UTC" else ZoneInfo(name)


def _moment(text: str, zone: tzinfo) -> float:
    try:
        found = datetime.fromisoformat(text)
        if not _EARLIEST <= found.replace(tzinfo=None) <= _LATEST or ("T" not in text and ":" not in text):
            raise ValueError
    except ValueError:
        raise errors.ConfigError(
            f'expected a date and a time such as "2026-12-20 18:00", got: {text!r}; correct it'
        ) from None
    moment = (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    if not found.tzinfo and datetime.fromtimestamp(moment, zone).replace(tzinfo=None) != found:
        raise errors.ConfigError(
            f"expected a time that there is in {zone}, got: {text!r}, when clocks are put forward; choose another"
        )
    return moment
