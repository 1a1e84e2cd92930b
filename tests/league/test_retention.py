"""Which logs are kept, and that files are compressed and removed in an order that survives a kill."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core import files
from arena.core.errors import ConfigError
from arena.core.record.compressed import compress, expand
from arena.league.keeping.retention import DAY_S, GIB, GameFiles, expired, kept_until
from arena.league.settings import Logs, parse
from arena.league.store.played import EndedGame

NOW = 1000 * DAY_S
RULE = Logs()
MEBIBYTE = 2**20


def logged(number: int, days_ago: float, **given: bool) -> EndedGame:
    return EndedGame(game=f"game-{number}", ended=NOW - days_ago * DAY_S, seats=2, **given)


def removed(games: list[EndedGame], rule: Logs = RULE, size: int = MEBIBYTE) -> list[str]:
    ordered = sorted(games, key=lambda game: game.ended)
    gone = expired(ordered, lambda game: size, size * len(games), NOW, rule)
    return [game.game for game in gone if game is not None]


def test_forfeits_are_kept_for_a_year_and_finals_for_ever() -> None:
    games = [logged(1, 364, forfeit=True), logged(2, 366, forfeit=True), logged(3, 900, final=True)]
    assert removed(games) == ["game-2"]
    assert kept_until(games[-1], RULE) == math.inf


def test_other_games_stay_for_a_month() -> None:
    assert removed([logged(0, 31), logged(1, 29), logged(2, 1)]) == ["game-0"]


def test_if_there_is_too_much_the_oldest_goes_first_and_no_final() -> None:
    games = [logged(0, 300, final=True), logged(1, 200, forfeit=True), *(logged(n, 20 - n) for n in range(2, 10))]
    size = GIB // 10
    for gib, gone in ((1.0, 0), (0.85, 2), (0.25, 8), (0, 9)):
        assert removed(games, Logs(gib=gib), size) == [f"game-{n}" for n in range(1, gone + 1)]


def test_what_is_young_is_not_even_read() -> None:
    def oldest_first() -> Iterator[EndedGame]:
        yield logged(0, 40)
        yield logged(1, 3)
        raise AssertionError("read on")

    found = list(expired(oldest_first(), lambda game: 1, 2, NOW, RULE))
    assert [game.game for game in found if game is not None] == ["game-0"]


any_games = st.lists(
    st.builds(logged, st.integers(0, 10**6), st.floats(0, 800), forfeit=st.booleans(), final=st.booleans()),
    max_size=30,
    unique_by=lambda game: game.game,
)


@given(any_games, st.integers(0, 30))
def test_what_is_left_keeps_to_the_rule(games: list[EndedGame], most: int) -> None:
    gone = removed(games, Logs(gib=most / 1024))
    assert len(set(gone)) == len(gone)
    left = [game for game in games if game.game not in gone]
    assert all(kept_until(game, RULE) > NOW for game in left)
    assert {game.game for game in games if game.final} <= {game.game for game in left}
    assert len(left) <= most or all(game.final for game in left)


@pytest.mark.parametrize("line", ["days = -1", "gib = inf", "days = 400"])
def test_parameters_out_of_range_are_refused(line: str) -> None:
    with pytest.raises(ConfigError, match=r"league\.toml:[23]"):
        parse(f'name = "cup"\n[logs]\n{line}\n')


@pytest.fixture
def game_files(tmp_path: Path) -> GameFiles:
    for folder in ("logs", "own"):
        (tmp_path / folder).mkdir()
    for name, data in (("logs/a-1.jsonl", b"log" * 500), ("logs/a-1.seat1.output", b"out"), ("logs/b-1.jsonl", b"b")):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "own" / "a-1.jsonl.zst").write_bytes(compress(b"own"))
    return GameFiles([tmp_path / "logs", tmp_path / "own", tmp_path / "not there"])


def taken(path: Path) -> int:
    """What a file takes of the disk: whole blocks, and not only its bytes. A million small logs take a lot more."""
    return max(path.stat().st_size, 512 * path.stat().st_blocks)


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_files_of_a_game_are_compressed_measured_and_removed(game_files: GameFiles, tmp_path: Path) -> None:
    assert sum(game_files.sizes()) == sum(taken(path) for path in tmp_path.rglob("*") if path.is_file())
    game_files.compress("a-1", 2)
    assert listing(tmp_path) == {
        "logs/a-1.jsonl.zst", "logs/a-1.seat1.output.zst", "own/a-1.jsonl.zst", "logs/b-1.jsonl",
    }  # fmt: skip
    assert expand((tmp_path / "logs" / "a-1.jsonl.zst").read_bytes(), "here") == b"log" * 500
    assert game_files.size("a-1", 2) == sum(game_files.sizes()) - taken(tmp_path / "logs" / "b-1.jsonl")
    game_files.remove("a-1", 2)
    game_files.remove("a-1", 2)
    assert listing(tmp_path) == {"logs/b-1.jsonl"}


def test_a_removal_that_was_killed_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original goes last, so that what is left of the game is found again."""
    places = [tmp_path / "logs" / "cup-1", tmp_path / "published"]
    for folder in places:
        folder.mkdir(parents=True)
        (folder / "cup-1-000007.jsonl.zst").write_bytes(b"log")
    game_files = GameFiles(places)
    real = Path.unlink
    killed = []

    def once(path: Path, missing_ok: bool = False) -> None:
        if killed:
            raise KeyboardInterrupt
        killed.append(path)
        real(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", once)
    with pytest.raises(KeyboardInterrupt):
        game_files.remove("cup-1-000007", 2)
    monkeypatch.undo()
    assert killed == [places[1] / "cup-1-000007.jsonl.zst"]
    assert game_files.size("cup-1-000007", 2) == taken(places[0] / "cup-1-000007.jsonl.zst")
    game_files.remove("cup-1-000007", 2)
    assert game_files.size("cup-1-000007", 2) == 0
    assert listing(tmp_path) == set()


def test_what_is_gone_already_is_not_removed_again() -> None:
    games = [logged(n, 100 - n) for n in range(5)]
    assert removed(games, RULE, size=0) == []


def test_a_compression_that_was_killed_is_done_again(
    game_files: GameFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before and after each step: at any time one form is whole, and the end is the same."""
    log = tmp_path / "logs" / "a-1.jsonl"
    real = files.write

    def dies(*args: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write", dies)
    with pytest.raises(KeyboardInterrupt):
        game_files.compress("a-1", 2)
    assert log.exists()
    monkeypatch.setattr(files, "write", real)
    monkeypatch.setattr(Path, "unlink", dies)
    with pytest.raises(KeyboardInterrupt):
        game_files.compress("a-1", 2)
    assert log.exists()
    assert expand(log.with_name("a-1.jsonl.zst").read_bytes(), "here") == log.read_bytes()
    monkeypatch.undo()
    game_files.compress("a-1", 2)
    assert not log.exists()
