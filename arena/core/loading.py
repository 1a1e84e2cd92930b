"""Loads what wings and installed packages bring, by `module:attribute` or by an entry point. `plugs` says what for."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, reduce
from importlib import import_module
from typing import Any, Final, NamedTuple

from arena.core.errors import ArenaError, ConfigError

_LINE: Final = re.compile(r"^\s*(?:\[(.*)\]|([^#=\s][^=\n]*?)\s*=\s*(.*?))\s*$", re.MULTILINE)


class Entry(NamedTuple):
    """An entry point of an installed package: `value` is what it names, `module:attribute`."""

    name: str
    value: str
    group: str
    package: str = "its package"


def load(target: str, what: str, source: str = "arena") -> Any:
    """Returns what `module:attribute` names.

    Args:
        target: The text.
        what: Names it in errors: `the game 'chess'`.
        source: The wing or the package that brings it.

    Raises:
        ConfigError: It does not load. Show the message to the operator.
    """
    module, _, names = target.partition("[")[0].strip().partition(":")  # of an entry point extras may follow
    remedy = "install arena again" if module.startswith("arena.") else f"fix or uninstall {source}"
    found = filter(None, names.split("."))
    return guarded(lambda: reduce(getattr, found, import_module(module.strip())), target, what, lambda: remedy)


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


def entries(group: str) -> list[Entry]:
    """Returns the entry points of one of `plugs.GROUPS`, those of arena first."""
    found = (entry for entry in _installed(tuple(sys.path)) if entry.group == group)
    return sorted(found, key=lambda entry: not entry.value.startswith("arena."))


@cache
def _installed(folders: tuple[str, ...]) -> list[Entry]:
    """Returns the entry points for arena. To import `importlib.metadata` takes as long as a third of a command."""
    texts: dict[str, str] = {}  # of packages their `entry_points.txt`: the first on the path counts
    for folder in folders:
        if os.path.isfile(folder) or folder.endswith(".egg"):  # a zip or an egg: only that library knows their forms
            from importlib.metadata import distributions

            for one in distributions(path=[folder]):
                told = one.read_text("METADATA") or one.read_text("PKG-INFO") or ""
                package = re.sub("[-_.]+", "-", told.partition("Name: ")[2].partition("\n")[0] or folder).lower()
                texts.setdefault(package, one.read_text("entry_points.txt") or "")
        with suppress(OSError):
            for name in sorted(os.listdir(folder or ".")):
                package = re.sub("[-_.]+", "-", name.rpartition(".")[0].partition("-")[0]).lower()
                if name.endswith(("dist-info", "egg-info")) and package not in texts:
                    texts[package] = ""
                    path = f"{folder}/{name}/entry_points.txt"
                    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                        texts[package] = file.read()
    found = []
    for package, text in texts.items():
        group = ""
        for section, name, value in _LINE.findall(text):
            group = section or group
            if name and group.startswith("arena."):
                found.append(Entry(name, value, group, package))
    return found
