"""The worlds that operators have: a bot finds the same in each, or a refusal says what to do before anything is played.

A world is a few lines of shell in a mount namespace of its own, a user and an environment. Root makes them.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from ordinary import ROOT, USER, ordinary

from arena.core.types import Level
from arena.sandbox.levels import level_in_force

ARENA = (sys.executable, "-m", "arena")
SERVICE = ROOT / "docs" / "arena-league.service"
PLAIN = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
LOCAL = {"LANG": "ja_JP.EUC-JP", "LC_NUMERIC": "de_DE", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "0", "http_proxy": "x"}
BOT = """
import locale, os, sys, time
from arena_bot import Bot, run

def seen(path):
    try:
        return sorted(os.listdir(path)) if os.path.isdir(path) else open(path, "rb").read(9)
    except OSError as error:
        return error.strerror

class Looker(Bot):
    want = ("legal",)
    def start(self, game):
        own = ("ARENA_TOKEN", "ARENA_ENDPOINT", "TMPDIR")
        print(sorted((name, value) for name, value in os.environ.items() if name not in own), os.umask(0), os.getcwd())
        print(locale.getpreferredencoding(), time.tzname, sys.version, sys.executable)
        for path in ("1", "bus", "keys", "kallsyms", "sys", "sys/kernel", "self/fd"):
            print(path, seen("/proc/" + path))
        print(seen("/etc"), seen("/etc/localtime"), seen("/home"), flush=True)
    def decide(self, request):
        product = request["legal"][0]
        return {"plays": [{key: v["of"][: v["choose"]] if isinstance(v, dict) else v[0] for key, v in product.items()}]}

run(Looker())
"""


class World(NamedTuple):
    """What differs from the world of the tests."""

    made: str = ":"
    """Lines of shell that make it, as root. The folder of the test is the current one."""
    user: bool = False
    """Whether an ordinary user lives there."""
    begun: str = 'exec "$@"'
    """How a command is run there."""
    variables: dict[str, str] = PLAIN


WORLDS = {
    "hidden processes": World("mount -t proc -o hidepid=invisible,nosuid,nodev,noexec proc /proc", user=True),
    "hidden processes, root": World("mount -t proc -o hidepid=2 proc /proc"),
    "a covered /proc beside a whole one": World(
        "mkdir p && mount -t proc proc p && install -m 0 /dev/null none && mount --bind none /proc/kallsyms &&"
        "mount -t tmpfs -o mode=0 none /proc/bus",
        user=True,
    ),
    "no environment": World(user=True, variables={}),
    "no environment, root": World(variables={}),
    "another locale and time zone": World(variables=PLAIN | LOCAL),
    "no terminal and no streams": World(begun='exec setsid -w "$@" <&- >&- 2>&-'),
    "a umask of 077": World("chmod -R a+rX bot && umask 077"),
    "a closed home of another user": World(
        "mkdir -p home/bots && cp -a bot home/bots && rm -r bot && ln -s home/bots/bot bot &&"
        f"chown -R {USER} home && chmod 700 home",
        variables=PLAIN | {"HOME": "home"},
    ),
    "programs in no temporary folder": World(
        "mkdir t && mount -t tmpfs -o noexec,mode=1777 none t", user=True
    )._replace(variables=PLAIN | {"TMPDIR": "t"}),
}
REFUSED = {
    "processes only": (World("mount -t proc -o subset=pid proc /proc", user=True), "without subset=pid"),
    "what a container covers": (
        World("mount --bind /dev/null /proc/keys && mount -t tmpfs -o ro none /proc/acpi", user=True),
        "a container hides parts of /proc",
    ),
    "a folder that is gone": (World(begun='mkdir gone && cd gone && rmdir ../gone && exec "$@"'), "go to another one"),
}


def can_make_worlds() -> bool:
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0


pytestmark = [
    pytest.mark.skipif(not can_make_worlds(), reason="needs root, which makes worlds"),
    pytest.mark.skipif(bool(level_in_force(Level.ISOLATED)), reason="this machine does not give level isolated"),
]


def run(world: World, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of arena in a world."""
    variables = {
        name: str(folder / value) if value in ("t", "home") else value for name, value in world.variables.items()
    }
    script = f"mount --make-rprivate / && {world.made} && {world.begun}"
    command = ("env", "-i", *(f"{name}={value}" for name, value in variables.items()), *ARENA, *words)
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *(ordinary(*command) if world.user else command)],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


