"""The house: who may import whom, who may touch the system, and how long a module is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from arena.core import face

LAYERS = {
    "arena": 0, "errors": 0, "extras": 0, "face": 0, "files": 0,
    "places": 0, "progress": 0, "remedies": 0, "scratch": 0,
    "text": 0, "toml": 0, "types": 0,
    "ratings": 1, "rules": 1, "wire": 1, "record": 1, "disk": 1, "resources": 1, "plugs": 1,
    "games": 2, "testing": 3,
    "link": 2,
    "referee": 3, "store": 3, "archives": 3,
    "tournament": 4, "conform": 4, "author": 4, "show": 4, "door": 4,
    "export": 5, "adapters": 5, "analysis": 5, "play": 5, "standings": 5, "cluster": 5,
    "pages": 6, "league": 6, "tournaments": 6,
    "web": 7,
    "live": 8,
    "cli": 9, "api": 9,
    "__main__": 10,
}  # fmt: skip
"""arena/README.md has the same map, with the reasons. `arena` stands for arena/__init__.py."""

PLACES = {
    "arena": "arena",
    "arena.__main__": "__main__",
    "arena.api": "api",
    "arena.author": "author",
    "arena.author.archives": "archives",
    "arena.author.commands": "cli",
    "arena.author.conform": "conform",
    "arena.cli": "cli",
    "arena.cluster": "cluster",
    "arena.cluster.commands": "cli",
    "arena.core.catalogue": "games",
    "arena.core.commands": "cli",
    "arena.core.errors": "errors",
    "arena.core.extras": "extras",
    "arena.core.face": "face",
    "arena.core.files": "files",
    "arena.core.plugs": "plugs",
    "arena.core.link": "link",
    "arena.core.loading": "plugs",
    "arena.core.places": "places",
    "arena.core.progress": "progress",
    "arena.core.ratings": "ratings",
    "arena.core.record": "record",
    "arena.core.referee": "referee",
    "arena.core.referee.chance": "record",
    "arena.core.remedies": "remedies",
    "arena.core.resources": "resources",
    "arena.core.rules": "rules",
    "arena.core.scratch": "scratch",
    "arena.core.show": "show",
    "arena.core.standings": "standings",
    "arena.core.store": "store",
    "arena.core.testing": "testing",
    "arena.core.text": "text",
    "arena.core.toml": "toml",
    "arena.core.tournament": "tournament",
    "arena.core.tournaments": "tournaments",
    "arena.core.types": "types",
    "arena.core.wire": "wire",
    "arena.games.gardener": "rules",
    "arena.games.gardener.show": "show",
    "arena.games.samurai": "rules",
    "arena.games.samurai.show": "show",
    "arena.league": "league",
    "arena.league.commands": "cli",
    "arena.league.disk": "disk",
    "arena.league.door": "door",
    "arena.league.record": "record",
    "arena.league.store": "store",
    "arena.learn": "plugs",
    "arena.learn.adapters": "adapters",
    "arena.learn.analysis": "analysis",
    "arena.learn.commands": "cli",
    "arena.learn.export": "export",
    "arena.learn.tune.format": "tournament",
    "arena.learn.tune.report": "tournament",
    "arena.learn.tune.spsa": "ratings",
    "arena.pages": "pages",
    "arena.pages.agents.seat": "store",
    "arena.pages.commands": "cli",
    "arena.pages.exhibits": "store",
    "arena.pages.live": "live",
    "arena.pages.play": "play",
    "arena.pages.web": "web",
    "arena.sandbox": "link",
    "arena.sandbox.commands": "cli",
}
"""Which entry of LAYERS a place of arena/ belongs to: that of its longest name here."""

WINGS = ("keeping", "matches", "submissions", "public", "season", "checking", "service")
"""The wings of `arena.league`: one imports those before it, and the modules beside them import none."""

PURE = {"errors", "progress", "remedies", "text", "toml", "types", "ratings", "rules", "wire"}
IMPURE_MODULES = {
    "asyncio", "datetime", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "select",
    "shutil", "signal", "socket", "sqlite3", "sqlite_utils", "subprocess", "sys", "tempfile", "threading", "time",
    "urllib", "zmq",
}  # fmt: skip
"""Files, clocks, randomness, logging, processes, sockets."""

MOST_LINES = 500

PACKAGE = Path(__file__).parents[2] / "arena"
MODULES = sorted(PACKAGE.rglob("*.py"))


def part(dotted: str) -> str:
    """The entry of LAYERS that a module name under `arena` belongs to."""
    names = dotted.split(".")
    return next(PLACES[name] for n in range(len(names), 0, -1) if (name := ".".join(names[:n])) in PLACES)


def module_name(path: Path) -> str:
    names = ["arena", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


NAMES = {module_name(path) for path in MODULES}
FACE = {f"arena.core.face.{name}": ".".join(place) for name, place in face._PLACES.items()}
"""Where each name of the core's face is: a wing that imports it is as high as if it imported that."""


def imports(path: Path) -> Iterator[str]:
    """Dotted names of all that a module imports, inside functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: expected an absolute import"
            assert node.module is not None
            if node.module == "arena":
                yield from ("arena" if alias.name.startswith("__") else f"arena.{alias.name}" for alias in node.names)
            else:
                named = [FACE.get(name, name) for alias in node.names if (name := f"{node.module}.{alias.name}")]
                yield from (name if name in NAMES else name.rpartition(".")[0] for name in named)


def test_modules_import_only_from_layers_below() -> None:
    wrong = [
        f"{module_name(path)} (layer {LAYERS[part(module_name(path))]}) imports {name}"
        for path in MODULES
        for name in imports(path)
        if name.split(".")[0] == "arena" and not is_below(part(name), part(module_name(path)))
        if (module_name(path), name) != ("arena", "arena.api")  # loaded when one of its names is asked for
        if module_name(path) != "arena.core.face"  # the same
        if module_name(path) != "arena.core.plugs"  # types of what is plugged in; test_borders.py sees to the rest
    ]
    assert wrong == []


def is_below(name: str, own: str) -> bool:
    """Whether one entry of LAYERS may be imported by another."""
    return name in (own, "errors") or LAYERS[name] < LAYERS[own]


def test_wings_of_the_league_import_only_those_before_them() -> None:
    def wing(dotted: str) -> int:
        name = (dotted.split(".") + [""] * 3)[2]
        return WINGS.index(name) if name in WINGS else -1

    wrong = [
        f"{module_name(path)} imports {name}"
        for path in MODULES
        for name in imports(path)
        if name.startswith("arena.") and part(module_name(path)) == "league" == part(name)
        if wing(name) > wing(module_name(path))
    ]
    assert wrong == []


def test_pure_layers_touch_nothing() -> None:
    wrong = [
        f"{module_name(path)} is pure, and imports {name}"
        for path in MODULES
        for name in imports(path)
        if part(module_name(path)) in PURE and name.split(".")[0] in IMPURE_MODULES
    ]
    assert wrong == []


def test_modules_are_short() -> None:
    lengths = {module_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}, "look for the seam"
