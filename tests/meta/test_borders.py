"""The borders of the core: it knows its wings by one table, each plug is documented, and any wing may be away."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from arena.core import face, plugs
from tests.meta.test_layers import MODULES, module_name
from tests.meta.test_widths import RATCHET, ROOT, WINGS, folder, imported

REASONS: Mapping[str, str] = {
    "author -> sandbox": "a bot is built in a box, and checked and rerun at a level",
    "cluster -> author": "a bot goes to other machines as an archive, and is built there",
    "cluster -> sandbox": "machines are compared by the levels that each can give",
    "league -> author": "strangers' bots come as archives, and are built and checked as their authors do it",
    "league -> pages": "a league writes its site, and shows the season that runs",
    "league -> sandbox": "a league promises a level, and says why a machine cannot give it",
}
"""Why one wing imports another."""
CALLED = {
    plug: getattr(plugs, plug) for plug in ("page", "plot", "live", "cluster", "audits", "revealed", "shown", "numbers")
}
"""Plugs that are functions."""
OF_SEASONS = {name: getattr(plugs.Season, name) for name in ("words", "predecessors", "kept", "page")}


def test_the_core_names_no_wing_but_in_the_table_of_plugs() -> None:
    name = re.compile(rf"arena[./]({'|'.join(plugs.BUILT_IN)})[./:]\w+")
    found = [
        f"{module_name(path)}: {match[0]}"
        for path in MODULES
        if (module := module_name(path)).startswith("arena.core.") and module != plugs.__name__
        if module not in RATCHET.get("core_imports", {})
        for match in name.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_each_wing_imports_another_for_a_reason() -> None:
    assert REASONS.keys() == {
        f"{wing} -> {folder(f'{name}.')}" for wing in plugs.BUILT_IN for _, name in imported(wing)
    }


def arguments(function: Callable[..., Any]) -> set[str]:
    return {*inspect.signature(function).parameters} - {"self"}


@pytest.mark.parametrize("plug", [*CALLED.values(), *OF_SEASONS.values()], ids=lambda plug: plug.__qualname__)
def test_a_plug_is_documented_with_exactly_its_arguments(plug: Callable[..., Any]) -> None:
    told = (inspect.getdoc(plug) or "").partition("Args:")[2]
    assert {*re.findall(r"^    (\w+): ", told, re.M)} == arguments(plug)


def test_every_plug_is_documented() -> None:
    text = Path(plugs.__file__).read_text(encoding="utf-8").partition("class Wing(")[2].partition("\n\n\n")[0]
    assert {*re.findall(r'^    (\w+): .*\n    """', text, re.M)} | CALLED.keys() == {*plugs.Wing._fields}


@pytest.mark.parametrize("name", plugs.BUILT_IN)
def test_what_a_wing_brings_loads_and_asks_for_no_other_arguments(name: str) -> None:
    wing = plugs.declared(name)
    assert isinstance(wing, plugs.Wing)
    for plug, value in wing._asdict().items():
        for key in value if isinstance(value, Mapping) else filter(None, [value]):
            loaded = plugs.find(plug, key if isinstance(value, Mapping) else "", what=plug)
            if plug in CALLED:
                assert arguments(loaded) <= arguments(CALLED[plug])
            if plug == "seasons":
                assert all(arguments(getattr(loaded, one)) <= arguments(OF_SEASONS[one]) for one in OF_SEASONS)


def test_a_plug_is_not_given_what_it_does_not_declare() -> None:
    assert plugs.call(lambda one: one, one=1, later=2) == 1
    assert plugs.call(lambda **every: every, one=1, later=2) == {"one": 1, "later": 2}


def arena(folder: Path, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "arena", *line.split()]
    path = f"{folder}:{Path(__file__).parents[2]}"
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": path, **variables}
    return subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=100)


def test_the_core_and_the_games_work_with_every_wing_away(tmp_path: Path) -> None:
    for line in (
        "--help",
        "tournament random random --deals 1 --quiet",
        "standings",
        "verify latest --complete",
        "replay latest:0 --all",
        "tournaments show latest",
    ):
        done = arena(tmp_path, line, ARENA_WINGS="")
        assert done.returncode == 0, (line, done.stderr)
    for line in (
        "league status",
        "tune random",
        "doctor",
        "standings --plot a.svg",
        "tournament random random --cluster local:1",
    ):
        done = arena(tmp_path, line, ARENA_WINGS="")
        assert re.search(r"expected the wing '\w+' to be loaded for .*, got: ARENA_WINGS=''.*; add it", done.stderr), (
            line
        )
        assert done.returncode == 2, line
    assert arena(tmp_path, "tournaments remove latest --yes", ARENA_WINGS="").returncode == 0


