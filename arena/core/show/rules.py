"""Shows games to people: who may play, the rulesets, every option and its values, and what the kit finds.

Each is a document, as `--json` prints it, and lines that show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from arena.core.catalogue import families, family, find_ruleset, game, names, parse_overrides, resolve_options
from arena.core.errors import ConfigError
from arena.core.rules.base import Option, Ruleset
from arena.core.show.layout import entry, span
from arena.core.text import counted
from arena.core.types import Payload

if TYPE_CHECKING:
    from arena.core.testing import GameFault, Variant


def rules_list() -> Payload:
    """Returns every installed game in short, and broken games with the reason."""
    rows: list[Payload] = []
    groups: list[Payload] = []
    broken: list[Payload] = []
    for name, is_one in (*((name, True) for name in names()), *((name, False) for name in families())):
        try:
            if is_one:
                rules = game(name)
                who = {"players": list(rules.seat_counts), "rulesets": list(rules.rulesets)}
                rows.append({"rules": name, "about": rules.about, **who})
            else:
                found = family(name)
                groups.append({"family": name, "about": found.about, "games": len(found.games())})
        except ConfigError as error:
            broken.append({"rules": name, "fault": str(error)})
    return {"rules": rows, "families": groups, "broken": broken}


def family_list(name: str) -> Payload:
    """Returns the games of a family; none is loaded.

    Raises:
        ConfigError: There is no such family. Show the message to the operator.
    """
    found = family(name)
    rows = [{"rules": f"{name}:{game}", "about": about} for game, about in found.games().items()]
    return {"family": name, "about": found.about, "rules": rows}


def rules_page(name: str, ruleset: str | None = None) -> Payload:
    """Returns a game in full, with all its rulesets or only the one named.

    Raises:
        ConfigError: There is no such game or ruleset. Show the message: it names the close ones.
    """
    rules = game(name)
    find_ruleset(name, ruleset)
    first = next(iter(rules.rulesets))
    shown = {key: value for key, value in rules.rulesets.items() if ruleset in (None, key)}
    return {
        "rules": name,
        "version": rules.version,
        "about": rules.about,
        "players": list(rules.seat_counts),
        "board": None if rules.boards is None else rules.boards.default,  # used unless another is named
        "rulesets": [
            {"ruleset": key, "about": of.about, "default": key == first, "options": _every(rules.option_list, of)}
            for key, of in shown.items()
        ],
        "options": [
            _option_row(option, {key: _every((option,), value)[option.name] for key, value in shown.items()})
            for option in rules.option_list
        ],
        "contradictions": [list(pair) for pair in rules.contradictions],
    }


def _every(options: Iterable[Option], ruleset: Ruleset) -> dict[str, str]:
    """Returns what a ruleset gives these options, with the defaults of those that it does not name."""
    return {option.name: ruleset.options.get(option.name, option.default) for option in options}


def _option_row(option: Option, chosen: dict[str, str]) -> Payload:
    """Returns an option and which ruleset chose which value. A number that a ruleset chose is added to the values."""
    numbers = [value for value in dict.fromkeys(chosen.values()) if value not in option.values]
    meanings = {**option.values, **dict.fromkeys(numbers, "")}
    return {
        "option": option.name,
        "help": option.help,
        "values": [
            {"value": value, "meaning": meaning, "rulesets": [name for name, one in chosen.items() if one == value]}
            for value, meaning in meanings.items()
        ],
        "numbers": None if option.numbers is None else {"least": option.numbers[0], "most": option.numbers[-1]},
    }


def list_lines(found: Payload, width: int) -> Iterator[Text]:
    """Yields lines of at most `width` characters that show every game in short."""
    column = max(len(name) for name in (*names(), *families())) + 2
    for row in found["rules"]:
        head = f"{span(row['players'])} players; rulesets {', '.join(row['rulesets'])}"
        yield from entry(row["rules"], head, column, width)
        yield from entry("", row["about"], column, width)
    for row in found["families"]:
        head = f"{counted(row['games'], 'game')}: arena rules list {row['family']}"
        yield from entry(row["family"], head, column, width)
        yield from entry("", row["about"], column, width)
    for row in found["broken"]:
        yield from entry(row["rules"], row["fault"], column, width, "bold red")


def family_lines(found: Payload, width: int) -> Iterator[Text]:
    """Yields lines of at most `width` characters that name every game of a family."""
    column = max(len(row["rules"]) for row in found["rules"]) + 2
    for row in found["rules"]:
        yield from entry(row["rules"], row["about"], column, width)


def page_lines(page: Payload, width: int) -> Iterator[Text]:
    """Yields lines of at most `width` characters that show a game in full."""
    yield from entry("", f"{page['rules']}: {page['about']}", 0, width)
    board = "without a board" if page["board"] is None else f"on the board {page['board']} unless another is named"
    yield from entry("", f"{span(page['players'])} players, {board}", 0, width)
    yield Text()
    yield Text("Rulesets (--ruleset NAME)", "bold")
    column = max(len(row["ruleset"]) for row in page["rulesets"]) + 4
    for row in page["rulesets"]:
        about = f"{row['about']}{'; the default' if row['default'] else ''}"
        yield from entry(f"  {row['ruleset']}", about, column, width)
    if page["options"]:
        yield Text()
        yield Text("Options (--rule NAME=VALUE), and in which rulesets", "bold")
        yield from _option_lines(page, width)
    if page["contradictions"]:
        yield Text()
        yield Text("Cannot hold together", "bold")
        for one, other in page["contradictions"]:
            yield from entry("", f"{one} and {other}", 2, width)


def _option_lines(page: Payload, width: int) -> Iterator[Text]:
    column = max(len(value["value"]) for option in page["options"] for value in option["values"]) + 6
    for option in page["options"]:
        yield from entry(f"  {option['option']}", option["help"], len(option["option"]) + 4, width)
        for value in option["values"]:
            of = value["rulesets"]
            chosen = "all rulesets" if len(of) == len(page["rulesets"]) > 1 else ", ".join(of)
            words = " ".join(filter(None, (value["meaning"], f"[{chosen}]" if chosen else "")))
            yield from entry(f"    {value['value']}", words, column, width, "bold" if chosen else "dim")
        if numbers := option["numbers"]:
            yield from entry(f"    {numbers['least']}-{numbers['most']}", "any whole number", column, width)


def check_rules(
    name: str,
    ruleset: str | None,
    players: int | None,
    games: int,
    seed: int,
    watch: Callable[[Variant, Payload | None], None],
    overrides: Sequence[str] = (),
) -> Payload:
    """Checks a game at every table, or at those that are named. A fault of the game itself is the document's `fault`.

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
    rows: list[Payload] = []
    fault = None
    try:
        check_declaration(rules)
        for table in variants(rules, ruleset=ruleset, players=players, overrides=chosen):
            watch(table, None)
            rows.append(_checked(table, games, seed))
            watch(table, rows[-1])
    except GameFault as error:
        fault = _fault(error)
    return {"rules": name, "games": games, "seed": seed, "fault": fault, "tables": rows}


