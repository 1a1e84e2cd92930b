"""Checks by SPEC.md, LOG.md and LEAGUE.md that what bots and authors were once shown is still what is shown.

    python3 check_receipts.py receipts KEPT LOG...             receipts that a bot has kept, against logs
    python3 check_receipts.py ledger FOLDER [--head FILE]...   a ledger, against its seasons, its logs, and heads
    python3 check_receipts.py prove FOLDER GAME                prints the proof that a game is in a ledger
    python3 check_receipts.py inclusion FILE                   a proof that an entry is in a ledger
    python3 check_receipts.py consistency FILE                 a proof that a ledger goes on from an earlier one

KEPT has a line for each game, as section 8.10 of SPEC.md says. FOLDER has `ledger`, and beside it `seasons` and `logs`
if there are any: what a league publishes, or what `arena league audit --at` and `arena league season get` fetched. A
head is a JSON object with `size` and `root`, alone or under the key of a league's door. A proof is one with `size`,
`root` and `proof`, and with `entry` (its line) and `index`, or with `before` (a head).

It needs Python 3.11 and check_log.py beside it, and nothing else. Exit status: 0 if all is right, 1 if something is
not, 2 if a file cannot be read, 5 if a later version wrote one, which was not checked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LOGS = runpy.run_path(str(Path(__file__).with_name("check_log.py")))
Fault, Later, canonical, known_versions, read, receipts = (
    _LOGS[name] for name in ("Fault", "Later", "canonical", "known_versions", "read", "receipts")
)
PAGE = 10_000
"""Entries in one file of a ledger."""
FORM = re.compile(r"[A-Za-z0-9-]+-([0-9]{6,})")
"""The identifier of a game."""

Record = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Does what is asked for. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Checks receipts and ledgers.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    one = kinds.add_parser("receipts", help="receipts that were kept, against logs")
    one.add_argument("kept", type=Path, metavar="KEPT")
    one.add_argument("logs", type=Path, nargs="+", metavar="LOG")
    one = kinds.add_parser("ledger", help="a ledger, against its seasons, its logs, and heads that were seen")
    one.add_argument("folder", type=Path, metavar="FOLDER")
    one.add_argument("--head", type=Path, action="append", default=[], metavar="FILE")
    one = kinds.add_parser("prove", help="prints the proof that a game is in a ledger")
    one.add_argument("folder", type=Path, metavar="FOLDER")
    one.add_argument("game", metavar="GAME")
    for kind in ("inclusion", "consistency"):
        kinds.add_parser(kind, help=f"a proof of {kind}").add_argument("file", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        match options.kind:
            case "receipts":
                found = list(compare(options.kept, options.logs))
            case "ledger":
                found = list(check_ledger(options.folder, options.head))
            case "prove":
                print(json.dumps(prove(options.folder, options.game)))
                return 0
            case _:
                found = list(check_proof(json.loads(options.file.read_bytes())))
    except Later as later:
        print(later, file=sys.stderr)
        return 5
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"expected files as the pages say, got: {error!r}", file=sys.stderr)
        return 2
    for text in found:
        print(text)
    if not found:
        print("right")
    return 1 if found else 0


# Receipts


def compare(kept: Path, logs: list[Path]) -> Iterator[str]:
    """Yields how receipts that were kept differ from logs. Those of games without a log are passed over."""
    lines: dict[tuple[int, int], list[tuple[int, Record]]] = {}
    for number, text in enumerate(kept.read_bytes().splitlines(), start=1):
        line = json.loads(text)
        known_versions(line, "format")
        lines.setdefault((line["bot_seed"], line["seat"]), []).append((number, line))
    count = 0
    for path in logs:
        try:
            records = list(read(path.read_bytes()))
        except Later:
            raise
        except Fault as fault:
            yield f"{path}:{fault}"
            continue
        attempt = records[0].get("attempt", 0)
        for seat, bot in enumerate(records[0]["bots"]):
            kept_here = [
                (number, line, list(differ(line, seat, records)))
                for number, line in lines.get((bot["bot_seed"], seat), ())
            ]
            count += len(kept_here)
            proven = attempt != 1 and any(not wrong for _, _, wrong in kept_here)
            thrown_away = 0
            for number, line, wrong in kept_here:
                fits_itself = line["own"] in (None, line["told"])
                if line["termination"] == "interrupted" or (wrong and proven and fits_itself):
                    thrown_away += 1
                else:
                    yield from (f"{kept}:{number}: game {records[0]['game']}, seat {seat}: {text}" for text in wrong)
            if 0 < attempt <= thrown_away:
                yield (
                    f"{path}:1: it was begun {attempt} times, seat {seat} was told the end of {thrown_away} games "
                    "that were interrupted or do not count"
                )
    if count == 0:
        yield f"{kept}: expected receipts of these games, got none"


def differ(line: Record, seat: int, records: list[Record]) -> Iterator[str]:
    """Yields how a receipt differs from the records of its game."""
    outcome = records[-1]
    if line["own"] is not None and line["own"] != line["told"]:
        yield f"its messages give the receipt {line['own']}, and it was told {line['told']}"
    for key in ("termination", "ranks"):
        if line[key] != outcome[key]:
            yield f"it was told the {key} {line[key]}, the log says {outcome[key]}"
    right = {one["seat"]: one for one in receipts(records)}.get(seat)
    if right is None:
        yield "it was told the end of the game, the log says that it forfeited"
        return
    for key in ("own", "told"):
        if line[key] is not None and line[key] != right["digest"]:
            yield f"what it saw and did ({key}) has the digest {line[key]}, that of the log is {right['digest']}"
    if "forfeits" in line and line["forfeits"] != right.get("forfeits"):
        yield f"it was told forfeits with the digest {line['forfeits']}, those of the log have {right.get('forfeits')}"
    logged = {one["seat"]: one for one in outcome.get("receipts") or ()}.get(seat, {})
    notes = right.get("notes") or logged.get("notes")
    if line["notes"] != notes:
        yield f"its notes have the digest {line['notes']}, those of the log {notes}"


# Ledgers


def entries(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the lines of a ledger without their line feeds, each with its place.

    Raises:
        ValueError: A file is missing, is not full though another follows, or is cut off.
    """
    names = [path.name for path in folder.glob("entries-*.jsonl")]
    for number in range(len(names)):
        path = folder / f"entries-{number}.jsonl"
        *lines, rest = path.read_bytes().split(b"\n")
        if rest or len(lines) > PAGE or (len(lines) < PAGE and number + 1 < len(names)):
            raise ValueError(f"expected {PAGE} whole lines, or fewer in the last file - at {path}")
        yield from ((f"{path}:{at}", line) for at, line in enumerate(lines, start=1))


