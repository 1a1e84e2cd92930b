"""What a submitted bot goes through: building, with builds that do all they can against it, checking, qualifying."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.author.archives import pack
from arena.core.catalogue import make_settings
from arena.core.link.bots import load_bot
from arena.core.link.pool import worker_pool
from arena.core.types import Level
from arena.league.submissions.steps import StepReport, Verdict, build, check, qualify
from arena.sandbox.building import KEPT_OUTPUT, Bounds
from arena.sandbox.levels import level_in_force
from tests.archive_kit import make, tree, with_bot
from tests.command_kit import ROOT
from tests.ordinary import USER, ordinary, others_can_run
from tests.processes import eventually, level_of

CONFINED = (Level.ISOLATED, Level.STRICT)
GOOD = "printf '#!/bin/sh\\n' > bot; chmod +x bot"
FAULTY = Path(__file__).parents[2] / "faulty" / "bot.py"
CLIENT = Path(__file__).parents[3] / "bots" / "python"


@pytest.fixture(params=[Level.TRUSTED, *CONFINED])
def level(request: pytest.FixtureRequest) -> Level:
    return level_of(request)


@pytest.fixture(
    params=[
        pytest.param(Level.TRUSTED, marks=pytest.mark.long),
        Level.ISOLATED,
        pytest.param(Level.STRICT, marks=pytest.mark.long),
    ]
)
def playing_level(request: pytest.FixtureRequest) -> Level:
    """The same where it takes longer."""
    return level_of(request)


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    """The folder of all bots."""
    (tmp_path / "league" / "bots").mkdir(parents=True)
    return tmp_path / "league" / "bots"


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Path]:
    """The folder of logs. Bots that were kept for another game end with the test."""
    (tmp_path / "logs").mkdir()
    yield tmp_path / "logs"
    worker_pool().shutdown()


def archive(folder: Path, script: str, extra: str = "", **files: str) -> bytes:
    """A bot whose build is a shell script."""
    manifest = f'name = "fox"\ncommand = ["./bot"]\nbuild = ["sh", "-c", """{script}"""]\n{extra}'
    source = make(folder / f"source-{secrets.token_hex(4)}" / "fox", {"bot.toml": manifest, **files})
    return pack(source).data


def alive(mark: str) -> list[int]:
    """The processes whose arguments hold a mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            found.append(int(path.parent.name))
    return found


def nothing_is_left(bots: Path) -> bool:
    return list(bots.iterdir()) == []


