"""The decisions of logged games become rows that hold what each seat was shown, and nothing that it was not."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import msgspec
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from golden.logs import FOLDER

from arena.cli import cli
from arena.core.errors import ReplayMismatch
from arena.core.record.log import ActionRecord, read_log
from arena.core.referee.replay import rules_of
from arena.core.types import Termination
from arena.learn import export
from arena.learn.export import decisions

LOGS = sorted(FOLDER.glob("*.jsonl"))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_each_decision_is_a_row_with_what_its_seat_was_told(path: Path) -> None:
    """Views are compared with events folded as a bot folds them: so no row knows more than its bot."""
    log = read_log(path)
    rules = rules_of(log.header, log.source)
    rows = iter([row for row in decisions(log) if not row.step])
    views = [rules.first_view(seat) for seat in range(rules.seats)]
    for record in log.records:
        if isinstance(record, ActionRecord):
            row = next(rows)
            assert (row.seat, row.kind, row.turn) == (record.seat, record.kind, record.turn)
            assert json.loads(row.action) == record.action
            assert (row.rank, row.used_ms) == (log.outcome.ranks[row.seat], record.used_ns / 1e6)
            view = json.loads(row.view)
            assert view["seat"] == record.seat
            if rules.name == "samurai" and record.turn:  # else others may have decided since it was asked
                assert view == json.loads(msgspec.json.encode(views[record.seat]))
        for event in getattr(record, "events", ()):
            for seat in filter(event.reaches, range(rules.seats)):
                views[seat] = rules.fold(views[seat], event.data)
    assert next(rows, None) is None


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_each_play_of_a_turn_is_a_row_and_makes_the_number_that_it_has(path: Path) -> None:
    log = read_log(path)
    settings, rows = log.header.settings, list(decisions(log, numbers=True))
    for row, after in pairwise([*rows, *rows[:1]]):
        assert isinstance(row, export.NumberedRow)
        assert row.mask[row.number]
        assert after.step in (0, row.step + 1)
        assert (json.loads(row.options), row.termination) == (settings.options, log.outcome.termination)
        assert settings.board is None or (row.board, row.board_hash) == (settings.board.name, settings.board.hash)
        written = [{**play} for play in json.loads(row.action)["plays"]]
        assert row.step >= len(written) or json.loads(row.play) == written[row.step]


def test_a_game_that_was_interrupted_has_none() -> None:
    log = read_log(LOGS[0])
    ended = msgspec.structs.replace(log.outcome, termination=Termination.INTERRUPTED)
    assert list(decisions(msgspec.structs.replace(log, records=[*log.records[:-1], ended]))) == []


def test_a_log_that_breaks_the_rules_makes_no_table(tmp_path: Path) -> None:
    log = read_log(FOLDER / "samurai-standard.jsonl")
    without = msgspec.structs.replace(log, records=log.records[3:])
    with pytest.raises(ReplayMismatch):
        list(decisions(without))


def test_both_forms_hold_the_same(tmp_path: Path) -> None:
    for name in ("samurai-standard", "gardener-race"):
        (tmp_path / f"{name}.jsonl").write_bytes((FOLDER / f"{name}.jsonl").read_bytes())
    for out in ("a.parquet", "a.jsonl"):
        done = CliRunner().invoke(cli, ["export", str(tmp_path), "--out", str(tmp_path / "out" / ".." / out)])
        assert done.exit_code != 0, "there is no such folder"
        done = CliRunner().invoke(cli, ["export", str(FOLDER / "gardener-race.jsonl"), "--out", str(tmp_path / out)])
        assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist() == rows
    assert sorted(path.name for path in tmp_path.glob("a.*")) == ["a.jsonl", "a.parquet"]


def test_another_form_and_a_missing_extra_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(cli, ["export", str(LOGS[0]), "--out", "a.csv"])
    assert "expected a file that ends with .parquet or .jsonl, got: 'a.csv'" in done.output
    monkeypatch.setattr("arena.core.extras.MODULES", {"data": ("not_there",)})
    done = CliRunner().invoke(cli, ["export", str(LOGS[0]), "--out", "a.parquet"])
    assert "pip install not_there" in done.output


def test_many_logs_are_read_by_several_processes_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_CHUNK", 2)
    paths = [str(path) for path in LOGS[:3]] * 3
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    with one.open("wb") as first, two.open("wb") as second:
        assert list(export.write_parquet(paths, first, 1)) == list(export.write_parquet(paths, second, 2))
    assert pyarrow.parquet.read_table(one).equals(pyarrow.parquet.read_table(two))


@pytest.mark.parametrize(("rows", "groups"), [(10**6, 1), (1, 3)])
def test_games_are_compressed_together(rows: int, groups: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of rows for each game would make a file three times as large, and slow to read."""
    monkeypatch.setattr(export, "_CHUNK", 2)
    monkeypatch.setattr(export, "_GROUP", rows)
    file = tmp_path / "table.parquet"
    with file.open("wb") as out:
        counts = list(export.write_parquet([str(path) for path in LOGS[:5]], out, 1))
    table = pyarrow.parquet.ParquetFile(file)
    assert table.metadata.num_row_groups == groups
    assert counts == [len(list(decisions(read_log(path)))) for path in LOGS[:5]]
    assert table.metadata.num_rows == sum(counts)
