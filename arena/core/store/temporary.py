"""A database for a while: to compute again what another one should hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from arena.core import plugs, scratch
from arena.core.store.database import connect, extend, immediate, migrate
from arena.core.store.reader import Reader
from arena.core.store.store import Store


@contextmanager
def temporary_store(like: Reader | None = None) -> Iterator[Store]:
    """Yields an empty database that is gone after the block. All of the block is one transaction.

    Args:
        like: A database with the tables of those wings whose tables this one has too; None means no wing.

    Raises:
        OSError: It cannot be made.
        StoreError: It cannot be written.
    """
    with scratch.folder("arena-record-") as folder:
        path = folder / "record.db"
        with closing(connect(path, write=True)) as connection:
            migrate(connection, path)
            there = like.definitions().keys() if like else ()
            for wing, tables in plugs.tables().items() if there else ():
                if any(sign.partition(".")[0] in there for sign, _ in tables.steps.values()):
                    extend(connection, wing, tables)
            connection.execute("PRAGMA synchronous = OFF")  # it need not survive anything
            with immediate(connection):
                yield Store(connection, path)
