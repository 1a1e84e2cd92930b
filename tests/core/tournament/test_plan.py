"""Beginning, finding again, closing."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from arena.core.errors import ConfigError, StoreError
from arena.core.link.bots import BotSpec
from arena.core.referee.beacon import named
from arena.core.referee.chance import NO_MIX, mix
from arena.core.standings.closing import close
from arena.core.store.store import Store
from arena.core.tournament.formats.base import Planning
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.plan import as_begun, begin, fix_chance
from arena.core.tournament.settings import enter, mix_of
from tests import instant

SETTINGS = instant.settings()


def test_the_same_settings_continue_the_unfinished_tournament(store: Store, tmp_path: Path) -> None:
    first = instant.start(store, SETTINGS, tmp_path / "logs")
    again = instant.start(store, SETTINGS, tmp_path / "logs")
    assert (first.resumed, again.resumed) == (False, True)
    assert again.tournament == first.tournament


def test_a_project_that_was_moved_goes_on_with_the_logs_beside_it(store: Store, tmp_path: Path) -> None:
    before, after, copy = tmp_path / "before", tmp_path / "after", tmp_path / "copy"
    first = instant.start(store, SETTINGS, before).tournament
    list(itertools.islice(instant.runner(store, instant.start(store, SETTINGS, before), SETTINGS).run(), 3))
    logs = store.logs(first.id)
    before.rename(after)
    with pytest.raises(ConfigError, match=r"got: none, and none in .*before.*, where they were; move that folder here"):
        instant.start(store, SETTINGS, tmp_path / "elsewhere")
    other = tmp_path / "other" / first.id
    other.mkdir(parents=True)
    committed = (after / first.id / "commitment.json").read_text()
    (other / "commitment.json").write_text(committed.replace(first.commitment, "0" * 64))
    with pytest.raises(ConfigError, match="got: those of another one"):
        instant.start(store, SETTINGS, other.parent)
    assert instant.start(store, SETTINGS, after).tournament.logs == str(after / first.id)
    shutil.copytree(after, copy)
    (copy / first.id / logs[0]).unlink()
    with pytest.raises(ConfigError, match=r"to stay in .*after, got: .*copy; give that folder with --logs"):
        instant.start(store, SETTINGS, copy)
    shutil.copy(after / first.id / logs[0], copy / first.id)
    begun = instant.start(store, SETTINGS, copy)
    assert (begun.tournament.logs, begun.gone, begun.resumed) == (str(copy / first.id), (), True)


@pytest.mark.parametrize(("players", "deals", "planning"), [(3, 2, 1), (3, 2, 2), (2, 6, 1), (3, 6, 2)])
def test_a_tournament_that_was_planned_as_before_goes_on_so(
    store: Store, tmp_path: Path, players: int, deals: int, planning: Planning
) -> None:
    now = instant.settings(players=players, deals=deals)
    before = instant.settings(players=players, format=RoundRobin(deals=deals, planning=planning))
    assert as_begun(store, now) == now
    first = instant.start(store, before, tmp_path / "logs")
    again = instant.start(store, as_begun(store, now), tmp_path / "logs")
    assert (again.resumed, again.tournament) == (True, first.tournament)
    instant.start(store, now, tmp_path / "logs")
    assert as_begun(store, now) == now, "what is begun anew comes first"
    assert as_begun(store, SETTINGS) == SETTINGS


@pytest.mark.parametrize(
    "other",
    [
        instant.settings(seed="autumn"),
        instant.settings(seed=None),
        instant.settings(deals=3),
        instant.settings(players=3),
        instant.settings(("ann", "bob", "dan")),
        instant.settings(("bob", "ann", "cid")),
        msgspec.structs.replace(SETTINGS, processes="game"),
    ],
)
def test_other_settings_begin_another(store: Store, tmp_path: Path, other: object) -> None:
    assert isinstance(other, instant.Settings)
    first = instant.start(store, SETTINGS, tmp_path)
    second = instant.start(store, other, tmp_path)
    assert not second.resumed
    assert second.tournament.id != first.tournament.id
    assert instant.start(store, SETTINGS, tmp_path).tournament == first.tournament


def test_what_another_version_committed_to_is_not_continued_in_another_order(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    file = Path(begun.tournament.logs) / "commitment.json"
    told = json.loads(file.read_text())
    before = json.dumps(told | {"schedule_sha256": "0" * 64})
    file.write_text(before)
    with pytest.raises(ConfigError, match=f"expected the schedule that tournament {begun.tournament.id} was committed"):
        instant.start(store, SETTINGS, tmp_path)
    assert file.read_text() == before, "what was published was replaced"
    file.unlink()
    assert instant.start(store, SETTINGS, tmp_path).resumed, "killed before it was published"


def test_new_always_begins_another_and_the_latest_is_continued(store: Store, tmp_path: Path) -> None:
    instant.start(store, SETTINGS, tmp_path)
    second = instant.start(store, SETTINGS, tmp_path, new=True)
    assert not second.resumed
    assert instant.start(store, SETTINGS, tmp_path).tournament == second.tournament


def test_a_seed_makes_the_secret_and_nothing_else_does(store: Store, tmp_path: Path) -> None:
    unseeded = instant.settings(seed=None)
    secrets = [
        instant.start(store, setting, tmp_path, new=True).tournament.secret for setting in [SETTINGS, unseeded] * 2
    ]
    assert secrets[0] == secrets[2]
    assert len(set(secrets)) == 3


def test_the_secret_is_revealed_when_all_is_done(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    file = Path(begun.tournament.logs) / "secret.json"
    list(instant.runner(store, begun, SETTINGS).run())
    assert not file.exists()
    close(store, begun.tournament)
    told = json.loads(file.read_text())
    assert told["tournament"] == begun.tournament.id
    assert (
        hashlib.sha256(bytes.fromhex(told["secret"])).hexdigest() == told["commitment"] == begun.tournament.commitment
    )
    assert store.tournament().status == "finished"
    assert not instant.start(store, SETTINGS, tmp_path).resumed
    assert not list(file.parent.glob(".*")), "a draft was left"


def test_the_commitment_is_published_before_anything_is_played(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    told = json.loads((Path(begun.tournament.logs) / "commitment.json").read_text())
    assert told["commitment"] == hashlib.sha256(begun.tournament.secret).hexdigest() == begun.tournament.commitment
    assert (told["tournament"], told["deals"], told["games"]) == (begun.tournament.id, 2, 12)
    assert [bot["name"] for bot in told["bots"]] == ["ann", "bob", "cid"]
    assert SETTINGS.seed is not None
    assert SETTINGS.seed not in json.dumps(told)
    assert told["seeded"] is True
    for part in ("settings", "schedule"):
        text = json.dumps(told[part], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert told[f"{part}_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def contributing(tmp_path: Path, name: str, entropy: str) -> BotSpec:
    """A bot that says hello with some entropy, and waits."""
    program = tmp_path / f"{name}.py"
    program.write_text(
        "import os, msgpack, zmq\n"
        "socket = zmq.Context().socket(zmq.DEALER)\n"
        "socket.connect(os.environ['ARENA_ENDPOINT'])\n"
        "hello = {'type': 'hello', 'token': os.environ['ARENA_TOKEN'], 'protocol': '1.0'}\n"
        f"hello['entropy'] = {entropy!r}\n"
        "socket.send(msgpack.packb(hello))\n"
        "socket.recv()\n"
        "socket.recv()\n"
    )
    command = (sys.executable, str(program))
    return BotSpec(name=name, version="", command=command, folder=str(tmp_path), digest="0" * 64, entropy=True)


def test_bots_contribute_before_the_first_game_and_once(store: Store, tmp_path: Path) -> None:
    first, second = "0a" * 32, "ff" * 32
    specs = [contributing(tmp_path, "ann", first), instant.spec("bob"), contributing(tmp_path, "cid", second)]
    setting = msgspec.structs.replace(SETTINGS, bots=enter(specs))
    begun = begin(store, setting, specs, tmp_path)
    with pytest.raises(ConfigError, match="expected no value of a beacon"):
        fix_chance(store, begun.tournament, specs, "seven")
    fixed = fix_chance(store, begun.tournament, specs)
    assert fixed.entropy == (first, None, second)
    told = json.loads((Path(fixed.logs) / "contributions.json").read_text())
    assert (told["beacon"], told["entropy"]) == ("", [first, None, second])
    assert bytes.fromhex(told["mix"]) == mix_of(fixed) == mix("", [bytes.fromhex(first), bytes.fromhex(second)])
    again = fix_chance(store, begin(store, setting, specs, tmp_path).tournament, [instant.spec("x")] * 3)
    assert again == fixed


def test_the_value_of_a_beacon_comes_after_the_commitment_and_once(store: Store, tmp_path: Path) -> None:
    """And no bot is asked beside it: whoever contributed after the value was out could try many."""
    specs = [contributing(tmp_path, "ann", "0a" * 32), instant.spec("bob")]
    setting = msgspec.structs.replace(SETTINGS, bots=enter(specs), beacon="the hash of block 940000 of Bitcoin")
    begun = begin(store, setting, specs, tmp_path)
    committed = json.loads((Path(begun.tournament.logs) / "commitment.json").read_text())
    assert committed["settings"]["beacon"] == setting.beacon
    assert committed["created"] == begun.tournament.created
    with pytest.raises(ConfigError, match=r"expected the value of the hash of block 940000 of Bitcoin, got none"):
        fix_chance(store, begun.tournament, specs)
    with pytest.raises(ConfigError, match="as one line"):
        fix_chance(store, begun.tournament, specs, "")
    fixed = fix_chance(store, begun.tournament, specs, "36f1a0b")
    told = json.loads((Path(fixed.logs) / "contributions.json").read_text())
    assert (told["beacon"], told["entropy"]) == ("36f1a0b", [None, None])
    assert bytes.fromhex(told["mix"]) == mix_of(fixed) == mix("36f1a0b")
    assert fix_chance(store, fixed, specs) == fix_chance(store, fixed, specs, "36f1a0b") == fixed
    with pytest.raises(ConfigError, match=r"expected '36f1a0b', with which .* got: '36f1a0c'"):
        fix_chance(store, fixed, specs, "36f1a0c")


def test_a_round_that_is_out_begins_nothing(store: Store, tmp_path: Path) -> None:
    setting = msgspec.structs.replace(SETTINGS, beacon=named("quicknet:123"))
    with pytest.raises(ConfigError, match="expected a round that nobody knows yet"):
        instant.start(store, setting, tmp_path / "logs")
    assert not (tmp_path / "logs").exists()
    assert store.unfinished(setting.digest) is None


def test_a_bot_that_says_nothing_puts_nothing_in(store: Store, tmp_path: Path) -> None:
    broken = msgspec.structs.replace(instant.spec("ann"), entropy=True)  # `true` ends without a hello
    setting = instant.settings(("ann", "bob"))
    begun = begin(store, setting, [broken, instant.spec("bob")], tmp_path)
    fixed = fix_chance(store, begun.tournament, [broken, instant.spec("bob")])
    assert fixed.entropy == (None, None)
    assert mix_of(fixed) == NO_MIX
    assert not (Path(fixed.logs) / "contributions.json").exists()


def test_chance_is_fixed_once_a_game_is_claimed(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    next(instant.runner(store, begun, SETTINGS).run())
    with pytest.raises(StoreError, match="got: it is fixed"):
        store.contribute(begun.tournament.id, "late", (None, None, None))


def test_nothing_is_finished_before_all_is_done(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    with pytest.raises(StoreError):
        close(store, begun.tournament)
    assert store.tournament().status == "running"
    assert not (Path(begun.tournament.logs) / "secret.json").exists()


def test_logs_of_games_that_do_not_count_are_removed(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    games = instant.runner(store, begun, SETTINGS).run()
    counted = {next(games).result.log for _ in range(3)}
    games.close()
    folder = Path(begun.tournament.logs)
    (folder / "notes.txt").write_text("mine")
    dropped = {path.name for path in folder.glob("*.jsonl")} - counted
    assert dropped, "games were running"
    (folder / f".{min(dropped)}.tmp").write_text("half")
    instant.start(store, SETTINGS, tmp_path)
    noted = {name.replace("jsonl", "begun") for name in dropped}
    assert {path.name for path in folder.iterdir()} == counted | noted | {"notes.txt", "commitment.json"}


def test_finished_logs_that_are_gone_are_known_when_it_goes_on_and_their_results_stand(
    store: Store, tmp_path: Path
) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    assert begun.gone == ()
    played = [played for _, played in zip(range(4), instant.runner(store, begun, SETTINGS).run(), strict=False)]
    logs = sorted(game.result.log for game in played)
    for log in logs[1:3]:
        (Path(begun.tournament.logs) / log).unlink()
    again = instant.start(store, SETTINGS, tmp_path)
    assert (again.done, again.gone) == (4, tuple(logs[1:3]))
    shutil.rmtree(begun.tournament.logs)
    again = instant.start(store, SETTINGS, tmp_path)
    assert (again.done, again.gone) == (4, tuple(logs))
    assert len(list(instant.runner(store, again, SETTINGS).run())) == SETTINGS.schedule().total - 4


def test_a_resumed_tournament_keeps_its_folder_of_logs(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path / "here")
    with pytest.raises(ConfigError, match=f"expected the logs of unfinished tournament {begun.tournament.id} to stay"):
        instant.start(store, SETTINGS, tmp_path / "there")


def test_logs_that_cannot_be_written_are_refused_before_anything_starts(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="expected a folder for logs that can be written to, got: Not a directory"):
        instant.start(store, SETTINGS, tmp_path / "file")
    assert store.unfinished(SETTINGS.digest) is None


def test_entering_twice_makes_names_unique(store: Store, tmp_path: Path) -> None:
    setting = instant.settings(("ann", "ann", "bob", "ann"))
    begun = instant.start(store, setting, tmp_path)
    assert [entrant.name for entrant in store.entrants(begun.tournament.id)] == ["ann", "ann#2", "bob", "ann#3"]
    assert len({entrant.digest for entrant in store.entrants(begun.tournament.id)}) == 2