FAULT: Final = ("law", "expected", "got", "place", "remedy")


def _fault(fault: GameFault) -> Payload:
    return {key: getattr(fault, key) for key in FAULT}


def faults(found: Payload) -> list[Payload]:
    """Returns every fault that a check found."""
    return [one["fault"] for one in (found, *found["tables"]) if one["fault"] is not None]


def _checked(table: Variant, games: int, seed: int) -> Payload:
    from arena.core.testing import GameFault, check_variant

    steps, fault = None, None
    try:
        steps = check_variant(table.rules, games=games, seed=seed)
    except GameFault as error:
        fault = _fault(error)
    return {"ruleset": table.ruleset, "players": table.players, "steps": steps, "fault": fault}


def table_text(row: Payload, games: int) -> str:
    """Returns the result of checking a table, in one line for people."""
    played = f"{counted(games, 'game')}, {row['steps']} steps"
    found = f"ok, {played}" if row["fault"] is None else f"breaks the law of {row['fault']['law']}"
    return f"{row['ruleset']}, {row['players']} players: {found}"


def fault_lines(fault: Payload, width: int) -> Iterator[Text]:
    """Yields lines of at most `width` characters that show a fault."""
    yield Text()
    for label in FAULT:
        yield from entry(f"  {label}", fault[label], 12, width, "bold red" if label == "law" else "bold")
