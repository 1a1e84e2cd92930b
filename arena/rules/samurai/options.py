"""The options of Samurai and the rulesets that name sets of them (rules page, "Rulesets")."""

from __future__ import annotations

from arena.rules.base import Option, Ruleset

OPTIONS = (
    Option(
        "setup",
        {"draft": "the players, in turn", "random": "chance, cities before villages"},
        "who puts the pieces on the settlements",
    ),
    Option(
        "hand",
        {"chosen": "each player chooses five of his tiles", "random": "five tiles are drawn"},
        "how the first hand comes about",
    ),
    Option(
        "captures",
        {
            "turn_end": "after the last play of a turn",
            "instant": "the moment it is surrounded: each play is resolved before the next",
        },
        "when the pieces of a surrounded settlement are captured",
    ),
    Option(
        "capture_order",
        {
            "automatic": "by the number of the space, then buddha, rice, castle",
            "chosen": "as the player whose turn it is names them, then those not named",
        },
        "in which order pieces are captured; no order changes who gets what",
    ),
    Option(
        "captured",
        {
            "open_for_two": "everyone's with two players, else only one's own",
            "open": "everyone's",
            "hidden": "only one's own",
        },
        "whose captured pieces a player sees",
    ),
    Option(
        "fast",
        {
            "optional": "nothing: a turn may hold fast tiles only",
            "must_follow": "another tile in the same turn, unless none can be played",
        },
        "what must follow a fast tile",
    ),
    Option(
        "move_is_fast",
        {"no": "it is the one tile of its turn that is not fast", "yes": "it may go along with any other tile"},
        "whether the move tile is fast",
    ),
    Option(
        "placement",
        {
            "anywhere": "on any empty space of its kind",
            "near_pieces": "only next to a settlement that still holds a piece, ships and moved tiles too",
        },
        "where a tile may be placed",
    ),
    Option(
        "scoring",
        {
            "leaders": "castes led, pieces of the other castes, all pieces",
            "two_majorities": "two castes led, or else pieces of the castes not led, all pieces",
        },
        "what decides who wins",
    ),
)

_STANDARD = {option.name: option.default for option in OPTIONS}
RULESETS = {
    "standard": Ruleset("the rules of 2015", _STANDARD),
    "basic": Ruleset(
        "the rules of 2015 with their basic set-up, for first games", _STANDARD | {"setup": "random", "hand": "random"}
    ),
    "classic": Ruleset(
        "the edition of 1998 with its author's answers", _STANDARD | {"captures": "instant", "captured": "hidden"}
    ),
    "summary": Ruleset(
        "a widespread summary of the rules",
        _STANDARD
        | {
            "setup": "random",
            "fast": "must_follow",
            "move_is_fast": "yes",
            "placement": "near_pieces",
            "scoring": "two_majorities",
        },
    ),
}
CONTRADICTIONS = (("captures=instant", "capture_order=chosen"),)
"""Where each play is resolved at once there is no turn's end at which an order could be chosen."""
