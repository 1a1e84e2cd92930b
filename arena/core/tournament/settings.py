"""Holds everything that a tournament's games depend on, and makes it from what the operator typed.

The same settings mean the same tournament. Everything is checked before anything starts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from arena.core.catalogue import rules_of
from arena.core.errors import ConfigError, did_you_mean
from arena.core.link.bots import BotSpec, bundled_bots, load_bot
from arena.core.record.published import sha256_of
from arena.core.referee.beacon import named
from arena.core.referee.chance import VERSION, mix, seed_bytes
from arena.core.referee.job import Job
from arena.core.store.records import PlannedGame, StoredRound, Tournament, canonical, game_id
from arena.core.tournament.blocks import Processes
from arena.core.tournament.formats import format_of
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.schedule import Schedule
from arena.core.types import BotIdentity, GameSettings, Level, Payload, TimeControl, is_cooperative

THINKERS: Final = ("shogun", "planner")
"""Bundled bots that use all the time they get. They enter a tournament only if they are named."""
PLAIN_LOGS: Final = 1_000
"""The games of a tournament, the first ones, whose logs any editor and jq read. Those of later ones are compressed: to
a tenth, and 100,000 of them would take 3 GB."""

OnOverload: TypeAlias = Literal["rate", "void"]
"""Fate of a game that a seat lost on time while the machine denied it a core: it counts, or it is void."""


class BotSettings(BotIdentity, frozen=True, kw_only=True, omit_defaults=True):
    """An entrant."""

    parameters: dict[str, str] = {}  # noqa: RUF012 - a Struct copies it
    """Values of its own parameters that the operator chose; its others are those of its files."""
    time: TimeControl | None = None
    """The time that it has if not that of all."""

    @property
    def own_name(self) -> str:
        """The bot's own name, which logs have: two entries of one bot differ only in the names that they are given."""
        return self.name.partition("#")[0]


