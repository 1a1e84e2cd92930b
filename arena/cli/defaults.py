"""Reads `arena.toml`: what options have unless the command line says otherwise.

The file is that of the current folder or of the nearest folder above. `[tournament]` holds options of
`arena tournament`, `[bot.check]` those of `arena bot check`. `[defaults]` holds options that several commands share; a
command's own section wins over it. Paths are relative to the file. `[runtimes]` grants programs to bots, by name, and
`[caps]` says how much they may ask for.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from arena.cli.help import SectionOption
from arena.core import files
from arena.core.errors import BotError, ConfigError, did_you_mean
from arena.core.toml import line_of, table_of

FILE: Final = "arena.toml"
ALL: Final = "defaults"
"""The section whose options hold for every command that shares them."""
RUNTIMES: Final = "runtimes"
"""The section of programs that bots in a sandbox may call by name, beside those of `arena.core.link.runtimes`."""
CAPS: Final = "caps"
"""The section of the most that bots may ask for (`arena.core.link.caps`)."""
SHARED: Final = (
    "rules", "ruleset", "rule", "board", "time", "cpu", "race-window", "seed", "level", "db", "logs", "each-game",
    "quiet", "json",
)  # fmt: skip
"""Options that may stand in that section."""
ONCE: Final = frozenset({"new", "extend", "commit", "beacon", "beacon-value", "help"})
"""Options that mean one call, and so stand only on the command line."""


class Config(NamedTuple):
    """A file that was read."""

    path: Path
    text: str
    table: dict[str, Any]

    def place(self, section: str, key: str = "") -> str:
        """Returns where a section or a key in it stands, as `arena.toml:3`; without the line if that cannot be told."""
        name = os.path.relpath(self.path)
        line = line_of(self.text, section, key)
        return name if line is None else f"{name}:{line}"


class Setting(NamedTuple):
    """An option with the value that a file gives it."""

    section: str
    key: str
    value: Any
    place: str
    """The file and the line."""


def find(folder: Path) -> Path | None:
    """Returns the `arena.toml` of a folder or of the nearest one above that has one."""
    return next((path for parent in (folder, *folder.parents) if (path := parent / FILE).is_file()), None)


def read(path: Path, commands: Collection[str]) -> Config:
    """Reads a file, and checks the names of its sections, some of commands, and what it has for all of these.

    Raises:
        ConfigError: It cannot be read, or has a section or an option that does not exist; the message names the line.
    """
    name = os.path.relpath(path)
    text = files.read_text(path, "a TOML file", files.MOST_TEXT, ConfigError)
    try:
        config = Config(path.resolve(), text, table_of(text))
    except ValueError as error:
        raise ConfigError(f"expected a TOML file, got: {error} - at {name}; correct it, or use --config") from None
    known = (ALL, RUNTIMES, CAPS, *commands)
    for section, table in config.table.items():
        place = config.place(section)
        if section not in known:
            close = did_you_mean(section, known)
            named = f"{ALL}, {RUNTIMES}, {CAPS} or like a command"
            raise ConfigError(f"expected sections named {named}, got: {section!r}{close} - at {place}; correct it")
        if not isinstance(table, dict):
            raise ConfigError(f"expected a section [{section}], got: a value - at {place}; put options below it")
    for key in config.table.get(ALL, {}):
        if key not in SHARED:
            raise _unknown(config, ALL, key, SHARED)
    return config


def default_map(config: Config, command: click.Command, section: str) -> dict[str, Any]:
    """Returns what a file says of a command, or of all commands in a group, as click takes it: values by parameter.

    Raises:
        ConfigError: An option does not exist, or cannot have its value. Show the message to the operator.
    """
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        subs = command.list_commands(ctx)
        for key in _section(config, section):
            if key not in subs:
                raise _unknown(config, section, key, subs)
        found = {sub: command.get_command(ctx, sub) for sub in subs}
        return {sub: default_map(config, inner, f"{section}.{sub}") for sub, inner in found.items() if inner}
    known = options_of(command)
    return {known[each.key].name or "": each.value for each in settings(config, command, section)}


def settings(config: Config, command: click.Command, section: str) -> Iterator[Setting]:
    """Yields what a file says of one command, as click takes it; a later setting of an option wins."""
    known = options_of(command)
    for key, value in config.table.get(ALL, {}).items():
        if isinstance(known.get(key), SectionOption):
            yield from _setting(config, ALL, key, value, command, known[key])
    for key, value in _section(config, section).items():
        if key not in known:
            raise _unknown(config, section, key, known)
        yield from _setting(config, section, key, value, command, known[key])


def options_of(command: click.Command) -> dict[str, click.Parameter]:
    """Returns what a file may say of a command: the parameters by their names in the file."""
    found: dict[str, click.Parameter] = {}
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            long = next((name for name in parameter.opts if name.startswith("--")), "--help")
            if long[2:] not in ONCE:
                found[long[2:]] = parameter
        elif parameter.name == "bots":
            found["bots"] = parameter
    return found


def _section(config: Config, name: str) -> dict[str, Any]:
    table: Any = config.table
    for part in name.split("."):
        table = table.get(part, {})
        if not isinstance(table, dict):
            raise ConfigError(f"expected a section [{name}], got: {table!r} - at {os.path.relpath(config.path)}")
    return dict(table)


def _setting(
    config: Config, section: str, key: str, value: Any, command: click.Command, parameter: click.Parameter
) -> Iterator[Setting]:
    """Yields a setting with its value checked; nothing for one of several switches of an option that is off."""
    place = config.place(section, key)

    def wrong(expected: str) -> ConfigError:
        return ConfigError(f"expected {expected} for {key} in [{section}], got: {value!r} - at {place}; correct it")

    if isinstance(parameter, click.Option) and parameter.is_flag:
        if not isinstance(value, bool):
            raise wrong("true or false")
        if value or parameter.is_bool_flag:
            yield Setting(section, key, value if parameter.is_bool_flag else parameter.flag_value, place)
        return
    several = parameter.multiple or parameter.nargs == -1
    values = value if several and isinstance(value, list) else [value]
    if parameter.name == "bots":
        from arena.core.link.bots import table_ref

        try:
            values = [table_ref(one) if isinstance(one, dict) else one for one in values]
        except BotError as error:
            raise ConfigError(f"{error} - at {place}; correct it") from None
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in values):
        raise wrong("a list of texts" if several else "a text or a number")
    texts = [_from(config.path.parent, parameter, str(one)) for one in values]
    try:
        parameter.type_cast_value(click.Context(command), texts if several else texts[0])
    except click.BadParameter as error:
        raise wrong(f"another value ({error.message.rstrip('.')})") from None
    yield Setting(section, key, texts if several else texts[0], place)


def _from(folder: Path, parameter: click.Parameter, value: str) -> str:
    """Returns a value as it is understood here: a path is relative to the file's folder, and `~` its reader's home."""
    here = folder == Path.cwd()
    if parameter.name == "bots":
        from arena.core.link.bots import placed_ref

        return value if here else placed_ref(value, folder)
    if parameter.name == "board":
        from arena.core.catalogue import bundled_boards

        if value in {board.name for board in bundled_boards()}:
            return value
    elif not isinstance(parameter.type, click.Path):
        return value
    path = os.path.expanduser(value)
    return path if here else str(folder / path)


def _unknown(config: Config, section: str, key: str, known: Collection[str]) -> ConfigError:
    if key in ONCE:
        remedy = f"give --{key} on the command line"
        return ConfigError(f"expected no {key} in [{section}], got one - at {config.place(section, key)}; {remedy}")
    listed = ", ".join(known)
    return ConfigError(
        f"expected in [{section}] one of {listed}, got: {key!r}{did_you_mean(key, known)} - "
        f"at {config.place(section, key)}; correct it"
    )
