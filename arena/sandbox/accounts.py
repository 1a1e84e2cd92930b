"""Gives each seat a user of its own, when the referee is run by root.

A user here is only a number: it needs no account, owns nothing, and nobody else on the machine has it while its seat
lives. Each number that is in use is a locked byte of one file, and the system drops the lock when its worker ends,
however it ends. A referee that is not root's cannot change users: its seats run as its own user, each in its own box.
They count against the same quotas of that user (pipes, queued signals), which is a signal between them that root's
seats do not have.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arena.core.face import Level, errors, machine_fault

RUN: Final = Path("/run/arena-seats")
"""Folder in which root's referees keep what all of them on this machine share. Nobody else may write there."""
RANGES: Final = (range(1_900_000_000, 1_900_065_536), range(60_600, 61_100))
"""Numbers that neither distributions nor systemd nor containers give out. The second one is for containers that have no
more than 65,536."""
_CONFINED: Final = (Level.FENCED, Level.ISOLATED, Level.STRICT)


def seat_user(level: Level) -> int | None:
    """Returns the user as whom a seat's process is to run: None for this process's own. Give it back in the end.

    Raises:
        MachineFault: No number is left, or `RUN` cannot be written, or there is none to give to a seat that has nothing
            else between it and root's processes (fenced). Show the message to the operator.
    """
    if level not in _CONFINED or os.geteuid() != 0:
        return None
    numbers = _numbers()
    if numbers is None:
        if level is Level.FENCED and _is_root_outside():
            raise errors.MachineFault(
                f"expected root to have a user of its own for each seat, as level {level} demands, got: a user "
                f"namespace without the numbers {RANGES[1].start} to {RANGES[1].stop - 1}; "
                "run arena as an ordinary user"
            )
        return None
    return _own_users(numbers).take()


def give_back(user: int | None) -> None:
    """Ends the use of a user: all its processes have ended."""
    if user is not None and _users is not None and _users.owner == os.getpid():
        _users.give_back(user)


def run_folder() -> Path:
    """Returns `RUN`, which it makes if need be.

    Raises:
        MachineFault: It cannot be made.
    """
    try:
        RUN.mkdir(mode=0o755, exist_ok=True)
        RUN.chmod(0o755)  # whatever the umask is
    except OSError as error:
        remedy = "make /run writable, or run as an ordinary user"
        raise machine_fault(f"make the folder {RUN}", error, remedy=remedy) from None
    return RUN


class Users:
    """The numbers that this process has taken. A process that was forked from it has none of them."""

    def __init__(self, path: Path, numbers: Sequence[int]) -> None:
        """Opens the file of locks, and makes it if need be. An OSError says that it cannot be opened."""
        self.owner = os.getpid()
        self._numbers = numbers
        self._next = os.getpid() * 64 % len(numbers)
        """Workers begin at different places, and a number rests before it is used again."""
        self._taken: set[int] = set()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

    def take(self) -> int:
        """Returns a number that nobody on this machine has.

        Raises:
            MachineFault: There is none.
        """
        for _ in range(len(self._numbers)):
            place = self._next
            self._next = (place + 1) % len(self._numbers)
            if place not in self._taken and self._lock(place):
                self._taken.add(place)
                return self._numbers[place]
        raise errors.MachineFault(
            f"expected a user for a seat, got: all {len(self._numbers)} are in use; play fewer games"
        )

    def give_back(self, user: int) -> None:
        """Lets others have a number again."""
        place = self._numbers.index(user)
        if place in self._taken:
            self._taken.remove(place)
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)

    def close(self) -> None:
        """Gives all of them back."""
        os.close(self._file)

    def _lock(self, place: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EAGAIN):
                raise machine_fault(f"lock a user in {RUN}", error) from None
            return False
        return True


_users: Users | None = None


def _own_users(numbers: Sequence[int]) -> Users:
    """Returns the users of this process; those of the process that it was forked from are left to that one."""
    global _users
    if _users is None or _users.owner != os.getpid():
        try:
            _users = Users(run_folder() / "users", numbers)
        except OSError as error:
            raise machine_fault(f"open {RUN / 'users'}", error) from None
    return _users


def _numbers() -> range | None:
    """Returns the numbers that this process may give to seats.

    None if its user namespace has none of them. Then it cannot change users. If it is not the machine's root either, it
    need not: its seats have no rights on the machine to lose.
    """
    users, groups = (mapped(Path(f"/proc/self/{kind}_map").read_text(encoding="ascii")) for kind in ("uid", "gid"))
    return next((numbers for numbers in RANGES if holds(users, numbers) and holds(groups, numbers)), None)


def _is_root_outside() -> bool:
    """Tells whether this process's user 0 is user 0 of the namespace around it, too, as far as can be seen."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    return any(line.split()[:2] == ["0", "0"] for line in lines)


def mapped(text: str) -> list[range]:
    """Returns the numbers that a user namespace has, from its `uid_map` or `gid_map`."""
    lines = (list(map(int, line.split())) for line in text.splitlines())
    return [range(first, first + count) for first, _, count in lines]


def holds(having: list[range], wanted: range) -> bool:
    """Tells whether one of the ranges has all the numbers that are wanted."""
    return any(found.start <= wanted.start and wanted.stop <= found.stop for found in having)
