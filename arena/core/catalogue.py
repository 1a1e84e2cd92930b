"""The games that are installed: those of arena, and those of other packages.

A game registers itself as an entry point of the group `arena.games`; arena's own do so in its `pyproject.toml`. Its
name there is the game's name, and its value the class that fulfils `arena.core.rules.base.Rules`. Nothing else names a
game.

A package that brings many games registers a family (`arena.core.rules.family`). Its games are called `FAMILY:GAME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from arena.core import files
from arena.core.errors import ConfigError, InternalError, did_you_mean
from arena.core.loading import Entry, entries, load
from arena.core.resources import board_names, board_text, protocol_folder
from arena.core.rules.base import BoardFormat, Rules, Ruleset
from arena.core.rules.boardtext import find_section
from arena.core.rules.course import LIMITS
from arena.core.rules.family import Family
from arena.core.rules.margin import Margin
from arena.core.types import RACE_WINDOW_MS, BoardFile, GameSettings, Payload, TimeControl, is_cooperative, parse_cpu

GROUP: Final = "arena.games"  # the group of entry points by which games are found
FAMILIES: Final = "arena.families"  # the group of entry points by which families of games are found
DEFAULT_TIME: Final = "10+0.1"
MAX_RACE_WINDOW_MS: Final = 1000  # a longer window would hold a game up: nobody is served before it is over


@cache
def _found(group: str = GROUP) -> Mapping[str, Entry]:
    """Returns the entry points of a group by name, those of arena first.

    Raises:
        ConfigError: Two packages have a game or a family of the same name, or there is no game at all.
    """
    found: dict[str, Entry] = {}
    for entry in entries(group):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            what = "game" if group == GROUP else "family of games"
            raise ConfigError(
                f"expected one {what} called {entry.name!r}, got two: {other.value} and {entry.value}; "
                "uninstall one of the two packages"
            )
    if group == GROUP and not found:
        raise ConfigError(
            f"expected games among the installed packages (entry points {GROUP!r}), got: none; install arena again"
        )
    return found


def names() -> tuple[str, ...]:
    """Returns the name of every installed game that belongs to no family, those of arena first."""
    return tuple(_found())


def families() -> tuple[str, ...]:
    """Returns the name of every installed family of games."""
    return tuple(_found(FAMILIES))


@cache
def family(name: str) -> Family:
    """Returns a family of games.

    Raises:
        ConfigError: There is no such family, or its package is broken. Show the message to the operator.
    """
    if name not in families():
        remedy = did_you_mean(name, families()) or "; install its package (openspiel: in packages/ of arena's checkout)"
        raise ConfigError(f"expected a family of games: {', '.join(families()) or 'none here'}, got: {name!r}{remedy}")
    entry = _found(FAMILIES)[name]
    loaded = load(entry.value, f"the family of games {name!r}", entry.package)
    if not (isinstance(loaded, type) and issubclass(loaded, Family)):
        raise ConfigError(
            f"expected the entry point {name!r} to name a subclass of arena.core.rules.family.Family, "
            f"got: {entry.value}; correct the entry point or the class"
        )
    return loaded()


def is_installed(name: str) -> bool:
    """Tells whether there is a game of this name, also in a family. No game is loaded."""
    group, colon, member = name.partition(":")
    return (group in families() and member in family(group).games()) if colon else name in names()


@cache
def game(name: str) -> type[Rules[Any]]:
    """Returns a game, for what holds at every table: its options, its rulesets, how many may play.

    Raises:
        ConfigError: There is no such game, or its package is broken. Show the message to the operator.
    """
    group, colon, member = name.partition(":")
    if colon:
        known = family(group).games()
        if member not in known:
            close = did_you_mean(member, known)
            raise ConfigError(f"expected a game of {group}, got: {member!r}{close}; see: arena rules list {group}")
        loaded = family(group).game(member)
        source, got = f"the family {group!r}", repr(loaded)
    else:
        if name not in _found():
            raise _unknown("the rules of a game", (*names(), *(f"{other}:GAME" for other in families())), name)
        entry = _found()[name]
        loaded = load(entry.value, f"the game {name!r}", entry.package)
        source, got = f"the entry point {name!r}", entry.value
    if not (isinstance(loaded, type) and issubclass(loaded, Rules) and getattr(loaded, "name", None) == name):
        raise ConfigError(
            f"expected {source} to name a subclass of arena.core.rules.base.Rules whose `name` is {name!r}, "
            f"got: {got}; correct the entry point or the class"
        )
    return loaded


def described(name: str) -> Payload:
    """Returns what programs must know of a game: its rulesets and options, its rules as text, and JSON Schemas.

    `text` is the game's page of the protocol, in Markdown; `schemas` has those of the `board`, the `view`, the `events`
    and the `plays`, each by name. Of a game of another package that brings no page, `text` is its one sentence, and
    there are no schemas.

    Raises:
        ConfigError: There is no such game. Show the message to the operator.
    """
    rules, folder, known = game(name), protocol_folder(), name.partition(":")[0]
    page = folder / "rules" / f"{known}.md"
    schemas = sorted((folder / "schemas" / known).glob("*.json")) if page.is_file() else []
    return {
        "rules": name,
        "version": rules.version,
        "about": rules.about,
        "players": list(rules.seat_counts),
        "rulesets": {key: {"about": one.about, "options": one.options} for key, one in rules.rulesets.items()},
        "options": {one.name: {"help": one.help, "values": one.values} for one in rules.option_list},
        "text": _bundled(page) if page.is_file() else rules.about,
        "schemas": {path.stem: msgspec.json.decode(_bundled(path)) for path in schemas},
    }


def _bundled(path: Path) -> str:
    return files.read_text(path, "a file of arena", files.MOST_TEXT, InternalError)


def margin_of(name: str, players: int, options: Mapping[str, str]) -> Margin | None:
    """Returns what a game counts; None if it counts nothing, or is not installed any more."""
    return game(name).margin(players, options) if is_installed(name) else None


def find_ruleset(name: str, ruleset: str | None) -> Ruleset:
    """Returns a ruleset of a game by its name, or the game's first.

    Raises:
        ConfigError: There is no such game or ruleset. Show the message: it names the close ones.
    """
    rulesets = game(name).rulesets
    ruleset = next(iter(rulesets)) if ruleset is None else ruleset
    if ruleset not in rulesets:
        raise _unknown(f"a ruleset of {name}", rulesets, ruleset)
    return rulesets[ruleset]


def resolve_options(name: str, ruleset: str | None, overrides: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Returns the options of a ruleset, some of them set differently.

    Args:
        ruleset: A ruleset's name, or None for the game's first.
        overrides: Options by name, with the values that differ.

    Returns:
        The name of the ruleset that has these options, or `custom`; and every option with its value.

    Raises:
        ConfigError: A name or value does not exist, or two of the values contradict each other. Show the message: it
            names the close ones, or both.
    """
    rulesets = game(name).rulesets
    options = {**find_ruleset(name, ruleset).options, **overrides}
    options = {key: value for key, value in options.items() if key not in LIMITS or value != "none"}
    _check_options(name, options)
    for option in game(name).option_list:
        if option.later and options.get(option.name) == option.default:
            del options[option.name]
    return next((known for known, other in rulesets.items() if other.options == options), "custom"), options


