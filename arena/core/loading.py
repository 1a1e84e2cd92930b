"""Loads what wings and installed packages bring, by `module:attribute` or by an entry point. `plugs` says what for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.core.errors import ArenaError, ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints


def load(target: str, what: str, source: str = "arena") -> Any:
    """Returns what `module:attribute` names.

    Args:
        target: The text.
        what: Names it in errors: `the game 'chess'`.
        source: The wing or the package that brings it.

    Raises:
        ConfigError: It does not load. Show the message to the operator.
    """
    module, _, attribute = target.partition(":")
    remedy = "install arena again" if module.startswith("arena.") else f"fix or uninstall {source}"
    return guarded(lambda: getattr(import_module(module), attribute), target, what, lambda: remedy)


def guarded(loads: Callable[[], Any], target: str, what: str, remedy: Callable[[], str]) -> Any:
    """Returns what `loads` returns; whatever it raises becomes a `ConfigError` that says `remedy`, as of `load`."""
    try:
        return loads()
    except ArenaError:  # it says itself what is wrong
        raise
    except (Exception, SystemExit) as error:  # whatever a stranger's package does, it must not take the others down
        raise ConfigError(
            f"expected {what} to load from {target}, got: {type(error).__name__}: {error}; {remedy()}"
        ) from error


def entries(group: str) -> list[EntryPoint]:
    """Returns the entry points of a group, those of arena first."""
    return sorted(_installed(tuple(sys.path)).select(group=group), key=lambda one: not one.value.startswith("arena."))


@cache
def _installed(_path: tuple[str, ...]) -> EntryPoints:
    """Returns all entry points. The metadata of every package are read for them, as long as half of a command takes."""
    from importlib.metadata import entry_points  # not before: a command that needs none starts sooner

    return entry_points()  # type: ignore[return-value]  # until 3.12 they are a kind of dict that selects, too


def load_entry(entry: EntryPoint, what: str) -> Any:
    """Returns what an entry point names; `what` and errors are as for `load`."""
    return guarded(
        entry.load, entry.value, what, lambda: f"fix or uninstall {entry.dist.name if entry.dist else 'its package'}"
    )
