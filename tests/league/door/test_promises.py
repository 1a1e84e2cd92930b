"""What a league's door promises, and the tests that hold it to that."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
LOST = {
    "the right league without a CA, by an address alone": "a certificate, or `#sha256=` in the address: test_client.py",
    "the author's secret never leaves the author": "a token passes at each request; LEAGUE.md, section 13",
}
"""What the door of arena 0.2 promised, and this one does not, with what there is in its place."""
PROMISES = {
    "no database, no secret of a game": "test_promises.py test_the_door_loads_no_database",
    "strangers get nowhere": "test_attacks.py test_a_stranger_gets_nowhere test_p10_silent_connections",
    "a token is one header, and stands nowhere": "test_server.py test_only_one_header_with_one_token_that",
    "messages are bounded": "test_attacks.py test_p1_a_message_over_the_limit test_p3_a_message_of_endless",
    "who never reads costs nothing": "test_remote_bots.py test_an_author_who_does_not_read_loses_the_game",
    "authors are answered during floods, in bounded memory": "test_beside.py test_twenty_authors_are_answered",
    "the pages of a league are bounded too": "pages/web/test_limits.py test_silent_connections test_no_body_is_read",
    "what the limits stand on is noticed when it changes": "pages/web/test_limits.py test_the_insides_of_uvicorn",
    "it falls over alone, and is opened again": "test_supervisor.py test_who_does_other_work_keeps_it_open",
    "a revoked token gets nothing more": "test_server.py test_a_token_that_is_revoked_gets_nothing_more",
    "revoked with or without a service": "league/test_by_door.py test_a_revoked_token_opens_nothing",
    "revoked in a game": "test_remote.py test_a_token_that_is_revoked_in_a_game_costs",
    "limits say when to come again": "test_server.py test_a_limit_says_when test_who_reads_more_than_they_may",
    "accepted orders are never lost": "test_server.py test_an_archive_comes_whole test_an_order_is_kept",
    "an upload goes on after a cut or a kill": "test_attacks.py test_a_door_that_is_killed_at_any_piece",
    "checked before it is a bot": "test_server.py test_an_archive_that_is_another test_what_is_there_already",
    "a check holds up nobody": "test_bounds.py test_a_check_of_an_archive_holds_up_nobody",
    "hidden and absent are the same unknown": "test_server.py test_what_is_not_the_authors_or_not_there",
    "a full disk takes no upload": "test_server.py test_no_upload_begins_on_a_full_disk",
    "searches, answers and caches are bounded": "test_bounds.py test_a_search_that_finds test_what_is_asked",
    "orders cannot fill the database": "test_bounds.py test_orders_have_a_limit test_an_order_that_cannot",
    "remote bots: a sitting is one connection's": "test_remote_bots.py test_another_connection_cannot_speak",
    "receipts of what a remote bot was told": "test_remote.py test_a_remote_bot_plays_a_whole_game",
    "heads go on, split histories are found": "test_heads.py test_a_season_that_was_taken_back test_two_authors",
    "seasons can be fetched and checked": "test_seasons.py test_an_author_fetches_a_closed_season",
    "health, metrics, remote.json": "test_server.py test_an_open_door_says_how_it_is",
    "what it says of itself is true": "test_openapi.py test_the_door_keeps_to_it",
}  # fmt: skip
"""Promises, each with a file, here or below tests/, and how the names of its tests begin."""


@pytest.mark.parametrize("promise", PROMISES)
def test_each_promise_has_its_tests(promise: str) -> None:
    file, *names = PROMISES[promise].split()
    text = (TESTS / file if "/" in file else Path(__file__).with_name(file)).read_text(encoding="utf-8")
    for name in names:
        assert re.search(rf"^def {name}", text, re.M), name


def test_the_door_loads_no_database() -> None:
    loaded = "import arena.league.door.app, arena.pages.web, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert "arena.league.door.app" in modules
    assert not {"sqlite3", "arena.league.store", "arena.league.settings", "arena.core.referee.game"} & {*modules}
