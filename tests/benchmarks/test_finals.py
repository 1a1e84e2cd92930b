"""The simulation of finals in short form: the page's figures are of this order."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest


def test_finals_of_four_are_settled_for_the_best(benchmark_module: Callable[[str], Any]) -> None:
    finals = benchmark_module("finals")
    rng = Random(2)
    found = [finals.simulate(4, 2, 40, 300, rng) for _ in range(5)]
    assert any(one.settled for one in found)
    assert sum(one.best for one in found) >= 4
    assert not any(one.wrong for one in found)


@pytest.mark.long
def test_a_field_of_equals_is_rarely_settled(benchmark_module: Callable[[str], Any], monkeypatch: Any) -> None:
    finals = benchmark_module("finals")
    monkeypatch.setattr(finals, "SPREAD", 0.0)
    rng = Random(3)
    found = [finals.simulate(4, 2, 40, 60, rng) for _ in range(20)]
    assert sum(one.settled for one in found) <= 3, "1 in 20 is allowed; 4 would be 1.6 % likely"
