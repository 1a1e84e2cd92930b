"""What a service hears and writes: signals, which are only counted, and its log, which never stops it."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from arena.league.service import running
from arena.league.service.running import Journal
from arena.league.service.stopping import Stopping


def test_the_first_signal_asks_to_stop_and_the_second_not_to_wait() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Stopping() as stopping:
        assert not stopping.asked
        signal.raise_signal(signal.SIGTERM)
        assert stopping.asked
        assert not stopping.at_once
        signal.raise_signal(signal.SIGINT)
        assert stopping.at_once
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_our_parent_switched_off_stays_off() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Stopping() as stopping:
            signal.raise_signal(signal.SIGHUP)
            assert not stopping.asked
    finally:
        signal.signal(signal.SIGHUP, before)


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
