"""Orders: obeyed once, by the service or by the command itself, whatever is killed in between."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.author import archives
from arena.core import files
from arena.core.errors import ConfigError, Refused, StoreError
from arena.core.types import Payload
from arena.league.folder import Folder
from arena.league.order_context import Order
from arena.league.season.closing import settings_now
from arena.league.season.opening import make_league
from arena.league.service.inbox import Inbox, give, new_order
from arena.league.service.orders import OF_AUTHORS, VERBS, obey
from arena.league.settings import Limits, Settings, load
from arena.league.store import LeagueStore, open_league, read_league
from arena.league.store.records import HOUSE
from arena.league.store.states import Actor, State
from tests.archive_kit import make

SETTINGS = Settings(name="cup")


def bot(folder: Path, name: str = "fox", text: str = "") -> bytes:
    """A bot's archive."""
    path = folder / f"{name}{text}"
    path.mkdir(exist_ok=True)
    (path / "bot.toml").write_text(f'name = "{name}"\ncommand = ["{{python}}", "bot.py"]\n')
    (path / "bot.py").write_text(f"# {text}\n")
    return archives.pack(path).data


def order(verb: str, *, author: str | None = None, id: str = "", **arguments: Any) -> Order:
    made = new_order(verb, arguments)
    return msgspec.structs.replace(made, author=author, id=id or made.id)


def submit(store: LeagueStore, folder: Folder, archive: bytes, settings: Settings = SETTINGS, **more: Any) -> Payload:
    path = folder.inbox / "test.tar.zst"
    path.write_bytes(archive)
    given = new_order("submit", {"author": "anna", **more})
    return obey(store, folder, settings, given, path)


def test_a_league_is_made_with_its_house_and_its_first_season(folder: Folder) -> None:
    with read_league(folder.database) as league:
        assert {version.name: version.author for version in league.versions.active()} == {
            "random/1": HOUSE,
            "greedy/1": HOUSE,
        }
        season = league.seasons.current()
        assert season is not None
        assert settings_now(league, folder) == load(folder) == SETTINGS
        entrants = league.finder.entrants(season.tournament)
        assert entrants[0].spec["command"], "it can be started from what is stored"
    with pytest.raises(ConfigError, match="expected a folder without a league"):
        make_league(folder.path, SETTINGS)


