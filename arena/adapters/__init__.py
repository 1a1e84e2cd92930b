"""Any game of arena as an environment of other libraries."""

from arena.extras import need

need("pettingzoo", "arena.adapters")
