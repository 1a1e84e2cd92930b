"""`arena tournament` and `arena standings` as a user calls them: real referee, real bots, real processes."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.command_kit import Run, environment, started, timeless, wait_for_games


def closed(**properties: Any) -> dict[str, Any]:
    """The schema of an object with exactly these properties."""
    return {"type": "object", "required": list(properties), "additionalProperties": False, "properties": properties}


COUNT = {"type": "integer", "minimum": 0}
NUMBER = {"type": "number"}
MAYBE = {"type": ["number", "null"]}
TEXT = {"type": "string", "minLength": 1}
HEX = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
SEED = {"type": ["string", "null"]}
SETTINGS = closed(
    rules=TEXT,
    rules_version=COUNT,
    ruleset=TEXT,
    options={"type": "object", "additionalProperties": {"type": "string"}},
    players={"type": "integer", "minimum": 2},
    board=closed(name=TEXT, hash=HEX),
    time=closed(bank_ms=COUNT, increment_ms=COUNT, limit_ms={"type": "null"}),
    race_window_ms=NUMBER,
    margin_ms=COUNT,
)
"""Those of a game."""
SCHEMA = closed(
    tournament=closed(id={"type": "string", "pattern": "^[0-9]{8}-[0-9a-f]{4}$"}, seed=SEED, commitment=HEX),
    settings=closed(
        game=SETTINGS,
        format={"const": "round-robin"},
        deals={"type": "integer", "minimum": 1},
        seatings={"enum": ["cyclic", "all"]},
        planning={"const": 3},
        level={"enum": ["trusted", "fenced", "isolated", "strict"]},
        chance={"const": 3},
        processes={"enum": ["block", "game", "tournament"]},
        seed=SEED,
        bots={"type": "array", "minItems": 2, "items": closed(name=TEXT, version={"type": "string"}, digest=HEX)},
    ),
    processes={"enum": ["block", "game", "tournament"]},
    games=COUNT,
    void={"type": "string"},
    struck={"type": "string"},
    seconds=NUMBER,
    standings={
        "type": "array",
        "items": closed(
            rank={"type": "integer", "minimum": 1},
            bot=TEXT,
            version={"type": "string"},
            display_name={"type": "string"},
            **dict.fromkeys(("worst_rank", "rating", "half_width"), MAYBE),
            **{key: {**MAYBE, "minimum": 0, "maximum": 1} for key in ("ahead_of_next", "points")},
            mu=NUMBER,
            sigma={"type": "number", "exclusiveMinimum": 0},
            conservative=NUMBER,
            **dict.fromkeys(("games", "wins", "draws", "losses", "forfeits"), COUNT),
            mean_ms={"type": "number", "minimum": 0},
            max_ms={"type": "number", "minimum": 0},
            mean_score=MAYBE,
            score_half_width=MAYBE,
            mean_off_turn_ms=MAYBE,
            off_turn_share=MAYBE,
        ),
    },
    order=closed(
        enough={"type": "boolean"}, open={"type": "array", "items": {"type": "array", "minItems": 2, "items": TEXT}}
    ),
    crosstable={
        "type": "array",
        "items": closed(
            bot=TEXT,
            against={
                "type": "array",
                "items": closed(
                    bot=TEXT,
                    **dict.fromkeys(("games", "better", "equal", "worse"), COUNT),
                    score={"type": "number", "minimum": 0, "maximum": 1},
                ),
            },
        ),
    },
    workers={"type": "array", "maxItems": 0},
    reused={"type": "array", "maxItems": 0},
    progress={"type": "null"},
    logs=TEXT,
)


def digests(folder: Path, database: str = "arena.db") -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / database)
    rows = connection.execute("SELECT tournament, number, play_digest FROM games ORDER BY 1, 2").fetchall()
    connection.close()
    return rows


def test_the_document_has_its_schema_and_standings_print_the_same(arena: Run, tmp_path: Path) -> None:
    done = arena("tournament", "random", "greedy", "random", "--players", "3", "--deals", "1", "--seed", "a", "--json")
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    assert document["tournament"]["seed"] == "a"
    assert document["games"] == 3
    assert sorted(row["bot"] for row in document["standings"]) == ["greedy", "random", "random#2"]
    assert {row["games"] for row in document["standings"]} == {3}
    logs = Path(document["logs"])
    assert logs == tmp_path / "logs" / document["tournament"]["id"]
    assert len(list(logs.glob("*.jsonl"))) == 3
    assert json.loads((logs / "secret.json").read_text())["commitment"] == document["tournament"]["commitment"]
    assert "Bots run trusted" in done.stderr
    assert json.loads(arena("standings", "--json").stdout) == document


@pytest.mark.long
def test_the_same_seed_is_the_same_tournament_at_any_concurrency(arena: Run, tmp_path: Path) -> None:
    words = ("tournament", "random", "greedy", "banzai", "--deals", "2", "--seed", "spring", "--json")
    one = json.loads(arena(*words, "--concurrency", "1", "--db", "one.db").stdout)
    two = json.loads(arena(*words, "--concurrency", "2", "--db", "two.db").stdout)
    assert timeless(one) == timeless(two)
    plays = [[row[1:] for row in digests(tmp_path, database)] for database in ("one.db", "two.db")]
    assert plays[0] == plays[1]
    assert len({digest for _, digest in plays[0]}) == 12


WORDS = ("random", "greedy", "--deals", "6", "--seed", "storm", "--concurrency", "2", "--json")


@pytest.mark.long
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(arena: Run, tmp_path: Path) -> None:
    with started(tmp_path, "tournament", *WORDS) as process:
        wait_for_games(tmp_path, process, 2)
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert stdout == ""
    assert "Traceback" not in stderr
    assert re.search(r"Interrupted: \d+ of 12 games are kept", stderr)
    assert "arena tournament random greedy --seed storm --deals 6 --concurrency 2 --json" in stderr
    check_the_rest(arena, tmp_path, 2)


@pytest.mark.long(2)
@pytest.mark.parametrize("group", [False, True], ids=["alone", "with its workers"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_asked_to_stop_twice_it_cleans_up_once(tmp_path: Path, number: signal.Signals, group: bool) -> None:
    with started(tmp_path, "tournament", *WORDS, "--deals", "5000") as process:
        wait_for_games(tmp_path, process, 1)
        for _ in range(2):
            (os.killpg if group else os.kill)(process.pid, number)
        stdout, stderr = process.communicate()  # ends when nobody holds the pipes any more: neither worker nor bot
    assert process.returncode == 128 + number, stderr
    assert stdout == ""
    last = stderr.splitlines()[-2:]
    assert re.fullmatch(r"Interrupted: \d+ of 10000 games are kept. To go on:", last[0]), stderr
    assert last[1].startswith("  arena tournament random greedy "), "something was said afterwards"
    assert not (tmp_path / "arena.db-lock").exists()


@pytest.mark.long
def test_a_terminal_that_is_closed_ends_it(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "arena", "tournament", *WORDS, "--deals", "5000"]
    take_terminal = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", take_terminal, *command],
        cwd=tmp_path, env=environment() | {"TERM": "xterm"}, start_new_session=True,
        stdin=theirs, stdout=theirs, stderr=theirs,
    ) as process:  # fmt: skip
        os.close(theirs)
        output = b""
        while b" leads" not in output:
            output += os.read(ours, 65_536)
        os.close(ours)
        assert process.wait() == 128 + signal.SIGHUP
    assert not (tmp_path / "arena.db-lock").exists()


def check_the_rest(arena: Run, folder: Path, least: int) -> None:
    before = json.loads(arena("standings", "--json").stdout)
    assert least <= before["games"] < 12
    done = arena("tournament", *WORDS)
    assert f"Continuing tournament {before['tournament']['id']}: {12 - before['games']} of 12 games left" in done.stderr
    resumed = json.loads(done.stdout)
    assert resumed["games"] == 12
    shown = arena("tournament", *WORDS)
    assert "was this one, and finished at" in shown.stderr
    assert json.loads(shown.stdout) == resumed, "a finished tournament was played again without --new"
    again = json.loads(arena("tournament", *WORDS, "--new").stdout)
    assert again["tournament"]["id"] != resumed["tournament"]["id"], "a finished tournament was continued"
    assert timeless(again) == timeless(resumed)
    rows = digests(folder)
    ids = {row[0] for row in rows}
    assert len(ids) == 2
    one, other = ([row[1:] for row in rows if row[0] == tournament] for tournament in ids)
    assert one == other
    logs = Path(resumed["logs"])
    kept = sorted(path.suffix for path in logs.iterdir() if path.suffix != ".begun")  # of games that were thrown away
    assert kept == [".json"] * 2 + [".jsonl"] * 12
    arena("verify", "logs", "--complete", "--db", "arena.db")


@pytest.fixture
def sulky(tmp_path: Path) -> Path:
    """A bot that leaves at once, with rude last words."""
    folder = tmp_path / "sulky"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "sulky"\nversion = "0"\ncommand = ["{python}", "bot.py"]\n')
    (folder / "bot.py").write_text('import sys\nprint("bye \\x1b[2Jall", file=sys.stderr)\nsys.exit(3)\n')
    return folder


def test_a_forfeit_is_told_with_all_its_author_needs(arena: Run, sulky: Path) -> None:
    done = arena("tournament", "random", "./sulky", "--deals", "2")
    [log, *_] = re.findall(r"log: (logs/\S+\.jsonl)", done.stderr)
    assert (sulky.parent / log).is_file()
    assert re.search(r"^sulky \(seat [01], turn 0\) exited with status 3", done.stderr, re.MULTILINE)
    assert r"its last words: bye \x1b[2Jall" in done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    assert done.stderr.count("its last words") == 1, "the others are told of by their number"
    assert "sulky forfeited 4 times: start_failed 4" in done.stderr
    assert re.search(r"^\S+ +sulky +\S+ +±\S+ +\S+ +\S+ +0 % +4 +4$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.thorough
def test_the_seeding_is_by_the_standings_of_another_tournament(arena: Run, tmp_path: Path) -> None:
    arena("tournament", "random", "greedy", "--deals", "1", "--seed", "x")
    [id] = os.listdir(tmp_path / "logs")
    words = ("tournament", "random", "greedy", "--format", "knockout", "--commit", "--logs", "cup", "--seeding")
    arena(*words, id.partition("-")[2])
    [commitment] = (tmp_path / "cup").glob("*/commitment.json")
    assert [bot["name"] for bot in json.loads(commitment.read_text())["bots"]] == ["greedy", "random"]
    assert "got: latest, which is this one when the same command goes on" in arena(*words, "latest", code=2).stderr


def test_a_beacon_is_named_before_its_value_is_given(arena: Run, tmp_path: Path) -> None:
    words = ("tournament", "random", "random", "--deals", "1", "--beacon", "the hash of block 940000 of Bitcoin")
    said = arena(*words, "--beacon-value", "too early").stderr
    assert "The value given with --beacon-value is not taken" in said
    assert "Publish the commitment before anybody can know" in said
    [folder] = (tmp_path / "logs").iterdir()
    assert os.listdir(folder) == ["commitment.json"]
    [again] = re.findall(r"^  arena (.* --beacon-value VALUE)$", said, re.MULTILINE)
    arena(*shlex.split(again.replace("VALUE", "36f1a0b")))
    assert json.loads((folder / "contributions.json").read_text())["beacon"] == "36f1a0b"
    checked = arena("verify", "latest", "--complete").stdout
    asked = "look up for yourself whether the hash of block 940000 of Bitcoin gave '36f1a0b'"
    assert f"-       beacon: not checked, {asked}" in checked
    assert "36f1a0b" in arena("tournaments", "show", "latest").stdout
    assert "which was out at" in arena(*words[:-1], "quicknet:123", code=2).stderr


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("random",), "expected at least 2 bots for games of 2 players, got: 1"),
        (("random", "greedy", "--players", "3"), "expected at least 3 bots"),
        (("random", "greedy", "--players", "9"), "expected 2 to 4 players"),
        (("random", "gredy"), "did you mean 'greedy'"),
        (("random", "greedy", "--rules", "samurei"), "did you mean 'samurai'"),
        (("random", "greedy", "--ruleset", "standart"), "did you mean 'standard'"),
        (("random", "greedy", "--rule", "setup"), "expected an option NAME=VALUE"),
        (("random", "greedy", "--rule", "setup=rando"), "did you mean 'random'"),
        (("random", "greedy", "--concurrency", "0"), "expected at least 1 game at a time, got: 0"),
        (("random", "greedy", "--seed", "\udcff"), "expected a seed in UTF-8"),
        (("random", "greedy", "--time", "=5+1"), "expected a bot before the sign"),
        (("random", "greedy", "--time", "greedy=5+1", "--time", "greedy=6+1"), "expected one time of greedy"),
        (("random", "greedy", "--deals", "0"), "expected at least 1 deal, got: 0"),
        (("random", "greedy", "--deals", "1000000000000"), "at most 1,000,000,000 games, got: 2,000,000,000,000"),
        (("random", "greedy", "--deals", "1" + 20 * "0"), "expected at most 1,000,000,000 games"),
        (("random", "greedy", "--time", "soon"), "expected a time control"),
        (("random", "greedy", "--board", "nowhere.txt"), "expected a board file"),
    ],
)
def test_wrong_settings_are_refused_before_anything_starts(
    arena: Run, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    assert message in arena("tournament", *words, code=2).stderr
    assert not list(tmp_path.iterdir()), "something was made"


@pytest.mark.long
def test_a_database_in_use_is_refused_by_name(arena: Run, tmp_path: Path) -> None:
    # It takes longer than a second command takes to begin.
    with started(tmp_path, "tournament", *WORDS, "--deals", "5000") as process:
        wait_for_games(tmp_path, process, 1)
        refused = arena("tournament", "random", "greedy", code=1)
        process.kill()
        process.communicate()
    assert f"in use by process {process.pid}" in refused.stderr


def test_standings_of_nothing(arena: Run) -> None:
    assert "`arena tournament` makes one" in arena("standings", code=1).stderr
