"""Nobody is told to install arena by a name of the package registry that is not ours: whoever takes it runs there."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from arena.core import extras

ROOT = Path(__file__).parents[2]
PROJECTS = ["pyproject.toml", "packages/openspiel/pyproject.toml", "examples/kuhn_poker/pyproject.toml"]
NAMES = ("samurai-arena", "arena-openspiel")  # those of PROJECTS that are released
HISTORY = {"CHANGELOG.md"}


def told_by_name(text: str) -> list[str]:
    """What of a text installs a package of ours by its name."""
    names = "|".join(name.replace("-", "[-_.]") for name in NAMES)
    by_name = rf"\b(?:install|add|pipx|uvx)\b[^`;|&]{{0,80}}?(?<![\w./-])(?:{names})(?![\w./])[^\s`]*"
    found = re.finditer(by_name, re.sub(r"\\?\n[#\s]*", " ", text))
    return [one[0] for one in found]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("`pip install 'samurai-arena[pages]'`", True),
        ("run: python -m pip install --quiet samurai-arena", True),
        ("$ pip install \\\n    samurai_arena==1.0", True),
        ("uv add arena-openspiel", True),
        ("uvx samurai-arena", True),
        ("pip install '.[pages]'", False),
        ("pip install ./packages/openspiel", False),
        ("pip install /src/samurai-arena", False),
        ("the name samurai-arena is free", False),
    ],
)
def test_the_test_sees_what_it_should(text: str, told: bool) -> None:
    assert bool(told_by_name(text)) is told


@pytest.mark.skipif(extras.OURS, reason="the names are ours")
def test_no_page_no_message_and_no_machine_installs_by_name() -> None:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [name for name in done.stdout.splitlines() if name not in HISTORY and not name.startswith("tests/")]
    paths = [ROOT / name for name in names]
    if not paths:
        pytest.skip("this is no checkout")
    found = {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        if path != ROOT / "arena" / "core" / "extras.py" and (told := told_by_name(text)):
            found[str(path.relative_to(ROOT))] = told
    assert found == {}


@pytest.mark.skipif(extras.OURS, reason="the names are ours")
@pytest.mark.parametrize("path", PROJECTS)
def test_no_package_needs_another_of_ours_from_the_registry(path: str) -> None:
    """Its own extras name itself, which is what is being installed."""
    project = tomllib.loads((ROOT / path).read_text())["project"]
    needs = sum(project.get("optional-dependencies", {}).values(), project["dependencies"])
    named = {re.split(r"[^\w.-]", need, maxsplit=1)[0].lower() for need in needs}
    assert named & set(NAMES) <= {project["name"]}


@pytest.mark.parametrize("extra", extras.MODULES)
def test_a_message_names_what_is_missing(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages of an extra are called as its modules, and pyproject.toml has the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in project["optional-dependencies"][extra]}
    assert {module.replace("_", "-") for module in extras.MODULES[extra]} == declared
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    with pytest.raises(extras.ConfigError) as e:
        extras.need(extra, "--all")
    assert str(e.value).endswith(f"; install them: {extras.install(extra)}")
    assert extras.install(extra) == f"pip install {' '.join(extras.MODULES[extra])}"
    monkeypatch.setattr(extras, "OURS", True)
    assert extras.install(extra) == f"pip install 'samurai-arena[{extra}]'"


def test_the_action_installs_the_commit_that_it_is_of() -> None:
    folder = ROOT / ".github" / "actions" / "compare"
    text = (folder / "action.yml").read_text()
    [installed] = re.findall(r"pip install (?:-\S+ )*(\S+)", text)
    assert installed == '"$GITHUB_ACTION_PATH/../../.."'
    assert (folder / ".." / ".." / "..").resolve() == ROOT


def test_a_release_says_which_it_is() -> None:
    text = (ROOT / "Makefile").read_text()
    rule = text[text.index("\nrelease:") : text.index("\nvenv:")]
    assert "arena.core.extras" in rule
    assert "not ours" in extras.whose() or extras.OURS
