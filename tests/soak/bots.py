"""Makes the folders of the bots: small honest ones, bundled ones, and those of the hostile suite."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

from arena.core.resources import bots_folder
from tests.soak.scenario import BUNDLED, Arrival, Bot

ATTACKS: Final = Path(__file__).parents[1] / "hostile" / "attacks"
MEMORY_MIB: Final = 96  # what a hostile bot may have: the machine must bear what it takes until that is noticed
_BOT: Final = """\
# Version {number}.
import os
import random
import sys
import time

if time.time() >= {wakes}:
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-B", os.path.join("attacks", "bot.py"), {attack!r}])

from arena_bot import Bot, run

CHOICES = {{
    "first": lambda dice, values: values[0],
    "last": lambda dice, values: values[-1],
    "middle": lambda dice, values: values[len(values) // 2],
    "dice": lambda dice, values: dice.choice(values),
}}


class Small(Bot):
    want = ("legal",)

    def start(self, game):
        self.dice = random.Random(game["bot_seed"])

    def decide(self, request):
        return {{"plays": [{{key: self.choose(values) for key, values in request["legal"][0].items()}}]}}, None

    def choose(self, values):
        if isinstance(values, dict):
            return values["of"][: values["choose"]]
        return CHOICES[{style!r}](self.dice, values)


run(Small())
"""
"""A bot that takes a legal play without thought. From a certain time on it becomes an attacker."""
NEVER: Final = "float('inf')"


def make(folder: Path, arrival: Arrival, wakes: float) -> Path:
    """Makes the folder of a bot's version, and returns it.

    Args:
        folder: In what it is made.
        arrival: The version.
        wakes: When a hostile bot that plays well begins to attack, in seconds since 1970.
    """
    bot = arrival.bot
    if bot.name in BUNDLED:
        return bots_folder() / "python" / bot.name
    own = folder / f"{bot.name}-{arrival.number}" / bot.name
    own.mkdir(parents=True)
    if bot.is_hostile:
        _arm(own / "attacks", bot)
    command = '["{python}", "bot.py"]'
    if bot.style:
        when = repr(wakes) if bot.is_hostile else NEVER
        text = _BOT.format(number=arrival.number, wakes=when, attack=bot.attack, style=bot.style)
        (own / "bot.py").write_text(text, encoding="utf-8")
        shutil.copy(bots_folder() / "python" / "arena_bot.py", own)
    else:
        command = f'["{{python}}", "-I", "-S", "-B", "attacks/bot.py", "{bot.attack}"]'
    limits = f"[limits]\nmemory_mib = {MEMORY_MIB}\n" if bot.is_hostile else ""
    manifest = f'name = "{bot.name}"\nlanguage = "python"\ncommand = {command}\n{limits}'
    (own / "bot.toml").write_text(manifest, encoding="utf-8")
    return own


def _arm(folder: Path, bot: Bot) -> None:
    """Puts the hostile suite into a bot's folder."""
    shutil.copytree(ATTACKS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    target = {"marker": bot.name, "secrets": {}, "logs": "/nowhere/logs", "database": "/nowhere/league.db"}
    (folder / "target.json").write_text(json.dumps(target), encoding="utf-8")