def test_a_league_that_was_not_made_to_the_end_is_made_by_the_same_command(folder: Folder) -> None:
    folder.settings.unlink()
    make_league(folder.path, SETTINGS)
    with read_league(folder.database) as league:
        assert len(league.seasons.all()) == 1
        assert len(league.versions.all()) == 2


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ConfigError, match="expected a new or an empty folder"):
        make_league(tmp_path, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_house_that_cannot_play_is_refused(tmp_path: Path) -> None:
    for house, message in ((("greedy",), "expected random among"), (("random", "gredy"), "did you mean 'greedy'")):
        bots = msgspec.structs.replace(SETTINGS.bots, house=house)
        with pytest.raises(ConfigError, match=message):
            make_league(tmp_path / "cup", msgspec.structs.replace(SETTINGS, bots=bots))


def test_a_submission_is_kept_and_becomes_a_version(store: LeagueStore, folder: Folder, tmp_path: Path) -> None:
    archive = bot(tmp_path)
    answer = submit(store, folder, archive)
    assert (answer["version"], answer["state"], answer["before"], answer["same"]) == ("fox/1", "received", 0, False)
    assert folder.archive(answer["digest"]).read_bytes() == archive
    version = store.versions.named("fox")
    assert (version.digest, version.size, version.level) == (answer["digest"], len(archive), "isolated")
    assert version.manifest["name"] == "fox"
    assert submit(store, folder, archive)["same"] is True
    assert submit(store, folder, bot(tmp_path, text="2"))["version"] == "fox/2"


def test_a_broken_archive_is_refused_with_its_rule_and_uses_no_number(
    store: LeagueStore, folder: Folder, tmp_path: Path
) -> None:
    answer = submit(store, folder, bot(tmp_path)[:-5])
    assert answer["code"] == "archive"
    assert "docs/archives.md" in answer["remedy"]
    assert store.versions.of_author("anna") == []
    [notice] = store.notices.of("anna")
    assert notice.kind == "refused"
    assert answer["message"] in notice.text
    assert list(folder.submissions.iterdir()) == []


def test_an_archive_is_no_version_of_a_bot_that_its_order_does_not_name(
    store: LeagueStore, folder: Folder, tmp_path: Path
) -> None:
    assert submit(store, folder, bot(tmp_path, "wolf"), bot="wolf")["version"] == "wolf/1"
    answer = submit(store, folder, bot(tmp_path, "wolf", "2"), bot="fox")
    assert answer["code"] == "archive"
    assert answer["message"] == "expected an archive of the bot 'fox', got: one whose manifest names 'wolf'"
    assert answer["remedy"] == "correct `name` in bot.toml, or submit it as wolf"
    assert [version.name for version in store.versions.of_author("anna")] == ["wolf/1"]


@pytest.mark.parametrize("limits", [{"bots": 1}, {"pending": 1}, {"submissions": 1}])
def test_a_quota_says_what_it_is_and_what_to_do(
    store: LeagueStore, folder: Folder, tmp_path: Path, limits: dict[str, int]
) -> None:
    settings = msgspec.structs.replace(SETTINGS, limits=Limits(**limits))
    assert "code" not in submit(store, folder, bot(tmp_path), settings)
    answer = submit(store, folder, bot(tmp_path, "owl"), settings)
    assert (answer["code"], answer["limit"]) == ("quota", 1)
    assert answer["remedy"]
    assert (answer["retry_after_s"] is not None) is ("submissions" in limits)
    assert "code" not in submit(store, folder, bot(tmp_path), settings), "what is there already costs nothing"
    store._db.execute('UPDATE authors SET quotas = \'{"bots":9,"pending":9,"submissions":9}\'')
    assert "code" not in submit(store, folder, bot(tmp_path, "owl"), settings)


def test_a_rejected_bot_takes_nobody_s_place(store: LeagueStore, folder: Folder, tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, limits=Limits(bots=1))
    submit(store, folder, bot(tmp_path), settings)
    store._db.execute("UPDATE versions SET state = 'rejected'")
    assert submit(store, folder, bot(tmp_path, "owl"), settings)["version"] == "owl/1"


RUNTIMES = "or with the name of a runtime ({python}, {python+arena}, "


@pytest.mark.parametrize(
    ("lines", "message", "remedy"),
    [
        ('command = ["python3", "bot.py"]', RUNTIMES, "[runtimes]"),
        ('command = ["sh"]\nneeds = ["curl"]', RUNTIMES, "[runtimes]"),
        # What the first line of a script names would be run with it.
        ('command = ["./run"]', "fox: expected a program that needs no other, got: ./run, a script",
         "name its runtime in `command`"),
    ],
)  # fmt: skip
def test_a_submission_that_calls_what_is_not_granted_is_refused_in_one_sentence(
    store: LeagueStore, folder: Folder, tmp_path: Path, lines: str, message: str, remedy: str
) -> None:
    make(tmp_path / "fox", {"bot.toml": f'name = "fox"\n{lines}\n', "run": "#!/opt/python3\n"}, ["run"])
    archive = archives.pack(tmp_path / "fox").data
    answer = submit(store, folder, archive)
    assert answer["code"] == "archive"
    assert message in answer["message"]
    assert remedy in answer["remedy"]
    assert list(folder.submissions.iterdir()) == []
    trusted = msgspec.structs.replace(SETTINGS, bots=msgspec.structs.replace(SETTINGS.bots, level="trusted"))
    assert submit(store, folder, archive, trusted)["version"] == "fox/1"


def test_how_large_an_archive_may_be_is_set_for_all_and_for_one(
    store: LeagueStore, folder: Folder, tmp_path: Path
) -> None:
    make(tmp_path / "fox", {"bot.toml": 'name = "fox"\ncommand = ["{python}", "bot.py"]\n', "bot.py": ""}, [])
    (tmp_path / "fox" / "weights").write_bytes(os.urandom(3 << 19))
    archive = archives.pack(tmp_path / "fox").data
    small = msgspec.structs.replace(SETTINGS, limits=msgspec.structs.replace(SETTINGS.limits, archive_mib=1))
    answer = submit(store, folder, archive, small)
    assert (answer["code"], answer["limit"]) == ("archive", 1 << 20)
    assert "expected an archive of at most 1,048,576 bytes, got: more" in answer["message"]
    assert answer["remedy"].startswith("the rule is 'packed' of docs/archives.md")
    assert not list(folder.submissions.iterdir())
    store.authors.add("berta", {"archive_mib": 2})
    answer = submit(store, folder, archive, small, author="berta")
    assert answer["version"] == "fox/1", "a quota of an author's own comes first"
    assert [path.read_bytes() == archive for path in folder.submissions.iterdir()] == [True]
    assert (
        obey(store, folder, small, order("author_add", name="carl", quotas={"archive_mib": 301}))["code"] == "argument"
    )


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            'command = ["./bot"]\nbuild = ["make"]',
            "fox: expected a bot that needs no build, because nothing can be built",
        ),
        (
            'command = ["{python+arena}", "-m", "arena", "bot", "bridge", "--", "perl", "bot.pl"]',
            "fox: expected a bot of one process, which is all that level fenced allows",
        ),
    ],
)
def test_a_league_at_level_fenced_refuses_in_one_sentence_what_cannot_play_there(
    store: LeagueStore, folder: Folder, tmp_path: Path, lines: str, expected: str
) -> None:
    (tmp_path / "fox").mkdir()
    (tmp_path / "fox" / "bot.toml").write_text(f'name = "fox"\n{lines}\n')
    archive = archives.pack(tmp_path / "fox").data
    fenced = msgspec.structs.replace(SETTINGS, bots=msgspec.structs.replace(SETTINGS.bots, level="fenced"))
    answer = submit(store, folder, archive, fenced)
    assert answer["code"] == "archive"
    assert answer["message"].startswith(expected)
    assert "level isolated" in answer["remedy"]
    assert list(folder.submissions.iterdir()) == []
    assert submit(store, folder, archive)["version"] == "fox/1", "elsewhere it may play"


