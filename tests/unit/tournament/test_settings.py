"""A tournament is made from what the operator typed, and refused before anything starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from arena.errors import ConfigError
from arena.games import game, make_settings, names
from arena.store.records import Tournament
from arena.tournament.formats.round_robin import RoundRobin
from arena.tournament.plan import draw_tournament
from arena.tournament.settings import Settings, Setup, bundled_python_bots, seeded, set_up
from arena.types import BoardFile

BARE = "cmd:{python} -c pass"
"""A bot that does not say what it plays."""


def typed(*bots: str, rules: str = "samurai", players: int = 2, **options: Any) -> Setup:
    """Returns what `arena tournament BOTS` makes of its defaults and some options of the game."""
    return set_up(bots or (BARE, BARE), make_settings(rules, players, **options), RoundRobin(deals=1), seed="tea")


@pytest.fixture
def bot(tmp_path: Path) -> Any:
    """Makes a bot that plays some rules; its folder."""

    def make(name: str, *rules: str) -> str:
        folder = tmp_path / name
        folder.mkdir()
        command = f'command = ["{{python}}", "-c", "pass"]\nrules = {json.dumps(rules)}'
        (folder / "bot.toml").write_text(f'name = "{name}"\n{command}\n')
        return str(folder)

    return make


@pytest.mark.parametrize("rules", names())
def test_every_number_of_players_that_a_game_has_may_play(rules: str) -> None:
    for players in game(rules).seat_counts:
        assert typed(*[BARE] * players, rules=rules, players=players).settings.schedule().total == players


def test_a_table_needs_as_many_bots_as_it_has_seats() -> None:
    with pytest.raises(ConfigError, match="2"):
        typed(BARE, BARE, players=3)


def test_bots_that_do_not_play_the_game_are_refused_all_at_once_with_what_they_play(bot: Any) -> None:
    bots = [bot("ann", "chess"), BARE, bot("bob", "gardener", "samurai"), bot("cid", "go", "x\x1b[2J")]
    told = r"got: ann \(which plays 'chess'\), cid \(which plays 'go', 'x\\x1b\[2J'\); leave them out"
    with pytest.raises(ConfigError, match=f"expected bots that play gardener, {told}"):
        typed(*bots, rules="gardener")


@pytest.mark.parametrize("rules", names())
def test_without_bots_those_in_python_that_play_the_game_enter(rules: str) -> None:
    specs = bundled_python_bots(rules)
    assert {"random", "greedy"} <= {spec.name for spec in specs}
    assert all(spec.language == "python" and (not spec.rules or rules in spec.rules) for spec in specs)
    setup = set_up((), make_settings(rules, 2), RoundRobin(deals=1))
    assert setup.specs == specs
    assert setup.refs == tuple(spec.name for spec in specs)


def test_what_changes_a_game_changes_the_digest() -> None:
    settings = typed().settings
    assert typed().settings.digest == settings.digest
    others = [
        typed(rules="gardener"),
        typed(ruleset="basic"),
        typed(overrides=["setup=random"]),
        typed(time="10+0.2"),
        typed(BARE, BARE, BARE),
        typed(BARE, BARE, BARE, players=3),
    ]
    games = [replace(settings.game, race_window_ms=2.0), replace(settings.game, board=BoardFile("japan", "0" * 64))]
    digests = [setup.settings.digest for setup in others] + [replace(settings, game=one).digest for one in games]
    assert len({settings.digest, *digests}) == 9


def test_the_document_has_the_hash_of_the_board_and_not_its_text() -> None:
    settings = typed().settings
    board = settings.game.board
    assert board is not None
    assert board.text
    document = settings.document()
    assert document["game"]["board"] == {"name": "japan", "hash": board.hash}
    assert json.loads(json.dumps(document)) == document
    read = Settings.read(document)
    assert replace(read, game=replace(read.game, board=board)) == settings
    assert read.digest == settings.digest


def begun(setup: Setup) -> Tournament:
    return draw_tournament(setup.settings, "t", Path("logs"))


@pytest.mark.parametrize("rules", names())
def test_a_job_is_all_that_a_worker_needs(rules: str) -> None:
    setup = typed(rules=rules)
    job = setup.job(begun(setup), setup.settings.schedule().game(1))
    assert msgspec.convert(msgspec.to_builtins(job), type(job)) == job
    assert job.settings == setup.settings.game
    assert job.settings.board is None or job.settings.board.text
    assert (job.rotation, len(job.bots)) == (1, 2)


def test_bots_are_seeded_by_earlier_standings_and_new_ones_come_last(bot: Any) -> None:
    setup = typed(*[bot(name) for name in ("ann", "bob", "cid", "dan")])
    digests = {one.name: one.digest for one in setup.settings.bots}
    ranks = [("cid", digests["cid"]), ("bob", "another file"), ("ann", digests["ann"])]
    again = seeded(setup, ranks)
    assert [one.name for one in again.settings.bots] == ["cid", "ann", "bob", "dan"]
    assert [spec.name for spec in again.specs] == ["cid", "ann", "bob", "dan"]
    assert [Path(ref).name for ref in again.refs] == ["cid", "ann", "bob", "dan"]
