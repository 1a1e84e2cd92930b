"""The settings of a league: `league.toml`. Each section is a class here, and each key a field of it.

`arena.league.season.template` says of each key what it does, for whoever edits the file.

Laws:
1. A name that does not exist is an error, with its line and the name that is close.
2. What ratings depend on (`Settings.season`) is fixed for a season. Another value waits for the next one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import fields, replace

from arena.core.face import (
    GameSettings,
    Level,
    Payload,
    beacons,
    bot_manifests,
    capping,
    catalogue,
    chance,
    closeness,
    errors,
    game_rows,
    need,
    processor_cores,
    runtimes,
    toml,
    value_types,
)
from arena.league import dates
from arena.league.door.limits import ARCHIVE_MIB, MOST_ARCHIVE_MIB
from arena.league.folder import SETTINGS, Folder
from arena.league.store.controls import FINAL_MATCHES
from arena.league.store.records import LEAGUE

FORMAT: Final = 1
"""The version of the form of `league.toml`."""
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Part = Annotated[float, Meta(ge=0, le=1)]
"""A share from 0 to 1."""


class Game(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[game]`: what is played. It is fixed for a season."""

    rules: str = "samurai"
    ruleset: str = ""
    options: dict[str, str] = {}
    players: tuple[Count, ...] = (2,)
    board: str = ""
    time: str = catalogue.DEFAULT_TIME
    cpu: str = ""
    race_window_ms: float = value_types.RACE_WINDOW_MS