def check_ledger(folder: Path, heads: list[Path]) -> Iterator[str]:
    """Yields what is wrong with a ledger."""
    place = folder / "ledger"
    seen = {str(path): one for path in heads for one in heads_in(path)}
    seen[str(place / "head.json")] = json.loads((place / "head.json").read_bytes())
    for head in seen.values():
        known_versions(head, "format")
    leaves: list[bytes] = []
    games: dict[str, Record] = {}
    for at, line in entries(place):
        leaves.append(leaf(line))
        entry = json.loads(line)
        if canonical(entry) != line:
            yield f"{at}: expected canonical JSON, got another form"
        if not FORM.fullmatch(entry["game"]):
            yield f"{at}: expected a game, got: {entry['game']!r}"
        elif entry["game"] in games:
            yield f"{at}: game {entry['game']} is there twice"
        games[entry["game"]] = entry
    for where, head in seen.items():
        if head["size"] > len(leaves):
            yield f"{where}: expected at least {head['size']} entries, got: {len(leaves)}"
        elif (top := root(leaves[: head["size"]])) != head["root"]:
            yield f"{where}: expected the root {head['root']} over {head['size']} entries, got: {top}"
    for season in sorted((folder / "seasons").glob("*/")):
        yield from check_season(season, games)
    for path in sorted((folder / "logs").glob("*.jsonl")):
        told = games.get(path.stem, {}).get("log")
        if (sha256 := hashlib.sha256(path.read_bytes()).hexdigest()) != told:
            yield f"{path}: expected the log with the SHA-256 {told}, got: {sha256}"


def heads_in(path: Path) -> list[Record]:
    """Returns the heads in a file."""
    found = json.loads(path.read_bytes())
    return [found] if "root" in found else list(found.values())


