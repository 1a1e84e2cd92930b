"""Extends a finished round-robin: more deals, another bot, a changed bot. What is still valid is not played again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from arena.core.errors import ConfigError
from arena.core.ratings.running import Rating
from arena.core.store.finding import identified
from arena.core.store.reader import Reader
from arena.core.store.records import Tournament
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.settings import BotSettings, Settings
from arena.core.types import Payload, TimeControl, seconds_text

LATEST: Final = "latest"  # stands for the latest finished tournament that can be extended
_FREE: Final = ("deals", "seed", "format", "planning", "extends", "unchanged", "played")
"""Settings that may differ from the tournament that is extended, and the bots."""


class Extended(msgspec.Struct, frozen=True, kw_only=True):
    """What is played to extend a tournament."""

    settings: Settings
    starts: tuple[Rating, ...]
    """Running rating that each entrant begins with."""
    of: str
    told: tuple[str, ...]
    """Sentences about what is reused, and what is played anew and why."""
    gone: tuple[str, ...]
    """Entrants of that tournament whose games are left out."""


def extend(reader: Reader, wanted: Settings, base: str) -> Extended:
    """Returns the tournament of the games that are missing.

    Args:
        wanted: The round-robin that there is to be in the end.
        base: The identifier of the tournament that is extended, or `LATEST`.

    Raises:
        ConfigError: That tournament cannot be extended to this one.
        StoreError: There is no such tournament.
    """
    if not isinstance(wanted.format, RoundRobin):
        raise ConfigError("expected --format round-robin with --extend, got another; other formats cannot be extended")
    before = _base(reader, wanted, base)
    own = {key: value for key, value in wanted.document().items() if key not in _FREE}
    told = {key: value for key, value in before.settings.items() if key not in _FREE}
    if differing := list(differences({**told, "bots": []}, {**own, "bots": []})):
        raise ConfigError(
            f"expected the settings of tournament {before.id}, got others: {'; '.join(differing)}; "
            "give the same options, or begin another tournament without --extend"
        )
    starts = starts_of(reader, before.id, wanted.bots)
    entered = {entrant.name for entrant in reader.entrants(before.id)}
    unchanged = [number for number, start in enumerate(starts) if start is not None]
    anew = [
        f"{bot.name} ({'its files have changed' if bot.name in entered else 'new'})"
        for bot, start in zip(wanted.bots, starts, strict=True)
        if start is None
    ]
    format = Extension(
        deals=wanted.format.deals,
        seatings=wanted.format.seatings,
        extends=before.id,
        unchanged=tuple(unchanged),
        played=before.settings["deals"],
    )
    gone = tuple(bot["name"] for bot in before.settings["bots"] if bot["name"] not in {one.name for one in wanted.bots})
    return Extended(
        settings=replace(wanted, format=format),
        starts=tuple(start or Rating() for start in starts),
        of=before.id,
        told=tuple(_told(wanted, format, before, anew, [bot.name for bot in wanted.bots], gone)),
        gone=gone,
    )


def starts_of(reader: Reader, before: str, bots: Sequence[BotSettings]) -> list[Rating | None]:
    """Returns by bot the running rating that it has after an earlier tournament; None if it, or its files, are new."""
    ratings = reader.ratings(before)
    earned = {(was.name, was.digest): ratings[was.number] for was in reader.entrants(before)}
    return [earned.get((bot.name, bot.digest)) for bot in bots]


def _base(reader: Reader, wanted: Settings, base: str) -> Tournament:
    if base == LATEST:
        rules, ruleset = wanted.game.rules, wanted.game.ruleset
        for found in reader.finished_ones(rules, ruleset):
            if found.settings["format"] in ("round-robin", "extension"):
                return found
        raise ConfigError(
            f"expected a finished round-robin of {rules} {ruleset} to extend, got none - at {reader.path}; "
            "leave out --extend to begin one"
        )
    found = reader.tournament(identified(reader, base))
    if found.settings["format"] not in ("round-robin", "extension"):
        raise ConfigError(f"expected a round-robin to extend, got: {found.id} is a {found.settings['format']}")
    if found.status != "finished":
        raise ConfigError(
            f"expected a finished tournament to extend, got: {found.id} has {found.games - found.rated} games left; "
            "finish it with the command that began it"
        )
    return found


def _told(
    wanted: Settings, format: Extension, before: Tournament, anew: list[str], names: list[str], gone: Sequence[str]
) -> list[str]:
    reused = math.comb(len(format.unchanged), wanted.game.players)
    kept = [names[number] for number in format.unchanged]
    sentences = []
    if reused:
        sentences.append(f"Reused from {before.id}: {format.played} deals of every pairing of {', '.join(kept)}.")
        if format.deals > format.played:
            sentences.append(f"They play {format.deals - format.played} more.")
    if anew:
        sentences.append(f"Played anew: all {format.deals} deals of {', '.join(anew)}.")
    if gone:
        sentences.append(f"Left out: the games of {', '.join(gone)}.")
    return sentences


MOST_DIFFERENCES: Final = 3  # a tournament with more differences is another one, not almost the same


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
