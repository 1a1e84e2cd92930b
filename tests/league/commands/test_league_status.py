"""What `arena league status` says of the door."""

from __future__ import annotations

from arena.league.commands.status import door_lines

QUIET = {
    "since": "2026-01-01T12:00:00+00:00", "falls": 0, "connections": 1, "messages": 20, "remote": 0, "refused": {},
    "closed": {}, "turned_away": 0,
}  # fmt: skip


def test_a_quiet_door_is_one_line_and_a_closed_one_none() -> None:
    assert list(door_lines(None)) == []
    assert list(door_lines(QUIET)) == [
        "door: open since 2026-01-01T12:00:00+00:00, 1 connection, 20 messages, 0 remote bots"
    ]


def test_what_is_not_as_it_should_be_is_said() -> None:
    door = QUIET | {"falls": 2, "refused": {"too_many": 3, "archive": 1}, "closed": {"endless": 1}, "turned_away": 5}
    assert list(door_lines(door)) == [
        "door: open since 2026-01-01T12:00:00+00:00, 1 connection, 20 messages, 0 remote bots; it fell over 2 times",
        "  refused requests: 1 archive, 3 too_many",
        "  closed connections: 1 endless",
        "  turned away: 5 connections with unknown keys, or too many of one",
    ]