def test_a_build_has_the_same_language_and_time_everywhere(
    bots: Path, tmp_path: Path, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.ISO-8859-1")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    report = build(archive(tmp_path, f"env; umask; {GOOD}"), bots, level)
    assert {b"LANG=C.UTF-8", b"LC_ALL=C.UTF-8", b"TZ=UTC"} <= set(report.output.splitlines())
    assert level is Level.TRUSTED or b"0022" in report.output.splitlines()


def test_a_bot_is_built_in_its_place(level: Level, bots: Path, tmp_path: Path) -> None:
    script = f"pwd > where; echo hello; echo x > $HOME/note; mkdir -p lib/deep; cp tool lib/deep; echo 1 > rest; {GOOD}"
    data = archive(tmp_path, script, 'built = ["where", "lib"]\n', tool="t")
    report = build(data, bots, level)
    assert (report.kind, report.verdict, report.finding) == ("build", Verdict.PASSED, "")
    assert report.output == b"hello\n"
    assert report.detail["removed"] == 1
    folder = bots / report.detail["folder"]
    assert set(tree(folder)) == {".arena-parcel", "bot", "bot.toml", "lib/deep/tool", "tool", "where"}
    if level is not Level.TRUSTED:
        assert (folder / "where").read_text().strip() == "/bot"
    assert {path.stat().st_uid for path in folder.rglob("*")} == {os.geteuid()}
    assert [path.name for path in bots.iterdir()] == [report.detail["folder"]]
    assert load_bot(str(folder)).name == "fox"
    assert report.command_to_repeat == "arena bot build fox"
    again = build(data, bots, level)
    assert again.detail["built_before"]
    assert (again.verdict, again.tree_digest) == (Verdict.PASSED, report.tree_digest)


HOSTILE = {
    "it fails": ("echo why; exit 3", Bounds(), "exited with status 3"),
    "it is killed": ("kill -9 $$", Bounds(), "was killed by SIGKILL"),
    "it hangs": ("sleep 3917", Bounds(seconds=1), "did not end within 1 s"),
    "it ignores signals": ("trap '' TERM INT HUP; while :; do :; done", Bounds(seconds=1), "did not end within 1 s"),
    "it prints without end": ("yes aaaaaaaaaaaaaaaaaaaa", Bounds(output_mib=1), "printed more than 1 MiB"),
    "a large file": ("head -c 200m /dev/zero > x", Bounds(disk_mib=20), "exited with status"),
    "many large files": (
        "i=0; while :; do i=$((i+1)); head -c 4m /dev/zero > f$i; done", Bounds(disk_mib=64), "wrote more than 64 MiB"
    ),
    "large files at home": (
        "i=0; while :; do i=$((i+1)); head -c 4m /dev/zero > ${TMPDIR:-/tmp}/f$i; done",
        Bounds(disk_mib=64), "wrote more than 64 MiB",
    ),
    "files with holes": ("truncate -s 15m a b c d e; sleep 60", Bounds(disk_mib=64), "wrote more than 64 MiB"),
    "files that it removes and holds": (
        "python3 -c 'import os, time\nheld = [open(str(n), \"wb\", 0) for n in range(30)]\n"
        "for n, file in enumerate(held): os.unlink(str(n)); file.write(bytes(4 << 20))\ntime.sleep(60)'",
        Bounds(disk_mib=64), "wrote more than 64 MiB",
    ),
    "large files in place of those that were sent": (
        f"{GOOD}; truncate -s 3g tool", Bounds(disk_mib=4_096), "leaves what was sent below 2,516,582,400 bytes",
    ),
    "many files": ("i=0; while :; do i=$((i+1)); : > f$i; done", Bounds(files=2_000), "made more than 2,000 files"),
    "many folders": (
        f"while :; do mkdir -p {'d' * 200} && cd {'d' * 200}; done", Bounds(seconds=60), "too many to reach"
    ),
    "memory": (
        "python3 -c 'x = bytearray(400 << 20); import time; time.sleep(60)'", Bounds(memory_mib=100), "memory"
    ),
    "no such tool": ("no-such-compiler", Bounds(), "exited with status 127"),
    "nothing is built": ("true", Bounds(), "expected './bot', which fox needs, got: no such file after the build"),
    "another manifest": (f"{GOOD}; echo 'entropy = true' >> bot.toml", Bounds(), "leaves bot.toml as it is"),
    "a link for a manifest": (f"{GOOD}; ln -sf /etc/passwd bot.toml", Bounds(), "expected links that stay"),
    "a link out": ("ln -s /etc/passwd bot", Bounds(), "which leads to '/etc/passwd'"),
    "a link up": (f"{GOOD}; ln -s ../../../../league.db data", Bounds(), "which leads to '../../../../league.db'"),
    "a pipe": (f"{GOOD}; mkfifo data", Bounds(), "expected a file or folder, got: something else - at data"),
    "a folder for a program": ("mkdir bot", Bounds(), "expected './bot'"),
}  # fmt: skip


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_build_that_takes_too_much_or_leaves_something_odd_fails(name: str, bots: Path, tmp_path: Path) -> None:
    level = Level.TRUSTED if level_in_force(Level.ISOLATED) or name == "a pipe" else Level.ISOLATED
    script, bounds, finding = HOSTILE[name]
    extra = 'built = ["data"]\n' if "data" in script else ""
    report = build(archive(tmp_path, script, extra, tool="t"), bots, level, bounds)
    assert report.verdict is Verdict.FAILED, report
    assert finding in report.finding
    assert str(bots) not in report.finding
    assert len(report.output) <= KEPT_OUTPUT
    if name == "it prints without end":
        assert len(report.output) == KEPT_OUTPUT
    if name == "it fails":
        assert report.output == b"why\n"
        assert "without a network" in report.finding
    assert nothing_is_left(bots)


def test_a_file_counts_and_is_read_once_however_many_names_it_has(bots: Path, tmp_path: Path) -> None:
    link = "import os; [os.link('data/0', f'data/{n}') for n in range(1, 20_000)]"
    script = f'mkdir data; head -c 1m /dev/zero > data/0; python3 -c "{link}"; {GOOD}'
    level = Level.TRUSTED if level_in_force(Level.ISOLATED) else Level.ISOLATED
    report = build(archive(tmp_path, script, 'built = ["data"]\n'), bots, level, Bounds(disk_mib=64))
    assert report.verdict is Verdict.PASSED, report
    assert report.detail["bytes"] < 100 << 20, "a name takes 4 KiB"


def test_what_is_named_as_built_needs_a_build(bots: Path, tmp_path: Path) -> None:
    """The program is in the folder at home, so nothing is missing there; what is built is not sent."""
    files = {"bot.toml": 'name = "fox"\ncommand = ["./bot"]\nbuilt = ["bot"]\n', "bot": "#!/bin/sh\n"}
    report = build(pack(make(tmp_path / "fox", files)).data, bots, Level.TRUSTED)
    assert report.verdict is Verdict.FAILED, report
    assert "give bot.toml a `build` that makes it, or take it out of `built`" in report.finding


def test_what_a_build_starts_ends_with_it(level: Level, bots: Path, tmp_path: Path) -> None:
    seconds = f"9{secrets.randbelow(10**6):06}"
    script = f"sleep {seconds} & setsid sleep {seconds} & (setsid sh -c 'sleep {seconds} & sleep {seconds}' &); {GOOD}"
    report = build(archive(tmp_path, script), bots, level)
    assert report.verdict is Verdict.PASSED, report
    assert alive(seconds) == []


def test_a_build_that_forks_without_end_is_held(bots: Path, tmp_path: Path) -> None:
    for level in CONFINED:
        if level_in_force(level):
            pytest.skip(f"this machine does not give level {level}")
        seconds = f"8{secrets.randbelow(10**6):06}"
        script = f"trap '' CHLD; while :; do setsid sleep {seconds} & done"
        report = build(archive(tmp_path, script), bots, level, Bounds(processes=48, seconds=5))
        assert report.verdict is Verdict.FAILED, report
        assert alive(seconds) == []
        assert nothing_is_left(bots)


SPY = """
import os, socket, sys
def tried(what, call):
    try:
        call()
        print(what, "open")
    except OSError as error:
        print(what, "closed")
tried("secret", lambda: open(sys.argv[1]).read())
tried("passwd", lambda: open("/etc/shadow").read())
tried("tcp", lambda: socket.create_connection(("127.0.0.1", 9), 1))
tried("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
tried("league", lambda: open(sys.argv[2] + "/planted", "w"))
tried("usr", lambda: open("/usr/planted", "w"))
tried("neighbour", lambda: os.listdir(sys.argv[2]))
tried("environment", lambda: open("/proc/1/environ", "rb"))
print(sorted(set(os.environ) - {"CARGO_NET_OFFLINE", "GOPROXY", "GOTOOLCHAIN", "npm_config_offline"}))
print(len([pid for pid in os.listdir("/proc") if pid.isdigit()]) < 12)
import fcntl
fcntl.flock(os.open("lock", os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX)
"""


def test_a_build_sees_nothing_of_the_league_and_no_network(bots: Path, tmp_path: Path) -> None:
    if level_in_force(Level.ISOLATED):
        pytest.skip("this machine does not give level isolated")
    (bots / "neighbour").mkdir()
    (bots.parent / "secret").write_text("hand")
    script = f"python3 spy.py {bots.parent / 'secret'} {bots / 'neighbour'}; {GOOD}"
    report = build(archive(tmp_path, script, **{"spy.py": SPY}), bots, Level.ISOLATED)
    assert report.verdict is Verdict.PASSED, report
    *probes, environment, alone = report.output.decode().splitlines()
    assert alone == "True"
    assert "PYTEST_CURRENT_TEST" not in environment
    places = ("secret", "passwd", "tcp", "udp", "league", "usr", "neighbour", "environment")
    assert probes == [f"{place} closed" for place in places]
    assert list((bots / "neighbour").iterdir()) == []


def test_what_is_closed_or_set_on_purpose_is_made_plain(bots: Path, tmp_path: Path, level: Level) -> None:
    script = f"{GOOD}; mkdir data; echo 1 > data/x; chmod 6755 bot; chmod 000 data/x data; ln -s bot again"
    report = build(archive(tmp_path, script, 'built = ["data", "again"]\n'), bots, level)
    assert report.verdict is Verdict.PASSED, report
    folder = bots / report.detail["folder"]
    modes = {path.name: path.lstat().st_mode & 0o7777 for path in folder.iterdir() if not path.is_symlink()}
    assert modes == {".arena-parcel": 0o644, "bot": 0o755, "bot.toml": 0o644, "data": 0o755}
    assert (folder / "data" / "x").read_text() == "1\n"


def test_a_bot_that_needs_no_building_is_put_in_its_place(level: Level, bots: Path) -> None:
    packed = pack("random")
    report = build(packed.data, bots, level)
    assert report.verdict is Verdict.PASSED
    assert load_bot(str(bots / report.detail["folder"])).digest == load_bot("random").digest


def test_an_archive_that_breaks_a_rule_is_told(bots: Path) -> None:
    report = build(with_bot(b"!" * 512), bots, Level.TRUSTED)
    assert report.verdict is Verdict.FAILED
    assert report.detail["rule"] == "header"
    assert nothing_is_left(bots)


@pytest.mark.parametrize("tool", ["no-such-tool", "./configure"])
def test_a_program_that_is_not_there_is_the_bots_fault(tool: str, bots: Path, tmp_path: Path) -> None:
    source = make(tmp_path / "fox", {"bot.toml": f'name = "fox"\ncommand = ["./bot"]\nbuild = ["{tool}"]\n'})
    report = build(pack(source).data, bots, Level.TRUSTED)
    assert report.verdict is Verdict.FAILED, report
    assert tool in report.finding
    assert nothing_is_left(bots)


@pytest.mark.parametrize(
    ("content", "mode", "finding"),
    [
        (b"MZ\x90\0", 0o755, "expected './bot', which fox needs, got: a program for Windows; build it for Linux"),
        (b"#!/bin/sh\r\n", 0o755, "got: a script with the line ends of Windows (CRLF)"),
        (b"#!/bin/sh\n", 0o644, "got: a file that may not be executed (mode 644); run `chmod +x ./bot`"),
    ],
)
def test_a_program_that_cannot_be_started_is_told_by_the_build(
    content: bytes, mode: int, finding: str, bots: Path, tmp_path: Path
) -> None:
    (tmp_path / "fox").mkdir()
    (tmp_path / "fox" / "bot.toml").write_text('name = "fox"\ncommand = ["./bot"]\n')
    (tmp_path / "fox" / "bot").write_bytes(content)
    (tmp_path / "fox" / "bot").chmod(mode)
    report = build(pack(tmp_path / "fox").data, bots, Level.TRUSTED)
    assert report.verdict is Verdict.FAILED
    assert finding in report.finding


def test_a_disk_without_programs_is_not_the_bots_fault(
    bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.core.link.programs.is_without_programs", lambda place: True)
    (tmp_path / "fox").mkdir()
    (tmp_path / "fox" / "bot.toml").write_text('name = "fox"\ncommand = ["./bot"]\n')
    shutil.copy("/bin/sh", tmp_path / "fox" / "bot")
    report = build(pack(tmp_path / "fox").data, bots, Level.TRUSTED)
    assert report.verdict is Verdict.MACHINE
    assert "expected a disk from which programs can be started, got: one that is mounted noexec" in report.finding


def test_what_the_machine_lacks_is_not_the_bots_fault(
    bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.sandbox.building._FREE_MIB", 2**40)
    report = build(archive(tmp_path, "sleep 5"), bots, Level.TRUSTED)
    assert report.verdict is Verdict.MACHINE
    assert "free disk" in report.finding
    monkeypatch.undo()
    shutil.rmtree(bots)
    report = build(archive(tmp_path, GOOD), bots, Level.TRUSTED)
    assert report.verdict is Verdict.MACHINE


KILLED = """
import sys
from pathlib import Path
from arena.league.submissions.steps import build
from arena.core.types import Level
build(Path(sys.argv[1]), Path(sys.argv[2]), Level(sys.argv[3]))
"""


def test_a_builder_that_is_killed_leaves_no_process_and_no_half_bot(
    playing_level: Level, bots: Path, tmp_path: Path
) -> None:
    seconds = f"7{secrets.randbelow(10**6):06}"
    data = archive(tmp_path, f"sleep {seconds}; {GOOD}")
    (tmp_path / "fox.tar.zst").write_bytes(data)
    builder = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "fox.tar.zst"), str(bots), str(playing_level)]
    )
    assert eventually(lambda: alive(seconds) != [])
    builder.send_signal(signal.SIGKILL)
    builder.wait()
    assert eventually(lambda: alive(seconds) == [])
    assert [path.suffix for path in bots.iterdir()] == [".part"]


