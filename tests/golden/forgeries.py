"""The forgeries of `protocol/vectors/tournaments`: how each is made from an honest tournament, and what finds it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from golden.tournaments import FOLDER, SIGNATURE

from arena.core.record.published import sha256_of
from arena.core.referee.chance import bot_seed, commitment, game_salt, mix
from arena.core.tournament.formats.round_robin import RoundRobin

Record = dict[str, Any]
Edit = dict[str, Any]
OTHER: Final = "ab" * 32
EARLIER: Final = "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92"
"""What round 123 of quicknet gave."""


def load(of: str, file: str) -> Any:
    """Returns a file of an honest tournament: the records of a log, or a document."""
    text = (FOLDER / of / file).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if file.endswith(".jsonl") else json.loads(text)


def log(of: str, number: int) -> str:
    """Returns the name of a log."""
    return f"{load(of, 'commitment.json')['tournament']}-{number:06d}.jsonl"


def line(of: str, file: str, wanted: Callable[[Record], bool]) -> int:
    """Returns the number of the first line with such a record, from 1."""
    return next(at for at, record in enumerate(load(of, file), start=1) if wanted(record))


def forgery(
    id: str, of: str, description: str, check: str, says: str, *edits: Edit, complete: bool = False, noted: bool = False
) -> Record:
    return {
        "id": id,
        "of": of,
        "description": description,
        "edits": list(edits),
        "complete": complete,
        "noted": noted,
        "found": {"check": check, "says": says},
    }


def put(file: str, at: int | None = None, **values: Any) -> Edit:
    """An edit that sets values; the keys are paths, with `__` for the dots."""
    place = {} if at is None else {"line": at}
    return {"file": file, **place, "set": {path.replace("__", "."): value for path, value in values.items()}}


def of_value(of: str, value: str) -> list[Edit]:
    """Another value of a beacon, with the mix that follows from it, in the documents and in the logs."""
    given = load(of, "contributions.json")
    mixed = mix(value, [bytes.fromhex(entropy) for entropy in given["entropy"] if entropy]).hex()
    logs = sorted(path.name for path in (FOLDER / of).glob("*.jsonl"))
    edits = [put("contributions.json", beacon=value, mix=mixed)]
    return edits + [put(name, 1, beacon=value, mix=mixed) for name in logs]


def forgeries() -> Iterator[Record]:
    first, second, third, fourth = (log("deals", number) for number in range(4))
    before = load("deals", "commitment.json")
    id = before["tournament"]
    action = line("deals", first, lambda record: record["record"] == "action")
    chosen = {"secret": OTHER, "commitment": commitment(bytes.fromhex(OTHER))}
    other_deal = next(file for file in (second, third, fourth) if load("deals", file)[0]["deal"] != 0)
    other_seats = next(file for file in (second, third, fourth) if load("deals", file)[0]["deal"] == 0)
    place = int(other_seats[-12:-6])

    def posing(file: str) -> list[Edit]:
        """Another game in the place of the one with the seats changed, down to its salt and the bots' seeds."""
        return [{"copy": file, "to": other_seats}, put(other_seats, 1, **header(place))]

    # The secret and what is published
    yield forgery(
        "other-secret", "deals", "The secret is one that was chosen afterwards.",
        "commitment", "committed to before the first game", put("secret.json", **chosen),
    )  # fmt: skip
    yield forgery(
        "other-commitment", "deals",
        "The commitment was replaced with the secret. Only who noted the first one can see it.",
        "commitment", "expected the commitment", put("secret.json", **chosen),
        put("commitment.json", commitment=chosen["commitment"]), noted=True,
    )  # fmt: skip
    yield forgery(
        "secret-of-no-commitment", "deals", "The secret is not the one of its commitment.",
        "commitment", "expected the secret of the commitment", put("secret.json", secret=OTHER),
    )  # fmt: skip
    yield forgery(
        "secret-withheld", "deals", "The secret is not revealed.",
        "secret", "not revealed", {"delete": "secret.json"}, complete=True,
    )  # fmt: skip
    yield forgery(
        "commitment-withheld", "deals", "What was committed to is not told.",
        "commitment", "expected a commitment.json", {"delete": "commitment.json"}, complete=True,
    )  # fmt: skip
    yield forgery(
        "deals-left-out", "deals",
        "A deal was left out, and the commitment says that there was one. Only who noted the first one can see it.",
        "commitment", "expected the deals", *left_out(before), noted=True,
    )  # fmt: skip
    yield forgery(
        "settings-after-the-fact", "deals", "The settings in the commitment were changed, but not their digest.",
        "commitment", "settings_sha256", put("commitment.json", settings__game__time__bank_ms=60_000),
    )  # fmt: skip
    yield forgery(
        "schedule-after-the-fact", "deals", "The commitment has fewer games than its schedule.",
        "commitment", "number of games", put("commitment.json", games=3),
    )  # fmt: skip
    yield forgery(
        "entrants-after-the-fact", "deals", "The commitment's bots are not those of its settings.",
        "commitment", "bots does not follow", put("commitment.json", bots__0__digest="c" * 64),
    )  # fmt: skip
    yield forgery(
        "contribution-changed", "deals", "A bot's contribution was replaced afterwards.",
        "commitment", "expected the mix", put("contributions.json", entropy__0="11" * 32),
    )  # fmt: skip
    yield forgery(
        "contributions-of-another", "deals", "The contributions are those of another tournament.",
        "commitment", "expected one of tournament", put("contributions.json", tournament="20260101-0009"),
    )  # fmt: skip
    yield forgery(
        "contribution-of-nobody", "deals", "Whoever chose the mix gave it as what one more entrant put into chance.",
        "commitment", "what each of 2 entrants put into chance",
        put("contributions.json", entropy=["0f" * 32, None, "11" * 32]),
    )  # fmt: skip
    yield forgery(
        "contribution-of-another", "deals", "What one bot put into chance is said to be another's.",
        "deals", "expected the contributions by seat", put("contributions.json", entropy=[None, "0f" * 32]),
    )  # fmt: skip
    yield forgery(
        "contribution-in-a-header", "deals", "A log says that a bot put something into chance which nobody has.",
        "deals", "put into chance is not in contributions.json", put(first, 1, bots__1__entropy="11" * 32),
    )  # fmt: skip
    yield forgery(
        "contribution-in-two-forms", "deals", "A contribution is written in another form of the same bytes.",
        "commitment", "expected a contributions.json", put("contributions.json", entropy=["0F" * 32, None]),
    )  # fmt: skip
    # The beacon
    yield forgery(
        "beacon-of-nobody", "deals", "A value went into the deals that the commitment does not name.",
        "beacon", "names none", *of_value("deals", "round 42"),
    )  # fmt: skip
    yield forgery(
        "beacon-left-out", "race", "The value that the commitment names did not go into the deals.",
        "beacon", "expected the value of drand", {"delete": "contributions.json"},
    )  # fmt: skip
    yield forgery(
        "beacon-of-another-round", "race", "The value is that of an earlier round, which was liked better.",
        "beacon", "expected the signature of quicknet's round", *of_value("race", EARLIER),
    )  # fmt: skip
    yield forgery(
        "beacon-invented", "race", "The value is no signature at all.",
        "beacon", "expected the signature of quicknet's round", *of_value("race", "round 657413"),
    )  # fmt: skip
    yield forgery(
        "beacon-in-another-form", "race", "The value is written in another form of the same bytes.",
        "beacon", "expected the signature of quicknet's round", *of_value("race", SIGNATURE.upper()),
    )  # fmt: skip
    yield forgery(
        "beacon-known-before", "race", "The round was out when the commitment was made.",
        "beacon", "expected a round that was not out yet", put("commitment.json", created="2023-09-15T11:00:03+00:00"),
    )  # fmt: skip
    yield forgery(
        "beacon-and-a-contribution", "race", "A bot of the organiser's put something in, once the value was known.",
        "beacon", "expected no contribution beside a beacon", put("contributions.json", entropy=["11" * 32, None]),
    )  # fmt: skip
    renamed = load("clock", "commitment.json")["settings"] | {"beacon": "the hash of block 940001 of Bitcoin"}
    yield forgery(
        "beacon-renamed", "clock", "Another value was named afterwards. Only who noted the first one can see it.",
        "commitment", "expected the settings_sha256",
        put("commitment.json", settings=renamed, settings_sha256=sha256_of(renamed)), noted=True,
    )  # fmt: skip
    # One form
    changed = before["settings"] | {"comment": "x"}
    yield forgery(
        "unknown-setting", "deals", "The settings have a key that means nothing, of which there can be any number.",
        "commitment", "settings.comment is no setting",
        put("commitment.json", settings=changed, settings_sha256=sha256_of(changed)),
    )  # fmt: skip
    changed = before["settings"] | {"game": before["settings"]["game"] | {"comment": "x"}}
    yield forgery(
        "unknown-setting-of-the-game", "deals", "So do the settings of the game.",
        "commitment", "settings.game.comment is no setting",
        put("commitment.json", settings=changed, settings_sha256=sha256_of(changed)),
    )  # fmt: skip
    changed = before["schedule"] | {"comment": "x"}
    yield forgery(
        "unknown-key-in-the-schedule", "deals", "So does the schedule.",
        "commitment", "the schedule does not follow",
        put("commitment.json", schedule=changed, schedule_sha256=sha256_of(changed)),
    )  # fmt: skip
    for file in ("commitment.json", "contributions.json", "secret.json"):
        name = file.removesuffix(".json")
        yield forgery(
            f"unknown-key-in-the-{name}", "deals", f"So does {file}.",
            "commitment", f"expected a {file}", put(file, comment="x"),
        )  # fmt: skip
    yield forgery(
        "key-twice", "deals", "The commitment has two settings. Some readers take the first, and some the last.",
        "commitment", "the key 'settings' twice", {"file": "commitment.json", "begin": '"settings":{},'},
    )  # fmt: skip
    yield forgery(
        "log-elsewhere", "deals", "A log is a symbolic link, so that it can be exchanged at any time.",
        "schedule", "a symbolic link", {"move": second, "to": "elsewhere"}, {"link": second, "to": "elsewhere"},
    )  # fmt: skip
    yield forgery(
        "secret-elsewhere", "deals", "The secret is a symbolic link.",
        "commitment", "a symbolic link", {"move": "secret.json", "to": "elsewhere"},
        {"link": "secret.json", "to": "elsewhere"},
    )  # fmt: skip
    yield forgery(
        "log-under-another-name", "deals", "A log does not have the name of its game.",
        "schedule", "expected the log of game", {"move": second, "to": f"{id}-extra.jsonl"},
    )  # fmt: skip
    yield forgery(
        "tournament-inside", "deals", "The folder has another one with a log.",
        "schedule", "expected no folder of games", {"copy": second, "to": f"more/{second}"},
    )  # fmt: skip
    # Deals
    yield forgery(
        "contributions-hidden", "deals", "That others put something into chance is not told.",
        "deals", "mix does not follow", {"delete": "contributions.json"},
    )  # fmt: skip
    yield forgery(
        "mix-changed", "deals", "What others put into chance was left out of a game.",
        "deals", "mix does not follow", put(first, 1, mix="00" * 32),
    )  # fmt: skip
    yield forgery(
        "beacon-changed", "deals", "A log names another value of the beacon.",
        "deals", "beacon", put(first, 1, beacon="round 43"),
    )  # fmt: skip
    yield forgery(
        "other-deal-claimed", "deals", "A log says that it was dealt from another deal.",
        "deals", "commitment does not belong", put(first, 1, deal=1),
    )  # fmt: skip
    yield forgery(
        "draw-chosen", "deals", "A draw is another one that the rules allow.",
        "deals", "the secret gives the draw", redrawn(first),
    )  # fmt: skip
    yield forgery(
        "salt-changed", "deals", "The bots of a game were told another commitment.",
        "deals", "salt does not follow", put(first, 1, salt="00" * 32),
    )  # fmt: skip
    yield forgery(
        "bot-seed-chosen", "deals", "A bot was given a number that does not follow from the secret.",
        "deals", "seed of the bot in seat 0", put(first, 1, bots__0__bot_seed=7),
    )  # fmt: skip
    yield forgery(
        "one-deal-two-commitments", "deals", "Before the secret is out, two games of one deal have other commitments.",
        "deals", "another commitment", {"delete": "secret.json"}, put(other_seats, 1, commitment="00" * 32),
    )  # fmt: skip
    # The schedule
    yield forgery(
        "dealt-again", "deals", "The game with the seats changed was played on another deal of the tournament.",
        "schedule", "as the tournament has it, got: 1", *posing(other_deal),
    )  # fmt: skip
    yield forgery(
        "rotation-missing", "deals", "The game in which the seats were changed is not there.",
        "schedule", "1 of 4 games of the schedule are missing", {"delete": other_seats},
    )  # fmt: skip
    yield forgery(
        "rotation-twice", "deals", "The first game stands in the place of the one in which the seats were changed.",
        "schedule", "expected the rotation 1", *posing(first),
    )  # fmt: skip
    yield forgery(
        "game-twice", "deals", "A game is there twice.",
        "schedule", "is there twice", {"copy": first, "to": f"{id}-extra.jsonl"},
    )  # fmt: skip
    yield forgery(
        "other-tournament", "deals", "A log of another tournament lies among them.",
        "schedule", "a log of tournament 20260101-0009", put(second, 1, tournament="20260101-0009"),
    )  # fmt: skip
    yield forgery(
        "game-unknown", "deals", "A log is of a game that the schedule does not have.",
        "schedule", "is no game of the schedule", put(second, 1, **header(7)),
    )  # fmt: skip
    yield forgery(
        "settings-of-a-game", "deals", "The bots had more time in one game.",
        "schedule", "expected the SHA-256 of what is played", put(second, 1, settings__time__bank_ms=60_000),
    )  # fmt: skip
    yield from stages()
    # Bots
    yield forgery(
        "bots-exchanged", "deals", "The bots of a game are exchanged, so that the winner is the loser.",
        "bots", "in seat 0 sat slow", {"file": first, "line": 1, "exchange": named(first)},
    )  # fmt: skip
    yield forgery(
        "bot-unknown", "deals", "Another program played under the name of an entrant.",
        "bots", "in seat 1 sat slow 1 (cccc", put(first, 1, bots__1__digest="c" * 64),
    )  # fmt: skip
    # The game
    outcome = len(load("deals", first))
    yield forgery(
        "ranks-exchanged", "deals", "Winner and loser are exchanged.",
        "log", "expected the ranks", put(first, outcome, ranks=load("deals", first)[-1]["ranks"][::-1]),
    )  # fmt: skip
    yield forgery(
        "event-changed", "deals", "An event tells something else than what happened.",
        "log", "expected the event", put(first, action, events__0__data__space=0),
    )  # fmt: skip
    yield forgery(
        "board-changed", "deals", "The board that is shown is not the one that was played on.",
        "log", "the board is not the one", put(first, 1, board__spaces__0__kind="village"),
    )  # fmt: skip
    yield forgery(
        "byte-flipped", "deals", "A byte is another.",
        "log", "", {"file": first, "flip": (FOLDER / "deals" / first).stat().st_size // 2},
    )  # fmt: skip
    # Times
    yield forgery(
        "beyond-the-bank", "deals", "A seat used more time than its bank had.",
        "time", "its clock allowed", {"file": first, "from": action, "add": {"ms": 99_000}},
        put(first, action, used_ns=10_031_000_000),
    )  # fmt: skip
    yield forgery(
        "more-than-passed", "deals", "A seat used more time than passed since it was asked.",
        "time", "since it was asked", put(first, action, used_ns=9_000_000_000),
    )  # fmt: skip
    yield forgery(
        "less-than-nothing", "deals", "A seat used less than no time.",
        "log", "used_ns", put(first, action, used_ns=-1),
    )  # fmt: skip
    yield forgery(
        "back-in-time", "deals", "A draw happened before the turn that led to it.",
        "time", "before the record above it",
        put(first, line("deals", first, lambda record: record["record"] == "chance" and record["ms"] > 20), ms=0),
    )  # fmt: skip
    timed_out = log("clock", 0)
    forfeit = line("clock", timed_out, lambda record: record["record"] == "forfeit")
    yield forgery(
        "out-of-time-too-early", "clock", "A seat is said to have run out of time while it had some left.",
        "time", "it had time until", {"file": timed_out, "from": forfeit, "add": {"ms": -100}},
    )  # fmt: skip
    yield from races()


def stages() -> Iterator[Record]:
    """Stages that are not those of the settings, and games that are not those of their stage."""
    before = load("stages", "commitment.json")
    for id, description, told in (
        ("stages-of-equal-size", "The deals are divided into other stages.", {"stages": [4, 4]}),
        ("stages-of-the-second-planning", "The schedule is that of an earlier planning.", {"stage": 30}),
    ):
        schedule = {key: value for key, value in before["schedule"].items() if key != "stages"} | told
        yield forgery(
            id, "stages", description, "commitment", "the schedule does not follow",
            put("commitment.json", schedule=schedule, schedule_sha256=sha256_of(schedule)),
        )  # fmt: skip
    last = log("stages", 33)
    deal = load("stages", last)[0]["deal"]
    yield forgery(
        "game-of-an-earlier-stage", "stages", "A game of the second stage is said to be of the first, on its own deal.",
        "schedule", f"as the tournament has it, got: {deal}", {"delete": log("stages", 5)},
        {"copy": last, "to": log("stages", 5)}, put(log("stages", 5), 1, game=log("stages", 5).removesuffix(".jsonl")),
    )  # fmt: skip


def header(number: int) -> dict[str, Any]:
    """Returns all of a header of `deals` that follows from the game's identifier and the tournament's secret."""
    secret = bytes.fromhex(load("deals", "secret.json")["secret"])
    id = load("deals", "commitment.json")["tournament"]
    game, mixed = f"{id}-{number:06d}", bytes.fromhex(load("deals", log("deals", 0))[0]["mix"])
    seeds = {f"bots__{seat}__bot_seed": bot_seed(secret, game, id, mixed, seat) for seat in range(2)}
    return {"game": game, "salt": game_salt(secret, game).hex(), **seeds}


def races() -> Iterator[Record]:
    """Races that were served otherwise than their times say."""
    file = log("race", 0)
    records = load("race", file)
    tied = line("race", file, lambda record: record.get("tied") is not None)
    claims = ("action", "late")
    alone = next(
        at
        for at, record in enumerate(records, start=1)
        if record.get("kind") == "seize" and record["record"] == "action" and records[at]["record"] == "late"
        and records[at - 2].get("tied") is None and records[at - 2]["record"] not in claims
    )  # fmt: skip
    fast, slow = records[alone - 1]["used_ns"], records[alone]["used_ns"]
    yield forgery(
        "race-out-of-order", "race", "The slower seat was served first.",
        "time", "by their times seat", put(file, alone, used_ns=slow, ms=records[alone]["ms"]),
        put(file, alone + 1, used_ns=fast),
    )  # fmt: skip
    yield forgery(
        "tie-decided", "race", "Two seats were equally fast, and their order was not drawn.",
        "time", "the tied seats [0, 1] came next", put(file, alone + 1, used_ns=fast + 1),
    )  # fmt: skip
    fastest = min(records[tied]["used_ns"], records[tied + 1]["used_ns"])
    yield forgery(
        "tie-invented", "race", "The order of two seats was drawn although one was faster.",
        "time", "not the tied seats [0, 1]", put(file, tied + 1, used_ns=fastest - 1_500_000),
    )  # fmt: skip


def left_out(before: Record) -> list[Edit]:
    """The edits that leave out the second deal, and say that there never was one."""
    settings = before["settings"] | {"deals": 1}
    schedule = RoundRobin(deals=1).document(len(before["bots"]), settings["game"]["players"])
    told = {
        "deals": 1,
        "games": schedule["games"],
        "settings.deals": 1,
        "settings_sha256": sha256_of(settings),
        "schedule": schedule,
        "schedule_sha256": sha256_of(schedule),
    }
    gone = [file for file in (log("deals", number) for number in range(4)) if load("deals", file)[0]["deal"] == 1]
    return [*({"delete": file} for file in gone), {"file": "commitment.json", "set": told}]


def redrawn(file: str) -> Edit:
    """The edit that makes the last draw another. Its event is left: the secret speaks before the rules do."""
    records = load("deals", file)
    at = next(at for at, record in enumerate(records, start=1) if record["record"] == "chance" and record["n"] > 1)
    return put(file, at, draw=(records[at - 1]["draw"] + 1) % records[at - 1]["n"])


def named(file: str) -> list[list[str]]:
    """The paths of a header that must change places for its bots to do so. Seeds stay: they are of the seats."""
    return [[f"bots.0.{key}", f"bots.1.{key}"] for key in ("name", "version", "digest", "entropy")]


def document() -> bytes:
    """Returns the file of all forgeries."""
    rows = ",\n".join(f"    {json.dumps(one, ensure_ascii=False)}" for one in forgeries())
    head = '"$schema": "../vectors.schema.json",\n  "protocol": "1.0"'
    return f'{{\n  {head},\n  "forgeries": [\n{rows}\n  ]\n}}\n'.encode()


def files() -> Iterator[tuple[Path, bytes]]:
    """Yields the file, once the honest tournaments are there."""
    yield FOLDER / "forgeries.json", document()
