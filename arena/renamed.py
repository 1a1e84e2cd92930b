"""Finds the modules of arena 0.2 under the names that they had there, for packages that were written for it.

Until 0.2 every module lay directly in `arena`; today most lie in `arena.core`. An old name gives the same module as the
new one, and a `DeprecationWarning` says which that is. `arena/__init__.py` puts this before all other finders, which
would load a module below an old name a second time.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from warnings import warn

CORE = (
    "errors extras files installed link places progress ratings record referee remedies resources rules scratch show"
    " standings store testing text toml tournament tournaments types wire"
)
FOLDERS = dict.fromkeys(CORE.split(), "core") | dict.fromkeys(("adapters", "analysis", "export"), "learn")
"""Names directly below `arena` that it had in 0.2, with the folders that they are in today."""


class OldNames:
    """Finder and loader of modules by their names of 0.2."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Returns how to load a module of an old name; None for every other."""
        top, _, rest = name.partition(".")
        if top != "arena" or (folder := FOLDERS.get(rest.partition(".")[0])) is None:
            return None
        new = f"arena.{folder}.{rest}"
        return ModuleSpec(name, OldNames, origin=new) if find_spec(new) else None  # type: ignore[arg-type]  # a class

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType | None:
        """Leaves it to Python to make the empty module that `exec_module` replaces."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Puts the module of today in the place of an empty one with the old name."""
        old, new = module.__name__, str(module.__spec__ and module.__spec__.origin)
        warn(f"{old} is {new} since arena 0.3; import that", DeprecationWarning, stacklevel=2)
        sys.modules[old] = import_module(new)
