"""The page: a policy that fits it, and nothing in it that a bot could have written as more than text."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from arena.cli import cli
from arena.core import extras
from arena.core.errors import ConfigError, InternalError
from arena.core.record.log import ActionRecord, Log, write_log
from arena.pages.game_page import game_page
from arena.pages.security import json_in_script, policy, raw

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "\u202e\u2066evil\u2069",
    "\0\x1b[2J\r\n",
    "\u2028\u2029",
    "{{ 7*7 }}{% raw %}",
    "\ud800",
    "--></title><style>*{display:none}</style>",
)


class Elements(HTMLParser):
    """Collects elements, and the text of each script and style."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._inside = tag if tag in self.texts else self._inside
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = "" if tag == self._inside else self._inside

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[self._inside][-1] += data


def elements(page: str) -> Elements:
    found = Elements()
    found.feed(page)
    return found


def poisoned(log: Log) -> Log:
    """A log in which a bot's name, version and notes are hostile."""
    name = "".join(text for text in HOSTILE if "\ud800" not in text)
    bots = [replace(log.header.bots[0], name=name, version=name), *log.header.bots[1:]]
    records = [
        replace(record, note=HOSTILE[at % len(HOSTILE)]) if isinstance(record, ActionRecord) else record
        for at, record in enumerate(log.records)
    ]
    return replace(log, header=replace(log.header, bots=bots), records=records)


def test_the_policy_allows_the_script_and_the_style_of_the_page_and_nothing_else(samurai: Log) -> None:
    found = elements(game_page(samurai))
    data, script = found.texts["script"]
    (style,) = found.texts["style"]
    allowed = next(value for name, value in found.attributes if name == "content" and value and "default-src" in value)
    assert allowed == policy(script, style)
    for text in (script, style):
        assert f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in allowed
    assert "default-src 'none'" in allowed
    assert "unsafe" not in allowed
    assert msgspec.json.decode(data)["format"] == 1


def test_nothing_of_a_page_comes_from_elsewhere(samurai: Log) -> None:
    page = game_page(samurai)
    addresses = set(re.findall(r"https?://[^\"'\s<]*", page)) - {"http://www.w3.org/2000/svg"}
    assert not addresses
    assert not any(name == "style" or name.startswith("on") for name, _ in elements(page).attributes)
    assert [value for name, value in elements(page).attributes if name in ("src", "href")] == ["data:,"]


def test_hostile_text_stays_text(samurai: Log) -> None:
    page, clean = elements(game_page(poisoned(samurai))), elements(game_page(samurai))
    assert page.tags == clean.tags
    assert page.texts["script"][1] == clean.texts["script"][1]
    assert page.texts["style"] == clean.texts["style"]
    data = msgspec.json.decode(page.texts["script"][0])
    said = "\n".join(data["strings"])
    assert "<img src=x onerror=alert(1)>" in said
    assert all(text.isprintable() for text in data["strings"])
    assert all(seat["name"].isprintable() for seat in data["seats"])
    (title,) = page.texts["title"]
    assert title.isprintable()


@pytest.mark.parametrize("text", HOSTILE[:-3])
def test_no_text_ends_the_element_that_holds_the_data(text: str) -> None:
    written = json_in_script([text])
    assert msgspec.json.decode(written) == [text]
    assert not set(written) & set("<>&\u2028\u2029")


@pytest.mark.parametrize("bad", ["a</SCRIPT>", "<!-- a", "a\r\n", "a</style >", "\0"])
def test_a_script_of_ours_that_would_end_its_element_is_an_error(bad: str) -> None:
    with pytest.raises(InternalError, match="expected a script or style without"):
        raw(bad)


def test_the_viewer_writes_no_markup() -> None:
    folder = Path(extras.__file__).parents[1] / "pages" / "viewer"
    script = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.js"))
    assert script.count("globalThis.arena") > 3
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
        "import(",
    ):
        assert word not in script
    # The page at which a person plays talks to the server that sent it. The pages of games to neither that nor others.
    assert "fetch(" not in script.replace((folder / "play.js").read_text(encoding="utf-8"), "")
    assert all("url(" not in path.read_text(encoding="utf-8") for path in folder.glob("*.css"))


def test_equal_games_have_equal_pages(samurai: Log) -> None:
    assert game_page(samurai) == game_page(samurai)


def test_the_command_writes_a_page(samurai: Log, tmp_path: Path) -> None:
    write_log(tmp_path / "game.jsonl", [samurai.header, *samurai.records])
    page = tmp_path / "game.html"
    done = CliRunner().invoke(cli, ["replay", str(tmp_path / "game.jsonl"), "--html", str(page)])
    assert done.exit_code == 0, done.output
    assert page.read_text(encoding="utf-8") == game_page(samurai)
    assert f"{page} is written" in done.stderr
    assert done.stdout == ""
    done = CliRunner().invoke(cli, ["replay", str(tmp_path / "game.jsonl"), "--html", str(page), "--seat", "1"])
    assert page.read_text(encoding="utf-8") == game_page(samurai, 1)


def test_the_command_writes_whole_games_only(samurai: Log, tmp_path: Path) -> None:
    write_log(tmp_path / "game.jsonl", [samurai.header, *samurai.records])
    for words in (["--turn", "3"], ["--all"], ["--seat", "2"]):
        command = ["replay", str(tmp_path / "game.jsonl"), "--html", str(tmp_path / "game.html"), *words]
        assert CliRunner().invoke(cli, command).exit_code == 2
    assert not (tmp_path / "game.html").exists()


def test_the_command_says_that_a_file_cannot_be_written(samurai: Log, tmp_path: Path) -> None:
    write_log(tmp_path / "game.jsonl", [samurai.header, *samurai.records])
    (tmp_path / "file").write_text("")
    wrong = tmp_path / "file" / "game.html"
    done = CliRunner().invoke(cli, ["replay", str(tmp_path / "game.jsonl"), "--html", str(wrong)])
    assert isinstance(done.exception, SystemExit)
    assert "expected a file that can be written" in done.output


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "MODULES", {"pages": ("jinja2", "no_such_module")})
    with pytest.raises(ConfigError, match=r"no no_such_module; install them: pip install no_such_module"):
        extras.need("pages", "--html")


def test_the_extra_is_what_the_package_declares(root: Path) -> None:
    declared = (root / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^pages = \[\n(.*?)^\]", declared, re.DOTALL | re.MULTILINE)
    assert block
    assert tuple(re.findall(r'"(\w+)', block[1])) == extras.MODULES["pages"]
