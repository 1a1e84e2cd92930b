"""Hears that a service is asked to stop.

Laws:
1. A signal changes a number, and nothing else: no exception cuts anything short. The loop looks at the number.
2. The first signal asks to stop, and the second not to wait. More of them change nothing.
3. Signals that our parent switched off stay off (`nohup`, `&`).
"""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""`kill` and systemd, Ctrl-C, the end of the terminal."""


class Stopping(AbstractContextManager["Stopping"]):
    """Counts the signals that come while the block runs. Use it in the main thread only."""

    def __init__(self) -> None:
        self._asked = 0
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Stopping:
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._heed)
        return self

    def __exit__(self, *raised: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]

    def _heed(self, number: int, frame: FrameType | None) -> None:
        self._asked += 1

    @property
    def asked(self) -> bool:
        """Whether the service is to stop."""
        return self._asked > 0

    @property
    def at_once(self) -> bool:
        """Whether it is to stop without waiting for games."""
        return self._asked > 1
