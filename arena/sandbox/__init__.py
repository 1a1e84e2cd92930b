"""Levels of protection: what a bot's process may see, do and use, and the probes that show it on this machine."""

from __future__ import annotations

from arena.core.plugs import Command, Wing

WING = Wing(
    commands={
        "doctor": Command(
            "arena.sandbox.commands.doctor:doctor", "Say which levels of protection this machine can give.", "Run", 3
        )
    },
    levels="arena.sandbox.levels:confinement",
)
