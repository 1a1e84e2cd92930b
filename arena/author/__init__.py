"""Tools for authors of bots: a new folder, the build, the list, the bridge, and rerunning a lost game."""

from __future__ import annotations

from arena.core.face import plugs

WING = plugs.Wing(
    commands={"bot": plugs.Command("Write", 1, "Write, build, check and debug a bot.", "arena.author.commands:bot")}
)
