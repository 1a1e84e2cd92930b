"""Every table that a game can be played at, and the whole kit over each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from arena.core.catalogue import find_board, game
from arena.core.errors import ConfigError
from arena.core.rules.base import Rules
from arena.core.testing import checks
from arena.core.testing.messages import check_actions, check_payloads, check_wild_actions
from arena.core.testing.secrecy import check_secrecy
from arena.core.testing.walks import GameFault, place_of, probing, walk
from arena.core.types import BoardFile

GAMES: Final = 10
"""Games that are played at each table unless another number is named."""


class Variant(msgspec.Struct, frozen=True):
    """A ruleset and a number of players."""

    ruleset: str
    players: int
    rules: Rules[Any]


CHECKS: Final[tuple[Callable[[Rules[Any], int], object], ...]] = (
    checks.check_purity, checks.check_legality, checks.check_outcome, checks.check_forfeits, checks.check_fold,
    check_payloads, check_actions, check_wild_actions, checks.check_numbers,
)  # fmt: skip
"""The checks of one random game each, by a seed; `check_secrecy` comes on top."""


def variants(
    rules: type[Rules[Any]],
    *,
    ruleset: str | None = None,
    players: int | None = None,
    board: BoardFile | None = None,
    overrides: Mapping[str, str] = {},
) -> Iterator[Variant]:
    """Yields the variants that a game can be played at.

    Args:
        rules: The game; it need not be installed.
        board: What it is played on, instead of the game's default board.
        overrides: Options that differ from those of each ruleset.

    Raises:
        ConfigError: There is no such ruleset, or the game or its board is not for so many players.
    """
    names = list(rules.rulesets)
    if ruleset not in (None, *names):
        raise ConfigError(f"expected a ruleset of {rules.name}, one of {', '.join(names)}, got: {ruleset!r}")
    boards, counts, source, text = rules.boards, tuple(rules.seat_counts), "", ""
    if boards is not None:
        if board is not None:
            source, text = board.name, board.text
        elif boards.default in boards.bundled:
            source, text = boards.default, boards.bundled[boards.default]
        else:
            source, text = boards.default, find_board(boards.default).text
        counts = tuple(count for count in boards.players(text, source) if count in counts)
    if players not in (None, *counts):
        raise ConfigError(f"expected {' or '.join(map(str, counts))} players for {rules.name}, got: {players}")
    for name in names if ruleset is None else [ruleset]:
        for count in counts if players is None else [players]:
            on = None if boards is None else boards.parse(text, source, count)
            try:
                bound = rules(count, {**rules.rulesets[name].options, **overrides}, on)
            except Exception as error:  # whatever a game raises is to be shown with its place
                expected, got = "rules that can be made for the table", f"{type(error).__name__}: {error}"
                where = f"{rules.name} {name}, {count} players"
                raise GameFault("declaration", expected, got, where, "see the error that led to this one") from error
            yield Variant(name, count, bound)


def check_variant(rules: Rules[Any], *, games: int = GAMES, seed: int = 0) -> int:
    """Checks a game at one table against every law: the number of steps that its games had.

    Args:
        seed: The first game's seed; the others follow.

    Raises:
        GameFault: A law is broken.
    """
    steps = changed = 0
    for number in range(seed, seed + games):
        with probing(rules, "course", number) as at:
            steps += sum(1 for _ in at.follow(walk(rules, number)))
        for check in CHECKS:
            check(rules, number)
        changed += check_secrecy(rules, number)
    if not rules.nothing_hidden and not changed:
        raise GameFault(
            "secrecy", "resample to return another state at some moment, since the game hides something",
            "always the state that it was given", place_of(rules, f"{games} games from seed {seed}"),
            "let resample exchange what a seat does not know, or set `nothing_hidden = True`",
        )  # fmt: skip
    return steps


def check_game(
    rules: str | type[Rules[Any]],
    *,
    games: int = GAMES,
    seed: int = 0,
    ruleset: str | None = None,
    players: int | None = None,
    board: BoardFile | None = None,
) -> None:
    """Checks a game against every law of `arena.core.rules.base`, at every table unless some are named.

    Args:
        rules: The game's class, or the name of an installed game.
        games: How many games each check plays at each table.
        seed: The first game's seed; the others follow.
        ruleset: Only this ruleset.
        players: Only so many players.
        board: What it is played on, instead of the game's default board.

    Raises:
        GameFault: A law is broken. The message says which, where, and what to do.
        ConfigError: There is no such game, ruleset or number of players.
    """
    found = game(rules) if isinstance(rules, str) else rules
    checks.check_declaration(found)
    for table in variants(found, ruleset=ruleset, players=players, board=board):
        check_variant(table.rules, games=games, seed=seed)
