"""From what the operator typed to a tournament's settings and work: everything is checked before anything starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from arena.errors import ConfigError
from arena.link.bots import BotSpec, bundled_bots, load_bot
from arena.referee.job import Job
from arena.resources import board_text, default_board
from arena.rules import make_rules, resolve_options, rules_of_board
from arena.rules.base import Rules
from arena.store.records import Tournament, game_id
from arena.tournament.schedule import ScheduledGame, Seatings
from arena.tournament.settings import BoardSettings, Settings, enter
from arena.types import RACE_WINDOW_MS, TimeControl

MAX_RACE_WINDOW_MS: Final = 1000
"""A longer window would hold a game up: nobody is served before it is over."""


THINKERS: Final = ("shogun", "planner")
"""Bundled bots that use all the time they are given. They enter a tournament only if they are named."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament that can begin: its settings, and what they were read from."""

    settings: Settings
    specs: tuple[BotSpec, ...]
    """The entrants' manifests, by number."""
    refs: tuple[str, ...]
    """What names the entrants on the command line in the operator's folder, by number."""
    board_text: str
    """The board file's text."""

    def job(self, tournament: Tournament, game: ScheduledGame) -> Job:
        """The work for one game."""
        settings = self.settings
        return Job(
            game=game_id(tournament.id, game.number),
            tournament=tournament.id,
            rules=settings.rules,
            ruleset=settings.ruleset,
            options=settings.options,
            board_name=settings.board.name,
            board_text=self.board_text,
            bots=tuple(self.specs[entrant] for entrant in game.entrants),
            time=TimeControl.parse(settings.time),
            race_window_ms=settings.race_window_ms,
            deal=game.deal,
            rotation=game.rotation,
            secret=tournament.secret,
            logs=tournament.logs,
        )


def set_up(
    bots: Sequence[str],
    *,
    rules: str,
    ruleset: str | None,
    options: Mapping[str, str],
    board: str | None,
    players: int,
    deals: int,
    seatings: Seatings,
    time: str,
    race_window_ms: float,
    seed: str | None,
) -> Setup:
    """Read bots, rules and board, and check that they make a tournament.

    Args:
        bots: Folders or names of bots; empty for the bundled bots in Python that play these rules and answer at once.
        rules: Whose rules.
        ruleset: A named set of options, or None for the game's first.
        options: Single options that differ from the ruleset's.
        board: A board file, the name of a bundled board, or None for the game's own.
        players: Seats of a game.
        deals: How many deals every pairing plays.
        seatings: How the seats are rotated.
        time: The time control.
        race_window_ms: How far apart answers of a race may lie and be a tie.
        seed: Whence the tournament's secret, or None for a new one.

    Raises:
        ConfigError: Something cannot be used; the message says what, and what to do.
    """
    ruleset, resolved = resolve_options(rules, ruleset, options)
    specs = tuple(map(load_bot, bots)) if bots else bundled_python_bots(rules)
    _check_rules_of_bots(specs, rules)
    board_name, text = default_board(rules) if board is None else board_text(board)
    if (other := rules_of_board(text)) not in (None, rules):
        raise ConfigError(f"expected a board of {rules}, got: {board!r}, which is one of {other}; use --rules {other}")
    bound = make_rules(rules, text, board_name, players, resolved)
    _check_race_window(race_window_ms, bound, ruleset)
    settings = Settings(
        rules=rules,
        rules_version=bound.version,
        ruleset=ruleset,
        options=dict(resolved),
        board=BoardSettings(name=board_name, hash=hashlib.sha256(text.encode()).hexdigest()),
        players=players,
        deals=deals,
        seatings=seatings,
        time=str(TimeControl.parse(time)),
        race_window_ms=race_window_ms,
        seed=seed,
        bots=enter(specs),
    )
    settings.schedule()
    refs = tuple(bots) or tuple(spec.name for spec in specs)
    return Setup(settings=settings, specs=specs, refs=refs, board_text=text)


def bundled_python_bots(rules: str) -> tuple[BotSpec, ...]:
    """The bundled bots that play some rules, need nothing but Python, and answer at once."""
    specs = (spec for spec in bundled_bots() if spec.language.lower() == "python" and _plays(spec, rules))
    return tuple(spec for spec in specs if spec.name not in THINKERS)


def _plays(spec: BotSpec, rules: str) -> bool:
    return not spec.rules or rules in spec.rules


def _check_rules_of_bots(specs: Iterable[BotSpec], rules: str) -> None:
    strangers = {spec.name: spec.rules for spec in specs if not _plays(spec, rules)}
    if strangers:
        told = ", ".join(f"{name} (which plays {', '.join(map(repr, plays))})" for name, plays in strangers.items())
        raise ConfigError(f"expected bots that play {rules}, got: {told}; leave them out, or mend --rules")


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


def parse_options(texts: Iterable[str]) -> dict[str, str]:
    """Read `NAME=VALUE` texts.

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