def _check_options(name: str, options: Mapping[str, str]) -> None:
    known = LIMITS | {option.name: option for option in game(name).option_list}
    for option, value in options.items():
        if option not in known:
            raise _unknown(f"an option of {name}", known, option)
        if not known[option].accepts(value):
            domain = known[option].domain()
            raise ConfigError(
                f"expected a value of {option}: {domain}, got: {value!r}{did_you_mean(value, known[option].values)}"
            )
    settings = {f"{option}={value}" for option, value in options.items()}
    for one, other in game(name).contradictions:
        if {one, other} <= settings:
            raise ConfigError(f"expected options that can hold together, got: {one} and {other}; change one of them")


def make_rules(name: str, seats: int, options: Mapping[str, str], board: BoardFile | None = None) -> Rules[Any]:
    """Returns a game's rules at a table.

    Args:
        options: Every option with its value, as `resolve_options` returns them.
        board: What it is played on, or None for a game without boards.

    Raises:
        BoardError: The board file is malformed.
        ConfigError: The game or the board is not for so many players, or the game needs a board, or has none.
    """
    rules = game(name)
    counts = rules.seat_counts
    if seats not in counts:
        told = f"expected {counts.start} to {counts.stop - 1} players for {name}, got: {seats}"
        raise ConfigError(f"{told}; give a bot for each player, such as greedy or random")
    _check_options(name, options)
    if missing := [option.name for option in rules.option_list if option.name not in options and not option.later]:
        raise ConfigError(f"expected every option of {name} to be set, these are missing: {', '.join(missing)}")
    for option in rules.option_list:
        option.by_seat(options.get(option.name, option.default), seats)
    if LIMITS.keys() & options.keys() and is_cooperative(rules.teams(seats, options)):
        raise ConfigError(f"expected rivals for a limit, got: {name}, where all win or lose together; leave it out")
    if "most_lead" in options and rules.margin(seats, options) is None:
        raise ConfigError(f"expected a game that counts leads for most_lead, got: {name}; use most_decisions")
    if rules.boards is None:
        if board is not None:
            raise ConfigError(f"expected no board, as {name} is played without one, got: {board.name!r}")
        return rules(seats, options)
    if board is None:
        raise ConfigError(f"expected a board for {name}, got: none")
    return rules(seats, options, rules.boards.parse(board.text, board.name, seats))