ORDINARY = """
import sys
from pathlib import Path
from arena.league.submissions.steps import build
from arena.core.types import Level
report = build(Path(sys.argv[1]), Path(sys.argv[2]), Level.ISOLATED)
sys.stdout.write(f"{report.verdict} {report.finding}")
"""


def test_an_ordinary_user_builds_too(tmp_path: Path) -> None:
    if level_in_force(Level.ISOLATED):
        pytest.skip("this machine does not give level isolated")
    if not others_can_run("sh"):
        pytest.skip("needs sh in a folder that is open to all: other users may not run it where it is")
    top = Path(tempfile.mkdtemp(dir="/tmp", prefix="arena-steps-"))
    try:
        (top / "bots").mkdir()
        (top / "fox.tar.zst").write_bytes(archive(tmp_path, f"mkdir -m 000 data; {GOOD}", 'built = ["data"]\n'))
        if os.geteuid() == 0:
            os.chown(top / "bots", USER, USER)
        top.chmod(0o755)
        words = [sys.executable, "-c", ORDINARY, str(top / "fox.tar.zst"), str(top / "bots")]
        root = str(Path(__file__).parents[3])
        done = subprocess.run(ordinary(*words), capture_output=True, text=True, check=False, cwd=root)
        assert done.stdout == "passed ", done.stdout + done.stderr
    finally:
        shutil.rmtree(top)


