"""Ends what a worker leaves behind, however the worker ends. Run as a process of its own, standard library only.

Called with the worker's private directory. Standard input carries a line for each order:

    +GROUP      this process group dies with the worker
    -GROUP      it is gone: forget it. The worker says so before it reaps the group's leader
    !GROUP MS   kill it in so many milliseconds

Only the worker holds the other end of that pipe, so its end of file means that the worker is dead, kill -9 included:
then every group left is killed and the directory is removed.
"""

import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress


class Warden:
    """The groups in custody, and when some of them are to be killed."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._deadlines: dict[int, float] = {}

    def obey(self, line: bytes) -> None:
        """Carries out one order."""
        order, words = line[:1], line[1:].split()
        group = int(words[0])
        if order == b"+":
            self._groups.add(group)
        elif order == b"-":
            self._forget(group)
        elif group in self._groups:
            deadline = time.monotonic() + int(words[1]) / 1000
            self._deadlines[group] = min(deadline, self._deadlines.get(group, deadline))

    def wait_s(self) -> float | None:
        """Returns the seconds until the next group is to be killed; None if there is none."""
        return max(0, min(self._deadlines.values()) - time.monotonic()) if self._deadlines else None

    def kill_due(self) -> None:
        """Kills the groups whose time is over."""
        now = time.monotonic()
        for group in [group for group, deadline in self._deadlines.items() if deadline <= now]:
            self._kill(group)

    def kill_all(self) -> None:
        """Kills every group that is left."""
        for group in list(self._groups):
            self._kill(group)

    def _kill(self, group: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        self._forget(group)

    def _forget(self, group: int) -> None:
        self._groups.discard(group)
        self._deadlines.pop(group, None)


def main() -> None:
    """Obeys until the worker's end, then cleans up."""
    # What ends the worker politely, from a terminal or a service manager, must not end its warden before it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    warden = Warden()
    pipe = sys.stdin.fileno()
    unfinished = b""
    while True:
        # Nothing is killed before the pipe is empty: a group that the worker has discarded may be somebody else's now.
        if not select.select([pipe], [], [], warden.wait_s())[0]:
            warden.kill_due()
            continue
        data = os.read(pipe, 65_536)
        if not data:
            break
        *lines, unfinished = (unfinished + data).split(b"\n")
        for line in lines:
            warden.obey(line)
    warden.kill_all()
    shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == "__main__":
    main()
