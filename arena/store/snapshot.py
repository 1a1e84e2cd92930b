"""Copies a database that is in use, and checks that a copy is whole.

Laws:
1. The copy is made in one step. In several steps SQLite begins again at each commit of the writer, and with a busy
   writer it never ends. One step reads one moment of the database, and the writer goes on beside it.
2. Never copy from the process that writes the database: as soon as it closes a second descriptor of the file, the
   system drops its locks (`arena.store.lock`).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from arena.errors import StoreError
from arena.store.database import connect, trouble


def copy_database(database: Path, copy: Path) -> None:
    """Writes the database as it is at this moment into a new file.

    Args:
        database: The database, which another process may be writing.
        copy: Where the copy goes; nothing may be there.

    Raises:
        StoreError: It cannot be read, or the copy cannot be written. Remove the copy.
    """
    with closing(connect(database, write=False)) as source:
        try:
            with closing(sqlite3.connect(copy)) as target:
                source.backup(target, pages=-1)
        except sqlite3.Error as error:
            raise trouble(error, copy) from error


def check_database(database: Path) -> None:
    """Checks that every page and row of a database that nobody writes is whole, and that its rows belong together.

    Raises:
        StoreError: They are not, or do not, or it is no database of ours. The message has what SQLite found first.
    """
    with closing(connect(database, write=False)) as connection:
        try:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
        except sqlite3.Error as error:
            raise trouble(error, database) from error
    if found != "ok":
        raise StoreError(f"expected a database that is whole, got: {found} - at {database}; go back to another copy")
    if broken is not None:
        raise StoreError(
            f"expected a database whose rows belong together, got: a row of {broken[0]} without its row of "
            f"{broken[2]} - at {database}; go back to another copy"
        )
