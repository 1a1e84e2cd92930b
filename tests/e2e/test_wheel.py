"""What is built: an installed wheel runs a tournament from any folder, and the archives hold what they should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OFFLINE = ("name resolution", "Failed to establish a new connection", "Network is unreachable", "timed out")


def build(target: str, folder: Path) -> Path:
    """Build the checkout's wheel or sdist into `folder`."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_the_bundled_data_and_no_build_products(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("boards/japan.txt", "protocol/SPEC.md", "bots/python/greedy/bot.toml", "bots/python/arena_bot.py"):
        assert f"arena/bundled/{name}" in names
    assert "arena/record/log.zdict" in names
    for path in (ROOT / "arena" / "pages").rglob("*.*"):
        if path.suffix in (".jinja", ".css", ".js"):
            assert str(path.relative_to(ROOT)) in names
    for path in ROOT.glob("bots/*/template/.gitignore"):
        assert f"arena/bundled/{path.relative_to(ROOT)}" in names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"arena"}
    assert [name for name in names if "node_modules" in name or "__pycache__" in name or name.endswith("/bot")] == []


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


@pytest.mark.long
def test_an_installed_wheel_runs_a_tournament_from_any_folder(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    installed = subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"),
         "install", "--quiet", "--disable-pip-version-check", str(wheel)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if installed.returncode != 0 and any(sign in installed.stderr for sign in OFFLINE):
        pytest.skip("needs the network: pip could not fetch what arena depends on")
    assert installed.returncode == 0, installed.stderr

    folder = tmp_path / "elsewhere"
    folder.mkdir()
    done = subprocess.run(
        [str(environment / "bin" / "arena"), "tournament", "random", "greedy", "--deals", "1", "--json"],
        cwd=folder, env={"HOME": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["games"] == 2
    assert {row["bot"] for row in document["standings"]} == {"random", "greedy"}

    # Pages need an extra that was not installed.
    done = subprocess.run(
        [str(environment / "bin" / "arena"), "replay", "logs", "--html", "game.html"],
        cwd=folder, env={"HOME": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "pip install 'samurai-arena[pages]'" in done.stderr
