"""An author who leaves: a pseudonym is shown, the record stays as it was, and what is kept is theirs before that."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from arena.cli import cli
from arena.core.standings.examined import examine
from arena.core.store.store import open_reader
from arena.core.types import Payload
from arena.league.checking.audit import SeasonAuditor, logs_of
from arena.league.folder import Folder
from arena.league.matches.starts import Starts
from arena.league.public import documents
from arena.league.public.publishing import Publishing, remove_left
from arena.league.service.inbox import Inbox, give, new_order
from arena.league.service.orders import obey
from arena.league.settings import Limits, load
from arena.league.store import LeagueStore, league_of, open_league, read_league
from arena.league.store.states import Actor, State
from arena.league.submissions.submitting import Allowance
from tests import league_kit, season_kit


def order(store: LeagueStore, league: Folder, verb: str, giver: str | None = None, /, **arguments: Any) -> Payload:
    return obey(store, league, load(league), replace(new_order(verb, arguments), author=giver))


def faults(league: Folder, tournament: str) -> tuple[object, ...]:
    """What an auditor finds wrong with a season, by its files and the database."""
    with open_reader(league.database) as reader:
        place = league.published / "seasons" / tournament
        auditor = SeasonAuditor(place, None, league_of(reader))
        for log in logs_of(place):
            auditor.add(examine(str(log), str(place)))
        return auditor.result(complete=True).faults


def shown(league: Folder) -> bytes:
    """All that is published, with all that commands tell."""
    with read_league(league.database) as reader:
        told = [documents.status(reader, load(league), league), documents.standings(reader)]
        told += [season.standings or {} for season in reader.seasons.all()]
        told += [msgspec.to_builtins(version) for version in reader.versions.all()]
    files = [path for path in league.published.rglob("*") if path.is_file()]
    return msgspec.json.encode(told) + b"".join(str(path).encode() + path.read_bytes() for path in files)


@pytest.fixture
def league(tmp_path: Path) -> Folder:
    """One in which Zoe and bert have played a season that is closed."""
    league = season_kit.cup(tmp_path)
    with open_league(league.database) as store:
        for author in ("Zoe", "bert"):
            store.authors.add(author)
            store.authors.add_key(author, author[0] * 40, f"{author}.hash")
        manifest = {"name": "fox", "author": "Zoe Z.", "display_name": "Zoe's"}
        fox = store.versions.receive("Zoe", "fox", "f" * 64, manifest, 1, league_kit.AT).version
        fox, owl = league_kit.play_on(store, fox), league_kit.active(store, "owl", author="bert")
        season_kit.match(store, league, fox, owl)
        season_kit.publish(store, league)
    season_kit.close(league)
    return league


def test_the_name_goes_and_the_record_stays_even_while_a_game_runs(league: Folder) -> None:
    left: list[Payload] = []
    record = (league.published / "seasons/cup-1/rounds-0.jsonl").read_bytes()
    assert (b"Zoe" in record, b'"author":"(author 3)"' in record) == (False, True)
    with open_league(league.database) as store:
        publishing = Publishing(store, league, load(league), league_kit.season(store), print)
        publishing.publish()
        assert b"Zoe's" in shown(league)
        assert (league.published / "authors/Zoe").is_dir()
        store.set_control("taken_back", [{"season": "second", "what": "all bots of Zoe", "matches": 1, "reason": "x"}])
        order(store, league, "match", "Zoe", bot="fox", against="owl")

        def leave() -> None:
            left.append(order(store, league, "author_remove", "Zoe", name="zoe"))

        season_kit.match(store, league, store.versions.named("fox"), store.versions.named("owl"), begun=leave)
        remove_left(store, league)
        publishing.publish()
        assert (store.controls.requests, store.controls.taken_back[0].what) == ([], "all bots of (author 3)")
        assert [key.public_key for key in store.authors.keys_of() if key.revoked is None] == ["b" * 40]
        for late in (Allowance(store, league.bots, Limits()).limit, Starts(store, Limits()).left):
            assert late("Zoe") >= 0, "what began before still asks of them by that name"
    assert left[0] == {"author": "(author 3)", "retired": ["fox/1"]}
    season_kit.close(league, "season-2")
    assert b"Zoe" not in shown(league)
    assert (league.published / "seasons/cup-1/rounds-0.jsonl").read_bytes() == record
    assert faults(league, "cup-1") == faults(league, "cup-2") == ()


def test_nobody_else_goes_and_who_gets_the_name_next_is_somebody_else(league: Folder) -> None:
    with open_league(league.database) as store:
        for author, name in (("bert", "Zoe"), ("bert", "(author 3)"), (None, "house"), (None, "../x"), ("bert", "")):
            assert "code" in order(store, league, "author_remove", author, name=name), name
        replays = league.site / "cup-1/replays-1/000"
        replays.mkdir(parents=True)
        for number in (1, 9):
            (replays / f"00000{number}.js").write_text("with Zoe's")
        leaves, inbox = new_order("author_remove", {"name": "Zoe"}), Inbox(store, league, load(league), print)
        inbox.leaving = lambda: (replays / "000001.js").write_text("made meanwhile")
        (league.inbox / f"{leaves.id}.json").write_bytes(msgspec.json.encode(leaves))
        inbox.look()
        assert b'"author":"(author 3)"' in league.answer(leaves.id).read_bytes()
    assert [path.name for path in replays.iterdir()] == ["000009.js"]
    with open_league(league.database) as store:
        assert "code" in order(store, league, "author_remove", name="(author 3)")
    (league.published / "own/Zoe").mkdir()
    (league.published / "own/Zoe/cup-1-000000.jsonl.zst").write_bytes(b"what a kill left")
    assert give(league, load(league), new_order("author_add", {"name": "Zoe"})) == {"author": "Zoe"}
    assert not (league.published / "own/Zoe").exists()
    with read_league(league.database) as reader:
        assert not reader.versions.of_author("Zoe")
        assert not reader.notices.of("Zoe")
        assert reader.versions.named("fox").author == "(author 3)"


def test_what_is_kept_is_handed_to_them(league: Folder, tmp_path: Path) -> None:
    run = ["league", "export-author", "Zoe", "--league", str(league.path), "--out", str(tmp_path / "out")]
    with open_league(league.database) as store:
        season_kit.publish(store, league)
        league.archive("f" * 64).write_bytes(b"archive")
    result = CliRunner().invoke(cli, run)
    assert result.exit_code == 0, result.output
    with zipfile.ZipFile(result.stdout.strip()) as file:
        assert {"authors/status.json", "bots/fox-1.tar.zst"} <= {*file.namelist()}
        known = msgspec.json.decode(file.read("authors/status.json"))
    assert known["kept"]["tokens"][0]["label"] == "Zoe.hash"
    assert "bert" not in str(known)


def test_a_bot_is_handed_over_to_who_takes_it_and_renamed_by_its_author(league: Folder) -> None:
    with open_league(league.database) as store:
        store.authors.add("eve")

        def hand(giver: str | None, bot: str, to: str) -> Payload:
            return order(store, league, "bot_author", giver, bot=bot, author=to)

        publishing = Publishing(store, league, load(league), league_kit.season(store), print)
        season_kit.match(store, league, store.versions.named("fox"), store.versions.named("owl"))
        publishing.publish()
        for giver, bot, to in (
            ("eve", "fox", "eve"),
            ("eve", "owl", "Zoe"),
            ("Zoe", "random", "Zoe"),
            ("Zoe", "fox/1", "eve"),
        ):
            assert "code" in hand(giver, bot, to), (giver, bot, to)
        hand("Zoe", "fox", "newt")
        order(store, league, "author_add", name="newt")
        assert "code" in hand("newt", "fox", "newt"), "it was offered to whoever had that name before"
        assert hand("Zoe", "fox", "EVE")["offered"] == hand("Zoe", "fox", "eve")["offered"] == "eve"
        assert "code" in hand("bert", "fox", "bert"), "it was offered to another one"
        assert hand("Zoe", "fox", "Zoe")["offered"] == ""
        assert "code" in hand("eve", "fox", "eve"), "it is not offered any more"
        hand("Zoe", "fox", "eve")
        assert "Zoe" not in str(store.notices.of("eve")), "it would stay there when she leaves"
        assert hand("eve", "fox", "eve") == {"author": "eve", "offered": ""}
        assert "code" in hand("Zoe", "fox", "Zoe"), "it was hers"
        assert b"Zoe Z." not in shown(league), "when she leaves nobody would find it"
        publishing.publish()
        pages = {who: len(documents.games(store, author=who)) for who in ("Zoe", "eve")}
        assert pages == {"Zoe": 0, "eve": 2}
        assert b"fox" in (league.published / "authors/eve/games-200000.json").read_bytes()
        assert (league.published / "authors/Zoe/games-200000.json").read_bytes() == b'{"games":[]}'
        for name in ("\u202eabc", "x" * 33, " x", "\n"):
            assert order(store, league, "bot_display", "eve", bot="fox", display_name=name)["code"] == "argument"
        assert "code" in order(store, league, "bot_display", "Zoe", bot="fox", display_name="mine")
        assert order(store, league, "bot_display", "eve", bot="fox", display_name="狐")["display_name"] == "狐"
        next_one = league_kit.play_on(store, league_kit.submit(store, "fox", "2", author="eve"), State.QUALIFYING)
        store.versions.change(next_one.id, State.ACTIVE, Actor.SERVICE, "a test", spec={"name": "fox"})
        assert ("fox/2", "狐") in [(one["name"], one["display_name"]) for one in documents.standings(store)["items"]]
        league_kit.submit(store, "newt", author="eve")
        assert order(store, league, "bot_display", "eve", bot="newt", display_name="x")["code"] == "state"
        season_kit.publish(store, league)
        hand("eve", "fox", "bert")
        order(store, league, "author_remove", "eve", name="eve")
        assert "code" in hand("bert", "fox", "bert"), "who offered it has left"
    season_kit.close(league, "season-2")
    assert faults(league, "cup-2") == ()
