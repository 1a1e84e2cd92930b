"""The vectors of gardens and scores against the engine, and against what the Python bots work out for themselves."""

from __future__ import annotations

import runpy
from types import SimpleNamespace
from typing import Any

import pytest

from arena.core.resources import bots_folder
from arena.games.gardener.deck import KINDS
from arena.games.gardener.geometry import EMPTY, Layout, Row, plant, point, square
from arena.games.gardener.payloads import kind_names, row_fact
from arena.games.gardener.rounds import BONUS, POINTS, scorable, turn_down
from tests.conformance.kit import FOLDER, by_id, load

VECTORS = load(FOLDER / "vectors" / "gardener.json")
BOTS = SimpleNamespace(**runpy.run_path(str(bots_folder() / "python" / "gardener.py")))


def card(squares: list[str], turned: bool) -> bytes:
    kinds = bytes(map(KINDS.index, squares))
    return kinds[::-1] if turned else kinds


def laid(vector: dict[str, Any]) -> Layout:
    """The garden of some cards, each of which must be put at a legal position."""
    layout = EMPTY
    for put in vector["cards"]:
        assert square(*put["at"]) in layout.positions
        layout = planted(vector, layout, put["squares"], put)
    return layout


def planted(vector: dict[str, Any], layout: Layout, squares: list[str], put: dict[str, Any]) -> Layout:
    """The garden after one more card."""
    return plant(layout, card(squares, put["turned"]), square(*put["at"]), vector.get("exactly_over", False))


def test_ids_are_unique() -> None:
    ids = [vector["id"] for kind in ("gardens", "scorings") for vector in VECTORS[kind]]
    assert len(set(ids)) == len(ids)


def test_every_length_and_a_line_too_long_to_be_new_are_among_them() -> None:
    rows = [row for vector in VECTORS["gardens"] for put in vector["plantings"] for row in put["rows"]]
    assert {row["length"] for row in rows} == {*POINTS}
    assert {row["along"] for row in rows} == {"across", "down"}
    assert any(
        all(kinds.get(start + step * at) == kinds[start] for at in range(6))
        for kinds in (laid(vector).kinds for vector in VECTORS["gardens"])
        for start in kinds
        for step in (square(1, 0), square(0, 1))
    )


@pytest.mark.parametrize("vector", VECTORS["gardens"], ids=by_id)
def test_where_the_next_card_may_go_and_which_rows_it_makes(vector: dict[str, Any]) -> None:
    """§G1-4, §G3-4, §G3-5, §G3-7, §G7-6, §G7-7."""
    layout = laid(vector)
    assert [list(point(position)) for position in layout.positions] == vector["positions"]
    for put in vector["plantings"]:
        after = planted(vector, layout, vector["next"], put)
        assert put["at"] in vector["positions"]
        assert [row_fact(row) for row in after.rows] == put["rows"]


@pytest.mark.parametrize("vector", VECTORS["gardens"], ids=by_id)
def test_bots_find_the_same_positions(vector: dict[str, Any]) -> None:
    """Under the option that rulesets have: the bundled bots leave out those exactly over a card."""
    deck = [(card(put["squares"], False), card(put["squares"], True)) for put in vector["cards"]]
    garden = BOTS.Garden(deck, [(number, *put["at"], put["turned"]) for number, put in enumerate(vector["cards"])])
    taken = [put["at"] for put in vector["cards"]]
    assert [list(position) for position in garden.positions()] == [at for at in vector["positions"] if at not in taken]


@pytest.mark.parametrize("vector", VECTORS["scorings"], ids=by_id)
def test_scoring_rows_in_an_order(vector: dict[str, Any]) -> None:
    """§G3-8, §G3-9, §G3-10, §G3-11, §G7-11."""
    features = sum(1 << KINDS.index(kind) for kind in vector["features"])
    rows = [Row(at, 0, False, KINDS.index(row["kind"]), row["length"]) for at, row in enumerate(vector["rows"])]
    left, steps, kinds = [*rows], [], set()
    for index in vector["order"]:
        row = rows[index]
        if row not in scorable(left, features):
            break
        left.remove(row)
        features = turn_down(features, row.kind)
        kinds.add(row.kind)
        steps.append({"points": POINTS[row.length], "features": kind_names(features)})
    assert steps == vector["steps"]
    assert (len(steps) == len(vector["order"])) == vector["legal"]
    if vector["legal"]:
        assert vector["bonus"] == BONUS[len(kinds)]
        assert vector["total"] == vector["bonus"] + sum(step["points"] for step in steps)
