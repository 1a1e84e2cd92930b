"""Calls functions in workers at once, beside their tasks. No call lasts without a limit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from distributed import Client

LONGEST_S: Final = 120.0
"""How long a call may take. Whoever waits for one has a shorter limit: this one ends the call's thread."""


def called(client: Client, address: str, function: Callable[..., Any], *args: object) -> Future[Any]:
    """Returns what a function will return in a worker. With a worker that is stopped that never comes: limit the wait.

    Args:
        client: Connected to the scheduler.
        address: The worker's address.
        function: A function of a module that the worker has.
        args: Its arguments.
    """
    came: Future[Any] = Future()

    def call() -> None:
        try:
            came.set_result(client.run(function, *args, workers=[address], callback_timeout=LONGEST_S)[address])
        except Exception as error:  # whatever the function or Dask raises
            came.set_exception(error)

    Thread(target=call, daemon=True).start()
    return came


def kind(error: Exception) -> str:
    """Returns the name of an error's class. Of an error at finding the function in the worker Dask sends the text only.

    >>> kind(TimeoutError()), kind(Exception("ModuleNotFoundError('No module')"))
    ('TimeoutError', 'ModuleNotFoundError')
    """
    return str(error).partition("(")[0] if type(error) is Exception else type(error).__name__
