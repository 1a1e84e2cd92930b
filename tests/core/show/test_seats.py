"""Seats can be told apart, by a sign as well as by a colour."""

from __future__ import annotations

from arena.core.catalogue import game, names
from arena.core.show.seats import MARKS, SEAT_COLOURS, SEAT_STYLES, Seats


def test_every_seat_of_every_game_has_a_mark_and_colours_of_its_own() -> None:
    most = max(game(name).seat_counts[-1] for name in names())
    for signs in (MARKS, SEAT_COLOURS, SEAT_STYLES):
        assert len(set(signs)) == len(signs) == most


def test_who_is_who() -> None:
    seats = Seats(["ann", "bob\x1b[2J", "c" * 99])
    assert seats.who(0).plain == "▲ ann (seat 0)"
    assert seats.who(1).plain == r"■ bob\x1b[2J (seat 1)"
    assert seats.who(2).plain == f"● {'c' * 12}…{'c' * 11} (seat 2)"
    assert seats.all([2, 0]).plain == f"{seats.who(2).plain}, {seats.who(0).plain}"


def test_equal_places_go_by_the_seat() -> None:
    seats = Seats(["ann", "bob", "cid"])
    assert seats.places([2, 1, 1]).plain == "1. ■ bob (seat 1), 1. ● cid (seat 2), 2. ▲ ann (seat 0)"
