"""Signals to a service: counted, and nothing else."""

from __future__ import annotations

import signal

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
