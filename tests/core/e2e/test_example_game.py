"""Kuhn poker, installed beside `arena` as a stranger would: listed, checked, played, replayed, verified."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.record.log import ActionRecord, read_log
from tests import forking
from tests.forking import ARENA, ROOT

EXAMPLE = ROOT / "examples" / "kuhn_poker"

Arena = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the example is installed."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--no-build-isolation", "--no-index", "--target", str(folder), str(EXAMPLE)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def arena(installed: Path, folder: Path) -> Arena:
    """Runs a command with the example beside arena; it must end with 0."""
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "COLUMNS")}
    path = os.pathsep.join([str(installed), str(ROOT)])

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = forking.run([*ARENA, *words], cwd=folder, env={**environment, "PYTHONPATH": path, "NO_COLOR": "1"})
        assert done.returncode == 0, f"arena {' '.join(words)}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="module")
def logs(arena: Arena) -> list[Path]:
    """The logs of a tournament of the game."""
    done = arena("tournament", "random", "random", "--rules", "kuhn_poker", "--deals", "3", "--json")
    document = json.loads(done.stdout)
    assert document["games"] == 6
    assert all(row["forfeits"] == 0 for row in document["standings"])
    return sorted(Path(document["logs"]).rglob("*.jsonl"))


def test_the_package_holds_nothing_but_the_game_and_its_judge(installed: Path) -> None:
    assert {path.name for path in installed.iterdir() if path.suffix == ".py"} == {"kuhn_poker.py", "kuhn_judge.py"}


def test_not_one_line_of_it_is_in_arena() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "arena").rglob("*.py")]
    assert not [source for source in sources if re.search(r"\bkuhn", source, re.IGNORECASE)]


@pytest.mark.long
def test_its_own_tests_pass(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly",
               "-c", os.devnull, "--rootdir", str(EXAMPLE), str(EXAMPLE)]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLE), str(ROOT)])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_it_is_listed_and_shown(arena: Arena) -> None:
    listed = json.loads(arena("rules", "list", "--json").stdout)
    assert {row["rules"]: row["players"] for row in listed["rules"]}["kuhn_poker"] == [2]
    assert "2 players, without a board" in arena("rules", "show", "kuhn_poker").stdout


def test_it_keeps_the_laws(arena: Arena) -> None:
    assert arena("rules", "check", "kuhn_poker").stdout.startswith("standard, 2 players: ok, 10 games")


@pytest.mark.long
def test_a_tournament_of_it_can_be_verified(arena: Arena, logs: list[Path]) -> None:
    assert len(logs) == 6
    arena("verify", *map(str, logs))


def test_a_game_of_it_can_be_replayed(arena: Arena, logs: list[Path]) -> None:
    everything = arena("replay", str(logs[0])).stdout
    assert "dealt: card " in everything
    assert "moved: " in everything
    assert re.search(
        r"The game is over: 1\. . random\S* \(seat [01]\) [12] points?, 2\. . random\S* \(seat [01]\) -[12] points?",
        " ".join(everything.split()),
    )
    assert re.search(r"^\* card +[JQK]", everything, re.MULTILINE)


@pytest.mark.long
def test_a_replay_for_a_seat_shows_no_other_card_before_the_showdown(arena: Arena, logs: list[Path]) -> None:
    for log in logs:
        shown = arena("replay", str(log), "--seat", "0").stdout
        before = shown.split("shown: cards")[0]
        assert len(set(re.findall(r"dealt: card ([JQK])", before))) == 1


@pytest.mark.wing("pages")
def test_a_page_of_it_is_the_plain_one(arena: Arena, logs: list[Path], folder: Path) -> None:
    arena("replay", str(logs[0]), "--html", "game.html")
    page = (folder / "game.html").read_text(encoding="utf-8")
    found = re.search(r'id="arena-data">(.*?)</script>', page)
    assert found
    data = json.loads(found[1])
    assert list(data["labels"]) == ["seat", "card", "moves", "shown"]
    assert data["facts"][0] == "Kuhn poker"
    assert data["size"] == [0, 0]


def test_a_match_of_it_has_scores(arena: Arena) -> None:
    match = ("match", "random", "random", "--rules", "kuhn_poker", "--seed", "chips")
    games = json.loads(arena(*match, "--json").stdout)["games"]
    assert len(games) == 2
    for game, told in zip(games, arena(*match).stdout.splitlines(), strict=False):
        assert game["scores"] in ([1, -1], [-1, 1], [2, -2], [-2, 2])
        winner = game["scores"].index(max(game["scores"]))
        assert game["ranks"] == [2 - (seat == winner) for seat in (0, 1)]
        assert re.match(rf"1\. \S+ \(seat {winner}\) {max(game['scores'])} points?, 2\. ", told)


@pytest.mark.long
def test_standings_of_it_have_scores(arena: Arena, logs: list[Path]) -> None:
    assert logs
    rows = json.loads(arena("standings", "--rules", "kuhn_poker", "--json").stdout)["standings"]
    assert sum(row["mean_score"] for row in rows) == 0
    assert "  score  " in arena("standings", "--rules", "kuhn_poker", "-v").stdout.splitlines()[3]


COWARD = """
import sys
sys.path.insert(0, {clients!r})
from arena_bot import Bot, run

