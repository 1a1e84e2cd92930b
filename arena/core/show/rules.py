"""Shows games to people: who may play, the rulesets, every option and its values, and what the kit finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from rich.text import Text

from arena.core.catalogue import families, family, find_ruleset, game, names, parse_overrides, resolve_options
from arena.core.errors import ConfigError
from arena.core.rules.base import Option, Ruleset
from arena.core.show.layout import entry, span
from arena.core.text import counted

if TYPE_CHECKING:
    from arena.core.testing import GameFault, Variant


class ValueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A value that an option can have."""

    value: str
    meaning: str
    rulesets: tuple[str, ...]


class NumberRow(msgspec.Struct, frozen=True, kw_only=True):
    """The range of whole numbers that an option can have besides its values."""

    least: int
    most: int


class OptionRow(msgspec.Struct, frozen=True, kw_only=True):
    """An option."""

    option: str
    help: str
    values: tuple[ValueRow, ...]
    numbers: NumberRow | None


class RulesetRow(msgspec.Struct, frozen=True, kw_only=True):
    """A ruleset."""

    ruleset: str
    about: str
    default: bool
    options: dict[str, str]


class RulesRow(msgspec.Struct, frozen=True, kw_only=True):
    """A game in short."""

    rules: str
    about: str
    players: tuple[int, ...]
    rulesets: tuple[str, ...]


class RulesPage(msgspec.Struct, frozen=True, kw_only=True):
    """A game in full."""

    rules: str
    version: int
    about: str
    players: tuple[int, ...]
    board: str | None
    """The board that is used unless another is named; None for a game without boards."""
    rulesets: tuple[RulesetRow, ...]
    options: tuple[OptionRow, ...]
    contradictions: tuple[tuple[str, str], ...]
    """Settings `OPTION=VALUE` that cannot hold together."""


class BrokenRow(msgspec.Struct, frozen=True, kw_only=True):
    """A game whose package is broken."""

    rules: str
    fault: str


class FamilyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A family of games in short."""

    family: str
    about: str
    games: int


class RulesList(msgspec.Struct, frozen=True, kw_only=True):
    """Every installed game."""

    rules: tuple[RulesRow, ...]
    families: tuple[FamilyRow, ...]
    broken: tuple[BrokenRow, ...]


class MemberRow(msgspec.Struct, frozen=True, kw_only=True):
    """A game of a family in short."""

    rules: str
    about: str


class FamilyList(msgspec.Struct, frozen=True, kw_only=True):
    """The games of a family."""

    family: str
    about: str
    rules: tuple[MemberRow, ...]


def rules_list() -> RulesList:
    """Returns every installed game in short, and broken games with the reason."""
    rows, broken = [], []
    for name in names():
        try:
            rules = game(name)
        except ConfigError as error:
            broken.append(BrokenRow(rules=name, fault=str(error)))
            continue
        counts, rulesets = tuple(rules.seat_counts), tuple(rules.rulesets)
        rows.append(RulesRow(rules=name, about=rules.about, players=counts, rulesets=rulesets))
    groups = []
    for name in families():
        try:
            found = family(name)
        except ConfigError as error:
            broken.append(BrokenRow(rules=name, fault=str(error)))
            continue
        groups.append(FamilyRow(family=name, about=found.about, games=len(found.games())))
    return RulesList(rules=tuple(rows), families=tuple(groups), broken=tuple(broken))


def family_list(name: str) -> FamilyList:
    """Returns the games of a family; none is loaded.

    Raises:
        ConfigError: There is no such family. Show the message to the operator.
    """
    found = family(name)
    rows = (MemberRow(rules=f"{name}:{game}", about=about) for game, about in found.games().items())
    return FamilyList(family=name, about=found.about, rules=tuple(rows))


def rules_page(name: str, ruleset: str | None = None) -> RulesPage:
    """Returns a game in full, with all its rulesets or only the one named.

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
        board=None if rules.boards is None else rules.boards.default,
        rulesets=tuple(
            RulesetRow(ruleset=key, about=value.about, default=key == first, options=_every(rules.option_list, value))
            for key, value in shown.items()
        ),
        options=tuple(
            _option_row(option, {key: _every((option,), value)[option.name] for key, value in shown.items()})
            for option in rules.option_list
        ),
        contradictions=rules.contradictions,
    )


def _every(options: Iterable[Option], ruleset: Ruleset) -> dict[str, str]:
    """Returns what a ruleset gives these options, with the defaults of those that it does not name."""
    return {option.name: ruleset.options.get(option.name, option.default) for option in options}


def _option_row(option: Option, chosen: dict[str, str]) -> OptionRow:
    """Returns an option and which ruleset chose which value. A number that a ruleset chose is added to the values."""
    numbers = [value for value in dict.fromkeys(chosen.values()) if value not in option.values]
    meanings = {**option.values, **dict.fromkeys(numbers, "")}
    return OptionRow(
        option=option.name,
        help=option.help,
        values=tuple(
            ValueRow(
                value=value, meaning=meaning, rulesets=tuple(name for name, choice in chosen.items() if choice == value)
            )
            for value, meaning in meanings.items()
        ),
        numbers=None if option.numbers is None else NumberRow(least=option.numbers[0], most=option.numbers[-1]),
    )


def list_lines(found: RulesList, width: int) -> Iterator[Text]:
    """Yields lines of at most `width` characters that show every game in short."""
    column = max(len(name) for name in (*names(), *families())) + 2
    for row in found.rules:
        head = f"{span(row.players)} players; rulesets {', '.join(row.rulesets)}"
        yield from entry(row.rules, head, column, width)
        yield from entry("", row.about, column, width)
    for group in found.families:
        yield from entry(
            group.family, f"{counted(group.games, 'game')}: arena rules list {group.family}", column, width
        )
        yield from entry("", group.about, column, width)
    for wrong in found.broken:
        yield from entry(wrong.rules, wrong.fault, column, width, "bold red")


