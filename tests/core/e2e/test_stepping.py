"""`arena replay` at a real terminal: keys, sizes, and how it leaves the terminal."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tests.command_kit import ARENA
from tests.terminal_kit import at_terminal

LOG = Path(__file__).parents[3] / "protocol" / "vectors" / "logs" / "samurai-standard.jsonl"


def test_a_person_steps_through_a_game(tmp_path: Path) -> None:
    shutil.copy(LOG, tmp_path / "game.jsonl")
    with at_terminal(tmp_path, "replay", "game.jsonl") as person:
        first = person.sees(" 1/")
        assert "? keys" in first.splitlines()[-1]
        person.types("\x1b[C\x1b[C\x1b[C")
        person.sees(" 4/")
        person.types("c")
        person.sees("captures the")
        person.types("0")
        person.sees(" seat 0 ")
        person.resizes(79, 24)
        person.sees("The board needs 80 columns and 16 lines, and this terminal has 79 and 24.")
        person.resizes(30, 24)
        person.sees("every frame.")
        person.resizes(100, 40)
        page = person.sees(" seat 0 ")
        assert len(page.splitlines()) == 40
        person.types("q")
        assert person.ends() == 0
    assert person.said.rstrip().endswith("\x1b[?1049l\x1b[?25h"), "the screen and the cursor are as they were"


def test_the_terminal_goes_away(tmp_path: Path) -> None:
    with at_terminal(tmp_path, "replay", str(LOG)) as person:
        person.sees(" 1/")
        person.leaves()
        assert person.process.wait(60) != 0


def test_ctrl_c_and_ctrl_d(tmp_path: Path) -> None:
    with at_terminal(tmp_path, "replay", str(LOG)) as person:
        person.sees(" 1/")
        person.interrupts()
        assert person.ends() == 130
    assert "\x1b[?1049l" in person.said
    with at_terminal(tmp_path, "replay", str(LOG)) as person:
        person.sees(" 1/")
        person.types("\x04")
        assert person.ends() == 0


def test_ctrl_z_gives_the_shell_its_screen_and_fg_goes_on(tmp_path: Path) -> None:
    shutil.copy(LOG, tmp_path / "game.jsonl")
    with at_terminal(tmp_path, "--norc", "--noprofile", "-i", program=("bash",)) as person:
        person.types(f"{shlex.join(ARENA)} replay game.jsonl\n")
        person.sees(" 1/")
        person.types("\x1a")
        person.sees("Stopped")
        stopped = person.said.rpartition("Stopped")[0]
        assert stopped.rindex("\x1b[?1049l") > stopped.rindex("\x1b[?1049h")
        assert stopped.rindex("\x1b[?25h") > stopped.rindex("\x1b[?25l")
        person.types("set -b; bg\n")  # it draws nothing over the shell, and waits; fg continues what the shell knows of
        person.sees(lambda _: "Stopped" in person.said.rpartition("bg\r\n")[2])
        person.types("fg\n")
        person.sees(" 1/")
        person.types("\x1b[C")
        person.sees(" 2/")
        assert "^[[C" not in person.said
        person.types("\x1c")
        person.sees(lambda _: person.said.endswith(("$ ", "# ")))
        person.types("echo it was $?; exit\n")
        assert person.ends() == 0
    assert "it was 131" in person.said
    assert person.said.rindex("\x1b[?25h") > person.said.rindex("\x1b[?25l")
