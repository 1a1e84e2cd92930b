"""Finds tournaments in the database that are the one that was asked for, or almost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from arena.core.store.reader import Reader
from arena.core.store.records import Tournament
from arena.core.tournament.settings import Settings
from arena.core.types import Payload, TimeControl, seconds_text

MOST_DIFFERENCES: Final = 3
"""A tournament with more differences is another one, not almost the same."""


class Likeness(msgspec.Struct, frozen=True):
    """An unfinished tournament that is almost the one that was asked for."""

    tournament: Tournament
    differences: tuple[str, ...]
    """Each as a phrase: `deals 30 there, 40 here`."""


def almost(reader: Reader, settings: Settings) -> Likeness | None:
    """Returns the unfinished tournament that is most like these settings, or None if none is almost like them."""
    wanted = settings.document()
    found = [
        Likeness(tournament, tuple(differences(tournament.settings, wanted))) for tournament in reader.unfinished_ones()
    ]
    near = [likeness for likeness in found if 0 < len(likeness.differences) <= MOST_DIFFERENCES]
    return min(near, key=lambda likeness: len(likeness.differences), default=None)


def differences(there: Payload, here: Payload) -> Iterator[str]:
    """Yields each way in which the settings of two tournaments differ."""
    one, other = _flat(there), _flat(here)
    for key in sorted(one.keys() | other.keys()):
        if key != "bots" and one.get(key) != other.get(key):
            yield f"{key.replace('_', ' ')} {_words(one.get(key))} there, {_words(other.get(key))} here"
    yield from _of_bots(there["bots"], here["bots"])


def _of_bots(there: list[Payload], here: list[Payload]) -> Iterator[str]:
    before, now = ({bot["name"]: bot for bot in bots} for bots in (there, here))
    for name in sorted(before.keys() - now.keys()):
        yield f"{name} only there"
    for name in sorted(now.keys() - before.keys()):
        yield f"{name} only here"
    for name in sorted(before.keys() & now.keys()):
        if before[name]["digest"] != now[name]["digest"]:
            is_clock = before[name].get("time") != now[name].get("time")
            yield f"another clock of {name}" if is_clock else f"the files of {name} have changed since"
    if before == now and list(before) != list(now):
        yield "the order of the bots"


def _flat(settings: Payload) -> dict[str, Any]:
    """Returns the settings without nesting, in the words of the command line."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if key == "game":
            flat |= {f"rule {name}": option for name, option in value["options"].items()}
            flat |= {name: inner for name, inner in value.items() if name not in ("options", "time", "board")}
            time = msgspec.convert(value["time"], TimeControl)
            flat["time"] = str(time)
            if time.cpu_ms is not UNSET:
                flat["cpu"] = seconds_text(time.cpu_ms)
            flat["board"] = value["board"] and f"{value['board']['name']} ({value['board']['hash'][:8]})"
        else:
            flat[key] = value
    return flat


def _words(value: Any) -> str:
    if isinstance(value, Mapping | list | tuple):
        return msgspec.json.encode(value).decode()
    return "none" if value is None else str(value)
