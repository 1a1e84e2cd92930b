"""One attack as a bot: `python -I -S bot.py CASE`. The attacks are the functions of the modules beside it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import files
import hidden
import honest
import network
import processes
import resources
import timing

import protocol

ATTACKS = {
    name: attack
    for module in (files, hidden, honest, network, processes, protocol, resources, timing)
    for name, attack in module.ATTACKS.items()
}

if __name__ == "__main__":
    ATTACKS[sys.argv[1]]()
