"""What a bot sees of the machine's files: its own, and the runtimes that it names and that are granted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.core.errors import BotError
from arena.core.link import runtimes
from arena.core.link.bots import BotSpec, load_bot
from arena.sandbox import binds
from arena.sandbox.binds import check, needs, shows
from tests.archive_kit import make


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What was found out for a made-up installation must not be remembered for another.

    The path has the system's own programs only: on some machines it has links to them in other folders.
    """
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("ARENA_RUNTIMES", "{}")
    yield
    for cached in (needs, binds.toolchains, runtimes.program, runtimes._libraries):
        cached.cache_clear()


def program(path: Path, content: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)
    return path


def bot(tmp_path: Path, *command: str, **fields: Any) -> BotSpec:
    folder = tmp_path / "bots" / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    word = command[0]
    called = {} if "/" in word or "{" in word else {"runtimes": ((word, runtimes.find(word) or ""),)}
    return BotSpec(
        name="mine", version="", command=command, folder=str(folder), digest="0" * 64, **{**called, **fields}
    )


def test_a_bot_of_the_system_s_programs_sees_its_folder(tmp_path: Path) -> None:
    spec = bot(tmp_path, "sh", "-c", "true")
    assert needs(spec).trees == {"/bot": spec.folder}
    assert (needs(spec).folder, needs(spec).command) == ("/bot", ("/usr/bin/sh", "-c", "true"))


def test_a_granted_program_is_seen_under_every_name_with_what_it_is_installed_with(tmp_path: Path) -> None:
    node = program(tmp_path / "node-20" / "bin" / "node")
    (tmp_path / "current").symlink_to("node-20")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "node").symlink_to(tmp_path / "current" / "bin" / "node")
    runtimes.grant({"node": str(tmp_path / "links" / "node")}, "arena.toml")
    spec = bot(tmp_path, "node", "bot.js")
    link, current, real = (str(path) for path in (tmp_path / "links/node", tmp_path / "current", node.parents[1]))
    assert needs(spec).trees == {"/bot": spec.folder, link: link, current: current, real: real}
    assert needs(spec).command == (link, "bot.js")
    assert needs(spec).path.split(":")[0] == str(tmp_path / "links")


def test_a_java_is_told_how_much_memory_there_is_before_the_bot_s_own_arguments(tmp_path: Path) -> None:
    java = program(tmp_path / "jdk" / "bin" / "java")
    runtimes.grant({"java": str(java)}, "arena.toml")
    spec = bot(tmp_path, "java", "-Xmx64m", "Bot", memory_mib=300)
    assert needs(spec).command == (str(java), "-XX:MaxRAM=300m", "-Xmx64m", "Bot")


def test_of_an_installation_with_private_things_only_programs_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    tool = program(tmp_path / ".cargo" / "bin" / "tool")
    (tmp_path / ".cargo" / "credentials.toml").write_text("token")
    runtimes.grant({"tool": str(tool)}, "arena.toml")
    spec = bot(tmp_path, "tool")
    assert not shows(spec, tmp_path / ".cargo" / "credentials.toml")
    assert shows(spec, tool)


def test_of_a_conda_only_the_environment_of_the_program_is_seen(tmp_path: Path) -> None:
    conda = tmp_path / "miniconda3"
    base, other = program(conda / "bin" / "tool"), program(conda / "envs" / "other" / "bin" / "tool")
    for path in (conda / "conda-meta", conda / "envs" / "other" / "conda-meta", conda / "lib", conda / "pkgs"):
        path.mkdir(exist_ok=True)
    (conda / ".condarc").write_text("token")
    for tool, seen, unseen in (
        (base, ("bin", "lib"), ("envs", "envs/other/bin", "pkgs", ".condarc")),
        (other, ("envs/other/bin",), ("bin", "lib", "envs", "pkgs", ".condarc")),
    ):
        runtimes.grant({"tool": str(tool)}, "arena.toml")
        spec = bot(tmp_path, "tool")
        needs.cache_clear()
        assert [name for name in (*seen, *unseen) if shows(spec, conda / name)] == [*seen]


def test_a_home_is_known_whoever_s_it_is_and_whatever_home_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service has none, sudo keeps another's, and a home may be a link."""
    home, tool = tmp_path / "data" / "me", program(tmp_path / "data" / "me" / ".cargo" / "bin" / "tool")
    (home / ".cargo" / "credentials.toml").write_text("token")
    (tmp_path / "me").symlink_to(home)
    monkeypatch.setattr(runtimes, "_home_of", lambda user: str(tmp_path / "me"))
    monkeypatch.setenv("HOME", "/nonexistent")
    runtimes.grant({"tool": str(tool)}, "arena.toml")
    spec = bot(tmp_path, "tool")
    assert not shows(spec, home / ".cargo" / "credentials.toml")
    assert shows(spec, tool)


