"""A database for a while: to compute again what another one should hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from arena.core import scratch
from arena.core.store.database import connect, immediate, migrate
from arena.core.store.store import Store


@contextmanager
def temporary_store() -> Iterator[Store]:
    """Yields an empty database that is gone after the block. All of the block is one transaction.

    Raises:
        OSError: It cannot be made.
        StoreError: It cannot be written.
    """
    with scratch.folder("arena-record-") as folder:
        path = folder / "record.db"
        with closing(connect(path, write=True)) as connection:
            migrate(connection, path)
            connection.execute("PRAGMA synchronous = OFF")  # it need not survive anything
            with immediate(connection):
                yield Store(connection, path)