def family_lines(found: FamilyList, width: int) -> Iterator[Text]:
    """Yields lines of at most `width` characters that name every game of a family."""
    column = max(len(row.rules) for row in found.rules) + 2
    for row in found.rules:
        yield from entry(row.rules, row.about, column, width)


def page_lines(page: RulesPage, width: int) -> Iterator[Text]:
    """Yields lines of at most `width` characters that show a game in full."""
    yield from entry("", f"{page.rules}: {page.about}", 0, width)
    board = "without a board" if page.board is None else f"on the board {page.board} unless another is named"
    yield from entry("", f"{span(page.players)} players, {board}", 0, width)
    yield Text()
    yield Text("Rulesets (--ruleset NAME)", "bold")
    column = max(len(row.ruleset) for row in page.rulesets) + 4
    for row in page.rulesets:
        yield from entry(f"  {row.ruleset}", f"{row.about}{'; the default' if row.default else ''}", column, width)
    if page.options:
        yield Text()
        yield Text("Options (--rule NAME=VALUE), and in which rulesets", "bold")
        yield from _option_lines(page, width)
    if page.contradictions:
        yield Text()
        yield Text("Cannot hold together", "bold")
        for one, other in page.contradictions:
            yield from entry("", f"{one} and {other}", 2, width)


def _option_lines(page: RulesPage, width: int) -> Iterator[Text]:
    column = max(len(value.value) for option in page.options for value in option.values) + 6
    for option in page.options:
        yield from entry(f"  {option.option}", option.help, len(option.option) + 4, width)
        for value in option.values:
            chosen = "all rulesets" if len(value.rulesets) == len(page.rulesets) > 1 else ", ".join(value.rulesets)
            words = " ".join(filter(None, (value.meaning, f"[{chosen}]" if chosen else "")))
            yield from entry(f"    {value.value}", words, column, width, "bold" if chosen else "dim")
        if option.numbers:
            yield from entry(f"    {option.numbers.least}-{option.numbers.most}", "any whole number", column, width)


class FaultRow(msgspec.Struct, frozen=True, kw_only=True):
    """A law of the interface that a game breaks."""

    law: str
    expected: str
    got: str
    place: str
    remedy: str

    @classmethod
    def of(cls, fault: GameFault) -> FaultRow:
        """Returns the row of a fault."""
        return cls(law=fault.law, expected=fault.expected, got=fault.got, place=fault.place, remedy=fault.remedy)


class TableRow(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a game at one table."""

    ruleset: str
    players: int
    steps: int | None
    """Number of draws and plays of the games; None if a law was broken."""
    fault: FaultRow | None


class RulesCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a game."""

    rules: str
    games: int
    seed: int
    fault: FaultRow | None
    """Fault of the game itself, if anything; then no table was checked."""
    tables: tuple[TableRow, ...]

    @property
    def faults(self) -> tuple[FaultRow, ...]:
        """Every fault."""
        found = (self.fault, *(row.fault for row in self.tables))
        return tuple(fault for fault in found if fault is not None)


def check_rules(
    name: str,
    ruleset: str | None,
    players: int | None,
    games: int,
    seed: int,
    watch: Callable[[Variant, TableRow | None], None],
    overrides: Sequence[str] = (),
) -> RulesCheck:
    """Checks a game at every table, or at those that are named.

    Args:
        watch: Called before each table, and after it with what was found.
        overrides: Options that differ from those of each ruleset, each as `NAME=VALUE`.

    Raises:
        ConfigError: There is no such game, ruleset, option or number of players. Show the message to the operator.
    """
    from arena.core.testing import GameFault, check_declaration, variants  # not before: nothing else here needs it

    rules, chosen = game(name), parse_overrides(overrides)
    for one in rules.rulesets if ruleset is None else [ruleset]:
        resolve_options(name, one, chosen)
    rows: list[TableRow] = []
    fault = None
    try:
        check_declaration(rules)
        for table in variants(rules, ruleset=ruleset, players=players, overrides=chosen):
            watch(table, None)
            rows.append(_checked(table, games, seed))
            watch(table, rows[-1])
    except GameFault as error:
        fault = FaultRow.of(error)
    return RulesCheck(rules=name, games=games, seed=seed, fault=fault, tables=tuple(rows))


def _checked(table: Variant, games: int, seed: int) -> TableRow:
    from arena.core.testing import GameFault, check_variant

    try:
        steps = check_variant(table.rules, games=games, seed=seed)
    except GameFault as fault:
        return TableRow(ruleset=table.ruleset, players=table.players, steps=None, fault=FaultRow.of(fault))
    return TableRow(ruleset=table.ruleset, players=table.players, steps=steps, fault=None)


def table_text(row: TableRow, games: int) -> str:
    """Returns the result of checking a table, in one line for people."""
    played = f"{games} game{'' if games == 1 else 's'}, {row.steps} steps"
    found = f"ok, {played}" if row.fault is None else f"breaks the law of {row.fault.law}"
    return f"{row.ruleset}, {row.players} players: {found}"


def fault_lines(fault: FaultRow, width: int) -> Iterator[Text]:
    """Yields lines of at most `width` characters that show a fault."""
    yield Text()
    for label in ("law", "expected", "got", "place", "remedy"):
        yield from entry(f"  {label}", getattr(fault, label), 12, width, "bold red" if label == "law" else "bold")
