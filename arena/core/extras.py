"""What some commands need beyond what every installation has: the optional extras of the package."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from arena.core.errors import ConfigError

OURS: Final = False
"""Whether the registry's names of our packages are ours. While not, no text may tell anybody to install by them."""
MODULES: Final = {
    "beacon": ("py_ecc",),
    "cluster": ("cryptography", "distributed"),
    "data": ("pyarrow",),
    "mcp": ("mcp",),
    "pettingzoo": ("pettingzoo",),
    "pages": ("jinja2", "matplotlib", "starlette", "uvicorn", "websockets"),
    "remote": ("websockets",),
}
"""The modules of each extra, by names that are those of their packages, too; pyproject.toml has their versions."""


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
            f"install them: {install(extra)}"
        )


def install(extra: str) -> str:
    """Returns the command that installs what is missing of an extra."""
    return f"pip install 'samurai-arena[{extra}]'" if OURS else f"pip install {' '.join(_missing(extra))}"


def whose() -> str:
    """Returns a sentence about the names of our packages, for whoever releases them."""
    names = "The names samurai-arena and arena-openspiel on the package registry"
    if OURS:
        return f"{names} are ours, and pages and messages may say them"
    return f"{names} are not ours: pages and messages name a path. Once they are, set OURS in arena/core/extras.py"


def _missing(extra: str) -> list[str]:
    return [module for module in MODULES[extra] if find_spec(module) is None]
