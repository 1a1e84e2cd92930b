"""The service's own log: a line a sentence, never longer than its limit, and never a reason to stop."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.league.service import running
from arena.league.service.running import Journal


def test_a_sentence_is_a_line_with_its_time_and_nothing_hidden(tmp_path: Path) -> None:
    heard: list[str] = []
    log = Journal(tmp_path / "league.log", heard.append)
    log.say("fox/2 said: \x1b[2J\nover")
    log.close()
    assert heard == [r"fox/2 said: \x1b[2J\nover"]
    [line] = (tmp_path / "league.log").read_text().splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ fox/2 said: .*over", line)


def test_it_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOG_BYTES", 1000)
    log = Journal(tmp_path / "league.log")
    for _ in range(200):
        log.say("x" * 100)
    log.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) == 1 + running.LOGS_KEPT
    assert sum(file.stat().st_size for file in files) <= 1000 * (1 + running.LOGS_KEPT)


def test_one_that_cannot_be_written_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[str] = []
    log = Journal(tmp_path / "gone" / "league.log", heard.append)
    log.say("still here")
    assert heard == ["still here"]
    assert capsys.readouterr().err == ""
