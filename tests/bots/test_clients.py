"""The one-file clients: their examples work as written, notes are cut to what is allowed, nothing of arena is used.

That they read and write what the protocol's vectors say is tested in each language itself: `make -C bots test`, and
for Python `test_python_codec` here.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from arena.author.new import new_bot
from arena.core.link.bots import load_bot, read_manifest
from arena.core.link.runtimes import resolved
from arena.core.resources import bots_folder
from arena.core.wire.messages import Hello
from arena.core.wire.zmtp import Zmtp
from arena.core.wire.zmtp import frame as zmtp_frame
from tests.conformance.kit import INVALID, frame

GAME = {"game": 1, "seat": 0, "seats": 2, "board": {"spaces": []}, "bot_seed": 1}
REQUEST = {"kind": "turn", "legal": [{"tile": ["ship1", "ship2"], "space": [4, 9]}]}
HAND = {"kind": "of a game that nobody knows", "legal": [{"hand": {"choose": 2, "of": ["a", "a", "b"]}, "bet": [7]}]}
LONG_NOTE = {
    "python": """
        from arena_bot import Bot, run
        class Talker(Bot):
            def decide(self, request):
                return {"plays": []}, "€" * 2000
        run(Talker())
        """,
    "javascript": """
        const { Bot, run } = require("./arena_bot.js");
        class Talker extends Bot {
            decide() { return { action: { plays: [] }, note: "€".repeat(2000) }; }
        }
        run(new Talker());
        """,
}
BOT = """
    import atexit, os, stat, sys
    from arena_bot import Bot, run
    {last_words}
    class Rook(Bot):
        def decide(self, request):
            {answer}

    run(Rook())
    """
LAST_WORDS = """
    def is_socket(descriptor):
        try:
            return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
        except OSError:
            return False

    @atexit.register
    def look():
        if any(map(is_socket, range(256))):
            print("the connection is open", file=sys.stderr)
"""
C_BOT = str(bots_folder() / "c/random/bot")  # it is there on machines that have what C bots are built with
BUILT_WITH = {"c": (C_BOT,), "go": ("go",), "perl": ("perl",)}
"""What a machine needs to build and run a template, by language."""
SOURCES = {".py", ".js", ".c", ".h"}
GARBAGE = [b"", b"\xc1", b"\x93\x01", b"\xdd\xff\xff\xff\xff", b"\x81" * 4096, b"\x80", b"\x81\xa4type\x07", b"\xc0"]
PLAIN_BOTS = ("random", "greedy", "banzai", "template")  # those in Python that use the client and nothing else
CLIENTS = {"python": "arena_bot.py", "javascript": "arena_bot.js", "c": "arena_bot.h"}
SOURCE = {"python": "bot.py", "javascript": "bot.js", "c": "bot.c"}
COMMANDS = {"python": [sys.executable, "bot.py"], "javascript": ["node", "bot.js"], "c": ["./bot"]}
TEMPLATES = ("c", "go", "java", "javascript", "perl", "python", "rust")


def require_packages(home):
    """Skip the test where the JavaScript bots, which lie in `home`, cannot run."""
    if shutil.which("node") is None or not (home / "node_modules").is_dir():
        pytest.skip("node or the packages of the JavaScript bots are missing: make bots")


@pytest.fixture
def seat_source(root, tmp_path, seat_command):
    """Starts the source of a bot that lies beside a copy of its language's client."""

    def launch(language, source):
        home = root / "bots" / language
        if language == "javascript" and not (tmp_path / "node_modules").exists():
            require_packages(home)
            (tmp_path / "node_modules").symlink_to(home / "node_modules")
        shutil.copy(home / CLIENTS[language], tmp_path)
        (tmp_path / SOURCE[language]).write_text(textwrap.dedent(source), encoding="utf-8")
        if language == "c":
            shutil.copy(home / "template/Makefile", tmp_path)
            subprocess.run(["make", "CFLAGS=-Werror"], cwd=tmp_path, check=True, capture_output=True)
        return seat_command(COMMANDS[language], tmp_path)

    return launch


CHOOSY = """
    from arena_bot import Bot, CannotPlay, run

    class Choosy(Bot):
        want = {"samurai": ("view",), "go": ()}
        rules = (("samurai", 1), ("samurai", 2), ("go", 1))
        entropy = True

        def start(self, game):
            if game["seats"] > 2:
                raise CannotPlay(f"{game['seats']} seats")

    run(Choosy())
    """


