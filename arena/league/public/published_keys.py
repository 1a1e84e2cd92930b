"""Publishes whose key each is. The door asks it at each message, so it is what makes a key valid."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from arena import files
from arena.errors import StoreError
from arena.league.folder import Folder
from arena.league.public import documents
from arena.store.league import LeagueReader


def publish_keys(reader: LeagueReader, folder: Folder) -> None:
    """Writes the keys that are valid, if they are not those that are published.

    Raises:
        OSError: They cannot be written.
    """
    path = folder.published / "keys.json"
    data = msgspec.json.encode(documents.keys(reader), order="sorted")
    published = None
    with suppress(StoreError):  # whatever is in its place is replaced
        published = files.read(path, "the keys of authors", files.MOST_DOCUMENT, StoreError)
    if published != data:
        files.write(path, data, durably=True)
