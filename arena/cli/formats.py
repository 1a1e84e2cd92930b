"""Defines the options that say which entrants meet, and explains the formats."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from arena.errors import ConfigError

if TYPE_CHECKING:
    from arena.tournament.formats import AnyFormat

MakeFormat: TypeAlias = Callable[[], "AnyFormat"]
"""Makes the format that the options describe."""

_PARAMETERS: Final = (
    click.option("--deals", type=int, metavar="N", help="Deals of a meeting.  [default: 30]"),
    click.option(
        "--seatings",
        type=click.Choice(["cyclic", "all"]),
        help="Each deal once per rotation of the seats, or per order.  [default: cyclic]",
    ),
)
"""The parameters of formats. An option has the name of its field."""


_MADE_BY_OTHERS: Final = ("extension", "compare")
"""Formats that `--extend` and `arena compare` make."""


def format_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say which entrants meet. The function gets them as one argument, `make_format`."""

    @wraps(function)
    def command(*args: Any, format_: str, **kwargs: Any) -> Any:
        names = [option.name or "" for option in _declared()]
        values = {name: kwargs.pop(name) for name in names}
        given = {name: value for name, value in values.items() if value is not None and value is not False}
        return function(*args, make_format=lambda: make_format(format_, given), **kwargs)

    for option in reversed(_PARAMETERS):
        command = option(command)
    return click.option(
        "--format",
        "format_",
        type=click.Choice(_names()),
        default="round-robin",
        show_default=True,
        is_eager=True,
        help="Which bots meet. `--format NAME --help` explains one.",
    )(command)


def make_format(name: str, given: dict[str, Any]) -> AnyFormat:
    """Returns the format of a name with these parameters.

    Raises:
        ConfigError: It has no such parameter.
    """
    from arena.tournament.formats import FORMATS

    kind = FORMATS[name]
    for parameter in given:
        if parameter not in kind.__struct_fields__:
            owners = [other for other, its in FORMATS.items() if parameter in its.__struct_fields__]
            raise ConfigError(
                f"expected options of --format {name}, got: --{parameter.replace('_', '-')}, which is for "
                f"{' and '.join(owners)}; leave it out, or change --format"
            )
    return kind(**given)


def _names() -> list[str]:
    from arena.tournament.formats import FORMATS

    return [name for name in FORMATS if name not in _MADE_BY_OTHERS]


def _declared() -> list[click.Option]:
    """Returns the parameters as click has them."""

    def nothing() -> None:
        """Carries the options."""

    for option in _PARAMETERS:
        option(nothing)
    return list(reversed(nothing.__click_params__))  # type: ignore[attr-defined]