def test_a_bot_says_what_it_plays_and_wants_and_contributes(seat_source):
    """And declines a game that it cannot play, which the referee need not wait for."""
    table = seat_source("python", CHOOSY)
    hello = msgspec.convert(table.begin(), Hello)
    assert hello.wants("samurai") == {"view"}
    assert hello.wants("go") == hello.wants("gardener") == frozenset()
    assert [hello.plays("samurai", version) for version in (1, 2, 3)] == [True, True, False]
    assert len(bytes.fromhex(hello.entropy)) == 32
    assert hello.entropy != msgspec.convert(seat_source("python", CHOOSY).begin(), Hello).entropy
    table.start(GAME)
    table.send("game_over", game=1, termination="interrupted", ranks=[], forfeits=[])
    table.send("game_start", **GAME | {"game": 2, "seats": 3})
    assert table.receive() == {"type": "error", "code": "x_cannot_play", "message": "3 seats"}
    table.send("goodbye", reason="done")
    assert table.end() == (0, "")


def example(text):
    """The indented lines, out of a client's opening comment, from the first import up to what the referee does."""
    lines = re.sub(r"(?m)^(//| \*)(?=     |$)", "", text).splitlines()
    first = next(i for i, line in enumerate(lines) if re.match("    .*arena_bot", line))
    last = next(i for i, line in enumerate(lines) if "The referee starts the bot" in line)
    return "\n".join(lines[first:last])


def check_plays_the_first(table):
    """Checks that a bot answers with the first legal play, in games that it cannot know."""
    table.begin()
    table.start(GAME)
    assert table.ask(REQUEST)["action"] == {"plays": [{"tile": "ship1", "space": 4}]}
    assert table.ask(HAND)["action"] == {"plays": [{"hand": ["a", "a"], "bet": 7}]}
    table.send("goodbye", reason="done")
    assert table.end() == (0, "")


@pytest.mark.parametrize("language", ["python", "javascript", "c"])
def test_the_example_plays_any_game(root, seat_source, needs, language):
    if language == "c":
        needs(C_BOT)
    client = root / "bots" / language / CLIENTS[language]
    check_plays_the_first(seat_source(language, example(client.read_text(encoding="utf-8"))))


@pytest.mark.quick(2)
@pytest.mark.parametrize("language", ["python", "javascript", "c", "go", "perl"])
def test_the_template_plays_any_game(root, seat_command, needs, tmp_path, language):
    needs(*BUILT_WITH.get(language, ()))
    folder = new_bot("rook", language=language, author="", parent=tmp_path).folder
    if language == "javascript":
        require_packages(root / "bots/javascript")
        (folder / "node_modules").symlink_to(root / "bots/javascript/node_modules")
    elif build := read_manifest(folder).build:
        subprocess.run(build, cwd=folder, check=True, capture_output=True)
    check_plays_the_first(seat_command(list(resolved(load_bot(str(folder)).command)), folder))


@pytest.mark.parametrize("language", TEMPLATES)
def test_a_new_bot_keeps_what_is_built_out_of_git(tmp_path, language):
    folder = new_bot("rook", language=language, author="", parent=tmp_path).folder
    ignored = (folder / ".gitignore").read_text(encoding="utf-8").splitlines()
    manifest = tomllib.loads((folder / "bot.toml").read_text(encoding="utf-8"))
    assert {"/logs/", "*.db*"} <= set(ignored)
    hidden = {line.rstrip("/") for line in ignored}
    for product in manifest.get("built", ()):
        assert any(f"/{part}" in hidden for part in (product, *map(str, Path(product).parents)))


@pytest.mark.parametrize("answer", ['{"plays": []}', '({"plays": []}, None)', '({"plays": []}, "")'])
def test_a_note_of_none_is_no_note(seat_source, answer):
    table = seat_source("python", BOT.format(answer=f"return {answer}", last_words=""))
    table.begin()
    table.start(GAME)
    answered = table.ask(REQUEST)
    assert answered["action"] == {"plays": []}
    assert not answered.get("note")
    table.send("goodbye", reason="done")
    assert table.end() == (0, "")