def faulty(folder: Path, script: str, rules: str = '"samurai"') -> Path:
    manifest = f'name = "fox"\ncommand = ["{{python}}", "bot.py", "{script}"]\nrules = [{rules}]\n'
    made = make(folder / "fox", {"bot.toml": manifest, "bot.py": FAULTY.read_text()})
    shutil.copy(CLIENT / "arena_bot.py", made)
    return made


@pytest.mark.long
def test_a_sound_bot_passes_its_check(playing_level: Level, bots: Path) -> None:
    report = build(pack("random").data, bots, playing_level)
    report = check(bots / report.detail["folder"], "samurai", playing_level)
    assert (report.kind, report.verdict, report.finding) == ("check", Verdict.PASSED, "")
    assert report.detail["level"] == "full"
    assert report.memory_mib > 0
    assert report.command_to_repeat == f"arena bot check random --rules samurai --level core --level {playing_level}"


def test_a_check_that_fails_says_why(tmp_path: Path) -> None:
    report = check(faulty(tmp_path, "crash"), "samurai", Level.TRUSTED)
    assert report.verdict is Verdict.FAILED
    assert report.finding.startswith("session.action (§4.3-2): expected a process that lives until goodbye, got: ")
    assert "exited with status 3" in report.finding
    assert report.detail["results"]