def test_an_author_reaches_only_what_is_theirs(store: LeagueStore, folder: Folder, tmp_path: Path) -> None:
    store.authors.add("bert")
    submit(store, folder, bot(tmp_path))
    for verb in sorted(VERBS.keys() - OF_AUTHORS):
        answer = obey(store, folder, SETTINGS, order(verb, author="bert", version="fox", name="anna", workers=9))
        assert answer["code"] == "verb", verb
    assert obey(store, folder, SETTINGS, order("retire", author="bert", bot="fox"))["code"] == "unknown_version"
    stolen = submit(store, folder, bot(tmp_path, "fox", "3"), author="bert")
    assert stolen["code"] == "name_taken"
    assert store.versions.named("fox").state is State.RECEIVED
    for _ in "once", "and again, since the answer was lost":
        assert obey(store, folder, SETTINGS, order("retire", author="anna", bot="fox")) == {"retired": ["fox/1"]}


def test_the_author_of_an_order_is_whom_the_door_saw(store: LeagueStore, folder: Folder, tmp_path: Path) -> None:
    store.authors.add("bert")
    path = folder.incoming / "x.tar.zst"
    path.write_bytes(bot(tmp_path))
    given = msgspec.structs.replace(order("submit"), author="bert", arguments={"author": "anna"})
    obey(store, folder, SETTINGS, given, path)
    assert store.versions.named("fox").author == "bert"


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("suspend", {}),
        ("suspend", {"version": 3}),
        ("suspend", {"version": "x" * 2000}),
        ("concurrency", {"workers": -1}),
        ("concurrency", {"workers": "many"}),
        ("concurrency", {"workers": 5000}),
        ("author_add", {"name": "cora", "quotas": {"bot": 3}}),
        ("author_add", {"name": "cora", "quotas": {"bots": -3}}),
        ("replay_games", {"matches": []}),
        ("replay_games", {"matches": ["1"]}),
        ("submit", {"author": "anna"}),
        ("remote", {"author": "anna", "bot": "fox", "digest": "aa"}),
        ("dance", {}),
    ],
)
def test_an_order_that_makes_no_sense_is_an_answer(
    store: LeagueStore, folder: Folder, verb: str, arguments: Payload
) -> None:
    answer = obey(store, folder, SETTINGS, order(verb, **arguments))
    assert answer["code"] in ("argument", "archive", "verb", "not_accepted")
    assert answer["message"].startswith("expected ")


def test_the_operator_suspends_lifts_and_retires(store: LeagueStore, folder: Folder, tmp_path: Path) -> None:
    for text in ("1", "2"):
        submit(store, folder, bot(tmp_path, text=text))
        version = store.versions.named("fox")
        for step in (State.BUILDING, State.CHECKING, State.QUALIFYING, State.ACTIVE):
            store.versions.change(version.id, step, Actor.SERVICE, "")

    def do(verb: str, **arguments: str) -> Payload:
        return obey(store, folder, SETTINGS, order(verb, **arguments))

    assert do("suspend", version="fox", reason="it cheats") == {
        "version": "fox/2",
        "state": "suspended",
        "active": "fox/1",
    }
    assert "it cheats" in store.notices.of("anna")[1].text
    assert do("lift", version="fox") == {"version": "fox/2", "state": "active", "active": "fox/2"}
    assert do("retire", bot="fox/2") == {"retired": ["fox/2"]}
    assert do("suspend", version="random")["code"] == "house"
    assert do("retire", bot="random")["code"] == "house"
    assert do("author_remove", name=HOUSE)["code"] == "house"
    assert do("author_remove", name="anna") == {"author": "(author 3)", "retired": ["fox/1"]}
    assert do("pause") == {"paused": True}
    assert store.controls.paused is True
    assert do("resume") == {"paused": False}
    assert store.controls.paused is False


def test_concurrency_is_kept_until_it_is_set_anew(store: LeagueStore, folder: Folder) -> None:
    assert store.controls.workers is None
    obey(store, folder, SETTINGS, order("concurrency", workers=3))
    assert store.controls.workers == 3
    obey(store, folder, SETTINGS, order("concurrency", workers=0))
    assert store.controls.workers is None