def test_a_wing_that_does_not_load_is_refused_when_it_is_asked_for(tmp_path: Path) -> None:
    for name, text in {
        "broken": "raise RuntimeError('no such thing')",
        "ends": "raise SystemExit(7)",
        "odd": "WING = 3",
        "lists": "from arena.core.plugs import Wing\nWING = Wing(commands=['greet'])",
        "rows": "from arena.core.plugs import Wing\nWING = Wing(commands={'greet': 'sound:greet'})",
        "sound": SOUND,
    }.items():
        package(tmp_path, name, text)
    helped = arena(tmp_path, "--help")
    assert helped.returncode == 0
    assert "Greet." in helped.stdout
    assert arena(tmp_path, "greet").stdout == "hello\n"
    assert arena(tmp_path, "rules list").returncode == 0
    refused = arena(tmp_path, "unheard-of")
    assert refused.returncode == 2
    assert "the wing 'broken' to load from broken:WING, got: RuntimeError: no such thing; fix or uninstall broken" in (
        refused.stderr
    )


def package(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text)
    (info := folder / f"{name}-1.dist-info").mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[arena.wings]\n{name} = {name}:WING\n")


def test_a_number_of_a_package_goes_from_the_game_to_json_the_database_the_page_and_verify(tmp_path: Path) -> None:
    package(tmp_path, "counts", COUNTS)
    [game] = json.loads(arena(tmp_path, "match random random --deals 1 --json").stdout)["games"][:1]
    acts = [line.count('"record":"action"') for line in [(tmp_path / game["log"]).read_text()]]
    assert [sum(one["acts"] for one in game["numbers"])] == acts
    assert arena(tmp_path, "tournament random random --deals 1 --quiet").returncode == 0
    assert arena(tmp_path, "site --out pages").returncode == 0
    pages = "".join(page.read_text() for page in (tmp_path / "pages").rglob("*.html"))
    assert re.search(r"answers [1-9]\d* in all", pages)
    with sqlite3.connect(tmp_path / "arena.db") as db:
        db.execute("UPDATE seats SET figures = json_set(figures, '$.numbers.acts', 0) WHERE seat = 0")
    verified = arena(tmp_path, "verify latest --complete --db arena.db")
    assert "got: {'acts': 0}" in verified.stdout + verified.stderr
    unknown = arena(tmp_path, "verify latest --complete --db arena.db", ARENA_WINGS="")
    assert unknown.returncode == 0
    assert "not compared, since no loaded wing brings them: acts" in unknown.stdout


COUNTS = """
from arena.core.face import log_records, plugs

WING = plugs.Wing(numbers={"acts": plugs.Number("answers", "in all", "counts:acts")})

def acts(records, header):
    acts = [one.seat for one in records if isinstance(one, log_records.ActionRecord)]
    return [acts.count(seat) or None for seat in range(len(header.bots))]
"""

SOUND = """
import click
from arena.core.plugs import Command, Wing

WING = Wing(commands={"greet": Command("Play", 9, "Greet.", "sound:greet")})

@click.command()
def greet():
    print("hello")
"""


def test_wings_and_packages_go_through_the_face() -> None:
    wings = [path for path in MODULES if folder(f"{module_name(path)}.") in WINGS]
    others = [path for where in ("packages", "examples") for path in sorted((ROOT / where).rglob("*.py"))]
    found = {
        f"{path.relative_to(ROOT)}: {node.module}"
        for path in [*wings, *others]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and re.match(r"arena\.core(?!\.face$)", node.module or "")
    }
    assert found == set(), "import the name from arena.core.face"


def test_each_name_of_the_face_is_there_and_their_number_only_shrinks() -> None:
    assert all(getattr(face, name) is not None for name in face._PLACES)
    assert len(face._PLACES) == RATCHET["face"], "a name goes up or down in widths.toml in the same commit"
