"""`arena verify` takes what a league publishes, as it is on the league's machine or as an author fetched it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from arena.cli import cli
from arena.league.record.season import SEASON_FILE, SEASONS, STANDINGS_FILE
from tests import season_kit


def verify(*words: object, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, ["verify", *map(str, words)])
    assert result.exit_code == code, (result.output, result.stderr)
    return result


def test_a_published_league_is_checked_season_by_season(tmp_path: Path) -> None:
    cup = season_kit.closed(tmp_path)
    published = cup.published
    lines = verify(published).stdout.splitlines()
    assert verify(cup.path, "--db", cup.database).stdout.splitlines()[10].startswith("  ok      database: ")
    first, second = (published / SEASONS / f"cup-{number}" for number in (1, 2))
    assert lines[0] == f"{first}: season cup-1, 14 of 16 games"
    assert sum(line.startswith("  ok") for line in lines) == 8 + 6
    assert f"{second}: season cup-2, 0 of 0 games" in lines
    assert "  -       standings: not checked, the season is not closed" in lines

    document = json.loads(verify(published, "--json").stdout)
    assert len(document["logs"]) == 14
    assert [(audit["of"], audit["tournament"], audit["complete"]) for audit in document["folders"]] == [
        ("season", "cup-1", True),
        ("season", "cup-2", False),
    ]
    assert "expected a secret.json" in verify(published, "--complete", code=4).stdout, "the second is open"

    kept = tmp_path / SEASON_FILE
    kept.write_text((first / SEASON_FILE).read_text().replace('"season": "first"', '"season": "another"'))
    assert "expected the season of" in verify(published, "--noted", kept, code=4).stdout

    standings = first / STANDINGS_FILE
    standings.write_text(standings.read_text().replace('"rank": 1', '"rank": 4', 1))
    (published / "logs" / "cup-1-000000.jsonl.zst").unlink()
    told = verify(published, code=4).stdout
    assert "FAILED  standings: the final standings follow from the results" in told
    assert "  note    1 of 16 games have no log here, the first 0" in told
