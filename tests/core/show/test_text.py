"""Words are cut to the width of a terminal, and listed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from arena.core.show.layout import clip, listed


@given(st.text(), st.integers(1, 30))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert cell_len(clip(text, width)) <= width
    assert clip("short", 5) == "short"
    assert clip("longer", 5) == "long\u2026"


def test_lists() -> None:
    assert listed([5]) == "5"
    assert listed([5, 12]) == "5 and 12"
    assert listed(["a", "b", "c"]) == "a, b and c"
