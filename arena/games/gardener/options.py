"""The options of Samurai Gardener and the rulesets that name sets of them (rules page, "Options")."""

from __future__ import annotations

from arena.core.face import game_kit

FEATURES = game_kit.Option(
    "features",
    {
        "on": "a row scores while the feature card of its kind is face up, and turns it down (published)",
        "off": "they are ignored, every new row scores by itself (published for younger players)",
    },
    "what the feature cards do; one value for all, or as published for a table of mixed ages one for each seat: on,off",
    per_seat=True,
)
OPTIONS = (
    game_kit.Option("seize", {
        "draft": "one after another, from the starting player (published, for players who do not like to grab)",
        "race": "all at once, who is first has it (published)",
    }, "how the players take the cards turned up"),
    game_kit.Option("deck", {
        "face_up": "face up: the next card is seen at any time (published)",
        "face_down": "face down: nobody knows the next card (own)",
    }, "how the deck lies"),
    game_kit.Option("exactly_over", {
        "no": "never", "yes": "if it lies beside or partly over another card, too",
    }, "whether a card may be put exactly over one; the published words, beside or partially over a card, allow both"),
    FEATURES,
    game_kit.Option("target", {"25": "as published"}, "which score must be exceeded to end the game", range(1, 1000)),
)  # fmt: skip

_DRAFT = {option.name: option.default for option in OPTIONS}
RULESETS = {
    "draft": game_kit.Ruleset(
        "the published choice for players who do not like to grab: cards are taken in turn", _DRAFT
    ),
    "race": game_kit.Ruleset("the published rules: who reaches a card first has it", _DRAFT | {"seize": "race"}),
    "young": game_kit.Ruleset(
        "the published rules for younger players: in turn, and every new row scores", _DRAFT | {"features": "off"}
    ),
}
CONTRADICTIONS: tuple[tuple[str, str], ...] = ()
