"""The ledger of a league: an append-only list of its finished games, as files (`protocol/LEAGUE.md`, section 7.2).

    ledger/entries-N.jsonl    a line for each game, in the order in which they were published
    ledger/head.json          how many there are, and the root of the Merkle tree over them
    ledger/nodes              the nodes of that tree, from which the door proves; they follow from the entries

The nodes are written before the head, so that a head never names more than there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import msgspec

from arena.core.face import errors, files, log_records, record_files
from arena.league.record import merkle
from arena.league.record.season import pages, read_lines

LEDGER: Final = "ledger"
"""The folder, in what a league publishes."""
ENTRIES: Final = "entries"
HEAD_FILE: Final = "head.json"
NODES_FILE: Final = "nodes"
PAGE: Final = 10_000
"""How many entries stand in one file."""
_MOST_NODES: Final = 2**42
"""Bytes of all nodes; more than any league has."""


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a ledger is known by at some moment."""

    size: int
    """How many entries it has."""
    root: log_records.Hex
    """The root (hex) of the tree over them."""


EMPTY: Final = Head(0, merkle.EMPTY.hex())


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of `entries-N.jsonl`: a game that is over, or was taken out."""

    game: str
    status: Literal["done", "void"]
    entrants: list[str]
    """By seat: `fox/3`."""
    ranks: list[int]
    """By seat; empty without a result."""
    play_digest: log_records.Hex | None
    log: log_records.Hex | None
    """SHA-256 (hex) of the public log, before it was compressed; None without one."""


def encoded(entry: Entry) -> bytes:
    """Returns an entry as canonical JSON: the bytes of its leaf."""
    return msgspec.json.encode(entry, order="sorted")


def decoded(line: bytes) -> Entry:
    """Returns the entry on a line, without its line feed.

    Raises:
        ValueError: It is none, or is not canonical.
    """
    entry = msgspec.json.decode(line, type=Entry)
    if encoded(entry) != line:
        raise ValueError("it has a key twice, a blank, or another order of its keys")
    return entry


def page(number: int) -> str:
    """Returns the name of the file in which the entry of a number stands."""
    return f"{ENTRIES}-{number // PAGE}.jsonl"


def lines(folder: Path, first: int = 0) -> Iterator[bytes]:
    """Yields the entries of a ledger as they were written, without line feeds, from the page number `first` on.

    Raises:
        LogError: A page cannot be read, is missing, or is not full though another follows.
    """
    found = pages(folder, ENTRIES) if folder.is_dir() else []
    for number, path in enumerate(found):
        if path.name != page(number * PAGE):
            raise errors.LogError(
                f"expected {page(number * PAGE)}, got: {path.name} - at {folder}; fetch the ledger again"
            )
        if number < first:
            continue
        count = 0
        for line in read_lines(path, "the entries of a ledger"):
            count += 1
            yield line[:-1]
        if count != PAGE and (number + 1 < len(found) or count > PAGE):
            raise errors.LogError(f"expected {PAGE} entries before the next file, got: {count} - at {path}")


def head_of(folder: Path) -> Head:
    """Returns the head of a ledger; that of an empty one if there is none.

    Raises:
        LogError: It cannot be read.
    """
    return record_files.published(folder, HEAD_FILE, Head) or EMPTY


@contextmanager
def nodes(folder: Path) -> Iterator[merkle.Node]:
    """Yields what returns the nodes of a ledger.

    Raises:
        LogError: They cannot be read, or one is not there.
    """
    path = folder / NODES_FILE
    with files.opened(path, "the nodes of a ledger", _MOST_NODES, errors.LogError, links=False) as file:

        def node(level: int, index: int) -> bytes:
            found = file.part(merkle.place(level, index) * merkle.BYTES, merkle.BYTES)
            if len(found) < merkle.BYTES:
                raise errors.LogError(f"expected node {index} of level {level}, got: the file's end - at {path}")
            return found

        yield node


def proof(folder: Path, before: int) -> tuple[Head, list[bytes]]:
    """Returns the head of a ledger, and the proof that it goes on from its first `before` entries.

    Raises:
        LogError: It cannot be read.
    """
    head = head_of(folder)
    if not 0 < before < head.size:
        return head, []
    with nodes(folder) as node:
        return head, merkle.consistency(before, head.size, node)
