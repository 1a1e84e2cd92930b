"""What is built: an installed wheel plays at every level and runs a league, and the archives hold what they should."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from arena.core.types import Level
from tests.ports import free_port
from tests.processes import level_of

ROOT = Path(__file__).parents[3]


def build(target: str, folder: Path, project: Path = ROOT) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_the_bundled_data_and_no_build_products(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("boards/japan.txt", "protocol/SPEC.md", "bots/python/greedy/bot.toml", "bots/python/arena_bot.py"):
        assert f"arena/bundled/{name}" in names
    assert "arena/core/record/log.zdict" in names
    for path in (ROOT / "arena" / "pages").rglob("*.*"):
        if path.suffix in (".jinja", ".css", ".js"):
            assert str(path.relative_to(ROOT)) in names
    for path in ROOT.glob("bots/*/template/.gitignore"):
        assert f"arena/bundled/{path.relative_to(ROOT)}" in names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"arena"}
    assert [name for name in names if "node_modules" in name or "__pycache__" in name or name.endswith("/bot")] == []


@pytest.mark.wing("pages")
def test_the_wheel_makes_pages_with_its_own_viewer(wheel: Path, tmp_path: Path) -> None:
    """Unpacked beside nothing: the viewer, its style and the template travel in the wheel."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "wheel")
    log = ROOT / "protocol" / "vectors" / "logs" / "samurai-standard.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "arena", "replay", str(log), "--html", "game.html"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "wheel")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    viewer = (tmp_path / "wheel" / "arena" / "pages" / "viewer" / "viewer.js").read_text(encoding="utf-8")
    assert viewer in (tmp_path / "game.html").read_text(encoding="utf-8")


def test_the_sdist_holds_what_a_build_and_the_tests_need(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("pyproject.toml", "LICENSE", "Makefile", "boards/japan.txt", "bots/Makefile", "tests/conftest.py"):
        assert name in names
    assert [name for name in names if "node_modules" in name or "__pycache__" in name] == []


class Installed:
    """An environment with wheels, which are no checkout, and what they declare to need, taken from the tests' own."""

    def __init__(self, environment: Path, *wheels: Path, extra: str = "") -> None:
        self.program = environment / "bin" / "arena"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", "--quiet"]
        subprocess.run([*pip, "--no-deps", "--no-index", *map(str, wheels)], check=True)
        [packages] = environment.glob("lib/*/site-packages")
        for metadata in [*packages.glob("*.dist-info/METADATA")]:
            take(message_from_bytes(metadata.read_bytes()).get_all("Requires-Dist", []), packages, extra)

    def environment(self, folder: Path) -> dict[str, str]:
        return {"HOME": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8"}

    def arena(self, folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Runs a command in a folder; it must exit with `code`."""
        done = subprocess.run(
            [str(self.program), *words], cwd=folder, env=self.environment(folder), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, f"arena {' '.join(words)}\n{done.stdout}\n{done.stderr}"
        return done


def take(wanted: list[str], packages: Path, extra: str = "") -> None:
    """Copies what is wanted, with all that it needs itself, from this environment: pip would fetch it for minutes."""
    for needed in map(Requirement, wanted):
        if needed.marker is None or needed.marker.evaluate({"extra": extra}):
            found = distribution(needed.name)
            assert needed.specifier.contains(found.version, prereleases=True)
            tops = {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}
            for top in (top for top in tops if not (packages / top).exists()):
                source = Path(str(found.locate_file(top)))
                if source.is_dir():
                    shutil.copytree(source, packages / top, ignore=shutil.ignore_patterns("tests"))
                else:
                    shutil.copy(source, packages / top)
            if not (packages / f".{found.name}").exists():
                (packages / f".{found.name}").touch()
                take(found.requires or [], packages)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    return Installed(folder / "environment", wheel, build("wheel", folder / "game", ROOT / "examples" / "kuhn_poker"))


@pytest.fixture(scope="module")
def with_pages(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with the extra that a door needs, too."""
    return Installed(tmp_path_factory.mktemp("with_pages") / "environment", wheel, extra="pages")


@pytest.fixture(params=[Level.ISOLATED, Level.STRICT])
def level(request: pytest.FixtureRequest) -> Level:
    """A level at which what is installed beside a bot must not matter to it."""
    return level_of(request)


@pytest.mark.long
def test_an_installed_wheel_runs_a_tournament_from_any_folder(installed: Installed, tmp_path: Path) -> None:
    done = installed.arena(tmp_path, "tournament", "random", "greedy", "--deals", "1", "--json")
    document = json.loads(done.stdout)
    assert document["games"] == 2
    assert {row["bot"] for row in document["standings"]} == {"random", "greedy"}
    # Pages need an extra that was not installed.
    done = installed.arena(tmp_path, "replay", "logs", "--html", "game.html", code=2)
    assert "pip install jinja2 matplotlib starlette uvicorn" in done.stderr


@pytest.mark.long(1)
@pytest.mark.parametrize(
    ("rules", "bots"),
    [
        ("samurai", ("random", "greedy", "shogun", "daimyo", "banzai")),
        ("gardener", ("random", "greedy", "planner")),
        ("kuhn_poker", ("random", "random")),
    ],
)
def test_every_python_bot_plays_in_a_sandbox_from_a_wheel(
    installed: Installed, level: Level, rules: str, bots: tuple[str, ...], tmp_path: Path
) -> None:
    words = (f"--rules={rules}", "--format=gauntlet", "--deals=1", "--time=0.05/move", f"--level={level}", "--json")
    document = json.loads(installed.arena(tmp_path, "tournament", *bots, *words).stdout)
    assert len(document["standings"]) == len(bots)
    assert document["games"] == 2 * (len(bots) - 1)
    games = json.loads(installed.arena(tmp_path, "games", "--json", "--limit", "100").stdout)["games"]
    forfeits = {seat["forfeit"] for game in games for seat in game["seats"]} - {None}
    assert forfeits <= {"timeout"}, "a busy machine may let a bot be late, and nothing else"
    installed.arena(tmp_path, "verify", "logs")


@pytest.mark.long(1)
def test_a_league_from_a_wheel_takes_a_bot_in_through_its_door(
    installed: Installed, with_pages: Installed, level: Level, tmp_path: Path
) -> None:
    installed.arena(tmp_path, "bot", "new", "fox", "--language", "python")
    installed.arena(tmp_path, "league", "init", "cup", "--level", level)
    installed.arena(tmp_path, "league", "token", "new", "anna")
    installed.arena(tmp_path, "league", "author", "add", "anna", "--token", "anna.hash", "--league", "cup")
    words = ("league", "run", "cup", "--open", f"127.0.0.1:{free_port()}")
    refused = installed.arena(tmp_path, *words, code=2).stderr
    assert "expected the modules that a league's door needs" in refused
    with subprocess.Popen(
        [str(with_pages.program), *words], cwd=tmp_path, env=with_pages.environment(tmp_path),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as service:  # fmt: skip
        try:
            assert service.stdout is not None
            at = next(line for line in service.stdout if line.startswith("http://")).strip()
            there = ("--at", at, "--token", "anna.token")
            installed.arena(tmp_path, "league", "submit", "fox", "--wait", *there)
            report = installed.arena(tmp_path, "league", "report", "fox", *there).stdout.splitlines()
        finally:
            service.terminate()
    assert report[0].startswith("qualify of fox/1: passed")