@pytest.mark.parametrize(
    ("folder", "finding"),
    [
        ({"bot.toml": 'name = "fox"\ncommand = ["sh"]\nrules = ["gardener"]\n'}, "expected a bot that plays samurai"),
        ({"bot.toml": 'name = "fox"\ncommand = ["./bot"]\n'}, "expected './bot', which fox needs"),
    ],
)
def test_a_bot_that_cannot_be_checked_fails(folder: dict[str, str], finding: str, tmp_path: Path) -> None:
    report = check(make(tmp_path / "fox", folder), "samurai", Level.TRUSTED)
    assert (report.verdict, report.detail) == (Verdict.FAILED, {})
    assert finding in report.finding


def test_a_bot_whose_program_is_a_script_fails_with_what_to_do(bots: Path, tmp_path: Path) -> None:
    """A script's first line names its interpreter, which could be a file of others."""
    if level_in_force(Level.ISOLATED):
        pytest.skip("this machine does not give level isolated")
    make(bots.parent, {"other/bot": "#!/bin/sh\n"}, ["other/bot"])
    source = make(
        tmp_path / "fox",
        {"bot.toml": 'name = "fox"\ncommand = ["./bot"]\n', "bot": f"#!{bots.parent / 'other' / 'bot'}\n"},
        ["bot"],
    )
    built = build(pack(source).data, bots, Level.ISOLATED)
    assert built.verdict is Verdict.PASSED, built
    report = check(bots / built.detail["folder"], "samurai", Level.ISOLATED)
    assert report.verdict is Verdict.FAILED
    assert 'got: ./bot, a script; name its runtime in `command`, such as command = ["sh", "./bot"]' in report.finding


