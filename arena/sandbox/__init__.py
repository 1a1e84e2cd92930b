"""Levels of protection: what a bot's process may see, do and use, and the probes that show it on this machine."""

from __future__ import annotations

from arena.core.face import plugs

WING = plugs.Wing(
    commands={"doctor": plugs.Command("Run", 3, "Say which levels of protection this machine can give.")},
    levels="arena.sandbox.levels:confinement",
)
