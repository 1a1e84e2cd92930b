"""Any game of arena as an environment of other libraries."""

from arena.core.face import need

need("pettingzoo", "arena.learn.adapters")
