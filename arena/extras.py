"""What some commands need beyond what every installation has: the optional extras of the package."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from arena.errors import ConfigError

MODULES: Final = {
    "beacon": ("py_ecc",),
    "data": ("pyarrow",),
    "pettingzoo": ("pettingzoo",),
    "pages": ("jinja2", "matplotlib", "starlette", "uvicorn"),
}
"""The modules of each extra; pyproject.toml has their versions."""


def has(extra: str) -> bool:
    """Says whether an extra, a key of `MODULES`, is installed."""
    return not _missing(extra)


def need(extra: str, purpose: str) -> None:
    """Checks that an extra is installed.

    Args:
        extra: Its name, a key of `MODULES`.
        purpose: What wants it, for the message: "--html".

    Raises:
        ConfigError: It is not. Show the message to the operator.
    """
    if missing := _missing(extra):
        raise ConfigError(
            f"expected the modules that {purpose} needs, got: no {' and no '.join(missing)}; "
            f"install them: pip install 'samurai-arena[{extra}]'"
        )


def _missing(extra: str) -> list[str]:
    return [module for module in MODULES[extra] if find_spec(module) is None]
