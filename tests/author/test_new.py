"""New bots: what is copied, what is filled in, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.author.commands.new import new
from arena.author.new import NewBot, new_bot, templates
from arena.core.errors import ConfigError, InternalError
from arena.core.link.bots import load_bot, read_manifest, work
from arena.core.resources import protocol_folder

MANIFEST = """\
name = "NAME"
author = ""
command = ["{python}", "bot.py"]
include = [
    "../client.py",
    "../pack/more.py",
]  # from outside
build = ["no-such-tool"]
built = ["out"]
"""


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bundled bots: a template in a language of its own, and a bot."""
    template = tmp_path / "bots" / "tongue" / "template"
    for name in ("sub/__pycache__", "out/deep", "node_modules"):
        (template / name).mkdir(parents=True)
        (template / name / "made").touch()
    (template / "bot.toml").write_text(MANIFEST)
    (template / "bot.py").write_text("NAME = 1\n")
    (template / "README.md").write_text("# NAME\n\nNAMES of RENAME, NAME.\n")
    (template / ".gitignore").write_text("/out/\n")
    (template / "sub" / "data.bin").write_bytes(b"\0\xff")
    (template.parent / "client.py").write_text("client")
    (template.parent / "pack").mkdir()
    (template.parent / "pack" / "more.py").write_text("more")
    (tmp_path / "bots" / "AGENTS.md").write_text("Read BOT.md, then `arena bot check NAME`.\n")
    taken = tmp_path / "bots" / "tongue" / "taken"
    taken.mkdir()
    (taken / "bot.toml").write_text('name = "taken"\ncommand = ["sh"]\n')
    for module in ("arena.author.new.resources", "arena.core.link.bots"):
        monkeypatch.setattr(f"{module}.bots_folder", lambda: tmp_path / "bots")
    return tmp_path / "bots"


def make(parent: Path, name: str = "ronin", language: str = "tongue", author: str = "") -> NewBot:
    return new_bot(name, language=language, author=author, parent=parent)


def test_the_folder_stands_alone(bots: Path, tmp_path: Path) -> None:
    made = make(tmp_path)
    assert made == NewBot(folder=tmp_path / "ronin", build="no-such-tool", missing="no-such-tool")
    files = {str(path.relative_to(made.folder)) for path in made.folder.rglob("*") if path.is_file()}
    assert files == {
        "bot.toml",
        "bot.py",
        "README.md",
        ".gitignore",
        "sub/data.bin",
        "client.py",
        "pack/more.py",
        "AGENTS.md",
        "BOT.md",
    }
    manifest = read_manifest(made.folder)
    assert (manifest.name, manifest.author, manifest.include, manifest.built) == ("ronin", "", (), ("out",))
    assert (made.folder / "sub" / "data.bin").read_bytes() == b"\0\xff"


def test_the_name_is_filled_in_where_it_stands_for_the_bot(bots: Path, tmp_path: Path) -> None:
    folder = make(tmp_path, "a.b-c").folder
    assert (folder / "README.md").read_text() == "# a.b-c\n\nNAMES of RENAME, a.b-c.\n"
    assert (folder / "bot.py").read_text() == "NAME = 1\n"
    assert (folder / "AGENTS.md").read_text() == "Read BOT.md, then `arena bot check a.b-c`.\n"


@pytest.mark.parametrize("author", ["Ann", 'Ann "the \\1 cat" Lee', "æ 江戸", "x" * 256])
def test_the_author(bots: Path, tmp_path: Path, author: str) -> None:
    assert read_manifest(make(tmp_path, author=author).folder).author == author


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "a b"}, "expected at most 64 letters"),
        ({"name": "../x"}, "expected at most 64 letters"),
        ({"name": "taken"}, "got: 'taken', which is a bundled bot"),
        ({"language": "tonge"}, r"among tongue, got: 'tonge' \(did you mean 'tongue'\?\)"),
        ({"author": "a\nb"}, "visible characters as the author"),
        ({"author": "\udcff"}, "visible characters as the author"),
        ({"author": "x" * 257}, "at most 256"),
    ],
)
def test_what_is_refused_changes_nothing(bots: Path, tmp_path: Path, arguments: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make(tmp_path, **arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["bots"]


def test_a_bridge_is_for_any_language(tmp_path: Path) -> None:
    """The folder holds a bot that plays, its language and the page by which it is written anew."""
    manifest = read_manifest(new_bot("moon", language="Lua 5.4", author="", parent=tmp_path, bridge=True).folder)
    assert manifest.language == "Lua 5.4"
    assert manifest.command[3:5] == ("bot", "bridge")
    assert (tmp_path / "moon" / "BOT.md").read_bytes() == (protocol_folder() / "BOT.md").read_bytes()
    with pytest.raises(ConfigError, match="visible characters as the language"):
        new_bot("sun", language="a\nb", author="", parent=tmp_path, bridge=True)
    with pytest.raises(ConfigError, match="for any other add --bridge"):
        new_bot("sun", language="lua", author="", parent=tmp_path)


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_nothing_is_written_over(bots: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "ronin"
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.touch()
    else:
        target.symlink_to("nowhere")
    with pytest.raises(ConfigError, match=r"expected a name that is free, got: .*ronin.*which is there already"):
        make(tmp_path)
    assert not (tmp_path / "nowhere").exists()


def test_a_place_where_nothing_can_be_written(bots: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"expected a folder that can be written, got: .*Not a directory"):
        make(tmp_path / "file")


def test_a_template_that_is_not_whole(bots: Path, tmp_path: Path) -> None:
    (bots / "tongue" / "client.py").unlink()
    with pytest.raises(InternalError, match=r"expected the file 'client.py' of a template, got: No such"):
        make(tmp_path)


@pytest.mark.parametrize("language", templates())
def test_the_templates(language: str, tmp_path: Path) -> None:
    """Each makes a folder that says how its bot is used, and help names the language."""
    folder = make(tmp_path, language=language).folder
    manifest = read_manifest(folder)
    assert manifest.language == language
    assert not manifest.rules, "a template plays every game"
    readme = (folder / "README.md").read_text()
    for command in (
        "arena bot check ronin",
        "arena match ronin greedy",
        *(["arena bot build ronin"] * bool(work(manifest))),
    ):
        assert command in readme
    help_text = next(parameter.help for parameter in new.params if parameter.name == "language")  # type: ignore[attr-defined]
    assert language in help_text
    if not work(manifest) and not manifest.needs:
        assert load_bot(str(folder)).name == "ronin"
