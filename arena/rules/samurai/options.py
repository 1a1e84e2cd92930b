"""The options of Samurai and the rulesets that name sets of them."""

from __future__ import annotations

from arena.rules.base import Option

OPTIONS = (
    Option("setup", ("draft", "random"), "who puts the pieces on the settlements: the players in turn, or chance"),
    Option("hand", ("chosen", "random"), "how the first hand comes about: each player chooses it, or draws it"),
    Option("captures", ("turn_end",), "when a surrounded settlement is resolved"),
    Option("capture_order", ("automatic",), "in which order pieces are resolved; no order changes who gets what"),
    Option(
        "captured",
        ("open_for_two", "open", "hidden"),
        "whether captured pieces lie in the open: with two players only, always, or never",
    ),
    Option("fast", ("optional",), "whether a turn may hold only fast tiles"),
    Option("move_is_fast", ("no",), "whether the move tile is fast"),
    Option("placement", ("anywhere",), "where tiles may be placed"),
    Option("scoring", ("leaders",), "how the captured pieces are compared"),
)

STANDARD = {option.name: option.values[0] for option in OPTIONS}
RULESETS = {
    "standard": STANDARD,
    "basic": STANDARD | {"setup": "random", "hand": "random"},
}
"""`standard`: the rules of 2015. `basic`: their basic set-up, for first games."""
