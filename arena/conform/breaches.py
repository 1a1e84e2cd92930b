"""What a message that the protocol does not allow is held against: its rule, the check that watches it, a remedy."""

from __future__ import annotations

from typing import Final

from arena.conform.finding import Finding

RULES: Final = {
    "§5.1-1": ("frames.parts", "Send each message as one frame: `send`, not `send_multipart`."),
    "§5.1-2": ("frames.value", "Pack each message into a frame of its own, and send nothing before or after it."),
    "§5.1-3": ("frames.value", "Send a map with a field `type`."),
    "§5.1-4": ("frames.size", "Keep a message within 65,536 bytes; shorten the note, or the plays."),
    "§5.2-1": ("frames.keys", "Use strings as keys; some libraries write short strings as binary unless told not to."),
    "§5.2-2": ("frames.keys", "Write each field once."),
    "§5.2-3": ("frames.values", "Send integers and strings; floats (also 3.0), binary and dates are not allowed."),
    "§5.2-4": ("frames.values", "Write strings as UTF-8, and cut them between characters."),
    "§5.2-5": ("frames.values", "Keep integers within 2^53 - 1 in absolute value."),
    "§5.2-6": ("frames.values", "Do not nest maps and arrays deeper than 16."),
    "§5.2-8": ("frames.fields", "Send a boolean only where the field is one."),
    "§5.3-1": ("frames.fields", "Give every message a field `type`, a string."),
    "§5.3-2": ("frames.fields", "Send every field that the message's table calls required."),
    "§5.3-3": ("frames.fields", "Send each field with the type and in the range that the message's table gives."),
    "§5.3-6": ("frames.sender", "Send hello, ready, action and error; the other messages are the referee's."),
    "§6-1": ("session.order", "Send `ready` after a game_start and `action` after a request, and nothing unasked."),
    "§8.1-1": ("start.once", "Say `hello` once, as the first message of the process, and never again."),
    "§8.1-2": ("start.token", "Put the value of the environment variable ARENA_TOKEN, as it is, into hello.token."),
    "§8.1-3": ("start.version", 'Say `protocol: "1.0"`: the major number must be the referee\'s.'),
    "§8.4-1": ("session.game", "Copy `game` of the game_start into the `ready`."),
    "§8.6-1": ("session.id", "Copy `id` of the request into the `action`."),
    "§8.6-2": ("session.once", "Answer each request once."),
    "§8.6-3": ("frames.note", "Cut the note to 1,024 bytes of UTF-8, between characters."),
}
"""By rule: the check that watches it in all dialogues, and what to do."""


def breach(rule: str, detail: str, *, greeted: bool = True) -> Finding:
    """Returns the verdict on a broken rule.

    Args:
        rule: The number of the rule.
        detail: What was expected and what came.
        greeted: Whether the bot has said `hello`. Without it a breach of §8.1-1 is a missing `hello`, not a second one.
    """
    about, mend = RULES[rule]
    if rule == "§8.1-1" and not greeted:
        about = "start.hello"
    return Finding(detail, mend, rule, about=about)
