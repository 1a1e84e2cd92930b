"""Ends what a worker leaves behind, however the worker ends. Run as a process of its own, standard library only.

Called with the worker's private directory. Standard input carries a line `+GROUP` for each process group that dies
with the worker and `-GROUP` for one that is gone. Only the worker holds the other end of that pipe, so its end of
file means that the worker is dead, kill -9 included: then every group left is killed and the directory is removed.
"""

import os
import shutil
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Wait for the worker's end, then clean up."""
    # What ends the worker politely, from a terminal or a service manager, must not end its warden before it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        change = groups.add if line.startswith(b"+") else groups.discard
        change(int(line[1:]))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == "__main__":
    main()
