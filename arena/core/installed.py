"""Entry points of installed packages, by their group: those of arena first, loaded without trust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.core.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def entries(group: str) -> list[EntryPoint]:
    """Returns the entry points of a group, those of arena first."""
    from importlib.metadata import entry_points  # not before: a command that needs none starts sooner

    return sorted(entry_points(group=group), key=lambda entry: not entry.value.startswith("arena."))


def load(entry: EntryPoint, what: str) -> Any:
    """Returns what an entry point names.

    Args:
        entry: The entry point.
        what: What it brings, for the error: `the game 'chess'`.

    Raises:
        ConfigError: Its package is broken. Show the message to the operator.
    """
    try:
        return entry.load()
    except Exception as error:  # whatever a stranger's package raises, it must not take the others down
        raise ConfigError(
            f"expected {what} to load from {entry.value}, got: {type(error).__name__}: {error}; "
            f"fix or uninstall {entry.dist.name if entry.dist else 'its package'}"
        ) from error
