"""Both games from end to end: real tournaments under every ruleset, in two languages, verified, replayed, resumed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.catalogue import game, names
from arena.core.errors import BotError
from arena.core.link.bots import load_bot
from arena.core.store.store import open_reader
from tests.command_kit import Run

RULESETS = [(rules, ruleset) for rules in names() for ruleset in game(rules).rulesets]
ISLANDS = """\
# Two islands with a strait between them, for two or three.
name: Two islands
source: drawn for this test
players: 2-3
place 1-1: West
place 5-1: East

map:
.2    .2    .2    .2
   v2    ~2    v2
.2    .2    .2    .2
   c2    ~2    c2
.2    .2    .2    .2
   v2    ~2    v2
.2    .2    .2    .2
   .2    ~2    v2
.2    .2    .2    .2
   v3    ~3    c3
.3    .3    .3    .3
"""


@pytest.fixture(scope="session")
def built() -> Callable[..., None]:
    """Call it with the names of bots: the test is skipped, with the reason, where one is not built."""

    def check(*bots: str) -> None:
        for bot in bots:
            try:
                load_bot(bot)
            except BotError as error:
                pytest.skip(str(error))

    return check


@pytest.mark.long
def test_greedy_in_six_languages_a_bot_over_the_bridge_and_daimyo(
    arena: Run, built: Callable[..., None], tmp_path: Path
) -> None:
    """Greedy against all: nobody forfeits, and every game can be verified."""
    bots = [
        "greedy",
        *(f"greedy-{language}" for language in ("js", "c", "go", "rust", "java")),
        "random-perl",
        "daimyo",
    ]
    built(*bots)
    document = json.loads(arena("tournament", *bots, "--format", "gauntlet", "--deals", "1", "--json").stdout)
    standings = {row["bot"]: row for row in document["standings"]}
    assert standings.keys() == set(bots)
    assert all((row["games"], row["forfeits"]) == (14 if bot == "greedy" else 2, 0) for bot, row in standings.items())
    assert standings["random-perl"]["wins"] == 0
    check_logs(arena, tmp_path / "logs", 14)


def check_logs(arena: Run, logs: Path, games: int) -> None:
    """Every log verifies, its draws too."""
    document = json.loads(arena("verify", str(logs), "--json").stdout)
    assert (len(document["logs"]), document["failed"]) == (games, 0)
    assert all(row["draws_checked"] for row in document["logs"])


def check_replay(arena: Run, log: Path) -> None:
    """A log is shown from beginning to end, as all of it happened and as one player knew it."""
    for words in ((), ("--seat", "1")):
        frames = re.findall(r"^── .* (\d+)/(\d+) ──$", arena("replay", str(log), *words).stdout, re.MULTILINE)
        assert [int(number) for number, _ in frames] == list(range(1, len(frames) + 1))
        assert {int(last) for _, last in frames} == {len(frames)}


@pytest.mark.long(1)
@pytest.mark.parametrize(
    ("rules", "ruleset", "bots"),
    [
        ("gardener", "draft", ("greedy", "random", "greedy-js", "random-js", "random")),
        ("gardener", "race", ("greedy", "random", "greedy-js", "random-js", "random")),
        ("samurai", "classic", ("greedy", "banzai", "greedy-js", "random")),
    ],
)
def test_a_full_table_of_bots_in_two_languages(
    arena: Run, built: Callable[..., None], tmp_path: Path, rules: str, ruleset: str, bots: tuple[str, ...]
) -> None:
    built(*bots)
    assert len(bots) == max(game(rules).seat_counts)
    game_is = ("--rules", rules, "--ruleset", ruleset)
    done = arena("tournament", *bots, *game_is, "--players", str(len(bots)), "--deals", "1", "--json")
    document = json.loads(done.stdout)
    assert (document["settings"]["game"]["rules"], document["settings"]["game"]["ruleset"]) == (rules, ruleset)
    assert f"\n{rules} {ruleset}, {len(bots)} players, board " in done.stderr
    assert document["games"] == len(bots)
    assert {(row["games"], row["forfeits"]) for row in document["standings"]} == {(len(bots), 0)}
    assert json.loads(arena("standings", *game_is, "--json").stdout) == document
    check_logs(arena, tmp_path / "logs", len(bots))
    check_replay(arena, min(tmp_path.rglob("*.jsonl")))


@pytest.mark.thorough
def test_every_ruleset_is_played_and_has_standings_of_its_own(arena: Run, tmp_path: Path) -> None:
    played = {}
    for rules, ruleset in RULESETS:
        done = arena("tournament", "random", "greedy", "--deals", "1", "--rules", rules, "--ruleset", ruleset, "--json")
        document = json.loads(done.stdout)
        assert {row["forfeits"] for row in document["standings"]} == {0}
        played[rules, ruleset] = document["tournament"]["id"]
    with open_reader(tmp_path / "arena.db") as reader:
        for (rules, ruleset), tournament in played.items():
            assert reader.tournament(rules=rules, ruleset=ruleset).id == tournament
    first, *_ = arena("standings", "--rules", "samurai", "--ruleset", "basic").stdout.splitlines()
    assert first == f"samurai basic, 2 players, board japan: tournament {played['samurai', 'basic']}"
    check_logs(arena, tmp_path / "logs", 2 * len(RULESETS))


@pytest.mark.long
@pytest.mark.parametrize("rules", names())
def test_a_match_takes_as_many_bots_as_the_game(arena: Run, tmp_path: Path, rules: str) -> None:
    most = max(game(rules).seat_counts)
    done = arena("match", *["greedy"] * (most - 1), "random", "--rules", rules, "--json")
    games = json.loads(done.stdout)["games"]
    assert [sorted(played["bots"]) for played in games] == [sorted(games[0]["bots"])] * most
    assert {played["termination"] for played in games} == {"finished"}
    too_many = arena("match", *["greedy"] * (most + 1), "--rules", rules, code=2).stderr
    assert f"expected 2 to {most} players for {rules}, got: {most + 1}" in too_many


@pytest.mark.quick(1)
@pytest.mark.parametrize("players", [2, 3])
def test_a_board_of_ones_own_with_two_islands(arena: Run, tmp_path: Path, players: int) -> None:
    (tmp_path / "islands.txt").write_text(ISLANDS)
    bots = ("greedy", "random", "greedy")[:players]
    done = arena("match", *bots, "--board", "islands.txt", "--rule", "captures=instant", "--json")
    document = json.loads(done.stdout)
    settings = document["settings"]["game"]
    assert (settings["board"]["name"], settings["ruleset"], settings["players"]) == ("islands", "custom", players)
    assert {played["termination"] for played in document["games"]} == {"finished"}
    check_logs(arena, tmp_path / "logs", players)
    assert "11 West  13 East" in arena("replay", document["games"][0]["log"], "--turn", "1").stdout


def test_bots_that_do_not_play_the_game_are_refused_before_anything_starts(arena: Run, tmp_path: Path) -> None:
    (tmp_path / "rook").mkdir()
    (tmp_path / "rook" / "bot.toml").write_text('name = "rook"\ncommand = ["true"]\nrules = ["chess"]\n')
    for command in ("tournament", "match"):
        refused = arena(command, "greedy", "banzai", "./rook", "--rules", "gardener", code=2)
        assert "got: banzai (which plays 'samurai'), rook (which plays 'chess'); leave them out" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rook"]
