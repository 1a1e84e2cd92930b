"""Checks that a season can go on with the settings as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from arena.core.face import Payload, errors, game_rows
from arena.league.settings import Settings, place

_KEYS: Final = ("level", "players", "rules", "ruleset", "options", "board", "time", "race_window_ms")
"""What of a season's settings the operator sets, under the same names. What others follow from comes first."""


def check_season(settings: Settings, season: str, fixed: Payload, where: str, text: str) -> None:
    """Checks that a season can go on with these settings: that no rating would be mixed with one of another game.

    Args:
        fixed: What it began with: its tournament's settings.
        where: How errors call the file.

    Raises:
        ConfigError: Something that ratings depend on has changed. The message names it, and how a season is started.
    """
    for key, old, new in _differences(fixed, settings.season_settings()):
        began, now = game_rows.canonical(old), game_rows.canonical(new)
        told = f"expected {key} as when the season {season!r} began, {began}, got: {now}"
        if key not in _KEYS:
            raise errors.ConfigError(
                f"{told}, by which this version of arena plays; finish the season with the version that began it, or "
                "end it with `arena league season close`"
            )
        raise errors.ConfigError(
            f"{told} - at {place(where, text, 'bots' if key == 'level' else 'game', key)}; ratings of both would be "
            "mixed: set it back, or end the season with `arena league season close`, and the next one begins with it"
        )


def _differences(old: Payload, new: Payload) -> Iterator[tuple[str, Any, Any]]:
    """Yields what differs between two settings of a season: its name, the old value, the new one.

    How long a bot's process is kept is the season's to the end, whatever this version of arena would do. Its chance is
    that of the version that plays, which `arena verify` knows.
    """
    players = [[game["players"] for game in each["games"]] for each in (old, new)]
    if players[0] != players[1]:
        yield "players", players[0], players[1]
        return
    for one, other in zip(old["games"], new["games"], strict=True):
        for key in sorted({**one, **other}, key=lambda key: _KEYS.index(key) if key in _KEYS else len(_KEYS)):
            if one.get(key) != other.get(key):
                yield key, one.get(key), other.get(key)
    for key in {**old, **new}:
        if key not in ("game", "games", "processes", "chance") and old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)