class Bots(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[bots]`: how bots are held, and which belong to the house. The level is fixed for a season."""

    level: Literal["trusted", "fenced", "isolated", "strict"] = "isolated"
    remote: bool = False
    fresh: bool = False
    house: tuple[str, ...] = ("random", "greedy")


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[limits]`: what an author may submit. `arena league author add --quota` gives one author others."""

    bots: Count = 3
    pending: Count = 3
    submissions: Count = 10
    archive_mib: Annotated[int, Meta(ge=1, le=MOST_ARCHIVE_MIB)] = ARCHIVE_MIB
    built_mib: Count = 4_096
    start_s: Count = 360
    matches: Annotated[int, Meta(ge=0, le=1_000)] = 5
    seats: Annotated[int, Meta(ge=0, le=1_000)] = 20

    def of_author(self, quotas: Mapping[str, int]) -> dict[str, int]:
        """Returns the limits of an author who has quotas of their own, by name."""
        return {**msgspec.structs.asdict(self), **quotas}


class Suspension(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[suspension]`: when a version is suspended."""

    forfeits: Count = 5
    games: Annotated[int, Meta(ge=1, le=100)] = 20
    in_a_row: Count = 3


class Matchmaking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[matchmaking]`: who meets. `docs/matchmaking.md` says what each value does."""

    deals: Annotated[int, Meta(ge=1, le=100)] = 1
    placement: Annotated[int, Meta(ge=0, le=1_000)] = 20
    sample: Annotated[int, Meta(ge=2, le=10_000)] = 64
    random: Part = 0.1
    repeat: Annotated[int, Meta(ge=0, le=10)] = 10
    again: Part = closeness.AGAIN
    most_running: Annotated[int, Meta(ge=1, le=100)] = 2


class MatchRule(Matchmaking, frozen=True, kw_only=True):
    """What matchmaking goes by: its section, and what the game says."""

    players: tuple[int, ...] = (2,)


class Service(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[service]`: how the service works."""

    workers: Annotated[int, Meta(ge=0, le=1024)] = 0
    publish_s: Annotated[float, Meta(ge=1, le=3600)] = 10.0
    stop_s: Annotated[float, Meta(ge=0, le=3600)] = 60.0
    requested: Literal["idle", "beside"] = "beside"
    seats: Annotated[int, Meta(ge=0, le=64)] = 2
    seat_time: str = "20m+10"


class Site(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[site]`: the league's pages."""

    every_s: Annotated[float, Meta(ge=0, le=86_400)] = 60.0


class Logs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[logs]`: how long logs of games are kept. Results and digests stay for ever."""

    days: Count = 30
    forfeit_days: Count = 365
    gib: Annotated[float, Meta(gt=0, le=100_000)] = 20.0


class Season(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[season]`: how a season begins and ends."""

    start: Literal["anew", "decayed"] = "anew"
    final: Annotated[int, Meta(ge=0, le=64)] = 8
    final_deals: Count = 2_000
    final_matches: Annotated[int, Meta(ge=0, le=1_000)] = FINAL_MATCHES
    opens: str = ""
    freezes: str = ""
    closes: str = ""
    zone: str = "UTC"
    """The time zone of these dates."""
    beacon: Literal["", "quicknet"] = ""
    """The public beacon whose value goes into a season's chance; empty: none."""

    @property
    def dates(self) -> dates.Dates:
        """The dates of a season. Raises ConfigError: they cannot be used. Show the message to the operator."""
        return dates.read(self.opens, self.freezes, self.closes, self.zone)


class Notify(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[notify]`: what the operator is told of, beside the notices."""

    command: str = ""
    """A command line for the shell, or a web address; empty: none."""
    of: tuple[Literal["season", "suspended", "rejected"], ...] = ("season", "suspended", "rejected")
    """Of what: a season that is closed, a version that is suspended or rejected."""


class Door(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[door]`: whether `arena league run` opens the league to authors elsewhere."""

    bind: str = ""
    """Where it listens, `HOST:PORT`; empty: nowhere."""
    url: str = ""
    """The address that authors use, `https://cup.example`; empty: that at which it listens."""
    tls: str | tuple[str, str] = ""
    """The files of a certificate and its key; `self`: one that is made; empty: none."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`league.toml`."""

    name: str
    """What the league is called."""
    format: int = FORMAT
    """The version of the form of this file. A file without it was written by arena 0.2.0."""
    game: Game = Game()
    bots: Bots = Bots()
    runtimes: dict[str, str] = {}
    """`[runtimes]`: programs that bots may call by name, each with its absolute path, beside those that always are."""
    caps: capping.Caps = capping.Caps()
    limits: Limits = Limits()
    suspension: Suspension = Suspension()
    matchmaking: Matchmaking = Matchmaking()
    service: Service = Service()
    site: Site = Site()
    logs: Logs = Logs()
    season: Season = Season()
    notify: Notify = Notify()
    door: Door = Door()

    @property
    def level(self) -> Level:
        """How bots on this machine are confined."""
        return Level(self.bots.level)

    @property
    def games_at_a_time(self) -> int:
        """How many games are played at a time, unless something else is ordered: one core is left to the service."""
        return self.service.workers or max(1, processor_cores.games_at_a_time() - 1)

    @property
    def rule(self) -> MatchRule:
        """What matchmaking goes by."""
        return MatchRule(players=self.game.players, **msgspec.structs.asdict(self.matchmaking))

    def game_settings(self, players: int) -> GameSettings:
        """Returns what is played by so many players. Raises ConfigError, for the operator: there is no such game."""
        game = self.game
        return catalogue.make_settings(
            game.rules, players, ruleset=game.ruleset or None,
            overrides=[f"{name}={value}" for name, value in game.options.items()], board=game.board or None,
            time=game.time, cpu=game.cpu or None, race_window_ms=game.race_window_ms,
        )  # fmt: skip

    def season_settings(self) -> Payload:
        """Returns all that a season's ratings depend on, as stored. Raises ConfigError: as for `game_settings`."""
        games = []
        for players in self.game.players:
            game = self.game_settings(players)
            board = game.board
            short = replace(game, board=None if board is None else replace(board, text=""))
            games.append(msgspec.json.decode(game_rows.canonical(short)))
        beacon = {"beacon": beacons.named(f"quicknet:{beacons.soon()}")} if self.season.beacon else {}
        return beacon | {
            "format": LEAGUE,
            "game": games[0],
            "games": games,
            "level": self.bots.level,
            "processes": "block",
            "chance": chance.VERSION,
        }


_TABLES: Final = {
    field.name: field.type for field in fields(Settings) if field.name not in ("name", "format", "runtimes")
}
_PLACE: Final = re.compile(r" - at `\$\.?(.*)`\Z")


def load(folder: Folder) -> Settings:
    """Reads the settings of a league, checks them, grants its runtimes, and sets its caps.

    Raises:
        ConfigError: They cannot be used. Show the message to the operator: it names the file and the line.
    """
    text = folder.settings_text()
    settings = parse(text, str(folder.settings), folder.path)
    try:
        runtimes.grant(settings.runtimes, SETTINGS)
    except errors.ConfigError as error:
        name = next((name for name in settings.runtimes if repr(name)[1:-1] in str(error)), "")
        raise errors.ConfigError(f"{place(str(folder.settings), text, 'runtimes', name)}: {error}") from None
    capping.set_caps(msgspec.structs.asdict(settings.caps), SETTINGS)
    return settings


def as_begun(name: str, season: Payload) -> Settings:
    """Returns what a season began with as settings, for whoever only looks; all else in them is usual."""
    times = msgspec.convert(season["game"]["time"], value_types.TimeControl)
    players = tuple(game["players"] for game in season["games"])
    return Settings(name=name, game=Game(players=players, time=str(times)), bots=Bots(level=season["level"]))


def parse(text: str, where: str = SETTINGS, folder: Path = Path()) -> Settings:
    """Reads settings, and checks them.

    Args:
        where: How errors call the file.
        folder: What the path of a board is relative to.

    Raises:
        ConfigError: As for `load`.
    """
    try:
        table = toml.table_of(text)
    except ValueError as error:
        raise errors.ConfigError(f"expected a TOML file, got: {error} - at {where}; correct it") from None
    if isinstance(format := table.get("format"), int) and format > FORMAT:
        raise errors.ConfigError(
            f"expected format {FORMAT} or less, got: {format}, of a later version of arena - at "
            f"{place(where, text, '', 'format')}; install the newest arena"
        )
    if "format" not in table:
        from arena.core.face import GONE_SETTINGS

        for section, key in GONE_SETTINGS:
            if isinstance(inner := table.get(section), dict):
                inner.pop(key, None)
    if isinstance(door := table.get("door"), dict) and door.get("host") == "":
        del door["host"]  # every file had it while doors had an address of ZeroMQ
    for section, key, known in _unknown_keys(table):
        close = errors.did_you_mean(key, known)
        name = f" in [{section}]" if section else ""
        raise errors.ConfigError(
            f"expected{name} one of {', '.join(known)}, got: {key!r}{close} - at {place(where, text, section, key)}; "
            "correct it"
        )
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        reason = _PLACE.sub("", str(error))
        found = _PLACE.search(str(error))
        section, _, key = (found[1] if found else "").replace("[...]", "").rpartition(".")
        given = table.get(section, {}).get(key) if section else table.get(key)
        if isinstance(given, dict):
            section = f"{section}.{key}".removeprefix(".")
            key = next((name for name, value in given.items() if not isinstance(value, str)), "")
        reason = f"{reason[:1].lower()}{reason[1:]}"
        named = f"{key}: " if key else ""
        raise errors.ConfigError(f"{place(where, text, section, key)}: {named}{reason}; correct it") from None
    if settings.game.board and (board := folder / settings.game.board).is_file():
        settings = replace(settings, game=replace(settings.game, board=str(board)))
    _check(settings, where, text)
    return settings


def _unknown_keys(table: Payload) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yields section, key and the names that there are, for each that there is not. Sections come first."""
    top = Settings.__struct_fields__
    yield from (("", key, top) for key in table if key not in top)
    for section, kind in _TABLES.items():
        inner: Any = table.get(section, {})
        if isinstance(inner, dict):
            known = kind.__struct_fields__
            yield from ((section, key, known) for key in inner if key not in known)


def _check_games(settings: Settings) -> None:
    """Checks that a league can play its games."""
    for players in settings.game.players:
        game = settings.game_settings(players)
        catalogue.rules_of(game)
        if value_types.is_cooperative(game.teams):
            raise errors.ConfigError(
                f"expected a game in which bots are against each other, got: {game.rules}, where all win or lose "
                "together; choose another, or play it with `arena tournament`"
            )


def contradictions(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Yields what the types cannot say: section, key, and what was expected and got."""
    players, sample, logs, season = settings.game.players, settings.matchmaking.sample, settings.logs, settings.season
    if not players or min(players) < 2 or len(set(players)) < len(players):
        shown = ", ".join(map(str, players)) or "none"
        yield "matchmaking", "", f"numbers of players from 2 on, each once, got: {shown}; use 2, or 2 and 4"
    elif sample < max(players):
        least = f"a sample of at least {max(players)}, the most players"
        yield "matchmaking", "", f"{least}, got: {sample}; use 64"
    if logs.forfeit_days < logs.days:
        yield "logs", "", f"forfeit_days to be at least days, {logs.days:g}, got: {logs.forfeit_days:g}"
    if season.final == 1:
        yield "season", "final", "at least 2 finalists, got: 1; use 0 for no final"
    tables = max((math.comb(season.final, size) for size in players), default=0)
    if season.final and tables > season.final_deals:
        least = f"final_deals to be at least {tables:,}, one for each table that {season.final} finalists can form"
        yield "season", "final", f"{least}, got: {season.final_deals:,}; use a larger one, or fewer finalists"
    if settings.bots.remote and settings.level is Level.FENCED:
        sits = "where the program that sits for a remote bot connects to nobody"
        remedy = "leave it out, or choose another level"
        yield "bots", "remote", f"false at level {Level.FENCED}, {sits}, got: true; {remedy}"
    bank_ms = value_types.TimeControl.parse(settings.service.seat_time).bank_ms
    if bank_ms is None or bank_ms > 3_600_000:
        least = "seat_time to bound the whole game, by an hour at most, such as 20m+10"
        yield "service", "seat_time", f"{least}, got: {settings.service.seat_time!r}"
    forfeits, games = settings.suspension.forfeits, settings.suspension.games
    if forfeits > games:
        yield "suspension", "forfeits", f"no more forfeits than games, got: {forfeits} in {games}; correct one of them"


def _check(settings: Settings, where: str, text: str) -> None:
    """Checks what the types cannot say, and names the line of the key that is to blame."""
    for section, check in _CHECKS:
        try:
            check(settings)
        except errors.ConfigError as error:
            at = place(where, text, *_blamed(settings, section, check))
            raise errors.ConfigError(f"{at}: {error}") from None


def _blamed(settings: Settings, section: str, check: Callable[[Settings], object]) -> tuple[str, str]:
    """Returns the first value without which a check passes: its section, and its key. None: the section alone."""
    if not section:
        return "", "name"
    tables = {name: getattr(settings, name) for name in dict.fromkeys((section, "game"))}
    usual = [
        (name, one.name, getattr(type(table)(), one.name)) for name, table in tables.items() for one in fields(table)
    ]
    options = settings.game.options
    fewer = [("game", key, {other: options[other] for other in options if other != key}) for key in options]
    for name, key, value in [*(each for each in usual if each[1] != "options"), *fewer]:
        of_options = key in options and isinstance(value, dict)
        table = replace(tables[name], **{"options" if of_options else key: value})
        try:
            check(replace(settings, **{name: table}))
        except errors.ConfigError:
            continue
        return (f"{name}.options" if of_options else name), key
    return section, ""


def _contradicted(section: str, settings: Settings) -> None:
    for found, _, expected in contradictions(settings):
        if found == section:
            raise errors.ConfigError(f"expected {expected}")


_CHECKS: Final[tuple[tuple[str, Callable[[Settings], object]], ...]] = (
    ("", lambda settings: bot_manifests.check_name(settings.name, "a league")),
    *(
        (name, partial(_contradicted, name))
        for name in ("matchmaking", "logs", "season", "bots", "suspension", "service")
    ),
    ("season", lambda settings: settings.season.dates),
    ("season", lambda settings: need("beacon", 'beacon = "quicknet"') if settings.season.beacon else None),
    ("door", lambda settings: check_door(settings.door)),
    ("game", _check_games),
)
"""What the types cannot say, and the section in which it is said."""


def check_door(door: Door) -> None:
    """Checks where a door is to listen.

    Raises:
        ConfigError: It is no such place. Show the message to the operator.
    """
    check_bind(door.bind)
    if isinstance(door.tls, str) and door.tls not in ("", "self"):
        raise errors.ConfigError(f'expected tls = "self", or ["CERT", "KEY"], got: {door.tls!r}; correct it')


def check_bind(bind: str) -> None:
    """Checks where a door is to listen; empty is nowhere.

    Raises:
        ConfigError: It is no such place. Show the message to the operator.
    """
    if bind and not re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]/\s]+):[0-9]{1,5}", bind):
        old = ", an address of ZeroMQ, which leagues had before" if bind.startswith("tcp://") else ""
        raise errors.ConfigError(f"expected HOST:PORT, such as 127.0.0.1:8780, got: {bind!r}{old}; correct the address")


def place(where: str, text: str, section: str, key: str) -> str:
    """Returns where a key of the settings stands, or its section, or the file."""
    if not section and key in _TABLES:
        section, key = key, ""
    line = toml.line_of(text, section, key) or toml.line_of(text, section or key)
    return where if line is None else f"{where}:{line}"
