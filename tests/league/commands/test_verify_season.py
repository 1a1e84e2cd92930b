"""`arena verify` takes what a league publishes, as it is on the league's machine or as an author fetched it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from arena.cli import cli
from arena.core.record.published import COMMITMENT_FILE
from arena.league.record.rounds import SEASONS, sha256
from tests import season_kit


def verify(*words: object, code: int = 0, command: str = "verify") -> Result:
    result = CliRunner().invoke(cli, [*command.split(), *map(str, words)])
    assert result.exit_code == code, (result.output, result.stderr)
    return result


def test_a_published_league_is_checked_season_by_season(tmp_path: Path) -> None:
    cup = season_kit.closed(tmp_path)
    published = cup.published
    lines = verify(published).stdout.splitlines()
    assert "  ok      database: " in verify(cup.path, "--db", cup.database).stdout
    first, second = (published / SEASONS / f"cup-{number}" for number in (1, 2))
    assert lines[0] == verify(first).stdout.splitlines()[0] == f"{first}: season cup-1, 14 of 16 games"
    assert verify(first.parent).stdout.splitlines() == lines
    assert sum(line.startswith("  ok") for line in lines) == 9 + 8
    assert f"{second}: season cup-2, 0 of 0 games" in lines
    assert "  -       standings: not checked, the season is not closed" in lines

    document = json.loads(verify(published, "--json").stdout)
    assert len(document["logs"]) == 14
    assert [(audit["of"], audit["tournament"], audit["complete"]) for audit in document["folders"]] == [
        ("season", "cup-1", True),
        ("season", "cup-2", False),
    ]
    assert "expected a secret.json" in verify(published, "--complete", code=4).stdout, "the second is open"

    kept = tmp_path / COMMITMENT_FILE
    kept.write_text((first / COMMITMENT_FILE).read_text().replace('"created": "2', '"created": "1'))
    assert "expected the created of" in verify(published, "--noted", kept, code=4).stdout

    heads = tmp_path / "anna.heads.jsonl"
    data = (first / "rounds-0.jsonl").read_bytes()
    seen = sha256(data.splitlines()[9])
    heads.write_text(json.dumps({"tournament": "cup-1", "lines": 10, "sha256": seen}) + "\n")
    for command in ("verify", "league audit"):
        verify(published, "--noted", heads, command=command)
    heads.write_text(json.dumps({"tournament": "cup-1", "lines": 11, "sha256": seen}) + "\n")
    for command in ("verify", "league audit"):
        told = verify(published, "--noted", heads, command=command, code=4).stdout
        assert "FAILED  lines: no line of the season was changed or left out" in told
    heads.write_text(json.dumps({"tournament": "cup-9", "lines": 11, "sha256": seen}) + "\n")
    assert "expected the season cup-9" in verify(published, "--noted", heads, code=1).stderr

    (first / "rounds-0.jsonl").write_bytes(data.replace(b'"rank":1', b'"rank":4', 1))
    (published / "logs" / "cup-1-000000.jsonl.zst").unlink()
    told = verify(published, code=4).stdout
    assert "FAILED  standings: the final standings follow from the lines" in told
    assert "  note    1 of 16 games have no log here, the first 0" in told