def test_a_python_is_seen_with_its_packages_and_nothing_else_that_is_installed(tmp_path: Path) -> None:
    seen, with_arena = (needs(bot(tmp_path, word, "bot.py")) for word in (runtimes.PYTHON, runtimes.PYTHON_WITH_ARENA))
    packages = {Path(path).parts[2] for path in seen.trees if path.startswith("/python/")}
    assert {"zmq", "msgpack", "msgspec", "numpy"} <= packages
    assert not {"arena", "pytest", "click", "sqlite_utils"} & packages
    arena = {Path(path).parts[3] for path in with_arena.trees if path.startswith("/python/arena/")}
    assert {"core", "cli", "__init__.py"} <= arena
    bundled = [path for path in with_arena.trees if path.startswith("/python/arena/bundled")]
    assert bundled == ["/python/arena/bundled/boards"]
    for spec in (seen, with_arena):
        installed = [path for path in spec.trees.values() if path.endswith("site-packages")]
        assert installed == []
        assert spec.command[0] == runtimes.python(runtimes.PYTHON).program


@pytest.mark.parametrize(
    "word", ["python3", "/usr/bin/env", "/tmp/python3", "nothing", "make", "../../etc/python3", "../../python3"]
)
def test_what_is_not_granted_is_refused_and_not_run(tmp_path: Path, word: str) -> None:
    program(tmp_path / "python3", f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    with pytest.raises(BotError, match=r"mine: expected a (command|program)"):
        needs(bot(tmp_path, word, "bot.py"))
    assert not (tmp_path / "was-run").exists()


def test_a_link_out_of_the_folder_is_no_program_of_the_bot(tmp_path: Path) -> None:
    program(tmp_path / "elsewhere" / "python3", "")
    spec = bot(tmp_path, "./python3")
    (Path(spec.folder) / "python3").symlink_to(tmp_path / "elsewhere" / "python3")
    with pytest.raises(BotError, match=r"expected a program in the bot's folder, got: \./python3"):
        needs(spec)


def test_a_script_is_no_program_and_its_first_line_is_not_followed(tmp_path: Path) -> None:
    spec = bot(tmp_path, "./bot")
    program(Path(spec.folder) / "bot", f"#!{tmp_path}/python3\n")
    program(tmp_path / "python3", f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    with pytest.raises(BotError, match=r'a script; name its runtime in `command`, such as .* \["sh", "\./bot"\]'):
        needs(spec)
    assert not (tmp_path / "was-run").exists()


def test_programs_that_a_manifest_needs_must_be_granted_too(tmp_path: Path) -> None:
    folder = tmp_path / "bots" / "mine"
    program(folder / "bot", "")
    shutil.copy("/bin/sh", folder / "bot")
    (folder / "bot.toml").write_text('name = "mine"\ncommand = ["./bot"]\nneeds = ["env"]\n')
    with pytest.raises(BotError, match=r"got: 'env'; change `command` and `needs`, or ask the operator to grant it"):
        needs(load_bot(str(folder)))


def test_a_program_beside_the_folder_is_seen_where_it_lies(tmp_path: Path) -> None:
    built = program(tmp_path / "bots" / "target" / "mine", "")
    spec = bot(tmp_path, "../target/mine")
    assert needs(spec).trees == {"/bot/mine": spec.folder, "/bot/target/mine": str(built)}
    assert needs(spec).command == ("../target/mine",)


def test_a_manifest_names_what_lies_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "bots" / "mine"
    folder.mkdir(parents=True)
    (tmp_path / "bots" / "common.py").write_text("")
    (folder / "bot.toml").write_text('name = "mine"\ncommand = ["sh"]\ninclude = ["../common.py"]\nneeds = ["awk"]\n')
    spec = load_bot(str(folder))
    common = tmp_path / "bots" / "common.py"
    assert needs(spec).trees == {"/bot/mine": str(folder), "/bot/common.py": str(common)}
    assert needs(spec).folder == "/bot/mine"


@pytest.mark.parametrize(
    "named", ['include = ["../rival/bot.py"]', 'include = ["../rival"]', 'include = ["../linked"]']
)
def test_a_manifest_may_not_name_files_of_another_bot(named: str, tmp_path: Path) -> None:
    """A stranger's bots may lie beside others', and a tournament has not all of them as entrants."""
    make(tmp_path / "bots" / "rival", {"bot.toml": 'name = "rival"\ncommand = ["sh"]\n', "bot.py": ""})
    (tmp_path / "bots" / "linked").symlink_to("rival")
    folder = make(tmp_path / "bots" / "mine", {"bot.toml": f'name = "mine"\ncommand = ["sh"]\n{named}\n'})
    with pytest.raises(BotError, match=r"expected files that are no other bot's, got: .* of the bot in "):
        needs(load_bot(str(folder)))


def test_a_program_beside_the_folder_may_not_be_another_bot_s(tmp_path: Path) -> None:
    rival = make(tmp_path / "bots" / "rival", {"bot.toml": 'name = "rival"\ncommand = ["sh"]\n'})
    program(rival / "program", "")
    with pytest.raises(BotError, match="expected files that are no other bot's"):
        needs(bot(tmp_path, "../rival/program"))


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
    assert {str(cargo.parents[1]), str(go.parents[1])} <= set(found.trees.values())
    assert not any(path.startswith(str(home / ".cargo")) or path in (str(home), str(tmp_path)) for path in found.trees)
    assert str(cargo.parent) in found.path.split(":")
    assert str(go.parent) in found.path.split(":")
    assert str(rustup.parent) not in found.path
