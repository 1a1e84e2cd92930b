"""A tournament of honest bots in six languages and ten hostile ones: `python tests/hostile/tournament.py --level L`.

Three things have to hold: every game has a result; no honest bot forfeits; and the honest bots play alike on a deal,
and are rated as in a tournament without the hostile ones. It prints what it found, and exits 1 if one of them does not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.stage import HERE

HONEST = ("greedy", "greedy-js", "greedy-c", "greedy-go", "greedy-java", "greedy-rust")
HOSTILE = ("R2", "R5", "R10", "P3", "P28", "F1", "X3", "X6", "T1", "H14")
"""Memory, processes, output; floods in the game and before it; files, daemons, the kernel; off turn; a bad hand."""
DEALS = 1


def main() -> int:
    words = arguments()
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        alone = play(folder / "alone", list(words.honest), words)
        hostile = [make_bot(folder / "bots" / attack, attack, folder) for attack in HOSTILE]
        mixed = play(folder / "mixed", [*words.honest, *hostile], words)
        honest = set(words.honest)
        wrong = [
            *uneven(folder / "mixed", honest),
            *ratings(alone, mixed, honest),
            *accounted(folder / "mixed", honest),
            *([] if words.level == "trusted" else opened(folder / "mixed")),
        ]
        print(
            "\n".join(wrong)
            if wrong
            else "All games are accounted for, and honest bots are rated as without the others."
        )
        return 1 if wrong else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("honest", nargs="*", default=HONEST, metavar="BOT", help="instead of greedy in six languages")
    parser.add_argument("--level", default="isolated")
    parser.add_argument("--deals", type=int, default=DEALS)
    parser.add_argument("--concurrency", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    return parser.parse_args()


def make_bot(folder: Path, attack: str, place: Path) -> str:
    """Makes the folder of an attacker."""
    shutil.copytree(HERE / "attacks", folder)
    (folder / "bot.toml").write_text(
        f'name = "hostile-{attack}"\ncommand = ["{{python}}", "-I", "-S", "-B", "bot.py", "{attack}"]\n'
        "[limits]\nmemory_mib = 64\n"
    )
    secrets = {"the database": str(place / "mixed" / "arena.db"), "the logs": str(place / "mixed" / "logs")}
    target = {
        "marker": attack,
        "secrets": secrets,
        "logs": str(place / "mixed" / "logs"),
        "database": secrets["the database"],
    }
    (folder / "target.json").write_text(json.dumps(target))
    return str(folder)


def play(folder: Path, bots: list[str], words: argparse.Namespace) -> dict[str, Any]:
    """Plays a round-robin and returns its document."""
    folder.mkdir()
    command = [
        sys.executable,
        "-m",
        "arena",
        "tournament",
        *bots,
        "--json",
        "--deals",
        str(words.deals),
        "--seed",
        "hostile",
    ]
    command += [] if words.level == "trusted" else ["--level", words.level]
    command += ["--time", "10+0.5", "--concurrency", str(words.concurrency)]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the tournament ended with status {done.returncode}")
    subprocess.run([sys.executable, "-m", "arena", "standings"], cwd=folder, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def uneven(mixed: Path, honest: set[str]) -> list[str]:
    """Returns on which deals honest bots played otherwise among themselves in one game than in another.

    Greedy does the same on the same deal, in every language. So each game of two honest bots on a deal is the same play
    by play, unless a hostile bot has disturbed it. (In a sandbox a seed gives other deals to other bots.)
    """
    with read(mixed) as database:
        rows = database.execute("SELECT deal, bots, play_digest FROM v_games").fetchall()
    played: dict[int, list[str]] = {}
    for deal, bots, digest in rows:
        if set(json.loads(bots)) <= honest:
            played.setdefault(deal, []).append(digest)
    print(f"{sum(map(len, played.values()))} games of honest bots among themselves, beside the hostile ones")
    return [
        f"deal {deal} was played otherwise in some games" for deal, digests in played.items() if len({*digests}) > 1
    ]


def ratings(alone: dict[str, Any], mixed: dict[str, Any], honest: set[str]) -> list[str]:
    """Returns which honest bot is rated otherwise among the honest ones than without the hostile ones.

    The mean of all who take part is fixed, so that only differences between honest bots can be compared.
    """
    found: list[dict[str, tuple[float, float]]] = []
    for document in (alone, mixed):
        rows = {row["bot"]: row for row in document["standings"] if row["bot"] in honest}
        mean = sum(row["rating"] for row in rows.values()) / len(rows)
        found.append({name: (row["rating"] - mean, row["half_width"]) for name, row in rows.items()})
    wrong = []
    for name, (without, width) in found[0].items():
        beside, other = found[1][name]
        print(
            f"{name:14} {without:+6.1f} ± {width:.1f} without the hostile bots, {beside:+6.1f} ± {other:.1f} with them"
        )
        if abs(without - beside) > max(width, other):
            wrong.append(f"{name} is rated {without:+.1f} without the hostile bots and {beside:+.1f} with them")
    return wrong


def accounted(folder: Path, honest: set[str]) -> list[str]:
    """Returns what is missing among the games, and what an honest bot was blamed for."""
    with read(folder) as database:
        planned, games = database.execute("SELECT planned, games FROM v_tournaments").fetchone()
        forfeits = database.execute(
            "SELECT bot, forfeit, count(*) FROM v_seats WHERE forfeit IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2"
        ).fetchall()
    print(f"{games} games of {planned}")
    for bot, code, count in forfeits:
        print(f"{bot:14} forfeited {count} games: {code}")
    wrong = [f"{games} games have a result, not {planned}"] if games != planned else []
    return wrong + [f"{bot} forfeited {count} games: {code}" for bot, code, count in forfeits if bot in honest]


def opened(folder: Path) -> list[str]:
    """Returns what hostile bots reported to have worked. Computing off turn is left out: `isolated` measures it."""
    found = set()
    with read(folder) as database:
        logs = [path for (path,) in database.execute("SELECT log FROM v_games")]
    for path in logs:
        with open(folder / path, encoding="utf-8") as log:
            for line in log:
                note = json.loads(line).get("note") or ""
                found |= {word for word in note.splitlines() if word.startswith("OPEN ") and "off turn" not in word}
    print(f"{len(found)} attacks worked")
    return sorted(found)


def read(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{folder / 'arena.db'}?mode=ro", uri=True)


if __name__ == "__main__":
    sys.exit(main())