@pytest.mark.parametrize("end", ["raise RuntimeError('no idea')", "raise SystemExit(3)", "sys.exit('no idea')"])
def test_only_the_end_of_the_process_closes_the_connection_of_a_bot_that_crashes(seat_source, end):
    table = seat_source("python", BOT.format(answer=end, last_words=LAST_WORDS))
    table.begin()
    table.start(GAME)
    table.send("request", id=1, kind="turn")
    status, err = table.end()
    assert status == (3 if "3" in end else 1)
    assert "the connection is open" in err, "it was closed before Python's own end"


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_long_note_is_cut_between_characters(seat_source, language):
    table = seat_source(language, LONG_NOTE[language])
    table.begin(max_note=100)
    table.start(GAME)
    assert table.ask(REQUEST)["note"] == "€" * 33


@pytest.mark.quick(8)
@pytest.mark.parametrize("bytes_", GARBAGE, ids=lambda frame: frame[:8].hex())
@pytest.mark.parametrize("name", ["random", "random-js", "random-c", "random-go", "random-rust", "random-java"])
def test_what_is_no_message_ends_the_bot_with_one_sentence(seat_bot, name, bytes_):
    table = seat_bot(name)
    table.begin()
    table.send_frame(bytes_)
    expected = f"expected one msgpack map with a type in each frame, got: {len(bytes_)} bytes that are none\n"
    assert table.end() == (1, expected)


@pytest.mark.quick(1)
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_no_invalid_frame_breaks_the_client(seat_source, language):
    frames = [frame(vector["hex"]) for vector in INVALID if vector["from"] == "referee"]
    assert frames
    for bytes_ in frames:
        table = seat_source(language, LONG_NOTE[language])
        table.begin()
        table.send_frame(bytes_)
        table.send("goodbye", reason="done")
        status, err = table.end()
        assert (status, err) == (0, "") or (status == 1 and re.fullmatch("expected one msgpack map .*\n", err))


@pytest.mark.parametrize("command", ["{python} python/random/bot.py", "node javascript/random/bot.js", "c/random/bot"])
def test_started_by_hand_a_bot_says_who_starts_it(root, needs, command):
    words = command.format(python=sys.executable).split()
    if words[0] == "node":
        require_packages(root / "bots/javascript")
    if words[0].startswith("c/"):
        needs(str(root / "bots" / words[0]))
    done = subprocess.run(
        words, cwd=root / "bots", env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False
    )
    expected = "expected ARENA_ENDPOINT and ARENA_TOKEN in the environment: arena's referee starts this program\n"
    assert (done.returncode, done.stderr) == (1, expected)


def manifests(root):
    """The path and the content of every manifest, those of the templates too."""
    return [(path, tomllib.loads(path.read_text(encoding="utf-8"))) for path in (root / "bots").glob("*/*/bot.toml")]


def test_manifests_are_complete(root):
    suffixes = {"python": "", "javascript": "-js"}
    names = set()
    for path, manifest in manifests(root):
        language, folder = path.parts[-3:-1]
        assert manifest.keys() >= {"name", "version", "author", "language", "command"}
        assert ("rules" in manifest) == (folder not in ("random", "template")), "those play any game"
        assert manifest["language"] == language
        suffix = suffixes.get(language, f"-{language}")
        assert manifest["name"] == ("NAME" if folder == "template" else folder + suffix)
        for name in manifest.get("include", ()):
            assert (path.parent / name).is_file(), f"{path}: {name}"
        names.add(manifest["name"])
    in_each = {f"{bot}-{language}" for bot in ("random", "greedy") for language in ("js", "c", "go", "rust", "java")}
    in_python = {"random", "greedy", "banzai", "daimyo", "shogun", "planner"}
    assert names == {*in_each, *in_python, "random-perl", "NAME"}


def imported(sources, shared):
    """Those of the shared files that some sources use, directly or through each other."""
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    lines = re.findall("(?m)^(?:from|import|const|#include) .*", text)
    found = {file for file in shared if any(re.search(rf"\b{file.stem}\b", line) for line in lines)}
    return found if found <= sources else imported(sources | found, shared)


@pytest.mark.parametrize("language", ["python", "javascript", "c"])
def test_manifests_include_what_the_bots_share(root, language):
    home = root / "bots" / language
    shared = [path for path in home.iterdir() if path.suffix in SOURCES]
    assert shared
    for path, manifest in manifests(root):
        if path.parent.parent == home:
            sources = {source for source in path.parent.iterdir() if source.suffix in SOURCES}
            used = {f"../{file.name}" for file in imported(sources, shared)}
            assert used == {name for name in manifest["include"] if Path(name).suffix in SOURCES}, path


