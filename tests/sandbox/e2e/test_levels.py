"""Levels of protection as users see them: what is asked for is given, told and stored, or refused before anything."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.core.tournament.workers import available_cores
from arena.core.types import Level
from arena.sandbox.levels import level_in_force
from tests import forking
from tests.forking import ARENA, ROOT, environment
from tests.processes import level_of

BOTS = ("random", "greedy", "--ruleset", "basic", "--seed", "tea")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = forking.run(words, cwd=tmp_path, env=environment() | {"COLUMNS": "200"})
        assert done.returncode == code, done.stderr + done.stdout
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture(params=[Level.ISOLATED, Level.STRICT, Level.FENCED])
def level(request: pytest.FixtureRequest) -> str:
    """A level that this machine gives."""
    return str(level_of(request))


@pytest.fixture(params=[Level.ISOLATED, Level.STRICT])
def boxed(request: pytest.FixtureRequest) -> str:
    """A level with a sandbox that this machine gives."""
    return str(level_of(request))


@pytest.fixture
def crippled() -> tuple[str, ...]:
    """What a command begins with so that it runs where bwrap cannot be executed: in mounts of its own."""
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    kinds = ("-m",) if os.geteuid() == 0 else ("-Urm",)
    masks = "for b in /usr/bin/bwrap /bin/bwrap /usr/local/bin/bwrap; do [ -e $b ] && mount --bind /dev/null $b; done"
    hide = f'{masks}; exec "$@"'
    words = ("unshare", *kinds, "--", "sh", "-c", hide, "sh")
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not have mounts of its own")
    return words


def headers(folder: Path) -> list[dict[str, Any]]:
    found = [json.loads(log.read_text().splitlines()[0]) for log in sorted(folder.rglob("*.jsonl"))]
    assert found
    return found


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "arena.db")) as connection:
        return connection.execute(query).fetchall()


# A level that is given


@pytest.mark.quick(1, 0)
def test_every_result_of_a_tournament_says_its_level(run: Run, tmp_path: Path, level: str) -> None:
    """And in a sandbox a seed gives deals of that tournament alone, so that no bot can bring a table of seeds."""
    run(*ARENA, "tournament", *BOTS, "--deals", "1")
    done = run(*ARENA, "tournament", *BOTS, "--deals", "1", "--level", level)
    assert f"Bots run {level}: each " in done.stderr
    assert [header["level"] for header in headers(tmp_path)] in (
        ["trusted"] * 2 + [level] * 2,
        [level] * 2 + ["trusted"] * 2,
    )
    games = rows(tmp_path, "SELECT level, number, play_digest, forfeits FROM v_games ORDER BY number, level")
    assert sorted({row[0] for row in games}) == sorted({"trusted", level})
    assert not {row[2] for row in games if row[0] == level} & {row[2] for row in games if row[0] == "trusted"}
    assert {row[3] for row in games} == {0}
    told = json.loads(run(*ARENA, "games", "--tournament", "latest", "--json").stdout)
    assert {game["level"] for game in told["games"]} == {level}
    assert f" {level} " in run(*ARENA, "games", "--tournament", "latest").stdout
    listed = json.loads(run(*ARENA, "tournaments", "--json").stdout)["tournaments"]
    assert [tournament["level"] for tournament in listed] == [level, "trusted"]
    assert f", {level}: tournament" in run(*ARENA, "standings").stdout.splitlines()[0]
    shown = run(*ARENA, "tournaments", "show", "latest").stdout
    assert f"--level {level} --seed tea --new" in shown
    assert "--fresh" not in shown
    run(*ARENA, "verify", "--complete", "--db", "arena.db", "latest")


@pytest.mark.long(1)
def test_a_match_and_a_comparison_are_played_at_a_level(run: Run, tmp_path: Path, level: str) -> None:
    told = json.loads(run(*ARENA, "match", *BOTS, "--level", level, "--json").stdout)
    assert told["settings"]["level"] == level
    assert {header["level"] for header in headers(tmp_path / "logs")} == {level}
    run(*ARENA, "compare", *BOTS, "--level", level, "--max-deals", "2", "--time", "1/move")
    assert rows(tmp_path, "SELECT DISTINCT level FROM v_games") == [(level,)]


@pytest.mark.long(1)
def test_a_bot_is_checked_at_a_level(run: Run, level: str) -> None:
    done = run(*ARENA, "bot", "check", "random", "--rules", "gardener", "--level", level, "--level", "full", "--json")
    document = json.loads(done.stdout)
    assert (document["level"], document["confined"], document["passed"]) == ("full", level, True)
    ids = {result["id"] for result in document["bots"][0]["results"]}
    assert "start.tcp" not in ids, "there is no network to try it over"
    assert "start.token" in ids


def lucky(folder: Path) -> Path:
    """Makes a bot `lucky` that notes each start beside its folder, where it can, and returns the file of its notes."""
    random, own, note = ROOT / "bots" / "python" / "random", folder / "lucky", folder / "note"
    own.mkdir()
    (folder / "arena_bot.py").write_text((random.parent / "arena_bot.py").read_text())
    opening = f"try:\n    open({str(note)!r}, 'a').write('x')\nexcept OSError:\n    pass\n"
    program = (random / "bot.py").read_text().replace('    name = "random"', '    name = "lucky"\n    entropy = True')
    (own / "bot.py").write_text(opening + program)
    manifest = (random / "bot.toml").read_text().replace('name = "random"', 'name = "lucky"\nentropy = true')
    (own / "bot.toml").write_text(manifest)
    for path in (folder, own):
        path.chmod(0o755)
    return note


@pytest.mark.quick(1)
def test_a_bot_is_never_started_outside_its_sandbox_not_even_to_contribute_to_the_deals(
    run: Run, tmp_path: Path, level: str
) -> None:
    note = lucky(tmp_path)
    words = ("tournament", "./lucky", "random", "--ruleset", "basic", "--deals", "1")
    run(*ARENA, *words, "--level", level)
    [contributions] = tmp_path.glob("logs/*/contributions.json")
    assert json.loads(contributions.read_text())["entropy"][0], "it was started and asked"
    assert not note.exists()
    run(*ARENA, *words)
    assert note.read_text(), "where it is trusted it can"


@pytest.mark.long(1)
def test_a_bot_is_asked_again_as_it_was_confined_in_its_game(run: Run, tmp_path: Path, level: str) -> None:
    note = lucky(tmp_path)
    run(*ARENA, "match", "./lucky", "random", "--ruleset", "basic", "--deals", "1", "--level", level)
    [log, *_] = sorted(tmp_path.rglob("*.jsonl"))
    rerun = (*ARENA, "bot", "rerun", str(log), "./lucky", "--seat", "0")
    told = json.loads(run(*rerun, "--json").stdout)
    assert told["level"] == level
    assert told["requests"]
    assert {request["fault"] for request in told["requests"]} == {None}
    assert not note.exists()
    assert run(*rerun).stdout.startswith(f"samurai basic, seat 0 of 2, {level}: ./lucky in place of lucky\n")
    assert json.loads(run(*rerun, "--level", "trusted", "--json").stdout)["level"] == "trusted"
    assert note.read_text(), "where it is trusted it can"


def test_processes_that_are_kept_are_refused(run: Run, tmp_path: Path) -> None:
    done = run(*ARENA, "tournament", *BOTS, "--level", "isolated", "--keep-bots", code=2)
    assert "as level isolated demands, got: --keep-bots, with which a bot meets deals again" in done.stderr
    assert list(tmp_path.iterdir()) == []


# A level that is not given


@pytest.mark.quick(1)
@pytest.mark.parametrize("command", [("tournament", "--deals", "1"), ("match",), ("compare", "--max-deals", "1")])
def test_a_level_that_the_machine_cannot_give_is_refused_before_anything(
    run: Run, tmp_path: Path, crippled: tuple[str, ...], command: tuple[str, ...]
) -> None:
    done = run(*crippled, *ARENA, command[0], *BOTS, *command[1:], "--level", "isolated", code=3)
    assert "expected a machine that gives level isolated" in done.stderr
    assert "`arena doctor --level isolated` shows all of them" in done.stderr
    assert not (tmp_path / "logs").exists()
    if (tmp_path / "arena.db").exists():
        assert rows(tmp_path, "SELECT id FROM tournaments") == []


def test_a_check_at_a_level_that_the_machine_cannot_give_is_refused(run: Run, crippled: tuple[str, ...]) -> None:
    done = run(*crippled, *ARENA, "bot", "check", "random", "--level", "strict", code=3)
    assert "expected a machine that gives level strict" in done.stderr


@pytest.mark.long
def test_a_bot_is_not_asked_again_at_a_weaker_level_unless_told_to(
    run: Run, tmp_path: Path, crippled: tuple[str, ...], boxed: str
) -> None:
    run(*ARENA, "match", *BOTS, "--level", boxed)
    [log, *_] = sorted(tmp_path.rglob("*.jsonl"))
    rerun = (*crippled, *ARENA, "bot", "rerun", str(log), "greedy", "--seat", "1")
    refused = run(*rerun, code=3)
    assert f"expected a machine that gives level {boxed}" in refused.stderr
    assert f"the game was played at {boxed}, and --level chooses another" in refused.stderr
    assert refused.stdout == ""
    assert run(*rerun, "--level", "trusted").stdout.startswith("samurai basic, seat 1 of 2: greedy in place of")


@pytest.mark.long(1)
def test_a_tournament_does_not_go_on_at_a_weaker_level(
    run: Run, tmp_path: Path, crippled: tuple[str, ...], boxed: str
) -> None:
    words = (*ARENA, "tournament", *BOTS, "--deals", "1", "--level", boxed)
    run(*words, "--commit")
    before = rows(tmp_path, "SELECT id, status, rated FROM tournaments")
    run(*crippled, *words, code=3)
    assert rows(tmp_path, "SELECT id, status, rated FROM tournaments") == before
    assert rows(tmp_path, "SELECT id FROM games WHERE status <> 'planned'") == []
    run(*words)
    assert rows(tmp_path, "SELECT DISTINCT level, count(*) FROM v_games") == [(boxed, 2)]


# The doctor


def test_the_doctor_tells_scripts_of_every_level(run: Run) -> None:
    document = json.loads(run(*ARENA, "doctor", "--json").stdout)
    assert list(document) == ["levels", "probes", "cores"]
    assert list(document["levels"]) == ["trusted", "fenced", "isolated", "strict"]
    assert document["levels"]["trusted"] == {"ok": True, "missing": []}
    for name, given in document["levels"].items():
        assert given == {"ok": not level_in_force(Level(name)), "missing": list(level_in_force(Level(name)))}
    for probe in document["probes"]:
        assert set(probe) == {"name", "ok", "detail", "remedy"}
        assert probe["ok"] or probe["remedy"]


def test_the_doctor_exits_with_3_if_the_level_is_not_given_and_names_the_remedy(
    run: Run, crippled: tuple[str, ...]
) -> None:
    done = run(*crippled, *ARENA, "doctor", "--level", "isolated", code=3)
    assert "FAILED bwrap" in done.stdout
    assert "apt install bubblewrap" in done.stdout
    assert "isolated: no, for the lack of bwrap, " in done.stdout
    document = json.loads(run(*crippled, *ARENA, "doctor", "--json").stdout)
    assert document["levels"]["trusted"]["ok"]
    assert not document["levels"]["isolated"]["ok"]


def test_the_doctor_says_what_to_do_where_user_namespaces_are_closed(run: Run) -> None:
    """They are, in a user namespace of the test's own."""
    shut = ("unshare", "-Ur", "--", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh")
    if not shutil.which("unshare") or subprocess.run([*shut, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not have a user namespace of its own")
    if level_in_force(Level.ISOLATED):
        pytest.skip("this machine does not give level isolated")
    done = run(*shut, *ARENA, "doctor", "--level", "isolated", code=3)
    assert "FAILED seat" in done.stdout
    assert "remedy: sysctl user.max_user_namespaces=10000" in done.stdout


def test_the_doctor_starts_bots_and_exits_with_3_if_one_does_not(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ronin").mkdir(mode=0o755)
    (tmp_path / "ronin" / "bot.toml").write_text('name = "ronin"\ncommand = ["{python}", "-c", "import katana"]\n')
    run(*ARENA, "doctor", "--level", "trusted", "random")
    done = run(*ARENA, "doctor", "--level", "trusted", "random", "ronin", code=3)
    assert "ok     bot random at trusted  connected after" in done.stdout
    assert "FAILED bot ronin at trusted   it exited with status 1" in done.stdout
    assert "No module named 'katana'" in done.stdout


# What else is told


@pytest.mark.long
def test_the_operator_is_warned_of_too_many_games_at_a_time(run: Run) -> None:
    cores = available_cores()
    words = (*ARENA, "tournament", *BOTS, "--deals", "1", "--commit")
    assert "Warning" not in run(*words).stderr
    done = run(*words, "--concurrency", str(cores + 1), "--force-concurrency")
    assert f"Warning: {cores + 1} games at a time on {cores} core" in done.stderr
    assert f"use --concurrency {cores}, or --on-overload void" in done.stderr


@pytest.mark.long
def test_a_budget_of_cpu_time_is_told_to_the_bots_and_stands_in_the_log(run: Run, tmp_path: Path) -> None:
    done = run(*ARENA, "match", *BOTS, "--cpu", "20s", "--verbose")
    starts = [line for line in done.stderr.splitlines() if '"type":"game_start"' in line]
    assert len(starts) == 4
    assert all('"cpu_ms":20000' in line for line in starts)
    assert {header["settings"]["time"]["cpu_ms"] for header in headers(tmp_path)} == {20_000}
    run(*ARENA, "verify", "logs")


@pytest.mark.long
def test_settings_of_overload_and_cpu_are_repeated_by_the_command_that_goes_on(run: Run) -> None:
    words = (*ARENA, "tournament", *BOTS, "--deals", "1", "--on-overload", "void", "--cpu", "1m30s")
    run(*words, "--commit")
    shown = run(*ARENA, "tournaments", "show", "latest").stdout
    assert "--cpu 90s" in shown
    assert "--on-overload void" in shown
    assert "Continuing tournament" in run(*words).stderr


@pytest.mark.long
def test_a_bot_that_would_see_the_database_is_refused_before_anything_is_stored(
    run: Run, level: str, tmp_path: Path
) -> None:
    """A command line is a bot that sees the folder it is given in."""
    (tmp_path / "bot.py").write_text("")
    told = run(*ARENA, "tournament", "cmd:{python} bot.py", "random", "--deals", "1", "--level", level, code=2).stderr
    assert "expected a bot that sees only its own files, got: one that would see arena.db" in told
    assert "move one of them to another folder" in told
    assert not list(tmp_path.glob("logs/*"))
    told = run(*ARENA, "match", "cmd:{python} bot.py", "random", "--level", level, code=2).stderr
    assert "got: one that would see logs" in told
