"""The bots that every league has from the start, so that the first author's bot has somebody to play against."""

from __future__ import annotations

import msgspec

from arena.core.face import bot_manifests, errors, stores
from arena.league.settings import Bots, Settings
from arena.league.store import LeagueStore
from arena.league.store.records import HOUSE, Version
from arena.league.store.states import Actor, State

_STEPS = (State.BUILDING, State.CHECKING, State.QUALIFYING, State.ACTIVE)


def house_spec(name: str) -> bot_manifests.BotSpec:
    """Returns what a bot of the house is started with.

    Raises:
        ConfigError: There is no such bundled bot, or it is not built. Show the message to the operator.
    """
    bundled = bot_manifests.bundled_folders()
    if name not in bundled:
        raise errors.ConfigError(
            f"expected a bundled bot for the house, got: {name!r}{errors.did_you_mean(name, bundled)} - at "
            f"house in [bots]; "
            f"they are: {', '.join(sorted(bundled))}"
        )
    return bot_manifests.load_bot(str(bundled[name]))


def usual_house(rules: str) -> tuple[str, ...]:
    """Returns the bots that a new league's house has: the usual ones, as far as they play its game."""
    specs = ((name, house_spec(name).rules) for name in Bots().house)
    return tuple(name for name, played in specs if not played or rules in played)


def check_house(settings: Settings) -> None:
    """Checks that the house's bots can play the league's games. Raises ConfigError, for the operator: one cannot."""
    if "random" not in settings.bots.house:
        raise errors.ConfigError(
            "expected random among the bots of the house, which new bots are tried against - at [bots]"
        )
    for name in settings.bots.house:
        spec = house_spec(name)
        if spec.rules and settings.game.rules not in spec.rules:
            raise errors.ConfigError(
                f"expected bots of the house that play {settings.game.rules}, got: {name}, which plays "
                f"{', '.join(spec.rules)} - at house in [bots]"
            )


def enter_house(store: LeagueStore, settings: Settings) -> list[Version]:
    """Makes the house's bots play that do not yet. A season must be open. Returns those that are new.

    Raises:
        ConfigError: As for `house_spec`.
    """
    with store.transaction():
        if store.authors.get(HOUSE) is None:
            store.authors.add(HOUSE)
        playing = {version.bot for version in store.versions.active() if version.is_of_house}
        return [_enter(store, settings, name) for name in settings.bots.house if name not in playing]


def renew_house(store: LeagueStore, settings: Settings) -> list[Version]:
    """Makes a new version of each house's bot of which this arena has other files than those that play.

    Raises:
        ConfigError: As for `house_spec`.
    """
    with store.transaction():
        playing = [version for version in store.versions.active() if version.is_of_house]
        changed = [version.bot for version in playing if house_spec(version.bot).digest != version.digest]
        return [_enter(store, settings, name) for name in changed]


def _enter(store: LeagueStore, settings: Settings, name: str) -> Version:
    spec = house_spec(name)
    manifest = msgspec.to_builtins(bot_manifests.read_manifest(bot_manifests.bundled_folders()[name]))
    version = store.versions.receive(
        HOUSE, name, spec.digest, manifest, 0, stores.now(), level=settings.bots.level, by=Actor.OPERATOR
    ).version
    for step in _STEPS:
        version = store.versions.change(
            version.id, step, Actor.SERVICE, "a bot of the house", spec=msgspec.to_builtins(spec)
        )
    return version