def check_season(season: Path, games: dict[str, Record]) -> Iterator[str]:
    """Yields where what is published of a season contradicts the ledger."""
    there = set()
    for at, deal in lines_of(season, "deals"):
        for number in deal["games"]:
            game = f"{season.name}-{number:06d}"
            there.add(game)
            if game not in games:
                yield f"{at}: game {game} is not in the ledger"
            elif games[game]["log"] != deal["logs"].get(game):
                yield f"{at}: the log of game {game} is another than in the ledger"
    results = list(lines_of(season, "results"))
    for at, result in results:
        if "final" in result:
            continue
        game = f"{season.name}-{result['number']:06d}"
        keys = ("status", "entrants", "ranks", "play_digest")
        if [games.get(game, {}).get(key) for key in keys] != [result[key] for key in keys]:
            yield f"{at}: the result of game {game} is another than in the ledger"
    own = {game for game in games if game.rpartition("-")[0] == season.name}
    if results and (left := sorted(own - there)):
        yield f"{season}: expected game {left[0]} of the ledger, got none"


def lines_of(season: Path, kind: str) -> Iterator[tuple[str, Record]]:
    """Yields the lines of the files of a kind, each with its place."""
    for path in sorted(season.glob(f"{kind}-*.jsonl"), key=lambda path: int(path.stem.rpartition("-")[2])):
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            found = json.loads(line)
            known_versions(found, "format")
            yield f"{path}:{number}", found


# Merkle trees: RFC 6962, section 2.1, and for the checks RFC 9162, sections 2.1.3.2 and 2.1.4.2


def leaf(line: bytes) -> bytes:
    """Returns the hash of a leaf."""
    return hashlib.sha256(b"\x00" + line).digest()


def join(left: bytes, right: bytes) -> bytes:
    """Returns the hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaves: list[bytes]) -> str:
    """Returns the root (hex) over hashes of leaves."""
    level = leaves or [hashlib.sha256().digest()]
    while len(level) > 1:
        level = above(level)
    return level[0].hex()


def above(level: list[bytes]) -> list[bytes]:
    """Returns the next level of a tree. A last one without a neighbour goes up as it is: that is the RFC's split."""
    pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
    return [join(*pair) if len(pair) == 2 else pair[0] for pair in pairs]


def prove(folder: Path, game: str) -> Record:
    """Returns the proof that a game is in a ledger.

    Raises:
        ValueError: It is not there.
    """
    lines = [line for _, line in entries(folder / "ledger")]
    index = next((at for at, line in enumerate(lines) if json.loads(line)["game"] == game), None)
    if index is None:
        raise ValueError(f"expected a game of the ledger, got: {game}")
    level, at, path = [leaf(line) for line in lines], index, []
    while len(level) > 1:
        if at ^ 1 < len(level):
            path.append(level[at ^ 1].hex())
        level, at = above(level), at // 2
    entry = lines[index].decode()
    return {"entry": entry, "index": index, "size": len(lines), "root": level[0].hex(), "proof": path}


def check_proof(proof: Record) -> Iterator[str]:
    """Yields why a proof proves nothing, if it does not."""
    path, top = [bytes.fromhex(one) for one in proof["proof"]], bytes.fromhex(proof["root"])
    if "entry" in proof:
        found = included(leaf(proof["entry"].encode()), proof["index"], proof["size"], path)
        if found != top:
            yield f"expected a proof of the root {proof['root']}, got one of: {found.hex() if found else 'none'}"
    else:
        before = proof["before"]
        if not consistent(before["size"], bytes.fromhex(before["root"]), proof["size"], top, path):
            yield f"expected a proof that {proof['root']} goes on from {before['root']}, got one of something else"


def included(found: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    """Returns the root that a proof of inclusion gives for the hash of a leaf; None if it has not the right length."""
    at, last = index, size - 1
    if not 0 <= at <= last:
        return None
    for other in path:
        if last == 0:
            return None
        if at & 1 or at == last:
            found = join(other, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = join(found, other)
        at, last = at >> 1, last >> 1
    return found if last == 0 else None


def consistent(before: int, old_root: bytes, size: int, new_root: bytes, path: list[bytes]) -> bool:
    """Says whether a proof of consistency holds."""
    if not 0 < before < size:
        empty = before == 0 and old_root == hashlib.sha256().digest()
        return not path and (empty or (before == size and old_root == new_root))
    path = path if before & (before - 1) else [old_root, *path]
    if not path:
        return False
    at, last = before - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    old = new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            old, new = join(other, old), join(other, new)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            new = join(new, other)
        at, last = at >> 1, last >> 1
    return last == 0 and (old, new) == (old_root, new_root)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
