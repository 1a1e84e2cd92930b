"""The vectors of chance against the page's own code and the referee's."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from arena.core.referee import chance
from arena.core.rules.base import Draw
from arena.core.rules.course import tie_draw, tie_order
from tests.conformance.kit import FOLDER, load

VECTORS = load(FOLDER / "vectors" / "chance.json")
TOURNAMENTS = VECTORS["tournaments"]
PAGE: dict[str, Any] = {}
(CODE,) = re.findall(r"```python\n(.*?)```", (FOLDER / "CHANCE.md").read_text(encoding="utf-8"), re.DOTALL)
exec(CODE, PAGE)


@pytest.mark.parametrize("tournament", TOURNAMENTS, ids=lambda tournament: tournament["secret"][:8])
def test_secrets_commitments_and_seeds(tournament: dict[str, Any]) -> None:
    secret = bytes.fromhex(tournament["secret"])
    if (seed := tournament["seed"]) is not None:
        settings = tournament["settings_sha256"] or ""
        assert chance.seed_secret(seed, settings) == PAGE["seed_secret"](seed, settings) == secret
    assert chance.commitment(secret) == PAGE["commitment"](secret) == tournament["commitment"]
    beacon, contributions = tournament["beacon"], list(map(bytes.fromhex, tournament["contributions"]))
    mix = bytes.fromhex(tournament["mix"])
    assert chance.mix(beacon, contributions) == PAGE["mix"](beacon, contributions) == mix
    game = tournament["game"]
    for deal in tournament["deals"]:
        number, deal_secret = deal["deal"], bytes.fromhex(deal["secret"])
        assert chance.deal_secret(secret, number, mix) == PAGE["deal_secret"](secret, number, mix) == deal_secret
        assert chance.commitment(deal_secret) == deal["commitment"]
        told = chance.told_commitment(chance.game_salt(secret, game), deal_secret)
        assert told == PAGE["told_commitment"](secret, game, deal_secret) == deal["told"]
    for told in tournament["games"]:
        number = "" if told["tournament"] is None else told["game"].removeprefix(f"{told['tournament']}-")
        for seat, expected in enumerate(told["bot_seeds"]):
            assert chance.bot_seed(secret, told["game"], told["tournament"], mix, seat) == expected
            assert PAGE["bot_seed"](secret, number, mix, seat) == expected


def test_no_two_games_have_the_same_seed_for_a_bot() -> None:
    """A bot that was told the same number again would know that it has met a deal before."""
    logs = sorted((FOLDER / "vectors" / "tournaments" / "deals").glob("*.jsonl"))
    headers = [json.loads(log.read_text(encoding="utf-8").partition("\n")[0]) for log in logs]
    assert len({header["deal"] for header in headers}) < len(headers), "expected deals that are played twice"
    seeds = [bot["bot_seed"] for header in headers for bot in header["bots"]]
    assert len(seeds) == len(set(seeds)) == 8


def test_what_others_put_in_changes_every_deal() -> None:
    mixes = [chance.NO_MIX, chance.mix("x"), chance.mix("", [bytes(32)]), chance.mix("", [bytes(32)] * 2)]
    assert len({chance.deal_secret(bytes(32), 0, mixed) for mixed in mixes}) == len(mixes)


@pytest.mark.parametrize("case", VECTORS["draws"], ids=lambda case: case["description"].partition(".")[0])
def test_draws(case: dict[str, Any]) -> None:
    secret = bytes.fromhex(case["deal_secret"])
    deal = chance.Deal(secret)
    drawn: Counter[str] = Counter()
    for entry in case["draws"]:
        stream, n = entry["stream"], entry["n"]
        assert deal.draw(stream, n) == entry["draw"]
        assert PAGE["draw"](secret, stream, drawn[stream], n) == entry["draw"]
        drawn[stream] += 1


@pytest.mark.parametrize("length", [0, 32, 64, 65, 200])
def test_a_secret_of_any_length_draws_as_the_page_says(length: int) -> None:
    """A log of strangers reveals what it likes."""
    secret = bytes(range(length))
    assert chance.Deal(secret).draw("x", 1_000) == PAGE["draw"](secret, "x", 0, 1_000)


@pytest.mark.parametrize("tie", VECTORS["ties"], ids=lambda tie: f"{len(tie['tied'])} seats, {tie['draw']}")
def test_ties(tie: dict[str, Any]) -> None:
    assert tie_draw(tie["tied"]) == Draw("race", tie["n"])
    assert list(tie_order(tie["tied"], tie["draw"])) == tie["order"]


def test_a_rejection_is_among_them() -> None:
    assert any("rejected" in entry for case in VECTORS["draws"] for entry in case["draws"])
