"""The example logs of `protocol/vectors/logs`, played by the real referee, and the broken ones made from them.

`make golden` writes them. Bots are scripted and the clock jumps, so that the same code writes the same bytes.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from golden.breaking import CASES
from msgspec.structs import replace
from referee_kit import make_job

from arena.core.catalogue import rules_of
from arena.core.link.bots import BotSpec
from arena.core.record.log import read_log, write_log
from arena.core.referee.chance import commitment, mix
from arena.core.referee.game import Game
from arena.core.types import Level, Payload, TimeControl
from arena.core.wire.messages import PROTOCOL, Request
from tests.memory_link import CRASH, MemoryBot, MemoryLink, Reply, answer

FOLDER = Path(__file__).parents[2] / "protocol" / "vectors" / "logs"
NAMES = ("ann", "bob", "cid", "dee")
SECRET = hashlib.sha256(b"the secret of the example logs").digest()
BEACON = "the value of a public beacon"
ENTROPY = (hashlib.sha256(b"ann").hexdigest(), None, hashlib.sha256(b"cid").hexdigest(), None)
MIX = mix(BEACON, [bytes.fromhex(entropy) for entropy in ENTROPY if entropy])

Decide = Callable[[Request], Any]


class Example(NamedTuple):
    """A log, and how its game is played."""

    name: str
    shows: str
    rules: str
    ruleset: str
    bots: Callable[[], list[Decide]]
    options: dict[str, Any]


def legal(request: Request, chance: random.Random) -> Payload:
    """A random legal play of a request."""
    assert request.legal is not None
    product = chance.choice(request.legal)
    return {"plays": [{key: _choose(values, chance) for key, values in product.items()}]}


def _choose(values: Any, chance: random.Random) -> Any:
    if isinstance(values, dict):
        return sorted(chance.sample(values["of"], values["choose"]))
    return chance.choice(values)


def player(seed: int, *, notes: bool = False) -> Decide:
    """Plays by chance, in 0.4 to 12 ms."""
    chance = random.Random(seed)

    def decide(request: Request) -> list[Reply]:
        note = f"{len(request.legal or [])} products, “{request.kind}”" if notes and chance.random() < 0.2 else None
        return [answer(request, legal(request, chance), after_ms=chance.randrange(400, 12_000) / 1000, note=note)]

    return decide


def grabber(seed: int, times_us: list[int], card: Callable[[list[int]], int]) -> Decide:
    """Claims a card after so many microseconds, which come round again; else plays by chance."""
    times, other = itertools.cycle(times_us), player(seed)

    def decide(request: Request) -> Any:
        if request.kind != "seize" or request.legal is None:
            return other(request)
        action = {"plays": [{"card": card(request.legal[0]["card"])}]}
        return [answer(request, action, after_ms=next(times) / 1000, note=f"{card.__name__} of the offer")]

    return decide


def fails(decide: Decide, kind: str, number: int, replies: Callable[[Request], Any]) -> Decide:
    """Does something else at the n-th request of a kind."""
    count = itertools.count(1)

    def failing(request: Request) -> Any:
        return replies(request) if request.kind == kind and next(count) == number else decide(request)

    return failing


def silent(request: Request) -> list[Reply]:
    """Gives no answer."""
    return []


def illegal(request: Request) -> list[Reply]:
    """Answers with a map that is no action."""
    return [answer(request, {"plays": "none"}, after_ms=1)]


def crash(request: Request) -> list[Reply]:
    """Ends its process."""
    return [Reply(CRASH, 2)]


class Absent(MemoryBot):
    """Never says hello."""

    def start(self, token: str) -> list[Reply]:
        """Does nothing."""
        return []


EXAMPLES = [
    Example("samurai-standard", "a game with a hand that is chosen and a set-up by turns; notes",
            "samurai", "standard", lambda: [player(1, notes=True), player(2)], {}),
    Example("samurai-basic", "a set-up by chance", "samurai", "basic", lambda: [player(3), player(4)], {}),
    Example("samurai-classic", "captures in the middle of a turn", "samurai", "classic",
            lambda: [player(5), player(6)], {}),
    Example("samurai-summary", "other fast tiles; a limit for each decision and no bank", "samurai", "summary",
            lambda: [player(7), player(8)], {"time": "1/move"}),
    Example("samurai-forfeits", "one of three crashes in the set-up, which chance then decides for; one is timed out, "
            "which ends the game", "samurai", "standard",
            lambda: [fails(player(9), "turn", 4, silent), player(10), fails(player(11), "setup", 2, crash)], {}),
    Example("gardener-draft", "cards are taken in turn; scores", "gardener", "draft",
            lambda: [player(12), player(13)], {}),
    Example("gardener-young", "every new row scores; at a level that measures what bots compute off turn",
            "gardener", "young", lambda: [player(14), player(15)], {"level": Level.ISOLATED}),
    Example("gardener-race", "races of three with late claims and ties", "gardener", "race",
            lambda: [grabber(16, [2000, 5000, 900], min), grabber(17, [2000, 2400, 900], max),
                     grabber(18, [2000, 2500], min)], {}),
    Example("gardener-forfeits", "two of four forfeit at the same moment, and the others play on", "gardener", "draft",
            lambda: [player(19), fails(player(20), "plant", 3, silent), player(21),
                     fails(player(22), "plant", 3, illegal)], {}),
    Example("gardener-absent", "a bot that does not start: there is no game", "gardener", "draft",
            lambda: [player(23), silent], {}),
    Example("gardener-cut", "a limit of decisions cuts the game; a bot has a time of its own", "gardener", "draft",
            lambda: [player(24), player(25)], {"most_decisions": 12}),
]  # fmt: skip


def _half_a_core_in_seat_1(seat: int, now_ns: int) -> int:
    return now_ns // 2 if seat == 1 else 0


def play(example: Example) -> bytes:
    """The log of an example, with a fixed version of the program."""
    deciders = example.bots()
    bots = [MemoryBot(decide) if decide is not silent else Absent(decide) for decide in deciders]
    with TemporaryDirectory() as folder:
        job = replace(
            make_job(Path(folder), len(bots), rules=example.rules, ruleset=example.ruleset, **example.options),
            game=example.name,
            tournament="examples",
            secret=SECRET,
            beacon=BEACON,
            entropy=ENTROPY[: len(bots)],
            mix=MIX,
            deal=EXAMPLES.index(example),
            bots=tuple(
                BotSpec(
                    name=name,
                    version="1.0",
                    command=("x",),
                    folder="/",
                    digest=hashlib.sha256(name.encode()).hexdigest(),
                    time=TimeControl.parse("2/move") if example.name == "gardener-cut" and name == NAMES[1] else None,
                )
                for name in NAMES[: len(bots)]
            ),
        )
        link = MemoryLink(bots)
        link.cpu = _half_a_core_in_seat_1
        result = Game(job, rules_of(job.settings), link).play()
        path = Path(folder) / result.log
        log = read_log(path)
        write_log(path, [replace(log.header, arena="example"), *log.records])
        return path.read_bytes()


def files() -> Iterator[tuple[Path, bytes]]:
    """Every file of the folder, as the code now makes it."""
    logs = {example.name: play(example) for example in EXAMPLES}
    for name, data in logs.items():
        yield FOLDER / f"{name}.jsonl", data
    described = {
        "$schema": "../vectors.schema.json",
        "protocol": PROTOCOL,
        "tournament": "examples",
        "secret": SECRET.hex(),
        "commitment": commitment(SECRET),
        "contributions": {"beacon": BEACON, "entropy": ENTROPY, "mix": MIX.hex()},
        "logs": [{"file": f"{example.name}.jsonl", "shows": example.shows} for example in EXAMPLES],
    }
    yield FOLDER / "examples.json", _pretty(described)
    broken = [case.vector(logs[case.base]) for case in CASES]
    yield FOLDER / "broken.json", _pretty({"$schema": "../vectors.schema.json", "protocol": PROTOCOL, "broken": broken})


def _pretty(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
