"""The hostile cases: what each tries, and what has to come of it at every level.

The names are those of the specification's list: R resources, P protocol, F files, N network, X processes, T time,
H hidden information. Left out are R15 and R16, submissions and builds: only a league has them.

`make hostile` plays them. The list in docs/safety.md of what `trusted` leaves open is made from this table.
"""

# A case is a line: the table is read down its columns.
# ruff: noqa: E501
from __future__ import annotations

from typing import Final, NamedTuple

LEVELS: Final = ("trusted", "fenced", "isolated", "strict")
EVERYWHERE: Final = ("P3", "P10", "P11", "P28", "P29")  # protocol cases that the short form has at every level


class Expected(NamedTuple):
    """What has to come of a case at a level."""

    codes: frozenset[str] = frozenset()
    """The forfeits of which one must come, if any."""
    plays_on: bool = False
    """The attacker may also play on, and what it tried failed."""
    tried: bool = False
    """It says at least once that something failed: else nothing was tried."""
    open: str = ""
    """The attack may work at this level, and why. Then nothing is expected but that the referee lives."""
    measured: bool = False
    """It may work, and what it takes is measured."""
    unless_left: bool = False
    """It may also leave something behind."""
    unless_harm: bool = False
    """It may also harm the others."""

    @property
    def text(self) -> str:
        """What a table says."""
        if self.open:
            return "measured" if self.measured else "open"
        words = ["forfeit (" + ", ".join(sorted(self.codes)) + ")"] if self.codes else []
        return " or ".join(words + ["blocked" if self.tried else "unaffected"] * self.plays_on)


def forfeit(*codes: str) -> Expected:
    """The attacker forfeits, for one of these reasons."""
    return Expected(codes=frozenset(codes))


def blocked(*codes: str) -> Expected:
    """What it tries fails, and it plays on, or forfeits for one of these reasons."""
    return Expected(codes=frozenset(codes), plays_on=True, tried=True)


def unaffected(*codes: str) -> Expected:
    """The attack has no effect, and it plays on, or forfeits for one of these reasons."""
    return Expected(codes=frozenset(codes), plays_on=True)


def may(why: str, *, left: bool = False, harm: bool = False) -> Expected:
    """The attack may work at this level."""
    return Expected(open=why, unless_left=left, unless_harm=harm)


def measured(what: str) -> Expected:
    """The attack may work at this level, and what it takes is measured and shown."""
    return Expected(open=what, measured=True)


class Case(NamedTuple):
    """One attack."""

    id: str
    tries: str
    """The rest of a sentence: the bot ..."""
    trusted: Expected
    isolated: Expected
    strict: Expected
    attack: str = ""
    """The bot, if its name is not the case's."""
    scene: str = ""
    """What it needs beside the bot (scenes.py)."""
    opponent: str = "honest"
    both: bool = False
    """Both seats are the attacker's."""
    limits: dict[str, int] = {}  # noqa: RUF012 - a NamedTuple has no factories, and nobody changes it
    time: str = "5/move"
    short: bool = True
    """Part of the short form, which CI runs. At `trusted` that leaves out what may work, and at the other levels most
    of the protocol, which is the same at all."""
    compiled: bool = False
    """It needs a C compiler."""
    alone: bool = False
    """Measures time: no other case runs beside it, of another level neither."""
    shown_by: str = ""
    """Instead of a bot: the test that shows it, as pytest names it, or the page that says it."""
    fenced: Expected | None = None
    """What has to come of it at that level, if not the same as at `isolated`."""

    def is_short(self, level: str) -> bool:
        """Tells whether the case is part of the short form at a level."""
        if level == "trusted":
            return self.short and not self.expected(level).open
        is_same = self.trusted == self.isolated == self.strict and self.id.startswith("P")
        return self.short and (self.id in EVERYWHERE or not is_same)

    def expected(self, level: str) -> Expected:
        found: Expected | None = getattr(self, level)
        return found or self.isolated


def at_all(id: str, tries: str, expected: Expected, attack: str = "", **more: object) -> Case:
    """A case with the same outcome at every level."""
    return Case(id, tries, expected, expected, expected, attack=attack or id, **more)  # type: ignore[arg-type]


def confined(id: str, tries: str, why: str, isolated: Expected, strict: Expected | None = None, **more: object) -> Case:
    """A case that may work at `trusted`, and why."""
    left, harm = bool(more.pop("left", False)), bool(more.pop("harm", False))
    first = may(why, left=left, harm=harm)
    return Case(id, tries, first, isolated, strict or isolated, **{"attack": id, **more})  # type: ignore[arg-type]


