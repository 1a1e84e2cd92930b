"""The games for people: who may play, the rulesets, and every option with what its values do."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from rich.text import Text

from arena.resources import default_board
from arena.rules import NAMES, find_ruleset, game
from arena.rules.base import Option
from arena.show.entries import entry, span


class ValueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A value that an option can have."""

    value: str
    meaning: str
    rulesets: tuple[str, ...]
    """The rulesets that have it, of those on the page."""


class NumberRow(msgspec.Struct, frozen=True, kw_only=True):
    """The whole numbers that an option can have beside its values."""

    least: int
    most: int


class OptionRow(msgspec.Struct, frozen=True, kw_only=True):
    """An option."""

    option: str
    help: str
    """What it decides."""
    values: tuple[ValueRow, ...]
    """The first is the default."""
    numbers: NumberRow | None


class RulesetRow(msgspec.Struct, frozen=True, kw_only=True):
    """A ruleset."""

    ruleset: str
    about: str
    """Where it comes from or what it is for."""
    default: bool
    """Whether it is the one that is played unless another is named."""
    options: dict[str, str]
    """Every option with its value."""


class RulesRow(msgspec.Struct, frozen=True, kw_only=True):
    """A game in short."""

    rules: str
    about: str
    """The game in one sentence."""
    players: tuple[int, ...]
    """How many can play, ascending; a board may allow fewer."""
    rulesets: tuple[str, ...]
    """The first is the default."""


class RulesPage(msgspec.Struct, frozen=True, kw_only=True):
    """A game in full."""

    rules: str
    version: int
    about: str
    """The game in one sentence."""
    players: tuple[int, ...]
    """How many can play, ascending; a board may allow fewer."""
    board: str
    """The bundled board that it is played on unless another is named."""
    rulesets: tuple[RulesetRow, ...]
    options: tuple[OptionRow, ...]
    contradictions: tuple[tuple[str, str], ...]
    """Settings `OPTION=VALUE` that cannot hold together."""


def rules_rows() -> tuple[RulesRow, ...]:
    """Every game in short."""
    return tuple(
        RulesRow(rules=name, about=rules.about, players=tuple(rules.seat_counts), rulesets=tuple(rules.rulesets))
        for name, rules in ((name, game(name)) for name in NAMES)
    )


def rules_page(name: str, ruleset: str | None = None) -> RulesPage:
    """A game in full, with all its rulesets or only the one named.

    Raises:
        ConfigError: There is no such game or ruleset. Show the message: it names the close ones.
    """
    rules = game(name)
    find_ruleset(name, ruleset)
    first = next(iter(rules.rulesets))
    shown = {key: value for key, value in rules.rulesets.items() if ruleset in (None, key)}
    return RulesPage(
        rules=name,
        version=rules.version,
        about=rules.about,
        players=tuple(rules.seat_counts),
        board=default_board(name)[0],
        rulesets=tuple(
            RulesetRow(ruleset=key, about=value.about, default=key == first, options=dict(value.options))
            for key, value in shown.items()
        ),
        options=tuple(
            _option_row(option, {key: value.options[option.name] for key, value in shown.items()})
            for option in rules.option_list
        ),
        contradictions=rules.contradictions,
    )


def _option_row(option: Option, chosen: dict[str, str]) -> OptionRow:
    """An option, and which ruleset chose which value. A number that one chose is added to the values."""
    numbers = [value for value in dict.fromkeys(chosen.values()) if value not in option.values]
    meanings = {**option.values, **dict.fromkeys(numbers, "")}
    return OptionRow(
        option=option.name,
        help=option.help,
        values=tuple(
            ValueRow(
                value=value,
                meaning=meaning,
                rulesets=tuple(name for name, choice in chosen.items() if choice == value),
            )
            for value, meaning in meanings.items()
        ),
        numbers=None if option.numbers is None else NumberRow(least=option.numbers[0], most=option.numbers[-1]),
    )


def list_lines(rows: tuple[RulesRow, ...], width: int) -> Iterator[Text]:
    """Every game in short, for people, in lines of at most `width` characters."""
    column = max(len(row.rules) for row in rows) + 2
    for row in rows:
        head = f"{span(row.players)} players; rulesets {', '.join(row.rulesets)}"
        yield from entry(row.rules, head, column, width)
        yield from entry("", row.about, column, width)


def page_lines(page: RulesPage, width: int) -> Iterator[Text]:
    """A game in full, for people, in lines of at most `width` characters."""
    yield from entry("", f"{page.rules}: {page.about}", 0, width)
    yield from entry("", f"{span(page.players)} players, on the board {page.board} unless another is named", 0, width)
    yield Text()
    yield Text("Rulesets (--ruleset NAME)", "bold")
    column = max(len(row.ruleset) for row in page.rulesets) + 4
    for row in page.rulesets:
        yield from entry(f"  {row.ruleset}", f"{row.about}{'; the default' if row.default else ''}", column, width)
    yield Text()
    yield Text("Options (--rule NAME=VALUE), and in which rulesets", "bold")
    column = max(len(value.value) for option in page.options for value in option.values) + 6
    for option in page.options:
        yield from entry(f"  {option.option}", option.help, len(option.option) + 4, width)
        for value in option.values:
            names = "all rulesets" if len(value.rulesets) == len(page.rulesets) > 1 else ", ".join(value.rulesets)
            words = " ".join(filter(None, (value.meaning, f"[{names}]" if names else "")))
            yield from entry(f"    {value.value}", words, column, width, "bold" if names else "dim")
        if option.numbers:
            yield from entry(f"    {option.numbers.least}-{option.numbers.most}", "any whole number", column, width)
    if page.contradictions:
        yield Text()
        yield Text("Cannot hold together", "bold")
        for one, other in page.contradictions:
            yield from entry("", f"{one} and {other}", 2, width)