def make_bot(folder: Path) -> Path:
    bot = folder / "bot"
    bot.mkdir()
    shutil.copy(ROOT / "bots" / "python" / "arena_bot.py", bot)
    (bot / "bot.py").write_text(BOT)
    (bot / "bot.toml").write_text('name = "looker"\nversion = "1"\ncommand = ["{python}", "bot.py"]\n')
    return bot


def found(world: World, folder: Path, level: str) -> list[str]:
    """What a bot finds in a world, in two games."""
    bot = make_bot(folder)
    words = ("match", str(bot), "random", "--level", level, "--logs", str(folder / "logs"), "--ruleset", "basic", "-q")
    done = run(world, folder, *words)
    assert done.returncode == 0, done.stderr + done.stdout
    said = [path.read_text() for path in (folder / "logs").rglob("*.output")]
    assert len(said) == 2, done.stderr
    return [text.replace(str(bot.resolve()), "/bot") for text in said]


@pytest.fixture(scope="module")
def usual() -> dict[str, list[str]]:
    """What a bot finds in the world of the tests, by level."""
    of_levels = {}
    for level in ("fenced", "isolated"):
        with tempfile.TemporaryDirectory(prefix="arena-test-", dir="/tmp") as folder:
            os.chmod(folder, 0o777)
            of_levels[level] = found(World(), Path(folder), level)
    return of_levels


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", WORLDS)
def test_in_each_world_a_bot_finds_the_same(work: Path, name: str, usual: dict[str, list[str]]) -> None:
    assert found(WORLDS[name], work, "isolated") == usual["isolated"]


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["a closed home of another user", "a umask of 077", "another locale and time zone"])
def test_so_it_does_without_a_box(work: Path, name: str, usual: dict[str, list[str]]) -> None:
    assert found(WORLDS[name], work, "fenced") == usual["fenced"]
    assert sys.version in usual["fenced"][0], "however its library is found"


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_had_is_refused_with_what_to_do(work: Path, name: str) -> None:
    world, remedy = REFUSED[name]
    done = run(world, work, "match", "random", "greedy", "--level", "isolated")
    assert done.returncode != 0
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr


def test_a_league_takes_a_bot_through_all_steps_in_the_barest_world(work: Path) -> None:
    """Root without variables, streams or a terminal, whose files are closed to others."""
    make_bot(work)
    steps = ("league init cup", "league submit bot --league cup", "league run cup --games 1")
    script = " && ".join(
        ["umask 077", *(f'setsid -w "$@" {step} <&- >&- 2>&-' for step in steps), "cat cup/league.log >&2"]
    )
    done = run(World("chmod -R go= bot", begun=script, variables={}), work)
    assert "looker/1 plays: it played its first games without a forfeit" in done.stderr


def test_a_league_on_a_disk_that_starts_no_programs_says_so_and_does_not_start(work: Path) -> None:
    made = "mkdir cup && mount -t tmpfs -o noexec,size=1g none cup"
    done = run(World(made, begun='"$@" league init cup/cup && "$@" league run cup/cup --games 1'), work)
    assert done.returncode == 1
    said, refused = done.stderr.splitlines()
    assert said.startswith(
        "The league does not run before this is so: expected a disk from which programs can be started"
    )
    assert refused.endswith("mount it with exec (mount -o remount,exec), or move the folder to another disk")


