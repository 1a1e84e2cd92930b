"""A short run of every target, the same each time, and what longer runs found. `make fuzz` runs longer."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.targets import CORPUS, TARGETS, corpus

EXAMPLES = {"log": 60, "folder": 40, "database": 60, "command": 150, "manifest": 150, "settings": 100, "stream": 400}
"""How many inputs are tried: together they take some seconds."""
KEPT = [(target, path) for target in TARGETS for path in corpus(target)]


@pytest.mark.quick(1)
@pytest.mark.parametrize("target", TARGETS)
def test_whatever_comes_there_is_an_answer(target: str) -> None:
    dice = random.Random(target)
    make, check = TARGETS[target].make, TARGETS[target].check
    for _ in range(EXAMPLES.get(target, 1_000)):
        seed = dice.randbytes(dice.choice((8, 40, 120)))
        try:
            check(make(seed))
        except Exception as error:
            raise AssertionError(f"{target}: make(bytes.fromhex('{seed.hex()}')) shows: {error!r}") from error


@pytest.mark.parametrize(("target", "path"), KEPT, ids=[f"{target}-{path.name}" for target, path in KEPT])
def test_what_was_found_stays_fixed(target: str, path) -> None:  # type: ignore[no-untyped-def]
    TARGETS[target].check(TARGETS[target].read(path.read_bytes()))


def test_every_folder_of_the_corpus_is_that_of_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_can_be_kept(target: str) -> None:
    one = TARGETS[target]
    for seed in (b"", b"abc" * 20, bytes(range(256))):
        made = one.make(seed)
        assert one.read(one.keep(made)) == made
