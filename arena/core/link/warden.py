"""Ends what a worker leaves behind, however the worker ends. Run as a process of its own, standard library only.

Called with the worker's private directory. Standard input carries a line for each order:

    +GROUP      this process group dies with the worker
    -GROUP      it is gone: forget it. The worker says so before it reaps the group's leader
    !GROUP MS   kill it after MS milliseconds

Only the worker holds the other end of that pipe, so its end of file means that the worker is dead, kill -9 included.
Then every group left is killed, and what bots have started in sessions of their own: processes whose environment names
the private directory, as every bot's does, and those that were seen below the worker while it lived. Then the directory
is removed.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

LOOK_S = 0.5  # how often the warden looks what runs below the worker, while there are bots
REST_SHARE = 10
"""Pause after a look, as a multiple of its duration, if that is longer: many processes take long to look at."""
ROUNDS = 20  # how often what is left is looked for and killed: it may start others until it is dead
ROUND_S = 0.005  # the time between two of these looks


class Status:
    """What the system says of a process."""

    def __init__(self, pid: int) -> None:
        """Looks it up.

        Raises:
            OSError: There is no such process, or the system has no such table.
        """
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
        self.session = int(words[3])
        self.started = int(words[19])
        """With its number, this tells it from every other process since the machine started."""
        memory, code, first, last = words[20], words[23], *words[47:49]
        # Neither a thread of the kernel's nor a dead process has memory. Session 0 does not tell such threads from
        # bots: in a container, it is the session of all that did not begin a new one there.
        is_a_program = memory != b"0"
        self.may_have_variables = is_a_program and (code == b"0" or first != last)
        """It has variables, or is between two programs: there are none for a moment, whatever it will have.

        The system says where a program's code lies after it has put its variables in place.
        """


def children(pid: int) -> Iterator[int]:
    """Yields the children of a process; none where the system does not tell."""
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                yield from map(int, file.read().split())


def environment(pid: int) -> bytes | None:
    """Returns the variables of a process, each ended by a NUL; nothing if it has ended or is another user's.

    None if it cannot be said now, because the process is just starting another program, or ending.
    """
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read()
        return None if not variables and Status(pid).may_have_variables else variables
    except OSError:
        return b""


def remove_tree(top: str) -> None:
    """Removes a folder with all that is in it, as far as the system allows, whatever a program has made there.

    A folder may be closed to its owner, or lie so deep that no path reaches it. So each is opened to us and moved up.
    """
    for _ in removing(top):
        pass


def removing(top: str) -> Iterator[None]:
    """Removes a folder as `remove_tree` does, and yields after each file, so that something else can be done meanwhile.

    The folder is gone when everything was asked for.
    """
    left = [top]
    while left:
        folder = left.pop()
        with suppress(OSError):
            for found in _empty(folder, top):
                left += found
                yield
        if folder != top:
            with suppress(OSError):
                os.rmdir(folder)
    with suppress(OSError):
        os.rmdir(top)


def _empty(folder: str, top: str) -> Iterator[list[str]]:
    """Removes the files of a folder, and moves the folders in it to the top. Yields after each: a folder, or none."""
    os.chmod(folder, 0o700)
    with os.scandir(folder) as entries:
        for entry in entries:
            found: list[str] = []
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    path = entry.path
                    with suppress(OSError):
                        os.rmdir(path)  # most that a program makes by the thousand are empty
                        yield found
                        continue
                    os.chmod(path, 0o700)
                    if folder != top:
                        path = os.path.join(top, os.urandom(8).hex())
                        os.rename(entry.path, path)
                    found.append(path)
                else:
                    os.unlink(entry.path)
            yield found


class Warden:
    """The groups in custody, when some of them are to be killed, and what else was seen below the worker."""

    def __init__(self, worker: int) -> None:
        """Takes the worker's number."""
        self._worker = worker
        self._groups: set[int] = set()
        self._deadlines: dict[int, float] = {}
        self._seen: dict[int, int] = {}  # by process when it was started
        self._look = 0.0

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
        """Returns the seconds until something is to be done; None if there is nothing."""
        due = [*self._deadlines.values(), *([self._look] if self._groups else [])]
        return max(0, min(due) - time.monotonic()) if due else None

    def act(self) -> None:
        """Kills the groups whose time is over, and looks what runs below the worker if it is time to."""
        now = time.monotonic()
        for group in [group for group, deadline in self._deadlines.items() if deadline <= now]:
            self._kill(group)
        if self._groups and now >= self._look:
            began = time.process_time()
            self._watch()
            self._look = now + max(LOOK_S, REST_SHARE * (time.process_time() - began))

    def end(self, directory: str) -> None:
        """Kills all that the worker has left, and removes its directory."""
        for group in list(self._groups):
            self._kill(group)
        for pid, started in self._seen.items():
            with suppress(OSError):
                if Status(pid).started == started:
                    os.kill(pid, signal.SIGKILL)
        end_all_of(directory)

    def _watch(self) -> None:
        """Notes what runs below the worker in other sessions than its own: bots, and all that they have started."""
        self._seen = {}
        with suppress(OSError):
            own = Status(self._worker).session
            below = list(children(self._worker))
            for pid in below:
                with suppress(OSError):
                    status = Status(pid)
                    if status.session != own:
                        self._seen[pid] = status.started
                        below += children(pid)

    def _kill(self, group: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        self._forget(group)

    def _forget(self, group: int) -> None:
        self._groups.discard(group)
        self._deadlines.pop(group, None)


def end_all_of(directory: str) -> None:
    """Kills the processes whose environment names a private directory, and removes it."""
    for _ in range(ROUNDS):
        if not _kill_all_that_name(os.fsencode(directory)):
            break
        time.sleep(ROUND_S)
    remove_tree(directory)


def _kill_all_that_name(directory: bytes) -> int:
    """Kills the processes whose environment names a directory. Returns how many it found, and how many it may be."""
    found = 0
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            variables = environment(int(name))
            if variables is None:
                found += 1
            elif directory in variables:
                found += 1
                with suppress(OSError):
                    os.kill(int(name), signal.SIGKILL)
    return found


def main() -> None:
    """Obeys until the worker's end, then cleans up."""
    # What ends the worker politely, from a terminal or a service manager, must not end its warden before it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    warden = Warden(os.getppid())
    pipe = sys.stdin.fileno()
    unfinished = b""
    while True:
        # Nothing is killed before the pipe is empty: a group that the worker has discarded may be somebody else's now.
        if not select.select([pipe], [], [], warden.wait_s())[0]:
            warden.act()
            continue
        data = os.read(pipe, 65_536)
        if not data:
            break
        *lines, unfinished = (unfinished + data).split(b"\n")
        for line in lines:
            warden.obey(line)
    warden.end(sys.argv[1])


if __name__ == "__main__":
    main()
