"""Calls functions in workers at once, beside their tasks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client


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
            came.set_result(client.run(function, *args, workers=[address])[address])
        except Exception as error:  # whatever the function or Dask raises
            came.set_exception(error)

    Thread(target=call, daemon=True).start()
    return came
