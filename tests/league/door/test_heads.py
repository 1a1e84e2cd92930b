"""An author's program remembers the head of the ledger that it has seen, and takes only one that goes on from it.

What a league must keep to: §D7-7.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.core.errors import ConfigError, DoorError
from arena.league.commands.audit import audit
from arena.league.door.client import Client
from arena.league.door.fetching import fetch_ledger
from arena.league.door.heads import heads_of, look_again, read_heads
from arena.league.door.keys import write_pair
from arena.league.folder import Folder
from arena.league.public.ledger_files import Ledger
from arena.league.record import ledger
from arena.league.record.ledger import LEDGER, Entry, Head
from tests import door_kit


def entry(number: int, ranks: tuple[int, ...] = (1, 2)) -> Entry:
    game = f"cup-1-{number:06d}"
    return Entry(game=game, status="done", entrants=["a/1", "b/1"], ranks=list(ranks), play_digest=None, log=None)


def silent(sentence: str) -> None:
    raise AssertionError(sentence)


def add(league: door_kit.League, *entries: Entry) -> Head:
    """Adds to the ledger as the league's service does, and returns its head."""
    Ledger(Folder(league.folder), silent).add(entries)
    return ledger.head_of(league.folder / "published" / LEDGER)


def forget(league: door_kit.League) -> None:
    for path in (league.folder / "published" / LEDGER).iterdir():
        path.unlink()


@pytest.fixture
def league(tmp_path: Path) -> door_kit.League:
    return door_kit.League(tmp_path / "cup")


@pytest.fixture
def key(league: door_kit.League, tmp_path: Path) -> Path:
    path = tmp_path / "anna.key"
    write_pair(path, league.author("anna"), "anna")
    return path


@pytest.fixture
def look(league: door_kit.League, key: Path) -> Iterator[Callable[[], Head]]:
    """Looks at the league as every command of an author does."""
    from arena.league.door.keys import read_pair

    with door_kit.opened(league) as door, Client(door.address, read_pair(key)) as client:
        yield lambda: look_again(client, door.address, key, silent)


def test_a_head_is_kept_and_each_later_one_goes_on_from_it(
    league: door_kit.League, key: Path, look: Callable[[], Head]
) -> None:
    assert look() == ledger.EMPTY
    for number in range(9):
        head = add(league, entry(number))
        assert look() == look() == head
    assert list(read_heads(heads_of(key)).values()) == [head]
    assert heads_of(key).name == "anna.heads.json"


@pytest.mark.parametrize(
    "forge",
    [
        lambda league: add(league, *[entry(number, (2, 1)) for number in range(5)]),
        lambda league: add(league, *[entry(number) for number in (0, 2, 3, 4, 5)]),
        lambda league: add(league, entry(0)),
        lambda league: None,
    ],
    ids=["a result changed", "a game left out", "shorter", "gone"],
)
def test_a_history_that_was_changed_is_refused_and_the_head_stays(
    league: door_kit.League, key: Path, look: Callable[[], Head], forge: Callable[[door_kit.League], object]
) -> None:
    seen = add(league, *[entry(number) for number in range(3)])
    assert look() == seen
    forget(league)
    forge(league)
    for _ in range(2):
        with pytest.raises(DoorError, match="expected a ledger that goes on from the one that was seen before, of 3"):
            look()
    assert list(read_heads(heads_of(key)).values()) == [seen]


def test_a_proof_that_the_league_cannot_give_is_refused(league: door_kit.League, look: Callable[[], Head]) -> None:
    """The door answers from altered nodes, and so with another proof."""
    add(league, *[entry(number) for number in range(3)])
    look()
    add(league, *[entry(number) for number in range(3, 7)])
    nodes = league.folder / "published" / LEDGER / ledger.NODES_FILE
    whole = nodes.read_bytes()
    nodes.write_bytes(bytes(len(whole)))
    with pytest.raises(DoorError, match="goes on from"):
        look()
    nodes.write_bytes(b"")
    with pytest.raises(DoorError, match="cannot be read now"):
        look()
    nodes.write_bytes(whole)
    assert look().size == 7


def test_a_file_that_is_none_is_not_taken_for_nothing_seen(key: Path, look: Callable[[], Head]) -> None:
    heads_of(key).write_text("{}{")
    with pytest.raises(ConfigError, match="expected the heads of ledgers that were seen"):
        look()


def test_two_authors_find_a_league_that_shows_each_another_history(league: door_kit.League, tmp_path: Path) -> None:
    """Each of the two histories goes on from what its author saw: only the comparison shows it."""
    keys = {name: tmp_path / f"{name}.key" for name in ("anna", "bert")}
    for name, path in keys.items():
        write_pair(path, league.author(name), name)

    def run(name: str, *more: str) -> tuple[int, str]:
        options = ["--at", str(door.address), "--key", str(keys[name]), "--out", str(tmp_path / name), *more]
        done = CliRunner().invoke(audit, options)
        return done.exit_code, done.output

    with door_kit.opened(league) as door:
        for name, ranks in (("anna", (1, 2)), ("bert", (2, 1))):
            forget(league) if name == "bert" else None
            add(league, *[entry(number) for number in range(4)], entry(4, ranks), entry(5))
            assert run(name)[0] == run(name)[0] == 0
        code, output = run("bert", "--root", str(heads_of(keys["anna"])))
    assert code == 4
    assert "FAILED  seen" in output
    assert "anna.heads.json: expected the root" in output


def test_the_ledger_is_fetched_once(
    league: door_kit.League, look: Callable[[], Head], key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Full pages are not fetched again, and a page that was changed is not taken."""
    from arena.league.door.keys import read_pair

    monkeypatch.setattr(ledger, "PAGE", 3)
    out = tmp_path / "out"
    add(league, *[entry(number) for number in range(5)])
    with door_kit.opened(league) as door, Client(door.address, read_pair(key)) as client:
        assert fetch_ledger(client, out).size == 5
        asked: list[int] = []
        entries = client.entries
        monkeypatch.setattr(client, "entries", lambda page: asked.append(page) or entries(page))
        add(league, *[entry(number) for number in range(5, 7)])
        assert fetch_ledger(client, out).size == 7
        assert asked == [1, 2]
        assert list(ledger.lines(out / LEDGER)) == [ledger.encoded(entry(number)) for number in range(7)]
        page = league.folder / "published" / LEDGER / "entries-2.jsonl"
        page.write_bytes(page.read_bytes().replace(b"[1,2]", b"[2,1]"))
        with pytest.raises(DoorError, match=r"expected entries-2.jsonl as it was"):
            fetch_ledger(client, out)


def test_pages_and_heads_are_as_the_page_says(league: door_kit.League, key: Path) -> None:
    from arena.league.door.keys import read_pair

    add(league, entry(0), entry(1))
    with door_kit.opened(league) as door, Client(door.address, read_pair(key)) as client:
        answer = client.ledger(1)
        assert (answer.size, len(answer.proof)) == (2, 1)
        for size in (0, 2, 9):
            assert client.ledger(size).proof == ()
        line = json.loads(client.entries(0).splitlines()[1])
        assert list(line) == sorted(line) == ["entrants", "game", "log", "play_digest", "ranks", "status"]
        with pytest.raises(DoorError) as caught:
            client.entries(1)
        assert caught.value.refusal == "unknown"
