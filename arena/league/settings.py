"""The settings of a league: `league.toml`. Each section is a class here, and each key a field of it.

Laws:
1. A name that does not exist is an error, with its line and the name that is close.
2. What ratings depend on (`Settings.season`) is fixed for a season. Another value waits for the next one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import fields, replace

from arena.core.face import (
    GameSettings,
    Level,
    Payload,
    bot_manifests,
    capping,
    catalogue,
    chance,
    closeness,
    errors,
    game_rows,
    runtimes,
    toml,
    value_types,
)
from arena.league.folder import SETTINGS, Folder
from arena.league.store.controls import FINAL_MATCHES
from arena.league.store.records import LEAGUE

FORMAT: Final = 1
"""The version of the form of `league.toml`."""
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
"""A number from 1 on."""
Part = Annotated[float, Meta(ge=0, le=1)]
"""A share from 0 to 1."""


class Game(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[game]`: what is played. It is fixed for a season."""

    rules: str = "samurai"
    """The game."""
    ruleset: str = ""
    """Empty: the game's first."""
    options: dict[str, str] = {}
    """Options that differ from the ruleset's."""
    players: tuple[Count, ...] = (2,)
    """The numbers of players that matches may have."""
    board: str = ""
    """A board file, or the name of a bundled board; empty: the game's own."""
    time: str = catalogue.DEFAULT_TIME
    """The time control, as --time of `arena tournament` takes it."""
    cpu: str = ""
    """CPU time of a bot in a game; empty: no such limit."""
    race_window_ms: float = value_types.RACE_WINDOW_MS
    """Answers of a race that are so close are a tie."""


