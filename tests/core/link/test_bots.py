"""Bots are found, and their manifests read strictly."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from arena.core.errors import BotError
from arena.core.link.bots import (
    BotSpec,
    Missing,
    bundled_bots,
    bundled_folders,
    check_name,
    find_bot,
    load_bot,
    missing,
    missing_tool,
    parse_manifest,
    placed_ref,
    read_manifest,
    read_ref,
)
from arena.core.link.programs import ABSENT, NOT_INSTALLED
from arena.core.link.runtimes import resolved

GOOD = 'name = "mine"\nversion = "1.2"\ncommand = ["{python}", "bot.py"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    (made / "bot.toml").write_text(GOOD)
    (made / "bot.py").write_text("pass\n")
    return made


def rewrite(folder: Path, text: str) -> None:
    (folder / "bot.toml").write_text(text)


def load(folder: Path) -> BotSpec:
    return load_bot(str(folder))


def test_a_folder(folder: Path) -> None:
    rewrite(folder, GOOD + 'rules = ["samurai"]\n[limits]\nmemory_mib = 100\nfile_mib = 2\nstart_ms = 3000\n')
    spec = load(folder)
    assert (spec.name, spec.version, spec.rules) == ("mine", "1.2", ("samurai",))
    assert spec.command == ("{python}", "bot.py")
    assert spec.folder == str(folder)
    assert (spec.memory_mib, spec.file_mib, spec.start_ms) == (100, 2, 3000)


TUNE = "[tune]\ndepth = {value = 3, low = 1, high = 8}\nrisk = {value = 0.5, low = -1, high = 1}\n"


def test_parameters_are_sent_as_text(folder: Path) -> None:
    rewrite(folder, GOOD + TUNE)
    spec = load(folder)
    assert spec.parameters == {"depth": "3", "risk": "0.5"}
    assert spec.values == ()
    assert spec.identity == spec.digest


def test_other_values_make_another_bot(folder: Path) -> None:
    rewrite(folder, GOOD + TUNE)
    plain, deep = load(folder), load_bot(f"{folder}@depth=5,risk=-0.25")
    assert deep.parameters == {"depth": "5", "risk": "-0.25"}
    assert (deep.name, deep.suffix) == ("mine@depth=5,risk=-0.25", "@depth=5,risk=-0.25")
    assert deep.own_name == plain.name
    assert deep.digest == plain.digest
    assert deep.identity not in (plain.identity, load_bot(f"{folder}@depth=6,risk=-0.25").identity)
    assert load_bot(f"{folder}@risk=-0.25,depth=5") == deep
    assert load_bot(f"{folder}@depth=3") == plain


def test_a_name_has_no_long_list_of_values(folder: Path) -> None:
    names = [f"parameter_{number:02}" for number in range(9)]
    rewrite(folder, GOOD + "[tune]\n" + "".join(f"{name} = {{value = 3, low = 1, high = 8}}\n" for name in names))
    spec = load_bot(f"{folder}@{','.join(f'{name}=4' for name in names)}")
    assert spec.name == f"mine@{spec.identity[:6]}"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ("deph=5", r"expected a parameter of mine \(depth, risk\), got: 'deph' \(did you mean 'depth'\?\)"),
        ("depth=9", "expected a whole number from 1 to 8 as depth of mine, got: '9'"),
        ("depth=2.5", "expected a whole number from 1 to 8 as depth of mine, got: '2.5'"),
        ("risk=nan", "expected a number from -1 to 1 as risk of mine, got: 'nan'"),
        ("risk=", "expected a number from -1 to 1 as risk of mine, got: ''"),
        ("depth=5,,", "got: '5,,'"),
    ],
)
def test_values_that_cannot_be_are_refused(folder: Path, values: str, reason: str) -> None:
    rewrite(folder, GOOD + TUNE)
    with pytest.raises(BotError, match=reason):
        load_bot(f"{folder}@{values}")


TEXTS = '[arguments]\nbook = "a,b"\nstyle = {value = "bold", choices = ["bold", "shy"]}\n'


def test_parameters_may_be_texts_and_choices(folder: Path) -> None:
    rewrite(folder, GOOD + TUNE + TEXTS)
    assert load(folder).parameters == {"depth": "3", "risk": "0.5", "book": "a,b", "style": "bold"}
    spec = load_bot(f"{folder}@book=../c d,e@f=1,style=shy,depth=4")
    assert spec.parameters == {"depth": "4", "risk": "0.5", "book": "../c d,e@f=1", "style": "shy"}
    assert spec.name == f"mine@{spec.identity[:6]}"
    assert load_bot(f"{folder}@style=shy").name == "mine@style=shy"
    assert load_bot(f"{folder}@style=bold") == load(folder)
    with pytest.raises(BotError, match=r"expected one of bold, shy as style of mine, got: 'sly' \(did you mean 'shy'"):
        load_bot(f"{folder}@style=sly")
    with pytest.raises(BotError, match="expected a text of at most 256 characters"):
        load_bot(f"{folder}@book={'x' * 257}")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('style = {value = "x", choices = ["a"]}', "arguments.style: expected a value among its choices, got: 'x'"),
        ('depth = "x"', "arguments.depth: expected another name than those below tune"),
        ("style = 3", "arguments"),
    ],
)
def test_arguments_that_cannot_be_are_refused(folder: Path, more: str, reason: str) -> None:
    rewrite(folder, f"{GOOD}{TUNE}[arguments]\n{more}\n")
    with pytest.raises(BotError, match=reason):
        load(folder)


def test_what_is_there_is_not_taken_apart(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rewrite(folder, GOOD + TUNE)
    strange = tmp_path / "me@host=1" / "x=y@depth=9"
    shutil.copytree(folder, strange)
    shutil.copytree(folder, tmp_path / "fast=greedy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me@host=1"))
    assert read_ref("fast=greedy") == ("", "fast=greedy", "")
    assert read_ref("quick=greedy@depth=2") == ("quick", "greedy", "depth=2")
    assert read_ref("mine=cmd:python3 bot.py --a=b@c=d") == ("mine", "cmd:python3 bot.py --a=b@c=d", "")
    with pytest.raises(BotError, match="expected NAME=BOT, or a bot, got: 'kite='"):
        read_ref("kite=")
    with pytest.raises(BotError, match="expected a name of at most 64 letters"):
        read_ref("a b=greedy")
    assert read_ref("greedy@style=random") == ("", "greedy", "style=random")
    assert read_ref("cmd:bot --like=random") == ("", "cmd:bot --like=random", "")
    for ref in (str(strange), "me@host=1/x=y@depth=9", "~/x=y@depth=9"):
        for said in (ref, placed_ref(ref, tmp_path)):
            assert (load_bot(said).name, load_bot(said).folder) == ("mine", str(strange))
            assert load_bot(f"a={said}@depth=5").parameters["depth"] == "5"
    named = load_bot("a=./fast=greedy")
    assert (named.name, named.own_name, named.identity) == ("a", "mine", load_bot("fast=greedy").identity)


def test_a_bot_without_parameters_takes_no_values(folder: Path) -> None:
    with pytest.raises(BotError, match=r"expected a parameter of mine \(none: its bot.toml has no \[tune\] or"):
        load_bot(f"{folder}@depth=5")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("depth = {value = 9, low = 1, high = 8}", "tune.depth: expected low < high and a value from low to high"),
        ("depth = {value = 1, low = 1, high = 1}", "tune.depth: expected low < high"),
        ("depth = {value = 1, low = -inf, high = 8}", "tune.depth: expected low < high"),
        ("depth = {value = nan, low = 0, high = 8}", "tune.depth: expected low < high"),
        ("depth = {value = 1, low = 1}", "high"),
        ("depth = 3", "tune"),
        ("'a b' = {value = 3, low = 1, high = 8}", "tune"),
    ],
)
def test_a_table_of_parameters_that_cannot_be_is_refused(folder: Path, line: str, reason: str) -> None:
    rewrite(folder, f"{GOOD}[tune]\n{line}\n")
    with pytest.raises(BotError, match=reason):
        load(folder)


def test_a_folder_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert load_bot("mine") == load_bot("./mine") == load(folder)


def test_a_bundled_bot_goes_before_a_folder_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rename(folder.parent / "random")
    monkeypatch.chdir(folder.parent)
    assert load_bot("random").name == "random"
    assert load_bot("./random").name == "mine"


def test_the_bundled_bots() -> None:
    names = [spec.name for spec in bundled_bots()]
    assert names == sorted(set(names))
    assert {"random", "greedy", "banzai"} <= set(names)


def test_a_template_is_no_bot(monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path) -> None:
    monkeypatch.setattr("arena.core.link.bots.bots_folder", lambda: tmp_path)
    for name in ("one", "template"):
        place = tmp_path / "python" / name
        place.parent.mkdir(exist_ok=True)
        shutil.copytree(folder, place)
    assert bundled_folders() == {"mine": tmp_path / "python" / "one"}


def test_an_unknown_name_suggests_a_close_one(tmp_path: Path) -> None:
    with pytest.raises(BotError, match=r"expected a bot, got: 'randon' \(did you mean 'random'\?\)"):
        load_bot("randon")
    (tmp_path / "ronin").mkdir()
    (tmp_path / "ronin" / "bot.toml").touch()
    with pytest.raises(BotError, match=r"got: .*/ronni, which is none \(did you mean 'ronin'\?\)"):
        load_bot(str(tmp_path / "ronni"))


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    with pytest.raises(BotError, match=r"expected a folder with a bot\.toml, got: "):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"', r"manifest: object missing required field command"),
        (GOOD + 'comand = "x"', r"got: 'comand' \(did you mean 'command'\?\)"),
        (GOOD + "[limits]\nmemory = 3", r"got: 'limits.memory' \(did you mean 'memory_mib'\?\)"),
        (GOOD + "[limits]\nmemory_mib = 1", r"limits.memory_mib: expected int >= 16"),
        (GOOD + "[limits]\nstart_ms = true", r"limits.start_ms: expected int, got bool"),
        (GOOD + "limits = 3", r"limits: expected object, got int"),
        (GOOD + "include = [3]", r"include\[0\]: expected str, got int"),
        (GOOD.replace('["{python}", "bot.py"]', "[]"), r"command: expected array of length >= 1"),
        (GOOD.replace("mine", "a b"), r"name: expected at most 64 letters"),
        (GOOD.replace("mine", "a\\n"), r"name: expected at most 64 letters"),
        (GOOD.replace("mine", "-rf"), r"name: expected at most 64 letters"),
        (GOOD.replace("mine", "x" * 65), r"name: expected at most 64 letters"),
        (GOOD + 'display_name = "\\u202exof"', r"display_name: expected characters that can be seen and turn no text"),
        ("name = ", r"expected a TOML file, got: Invalid value"),
        (GOOD + 'include = ["a\\u0000b"]', r"include\[0\]: expected text without NUL characters"),
        (GOOD + 'uses = ["a gpu"]', r"uses\[0\]: expected names of at most 64 letters, digits and '_'"),
        ("x = " + "[" * 9000, r"expected a TOML file, got: one that is nested too deeply"),
        ("x = " + "9" * 9000, r"expected a TOML file, got: Exceeds the limit"),
        (GOOD.replace("bot.py", "gone.py"), r"expected 'gone.py', which mine needs, got: no such file; install it"),
        (GOOD.replace("{python}", "./bot") + 'build = ["make", "it"]', r"expected './bot'.* run `arena bot build /"),
        (
            GOOD.replace("{python}", "no-such-interpreter") + 'build = ["make"]',
            r"'no-such-interpreter'.*no such program on the path; install it",
        ),
        (
            GOOD + 'needs = ["no-such"]',
            r"expected 'no-such', which mine needs, got: no such program on the path; install",
        ),
        (GOOD + 'build = ["make"]\nbuilt = ["out/data"]', r"expected 'out/data'.* run `arena bot build /"),
    ],
)
def test_a_manifest_that_cannot_be_used(folder: Path, text: str, message: str) -> None:
    rewrite(folder, text)
    with pytest.raises(BotError, match=message) as caught:
        load(folder)
    assert str(caught.value).startswith(str(folder / "bot.toml"))


def test_the_digest_is_what_the_bot_is(folder: Path) -> None:
    before = load(folder).digest
    moved = folder.rename(folder.parent / "elsewhere")
    assert load(moved).digest == before
    (moved / "bot.py").write_text("pass  # changed\n")
    changed = load(moved).digest
    assert changed != before
    (moved / "new.txt").touch()
    assert load(moved).digest != changed


def test_what_a_bot_includes_is_a_file(folder: Path) -> None:
    rewrite(folder, GOOD + 'include = ["../beside"]')
    beside = folder.parent / "beside"
    with pytest.raises(BotError, match=r"expected the file '../beside' of a bot, got: No such file .*/mine/../beside'"):
        load(folder)
    os.mkfifo(beside)
    with pytest.raises(BotError, match=r"got: a pipe, not a regular file"):
        load(folder)
    beside.unlink()
    beside.symlink_to("/dev/zero")
    with pytest.raises(BotError, match=r"got: a device, not a regular file"):
        load(folder)


def test_a_manifest_is_a_file(folder: Path) -> None:
    (folder / "bot.toml").unlink()
    os.mkfifo(folder / "bot.toml")
    with pytest.raises(BotError, match=r"expected a bot's manifest, got: a pipe"):
        load(folder)


def test_links_stay_in_a_bots_folder(folder: Path) -> None:
    (folder / "bot.py").rename(folder / "real.py")
    (folder / "bot.py").symlink_to("real.py")
    digest = load(folder).digest
    for name, where in {"round": "round", "within": "real.py/x", "far": "x" * 300}.items():
        (folder / name).symlink_to(where)  # they lead to no file, and are left out
    assert load(folder).digest == digest
    (folder.parent / "outside.py").write_text("pass\n")
    (folder / "more.py").symlink_to("../outside.py")
    with pytest.raises(
        BotError, match=r"expected the bot's files in its folder, got: 'more.py', which leads to /.*py; "
    ):
        load(folder)


@pytest.mark.parametrize("name", ["x" * 300, "d/" * 3000 + "x"])
def test_names_that_are_too_long_are_no_files(folder: Path, name: str) -> None:
    rewrite(folder, GOOD.replace("bot.py", name))
    with pytest.raises(BotError, match=r"got: no such file"):
        load(folder)
    with pytest.raises(BotError, match=r"expected a program to run"):
        load_bot(f"cmd:./{name}")
    with pytest.raises(BotError, match=r"expected a (bot|folder with a bot)"):
        load_bot(name)
    assert load_bot(f"cmd:{{python}} -c {name}").command[2:] == (name,)


def test_the_digest_leaves_out_what_is_made(folder: Path) -> None:
    before = load(folder).digest
    for made in ("node_modules", "__pycache__", ".git", "sub/__pycache__"):
        (folder / made).mkdir(parents=True)
        (folder / made / "file").touch()
    (folder / ".hidden").touch()
    assert load(folder).digest == before


def test_the_digest_leaves_out_what_is_built(folder: Path) -> None:
    """The same source is the same bot, whatever the compiler made of it."""
    rewrite(folder, GOOD + 'built = ["program", "out/release/"]\n')
    digests = set()
    (folder / "out" / "release").mkdir(parents=True)
    for content in ("gcc", "clang"):
        (folder / "program").write_text(content)
        (folder / "out" / "release" / "object").write_text(content)
        digests.add(load(folder).digest)
    assert len(digests) == 1


def test_the_digest_covers_included_files(folder: Path) -> None:
    rewrite(folder, GOOD + 'include = ["../client.py"]\n')
    (folder.parent / "client.py").write_text("1")
    before = load(folder).digest
    (folder.parent / "client.py").write_text("2")
    assert load(folder).digest != before


def test_contents_do_not_run_into_names(folder: Path) -> None:
    (folder / "a").write_bytes(b"b\x001\x00c")
    before = load(folder).digest
    (folder / "a").write_bytes(b"")
    (folder / "b").write_bytes(b"c")
    assert load(folder).digest != before


def test_a_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    spec = load_bot("cmd:{python} bot.py --name 'two words'")
    assert spec.name == "bot"
    assert spec.command == ("{python}", "bot.py", "--name", "two words")
    assert spec.folder == str(folder)
    (folder / "bot.py").write_text("changed")
    assert load_bot("cmd:{python} bot.py --name 'two words'").digest != spec.digest


@pytest.mark.parametrize(
    ("line", "message"), [("", "got: nothing"), ("'", "No closing quotation"), ("./gone", "got: './gone'")]
)
def test_a_command_that_cannot_be_used(line: str, message: str) -> None:
    with pytest.raises(BotError, match=message):
        load_bot(f"cmd:{line}")


def test_what_is_missing_is_built_or_installed(folder: Path) -> None:
    def lack(text: str) -> Missing | None:
        rewrite(folder, GOOD + text)
        return missing(read_manifest(folder), folder)

    assert lack("") is None
    assert lack('needs = ["sh"]\nbuild = ["make"]\nbuilt = ["bot.py"]') is None
    assert lack('needs = ["no-such"]\nbuild = ["make"]') == Missing("no-such", NOT_INSTALLED)
    assert lack('build = ["make"]\nbuilt = ["out"]') == Missing("out", ABSENT, buildable=True)
    assert lack('built = ["out"]') == Missing("out", ABSENT)


def test_what_builds_a_bot(folder: Path) -> None:
    assert read_manifest(folder).build == ()
    assert missing_tool(read_manifest(folder), folder) is None
    rewrite(folder, GOOD + 'build = ["{python}", "make.py"]')
    assert resolved(read_manifest(folder).build) == (sys.executable, "make.py")
    assert missing_tool(read_manifest(folder), folder) is None
    rewrite(folder, GOOD + 'build = ["no-such", "all"]')
    assert missing_tool(read_manifest(folder), folder) == Missing("no-such", NOT_INSTALLED)


def test_a_bot_is_found_before_it_is_built(folder: Path) -> None:
    rewrite(folder, GOOD + 'build = ["make"]\nbuilt = ["out"]')
    assert find_bot(str(folder)) == folder
    assert find_bot("random") == bundled_folders()["random"]


@pytest.mark.parametrize("name", ["", "a b", "-x", ".x", "a/b", "x" * 65, "x\n", "é"])
def test_a_name_that_no_bot_may_have(name: str) -> None:
    with pytest.raises(BotError, match="expected at most 64 letters"):
        check_name(name)


@pytest.mark.parametrize("name", ["x", "7", "random-2", "A.b_c-d", "x" * 64])
def test_a_name_that_a_bot_may_have(name: str) -> None:
    check_name(name)


def test_the_digest_covers_included_folders_whole(folder: Path) -> None:
    """Hidden files, too: who names a folder wants it as it is. Links in it are the work of package managers."""
    rewrite(folder, GOOD + 'include = ["node_modules"]\n')
    (folder / "node_modules" / "m").mkdir(parents=True)
    digests = [load(folder).digest]
    for name in ("m/a.js", "m/.lock", "b"):
        (folder / "node_modules" / name).touch()
        digests.append(load(folder).digest)
    assert len(set(digests)) == 4
    (folder / "node_modules" / "link").symlink_to("/etc/passwd")
    assert load(folder).digest == digests[-1]


def test_the_digest_leaves_out_what_is_fetched(folder: Path) -> None:
    rewrite(folder, GOOD + 'fetch = ["true"]\nfetched = ["vendor"]\n')
    before = load(folder).digest
    (folder / "vendor").mkdir()
    (folder / "vendor" / "a").touch()
    assert load(folder).digest == before


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_manifest_is_read_from_bytes_as_from_a_folder(folder: Path, end: str) -> None:
    (folder / "bot.toml").write_bytes(GOOD.replace("\n", end).encode())
    assert parse_manifest((folder / "bot.toml").read_bytes(), "bot.toml") == read_manifest(folder)
    with pytest.raises(BotError, match=r"expected a manifest in UTF-8, got: the byte 0xff - at its/bot.toml:1"):
        parse_manifest(b"\xff", "its/bot.toml")
    with pytest.raises(BotError, match=r"^its/bot.toml: expected keys among"):
        parse_manifest(b"nam = 1", "its/bot.toml")
