"""Writes the help of commands with many options: options in sections, so that it fits a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from arena.cli.output import echo

F = TypeVar("F", bound=Callable[..., Any])

WHAT = "What is played"
WHO = "Who plays"
FORMAT = "Format"
HOW = "How it is played"
RESULTS = "Results"
_SECTIONS = (WHO, WHAT, FORMAT, HOW, RESULTS)  # as they are shown; options without one come under the last

ALL = "--help-all"
ASKED = f"{__name__}.all"


class SectionOption(click.Option):
    """An option that knows its section. A rare one is shown by `--help-all` alone."""

    def __init__(self, *args: Any, section: str, rare: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section
        self.rare = rare

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Returns the option's row of the help, or None if it is not shown."""
        return None if self.rare and not ctx.meta.get(ASKED) else super().get_help_record(ctx)


def option(section: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """Returns the decorator that adds an option in a section; the rest is as for `click.option`."""
    return click.option(*names, cls=SectionOption, section=section, **settings)


def _help_all(rare: int) -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked and not ctx.resilient_parsing:
            ctx.meta[ASKED] = True
            for line in ctx.get_help().splitlines():
                echo(line)
            ctx.exit()

    return click.Option(
        [ALL], is_flag=True, expose_value=False, is_eager=True, callback=show,
        help=f"Show this message with {rare} more options.",
    )  # fmt: skip


class Command(click.Command):
    """A command whose help shows its options in sections."""

    def sections(self, ctx: click.Context) -> Sequence[str]:
        """Returns the sections of options to show."""
        return _SECTIONS

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Returns the options, with `--help-all` before the last, `--help`, if any is rare."""
        own = super().get_params(ctx)
        rare = sum(isinstance(option, SectionOption) and option.rare for option in own)
        return [*own[:-1], _help_all(rare), own[-1]] if rare else own

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options, section by section, without empty lines between, and with one width for all names."""
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in self.sections(ctx)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                section = parameter.section if isinstance(parameter, SectionOption) else RESULTS
                rows.get(section, []).append(record)
        width = max(len(names) for records in rows.values() for names, _ in records)
        formatter.write_paragraph()
        for section, records in rows.items():
            if records:
                formatter.write_heading(section)
                formatter.indent()
                formatter.write_dl([(names.ljust(width), text) for names, text in records])
                formatter.dedent()
