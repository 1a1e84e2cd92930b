"""Which confinement a level has: what no loaded wing brings is refused, and no bot starts at a lower level."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.core import plugs
from arena.core.errors import LevelError
from arena.core.link.bots import BotSpec
from arena.core.link.confinement import LEVELS, confinement, require
from arena.core.link.custody import Custody
from arena.core.link.process import BotProcess
from arena.core.types import Level

ABOVE = LEVELS[1:]


@pytest.mark.parametrize("level", [*ABOVE, Level.REMOTE])
def test_without_its_wing_a_level_is_refused_with_the_remedy_and_no_bot_starts(
    level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(plugs.VARIABLE, "")
    require(Level.TRUSTED)
    custody = Custody()
    spec = BotSpec(name="it", version="", command=("sh", "-c", "touch begun"), folder=str(tmp_path), digest="0" * 64)
    try:
        for ask in (lambda: require(level), lambda: BotProcess(spec, custody, {}, level=level)):
            with pytest.raises(LevelError, match=str(level)) as raised:
                ask()
            assert level not in ABOVE or str(raised.value) == (
                f"expected the wing 'sandbox' to be loaded for level {level}, got: ARENA_WINGS='', which leaves it "
                "out; add it: ARENA_WINGS=sandbox. Nothing was played or stored"
            )
    finally:
        custody.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("level", ABOVE)
@pytest.mark.wing("sandbox")
def test_what_confines_at_another_level_than_was_asked_for_is_refused(
    level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert confinement(level).level is level
    trusted = confinement(Level.TRUSTED)
    monkeypatch.setenv(plugs.VARIABLE, "sandbox,")  # so that it is looked for anew
    monkeypatch.setattr(plugs, "find", lambda plug, what: lambda level: trusted)
    with pytest.raises(LevelError, match=f"at level {level}, got: that of level trusted"):
        confinement(level)


def test_a_trusted_bot_is_started_without_the_sandbox(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from arena.core.link.bots import BotSpec\n"
        "from arena.core.link.custody import Custody\n"
        "from arena.core.link.process import BotProcess\n"
        f"spec = BotSpec(name='', version='', command=('sh', '-c', 'echo here'), folder={str(tmp_path)!r}, digest='')\n"
        "custody = Custody()\n"
        "process = BotProcess(spec, custody, {})\n"
        "while process.end() is None: time.sleep(0.005)\n"
        "print(process.output(), [name for name in sys.modules if name.startswith('arena.sandbox')])\n"
        "process.reap(wait=True)\n"
        "custody.close()\n"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "here []\n"
