"""What some commands need beyond what every installation has: the optional extras of the package."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from arena.errors import ConfigError

MODULES: Final = {"pages": ("jinja2", "matplotlib", "starlette", "uvicorn")}
"""The modules of each extra; pyproject.toml has their versions."""


def need(extra: str, purpose: str) -> None:
    """Checks that an extra is installed.

    Args:
        extra: Its name, a key of `MODULES`.
        purpose: What wants it, for the message: "--html".

    Raises:
        ConfigError: It is not. Show the message to the operator.
    """
    missing = [module for module in MODULES[extra] if find_spec(module) is None]
    if missing:
        raise ConfigError(
            f"expected the modules that {purpose} needs, got: no {' and no '.join(missing)}; "
            f"install them: pip install 'samurai-arena[{extra}]'"
        )
