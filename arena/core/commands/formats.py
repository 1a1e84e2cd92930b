"""Defines the options that say which entrants meet, and explains the formats."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, TypeAlias

import click
import msgspec
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from arena.cli.help import FORMAT, Command, SectionOption
from arena.core.errors import ConfigError, did_you_mean
from arena.core.tournament.formats import FORMATS, OWN, others
from arena.core.tournament.formats.base import Format

MakeFormat: TypeAlias = Callable[[], Format]
"""Makes the format that the options describe."""

DEFAULT: Final = "round-robin"
_MADE_ELSEWHERE: Final = ("compare", "extension")
"""The formats that `arena compare` and --extend make, as wings' formats are made by commands of theirs."""
NAMES: Final = tuple(name for name in OWN if name not in _MADE_ELSEWHERE)
"""The formats of arena that can be chosen, the default first."""


class _Name(click.ParamType[str]):
    """The name of a format: one of arena's, or one that another package brings."""

    name = "format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in NAMES and value not in _all():
            self.fail(f"expected one of {', '.join(_all())}, got: {value!r}{did_you_mean(value, _all())}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in _all() if name.startswith(incomplete)]


def _all() -> list[str]:
    return [*NAMES, *(name for name in others() if name not in OWN)]


class Parameter(SectionOption):
    """A parameter of formats. Help shows it with the formats that have it. Its name is that of their field."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes what an option takes, and whether it is `explained`: shown with the explanation of a format alone."""
        self.explained = kwargs.pop("explained", False)
        super().__init__(*args, section=FORMAT, **kwargs)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Returns the option's row of the help, with the format's default, if the format has the parameter."""
        kind = FORMATS[ctx.params.get("format_") or DEFAULT]
        fields = kind.__struct_fields__
        record = super().get_help_record(ctx)
        if self.name not in fields or record is None or (self.explained and not _is_asked_for(ctx)):
            return None
        default = inspect.signature(kind).parameters[self.name].default
        told = f"  [default: {default}]" if default not in (None, False, inspect.Parameter.empty) else ""
        return record[0], record[1] + told


def _parameter(*names: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(*names, cls=Parameter, **settings)


_PARAMETERS: Final = (
    _parameter("--deals", type=int, metavar="N", help="Deals that those who meet play."),
    _parameter("--challengers", type=int, metavar="N", help="The first N bots challenge the others."),
    _parameter("--rounds", type=int, metavar="N", help="Rounds.  [default: 5 for 8 bots, 6 for 16]"),
    _parameter("--until", "until_shown", type=click.Choice(["shown"]), metavar="shown",
               help="Play a tie until it is shown who is better."),
    _parameter("--third-place", is_flag=True, help="Play for the third place too."),
    _parameter("--matches", type=int, metavar="N", help="Matches in all.  [default: no end]"),
    _parameter("--sample", type=int, metavar="N", help="Choose opponents among N entrants."),
    _parameter("--random", type=float, metavar="SHARE", help="Share of matches with any opponents."),
    _parameter("--placement", type=int, metavar="N", help="Matches in which a bot is new, and plays more."),
    _parameter("--repeat", type=int, metavar="N", help="Who met in the last N matches rarely meets."),
    _parameter("--budget", type=int, metavar="DEALS", help="Most deals in all."),
    _parameter("--alpha", type=float, metavar="P", help="How likely a wrong verdict may be."),
    _parameter("--delta", type=float, metavar="SHARE", help="Level: a mean share so near to a half."),
    _parameter("--seatings", type=click.Choice(["cyclic", "all"]), metavar="WHICH",
               help="Orders of the seats: cyclic or all.", explained=True),
)  # fmt: skip


class Explained(Command):
    """A command with formats. After `--format NAME` its help explains that format.

    A format's parameters are options. Those that no format of arena has are made from the fields of its class.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses arguments, for the options of the format that they name."""
        named = ctx.lookup_default("format_") or DEFAULT
        words = iter(args)
        for word in words:
            option, equals, value = word.partition("=")
            if option == "--format":
                named = value if equals else next(words, named)
        ctx.meta[__name__] = named
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Returns the options, with those of the format that is named."""
        own = map(_option_of, _own_fields(str(ctx.meta.get(__name__, DEFAULT))))
        return [*super().get_params(ctx), *own]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes what the command does, or, if a format was named, what that format is."""
        if not _is_asked_for(ctx):
            super().format_help_text(ctx, formatter)
            return
        name = ctx.params["format_"]
        formatter.write_paragraph()
        with formatter.indentation():
            for paragraph in inspect.cleandoc(FORMATS[name].__doc__ or "").split("\n\n"):
                formatter.write_text(" ".join(paragraph.split()))
                formatter.write_paragraph()
            others = ", ".join(other for other in NAMES if other != name)
            formatter.write_text(f"Other formats: {others}. All other options: {ctx.command_path} --help-all.")

    def sections(self, ctx: click.Context) -> Sequence[str]:
        """Returns the sections of options to show: only the format's if one was named."""
        return (FORMAT,) if _is_asked_for(ctx) else super().sections(ctx)


def _is_asked_for(ctx: click.Context) -> bool:
    return ctx.get_parameter_source("format_") is click.core.ParameterSource.COMMANDLINE


def format_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say which entrants meet. The function gets them as one argument, `make_format`."""

    @wraps(function)
    def command(*args: Any, format_: str, **kwargs: Any) -> Any:
        values = {name: kwargs.pop(name) for name in [*_FIELDS, *(field.name for field in _own_fields(format_))]}
        given = {
            name: value
            for name, value in values.items()
            if value is not None and value is not False and not _is_for_others(name, format_)
        }
        return function(*args, make_format=lambda: make_format(format_, given), **kwargs)

    for parameter in reversed(_PARAMETERS):
        command = parameter(command)
    return click.option(
        "--format",
        "format_",
        cls=SectionOption,
        section=FORMAT,
        type=_Name(),
        default=DEFAULT,
        is_eager=True,
        metavar="NAME",
        help=", ".join(NAMES),
    )(command)


def _is_for_others(parameter: str, name: str) -> bool:
    """Says whether `arena.toml` sets a parameter that the format lacks: then it is meant for other formats."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.DEFAULT_MAP and parameter not in FORMATS[name].__struct_fields__


def make_format(name: str, given: dict[str, Any]) -> Format:
    """Returns the format of a name with these parameters.

    Raises:
        ConfigError: It has no such parameter, or lacks one.
    """
    kind = FORMATS[name]
    for parameter in given:
        if parameter not in kind.__struct_fields__:
            owners = [other for other in NAMES if parameter in FORMATS[other].__struct_fields__]
            deals = " (--deals says how much is played)" if parameter == "rounds" else ""
            raise ConfigError(
                f"expected options of --format {name}, got: {_FIELDS[parameter]}, which is for "
                f"{' and '.join(owners)}; leave it out{deals}, or change --format"
            )
    if "until_shown" in given:
        given = {**given, "until_shown": True}
    try:
        return msgspec.convert({"name": name, **given}, kind, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"expected parameters of --format {name}, got: {error}; correct them") from None


def _fields() -> dict[str, str]:
    """Returns by field the option that sets it."""

    def nothing() -> None:
        """Carries the options."""

    for parameter in _PARAMETERS:
        parameter(nothing)
    declared: list[click.Option] = nothing.__click_params__  # type: ignore[attr-defined]
    return {option.name or "": option.opts[0] for option in reversed(declared)}


_FIELDS: Final = _fields()
_KNOWN: Final = frozenset(_FIELDS) | {"planning"}
"""Fields of formats that need no option made: they have one, or are nobody's choice."""


def _own_fields(name: str) -> list[msgspec.structs.FieldInfo]:
    """Returns the fields of a format of another package that need options made; none if there is no such format."""
    if name in NAMES or name not in FORMATS:
        return []
    return [field for field in msgspec.structs.fields(FORMATS[name]) if field.name not in _KNOWN]


def _option_of(field: msgspec.structs.FieldInfo) -> Parameter:
    """Returns the option for a field that has none. Its help is the `description` of the field's `msgspec.Meta`."""
    described = getattr(field.type, "__metadata__", ())
    told = next((meta.description for meta in described if isinstance(meta, msgspec.Meta) and meta.description), None)
    is_flag = field.type is bool
    return Parameter(
        ["--" + field.name.replace("_", "-"), field.name],
        is_flag=is_flag,
        metavar=None if is_flag else "VALUE",
        help=told or "A parameter of this format.",
    )
