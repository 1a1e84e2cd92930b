"""The tree is that of RFC 6962: its vectors, and a plain recursive copy of the RFC's definitions."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.league.record import merkle

LEAVES = [bytes.fromhex(text) for text in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"
)]  # fmt: skip
ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
"""Of the first 1 to 8 leaves: the vectors of certificate-transparency's own tests."""


def mth(entries: list[bytes]) -> bytes:
    """MTH, as section 2.1 defines it."""
    if len(entries) < 2:
        return sha256(b"\x00" + entries[0]).digest() if entries else sha256(b"").digest()
    k = split(len(entries))
    return sha256(b"\x01" + mth(entries[:k]) + mth(entries[k:])).digest()


def proof(m: int, entries: list[bytes], b: bool = True) -> list[bytes]:
    """PROOF and SUBPROOF, as section 2.1.2 defines them."""
    if m == len(entries):
        return [] if b else [mth(entries)]
    k = split(len(entries))
    if m <= k:
        return [*proof(m, entries[:k], b), mth(entries[k:])]
    return [*proof(m - k, entries[k:], False), mth(entries[:k])]


def split(n: int) -> int:
    return max(2**power for power in range(n.bit_length()) if 2**power < n)


def nodes(entries: list[bytes]) -> merkle.Node:
    """What `node` is of a list that is kept as a file keeps it."""
    builder = merkle.Builder()
    kept = [node for entry in entries for node in builder.add(merkle.leaf_hash(entry))]
    assert len(kept) == merkle.nodes_of(len(entries))
    assert builder.root() == mth(entries)
    return lambda level, index: kept[merkle.place(level, index)]


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_are_those_of_certificate_transparency(size: int) -> None:
    assert merkle.root(size, nodes(LEAVES)).hex() == ROOTS[size - 1] == mth(LEAVES[:size]).hex()


def test_the_empty_list_has_the_hash_of_nothing() -> None:
    assert merkle.root(0, nodes([])).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert merkle.Builder().root() == merkle.EMPTY == mth([])


def test_every_proof_of_every_small_list_is_that_of_the_rfc_and_is_accepted() -> None:
    for size in range(1, 34):
        entries = [bytes([number]) for number in range(size)]
        node, top = nodes(entries), mth(entries)
        for before in range(size + 1):
            found = merkle.consistency(before, size, node)
            assert found == (proof(before, entries) if before else [])
            assert merkle.is_consistent(before, mth(entries[:before]), size, top, found)


@given(st.lists(st.binary(max_size=3), min_size=1, max_size=300, unique=True), st.data())
def test_a_list_that_grew_has_the_nodes_that_it_had(entries: list[bytes], data: st.DataObject) -> None:
    node = nodes(entries)
    before = data.draw(st.integers(0, len(entries)))
    builder = merkle.Builder(before, node)
    assert builder.root() == merkle.root(before, node) == mth(entries[:before])
    added = [each for entry in entries[before:] for each in builder.add(merkle.leaf_hash(entry))]
    assert len(added) == merkle.nodes_of(len(entries)) - merkle.nodes_of(before)
    assert builder.root() == mth(entries)


@given(st.integers(1, 70), st.data())
def test_a_list_that_was_changed_or_shortened_has_no_proof(size: int, data: st.DataObject) -> None:
    """Whatever an operator answers from a list of its own, the old root is not continued."""
    entries = [bytes([number]) for number in range(size)]
    before = data.draw(st.integers(1, size))
    forged = list(entries)
    match data.draw(st.sampled_from(["changed", "left out", "exchanged"])):
        case "changed":
            forged[data.draw(st.integers(0, before - 1))] = b"forged"
        case "left out":
            del forged[data.draw(st.integers(0, before - 1))]
            forged += [b"new"]
        case _:
            first, second = (data.draw(st.integers(0, before - 1)) for _ in "ab")
            forged[first], forged[second] = forged[second], forged[first]
            if first == second:
                forged[0] = b"forged"
    node, top = nodes(forged), mth(forged)
    said = merkle.consistency(before, len(forged), node)
    assert not merkle.is_consistent(before, mth(entries[:before]), len(forged), top, said)
    assert not merkle.is_consistent(before, mth(entries[:before]), len(forged), top, proof(before, entries))


@given(st.integers(2, 70), st.data())
def test_a_proof_with_another_hash_or_size_is_refused(size: int, data: st.DataObject) -> None:
    entries = [bytes([number]) for number in range(size)]
    node, top = nodes(entries), mth(entries)
    before = data.draw(st.integers(1, size - 1))
    found, old = merkle.consistency(before, size, node), mth(entries[:before])
    assert found
    place = data.draw(st.integers(0, len(found) - 1))
    altered = [*found[:place], sha256(found[place]).digest(), *found[place + 1 :]]
    assert not merkle.is_consistent(before, old, size, top, altered)
    assert not merkle.is_consistent(before, old, size, top, found[:-1])
    assert not merkle.is_consistent(before, old, size, top, [*found, top])


def test_sizes_that_no_list_has_are_refused() -> None:
    assert not merkle.is_consistent(5, merkle.EMPTY, 3, merkle.EMPTY, [])
    assert not merkle.is_consistent(-1, merkle.EMPTY, 3, merkle.EMPTY, [])
    assert not merkle.is_consistent(2, mth(LEAVES[:2]), 3, mth(LEAVES[:3]), [])
