"""`arena config`: prints which options `arena.toml` sets, and where each has its value from."""

from __future__ import annotations

import os
from typing import Any

import click

from arena.cli import complete
from arena.cli.defaults import ALL, FILE, Config, Setting, default_map, options_of, settings
from arena.cli.options import json_option
from arena.cli.output import echo, show_json
from arena.core.text import plain

BUILT_IN = "built in"
"""The source of a value that no file sets."""


@click.command()
@click.argument("command", nargs=-1, metavar="[COMMAND]", shell_complete=complete.commands)
@json_option
@click.pass_context
def config(ctx: click.Context, command: tuple[str, ...], as_json: bool) -> None:
    """Print what arena.toml sets, and which options are in force.

    With a COMMAND, every option of it is shown, with its value and where that is from.

    arena.toml gives options other values than their built-in ones; the command line wins. It is that of this folder or
    the nearest one above, or the FILE of `arena --config FILE`; `--config /dev/null` does without. Paths in it are
    relative to it. Sections are named like commands, as in [bot.check]; [defaults] holds options that commands share:

    \b
      [defaults]
      db = "results/arena.db"
      [tournament]
      bots = ["mybots"]
      time = "5+0.1"

    [runtimes] grants programs to bots in sandboxes. [caps] has the most that a bot may ask for in its manifest:
    memory_mib = 2048, file_mib = 16, start_ms = 10000, unless it says otherwise.

    \b
    Example:
      arena config
      arena config tournament
    """
    root = ctx.find_root()
    found: Config | None = root.obj
    rows = in_force(found, find_command(root, command), ".".join(command)) if command else all_settings(found, root)
    if as_json:
        file = None if found is None else str(found.path)
        show_json({"file": file, "settings": [row._asdict() for row in rows]})
        return
    if found is None:
        echo(f"There is no {FILE} in this folder or above: options have their built-in values.")
    else:
        echo(f"{os.path.relpath(found.path)} is in force.")
    for line in lines(rows) if rows else ():
        echo(line)


def find_command(root: click.Context, words: tuple[str, ...]) -> click.Command:
    """Returns the command of some words, which is not a group.

    Raises:
        click.UsageError: There is none; the message suggests close names.
    """
    found = root.command
    for word in words:
        if not isinstance(found, click.Group):
            raise click.UsageError(f"expected a command, got: {' '.join(words)!r}", root)
        _, inner, _ = found.resolve_command(click.Context(found, info_name="config", parent=root), [word])
        assert inner is not None
        found = inner
    if isinstance(found, click.Group):
        names = ", ".join(found.list_commands(root))
        raise click.UsageError(f"expected a command after {' '.join(words)!r}, one of {names}, got: none", root)
    return found


def in_force(found: Config | None, command: click.Command, section: str) -> list[Setting]:
    """Returns every option of a command with its value and where that is from."""
    given = {} if found is None else {each.key: each for each in settings(found, command, section)}
    known = options_of(command)
    taken = {known[key].name for key in given}
    built_in = command.make_context(section, [], resilient_parsing=True).params
    rows = []
    for key, parameter in known.items():
        if key in given:
            rows.append(_as_typed(given[key], parameter)._replace(section=section))
        elif parameter.name not in taken:
            rows.append(Setting(section, key, _plain(built_in.get(parameter.name or "")), BUILT_IN))
    return rows


def all_settings(found: Config | None, root: click.Context) -> list[Setting]:
    """Returns what a file sets, each of its sections checked."""
    if found is None:
        return []
    rows: dict[tuple[str, str], Setting] = {}

    def collect(command: click.Command, section: str) -> None:
        if isinstance(command, click.Group):
            if section:
                default_map(found, command, section)
            ctx = click.Context(command)
            for name in command.list_commands(ctx):
                inner = command.get_command(ctx, name)
                assert inner is not None
                collect(inner, f"{section}.{name}".lstrip("."))
            return
        known = options_of(command)
        for setting in settings(found, command, section):
            rows[setting.section, setting.key] = _as_typed(setting, known[setting.key])

    collect(root.command, "")
    return sorted(rows.values(), key=lambda row: row.section != ALL)


def _as_typed(setting: Setting, parameter: click.Parameter) -> Setting:
    """Returns a setting with the value that stands in the file, where click takes another for it."""
    is_switch = isinstance(parameter, click.Option) and parameter.is_flag
    return setting._replace(value=bool(setting.value)) if is_switch else setting


def _plain(value: Any) -> Any:
    """Returns a value as JSON has it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else str(value)


def lines(rows: list[Setting]) -> list[str]:
    """Returns the settings for people, under their sections."""
    values = [_text(row.value) for row in rows]
    first, second = (max(map(len, column)) for column in ([row.key for row in rows], values))
    shown = []
    for before, row, value in zip([None, *rows], rows, values, strict=False):
        if before is None or before.section != row.section:
            shown.append(f"[{row.section}]")
        shown.append(plain(f"  {row.key.ljust(first)}  {value.ljust(second)}  {row.place}".rstrip()))
    return shown


def _text(value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
