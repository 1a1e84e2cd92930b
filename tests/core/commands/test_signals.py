"""Being asked to stop, in this process: the first signal counts, and one that comes when all should be over."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from arena.cli import signals


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(signals, "_first", None)
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in signals.STOPPING}  # some may be ignored
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", signals.STOPPING)
def test_the_first_signal_stops_and_the_next_changes_nothing(number: signal.Signals) -> None:
    signals.heed()
    assert signals.exit_code() is None
    with pytest.raises(signals.Stopped):
        signal.raise_signal(number)
    for other in signals.STOPPING:
        signal.raise_signal(other)
    assert signals.exit_code() == 128 + number


def test_a_signal_after_the_time_for_cleaning_up_stops_again(monkeypatch: pytest.MonkeyPatch) -> None:
    signals.heed()
    with pytest.raises(signals.Stopped):
        signal.raise_signal(signal.SIGTERM)
    late = signals.time.monotonic() + signals.CLEAN_UP_S + 1
    monkeypatch.setattr(signals.time, "monotonic", lambda: late)
    with pytest.raises(signals.Stopped):
        signal.raise_signal(signal.SIGINT)
    assert signals.exit_code() == 130


def test_a_signal_whose_exception_was_swallowed_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    swallowed: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: swallowed.append(info.exc_type))
    signals.heed()
    signals.check()

    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    Finalized()
    assert swallowed == [signals.Stopped]
    with pytest.raises(signals.Stopped):
        signals.check()


def test_what_was_switched_off_stays_so() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signals.heed()
    signal.raise_signal(signal.SIGHUP)
    assert signals.exit_code() is None


def test_whoever_starts_it_may_ignore_how_children_end() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        signals.heed()
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL  # else no end of a bot is told, and a game hangs
    finally:
        signal.signal(signal.SIGCHLD, before)
