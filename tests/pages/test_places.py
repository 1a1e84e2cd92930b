"""No page shows where something lies on the organiser's machine, or depends on where it was made."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import sqlite3
import sys
from base64 import b64decode
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.link.bots import BotSpec, bundled_folders
from arena.core.places import Places
from arena.core.ratings.running import Rating
from arena.core.record.log import ActionRecord, ForfeitRecord, log_bytes, read_log
from arena.core.standings.audit import PROMISES
from arena.core.store.records import Entrant
from arena.core.types import LoggedForfeit
from arena.pages.site.places import refs_by_name
from tests import site_kit

SECRET = "secret-place"


def shown(site: Path) -> dict[str, str]:
    """All that a site shows: its files, and what is packed in replays."""
    found = {}
    for name, data in site_kit.content(site).items():
        found[name] = data.decode(errors="replace")  # a picture is no text
        for packed in re.findall(r'"([A-Za-z0-9+/=]{100,})"', found[name]):
            found[name] += gzip.decompress(b64decode(packed)).decode()
    return found


@pytest.fixture
def hall(tmp_path: Path) -> Path:
    """A finished tournament, in which everything that may hold a path has some."""
    folder = tmp_path / SECRET / "cup"
    folder.mkdir(parents=True)
    id = site_kit.tournament(folder)
    mine, venv = tmp_path / SECRET / "bots" / "mine", tmp_path / SECRET / "venv"
    python = [str(venv / "bin" / "python"), "x.py"]
    specs = [
        {"folder": str(mine), "command": python, "version": "1"},
        {"folder": str(tmp_path / SECRET), "command": [*python, "--key=hush"], "version": ""},
        {"folder": str(bundled_folders()["random"]), "command": ["python3"], "version": "1", "name": "random"},
    ]  # fmt: skip
    words = [
        f'File "{mine}/bot.py", line 3',
        f"{venv}/lib/x.py",
        f"no {folder / 'logs' / id}",
        f"at {tmp_path / SECRET}",
    ]
    with sqlite3.connect(folder / "arena.db") as database:
        for number, spec in enumerate(specs):
            (stored,) = database.execute("SELECT spec FROM entrants WHERE number = ?", (number,)).fetchone()
            merged = json.dumps(json.loads(stored) | spec)
            database.execute("UPDATE entrants SET spec = ? WHERE number = ?", (merged, number))
        database.execute(site_kit.WORDS, (f"cannot run {words}", json.dumps(words)))
    log = read_log(site_kit.LOG)
    action = next(record for record in log.records if isinstance(record, ActionRecord))
    forfeit = LoggedForfeit(seat=0, code="crashed", sentence=f"seat 0 ended: {words}")
    records = [
        msgspec.structs.replace(record, note=str(words)) if record is action else record for record in log.records
    ]
    records.insert(-1, ForfeitRecord(forfeits=[forfeit], turn=99, events=[], ms=1))
    (folder / "logs" / id / f"{id}-000000.jsonl").write_bytes(log_bytes([log.header, *records])[0])
    return folder


def test_no_page_shows_a_path_of_the_organiser(hall: Path) -> None:
    built = site_kit.make(hall, verify=True)
    assert built.replays == 2, built.faults
    pages = shown(hall / "site")
    assert [name for name, text in pages.items() if SECRET in text] == []
    assert [name for name, text in pages.items() if "hush" in text] == [], "a command line may hold a password"
    everything = "".join(pages.values())
    for word in ("./ann/bot.py", "…/lib/x.py", "./ann", "cmd:", "random", *PROMISES):
        assert word in everything, word


def test_a_site_is_the_same_wherever_it_is_made(hall: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "deep" / "down"
    deep.mkdir(parents=True)
    site_kit.make(hall)
    monkeypatch.chdir(deep)
    site_kit.make(Path("..") / ".." / SECRET / "cup", "other")
    assert site_kit.content(hall / "site") == site_kit.content(hall / "other")


def test_the_command_names_bots_by_their_names_and_no_file(hall: Path) -> None:
    site_kit.make(hall)
    page = (hall / "site" / "index.html").read_text()
    found = re.search(r'<pre class="command"[^>]*>(.*)</pre>', page)
    assert found
    words = shlex.split(found[1].replace("&#39;", "'"))
    assert words[:5] == ["arena", "tournament", "./ann", "cmd:bob …", "random"]
    assert not {"--db", "--logs"} & set(words)


def test_bundled_bots_are_known_wherever_they_are_installed() -> None:
    def entrant(name: str, folder: str, version: str = "1", own: str = "") -> Entrant:
        spec = BotSpec(name=name, version=version, command=("x",), folder=folder, digest="00", own=own)
        return Entrant(
            number=0, name=name, version=version, digest="00", spec=msgspec.to_builtins(spec), start=Rating()
        )

    own = bundled_folders()["random"]
    elsewhere = Path("/other/checkout/bots") / own.parts[-2] / own.parts[-1]
    entered = [
        entrant("random", str(own)), entrant("random", str(elsewhere)), entrant("random", "/home/ann/random"),
        entrant("python", "/home/ann", ""), entrant("old", str(own), own="random"),
    ]  # fmt: skip
    assert refs_by_name(entered) == ["random", "random", "./random", "cmd:python …", "old=random"]


NAMES = st.text("abc-._ é(", min_size=1, max_size=6).filter(lambda name: name.strip(".") == name)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda parts: "/data/" + "/".join(parts))


@given(st.lists(PATHS, min_size=1, max_size=4), st.text("abc/ '\":", max_size=5))
def test_what_is_hidden_is_not_there(paths: list[str], more: str) -> None:
    places = Places((path, f"./{number}") for number, path in enumerate(paths))
    for path in paths:
        for text in (path, f"'{path}/{more}", f"file://{path}: {more}", f"({path})", f"{path}.", f'"{path}"'):
            assert "/data" not in places.hide(text), (places.hide(text), text)


def test_what_every_machine_has_stays() -> None:
    places = Places([("/home/ann/fox", "./fox"), (f"{sys.prefix}/bin/python", "python")])
    for text in ("/usr/lib/python3/x.py", "/home", "/tmp/x", "a/home/annex", "and/or", "/home/annabel/x"):
        assert places.hide(text) == text
    assert Places([]).hide("/any") == "/any"