class Coward(Bot):
    name = "coward"

    def decide(self, request):
        return {{"plays": [{{"move": "fold" if "bet" in request["view"]["moves"] else "check"}}]}}

run(Coward())
"""


@pytest.mark.wing("learn")
def test_who_folds_a_king_is_told_so(arena: Arena, folder: Path) -> None:
    """The judge comes from the package: an equilibrium, and what the others would hold if they played it."""
    bot = folder / "coward"
    bot.mkdir()
    manifest = 'name = "coward"\nversion = "1"\nlanguage = "python"\ncommand = ["{python}", "bot.py"]\n'
    (bot / "bot.toml").write_text(manifest, encoding="utf-8")
    (bot / "bot.py").write_text(COWARD.format(clients=str(ROOT / "bots" / "python")), encoding="utf-8")
    arena(
        "tournament", "./coward", "random", "--rules", "kuhn_poker", "--deals", "20", "--seed", "kings",
        "--db", "k.db",
    )  # fmt: skip
    for found in json.loads(arena("games", "--bot", "coward", "--lost", "--db", "k.db", "--json").stdout)["games"]:
        log = read_log(Path(found["log"]))
        seat = next(at for at, bot in enumerate(log.header.bots) if bot.name == "coward")
        dealt = [event.data.get("card") for record in log.records for event in getattr(record, "events", ())
                 if event.to == (seat,)]  # fmt: skip
        folds = [line for line, record in enumerate(log.records, start=2)
                 if isinstance(record, ActionRecord) and record.action == {"plays": [{"move": "fold"}]}]  # fmt: skip
        if dealt == ["K"] and folds:
            break
    analysed = json.loads(arena("analyse", found["log"], "--seat", str(seat), "--json").stdout)
    assert (analysed["judge"], analysed["unit"]) == ("equilibrium", "chips")
    assert analysed["marks"] == folds
    [marked] = [one for one in analysed["decisions"] if one["line"] in folds]
    assert marked["other"] == {"plays": [{"move": "call"}]}
    assert (marked["cost"], marked["chance_before"], marked["chance_after"]) == (6.0, 1.0, 0.0)
    told = arena("analyse", found["log"], "--seat", str(seat)).stdout
    assert "cost a lead of 6.0 chips (95 %: 6.0 to 6.0); chance to be first 100 % → 0 %" in " ".join(told.split())


@pytest.mark.wing("author")
def test_every_other_command_shows_it(arena: Arena, logs: list[Path]) -> None:
    words = ("--seat", "0", "--json")
    requests = json.loads(arena("bot", "rerun", str(logs[0]), "random", *words).stdout)["requests"]
    assert {request["kind"] for request in requests} == {"bet"}
    assert all(request["same"] for request in requests)
    listed = [row for row in json.loads(arena("bot", "list", "--json").stdout)["bots"] if row["bot"] == "random"]
    assert listed[0]["rules"] == [], "random plays any game"


@pytest.mark.long
def test_a_bot_that_plays_any_game_is_checked_in_it_too(arena: Arena) -> None:
    report = arena("bot", "check", "random").stdout
    assert report.startswith("random 1.0: gardener, samurai, kuhn_poker\n")
    assert re.search(r"^  ok  .* decides 'bet' by the rules$", report, re.MULTILINE)
    assert "random reaches level full" in report


@pytest.mark.long
def test_a_template_of_a_bot_plays_it(arena: Arena) -> None:
    arena("bot", "new", "novice")
    document = json.loads(arena("match", "novice", "random", "--rules", "kuhn_poker", "--json").stdout)
    assert {game["termination"] for game in document["games"]} == {"finished"}


def on_terminal(installed: Path, folder: Path, keys: list[tuple[str, bytes]], *words: str) -> str:
    """Runs a command on a terminal, types each key until the text beside it is shown, and returns what was shown."""
    ours, theirs = pty.openpty()
    path = os.pathsep.join([str(installed), str(ROOT)])
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    shown = ""
    with subprocess.Popen(
        [sys.executable, "-m", "arena", *words],
        cwd=folder, env={**environment, "PYTHONPATH": path, "TERM": "xterm"},
        stdin=theirs, stdout=theirs, stderr=theirs,
    ) as running:  # fmt: skip
        os.close(theirs)
        while True:
            if not select.select([ours], [], [], 0.1)[0]:
                for wanted, key in keys:
                    if wanted not in shown:
                        os.write(ours, key)
                        break
                continue
            try:
                shown += os.read(ours, 65_536).decode(errors="replace")
            except OSError:  # nobody holds the other end any more
                break
    os.close(ours)
    assert running.returncode == 0, shown
    return shown


@pytest.mark.long
def test_a_match_of_it_on_a_terminal(installed: Path, folder: Path) -> None:
    shown = on_terminal(installed, folder, [], "match", "random", "random", "--rules", "kuhn_poker")
    assert " live " in shown, "it is shown while they play"
    assert "2 games: random won " in shown


def test_a_replay_of_it_on_a_terminal(installed: Path, folder: Path, logs: list[Path]) -> None:
    keys = [("2/", b"\x1b[C"), ("The game is over", b"\x1b[F"), ("it never shows this", b"q")]
    shown = on_terminal(installed, folder, keys, "replay", str(logs[0]))
    assert "dealt: card " in shown
    assert "The game is over: 1. " in shown