def test_an_order_that_has_no_room_leaves_no_archive(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk takes the archive, and nothing more: nobody would ever have asked for it."""
    write = files.write

    def full(path: Path, data: bytes, **more: Any) -> None:
        if path.suffix == ".json":
            raise OSError(28, "No space left on device")
        write(path, data, **more)

    monkeypatch.setattr(files, "write", full)
    with pytest.raises(OSError, match="No space left"):
        give(folder, SETTINGS, order("submit", author="anna"), b"an archive")
    assert list(folder.inbox.iterdir()) == []


def test_a_command_obeys_its_order_itself_if_no_service_runs(folder: Folder) -> None:
    assert give(folder, SETTINGS, order("author_add", name="cora")) == {"author": "cora"}
    with pytest.raises(Refused, match="expected the name of a new author, got: 'cora'"):
        give(folder, SETTINGS, order("author_add", name="cora"))
    assert list(folder.inbox.iterdir()) == list(folder.answers.iterdir()) == []
    with read_league(folder.database) as league:
        assert league.authors.get("cora") is not None


def test_a_service_that_runs_obeys_and_answers(folder: Folder) -> None:
    done = threading.Event()

    def serve() -> None:
        with folder.running(), open_league(folder.database) as store:
            inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)
            while not done.wait(0.01):
                inbox.look()

    service = threading.Thread(target=serve)
    service.start()
    try:
        while not folder.is_running:
            pass
        assert give(folder, SETTINGS, order("pause"), wait_s=60) == {"paused": True}
        with pytest.raises(StoreError, match="expected a league that no service runs"), folder.running():
            pass
    finally:
        done.set()
        service.join()
    assert not folder.is_running


def test_an_order_waits_for_a_service_that_does_not_answer(folder: Folder) -> None:
    with folder.running():
        assert give(folder, SETTINGS, order("pause"), wait_s=0) is None
    with open_league(folder.database) as store:
        assert not store.controls.paused
        assert Inbox(store, folder, SETTINGS, lambda sentence: None).look() == 1
        assert store.controls.paused


@pytest.mark.parametrize("killed_before", ["commit", "answer", "remove"])
def test_an_order_that_a_kill_interrupts_is_obeyed_once(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_before: str
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Killed

    given = new_order("submit", {"author": "anna"})
    files.write(folder.inbox / f"{given.id}.tar.zst", bot(tmp_path))
    files.write(folder.inbox / f"{given.id}.json", msgspec.json.encode(given))
    with open_league(folder.database) as store:
        store.authors.add("anna")
        inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)
        with monkeypatch.context() as patch:
            if killed_before == "commit":
                patch.setattr(type(store.versions), "receive", die)
            elif killed_before == "answer":
                patch.setattr("arena.league.service.inbox.files.write", die)
            else:
                patch.setattr(Path, "unlink", die)
            with pytest.raises(Killed):
                inbox.look()
        assert inbox.look() == 1
        assert inbox.look() == 0
        assert [version.name for version in store.versions.of_author("anna")] == ["fox/1"]
        assert len(store.notices.of("anna")) == 1
    assert list(folder.inbox.iterdir()) == []
    assert msgspec.json.decode(folder.answer(given.id).read_bytes())["version"] == "fox/1"


def test_an_order_about_keys_is_answered_only_when_they_are_published(
    store: LeagueStore, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two, it comes again."""
    store.authors.add_key("anna", "k" * 40)
    given = new_order("key_revoke", {"key": "k" * 40})
    files.write(folder.inbox / f"{given.id}.json", msgspec.json.encode(given))
    inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)

    def fail(reader: LeagueStore, folder: Folder) -> None:
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("arena.league.service.inbox.publish_keys", fail)
        with pytest.raises(OSError, match="killed"):
            inbox.look()
    assert not folder.answer(given.id).exists()
    assert inbox.look() == 1
    assert folder.answer(given.id).exists()
    assert msgspec.json.decode((folder.published / "keys.json").read_bytes()) == {}


def test_what_is_no_order_is_put_aside(store: LeagueStore, folder: Folder) -> None:
    (folder.inbox / "a.json").write_text("{")
    (folder.incoming / "b.json").write_bytes(msgspec.json.encode(order("pause", id="b")))
    (folder.inbox / "c.json").symlink_to("/etc/passwd")
    (folder.inbox / "d.json").write_bytes(msgspec.json.encode(order("pause", id="other")))
    (folder.inbox / "e.json").write_bytes(msgspec.json.encode(order("pause", id="e", author="anna")))
    inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)
    assert inbox.look() == 5
    assert inbox.look() == 0
    assert not store.controls.paused, "an author without a name is not the operator"
    assert len(store.notices.of(None)) == 5
