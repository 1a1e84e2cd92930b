"""A bot of every language can be sent: packed, built from the archive alone without a network, and checked."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.author.archives import PackedBot, pack
from arena.author.new import templates
from arena.core.link.bots import Manifest, find_bot, read_manifest, unfetched
from arena.core.types import Level
from arena.league.submissions.steps import Verdict, build, check
from arena.sandbox.levels import level_in_force
from tests.author.e2e.test_bot_new import LACKING
from tests.command_kit import Run
from tests.thorough import but_thorough

BUNDLED = ("random-c", "random-go", "random-java", "random-js", "random-perl", "random-rust")


@pytest.fixture
def level() -> Level:
    if level_in_force(Level.ISOLATED):
        pytest.skip("this machine does not give level isolated")
    return Level.ISOLATED


def fetch(manifest: Manifest, folder: Path) -> None:
    """Gets what the build needs, as `arena bot build` does before it builds."""
    if unfetched(manifest, folder) is None:
        return
    done = subprocess.run(manifest.fetch, cwd=folder, capture_output=True, text=True, check=False)
    sign = next((sign for sign in LACKING if sign in done.stderr), None)
    if done.returncode != 0 and sign is not None:
        pytest.skip(f"needs the network to fetch what it needs: {sign}")
    assert done.returncode == 0, done.stdout + done.stderr


def passes(packed: PackedBot, bots: Path, level: Level) -> None:
    bots.mkdir()
    built = build(packed.data, bots, level)
    sign = next((sign for sign in LACKING if sign in built.output.decode()), None)
    if built.verdict is not Verdict.PASSED and sign is not None:
        pytest.skip(f"needs a library to build it: {sign}")
    assert built.verdict is Verdict.PASSED, built.finding + built.output.decode()
    checked = check(bots / built.detail["folder"], "samurai", level)
    assert checked.verdict is Verdict.PASSED, checked.finding


@pytest.mark.long(1)
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("language", but_thorough(templates(), "go", "rust"))
def test_a_new_bot_can_be_sent(
    language: str, arena: Run, needs: Callable[..., None], tmp_path: Path, level: Level
) -> None:
    template = read_manifest(templates()[language])
    tools = [*template.fetch[:1], *template.build[:1], *template.needs, template.command[0]]
    needs(*(tool for tool in tools if "/" not in tool and "{" not in tool))
    arena("bot", "new", "ronin", "--language", language)
    folder = tmp_path / "ronin"
    fetch(template, folder)
    packed = pack(folder)
    shutil.rmtree(folder)  # it must do with what was packed
    passes(packed, tmp_path / "bots", level)


@pytest.mark.long(1)
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_bot_can_be_sent(name: str, needs: Callable[..., None], tmp_path: Path, level: Level) -> None:
    manifest = read_manifest(find_bot(name))
    needs(*(tool for tool in (*manifest.fetch[:1], *manifest.build[:1], *manifest.needs) if "{" not in tool))
    fetch(manifest, find_bot(name))
    passes(pack(name), tmp_path / "bots", level)
