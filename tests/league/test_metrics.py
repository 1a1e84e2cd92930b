"""Figures for monitoring are what Prometheus' own parser reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from arena.core.errors import InternalError
from arena.league.public.monitoring import METRICS, Values, text

PAGE = Path(__file__).parents[2] / "docs" / "league-running.md"

numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
values = st.fixed_dictionaries(
    {},
    optional={
        metric.name: st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=20), numbers, max_size=4)
        if metric.label
        else numbers
        for metric in METRICS
    },
)


@given(values)
def test_what_is_written_is_read_by_others(given: Values) -> None:
    found = {}
    for family in text_string_to_metric_families(text(given).decode()):
        name = family.name
        kinds = {metric.name: metric.kind for metric in METRICS}
        assert family.type == kinds[name]
        for sample in family.samples:
            assert sample.name == name + ("_total" if family.type == "counter" else "")
            key = tuple(sample.labels.values())
            found[name, *key] = sample.value
    expected = {}
    for name, value in given.items():
        for key, one in [((label,), one) for label, one in value.items()] if isinstance(value, dict) else [((), value)]:
            expected[name, *key] = one
    assert found == expected


def test_a_label_cannot_smuggle_in_another_figure() -> None:
    hostile = {"arena_league_orders": {'submit"} 1\narena_league_playing 0\n#': 1.0}}
    found = [family.name for family in text_string_to_metric_families(text(hostile).decode())]
    assert found == ["arena_league_orders"]


@pytest.mark.parametrize(
    "wrong", [{"arena_league_luck": 1.0}, {"arena_league_versions": 1.0}, {"arena_league_playing": {"x": 1.0}}]
)
def test_what_is_not_in_the_table_is_refused(wrong: Values) -> None:
    with pytest.raises(InternalError):
        text(wrong)


def test_the_page_has_every_figure() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for metric in METRICS:
        name = metric.name + ("_total" if metric.kind == "counter" else "")
        label = f"{{{metric.label}}}" if metric.label else ""
        assert f"| `{name}{label}` | {metric.help} |" in page
