"""Runtimes: which programs bots may call by name, and what is given of an installation."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import BotError, ConfigError, MachineFault
from arena.core.link import runtimes
from arena.core.link.bots import load_bot
from arena.core.link.runtimes import _libraries, _links, find, grant, is_in, is_private, names, outermost


@pytest.fixture(autouse=True)
def nothing_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_RUNTIMES", "{}")


def test_what_is_granted_wins_over_the_path_and_is_listed() -> None:
    assert find("true") is None
    grant({"true": "/usr/bin/true", "perl": "/usr/bin/env"}, "arena.toml")
    assert (find("true"), find("perl")) == ("/usr/bin/true", "/usr/bin/env")
    assert {"{python}", "{python+arena}", "true", "perl"} <= {*names()}


def test_a_program_that_is_granted_need_not_be_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.toml").write_text('name = "fox"\ncommand = ["shell", "bot.sh"]\n')
    with pytest.raises(BotError, match="got: no such program on the path"):
        load_bot(str(tmp_path))
    grant({"shell": "/bin/sh"}, "arena.toml")
    assert load_bot(str(tmp_path)).runtimes == (("shell", "/bin/sh"),)


def test_a_relative_folder_of_the_path_grants_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sh").touch(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".::")
    assert find("sh") in ("/usr/bin/sh", "/bin/sh"), "the system's own folders need not be named"
    monkeypatch.delenv("PATH")
    assert find("sh") in ("/usr/bin/sh", "/bin/sh")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"node": "node"},
            r"league\.toml: expected the absolute path of a program .* got: 'node', which does not begin with",
        ),
        ({"node": "/no/such"}, r"which is not there - at runtimes\.node; `command -v node` prints where it is"),
        ({"node": "/usr/bin"}, r"got: '/usr/bin', which is a folder"),
        ({"node": "/etc/passwd"}, r"which may not be run: `chmod \+x` it"),
        ({"a/b": "/usr/bin/env"}, r"expected names of programs in \[runtimes\], got: 'a/b'"),
        ({"{python}": "/usr/bin/env"}, r"expected names of programs"),
    ],
)
def test_what_cannot_be_granted_is_named_with_its_place(table: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        grant(table, "league.toml")


def test_a_machine_that_cannot_run_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: object, **how: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    _libraries.cache_clear()
    monkeypatch.setattr(runtimes.subprocess, "run", refuse)
    with pytest.raises(MachineFault, match="got: Resource temporarily unavailable"):
        _libraries("/usr/bin/env")


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert str(tmp_path / "a") in list(_links(str(tmp_path / "a")))


def test_a_home_and_what_lies_above_it_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "homes" / "me"))
    (tmp_path / "homes" / "me" / "bot").mkdir(parents=True)
    assert is_private(str(tmp_path / "homes" / "me"))
    assert is_private(str(tmp_path / "homes"))
    assert not is_private(str(tmp_path / "homes" / "me" / "bot"))


def test_the_temporary_folder_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert is_private(str(tmp_path))


PATHS = st.lists(st.sampled_from(["a", "b", "b.c", "usr", "tmp"]), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(st.lists(PATHS, max_size=8))
def test_no_tree_lies_in_another_and_nothing_is_lost(paths: list[str]) -> None:
    kept = outermost(paths)
    for tree in kept:
        assert not is_in(tree, [other for other in kept if other != tree])
        assert tree in paths
    for path in paths:
        assert is_in(path, (*kept, "/usr"))
