"""Plays games on the workers of a Dask cluster, as if they were worker processes of this machine."""

from __future__ import annotations

from arena.core.plugs import Command, Wing

WING = Wing(
    cluster="arena.cluster.engine:connected",
    commands={
        "cluster": Command(
            "arena.cluster.commands.cluster:cluster", "Look at the machines of a Dask cluster.", "Run", 2
        )
    },
)
