"""A worker for everything that is no game: builds, checks, qualifying. It does one thing at a time.

Laws:
1. It gives way to games: its worker runs at a low priority.
2. A worker that dies is the machine's fault until proven otherwise. Another is started with the next thing to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager, ExitStack, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

from arena.core.face import errors, lane_kit, processor_cores
from arena.league.submissions.steps import StepReport

NICENESS: Final = 10
"""How far it stands back behind games (`nice`)."""


class _Dropped(Exception):
    """Makes the worker end at once."""


class StepWorker(AbstractContextManager["StepWorker"]):
    """Does one thing after another in a worker. If an exception leaves the block, what runs is dropped."""

    def __init__(self, worker: lane_kit.Worker) -> None:
        """Takes what starts a worker, as an executor. None is started before there is something to do."""
        self._worker = worker
        self._stack = ExitStack()
        self._executor: Executor | None = None
        self._finished: SimpleQueue[Future[StepReport]] = SimpleQueue()
        self.busy = False
        """Whether something runs, or its result was not fetched."""

    def __exit__(self, *raised: object) -> bool | None:
        return self._stack.__exit__(*raised)  # type: ignore[arg-type]

    def start(self, do: Callable[..., StepReport], *arguments: Any) -> None:
        """Begins something. It must be a function that can be sent to a worker, and nothing else may run.

        Raises:
            MachineFault: No worker could be started.
        """
        assert not self.busy
        try:
            with processor_cores.undisturbed():
                if self._executor is None:
                    self._executor = self._stack.enter_context(self._worker())
                    self._executor.submit(os.nice, NICENESS)
                self._executor.submit(do, *arguments).add_done_callback(self._finished.put)
        except (OSError, MemoryError, RuntimeError) as error:  # a broken executor is a RuntimeError
            self._dismiss()
            raise errors.MachineFault(f"expected a worker for a step, got: {str(error) or 'out of memory'}") from error
        self.busy = True

    def fetch(self) -> StepReport | None:
        """Returns what came of it, or None if nothing runs or it is not over.

        Raises:
            MachineFault: Its worker ended, or the machine had not what it needs.
            InternalError: It raised an error that it should not: a bug of ours.
        """
        try:
            future = self._finished.get_nowait()
        except Empty:
            return None
        self.busy = False
        try:
            return future.result()
        except BrokenExecutor as error:
            self._dismiss()
            raise errors.MachineFault(f"the worker of a step ended: {error}") from error
        except (OSError, MemoryError) as error:
            raise errors.MachineFault(f"a step could not be done: {str(error) or 'out of memory'}") from error
        except errors.ArenaError:
            raise
        except Exception as error:
            raise errors.InternalError(f"a step could not be done: {type(error).__name__}: {error}") from error

    def rest(self) -> None:
        """Ends the worker if nothing runs, so that no memory and no bot waits for the next thing to do."""
        if not self.busy:
            self._dismiss()

    def drop(self) -> None:
        """Ends the worker at once, whatever runs. What came of it is nothing."""
        with suppress(_Dropped), self._stack:
            raise _Dropped
        self._executor = None
        self._finished = SimpleQueue()
        self.busy = False

    def _dismiss(self) -> None:
        self._executor = None
        self._stack.close()
