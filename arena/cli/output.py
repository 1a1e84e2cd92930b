"""Prints for every command: tables, JSON, colour, messages. Only this module decides about colour and width.

Whatever text a caller hands in, nothing that a terminal could act on is printed, but for the colours and movements of
rich.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

import click

from arena.core.errors import ConfigError
from arena.core.text import counted as counted
from arena.core.text import plain, plain_json, plain_lines, without_surrogates

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

UNBOUNDED = 1_000  # columns for a file or a pipe, into which a table goes whole


@cache
def console(*, stderr: bool = False) -> Console:
    """Returns the console of stdout or stderr. It is plain without a terminal, or if NO_COLOR or TERM=dumb ask for it.

    It does not interpret markup in text.
    """
    from rich.console import Console
    from rich.segment import Segment

    class PlainConsole(Console):
        """Spells out what a caller forgot to."""

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                if segment.control or segment.text.isprintable():
                    yield segment
                else:
                    yield Segment(plain_lines(segment.text), segment.style)

        def on_broken_pipe(self) -> None:
            raise  # the error that rich would end with 1 for

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else UNBOUNDED
    return PlainConsole(stderr=stderr, width=width, markup=False, emoji=False, highlight=False, soft_wrap=True)


def _is_piped(*, stderr: bool = False) -> bool:
    """Says that rich would write plain lines, because there is no terminal: then it need not be loaded, for 15 ms."""
    stream = sys.stderr if stderr else sys.stdout
    return not stream.isatty() and not {"FORCE_COLOR", "TTY_COMPATIBLE"} & os.environ.keys()


def stdout_width() -> int:
    """Returns the columns of stdout."""
    return UNBOUNDED if _is_piped() and "COLUMNS" not in os.environ else console().width


def on_terminal(*, stderr: bool = False) -> Console | None:
    """Returns the console of stdout or stderr if that is a terminal, else None."""
    if _is_piped(stderr=stderr) or not console(stderr=stderr).is_terminal:
        return None
    return console(stderr=stderr)


def redrawn(*, stderr: bool = False) -> Console | None:
    """Returns the console of a terminal that can redraw what it shows; None if there is none."""
    screen = on_terminal(stderr=stderr)
    return None if screen is None or screen.is_dumb_terminal else screen


def show(renderable: RenderableType) -> None:
    """Prints data for people to stdout."""
    if _is_piped() and "COLUMNS" not in os.environ and (text := getattr(renderable, "plain", None)) is not None:
        _put(plain_lines(text), sys.stdout)  # of what lays itself out only rich knows the words
    else:
        console().print(renderable, soft_wrap=False)


def show_line(text: str) -> None:
    """Prints a line of data to stdout, however long, above a live board that is drawn there."""
    if _is_piped():
        _put(plain_lines(text), sys.stdout)
    else:
        console().print(text, soft_wrap=True)


def echo(line: str = "") -> None:
    """Prints a line of data to stdout, without rich: for commands that need it for nothing else."""
    _put(plain(line), sys.stdout)


def _put(text: str, stream: TextIO) -> None:
    print(text, file=stream, flush=True)  # click would write UTF-8 where the stream says ASCII


def show_json(document: Any, *, indent: int = 2) -> None:
    """Prints one JSON document to stdout, structs with their fields in the order of their class; on one line for -1."""
    _put(_json(document, indent), sys.stdout)


def show_members(members: Mapping[str, Any]) -> None:
    """Prints one JSON document, of an iterator an item at a time; functions are called when it is their turn."""
    before = "{\n"
    for name, member in members.items():
        value = member() if callable(member) else member
        if isinstance(value, Iterator):
            print(f'{before}  "{name}": [', end="")
            after = "\n"
            for item in value:
                print(after + textwrap.indent(_json(item), "    "), end="")
                after = ",\n"
            print("]" if after == "\n" else "\n  ]", end="")
        else:
            print(f'{before}  "{name}": {textwrap.indent(_json(value), "  ").lstrip()}', end="")
        before = ",\n"
    print("\n}")


def _json(document: Any, indent: int = 2) -> str:
    import msgspec

    try:
        encoded = msgspec.json.encode(document)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(without_surrogates(msgspec.to_builtins(document)))
    return plain_json(msgspec.json.format(encoded, indent=indent).decode(), sys.stdout.encoding)


def safe_cell(value: Any) -> Any:
    r"""Returns a value for a CSV file: a text as one line, and never as a formula that a spreadsheet would compute.

    >>> [safe_cell(value) for value in ("=1+1", "+1", "-x", "@a", "a\nb", -1, None)]
    ["'=1+1", "'+1", "'-x", "'@a", 'a\\nb', -1, None]
    """
    if not isinstance(value, str):
        return value
    text = plain(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def show_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Prints rows to stdout as CSV, the names of the columns first."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([safe_cell(row[column]) for column in columns] for row in rows)


def say(text: str) -> None:
    """Prints a message to stderr, above a running progress bar."""
    if _is_piped(stderr=True):
        _put(plain_lines(text), sys.stderr)
    else:
        console(stderr=True).print(text)


def command_line(ctx: click.Context, *, without: tuple[str, ...] = ()) -> str:
    """Returns the command with its arguments and options, ready to be typed again.

    What `arena.toml` says is left out, because it will be read again; `--config FILE` is kept.
    """
    import shlex

    outer = [] if ctx.parent is None else shlex.split(command_line(ctx.parent))
    arguments: list[str] = []
    options: list[str] = []
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name in without or ctx.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        value: Any = ctx.params[name]
        values = [str(item) for item in value] if isinstance(value, tuple) else [str(value)]
        if isinstance(parameter, click.Argument):
            arguments += values
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            if parameter.is_bool_flag or value == parameter.flag_value:
                options.append(parameter.opts[0])
        else:
            for item in values:
                options += [parameter.opts[0], item]
    return shlex.join([*outer, *(ctx.info_name or "").split(), *arguments, *options])


def write_file(file: str, text: str) -> None:
    """Writes a file, or stdout for `-`."""
    try:
        with click.open_file(file, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise ConfigError(f"expected a file that can be written, got: {file!r}: {error.strerror}") from None
