"""What a bot sees of the machine's files, computed for installations that are made up here."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import arena
from arena.errors import BotError, MachineFault
from arena.link.bots import BotSpec, load_bot
from arena.link.sandbox import binds
from arena.link.sandbox.binds import _followed, _is_in, _names, _outermost, check, is_private, needs, shows


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What was computed for a made-up installation must not be remembered for another.

    The path has the system's own programs only: on some machines it has links to them in other folders.
    """
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    yield
    for cached in (needs, binds._ask, binds._libraries, binds.toolchains):
        cached.cache_clear()


def program(path: Path, content: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)
    return path


def bot(tmp_path: Path, *command: str, **fields: Any) -> BotSpec:
    folder = tmp_path / "bots" / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    return BotSpec(name="mine", version="", command=command, folder=str(folder), digest="0" * 64, **fields)


def trees(spec: BotSpec) -> set[str]:
    return set(needs(spec).trees)


def test_a_bot_of_the_system_s_programs_sees_its_folder(tmp_path: Path) -> None:
    spec = bot(tmp_path, "sh", "-c", "true")
    assert trees(spec) == {spec.folder}


def test_a_toolchain_is_seen_whole_under_every_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = program(tmp_path / "node-20" / "bin" / "node")
    (tmp_path / "current").symlink_to("node-20")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "node").symlink_to(tmp_path / "current" / "bin" / "node")
    monkeypatch.setenv("PATH", f"{tmp_path}/links:/usr/bin:/nowhere")
    spec = bot(tmp_path, "node", "bot.js")
    assert trees(spec) == {
        spec.folder, str(tmp_path / "links" / "node"), str(tmp_path / "current"), str(node.parents[1]),
    }  # fmt: skip
    assert needs(spec).path == f"{tmp_path}/links:/usr/bin:/usr/local/bin:/bin"


def test_a_script_brings_its_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ruby = program(tmp_path / "ruby" / "bin" / "ruby")
    monkeypatch.setenv("PATH", f"{ruby.parent}:/usr/bin")
    spec = bot(tmp_path, "./bot")
    program(Path(spec.folder) / "bot", "#!/usr/bin/env -S ruby -w\n")
    assert trees(spec) == {spec.folder, str(tmp_path / "ruby")}


def test_programs_that_a_manifest_needs_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = program(tmp_path / "tools" / "bin" / "tool")
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin")
    spec = bot(tmp_path, "sh", reads=(str(tool),))
    assert trees(spec) == {spec.folder, str(tmp_path / "tools")}


def test_of_an_installation_with_private_things_only_programs_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    tool = program(tmp_path / ".cargo" / "bin" / "tool")
    (tmp_path / ".cargo" / "credentials.toml").write_text("token")
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin")
    spec = bot(tmp_path, "tool")
    assert trees(spec) == {spec.folder, str(tool.parent)}
    assert not shows(spec, tmp_path / ".cargo" / "credentials.toml")
    assert shows(spec, tool)


def test_a_python_is_seen_with_all_it_imports_from(tmp_path: Path) -> None:
    spec = bot(tmp_path, sys.executable, "bot.py")
    package = os.path.dirname(os.path.realpath(arena.__file__))
    imports = [path for path in sys.path[1:] if "site-packages" in path or path.startswith(sys.base_prefix)]
    for path in (spec.folder, sys.prefix, sys.base_prefix, *imports, package):
        if os.path.exists(path):
            assert _is_in(path, [*needs(spec).trees, "/usr"]), path
    assert not shows(spec, Path(package).parent / "bots")


