"""An agent that plays an unrated game in a league of arena, by chance, with the standard library alone.

ARENA_LEAGUE_TOKEN=arena_... python3 agent.py https://cup.example owl
"""

import json
import os
import random
import sys
import urllib.request

AT, AGAINST = sys.argv[1:]


def ask(method, path, **body):
    """Returns the answer to a request of the league's API, protocol/LEAGUE.md."""
    headers = {"Authorization": f"Bearer {os.environ['ARENA_LEAGUE_TOKEN']}"}
    sent = json.dumps(body).encode() if body else None
    request = urllib.request.Request(f"{AT}/api/v1/{path}", sent, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def chosen(values):
    """Returns one of a list; or, where several are to be chosen, so many of them."""
    return random.sample(values["of"], values["choose"]) if isinstance(values, dict) else random.choice(values)


ask("PUT", f"seat?against={AGAINST}")
state = ask("GET", "seat?wait=50")
while state["phase"] in ("waiting", "asked"):
    if state["phase"] == "asked":
        play = {key: chosen(values) for key, values in random.choice(state["legal"]).items()}
        state = ask("POST", "seat?wait=50", request=state["request"], plays=[play], note="by chance")
    else:
        state = ask("GET", "seat?wait=50")
print(state["game"], state["phase"], state.get("result"))