def shown(id: str, tries: str, test: str, outcome: Expected | None = None) -> Case:
    """A case that a test of pure code shows."""
    found = outcome or unaffected()
    return Case(id, tries, found, found, found, shown_by=test)


SMALL: Final = {"memory_mib": 64}
MEDIUM: Final = {"memory_mib": 256}
NAMES: Final = "a fenced bot opens no file of others, but sees whether a path that it knows is there, its size, its times and where a link leads"
NUMBERS: Final = "fenced bots see of each other how many descriptors and threads they have, so two of one author can pass numbers exactly, at every turn"
SHARED: Final = "two bots of one author can tell each other exact numbers by what programs cannot do without"
FILES: Final = "a trusted bot reads and writes whatever the user who starts arena may"
KERNEL: Final = "a trusted bot may call the kernel as any program of that user"
NETWORK: Final = "a trusted bot has the network of the machine"
SEES: Final = "a trusted bot sees the other processes of the machine, and may touch those of its user"
MACHINE: Final = "processes, threads and descriptors have no limits but the machine's"
UNSEEN: Final = "only the memory of processes is counted"
OFF_TURN: Final = "a bot can compute while others are to move; that is measured and shown, and only `strict` stops it"
DISK: Final = "only the size of each file is limited"

CASES: Final = (
    # Resources
    at_all("R1", "takes 4 GiB of memory", forfeit("out_of_memory"), limits=SMALL),
    at_all("R2", "takes memory in eight children", forfeit("out_of_memory"), limits=SMALL, fenced=blocked()),
    at_all("R1-c", "takes 4 GiB faster than anybody looks", blocked("out_of_memory"), limits=SMALL, compiled=True, fenced=forfeit("out_of_memory", "crashed")),
    confined("R3", "fills /tmp, /dev/shm and every other folder", DISK, blocked("out_of_memory"), limits=MEDIUM),
    confined("R4", "takes memory in files without a name", UNSEEN, blocked("out_of_memory"), limits=SMALL),
    confined("R5", "starts 400 processes", MACHINE, blocked("out_of_memory")),
    confined("R5-c", "starts processes that start processes, without a pause", MACHINE, blocked("out_of_memory"), compiled=True, short=False),
    confined("R6", "starts 400 threads", MACHINE, blocked("out_of_memory")),
    at_all("R7", "computes for ever and ignores signals", forfeit("timeout"), time="1/move"),
    confined("R8", "writes 50 files of the largest size", DISK, blocked("out_of_memory"), limits=MEDIUM | {"file_mib": 4}),
    confined("R9", "opens 50,000 files", MACHINE, blocked()),
    at_all("R10", "floods its standard error", blocked(), scene="Quiet"),
    at_all("R11", "floods its standard output", blocked(), scene="Quiet", short=False),
    confined("R12", "raises its limits and dumps core", "if you start arena as root, your bots are root", blocked(), limits=MEDIUM),
    at_all("R13", "makes a sparse file of 1 TiB", blocked()),
    confined("R14", "makes 200,000 empty files", DISK, blocked("out_of_memory"), limits=SMALL, time="15/move", left=True),
    confined("R17", "takes memory that belongs to no process", UNSEEN, blocked()),
    at_all("R18", "takes memory in page tables", forfeit("out_of_memory"), limits=SMALL),
    at_all("R19", "takes memory that its children shared, on a machine that they make busy", forfeit("out_of_memory"), limits=MEDIUM, time="15/move", fenced=blocked()),
    confined("R20", "takes memory in the buffers of sockets", UNSEEN, forfeit("out_of_memory"), limits=SMALL, time="15/move", fenced=may("at `fenced` the buffers of a bot's sockets are not counted")),
    at_all("R21", "changes flags, size, place and mode of the file of its output, and ends", forfeit("crashed")),
    confined("R22", "takes disk behind the end of its output", DISK, blocked()),
    shown("R24", "asks in its manifest for more memory, output or time to start than whoever runs it gives", "tests/core/link/test_caps.py::test_a_manifest_may_ask_for_its_cap_and_not_for_more"),
    shown("R24-league", "asks for that in a submission, whatever else its manifest says", "tests/league/test_manifest_values.py::test_a_submission_is_taken_or_refused_in_a_sentence"),
    shown("R25", "makes others read a manifest that costs them minutes and gigabytes", "tests/league/test_manifest_values.py::test_a_manifest_is_taken_or_refused_in_a_sentence"),
    confined("R26", "takes shared memory, and gives its pages back to nobody", UNSEEN, blocked("out_of_memory"), limits=SMALL),
    confined("R27", "takes the kernel's memory by watching each file a thousand times", UNSEEN, forfeit("out_of_memory"), limits=SMALL, time="20/move"),
    confined("R28", "takes the kernel's memory by mappings", UNSEEN, forfeit("out_of_memory"), limits=SMALL, time="20/move", fenced=blocked()),
    confined("R29", "takes memory in large pages of which a byte each is in a pipe, and in lists of who may read a file", UNSEEN, blocked(), limits=SMALL, time="20/move"),
    # Protocol
    at_all("P1", "sends a frame over the limit", forfeit("protocol_violation", "malformed")),
    at_all("P2", "claims that a frame has 1 TiB", forfeit("protocol_violation", "disconnected")),
    at_all("P3", "sends a message of frames without end", forfeit("protocol_violation")),
    at_all("P4", "sends empty frames without end", forfeit("protocol_violation")),
    at_all("P5", "answers twice", forfeit("protocol_violation")),
    at_all("P6", "says what nobody asked for", forfeit("protocol_violation")),
    at_all("P7-http", "greets in HTTP", forfeit("start_failed"), limits={"start_ms": 1500}),
    at_all("P7-tls", "greets in TLS", forfeit("start_failed"), limits={"start_ms": 1500}, short=False),
    at_all("P7-garbage", "greets in garbage", forfeit("start_failed"), limits={"start_ms": 1500}, short=False),
    at_all("P8", "sends half a greeting", forfeit("start_failed"), limits={"start_ms": 1500}),
    at_all("P9", "answers a byte every 100 ms", forfeit("timeout"), time="1/move"),
    at_all("P9-greeting", "greets a byte every 100 ms", forfeit("start_failed"), limits={"start_ms": 1500}, short=False),
    at_all("P10", "opens 400 connections in mid-game", blocked("protocol_violation"), scene="FewDescriptors"),
    at_all("P10-before", "opens 400 connections before it greets", unaffected("start_failed"), scene="FewDescriptors", limits={"start_ms": 3000}, short=False),
    at_all("P11", "greets over a second connection", blocked("protocol_violation")),
    at_all("P12", "closes its connection and opens another", forfeit("disconnected", "crashed")),
    at_all("P13-1", "speaks ZMTP 1", forfeit("start_failed"), limits={"start_ms": 1500}),
    at_all("P13-2", "speaks ZMTP 2", forfeit("start_failed"), limits={"start_ms": 1500}, short=False),
    at_all("P14", "sends pings without end", unaffected("protocol_violation", "disconnected")),
    at_all("P15-type", "says that it is a PUB socket", forfeit("start_failed"), limits={"start_ms": 1500}),
    at_all("P15-short", "sends a READY that is cut off", forfeit("start_failed"), limits={"start_ms": 1500}, short=False),
    at_all("P15-name", "sends a READY with a false length", forfeit("start_failed"), limits={"start_ms": 1500}, short=False),
    at_all("P16-array", "announces an array of 2^32 items", forfeit("malformed")),
    at_all("P16-map", "announces a map of 2^32 items", forfeit("malformed"), short=False),
    at_all("P16-text", "announces a text of 4 GiB", forfeit("malformed"), short=False),
    at_all("P17", "nests arrays 60,000 deep", forfeit("malformed")),
    at_all("P18-int", "has a number as a key", forfeit("malformed")),
    at_all("P18-nil", "has nil as a key", forfeit("malformed"), short=False),
    at_all("P18-bin", "has bytes as a key", forfeit("malformed"), short=False),
    at_all("P18-map", "has a map as a key", forfeit("malformed"), short=False),
    at_all("P19-nan", "sends NaN", forfeit("malformed")),
    at_all("P19-inf", "sends infinity", forfeit("malformed"), short=False),
    at_all("P19-zero", "sends -0.0", forfeit("malformed"), short=False),
    at_all("P19-true", "sends true for 1", forfeit("malformed"), short=False),
    at_all("P19-big", "sends 2^64 - 1", forfeit("malformed"), short=False),
    at_all("P19-ext", "sends an extension type", forfeit("malformed"), short=False),
    at_all("P19-time", "sends a timestamp", forfeit("malformed"), short=False),
    at_all("P19-twice", "sends a key twice", forfeit("malformed")),
    at_all("P19-utf8", "sends bad UTF-8", forfeit("malformed"), short=False),
    at_all("P19-more", "sends bytes after the message", forfeit("malformed"), short=False),
    at_all("P20-wrong", "answers another request than the one it was sent", forfeit("protocol_violation")),
    at_all("P20-again", "sends an old answer again", forfeit("protocol_violation"), short=False),
    confined("P21", "takes another seat's token and place", SEES, blocked(), opponent="late", harm=True),
    at_all("P22", "never reads", forfeit("timeout", "protocol_violation", "start_failed"), time="1/move", limits={"start_ms": 3000}),
    at_all("P23", "never answers", forfeit("timeout"), time="1/move"),
    at_all("P24-exit", "exits with status 0 in its turn", forfeit("crashed")),
    at_all("P24-segfault", "has a segmentation fault in its turn", forfeit("crashed"), short=False),
    at_all("P24-exec", "becomes another program in its turn", forfeit("crashed"), short=False),
    at_all("P25", "answers in the millisecond of its deadline", unaffected("timeout"), scene="Verified", time="0.5/move"),
    at_all("P26", "writes escape sequences, SQL, formulas and scripts", forfeit("crashed", "malformed"), scene="Screens"),
    at_all("P27", "prints what the referee would print", unaffected()),
    at_all("P28", "floods while its opponent still starts", forfeit("protocol_violation"), opponent="late", scene="Transcripts"),
    at_all("P29", "sends 900 messages of 64 KiB that are ignored", unaffected("protocol_violation"), scene="Transcripts"),
    at_all("P30", "sends commands of no meaning without end", unaffected("protocol_violation", "disconnected")),
    at_all("P31", "floods after its forfeit", forfeit("protocol_violation"), scene="Transcripts"),
    # Files
    confined("F1", "reads the database, other bots, /etc/shadow, the operator's home", FILES, blocked(), scene="Canaries"),
    confined("F2", "changes its own code", FILES, blocked(), scene="OwnCode"),
    confined("F3", "plants links where the referee will write its logs", FILES, blocked(), scene="Victim"),
    confined("F4", "makes devices and setuid files, mounts, changes its root", "if you start arena as root, your bots are root", blocked()),
    confined("F5", "leaves a file for its next game", FILES, blocked(), scene="Marks", left=True),
    at_all("F6", "looks for inherited descriptors", blocked()),
    confined("F7", "reads the kernel's memory, log and settings", FILES, blocked()),
    confined("F8", "passes hidden cards by a named pipe in its folder", FILES, unaffected(), both=True, scene="Pipe", left=True),
    confined("F9", "asks whether files of others are there, how large, since when, and where links lead", FILES, blocked(), scene="Canaries", fenced=may(NAMES)),
    # Network
    confined("N1", "uses TCP, UDP, raw packets, names", NETWORK, blocked(), scene="Listeners"),
    confined("N2", "connects to other programs' Unix sockets", NETWORK, blocked(), scene="Listeners"),
    confined("N3", "opens vsock, netlink and other strange sockets", NETWORK, blocked()),
    at_all("N4", "passes 4,000 descriptors to the referee", blocked("protocol_violation", "disconnected"), scene="Descriptors"),
    # Processes
    confined("X1", "reads the memory and environment of the referee", SEES, blocked(), scene="Decoy"),
    confined("X2", "signals, renices and limits other processes", SEES, blocked(), scene="Decoy"),
    at_all("X3", "leaves daemons", blocked()),
    at_all("X4", "leaves daemons, and the referee is killed", unaffected(), scene="KillReferee"),
    confined(
        "X5",
        "computes while others are to move, in a child that wakes whoever stops it",
        "nothing stops a bot while it is not its turn",
        measured(OFF_TURN),
        blocked(),
        scene="OffTurn",
        opponent="slow",
        short=False,
    ),
    confined("X6", "makes namespaces, calls io_uring, bpf, keyctl, enters by 32 bits", KERNEL, blocked()),
    confined("X7", "becomes root by sudo, su, pkexec", "programs like sudo ask who you are, not who wrote the program", blocked()),
    confined("X8", "types into the operator's terminal", SEES, blocked(), scene="Terminal"),
    confined("X9", "leaves its cgroup", "if you start arena as root, your bots are root", blocked()),
    at_all("X10", "is killed while its opponent thinks", forfeit("crashed", "out_of_memory"), attack="X10", scene="KillWaiting", opponent="slow"),
    # Time
    confined(
        "T1",
        "computes while others are to move",
        "nothing stops a bot while it is not its turn",
        measured(OFF_TURN),
        blocked(),
        scene="OffTurn",
        opponent="slow",
    ),
    at_all("T2", "reads its requests late to gain time", unaffected(), scene="Times"),
    at_all("T3", "uses 99 % of its time at every turn", unaffected("timeout"), scene="Times", time="1+0"),
    at_all("T4-1", "answers 1 ms late", unaffected("timeout"), scene="Verified", time="0.5/move", short=False),
    at_all("T4-20", "answers 20 ms late", unaffected("timeout"), scene="Verified", time="0.5/move", short=False),
    at_all("T4-1000", "answers 1,000 ms late", forfeit("timeout"), time="0.5/move"),
    at_all("T5", "never says hello", forfeit("start_failed"), limits={"start_ms": 1000}),
    shown("T10", "sleeps before each rated game of a league, and not in the check", "tests/league/test_starts.py::test_a_slow_starter_holds_up_few_of_a_leagues_games"),
    at_all("T6", "leaves helpers that slow its opponents", forfeit("crashed"), scene="Helpers"),
    confined(
        "T7",
        "computes with eight processes all the time",
        "a trusted bot takes what cores it finds",
        measured("the cores are shared; what the others were denied is measured, and marks a loss by time"),
        unaffected(),
        scene="Slowed",
        opponent="worker",
        alone=True,
        harm=True,
    ),
    confined("T8", "sets the system's clock, and lies about its time", "if you start arena as root, your bots are root", blocked(), scene="Times"),
    at_all("T9", "is stopped in mid-turn together with the referee, as a machine is that sleeps or is paused", unaffected(), scene="Sleep", time="2/move", alone=True, short=False),
    at_all("T11", "is hard to measure, and lets its time run out", forfeit("timeout"), scene="Unexcused", limits=MEDIUM, alone=True),
    # Hidden information
    shown("H1", "sees what changes if others' hidden tiles are dealt anew", "tests/games/property/test_samurai_secrets.py::test_two_worlds_stay_the_same_through_a_whole_game"),
    shown("H2", "looks at lengths and order", "tests/games/property/test_samurai_secrets.py::test_two_worlds_look_the_same_at_every_step"),
    shown("H3", "guesses the secret of a deal", "tests/core/referee/test_duties.py::test_no_frame_has_a_secret"),
    shown("H4", "works back from its seed to the deal", "tests/conformance/test_chance.py::test_secrets_commitments_and_seeds"),
    shown("H5", "compares the refusals of illegal actions", "tests/hostile/test_hidden.py::test_a_refusal_says_the_same_whatever_is_hidden"),
    shown("H6", "probes with illegal actions: each costs the game", "tests/core/referee/test_game.py::test_a_fault_in_a_turn_is_that_seats_forfeit_alone", forfeit("illegal_action")),
    confined("H7", "reads the log, the secret and the database while it plays", FILES, blocked(), scene="Canaries"),
    shown("H8", "counts messages to learn what was hidden", "tests/core/referee/test_game.py::test_no_name_reaches_a_bot_and_numbers_are_the_sessions_own"),
    shown("H9", "watches how long others think", "protocol/SPEC.md::What is **not** hidden, and cannot be", may("the time between two messages shows how long others think")),
    shown("H10", "watches how long the referee takes", "tests/core/referee/test_duties.py::test_the_referee_s_own_work_is_charged_to_nobody"),
    confined("H11", "passes hidden cards to another seat by covert channels", SEES, blocked(), both=True, scene="Marks", left=True),
    confined("H11-stat", "tells the other seat a number by how many descriptors it has", SEES, blocked(), both=True, fenced=may(NUMBERS)),
    confined("H11-shared", "tells the other seat a number by what programs cannot do without", SEES, may(SHARED), both=True, fenced=may(SHARED)),
    confined("H12", "reads environments, arguments, names of processes and of the machine", SEES, blocked()),
    confined("H12-name", "asks for the machine's name", SEES, blocked(), fenced=may("a fenced bot sees the name of the machine and the numbers of its threads, which count those of all")),
    at_all("H13", "looks for its opponent's name", blocked()),
    at_all("H14", "ends when it does not like its hand", forfeit("crashed")),
    confined("H16", "reads what the machine counts: memory, processes, load, free blocks, pseudo-terminals", SEES, blocked()),
    shown("H15", "remembers a deal that was interrupted", "tests/core/e2e/test_blocks.py::test_fresh_bots_play_one_game_each"),
)  # fmt: skip
