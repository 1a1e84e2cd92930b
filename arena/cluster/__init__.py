"""Plays games on the workers of a Dask cluster, as if they were worker processes of this machine."""

from __future__ import annotations

from arena.core.face import plugs

WING = plugs.Wing(
    cluster="arena.cluster.engine:connected",
    commands={"cluster": plugs.Command("Run", 2, "Look at the machines of a Dask cluster.")},
)
