"""Writes the help of commands with many options: options in sections, so that it fits a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

WHAT = "What is played"
WHO = "Who plays"
FORMAT = "Format"
HOW = "How it is played"
RESULTS = "Results"
_SECTIONS = (WHO, WHAT, FORMAT, HOW, RESULTS)
"""In the order in which they are shown. Options without a section come under the last."""


class Option(click.Option):
    """An option that knows its section."""

    def __init__(self, *args: Any, section: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


def option(section: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """Returns the decorator that adds an option in a section; the rest is as for `click.option`."""
    return click.option(*names, cls=Option, section=section, **settings)


class Command(click.Command):
    """A command whose help shows its options in sections."""

    def sections(self, ctx: click.Context) -> Sequence[str]:
        """Returns the sections of options to show."""
        return _SECTIONS

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options, section by section, without empty lines between, and with one width for all names."""
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in self.sections(ctx)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                section = parameter.section if isinstance(parameter, Option) else RESULTS
                rows.get(section, []).append(record)
        width = max(len(names) for records in rows.values() for names, _ in records)
        formatter.write_paragraph()
        for section, records in rows.items():
            if records:
                formatter.write_heading(section)
                formatter.indent()
                formatter.write_dl([(names.ljust(width), text) for names, text in records])
                formatter.dedent()