STATE = "/var/lib/arena-league"
AS_ROOT = {
    "StateDirectory=arena-league": "mount -t tmpfs -o mode=755 none /var/lib && cp -a bot /var/lib/arena-league &&"
    f"chown -R {USER} {STATE} && mount --bind {STATE} {STATE}",
    "ProtectSystem=strict": "mount -o remount,bind,ro /",
    "ProtectHome=read-only": "for x in /home /root; do mount --bind $x $x; mount -o remount,bind,ro $x; done",
    "PrivateTmp=yes": f"mount -n --bind {ROOT} /mnt && mount -t tmpfs -o mode=1777 none /tmp && mkdir -p {ROOT} &&"
    f"mount -n --move /mnt {ROOT} && mount -t tmpfs -o mode=1777 none /var/tmp",  # the checkout may lie in /tmp
    "ProtectProc=invisible": "mount -t proc -o hidepid=invisible,nosuid,nodev,noexec proc /proc",
    "LimitNOFILE=8192": "ulimit -n 8192",
    f"WorkingDirectory={STATE}": f"cd {STATE}",
}
"""What systemd does for a unit before it changes the user, in the order in which it can be done here."""
AS_USER = ("NoNewPrivileges=yes", "RestrictSUIDSGID=yes", "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK")
"""What it does afterwards, by the program below."""
FILTERED = """
import errno, os, sys
from seccomp import ALLOW, EQ, ERRNO, MASKED_EQ, Arg, SyscallFilter
rules = SyscallFilter(ALLOW)  # which sets no_new_privs, too
for family in set(range(64)) - {1, 2, 10, 16}:
    rules.add_rule(ERRNO(errno.EAFNOSUPPORT), "socket", Arg(0, EQ, family))
modes = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "mkdir": 1, "mkdirat": 2, "mknod": 1, "mknodat": 2}
for call, place in modes.items():
    for bit in (0o4000, 0o2000):
        rules.add_rule(ERRNO(errno.EPERM), call, Arg(place, MASKED_EQ, bit, bit))
rules.load()
os.umask(0o027)
os.execvp(sys.argv[1], sys.argv[1:])
"""
ELSEWHERE = "ExecStart User Type NotifyAccess WatchdogSec Restart RestartSec KillMode OOMPolicy"
ELSEWHERE += " TimeoutStopSec Delegate TasksMax"
"""What only systemd itself can do."""


def test_the_unit_that_we_ship_runs_a_league_under_its_own_restrictions(work: Path) -> None:
    """Each line of it is made here, so that one that bots could not bear is found before somebody is told to use it."""
    section = SERVICE.read_text().partition("[Service]")[2].partition("[Install]")[0]
    lines = [line for line in section.splitlines() if line and line[0] != "#"]
    shipped = {line for line in lines if line.partition("=")[0] not in ELSEWHERE.split()}
    assert shipped == {*AS_ROOT, *AS_USER, "UMask=0027"}
    if subprocess.run(["/usr/bin/python3", "-c", "import seccomp"], check=False, capture_output=True).returncode:
        pytest.skip("needs python3-seccomp, for the filters of the unit")
    make_bot(work)
    arena = shlex.join(
        [*ordinary("/usr/bin/python3", "-c", FILTERED), "env", "-i", "PATH=/usr/bin:/bin", f"HOME={STATE}", *ARENA]
    )
    steps = ("init cup", "submit . --league cup", "run cup --games 2")
    lines = [f"{arena} league {step}" for step in steps]
    # On a busy machine its first games may be played again, while the bots that came with the league play rated ones.
    lines[-1] = f"for i in 1 2 3 4 5; do {lines[-1]} 2>said; cat said >&2; ! grep -q ' plays: ' said || break; done"
    script = " && ".join(["PATH=/usr/bin:/bin", "mount --make-rprivate /", *AS_ROOT.values(), *lines])
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=work, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "looker/1 plays: it played its first games without a forfeit" in done.stderr
