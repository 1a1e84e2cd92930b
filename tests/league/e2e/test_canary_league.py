"""A league that strangers submit to through its door: no file of theirs is ever run with the operator's rights.

One author sends a bot, and then others that name its files in every place where a file can be named, and that bring
files under every name that a tool looks for by itself. Each is a canary: it writes a file where only the operator can.
At level trusted bots run with the operator's rights, so there the canaries must be seen: else this would see nothing.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.errors import DoorError
from arena.core.types import Level
from arena.league.door.addresses import address
from arena.league.door.client import Client
from arena.league.door.tokens import read_token
from arena.league.season.opening import make_league
from arena.league.settings import Bots, Settings
from tests import command_kit
from tests.archive_kit import label, packed, plain, raw
from tests.ports import free_port
from tests.processes import level_of
from tests.thorough import but_thorough

SECONDS = 240  # how long all that is awaited may take: a machine may be busy
MANY = ("bots=200", "pending=200", "submissions=200")
"""An author's quotas: each canary is a bot of its own, and all of them are to be tried."""


class Cup:
    """A league whose service runs with its door open, and its author."""

    def __init__(self, home: Path, level: Level) -> None:
        self.home = home
        self.level = level
        home.chmod(0o755)
        self.canary = home / "canary"
        self.folder = make_league(home / "cup", Settings(name="cup", bots=Bots(level=level.value)))
        command_kit.arena(home, "league", "token", "new", "anna")
        quotas = [word for quota in MANY for word in ("--quota", quota)]
        command_kit.arena(home, "league", "author", "add", "anna", "--token", "anna.hash", "--league", "cup", *quotas)
        words = ["league", "run", "cup", "--open", f"127.0.0.1:{free_port()}"]
        self.sent: set[str] = set()
        """The bots that the league took in."""
        self.said = (home / "said").open("w+")
        self.service = subprocess.Popen(
            [sys.executable, "-m", "arena", *words],
            cwd=home, env=command_kit.environment(), stdout=self.said, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def author(self) -> Client:
        """Returns the author's connection, once the door is open."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for line in Path(self.said.name).read_text().splitlines():
                if line.startswith("http://"):
                    return Client(address(line), read_token(self.home / "anna.token"))
            time.sleep(0.1)
        raise AssertionError(Path(self.said.name).read_text())

    def seen(self) -> list[str]:
        return self.canary.read_text().split() if self.canary.exists() else []

    def end(self) -> None:
        self.service.terminate()
        self.service.wait()
        self.said.close()

    def wait(self, client: Client) -> dict[str, str]:
        """Waits until all that were sent are known and tried. Returns their states by the names of the bots."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            states = {each["bot"]: each["state"] for each in client.status().versions}
            tried = not {"received", "building", "checking", "qualifying"} & set(states.values())
            if tried and self.sent <= states.keys():
                return states
            assert self.service.poll() is None, Path(self.said.name).read_text()
            time.sleep(0.3)
        raise AssertionError((self.sent - states.keys(), states))

    def send(
        self, client: Client, name: str, manifest: str, files: dict[str, str | bytes] | None = None, bot: str = "."
    ) -> str:
        """Sends an archive that nothing looked at before. All its files are programs. Returns its digest."""
        data = archive(name, manifest, files or {}, bot)
        digest = hashlib.sha256(plain(data)).hexdigest()
        try:
            client.submit(data, name, digest, lambda have: None)
        except DoorError as error:
            if error.refusal != "archive":  # refused for what is in it, and for nothing else
                raise
        else:
            self.sent.add(name)
        return digest


def archive(name: str, manifest: str, files: dict[str, str | bytes], bot: str) -> bytes:
    """Returns an archive of a manifest and of files, all of them programs."""
    top = "" if bot == "." else f"{bot}/"
    content = {f"{top}bot.toml": f'name = "{name}"\n{manifest}\n', **files}
    paths = sorted(content, key=lambda path: path.encode().split(b"/"))
    entries = [raw(path, _bytes(content[path]), executable=not path.endswith(".toml")) for path in paths]
    return packed(label(bot), *entries)


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def canary(at: Path, name: str) -> str:
    """A program that can be run as a shell's and as a Python's, and tells its name where only the operator can."""
    return f'#!/bin/sh\n""":"\necho {name} >>{at}; exit 0\n"""\nopen("{at}", "a").write("{name}\\n")\n'


def loaded_by(loader: Path, folder: Path) -> bytes | None:
    """A program whose loader is another file; None if there is no compiler here."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    (folder / "bot.c").write_text("int main(void) { return 0; }\n")
    subprocess.run([compiler, "-o", "bot", "bot.c", f"-Wl,--dynamic-linker={loader}"], cwd=folder, check=True)
    return (folder / "bot").read_bytes()


BY_THEMSELVES = (
    *("sitecustomize.py", "usercustomize.py", "conftest.py", "msgspec.py", "encodings/__init__.py", "canary.pth"),
    *("node_modules/.bin/node", "node_modules/.bin/sh", "bin/python3", "python3", "make", "ld.so", "ldd", "bwrap"),
    *(
        "pyvenv.cfg",
        "package-lock.json",
        "Cargo.lock",
        "build.rs",
        "go.sum",
        "build.xml",
        "JDK_JAVA_OPTIONS",
        "setup.py",
    ),
)
"""Names of files that interpreters, package managers and arena itself may look for by themselves."""
SCRIPTS = {
    "Makefile": "all:\n\techo make >>{canary}; echo in >built\n",
    "package.json": '{{"name": "x", "scripts": {{"preinstall": "echo npm >>{canary}"}}}}',
    ".cargo/config.toml": '[build]\nrustc = "{first}/python3"\n',
    "arguments": "-javaagent:{first}/python3\n",
}
"""What build tools read."""


def submit_all(client: Client, cup: Cup) -> set[str]:
    """Sends a first bot, and all that name its files. Returns the names of those that must never play."""
    at = cup.canary
    digest = cup.send(
        client, "first", 'command = ["sh", "python3"]', {"python3": canary(at, "first"), "ld.so": canary(at, "ld")}
    )
    first = cup.folder.bots / digest
    program = f'"{first}/python3"'
    own = {"bot.py": canary(at, "own"), "python3": canary(at, "own"), "bot": canary(at, "own")}
    named = {
        "command": (f"command = [{program}]", own),
        "command-up": (f'command = ["../{digest}/python3"]', own),
        "argument": (f'command = ["{{python}}", "{first}/python3"]', own),
        "needs": (f'command = ["sh", "bot"]\nneeds = [{program}]', own),
        "include": (f'command = ["sh", "bot"]\ninclude = ["../{digest}/python3"]', own),
        "fetched": (f'command = ["sh", "bot"]\nfetched = ["../{digest}"]', own),
        "path": ('command = ["python3", "bot.py"]', own),
        "environment": (f'command = ["env", "PATH={first}", "python3"]', own),
        "first-line": ('command = ["./run"]', {**own, "run": f"#!{first}/python3\n"}),
        "link": (f'command = ["./run"]\nbuild = ["ln", "-s", {program}, "run"]\nbuilt = ["run"]', own),
        "build": (f'command = ["./bot"]\nbuild = [{program}]', own),
        "folder": (
            'command = ["./bot"]\nbuild = ["sh", "-c", "rm -r /bot/fox && ln -s . /bot/fox"]\n'
            f'fetched = ["../{digest}"]',
            {**own, **{f"fox/{name}": content for name, content in own.items()}},
        ),
    }  # fmt: skip
    if (loaded := loaded_by(first / "ld.so", cup.home)) is not None:
        named["loader"] = ('command = ["./run"]', {"run": loaded})
    for name, (manifest, files) in named.items():
        content: dict[str, str | bytes] = dict(files)
        if name == "folder":
            content["bot.toml"] = f'name = "{name}"\n{manifest}\n'
        cup.send(client, name, manifest, content, "fox" if name == "folder" else ".")
    planted: dict[str, str | bytes] = {name: canary(at, name) for name in BY_THEMSELVES}
    planted |= {name: text.format(canary=at, first=first) for name, text in SCRIPTS.items()}
    planted |= {"bot.py": "import zmq", "bot.js": "", "bot.sh": canary(at, "bot.sh")}
    tools = {
        "python": ('"{python}", "bot.py"', '"make"'),
        "python-module": ('"{python}", "-m", "conftest"', '"./make"'),
        "python-arena": ('"{python+arena}", "-m", "arena", "bot", "bridge", "sh", "bot.sh"', '"{python}", "setup.py"'),
        "node": (f'"node", "--require", "{first}/python3", "bot.js"', '"npm", "ci"'),
        "java": ('"java", "@arguments", "Bot"', f'"sh", "{first}/python3"'),
        "perl": ('"perl", "-I.", "-Mcanary", "bot.sh"', '"cargo", "build"'),
        "shell": ('"sh", "bot.sh"', '"go", "build"'),
    }
    for name, (command, build) in tools.items():
        cup.send(client, name, f"command = [{command}]\nbuild = [{build}]", planted)
        cup.send(client, f"{name}-unbuilt", f"command = [{command}]", planted)
    return {*named}


@pytest.fixture(params=but_thorough([Level.FENCED, Level.ISOLATED, Level.STRICT, Level.TRUSTED], Level.ISOLATED))
def cup(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cup]:
    cup = Cup(tmp_path, level_of(request))
    yield cup
    cup.end()


@pytest.mark.long(1)
def test_nothing_that_is_submitted_runs_with_the_operator_s_rights(cup: Cup) -> None:
    with cup.author() as client:
        never = submit_all(client, cup)
        states = cup.wait(client)
        if cup.level is Level.TRUSTED:
            assert {"first", "make"} <= {*cup.seen()}, "a canary that is run is seen"
            return
        assert cup.seen() == []
    assert {name for name in never if states.get(name) == "active"} == set()
