"""Completes what a person is typing: bots, rules, rulesets, options of rules, boards, tournaments, games.

A shell calls `arena` at every press of the Tab key. So nothing here prints, fails, waits, or imports what it does not
need: whatever goes wrong, there is nothing to propose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from arena.core.text import plain

MOST: Final = 50
"""Number of tournaments, games or entrants that are proposed: of the first two the latest."""
PATIENCE_S: Final = 0.2
"""Seconds for which a database that is in use is waited for."""

Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]
_Propose: TypeAlias = Callable[[click.Context, str], Iterable[CompletionItem[str]]]


def _completer(propose: _Propose) -> Complete:
    """Returns what click calls: those proposals that begin with what was typed, or nothing if something goes wrong."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        try:
            return [item for item in propose(ctx, incomplete) if _fits(item.value, incomplete)]
        except Exception:  # a traceback would be drawn into the line that is being typed
            return []

    return complete


def _fits(value: str, incomplete: str) -> bool:
    """Says whether a value can be proposed. What was typed already may hold anything."""
    return value.startswith(incomplete) and value[len(incomplete) :].isprintable()


@_completer
def bots(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    from arena.core.link.bots import bundled_folders

    if "/" not in incomplete:
        yield from map(CompletionItem, sorted(bundled_folders()))
    yield CompletionItem(incomplete, type="dir")


@_completer
def rules(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    from arena.core.catalogue import families, family, names

    group, colon, _ = incomplete.partition(":")
    if colon:
        games = family(group).games() if group in families() else {}
        return (CompletionItem(f"{group}:{name}", help=about) for name, about in games.items())
    return map(CompletionItem, (*names(), *(f"{name}:" for name in families())))


@_completer
def families(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    from arena.core.catalogue import families

    return map(CompletionItem, families())


@_completer
def rulesets(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    from arena.core.catalogue import game

    for name, ruleset in game(_chosen_rules(ctx)).rulesets.items():
        yield CompletionItem(name, help=ruleset.about)


@_completer
def rule_options(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    from arena.core.catalogue import game

    for option in game(_chosen_rules(ctx)).option_list:
        if "=" not in incomplete:
            yield CompletionItem(f"{option.name}=", help=option.help)
        else:
            yield from (CompletionItem(f"{option.name}={value}", help=told) for value, told in option.values.items())


@_completer
def boards(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    from arena.core.catalogue import bundled_boards

    yield from (CompletionItem(board.name) for board in bundled_boards())
    yield CompletionItem(incomplete, type="file")


@_completer
def tournaments(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    query = (
        "SELECT tournaments.id, rules || ' ' || ruleset || ' ' || status FROM tournaments"
        " JOIN pools ON pools.id = pool WHERE tournaments.id BETWEEN ? AND ? ORDER BY tournaments.rowid DESC LIMIT ?"
    )
    return _ids(ctx, query, incomplete)


@_completer
def games(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    query = "SELECT id, termination FROM games WHERE id BETWEEN ? AND ? AND status = 'done' ORDER BY id DESC LIMIT ?"
    yield from _ids(ctx, query, incomplete)
    yield CompletionItem(incomplete, type="file")


@_completer
def entrants(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    query = "SELECT DISTINCT name, '' FROM entrants WHERE name BETWEEN ? AND ? ORDER BY name LIMIT ?"
    return _ids(ctx, query, incomplete)


@_completer
def commands(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    """Yields the commands after those that the line names as words."""
    found = ctx.find_root().command
    for word in ctx.params.get("command") or ():
        assert isinstance(found, click.Group)
        inner = found.get_command(ctx, word)
        assert inner is not None
        found = inner
    if isinstance(found, click.Group):
        yield from map(CompletionItem, found.list_commands(ctx))


def _ids(ctx: click.Context, query: str, incomplete: str) -> Iterator[CompletionItem[str]]:
    """Yields identifiers from the database that the command line, `arena.toml` or the default names."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(f"{_database(ctx).resolve().as_uri()}?mode=ro", uri=True, timeout=PATIENCE_S)) as db:
        for id, about in db.execute(query, (incomplete, incomplete + "\U0010ffff", MOST)):
            yield CompletionItem(id, help=plain(about))


def _database(ctx: click.Context) -> Path:
    return Path(_given(ctx, "db") or "arena.db")


def _chosen_rules(ctx: click.Context) -> str:
    """Returns the game that the line names, as an option or as the argument of `arena rules`."""
    unread = "".join(ctx.args[:1])  # click reads no argument of a line whose last option has no value yet
    return str(_given(ctx, "rules") or _given(ctx, "name") or unread)


def _given(ctx: click.Context, name: str) -> Any:
    """Returns what a parameter has on the command line, or else in `arena.toml`, or else by default."""
    if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
        return ctx.params[name]
    return _in_file(ctx).get(name, ctx.params.get(name))


def _in_file(ctx: click.Context) -> dict[str, Any]:
    """Returns what `arena.toml` says of the command; nothing if there is no such file."""
    from arena.cli.defaults import default_map, find, read

    root = ctx.find_root()
    path = root.params.get("config") or find(Path.cwd())
    if path is None or not isinstance(root.command, click.Group):
        return {}
    config = read(path, root.command.list_commands(root))
    return default_map(config, ctx.command, ".".join(ctx.command_path.split()[1:]))


def first_word(words: Iterable[str], others: Complete) -> Complete:
    """Returns what proposes these words as the first argument, beside others."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        given = ctx.params.get(param.name or "")
        first = [CompletionItem(word) for word in words if word.startswith(incomplete) and not given]
        return [*first, *others(ctx, param, incomplete)]

    return complete
