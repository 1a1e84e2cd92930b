"""From what the operator typed to a tournament's settings and work: everything is checked before anything starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from arena.errors import ConfigError
from arena.link.bots import BotSpec, bundled_bots, load_bot
from arena.referee.job import Job
from arena.resources import board_text, default_board
from arena.rules import make_rules, resolve_options
from arena.store.records import Tournament, game_id
from arena.tournament.schedule import ScheduledGame, Seatings
from arena.tournament.settings import BoardSettings, Settings, enter
from arena.types import TimeControl


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament that can begin: its settings, and what they were read from."""

    settings: Settings
    specs: tuple[BotSpec, ...]
    """The entrants' manifests, by number."""
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
            deal=game.deal,
            rotation=game.rotation,
            secret=tournament.secret,
            logs=tournament.logs,
        )


def set_up(
    bots: Sequence[str],
    *,
    rules: str,
    ruleset: str,
    options: Mapping[str, str],
    board: str | None,
    players: int,
    deals: int,
    seatings: Seatings,
    time: str,
    seed: str | None,
) -> Setup:
    """Read bots, rules and board, and check that they make a tournament.

    Args:
        bots: Folders or names of bots; empty for the bundled bots in Python.
        rules: Whose rules.
        ruleset: A named set of options.
        options: Single options that differ from the ruleset's.
        board: A board file, the name of a bundled board, or None for the game's own.
        players: Seats of a game.
        deals: How many deals every pairing plays.
        seatings: How the seats are rotated.
        time: The time control.
        seed: Whence the tournament's secret, or None for a new one.

    Raises:
        ConfigError: Something cannot be used; the message says what, and what to do.
    """
    specs = tuple(map(load_bot, bots)) if bots else bundled_python_bots()
    ruleset, resolved = resolve_options(rules, ruleset, options)
    board_name, text = default_board(rules) if board is None else board_text(board)
    bound = make_rules(rules, text, board_name, players, resolved)
    for spec in specs:
        if spec.rules and rules not in spec.rules:
            raise ConfigError(f"expected bots that play {rules}, got: {spec.name}, which plays {', '.join(spec.rules)}")
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
        seed=seed,
        bots=enter(specs),
    )
    settings.schedule()
    return Setup(settings=settings, specs=specs, board_text=text)


def bundled_python_bots() -> tuple[BotSpec, ...]:
    """The bundled bots that need nothing but Python."""
    return tuple(spec for spec in bundled_bots() if spec.language.lower() == "python")


def parse_options(texts: Iterable[str]) -> dict[str, str]:
    """Read `NAME=VALUE` texts.

    Raises:
        ConfigError: One is not of that form.
    """
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ConfigError(f"expected an option NAME=VALUE, such as setup=random, got: {text!r}; use --rule")
        options[name] = value
    return options