def test_python_bots_import_only_the_client_and_what_it_needs(root):
    home = root / "bots/python"
    allowed = {"os", "_socket", "sys", "math", "random", "functools"}
    allowed |= {"arena_bot", "samurai", "gardener", "samurai_player", "gardener_player"}
    sources = [home / "arena_bot.py", home / "samurai.py", home / "gardener.py"]
    sources += [path for name in PLAIN_BOTS for path in (home / name).glob("*.py")]
    assert len(sources) == 9
    for path in sources:
        found = re.findall(r"(?m)^(?:import|from) (\w+)", path.read_text(encoding="utf-8"))
        assert set(found) <= allowed, path


def test_a_python_bot_needs_no_package(root, tmp_path, seat_command):
    shutil.copy(root / "bots/python/arena_bot.py", tmp_path)
    shutil.copy(root / "bots/python/template/bot.py", tmp_path)
    table = seat_command([sys.executable, "-I", "-S", "-c", "import sys; sys.path[:0] = ['.']; import bot"], tmp_path)
    check_plays_the_first(table)


def test_the_bot_with_pyzmq_in_the_guide_plays(root, tmp_path, seat_command):
    [source] = re.findall(
        r"(?s)```python\n(import os\n\nimport msgpack\nimport zmq\n.*?)```", (root / "docs/bots.md").read_text()
    )
    (tmp_path / "bot.py").write_text(source)
    check_plays_the_first(seat_command([sys.executable, "bot.py"], tmp_path))


PING = bytes((4, 16)) + b"\4PING" + bytes(2) + b"context7X"


@pytest.mark.parametrize("endpoint", ["ipc", "abstract", "tcp"])
def test_the_python_client_speaks_zmtp(endpoint, root, monkeypatch):
    """It answers a PING, reads long frames and frames in pieces, and says it if the connection is closed."""
    monkeypatch.syspath_prepend(str(root / "bots/python"))
    from arena_bot import Connection

    # A socket's path has some hundred bytes at most: pytest's own folders can be longer.
    with (
        tempfile.TemporaryDirectory(prefix="arena-") as home,
        socket.socket(socket.AF_INET if endpoint == "tcp" else socket.AF_UNIX) as listening,
    ):
        path = f"{home}/s"
        address = {"ipc": path, "abstract": "\0" + path, "tcp": ("127.0.0.1", 0)}[endpoint]
        listening.bind(address)
        listening.listen()
        named = {"ipc": f"ipc://{path}", "abstract": f"ipc://@{path}"}
        named["tcp"] = "tcp://{}:{}".format(*listening.getsockname()[:2]) if endpoint == "tcp" else ""
        peer = Zmtp()
        with ThreadPoolExecutor() as threads:
            opened = threads.submit(Connection, named[endpoint])
            accepted, _ = listening.accept()
            with accepted:
                accepted.sendall(peer.answers())
                connection = opened.result(10)
                connection.send(b"short")
                connection.send(b"l" * 70_000)
                got = []
                while len(got) < 2:
                    message = peer.feed(accepted.recv(1 << 16))
                    while message is not None:
                        got.append(message)
                        message = peer.next()
                assert got == [b"short", b"l" * 70_000]
                accepted.sendall(peer.answers() + PING)
                for byte in zmtp_frame(b"in pieces"):
                    accepted.sendall(bytes((byte,)))
                threads.submit(accepted.sendall, zmtp_frame(b"x" * 300_000))
                assert connection.receive() == b"in pieces"
                assert connection.receive() == b"x" * 300_000
                assert accepted.recv(100) == bytes((4, 14)) + b"\4PONGcontext7X"
            with pytest.raises(ConnectionError, match="the referee has closed the connection"):
                connection.receive()


def test_make_says_what_it_leaves_out_and_why(root, needs, tmp_path):
    needs("make")
    for tool in ("make", "sh", "echo"):
        (tmp_path / tool).symlink_to(shutil.which(tool))

    def make(*arguments):
        command = ["make", "-C", str(root / "bots"), *arguments]
        return subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)

    lenient = make()
    assert lenient.returncode == 0
    reasons = {"c": "a C compiler (cc)", "js": "node", "go": "go", "rust": "cargo", "java": "javac"}
    for language, tool in reasons.items():
        said = f"bots: left out random-{language} and greedy-{language}: {tool} is not on the path"
        assert said in lenient.stderr.splitlines()
    assert make("STRICT=1").returncode != 0
