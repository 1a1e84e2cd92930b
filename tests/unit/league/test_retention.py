"""Which logs are kept, and that files are compressed and removed in an order that survives a kill."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import files
from arena.errors import ConfigError
from arena.league.retention import DAY_S, GIB, Logged, Retention, Shelf, Sweep, expired, kept_until, recent_since
from arena.record.compressed import compress, expand

NOW = 1000 * DAY_S
RULE = Retention(last_games=2)
MEBIBYTE = 2**20


def logged(number: int, days_ago: float, entrants: tuple[int, ...] = (0, 1), **given: bool) -> Logged:
    return Logged(game=f"game-{number}", ended=NOW - days_ago * DAY_S, entrants=entrants, **given)


def since_when(oldest_first: list[Logged], rule: Retention) -> dict[int, float]:
    since: dict[int, float] = {}
    deque(recent_since(((game.ended, game.entrants) for game in reversed(oldest_first)), rule.last_games, since), 0)
    return since


def removed(games: list[Logged], rule: Retention = RULE, size: int = MEBIBYTE) -> list[tuple[str, str]]:
    ordered = sorted(games, key=lambda game: game.ended)
    since = since_when(ordered, rule)
    gone = expired(lambda: iter(ordered), lambda game: size, size * len(games), since, NOW, rule)
    return [(one.game.game, one.why.split()[0]) for one in gone if one is not None]


def test_a_versions_last_games_are_kept_longer() -> None:
    games = [logged(n, days) for n, days in enumerate([100, 90, 80, 70])]
    assert removed(games) == [("game-0", "old"), ("game-1", "old")]


def test_it_is_enough_to_be_among_the_last_games_of_one_version() -> None:
    games = [logged(0, 100, (0, 1)), logged(1, 90, (0, 1)), logged(2, 80, (1, 2)), logged(3, 70, (1, 2))]
    assert removed(games) == []
    assert removed([*games, logged(4, 60, (0, 3))]) == [("game-0", "old")]


def test_forfeits_are_kept_for_a_year_and_finals_for_ever() -> None:
    games = [logged(n, 500 - n) for n in range(3)] + [logged(n, 10, (0, 1)) for n in range(10, 12)]
    games += [logged(20, 364, forfeit=True), logged(21, 366, forfeit=True), logged(22, 900, final=True)]
    assert [game for game, _ in removed(games)] == ["game-0", "game-1", "game-2", "game-21"]
    assert kept_until(games[-1], {}, RULE) == math.inf


def test_other_games_stay_for_a_month() -> None:
    games = [logged(0, 31), logged(1, 29), *(logged(n, 1) for n in range(2, 5))]
    assert removed(games) == [("game-0", "old")]


def test_too_much_goes_from_the_oldest_of_the_least_important_on() -> None:
    games = [
        logged(0, 300, final=True),
        logged(1, 200, forfeit=True),
        logged(2, 100, forfeit=True),
        *(logged(n, 20 - n) for n in range(3, 10)),  # the last two are recent
    ]
    rule = Retention(last_games=2, gib=0.1 * len(games))
    size = GIB // 10
    assert removed(games, rule, size) == []
    rule = Retention(last_games=2, gib=0.1 * len(games) - 0.35)
    assert [game for game, _ in removed(games, rule, size)] == ["game-3", "game-4", "game-5", "game-6"]
    rule = Retention(last_games=2, gib=0.25)
    assert [game for game, _ in removed(games, rule, size)] == [f"game-{n}" for n in (3, 4, 5, 6, 7, 1, 2, 8)]
    rule = Retention(last_games=2, gib=0)
    assert "game-0" not in [game for game, _ in removed(games, rule, size)]
    assert len(removed(games, rule, size)) == len(games) - 1


def test_what_is_young_is_not_even_read() -> None:
    def oldest_first() -> Iterator[Logged]:
        yield logged(0, 40)
        yield logged(1, 3)
        raise AssertionError("read on")

    since = {0: math.inf, 1: math.inf}
    found = list(expired(oldest_first, lambda game: 1, 2, since, NOW, RULE))
    assert [one.game.game for one in found if one is not None] == ["game-0"]


games_of_three = st.lists(
    st.builds(
        logged,
        st.integers(0, 10**6),
        st.floats(0, 800),
        st.sampled_from([(0, 1), (1, 2), (0, 2)]),
        forfeit=st.booleans(),
        final=st.booleans(),
    ),
    max_size=30,
    unique_by=lambda game: game.game,
)


@given(games_of_three, st.integers(0, 30))
def test_what_is_left_keeps_to_the_rule(games: list[Logged], most: int) -> None:
    rule = Retention(last_games=2, gib=most / 1024)
    gone = [game for game, _ in removed(games, rule)]
    assert len(set(gone)) == len(gone)
    left = [game for game in games if game.game not in gone]
    ordered = sorted(games, key=lambda game: game.ended)
    since = since_when(ordered, rule)
    assert all(kept_until(game, since, rule) > NOW for game in left)
    assert {game.game for game in games if game.final} <= {game.game for game in left}
    assert len(left) <= most or all(game.final for game in left)


@given(games_of_three, st.integers(0, 30), st.integers(1, 7))
def test_step_by_step_the_same_is_found(games: list[Logged], most: int, rows: int) -> None:
    rule = Retention(last_games=2, gib=most / 1024)
    ordered = sorted(games, key=lambda game: game.ended)

    class Files(Shelf):
        def sizes(self) -> Iterator[int]:
            return iter([MEBIBYTE] * len(games))

        def size(self, game: str, seats: int) -> int:
            return MEBIBYTE

    sweep = Sweep(lambda: reversed(ordered), lambda: ordered, Files([]), NOW, rule)
    found = []
    while not sweep.is_done:
        some = sweep.step(rows)
        assert len(some) <= rows
        found += some
    assert [(one.game.game, one.why.split()[0]) for one in found] == removed(games, rule)


@pytest.mark.parametrize("given", [{"last_games": -1}, {"gib": math.inf}, {"days": 400}])
def test_parameters_out_of_range_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Retention(**given).check()  # type: ignore[arg-type]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    for folder in ("logs", "own"):
        (tmp_path / folder).mkdir()
    for name, data in (("logs/a-1.jsonl", b"log" * 500), ("logs/a-1.seat1.output", b"out"), ("logs/b-1.jsonl", b"b")):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "own" / "a-1.jsonl.zst").write_bytes(compress(b"own"))
    return Shelf([tmp_path / "logs", tmp_path / "own", tmp_path / "not there"])


def taken(path: Path) -> int:
    """What a file takes of the disk: whole blocks, and not only its bytes. A million small logs take a lot more."""
    return max(path.stat().st_size, 512 * path.stat().st_blocks)


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_files_of_a_game_are_compressed_measured_and_removed(shelf: Shelf, tmp_path: Path) -> None:
    assert shelf.total() == sum(taken(path) for path in tmp_path.rglob("*") if path.is_file())
    shelf.compress("a-1", 2)
    assert listing(tmp_path) == {
        "logs/a-1.jsonl.zst", "logs/a-1.seat1.output.zst", "own/a-1.jsonl.zst", "logs/b-1.jsonl",
    }  # fmt: skip
    assert expand((tmp_path / "logs" / "a-1.jsonl.zst").read_bytes(), "here") == b"log" * 500
    assert shelf.size("a-1", 2) == shelf.total() - taken(tmp_path / "logs" / "b-1.jsonl")
    shelf.remove("a-1", 2)
    shelf.remove("a-1", 2)
    assert listing(tmp_path) == {"logs/b-1.jsonl"}


def test_a_removal_that_was_killed_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original goes last, so that what is left of the game is found again."""
    places = [tmp_path / "logs" / "cup-1", tmp_path / "published"]
    for folder in places:
        folder.mkdir(parents=True)
        (folder / "cup-1-000007.jsonl.zst").write_bytes(b"log")
    shelf = Shelf(places)
    real = Path.unlink
    killed = []

    def once(path: Path, missing_ok: bool = False) -> None:
        if killed:
            raise KeyboardInterrupt
        killed.append(path)
        real(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", once)
    with pytest.raises(KeyboardInterrupt):
        shelf.remove("cup-1-000007", 2)
    monkeypatch.undo()
    assert killed == [places[1] / "cup-1-000007.jsonl.zst"]
    assert shelf.size("cup-1-000007", 2) == taken(places[0] / "cup-1-000007.jsonl.zst")
    shelf.remove("cup-1-000007", 2)
    assert shelf.size("cup-1-000007", 2) == 0
    assert listing(tmp_path) == set()


def test_what_is_gone_already_is_not_removed_again() -> None:
    games = [logged(n, 100 - n) for n in range(5)]
    assert removed(games, Retention(last_games=0), size=0) == []


def test_a_compression_that_was_killed_is_done_again(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before and after each step: at any time one form is whole, and the end is the same."""
    log = tmp_path / "logs" / "a-1.jsonl"
    real = files.write

    def dies(*args: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write", dies)
    with pytest.raises(KeyboardInterrupt):
        shelf.compress("a-1", 2)
    assert log.exists()
    monkeypatch.setattr(files, "write", real)
    monkeypatch.setattr(Path, "unlink", dies)
    with pytest.raises(KeyboardInterrupt):
        shelf.compress("a-1", 2)
    assert log.exists()
    assert expand(log.with_name("a-1.jsonl.zst").read_bytes(), "here") == log.read_bytes()
    monkeypatch.undo()
    shelf.compress("a-1", 2)
    assert not log.exists()
