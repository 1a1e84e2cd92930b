"""Keeps the door open: starts its process, and starts it again when it falls over.

libzmq ends its process when memory or descriptors run out. The door closes connections before that (`watch.py`), and
has limits of its own; whatever ends it all the same, this process, which no network reaches, opens it again.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Final

LONGEST_PAUSE_S: Final = 60
"""The longest pause before it is opened again. Each is twice the one before, from a second on."""
CALM_S: Final = 300.0
"""After so long without a fall the pauses begin anew."""
_FAREWELL_S: Final = 10.0


def keep_open(
    command: Callable[[int], Sequence[str]], tell: Callable[[str], None], *, sleep: Callable[[float], None] = time.sleep
) -> int:
    """Runs the door's process until it ends by itself, and starts it again after each fall.

    Args:
        command: Returns what starts it, from how often it fell over. Only the first start prints the address.
        tell: Called with sentences for the operator.
        sleep: Waits.

    Returns:
        The exit status of a door that was closed, or that could not be opened at first.
    """
    pause, falls = 1, 0
    output: int | None = None
    while True:
        began = time.monotonic()
        child = subprocess.Popen(command(falls), stdout=output)
        try:
            status = child.wait()
        except BaseException:
            child.terminate()
            try:
                child.wait(_FAREWELL_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            raise
        if status == 0 or (status > 0 and output is None):
            return status
        output = subprocess.DEVNULL
        falls += 1
        if time.monotonic() - began > CALM_S:
            pause = 1
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
        tell(f"The door {how}; it opens again in {pause} s. The league plays on.")
        sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)
