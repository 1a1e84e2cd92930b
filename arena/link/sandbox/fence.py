"""Limits and measures one bot: its process with all that it starts.

A fence is made before the process starts, takes it in before its program runs, and ends with it.

========  ====================================  ======================================  ========================
level     memory                                processes                               off turn
========  ====================================  ======================================  ========================
trusted   looked at, the whole tree             not limited                             measured
isolated  looked at, `/tmp` and its files too;  limited in the box (`process_limit`)    measured
          a hard limit for each process
          (`data_limit_mib`)
strict    limited by the system                 limited by the system                   frozen: no CPU at all
========  ====================================  ======================================  ========================
"""

from __future__ import annotations

import os
from typing import Final, Protocol

from arena.link.bots import BotSpec
from arena.types import Level

MAX_FILES: Final = 2_000
"""How many files and folders a bot may have in its `/tmp` and `/dev/shm`: each takes memory of the system."""
_STACKS_MIB: Final = 512
"""Room for what a process reserves and does not use: 64 stacks of 8 MiB."""
_PROCESSES: Final = 64
_PROCESSES_A_CORE: Final = 8


class Fence(Protocol):
    """What holds one bot, from before its start until after its end."""

    @property
    def most_mib(self) -> int:
        """Returns the most memory that was seen in MiB; 0 where the system does not tell."""

    def adopt(self, pid: int) -> None:
        """Takes in the bot's first process. Call it before the bot's program runs.

        Raises:
            MachineFault: The system refuses. The bot must not be let go.
        """

    def excess(self) -> str | None:
        """Looks at the bot, and returns what it uses more of than it may; None if it keeps to its limits.

        It is the rest of a sentence: "used 300 MiB of memory; its limit is 64 MiB".
        """

    def cpu_ns(self) -> int:
        """Returns the CPU time that all its processes have used so far, those that have ended included."""

    def denied_ns(self) -> int:
        """Returns how long the machine kept it from running so far, because others ran.

        It grows from call to call: compare two. What the bot's own threads and processes take from each other does not
        count, nor what it gives away by a lower priority or by fewer cores.
        """

    def freeze(self) -> None:
        """Stops all its processes, where the level has it (strict). SIGKILL still ends them."""

    def thaw(self) -> None:
        """Lets them run again."""

    def kill(self) -> None:
        """Kills every process of it that is known, frozen ones too, without waiting."""

    def close(self) -> None:
        """Kills what is left and removes what the fence made. Call it when the bot's first process has been reaped."""


def fence(level: Level, spec: BotSpec) -> Fence:
    """Makes the fence of a bot that is about to start.

    Raises:
        MachineFault: The machine cannot give what the level needs.
    """
    raise NotImplementedError(level, spec)


def data_limit_mib(memory_mib: int) -> int:
    """Returns the RLIMIT_DATA in MiB of each process of a bot (isolated): the hard stop between two looks.

    It is above the bot's limit, because it counts what is reserved, not what is used.
    """
    return memory_mib + _STACKS_MIB


def process_limit() -> int:
    """Returns how many processes and threads a bot may have at once. Runtimes start threads by the number of cores."""
    return _PROCESSES + _PROCESSES_A_CORE * max(0, (os.cpu_count() or 1) - 2)