class _SettingsOfAll(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings of a tournament have whatever its format is."""

    game: GameSettings
    level: Level = Level.TRUSTED
    on_overload: OnOverload = "rate"  # what becomes of games that were lost because the machine was overloaded
    chance: Literal[2, 3] = VERSION
    """Which version of `protocol/CHANCE.md` its deals follow. Only tournaments of this one are played and verified."""
    processes: Processes = "block"
    """Lifetime of a bot process: for a block of games of which no two have the same deal, for one game, or for the
    whole tournament."""
    seed: str | None = None  # source of the tournament's secret; None means the system's random generator
    beacon: str | None = None
    """Which public value goes into the deals, as `arena.core.referee.beacon` names it; None if none does."""
    bots: tuple[BotSettings, ...]


class Settings(_SettingsOfAll, frozen=True, kw_only=True):
    """A tournament's settings, without what does not change a game (workers, folders)."""

    format: Format

    @property
    def digest(self) -> str:
        """SHA-256 (hex): equal settings have equal digests."""
        return hashlib.sha256(canonical(self.document()).encode()).hexdigest()

    def document(self) -> Payload:
        """Returns the settings as plain values, with the format's name and parameters beside the rest.

        The board is without its text, since its hash identifies it. `on_overload` is left out where it says `rate`, and
        `beacon` where there is none: so it was for all tournaments before there was a choice, and their digests stay.
        """
        board = self.game.board
        short = replace(self.game, board=None if board is None else replace(board, text=""))
        document: Payload = msgspec.json.decode(canonical(replace(self, game=short)))
        del document["format"]
        parameters = self.format.parameters(self.game.players)
        if document["on_overload"] == "rate":
            del document["on_overload"]
        if document["beacon"] is None:
            del document["beacon"]
        return {**document, "format": parameters.pop("name"), **parameters}

    def public_document(self) -> Payload:
        """Returns what is published of them: all but the seed."""
        return {key: value for key, value in self.document().items() if key != "seed"}

    @property
    def seed_salt(self) -> str:
        """What `seed_secret` mixes into the seed: the digest of what is published, if bots run in sandboxes."""
        return "" if self.level is Level.TRUSTED else sha256_of(self.public_document())

    @classmethod
    def read(cls, document: Payload) -> Settings:
        """Reads what `document` returned.

        Raises:
            ValueError: It is no such document.
            ConfigError: It has a format of a wing that is not loaded.
        """
        kind = format_of(document)
        own = {key: document[key] for key in kind.__struct_fields__ if key in document}
        rest = {key: value for key, value in document.items() if key not in own and key != "format"}
        of_all = msgspec.convert(rest, _SettingsOfAll)
        if len({bot.name for bot in of_all.bots}) < len(of_all.bots):
            raise ValueError("expected another name for each entrant")
        format = msgspec.convert({"name": document["format"], **own}, kind)
        settings = cls(format=format, **msgspec.structs.asdict(of_all))
        if "planning" in own or not settings.format.depends_on_planning(settings.game.players):
            return settings
        return replace(settings, format=replace(settings.format, planning=1))

    def schedule(self, commitment: str = "", stored: Iterable[StoredRound] = ()) -> Schedule:
        """Returns the games as far as they are planned.

        Args:
            commitment: That of the tournament's secret (hex). What a format draws at random follows from it.
            stored: The rounds that were planned by results.

        Raises:
            ConfigError: There can be no such tournament.
        """
        return Schedule(self.format, len(self.bots), self.game.players, bytes.fromhex(commitment), stored)

    @property
    def games(self) -> int | None:
        """The number of games, or None if it depends on the results."""
        return self.format.total(len(self.bots), self.game.players)

    def plan_document(self) -> Payload:
        """Returns a description from which, with the results, the schedule can be computed, as plain values."""
        return self.format.document(len(self.bots), self.game.players)


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament that can begin: its settings and its bots."""

    settings: Settings
    specs: tuple[BotSpec, ...]
    refs: tuple[str, ...]
    """The entrants' names on the command line in the operator's folder, by number."""
    most: dict[str, int] = {}
    """Number of bots that may use at once what the manifests say, if not `scarce.USUAL`."""

    @property
    def cores(self) -> int:
        """Number of cores that a game keeps busy: in a race all seats compute at once, else one seat at a time."""
        seats = self.settings.game.players if rules_of(self.settings.game).has_race else 1
        return seats * max(spec.cores for spec in self.specs)

    def job(self, tournament: Tournament, game: PlannedGame, feed: str = "") -> Job:
        """Returns the work for one game; `feed` is where it can be watched."""
        entropy = tournament.entropy or ()
        return Job(
            game=game_id(tournament.id, game.number),
            tournament=tournament.id,
            settings=self.settings.game,
            bots=tuple(self.specs[entrant] for entrant in game.entrants),
            deal=game.deal,
            rotation=game.rotation,
            secret=tournament.secret,
            mix=mix_of(tournament),
            beacon=tournament.beacon,
            entropy=tuple(entropy[entrant] for entrant in game.entrants) if any(entropy) else (),
            parameters=game.parameters,
            logs=tournament.logs,
            packed=game.number >= PLAIN_LOGS,
            level=self.settings.level,
            feed=feed,
        )


def mix_of(tournament: Tournament) -> bytes:
    """Returns what others than the organiser put into a tournament's chance, as 32 bytes."""
    return mix(tournament.beacon, [bytes.fromhex(given) for given in tournament.entropy or () if given])


def set_up(
    bots: Sequence[str],
    game: GameSettings,
    format: Format,
    *,
    processes: Processes | None = None,
    level: Level = Level.TRUSTED,
    on_overload: OnOverload = "rate",
    seed: str | None = None,
    beacon: str | None = None,
    times: Mapping[str, str] | None = None,
) -> Setup:
    """Reads the bots and checks that they make a tournament.

    Args:
        bots: Folders or names of bots; empty for the bundled bots in Python that play these rules and answer at once.
        processes: How long a bot process is kept; None means for a block.
        on_overload: What becomes of games that were lost because the machine was overloaded.
        seed: Source of the tournament's secret; None means the system's random generator.
        beacon: Which public value goes into the deals, as the operator names it; None if none does.
        times: By an entrant's name the time that it has, if not that of all.

    Raises:
        ConfigError: Something cannot be used. Show the message to the operator: it says what, and what to do.
    """
    controls = {name: replace(TimeControl.parse(text), cpu_ms=game.time.cpu_ms) for name, text in (times or {}).items()}
    if any(time.off is True for time in (game.time, *controls.values())):
        raise ConfigError(
            "expected a clock, without which a bot that never answers would hold up all others, got: off - at --time; "
            "only `arena play` can do without"
        )
    if is_cooperative(game.teams) and not isinstance(format, RoundRobin):
        raise ConfigError(
            f"expected a round-robin for {game.rules}, where all seats win or lose together, "
            f"got: {format.__struct_config__.tag}; `arena tournament` without --format compares mean scores"
        )
    seed_bytes(seed or "")  # refused before anything is made
    specs = tuple(map(load_bot, bots)) if bots else bundled_python_bots(game.rules)
    names = [bot.name for bot in enter(specs)]
    for name in controls:
        if name not in names:
            listed = f"one of {', '.join(names)}"
            raise ConfigError(f"expected an entrant, {listed}, got: {name!r}{did_you_mean(name, names)} - at --time")
    specs = tuple(replace(spec, time=controls.get(name)) for spec, name in zip(specs, names, strict=True))
    _check_rules_of_bots(specs, game.rules)
    _check_connections(specs, level)
    settings = Settings(
        game=game,
        format=format,
        level=level,
        on_overload=on_overload,
        processes=processes_at(level, processes),
        seed=seed,
        beacon=None if beacon is None else named(beacon),
        bots=enter(specs),
    )
    settings.schedule()
    refs = tuple(bots) or tuple(spec.name for spec in specs)
    return Setup(settings=settings, specs=specs, refs=refs)


def processes_at(level: Level, wanted: Processes | None) -> Processes:
    """Returns how long bot processes are kept at a level.

    Args:
        wanted: What the operator asked for, if anything.

    Raises:
        ConfigError: The level does not allow that.
    """
    if level is not Level.TRUSTED and wanted == "tournament":
        raise ConfigError(
            f"expected processes that end with their block, as level {level} demands, got: --keep-bots, with which a "
            "bot meets deals again; leave it out, or use --level trusted"
        )
    return wanted or "block"


def seeded(setup: Setup, ranks: Sequence[tuple[str, str]]) -> Setup:
    """Returns the setup with its bots in the order of earlier standings, those that are not in them last.

    Args:
        ranks: The names and digests of the bots in those standings, best first.
    """
    place = {entrant: place for place, entrant in enumerate(ranks)}
    bots = setup.settings.bots
    order = sorted(range(len(bots)), key=lambda number: place.get((bots[number].name, bots[number].digest), len(place)))
    specs = tuple(setup.specs[number] for number in order)
    return replace(
        setup,
        settings=replace(setup.settings, bots=enter(specs)),
        specs=specs,
        refs=tuple(setup.refs[number] for number in order),
    )


def enter(specs: Sequence[BotSpec]) -> tuple[BotSettings, ...]:
    """Returns the entrants, with names that are unique."""
    seen: Counter[str] = Counter()
    entered = []
    for spec in specs:
        seen[spec.name] += 1
        name = spec.name if seen[spec.name] == 1 else f"{spec.name}#{seen[spec.name]}"
        values = dict(spec.values)
        entered.append(
            BotSettings(name=name, version=spec.version, digest=spec.identity, parameters=values, time=spec.time)
        )
    return tuple(entered)


def bundled_python_bots(rules: str) -> tuple[BotSpec, ...]:
    """Returns the bundled bots that play some rules, need nothing but Python, and answer at once."""
    specs = (spec for spec in bundled_bots() if spec.language.lower() == "python" and _plays(spec, rules))
    return tuple(spec for spec in specs if spec.name not in THINKERS)


def _plays(spec: BotSpec, rules: str) -> bool:
    return not spec.rules or rules in spec.rules


def _check_rules_of_bots(specs: Iterable[BotSpec], rules: str) -> None:
    others = {spec.name: spec.rules for spec in specs if not _plays(spec, rules)}
    if others:
        listed = ", ".join(f"{name} (which plays {', '.join(map(repr, plays))})" for name, plays in others.items())
        raise ConfigError(f"expected bots that play {rules}, got: {listed}; leave them out, or change --rules")


def _check_connections(specs: Iterable[BotSpec], level: Level) -> None:
    if level is not Level.TRUSTED and (names := ", ".join(spec.name for spec in specs if spec.tcp)):
        raise ConfigError(
            f"expected bots that connect over ipc, since level {level} has no network, got: {names}, with "
            '`endpoint = "tcp"` in bot.toml; use a library that has ipc, or `arena bot bridge`, or --level trusted'
        )
