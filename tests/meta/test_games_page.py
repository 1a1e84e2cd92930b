"""docs/games.md shows the code of the example as it is, and names everything that an author can override."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from arena.core.rules.base import BoardFormat, Rules
from arena.core.show.presenter import Presenter

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "games.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "kuhn_poker"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_piece_of_code_is_the_example_s() -> None:
    sources = [path.read_text(encoding="utf-8") for path in EXAMPLE.iterdir() if path.suffix in (".py", ".toml")]
    shown = [block for kind, block in BLOCKS if kind in ("python", "toml")]
    assert shown
    for block in shown:
        assert any(f"\n{block}" in source for source in sources), block


def test_the_whole_class_is_shown() -> None:
    shown = {line for kind, block in BLOCKS if kind == "python" for line in block.splitlines()}
    source = (EXAMPLE / "kuhn_poker.py").read_text(encoding="utf-8")
    body = source[source.index("class State(") :].splitlines()
    assert [line for line in body if line not in shown] == []
    assert len(source.splitlines()) < 150


def test_everything_that_can_be_overridden_is_named() -> None:
    offered = {name for name in (*vars(Rules), *Rules.__annotations__) if not name.startswith("_")}
    assert "resample" in offered
    assert offered <= set(re.findall(r"`(\w+)`", PAGE))
    methods = {name for name, _ in inspect.getmembers(Presenter, inspect.isroutine) if not name.startswith("_")}
    assert methods <= set(re.findall(r"`(\w+)`", PAGE))
    assert {"boards", "bundled"} <= set(re.findall(r"`(\w+)`", PAGE))
    assert BoardFormat.__abstractmethods__ == {"problems", "players", "parse"}


def test_every_law_is_explained() -> None:
    code = "".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "arena" / "core" / "testing").glob("*.py"))
    )
    laws = set(re.findall(r'(?:probing\(rules, |GameFault\(\s*)"([a-z ]+)"', code))
    assert {"secrecy", "fold", "wild actions", "declaration", "termination"} <= laws
    assert set(re.findall(r"^\| ([a-z ]+) \| ", PAGE, re.MULTILINE)) - {"law", "method"} >= laws
