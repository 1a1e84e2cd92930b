"""A bot that asks a language model for its plays, at any address that speaks OpenAI's chat completions.

It is the `bot.py` of a folder that `arena bot new` made.

Settings come from the environment, or from a file `.env` beside this one with a line NAME=VALUE for each; README.md
lists them. Whatever the model says, the bot plays on: an answer that is no legal play is sent back with the reason, and
without time, budget or a usable answer it takes the first legal play and says so in its note.
"""

import json
import os
import time
import urllib.error
import urllib.request
from pathlib import Path

from arena_bot import Bot, run

TRIES = 3
"""Questions for one decision."""
SHARE = 0.5
"""The part of a decision's time that the model may take."""
MAX_NOTE = 1_024
MOST_WAIT_S = 60.0
"""The longest wait for one answer, in seconds."""
SYSTEM = """\
You play a board game with hidden information against other programs, and want to win. You get what your seat may know \
as JSON, and the legal plays as a list of products: maps that give, for each key of a play, the values it may have. \
{"choose": n, "of": [...]} stands for a list of n of the values. Answer with one JSON object and nothing else: \
{"play": {KEY: VALUE, ...}, "why": "a few words"}, with a value for each key of one product."""


class Refused(Exception):
    """There is no usable answer. The message says why."""


def settings(folder, environment):
    """Returns the settings: those of the file `.env` in a folder, and over them those of the environment."""
    path = folder / ".env"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs} | dict(environment)


class ModelBot(Bot):
    """Asks a model."""

    want = ("view", "legal")

    def __init__(self, given):
        """Takes the settings."""
        self.url = given.get("ARENA_MODEL_URL", "http://127.0.0.1:11434/v1").rstrip("/") + "/chat/completions"
        self.model = given.get("ARENA_MODEL", "")
        self.key = given.get("ARENA_MODEL_KEY", "")
        self.budget = int(given.get("ARENA_MODEL_TOKENS", "200000"))
        self.price = [float(part) for part in given.get("ARENA_MODEL_PRICE", "0,0").split(",")]
        self.used = 0

    def start(self, game):
        """Begins a game, with a new budget."""
        self.game = {key: game[key] for key in ("rules", "options", "seat", "seats", "board")}
        self.used = 0

    def decide(self, request):
        """Returns an action, and a note of what it cost."""
        began, asked, tokens = time.monotonic(), 0, [0, 0]
        limit_ms = request["clock"]["limit_ms"]
        end = began + min(MOST_WAIT_S * TRIES, limit_ms / 1000 * SHARE)
        talk = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": self.question(request)}]
        reason = "no time"
        while asked < TRIES and (left := end - time.monotonic()) > 0:
            if self.used >= self.budget:
                reason = "the budget is spent"
                break
            asked += 1
            try:
                said = self.ask(talk, min(left, MOST_WAIT_S), tokens)
                play, why = read_play(said, request["legal"])
            except Refused as error:
                reason = str(error)
                continue
            except ValueError as error:
                reason = str(error)
                talk += [
                    {"role": "assistant", "content": said},
                    {"role": "user", "content": f"That is no play: {error}"},
                ]
                continue
            return {"plays": [play]}, self.note(asked, tokens, why)
        return {"plays": [first_play(request["legal"])]}, self.note(asked, tokens, f"first legal play: {reason}")

    def question(self, request):
        """Returns what the model is asked."""
        parts = {"game": self.game, "decision": request["kind"], "view": request["view"], "legal": request["legal"]}
        return json.dumps(parts, separators=(",", ":"))

    def ask(self, talk, timeout, tokens):
        """Returns what the model says, and adds what it used to `tokens`: those of the question, those of the answer.

        Raises:
            Refused: There is no answer. After a 429 or a fault of the server it waits first.
        """
        body = json.dumps({"model": self.model, "messages": talk}).encode()
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url, body, headers), timeout=timeout) as answer:
                document = json.load(answer)
            usage = document.get("usage") or {}
            counts = [int(usage.get(name, 0)) for name in ("prompt_tokens", "completion_tokens")]
            said = str(document["choices"][0]["message"]["content"])
        except urllib.error.HTTPError as error:
            if error.code == 429 or error.code >= 500:
                time.sleep(min(timeout / 4, 1.0))
            raise Refused(f"HTTP {error.code}") from None
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise Refused(f"{type(error).__name__}: {error}") from None
        for place, count in enumerate(counts):
            tokens[place] += count
        self.used += sum(counts)
        return said

    def note(self, asked, tokens, text):
        """Returns a note: questions, what the model said of its play, and what the decision has cost."""
        cost = round(sum(count * price for count, price in zip(tokens, self.price, strict=True)))
        told = f"tokens_in={tokens[0]} tokens_out={tokens[1]} microdollars={cost} retries={max(0, asked - 1)}"
        said = f"asked {asked}: {text}".encode()[: MAX_NOTE - len(told) - 7].decode(errors="ignore")
        return f"{said}\ncost: {told}"


def read_play(said, legal):
    """Returns the play in a model's answer, and why it was chosen.

    Raises:
        ValueError: There is none, or it is not legal.
    """
    start = said.find("{")
    if start < 0:
        raise ValueError("expected a JSON object, got none")
    answer, _ = json.JSONDecoder().raw_decode(said, start)
    play = answer.get("play")
    if not isinstance(play, dict):
        raise ValueError('expected a map under "play"')
    if not any(fits(play, product) for product in legal):
        raise ValueError("expected a value for each key of one product, and no other key")
    return play, str(answer.get("why", ""))


def fits(play, product):
    """Says whether a play is one of a product's."""
    return play.keys() == product.keys() and all(is_one(play[key], values) for key, values in product.items())


def is_one(value, values):
    """Says whether a value is one of some, or a choice of several of them."""
    if isinstance(values, dict):
        left = list(values["of"])
        for one in value if isinstance(value, list) else ():
            if one not in left:
                return False
            left.remove(one)
        return isinstance(value, list) and len(value) == values["choose"]
    return any(type(value) is type(one) and value == one for one in values)


def first_play(legal):
    """Returns the first legal play."""
    return {
        key: values["of"][: values["choose"]] if isinstance(values, dict) else values[0]
        for key, values in legal[0].items()
    }


if __name__ == "__main__":
    run(ModelBot(settings(Path(__file__).parent, os.environ)))