def make_settings(
    rules: str,
    players: int,
    *,
    ruleset: str | None = None,
    overrides: Iterable[str] = (),
    board: str | None = None,
    time: str = DEFAULT_TIME,
    cpu: str | None = None,
    race_window_ms: float = RACE_WINDOW_MS,
) -> GameSettings:
    """Returns what is played, by what an operator typed; all of it is checked.

    Args:
        ruleset: A ruleset's name, or None for the game's first.
        overrides: Options that differ from the ruleset's, each as `NAME=VALUE`.
        board: A board file, the name of a bundled board, or None for the game's own.
        time: The time control, as `TimeControl.parse` reads it.
        cpu: A budget of CPU time, as `parse_cpu` reads it; None for no such limit.
        race_window_ms: How far apart answers of a race may lie and be a tie.

    Raises:
        ConfigError: Something cannot be used. Show the message to the operator: it says what, and what to do.
    """
    named, options = resolve_options(rules, ruleset, parse_overrides(overrides))
    teams = game(rules).teams(players, options)
    settings = GameSettings(
        rules=rules, rules_version=game(rules).version, ruleset=named, options=options, players=players,
        board=default_board(rules) if board is None else find_board(board), time=_time(time, cpu),
        race_window_ms=race_window_ms, teams=UNSET if teams is None else teams,
    )  # fmt: skip
    if board is not None and settings.board is not None and game(rules).boards is not None:
        other = game_of_board(settings.board.text)
        if other not in (None, rules):
            raise ConfigError(f"expected a board of {rules}, got: {board!r}, one of {other}; use --rules {other}")
    _check_race_window(race_window_ms, rules_of(settings), named)
    return settings


def _time(time: str, cpu: str | None) -> TimeControl:
    control = TimeControl.parse(time)
    return control if cpu is None else replace(control, cpu_ms=parse_cpu(cpu))


def parse_overrides(texts: Iterable[str]) -> dict[str, str]:
    """Reads options of rules, each as `NAME=VALUE`.

    Raises:
        ConfigError: One is not of that form, or contradicts another.
    """
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ConfigError(f"expected an option NAME=VALUE, such as setup=random, got: {text!r}; use --rule")
        if options.setdefault(name, value) != value:
            raise ConfigError(
                f"expected one value of {name}, got: {name}={options[name]} and {text}; leave out one --rule"
            )
    return options


def _check_race_window(race_window_ms: float, rules: Rules[Any], ruleset: str) -> None:
    if not 0 <= race_window_ms <= MAX_RACE_WINDOW_MS:
        raise ConfigError(
            f"expected a race window of 0 to {MAX_RACE_WINDOW_MS} ms, got: {race_window_ms:g}; use --race-window"
        )
    if race_window_ms != RACE_WINDOW_MS and not rules.has_race:
        raise ConfigError(
            f"expected rules with a race for a race window of {race_window_ms:g} ms, got: {rules.name} {ruleset}, "
            "where nobody races; leave out --race-window, or choose another --ruleset"
        )


def rules_of(settings: GameSettings) -> Rules[Any]:
    """Returns the rules of a game that is described by its settings; errors are those of `make_rules`.

    Games at equal tables share them: to read a board takes as long as to check a fifth of a log.
    """
    table = (settings.rules, settings.players, settings.options, settings.board)
    return _rules_at(game(settings.rules), msgspec.json.encode(table))


@lru_cache(maxsize=4)
def _rules_at(kind: type[Rules[Any]], table: bytes) -> Rules[Any]:
    return make_rules(*msgspec.json.decode(table, type=tuple[str, int, dict[str, str], BoardFile | None]))


def game_of_board(text: str) -> str | None:
    """Returns the name of the game whose board a text is, by the section that only its boards have, or None."""
    lines = text.splitlines()
    for name in names():
        boards = board_format(name)
        if boards is not None and find_section(lines, boards.section) is not None:
            return name
    return None


def bundled_boards() -> tuple[BoardFile, ...]:
    """Returns every board that comes with arena or with an installed game, by name."""
    found = {name: BoardFile.of(*board_text(name)) for name in board_names()}
    for name in names():
        boards = board_format(name)
        if boards is not None:
            found |= {title: BoardFile.of(title, text) for title, text in boards.bundled.items()}
    return tuple(found[name] for name in sorted(found))


def find_board(ref: str) -> BoardFile:
    """Returns a board: a bundled one by its name, or a file by its path. It is not checked.

    Raises:
        ConfigError: There is no such board, or the file cannot be read as text. Show the message to the operator.
    """
    for name in names():
        boards = board_format(name)
        if boards is not None and ref in boards.bundled:
            return BoardFile.of(ref, boards.bundled[ref])
    return BoardFile.of(*board_text(ref))


def default_board(name: str) -> BoardFile | None:
    """Returns the board that a game is played on unless another is named; None for a game without boards."""
    boards = game(name).boards
    return None if boards is None else find_board(boards.default)


def board_format(name: str) -> BoardFormat | None:
    """Returns how the boards of an installed game are read; None if it has none, or if its package is broken.

    So a broken package does not keep the boards of other games from being listed and found.
    """
    try:
        return game(name).boards
    except ConfigError:
        return None


def _unknown(what: str, known: Iterable[str], got: str) -> ConfigError:
    listed = list(known)
    return ConfigError(f"expected {what}, one of {', '.join(listed)}, got: {got!r}{did_you_mean(got, listed)}")