class Bots(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[bots]`: how bots are held, and which belong to the house. The level is fixed for a season."""

    level: Literal["trusted", "fenced", "isolated", "strict"] = "isolated"
    """How far they are confined (docs/safety.md)."""
    remote: bool = False
    """Whether authors may let bots play from their own machines."""
    house: tuple[str, ...] = ("random", "greedy")
    """Bundled bots that are in the league from the start and never leave."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[limits]`: what an author may submit. `arena league author add --quota` gives one author others."""

    bots: Count = 3
    """Bots of an author."""
    pending: Count = 3
    """Versions that wait or are being tried."""
    submissions: Count = 10
    """In 24 hours."""
    built_mib: Count = 4_096
    """What is built of all bots together, on the disk."""
    start_s: Count = 360
    """Seconds in an hour that games wait for bots to start, beyond the first second of each start."""

    def of_author(self, quotas: Mapping[str, int]) -> dict[str, int]:
        """Returns the limits of an author who has quotas of their own, by name."""
        return {**msgspec.structs.asdict(self), **quotas}


class Suspension(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[suspension]`: when a version is suspended."""

    forfeits: Count = 5
    """This number of forfeits ..."""
    games: Annotated[int, Meta(ge=1, le=100)] = 20
    """... in this number of its last games."""
    in_a_row: Count = 3
    """Or this number of forfeits one after another."""


class Matchmaking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[matchmaking]`: who meets. `docs/matchmaking.md` says what each value does."""

    deals: Annotated[int, Meta(ge=1, le=100)] = 1
    """The number of matches, each on another deal, that versions play when they meet. A bot starts once for its games
    in one seating."""
    placement: Annotated[int, Meta(ge=0, le=1_000)] = 20
    """A version with fewer matches is new: it comes first in every second meeting."""
    sample: Annotated[int, Meta(ge=2, le=10_000)] = 64
    """From how many, drawn evenly from all, the others of a match are chosen."""
    random: Part = 0.1
    """The part of the meetings whose others are chosen without regard to ratings."""
    repeat: Annotated[int, Meta(ge=0, le=10)] = 10
    """The number of last meetings whose opponents are less likely to be chosen again."""
    again: Part = closeness.AGAIN
    """What their weight is multiplied by."""
    most_running: Annotated[int, Meta(ge=1, le=100)] = 2
    """The most unfinished meetings of a version, so that a slow one holds nobody up."""


class MatchRule(Matchmaking, frozen=True, kw_only=True):
    """What matchmaking goes by: its section, and what the game says."""

    players: tuple[int, ...] = (2,)
    """The numbers of players that matches may have."""

    def check(self) -> None:
        """Checks the parts against each other.

        Raises:
            ConfigError: They do not fit. Show the message to the operator.
        """
        if not self.players or min(self.players) < 2 or len(set(self.players)) < len(self.players):
            shown = ", ".join(map(str, self.players)) or "none"
            raise errors.ConfigError(
                f"expected numbers of players from 2 on, each once, got: {shown}; use 2, or 2 and 4"
            )
        if self.sample < max(self.players):
            raise errors.ConfigError(
                f"expected a sample of at least {max(self.players)}, the most players, got: {self.sample}; use 64"
            )


class Service(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[service]`: how the service works."""

    workers: Annotated[int, Meta(ge=0, le=1024)] = 0
    """Games at a time; 0: half of the cores."""
    publish_s: Annotated[float, Meta(ge=1, le=3600)] = 10.0
    """How often standings are published."""
    stop_s: Annotated[float, Meta(ge=0, le=3600)] = 60.0
    """How long running games may take once the service is asked to stop."""


class Site(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[site]`: the league's pages."""

    every_s: Annotated[float, Meta(ge=0, le=86_400)] = 60.0
    """How often they are made; 0: never."""


class Logs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[logs]`: how long logs of games are kept. Results and digests stay for ever."""

    days: Count = 30
    """Those of most games."""
    forfeit_days: Count = 365
    """Those of games in which somebody forfeited."""
    gib: Annotated[float, Meta(gt=0, le=100_000)] = 20.0
    """All of them together."""

    def check(self) -> None:
        """Checks the times against each other.

        Raises:
            ConfigError: They do not fit. Show the message to the operator.
        """
        if self.forfeit_days < self.days:
            raise errors.ConfigError(
                f"expected forfeit_days to be at least days, {self.days:g}, got: {self.forfeit_days:g}"
            )


class Season(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[season]`: how a season begins and ends."""

    start: Literal["anew", "decayed"] = "anew"
    """Whether ratings start anew, or from those of the season before with a wider sigma."""
    final: Annotated[int, Meta(ge=0, le=64)] = 8
    """How many of the best play a final; 0: none."""
    final_deals: Count = 2_000
    """The most deals that it takes."""
    final_matches: Annotated[int, Meta(ge=0, le=1_000)] = FINAL_MATCHES
    """A version with fewer matches has a provisional rating, and plays the final only if a place is left."""

    def check(self, sizes: Collection[int]) -> None:
        """Checks that the final may begin a round of each size, by numbers of players.

        Raises:
            ConfigError: It may not. Show the message to the operator.
        """
        if self.final == 1:
            raise errors.ConfigError("expected at least 2 finalists, got: 1; use 0 for no final")
        least = max((math.comb(self.final, size) for size in sizes), default=0)
        if self.final and least > self.final_deals:
            raise errors.ConfigError(
                f"expected final_deals to be at least {least:,}, one for each table that {self.final} finalists can "
                f"form, got: {self.final_deals:,}; use a larger one, or fewer finalists"
            )


class Door(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[door]`: whether `arena league run` opens the league to authors elsewhere."""

    bind: str = ""
    """Where it listens: `tcp://HOST:PORT`, with `*` for all addresses of this machine; empty: it is not opened."""
    host: str = ""
    """The name by which authors reach this machine; empty: its own name."""


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
    door: Door = Door()

    @property
    def level(self) -> Level:
        """How bots on this machine are confined."""
        return Level(self.bots.level)

    @property
    def rule(self) -> MatchRule:
        """What matchmaking goes by."""
        return MatchRule(players=self.game.players, **msgspec.structs.asdict(self.matchmaking))

    def game_settings(self, players: int) -> GameSettings:
        """Returns what is played by so many players.

        Raises:
            ConfigError: There is no such game. Show the message to the operator.
        """
        game = self.game
        return catalogue.make_settings(
            game.rules,
            players,
            ruleset=game.ruleset or None,
            overrides=[f"{name}={value}" for name, value in game.options.items()],
            board=game.board or None,
            time=game.time,
            cpu=game.cpu or None,
            race_window_ms=game.race_window_ms,
        )

    def season_settings(self) -> Payload:
        """Returns everything that the ratings of a season depend on, as the database keeps it.

        Raises:
            ConfigError: As for `game_settings`.
        """
        games = []
        for players in self.game.players:
            game = self.game_settings(players)
            board = game.board
            short = replace(game, board=None if board is None else replace(board, text=""))
            games.append(msgspec.json.decode(game_rows.canonical(short)))
        return {
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
        text: The content of `league.toml`.
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


def _check_remote(settings: Settings) -> None:
    if settings.bots.remote and settings.level is Level.FENCED:
        raise errors.ConfigError(
            f"expected false at level {Level.FENCED}, where the program that sits for a remote bot connects to nobody, "
            "got: true; leave it out, or choose another level"
        )


def _check_suspension(settings: Settings) -> None:
    rule = settings.suspension
    if rule.forfeits > rule.games:
        raise errors.ConfigError(
            f"expected no more forfeits than games, got: {rule.forfeits} in {rule.games}; correct one of them"
        )


_CHECKS: Final[tuple[tuple[str, Callable[[Settings], object]], ...]] = (
    ("", lambda settings: bot_manifests.check_name(settings.name)),
    ("matchmaking", lambda settings: settings.rule.check()),
    ("logs", lambda settings: settings.logs.check()),
    ("season", lambda settings: settings.season.check(settings.game.players)),
    ("door", lambda settings: check_bind(settings.door.bind)),
    ("game", _check_games),
    ("bots", _check_remote),
    ("suspension", _check_suspension),
)
"""What the types cannot say, and the section in which it is said."""


def check_bind(bind: str) -> None:
    """Checks where a door is to listen; empty is nowhere.

    Raises:
        ConfigError: It is no such place. Show the message to the operator.
    """
    if bind and not re.fullmatch(r"tcp://[^/\s]+:[0-9]{1,5}", bind):
        raise errors.ConfigError(f"expected tcp://HOST:PORT, such as tcp://*:5599, got: {bind!r}; correct the address")


def place(where: str, text: str, section: str, key: str) -> str:
    """Returns where a key of the settings stands, or its section, or the file."""
    if not section and key in _TABLES:
        section, key = key, ""
    line = toml.line_of(text, section, key) or toml.line_of(text, section or key)
    return where if line is None else f"{where}:{line}"
