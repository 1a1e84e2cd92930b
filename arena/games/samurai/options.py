"""The options of Samurai and the rulesets that name sets of them (rules page, "Options").

Sources: the rules of 2015 and their basic set-up; the edition of 1998 with its author's answers; a widespread summary.
`own` is what arena offers beside them.
"""

from __future__ import annotations

from arena.core.face import game_kit

OPTIONS = (
    game_kit.Option("setup", {
        "draft": "the players, in turn (2015 and 1998)",
        "random": "chance, cities before villages (basic set-up of 2015, summary)",
    }, "who puts the pieces on the settlements"),
    game_kit.Option("hand", {
        "chosen": "each player chooses five of their tiles (2015 and 1998)",
        "random": "five tiles are drawn (basic set-up of 2015)",
    }, "how the first hand comes about"),
    game_kit.Option("captures", {
        "turn_end": "after the last play of a turn (2015)",
        "instant": "the moment it is surrounded: each play is resolved before the next (1998)",
    }, "when the pieces of a surrounded settlement are captured"),
    game_kit.Option("capture_order", {
        "automatic": "by the number of the space, then buddha, rice, castle (own)",
        "chosen": "as the player whose turn it is names them, then those not named (2015)",
    }, "in which order pieces are captured; no order changes who gets what"),
    game_kit.Option("captured", {
        "open_for_two": "everyone's with two players, else only one's own (a paraphrase of the rules of 2015)",
        "open": "everyone's (own)",
        "hidden": "only one's own (1998, and both printings of 2015: behind the screen, however many play)",
    }, "whose captured pieces a player sees"),
    game_kit.Option("fast", {
        "optional": "by the table of tiles; nothing must follow: a turn may hold fast tiles only (2015 and 1998)",
        "must_follow": "by the table of tiles; another tile must follow, unless none can be played (own)",
        "specials": "switch and move alone; a tile that is not must follow, unless none can be played (summary)",
    }, "which tiles are fast, and what must follow them in the same turn"),
    game_kit.Option("move_is_fast", {
        "no": "it is not, unless fast=specials: it is the one tile of its turn that is not fast (2015 and 1998)",
        "yes": "it is, and may go along with any other tile (summary)",
    }, "whether the move tile is fast"),
    game_kit.Option("placement", {
        "anywhere": "on any empty space of its kind (2015 and 1998)",
        "near_pieces": "only next to a settlement that still holds a piece, ships and moved tiles too (own)",
        "land_near_pieces": "the same on land; ships go anywhere (own)",
        "near_or_pass": "the same; who can place no tile passes, with a switch or a move in hand too (summary)",
    }, "where a tile may be placed"),
    game_kit.Option("scoring", {
        "leaders": "castes led, pieces of the other castes, all pieces (2015 and 1998)",
        "two_majorities": "two castes led, or else pieces of the castes not led, all pieces (summary)",
    }, "what decides who wins"),
    game_kit.Option("ends", {
        "caste": "once a caste has no piece on the board, or four are set aside (2015, 1998, summary)",
        "pieces": "once no piece is on the board (a house rule)",
    }, "when the game ends, at the end of a turn", later=True),
)  # fmt: skip

_STANDARD = {option.name: option.default for option in OPTIONS if not option.later}
RULESETS = {
    "standard": game_kit.Ruleset("the rules of 2015, but for captured pieces in the open with two players", _STANDARD),
    "basic": game_kit.Ruleset(
        "the same with the basic set-up of 2015, for first games", _STANDARD | {"setup": "random", "hand": "random"}
    ),
    "classic": game_kit.Ruleset(
        "the edition of 1998 with its author's answers", _STANDARD | {"captures": "instant", "captured": "hidden"}
    ),
    "summary": game_kit.Ruleset("a widespread summary of the rules", _STANDARD | {
        "setup": "random", "fast": "specials", "move_is_fast": "yes", "placement": "near_or_pass",
        "scoring": "two_majorities",
    }),
}  # fmt: skip
CONTRADICTIONS = (("captures=instant", "capture_order=chosen"),)
"""Where each play is resolved at once there is no turn's end at which an order could be chosen."""
