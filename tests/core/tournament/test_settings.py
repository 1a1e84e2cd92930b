"""A tournament is made from what the operator typed, and refused before anything starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from arena.core.catalogue import game, make_settings, names
from arena.core.errors import ConfigError
from arena.core.store.records import Tournament
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.round_robin import Gauntlet, RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from arena.core.tournament.plan import draw_tournament
from arena.core.tournament.settings import (
    BotSettings,
    Settings,
    Setup,
    bundled_python_bots,
    processes_at,
    seeded,
    set_up,
)
from arena.core.types import BoardFile, GameSettings, Level, TimeControl

BARE = "cmd:{python} -c pass"  # a bot that does not say what it plays
EARLIER = "8286173e4b51c9a024f27d92ed29baeba5859663eca12e7cfd8790030f46e373"
"""The digest of `fixed()` before there were levels."""


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


# Levels, overload, CPU


def fixed(**changes: Any) -> Settings:
    """Settings whose digest depends on no file."""
    time = changes.pop("time", TimeControl(bank_ms=10_000, increment_ms=100))
    board = BoardFile(name="japan", hash="0" * 64)
    options = {"setup": "draft"}
    played = GameSettings(
        rules="samurai", rules_version=1, ruleset="basic", options=options, players=2, board=board, time=time
    )
    bots = tuple(BotSettings(name=name, version="1", digest="0" * 64) for name in ("ann", "bob"))
    return Settings(game=played, format=RoundRobin(deals=2), seed="tea", bots=bots, **changes)


def test_what_was_added_later_leaves_the_digests_of_earlier_tournaments() -> None:
    """Else an unfinished tournament could not go on, and a finished one would be played again."""
    assert fixed(chance=2).digest == EARLIER
    assert not {"on_overload", "beacon"} & fixed().document().keys()
    assert fixed().document()["game"]["time"] == {"bank_ms": 10_000, "increment_ms": 100, "limit_ms": None}


@pytest.mark.parametrize("format", [RoundRobin(deals=1), Gauntlet(deals=1), Swiss(), Knockout()], ids=type)
def test_a_tournament_of_before_is_planned_as_it_was(format: Format) -> None:
    bots = tuple(BotSettings(name=f"bot{number}", version="1", digest="0" * 64) for number in range(6))
    new = Settings(game=make_settings("samurai", 4), format=format, seed="tea", bots=bots)
    document = new.document()
    assert document.pop("planning") == new.plan_document()["planning"] == format.planning
    before = Settings.read(document)
    assert before.format.planning == 1
    assert before.document() == document
    assert "planning" not in before.plan_document()
    assert before.digest != new.digest
    assert Settings.read(new.document()).format == format


def test_what_planning_does_not_change_has_the_digest_of_before() -> None:
    assert Settings.read(fixed().document()).format == fixed().format == RoundRobin(deals=2, planning=3)


@pytest.mark.parametrize(
    "changed",
    [
        fixed(level=Level.ISOLATED, processes="game"),
        fixed(on_overload="void"),
        fixed(beacon="the hash of block 940000 of Bitcoin"),
        fixed(time=TimeControl(bank_ms=10_000, increment_ms=100, cpu_ms=20_000)),
    ],
)
def test_each_of_them_makes_another_tournament_that_is_read_again(changed: Settings) -> None:
    assert changed.digest != EARLIER
    assert Settings.read(json.loads(json.dumps(changed.document()))) == changed


def secret(settings: Settings) -> bytes:
    return draw_tournament(settings, "t", Path("logs")).secret


def test_a_seed_gives_the_same_deals_to_whatever_trusted_bots_play() -> None:
    others = (BotSettings(name="eve", version="2", digest="1" * 64),) * 2
    assert secret(fixed()) == secret(replace(fixed(), bots=others)) == secret(fixed(on_overload="void"))
    assert secret(fixed()) != secret(replace(fixed(), seed="coffee"))


def test_no_bot_in_a_sandbox_can_bring_a_table_of_seeds() -> None:
    """It would be in the bot's files, whose digest is mixed into the seed. So is all else that is published."""
    boxed = fixed(level=Level.ISOLATED, processes="game")
    with_table = replace(boxed, bots=(replace(boxed.bots[0], digest="1" * 64), boxed.bots[1]))
    others = [with_table, replace(boxed, format=RoundRobin(deals=3)), replace(boxed, level=Level.STRICT), fixed()]
    assert len({one.seed_salt for one in (boxed, *others)}) == 1 + len(others)
    assert secret(boxed) != secret(with_table)


def test_only_trusted_bots_may_be_kept_for_a_whole_tournament() -> None:
    assert processes_at(Level.TRUSTED, "tournament") == "tournament"
    for level in Level.TRUSTED, Level.FENCED, Level.ISOLATED, Level.STRICT:
        assert processes_at(level, None) == "block"
        assert processes_at(level, "game") == "game"
        if level is not Level.TRUSTED:
            with pytest.raises(ConfigError, match=f"as level {level} demands, got: --keep-bots, .*; leave it out"):
                processes_at(level, "tournament")


def test_the_level_is_that_of_every_job(tmp_path: Path) -> None:
    made = set_up((BARE, BARE), make_settings("samurai", 2), RoundRobin(deals=1), level=Level.STRICT)
    tournament = draw_tournament(made.settings, "t", tmp_path)
    assert {made.job(tournament, one).level for one in made.settings.schedule()} == {Level.STRICT}
    assert made.settings.processes == "block"


def test_a_bot_that_connects_by_tcp_is_refused_where_there_is_no_network(tmp_path: Path) -> None:
    manifest = 'name = "far"\nendpoint = "tcp"\ncommand = ["{python}", "-c", "pass"]\n'
    (tmp_path / "bot.toml").write_text(manifest)
    game = make_settings("samurai", 2)
    assert set_up((str(tmp_path), BARE), game, RoundRobin(deals=1)).specs[0].tcp
    with pytest.raises(ConfigError, match=r"level isolated has no network, got: far, .*--level trusted"):
        set_up((str(tmp_path), BARE), game, RoundRobin(deals=1), level=Level.ISOLATED)


def test_a_budget_of_cpu_time_is_read_with_the_time() -> None:
    assert make_settings("samurai", 2, cpu="1m30s").time == TimeControl(10_000, 100, cpu_ms=90_000)
    assert make_settings("samurai", 2).time.cpu_ms is UNSET
    for wrong in ("", "0", "-1", "soon", "20/move", "999999h"):
        with pytest.raises(ConfigError, match=r"expected a time above 0 .* - at --cpu"):
            make_settings("samurai", 2, cpu=wrong)