def test_a_python_that_comes_with_the_bot_is_never_run(tmp_path: Path) -> None:
    spec = bot(tmp_path, "venv/bin/python", "bot.py")
    program(Path(spec.folder) / "venv" / "bin" / "python", f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    assert trees(spec) == {spec.folder}
    assert not (tmp_path / "was-run").exists()


def test_a_python_beside_the_bot_s_folder_is_never_run(tmp_path: Path) -> None:
    spec = bot(tmp_path, "../python", "bot.py")
    program(tmp_path / "bots" / "python", f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    assert str(tmp_path / "bots" / "python") in trees(spec)
    assert not (tmp_path / "was-run").exists()


def test_an_included_program_is_never_run(tmp_path: Path) -> None:
    included = program(tmp_path / "bots" / "python3", f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    spec = bot(tmp_path, "sh", reads=(str(included),))
    assert trees(spec) == {spec.folder, str(included)}
    assert not (tmp_path / "was-run").exists()


def test_a_virtual_environment_of_the_bot_s_own_is_asked_by_what_it_was_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(binds, "_ask", lambda python: asked.append(python) or ("/x/bin/python", "/x", "/x"))
    monkeypatch.setattr(binds._ask, "cache_clear", lambda: None, raising=False)
    spec = bot(tmp_path, "venv/bin/python", "bot.py")
    link = Path(spec.folder) / "venv" / "bin" / "python"
    link.parent.mkdir(parents=True)
    link.symlink_to(sys.executable)
    needs(spec)
    assert asked == [os.path.realpath(sys.executable)]


def test_a_manifest_names_what_lies_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "bots" / "mine"
    folder.mkdir(parents=True)
    (tmp_path / "bots" / "common.py").write_text("")
    (folder / "bot.toml").write_text('name = "mine"\ncommand = ["sh"]\ninclude = ["../common.py"]\nneeds = ["env"]\n')
    spec = load_bot(str(folder))
    assert trees(spec) == {str(folder), str(tmp_path / "bots" / "common.py")}


@pytest.mark.parametrize("link", [False, True])
def test_a_manifest_may_not_name_any_file(link: bool, tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("secret")
    named = tmp_path / "bots" / "harmless"
    spec = bot(tmp_path, "sh", reads=(str(named if link else secret),))
    if link:
        named.symlink_to(secret)
    with pytest.raises(
        BotError, match=r"expected files beside the bot's folder, in .*, and no hidden ones, got: .*; move it there"
    ):
        needs(spec)


@pytest.mark.parametrize(
    "folder", ["/", "/tmp", "/etc", "/etc/ssl", "/home/somebody", "/proc/1", "/var", "/run/user/7"]
)
def test_a_bot_may_not_stand_in_a_folder_of_others(folder: str) -> None:
    spec = BotSpec(name="mine", version="", command=("sh",), folder=folder, digest="0" * 64)
    with pytest.raises(BotError, match=f"mine: expected a bot in a folder of its own.*got: {folder},.*move the bot"):
        needs(spec)


def test_nor_in_a_home_or_above_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "homes" / "me"))
    (tmp_path / "homes" / "me" / "bot").mkdir(parents=True)
    assert is_private(str(tmp_path / "homes" / "me"))
    assert is_private(str(tmp_path / "homes"))
    assert not is_private(str(tmp_path / "homes" / "me" / "bot"))


def test_nor_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert is_private(str(tmp_path))


def test_a_machine_that_cannot_run_an_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: Any, **how: Any) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    binds._ask.cache_clear()  # another test may have asked the same interpreter
    monkeypatch.setattr(binds.subprocess, "run", refuse)
    with pytest.raises(MachineFault, match="got: Resource temporarily unavailable"):
        needs(bot(tmp_path, sys.executable, "bot.py"))


def test_a_loop_of_interpreters_and_of_links_ends(tmp_path: Path) -> None:
    first = program(tmp_path / "first", f"#!{tmp_path}/second\n")
    second = program(tmp_path / "second", f"#!{tmp_path}/first\n")
    assert list(_followed(str(first))) == [str(first), str(second)]
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert str(tmp_path / "a") in list(_names(str(tmp_path / "a")))


def test_before_a_tournament_it_is_checked_what_bots_would_see(tmp_path: Path) -> None:
    mine = bot(tmp_path, "sh")
    inner = tmp_path / "bots" / "mine" / "inner"
    inner.mkdir()
    database = tmp_path / "bots" / "mine" / "arena.db"
    check([mine, mine], [tmp_path / "arena.db", tmp_path / "logs"])
    with pytest.raises(BotError, match=rf"mine: .* would see {database}, because it lies in {mine.folder}; move one"):
        check([mine], [database])
    rival = BotSpec(name="rival", version="", command=("sh",), folder=str(inner), digest="0" * 64)
    with pytest.raises(BotError, match=f"mine: .* would see {inner}"):
        check([rival, mine], [])


PATHS = st.lists(st.sampled_from(["a", "b", "b.c", "usr", "tmp"]), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(st.lists(PATHS, max_size=8))
def test_no_tree_lies_in_another_and_nothing_is_lost(paths: list[str]) -> None:
    kept = _outermost(paths)
    for tree in kept:
        assert not _is_in(tree, [other for other in kept if other != tree])
        assert tree in paths
    for path in paths:
        assert _is_in(path, (*kept, "/usr"))


def test_a_build_sees_the_compilers_of_the_machine_and_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    cargo = program(home / ".rustup/toolchains/stable/bin/cargo")
    rustup = program(home / ".cargo/bin/rustup", f'#!/bin/sh\n[ "$1 $2" = "which cargo" ] && echo {cargo}\n')
    (rustup.parent / "cargo").symlink_to("rustup")
    (home / ".cargo" / "credentials.toml").touch()
    go = program(tmp_path / "go-1.22/bin/go")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{rustup.parent}:{go.parent}:/usr/bin:/bin")
    found = binds.toolchains()
    assert {str(cargo.parents[1]), str(go.parents[1])} <= set(found.trees)
    assert not any(path.startswith(str(home / ".cargo")) or path in (str(home), str(tmp_path)) for path in found.trees)
    assert found.path.split(":")[0] == str(cargo.parent)
    assert str(go.parent) in found.path.split(":")
    assert str(rustup.parent) not in found.path
