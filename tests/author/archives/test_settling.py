"""What stays of a folder in which a stranger's program has built a bot."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.author.archives.settling import settle, tree_digest, what_stays
from arena.core.errors import BotError
from arena.core.link.bots import Manifest
from tests.archive_kit import make, tree


def test_what_was_sent_and_what_is_named_stays() -> None:
    manifest = Manifest(
        name="fox", command=("../out/fox", "x"), built=("lib", "deps"), fetched=("../vendor", "deps"), build=("make",)
    )
    sent = ("a.h", "fox/bot.toml", "fox/deps/d", "vendor/v", "vendored")
    stays = {"a.h", "fox/bot.toml", "fox/deps/d", "vendored", "out/fox", "fox/lib", "fox/deps"}
    assert set(what_stays("fox", manifest, sent)) == stays


@pytest.mark.parametrize("program", ["python3", "/usr/bin/python3", "../../out"])
def test_programs_of_the_machine_are_no_part_of_it(program: str) -> None:
    assert what_stays(".", Manifest(name="fox", command=(program,)), ["bot.toml"]) == ["bot.toml"]


def test_all_else_goes(tmp_path: Path) -> None:
    make(tmp_path, {"a/b/c": "1", "a/b/d": "2", "a/e/f": "3", "g": "4", "h": "5", "out/x/y": "6", "out/z": "7"})
    (tmp_path / "empty").mkdir()
    (tmp_path / "dangling").symlink_to("/etc")
    assert settle(tmp_path, ["a/b/c", "g", "out"]) == 4
    assert set(tree(tmp_path)) == {"a/b/c", "g", "out/x/y", "out/z"}
    assert {path.name for path in tmp_path.iterdir()} == {"a", "g", "out"}


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "a/../../outside", "loop"])
def test_no_link_leads_out(tmp_path: Path, target: str) -> None:
    top = make(tmp_path / "top", {"a/file": "1"})
    (top / "loop").symlink_to("loop2")
    (top / "loop2").symlink_to("/proc/self/root")
    (top / "data").symlink_to(target)
    with pytest.raises(BotError, match="expected links that stay among the bot's files, got: '"):
        settle(top, ["data", "a", "loop", "loop2"])


def test_no_link_takes_the_place_of_a_folder_that_was_sent(tmp_path: Path) -> None:
    """What the manifest names would be looked for from where the link leads: `../DIGEST` would be another's bot."""
    (tmp_path / "bot.toml").touch()
    (tmp_path / "fox").symlink_to(".")
    with pytest.raises(BotError, match=r"expected a folder, as it was sent, got: a link to '.' - at fox"):
        settle(tmp_path, ["bot.toml", "fox/bot.toml"])


def test_links_inside_stay(tmp_path: Path) -> None:
    make(tmp_path, {"lib/v1/x": "1"})
    (tmp_path / "lib" / "current").symlink_to("v1")
    assert settle(tmp_path, ["lib"]) == 0
    assert (tmp_path / "lib" / "current" / "x").read_text() == "1"


def test_the_digest_tells_names_contents_programs_and_links(tmp_path: Path) -> None:
    def digest_of(name: str, files: dict[str, str], programs: tuple[str, ...] = (), link: str = "a") -> str:
        folder = make(tmp_path / name, files, programs)
        (folder / "link").symlink_to(link)
        return tree_digest(folder)

    files = {"a": "1", "b/c": "2"}
    same = digest_of("1", files)
    others = [
        digest_of("2", {"a": "1", "b/c": "3"}),
        digest_of("3", {"a": "1", "b/d": "2"}),
        digest_of("4", files, ("a",)),
        digest_of("5", files, link="b"),
        digest_of("6", {"a": "1", "b": "2"}),
    ]
    assert digest_of("7", dict(reversed(files.items()))) == same
    assert len({same, *others}) == 6