def games(report: StepReport) -> list[tuple[int, bool]]:
    return [(game["seat"], "forfeit" in game) for game in report.detail["games"]]


def test_a_bot_that_plays_qualifies(playing_level: Level, bots: Path, logs: Path) -> None:
    built = build(pack("greedy").data, bots, playing_level)
    report = qualify(bots / built.detail["folder"], [make_settings("samurai", 2)], playing_level, logs)
    assert (report.kind, report.verdict, report.finding) == ("qualify", Verdict.PASSED, "")
    assert games(report) == [(0, False), (1, False)] * 4
    assert {path.name for path in logs.glob("*.jsonl*")} == {f"{game['log']}.zst" for game in report.detail["games"]}
    assert not [path for path in logs.iterdir() if path.suffix != ".zst"], "all of it is compressed"


def test_a_bot_that_crashes_in_its_third_decision_does_not(tmp_path: Path, logs: Path) -> None:
    folder = faulty(tmp_path, "ok,ok,words,crash")
    report = qualify(folder, [make_settings("samurai", 3)], Level.TRUSTED, logs)
    assert report.verdict is Verdict.FAILED
    assert "seat 0 exited with status 3" in report.finding
    assert games(report) == [(0, True)]
    assert report.output
    assert report.command_to_repeat == f"arena bot rerun {report.detail['games'][0]['log']} fox --seat 0"


def test_a_trusted_bot_that_changes_its_own_files_does_not(bots: Path, tmp_path: Path, logs: Path) -> None:
    source = tmp_path / "fox"
    shutil.copytree(ROOT / "bots/python/template", source)
    shutil.copy(ROOT / "bots/python/arena_bot.py", source)
    (source / "bot.toml").write_text('name = "fox"\ncommand = ["{python}", "bot.py"]\n')
    text = "import time\nopen('log.txt', 'a').write(f'{time.time()}')\n"
    (source / "bot.py").write_text(text + (source / "bot.py").read_text())
    built = build(pack(source).data, bots, Level.TRUSTED)
    report = qualify(bots / built.detail["folder"], [make_settings("samurai", 2)], Level.TRUSTED, logs)
    assert report.verdict is Verdict.FAILED
    assert "expected the files of fox to stay as they were" in report.finding
    assert "log.txt (new)" in report.finding


@pytest.mark.long
def test_every_number_of_players_is_tried(bots: Path, logs: Path) -> None:
    built = build(pack("greedy").data, bots, Level.TRUSTED)
    settings = [make_settings("samurai", players, ruleset="basic") for players in (2, 4)]
    report = qualify(bots / built.detail["folder"], settings, Level.TRUSTED, logs)
    assert report.verdict is Verdict.PASSED
    assert games(report) == [*[(seat, False) for seat in (0, 1, *range(4))]] * 2


def test_a_log_that_cannot_be_written_is_the_machines_fault(tmp_path: Path) -> None:
    report = qualify(faulty(tmp_path, "ok"), [make_settings("samurai", 2)], Level.TRUSTED, tmp_path / "none")
    assert report.verdict is Verdict.MACHINE
