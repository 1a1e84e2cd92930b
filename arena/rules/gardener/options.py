"""The options of Samurai Gardener and the rulesets that name sets of them (rules page, "Rulesets")."""

from __future__ import annotations

from arena.rules.base import Option, Ruleset

OPTIONS = (
    Option(
        "seize",
        {"draft": "one after another, from the starting player", "race": "all at once, who is first has it"},
        "how the players take the cards turned up",
    ),
    Option(
        "features",
        {
            "on": "a row scores while the feature card of its kind is face up, and turns it down",
            "off": "they are ignored, every new row scores",
        },
        "what the feature cards do",
    ),
    Option("target", {"25": "as published"}, "which score must be exceeded to end the game", range(1, 1000)),
)

_DRAFT = {option.name: option.default for option in OPTIONS}
RULESETS = {
    "draft": Ruleset("the published option: cards are taken in turn", _DRAFT),
    "race": Ruleset("the published rule: who reaches a card first has it", _DRAFT | {"seize": "race"}),
    "young": Ruleset("for young players: in turn, and every new row scores", _DRAFT | {"features": "off"}),
}
CONTRADICTIONS: tuple[tuple[str, str], ...] = ()
