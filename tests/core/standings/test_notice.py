"""`--when-done` tells a program or an address what is over; what becomes of that changes no result."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from arena.core.standings import notice
from tests.command_kit import arena

posted: list[Any] = []


class Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(int(self.path[1:4]))
        self.send_header("Location", "/200")
        self.end_headers()

    def log_message(self, *words: Any) -> None:
        """Says nothing."""


@pytest.fixture
def web() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Hook)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def told(hook: str, **options: Any) -> str:
    said: list[str] = []
    notice.notify(hook, "season", "spring", Path("league.db"), "all", said.append, **options)
    return " ".join(said)


def test_a_document_is_posted_and_each_failure_is_said_without_the_path_that_may_be_a_secret(web: str) -> None:
    assert told(f"{web}/200") == told("") == ""
    assert posted.pop() == {"event": "season", "id": "spring", "db": str(Path.cwd() / "league.db"), "result": "all"}
    assert "127.0.0.1 answered 500" in told(f"{web}/500/token")
    assert "127.0.0.1 answered 302" in told(f"{web}/302/token")  # followed, the document would be lost
    assert "cannot be reached" in (said := told("http://127.0.0.1:9/token")), said
    assert "https://HOST/PATH" in (said := told("http://[x/token")), said
    assert "token" not in said


def test_each_end_of_a_command_has_its_own_sentence(tmp_path: Path) -> None:
    assert "ended with 3" in told("exit 3")
    assert "signal 9" in told("kill -9 $$")
    assert "could not be started" in told("true\0")
    assert "longer than 0.2 s" in told("sleep 60 & sleep 60", limit_s=0.2)
    assert told(f"sleep 60 >{tmp_path}/left & exit 0") == ""  # what goes on behind it is not waited for


def test_what_is_over_is_told_to_a_program_and_changes_no_result(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import json, os, sys\nd = json.load(sys.stdin)\nd['env'] = os.environ['ARENA_EVENT'], os.environ['ARENA_ID']\n"
        "json.dump(d, open(f'{d[\"event\"]}.json', 'w'))\nprint('heard')\nsys.exit(7)\n"
    )
    hook = ("--when-done", f"{sys.executable} hook.py", "--json")
    done = arena(tmp_path, "tournament", "random", "other=random", "--deals", "1", *hook)
    report = json.loads(done.stdout)  # the program's own words are not among our data
    assert "heard" in done.stderr
    assert ": the command ended with 7. The results" in done.stderr
    found = json.loads((tmp_path / "tournament.json").read_text())
    assert (found["result"], found["env"]) == (report, ["tournament", report["tournament"]["id"]])
    known = json.loads(arena(tmp_path, "compare", "random", "other=random", "--max-deals", "1", *hook).stdout)
    assert json.loads((tmp_path / "comparison.json").read_text())["result"] == known
    (tmp_path / "comparison.json").unlink()
    arena(tmp_path, "compare", "random", "other=random", "--max-deals", "1", *hook)  # it was over before
    assert not (tmp_path / "comparison.json").exists()
