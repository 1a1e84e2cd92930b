"""Of bots that use what a machine has few of only so many play at once, and the others go on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

from arena.core.store.records import Claim, PlannedGame
from arena.core.tournament.scarce import ScarceUse
from tests.command_kit import arena

USES = [("gpu",), ("gpu",), ("gpu", "net"), (), ()]
PAIRS = [(0, 3), (3, 4), (1, 4), (0, 1), (2, 3), (0, 4)]


def room(**most: int) -> ScarceUse:
    return ScarceUse(USES, most, lambda n: PlannedGame(number=n, block=n, deal=0, rotation=0, entrants=PAIRS[n]))


def claim(*numbers: int) -> list[Claim]:
    return [Claim(game=f"g-{n}", tournament="g", number=n, deal=0, rotation=0, attempt=1) for n in numbers]


def fitting(room: ScarceUse) -> list[int]:
    return [number for number in range(len(PAIRS)) if room.fits(number)]


def test_games_wait_for_what_others_use_and_go_on_when_these_are_over() -> None:
    one = room()
    assert fitting(one) == [0, 1, 2, 3, 4, 5], "a game that needs more than there are plays while no other does"
    one.claim(claim(0, 0))
    assert fitting(one) == [1]
    one.end(claim(0)[0])
    assert len(fitting(one)) == 6
    two = room(gpu=2)
    two.claim(claim(0))
    two.claim(claim(1))
    assert fitting(two) == [0, 1, 2, 4, 5]


def test_a_tournament_plays_one_of_these_bots_at_a_time_to_its_end(tmp_path: Path) -> None:
    """Each bot notes when its games begin and end; of games with a bot that uses `gpu` there are never two at once."""
    arena_bot = Path(__file__).parents[3] / "bots" / "python" / "arena_bot.py"
    for name in ("one", "two", "free", "other"):
        uses = "" if name in ("free", "other") else 'uses = ["gpu"]\n'
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(f'name = "{name}"\ncommand = ["{{python}}", "bot.py"]\n{uses}')
        shutil.copy(arena_bot, tmp_path / name)
        (tmp_path / name / "bot.py").write_text(BOT.format(name=name, path=tmp_path / "noted"))
    words = ("tournament", "one", "two", "free", "other", "--deals", "1", "--rules", "gardener", "--json")
    done = json.loads(arena(tmp_path, *words, "--concurrency", "3", "--force-concurrency").stdout)
    assert {row["bot"]: row["games"] for row in done["standings"]} == dict.fromkeys(("one", "two", "free", "other"), 6)
    playing: Counter[str] = Counter()
    most = 0
    for line in (tmp_path / "noted").read_text().splitlines():
        name, game, change = line.split()
        playing[f"{game} {name in ('one', 'two')}"] += int(change)
        assert sum(key.endswith("True") for key in +playing) <= 1
        most = max(most, len({key.split()[0] for key in +playing}))
    assert most > 1, "others go on meanwhile"
    for text in ("gpu", "gpu=0", "=2", "gpu=1=2"):
        assert "expected NAME=N" in arena(tmp_path, *words, "--resource", text, code=2).stderr


BOT = """
import random
from arena_bot import Bot, run
class Noting(Bot):
    name, version, rules = "{name}", "1", (("gardener", 1),)
    def note(self, change):
        with open("{path}", "a") as file:
            file.write("{name} " + self.game + change)
    def start(self, game):
        self.game = game["commitment"]
        self.note(" 1\\n")
    def decide(self, request):
        product = random.choice(request["legal"])
        return {{"plays": [{{key: random.choice(values) for key, values in product.items()}}]}}
    def over(self, result):
        self.note(" -1\\n")
run(Noting())
"""
