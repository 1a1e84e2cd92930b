"""Merkle trees by RFC 6962, section 2.1: one hash over a list that grows, and short proofs about it.

Laws:
1. A list is only known by its *nodes*: the hashes of its complete subtrees. One that is there never changes, so nodes
   are kept in a file that only grows (`place`).
2. Whoever checks a proof needs no node: the functions that check have the proof alone.

The node of level 0 and index i is the hash of leaf i. That of level l and index i covers 2^l leaves, from i * 2^l on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

Node: TypeAlias = Callable[[int, int], bytes]
"""Returns a node by its level and its index. It is only asked for complete ones."""
EMPTY: Final = sha256().digest()
"""The root of an empty list."""
BYTES: Final = 32
"""Of a hash."""


def leaf_hash(entry: bytes) -> bytes:
    """Returns the hash of a leaf."""
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Returns the hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


def place(level: int, index: int) -> int:
    """Returns where a node stands if nodes are listed in the order in which they become complete.

    >>> [place(0, 0), place(0, 1), place(1, 0), place(0, 2), place(0, 3), place(1, 1), place(2, 0)]
    [0, 1, 2, 3, 4, 5, 6]
    """
    last = ((index + 1) << level) - 1
    return nodes_of(last) + level


def nodes_of(size: int) -> int:
    """Returns the number of complete nodes of a list, from the number of its leaves."""
    return 2 * size - size.bit_count()


class Builder:
    """Makes the nodes of a list, leaf by leaf. It holds no more of it than its complete subtrees."""

    def __init__(self, size: int = 0, node: Node | None = None) -> None:
        """Begins with an empty list, or goes on with one of `size` leaves of which `node` returns the nodes."""
        self.size = size
        """How many leaves there are."""
        self._peaks = [node(level, begin >> level) for begin, level in _complete(0, size)] if node else []

    def add(self, leaf: bytes) -> Iterator[bytes]:
        """Yields the nodes that become complete with a leaf, in the order of `place`; the first is its hash `leaf`."""
        yield leaf
        place_of, whole = self.size, leaf
        self.size += 1
        while place_of & 1:
            whole = node_hash(self._peaks.pop(), whole)
            yield whole
            place_of >>= 1
        self._peaks.append(whole)

    def root(self) -> bytes:
        """Returns the root of the list as it is."""
        return _folded(self._peaks)


def root(size: int, node: Node) -> bytes:
    """Returns the root over the first `size` leaves: MTH of the RFC."""
    return _hash(0, size, node) if size else EMPTY


def consistency(before: int, size: int, node: Node) -> list[bytes]:
    """Returns the proof that the list of the first `size` leaves goes on from that of the first `before`: PROOF."""
    if not 0 < before < size:
        return []
    begin, end, found = 0, size, []
    is_root = True
    """Whether what is left of the old list is all of it, so that whoever checks has its hash."""
    while before < end:
        middle = begin + _split(end - begin)
        if before <= middle:
            found.append(_hash(middle, end, node))
            end = middle
        else:
            found.append(_hash(begin, middle, node))
            begin, is_root = middle, False
    return ([] if is_root else [_hash(begin, end, node)]) + found[::-1]


def is_consistent(before: int, root_before: bytes, size: int, top: bytes, proof: Sequence[bytes]) -> bool:
    """Checks a proof of `consistency` between two roots (RFC 9162, 2.1.4.2)."""
    if not 0 <= before <= size:
        return False
    if before == size:
        return not proof and root_before == top
    if before == 0:
        return not proof and root_before == EMPTY
    path = list(proof) if before & (before - 1) else [root_before, *proof]
    if not path:
        return False
    at, last = before - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    old = new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            new = node_hash(new, other)
        at, last = at >> 1, last >> 1
    return last == 0 and old == root_before and new == top


def _split(size: int) -> int:
    """Returns the largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1


def _complete(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the complete subtrees of a range whose beginning is one's: where each begins, and its level."""
    while begin < end:
        level = (end - begin).bit_length() - 1
        yield begin, level
        begin += 1 << level


def _hash(begin: int, end: int, node: Node) -> bytes:
    """Returns the hash over the leaves of a range that the RFC's splits lead to."""
    return _folded([node(level, at >> level) for at, level in _complete(begin, end)])


def _folded(peaks: Sequence[bytes]) -> bytes:
    """Returns the hash over complete subtrees, which get smaller."""
    if not peaks:
        return EMPTY
    whole = peaks[-1]
    for left in reversed(peaks[:-1]):
        whole = node_hash(left, whole)
    return whole
