"""The action for GitHub in examples/league_action: its script, in a repository of git, on a league that is open."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.author.archives import check
from arena.league.door import checks
from tests.door_kit import League, OpenDoor, opened

SCRIPT = Path(__file__).parents[3] / "examples" / "league_action" / "submit.sh"
GH = """#!/bin/sh
echo "$@" >>"$HERE/gh"
for word; do case $word in body=@*) cat "${word#body=@}" ;; esac; done >>"$HERE/comment"
[ "$1" = pr ] && cat "$7" >>"$HERE/comment"
exit 0
"""

pytestmark = pytest.mark.skipif(
    any(shutil.which(program) is None for program in ("bash", "curl", "git", "jq", "zip")),
    reason="needs bash, curl, git, jq and zip, as GitHub's machines have them",
)


class Repository:
    """A repository with a bot, and what GitHub gives an action."""

    def __init__(self, folder: Path, league: League, door: OpenDoor) -> None:
        self.folder, self.league = folder, league
        (folder / "bots/fox").mkdir(parents=True)
        (folder / "bots/fox/bot.toml").write_text('name = "fox"\ncommand = ["{python}", "bot.py"]\n')
        (folder / "bots/fox/bot.py").write_text("print()\n")
        (folder / "gh-bin").mkdir()
        (folder / "gh-bin/gh").write_text(GH)
        (folder / "gh-bin/gh").chmod(0o755)
        for words in ("init -q", "add bots", "-c user.name=a -c user.email=a@example.com commit -qm fox"):
            subprocess.run(["git", *words.split()], cwd=folder, check=True)
        (folder / "bots/fox/bot.py").write_text("built, and not committed\n")
        self.environment = {
            "PATH": f"{folder / 'gh-bin'}:{os.environ['PATH']}", "HERE": str(folder), "AT": f"{door.address}/",
            "TOKEN": league.author("anna"), "BOT": "bots/fox", "NAME": "", "MINUTES": "1", "PULL_REQUEST": "",
            "COMMIT": "c0ffee", "GITHUB_REPOSITORY": "anna/fox", "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        }  # fmt: skip

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(SCRIPT)], cwd=self.folder, env=self.environment | environment, capture_output=True, text=True,
            check=False, timeout=60,
        )  # fmt: skip

    def said(self, name: str = "comment") -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    league = League(tmp_path / "cup")
    with opened(league, check=checks.check) as door:
        yield Repository(tmp_path / "repository", league, door)


def become(league: League, state: str) -> threading.Thread:
    """Lets the league take the next order, and publish a moment later that the version was tried."""

    def run() -> None:
        order = league.order("submit")
        version = {"version": f"{order['arguments']['bot']}/2", "bot": order["arguments"]["bot"]}
        league.publish("authors/anna/status.json", {"versions": [{**version, "version": "fox/1", "state": "active"}]})
        league.answer(order, {**version, "state": "received", "before": 0})
        time.sleep(1)
        league.publish("authors/anna/status.json", {"versions": [{**version, "state": state}]})

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def report(kind: str, **fields: Any) -> dict[str, Any]:
    return {"version": "fox/2", "kind": kind, "verdict": "passed", **fields}


def test_a_push_is_submitted_waited_for_and_commented_on(repository: Repository) -> None:
    """What is sent are the files of the commit; a state of the version before is not taken for its own."""
    repository.league.publish("reports/anna/fox/2/build.json", report("build"))
    thread = become(repository.league, "active")
    done = repository.run()
    thread.join()
    assert (done.returncode, done.stderr) == (0, "")
    at = repository.environment["AT"]
    assert repository.said() == f"**fox/2 is active** at {at}\n\nbuild: passed\n\n" == repository.said("summary")
    assert repository.said("gh").startswith("api repos/anna/fox/commits/c0ffee/comments")
    assert repository.said("output") == "version=fox/2\nstate=active\n"
    (order,) = repository.league.orders()
    contents = check(repository.league.folder / "incoming" / f"{order['id']}.tar.zst")
    assert {entry.path: entry.size for entry in contents.entries}["bot.py"] == len("print()\n")


def test_a_pull_request_plays_beside_the_bot_and_what_a_bot_wrote_is_no_markup(repository: Repository) -> None:
    failed = report("check", verdict="failed", finding="late", output="<img src=x>\n```")
    repository.league.publish("reports/anna/fox-pr/2/check.json", failed)
    thread = become(repository.league, "rejected")
    done = repository.run(PULL_REQUEST="7")
    thread.join()
    assert done.returncode == 1
    assert repository.said("gh").startswith("pr comment 7 --repo anna/fox")
    assert "check: failed\n<pre>late</pre>" in repository.said()
    assert "<pre>&lt;img src=x&gt;" in repository.said()


def test_what_is_refused_says_why(repository: Repository) -> None:
    done = repository.run(NAME="fox", TOKEN="arena_" + 43 * "x")
    assert done.returncode == 1
    assert "**fox was not taken**" in repository.said()
    assert "with a token that the league knows, got: another; make one" in repository.said()
    closed = repository.run(AT="http://127.0.0.1:1")
    assert closed.returncode == 1
    assert "The league at http://127.0.0.1:1 did not answer." in repository.said()


def test_a_pull_request_from_a_fork_sends_nothing(repository: Repository) -> None:
    done = repository.run(TOKEN="", PULL_REQUEST="7")
    assert done.returncode == 0
    assert "Nothing is sent" in done.stdout
    assert (repository.said("gh"), repository.league.orders()) == ("", [])


def test_the_action_passes_what_its_script_reads() -> None:
    action = SCRIPT.with_name("action.yml").read_text()
    script = SCRIPT.read_text()
    for name in ("AT", "TOKEN", "BOT", "NAME", "MINUTES", "PULL_REQUEST", "COMMIT", "GH_TOKEN"):
        assert f"        {name}: ${{{{ " in action
        assert name == "GH_TOKEN" or f"${name}" in script or f"${{{name}" in script or f"{name} *" in script
