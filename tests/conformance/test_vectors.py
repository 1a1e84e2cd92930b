"""Every vector of the protocol against the codec and the session."""

from __future__ import annotations

from typing import Any, get_args

import msgpack
import msgspec
import pytest
from jsonschema import Draft202012Validator

from arena.core.errors import LocalProtocolError, RemoteProtocolError
from arena.core.wire.codec import decode, decode_from_referee, encode
from arena.core.wire.messages import FromBot, FromReferee
from arena.core.wire.session import Session
from tests.conformance.judge import breaches
from tests.conformance.kit import BREACHES, DIALOGUES, FOLDER, INVALID, VALID, by_id, frame, load

DECODERS = {"bot": decode, "referee": decode_from_referee}
CLASSES = {
    ("bot" if message in get_args(FromBot) else "referee", message.__struct_config__.tag): message
    for message in (*get_args(FromReferee), *get_args(FromBot))
} | {("referee", "error"): next(kind for kind in get_args(FromReferee) if kind.__struct_config__.tag == "error")}
KEPT = {"§6-1", "§6-2", "§6-5", "§6-6", "§8.3-1", "§8.5-1", "§8.7-1"}
"""What the session keeps whatever the referee wants to send."""
UNGUARDED = {number for breach in BREACHES for number in breach["spec"]} - KEPT
SCHEMAS = {path.stem: Draft202012Validator(load(path)) for path in (FOLDER / "schemas").glob("*.json")}


def typed(sender: str, decoded: dict[str, Any]) -> Any:
    return msgspec.convert(decoded, CLASSES[sender, decoded["type"]])


@pytest.mark.parametrize("vector", VALID, ids=by_id)
def test_a_valid_frame_is_read(vector: dict[str, Any]) -> None:
    message = DECODERS[vector["from"]](frame(vector["hex"]))
    if vector["decoded"] is None:
        assert message is None
        assert "ignored" in vector["flags"]
    else:
        assert message == typed(vector["from"], vector["decoded"])


@pytest.mark.parametrize("vector", [v for v in VALID if v["decoded"]], ids=by_id)
def test_what_is_read_can_be_written_and_read_again(vector: dict[str, Any]) -> None:
    decoder = DECODERS[vector["from"]]
    message = decoder(frame(vector["hex"]))
    assert message is not None
    assert decoder(encode(message)) == message


@pytest.mark.parametrize("vector", INVALID, ids=by_id)
def test_an_invalid_frame_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        DECODERS[vector["from"]](frame(vector["hex"]))
    assert caught.value.error_code == vector["error"]
    assert caught.value.rule in vector["spec"]
    assert len(str(caught.value)) < 400, "a reason is short, whatever the frame holds"


@pytest.mark.parametrize("vector", [v for v in VALID if v["decoded"]], ids=by_id)
def test_the_schemas_agree_on_valid_messages(vector: dict[str, Any]) -> None:
    SCHEMAS[vector["decoded"]["type"]].validate(vector["decoded"])


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=by_id)
def test_a_dialogue_goes_as_written(dialogue: dict[str, Any]) -> None:
    session = Session(dialogue["token"])
    for number, step in enumerate(dialogue["steps"], start=1):
        data = frame(step["hex"])
        where = f"step {number}"
        if step["from"] == "referee":
            message = typed("referee", step["decoded"])
            assert decode_from_referee(data) == message, where
            assert decode_from_referee(session.send(message)) == message, where
        elif "error" in step:
            before = session.state
            with pytest.raises(RemoteProtocolError) as caught:
                session.receive(data)
            assert caught.value.error_code == step["error"], where
            assert caught.value.rule in dialogue["spec"], where
            assert session.state is before, where
        elif "ignored" in step:
            assert session.receive(data) is None, where
        else:
            assert session.receive(data) == typed("bot", step["decoded"]), where
        assert session.state == step["state"], where


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=by_id)
def test_a_dialogue_sends_what_the_bot_asked_for(dialogue: dict[str, Any]) -> None:
    """§8.5-2 and §8.7-3, which no single message can show; and all else that the referee owes."""
    assert [found for found in breaches(dialogue["steps"]) if found] == []


@pytest.mark.parametrize("breach", BREACHES, ids=by_id)
def test_a_breach_of_the_referee_is_its_last_step_and_the_one_that_is_cited(breach: dict[str, Any]) -> None:
    *before, last = breaches(breach["steps"])
    assert not any(before)
    assert last
    assert last <= {*breach["spec"]}
    for step in breach["steps"]:
        message = "decoded" in step and msgpack.unpackb(frame(step["hex"]))
        assert message == step.get("decoded", False)


@pytest.mark.parametrize("breach", [v for v in BREACHES if not {*v["spec"]} & UNGUARDED], ids=by_id)
def test_a_session_does_not_let_the_referee_break_the_order(breach: dict[str, Any]) -> None:
    """Of the numbers that the session itself keeps: it raises at the last step, and at no other."""
    session = Session("3c0ffee")
    for number, step in enumerate(breach["steps"], start=1):
        if step["from"] == "bot":
            session.receive(frame(step["hex"]))
        elif number < len(breach["steps"]):
            session.send(typed("referee", step["decoded"]))
        else:
            with pytest.raises(LocalProtocolError):
                session.send(typed("referee", step["decoded"]))


REQUESTS = [vector for vector in VALID if (vector["decoded"] or {}).get("legal")]


@pytest.mark.parametrize("vector", REQUESTS, ids=by_id)
def test_legal_plays_are_products(vector: dict[str, Any]) -> None:
    """§8.5-6, which the codec leaves to the rules."""
    for product in vector["decoded"]["legal"]:
        for values in product.values():
            if isinstance(values, dict):
                assert values.keys() == {"choose", "of"}
                assert 1 <= values["choose"] <= len(values["of"])
            else:
                assert isinstance(values, list)
                assert values


def test_both_forms_of_a_product_occur_in_a_vector() -> None:
    forms = {type(v) for vector in REQUESTS for product in vector["decoded"]["legal"] for v in product.values()}
    assert forms == {list, dict}


def test_scores_are_one_for_each_seat() -> None:
    """§8.7-4."""
    scored = [vector["decoded"] for vector in VALID if (vector["decoded"] or {}).get("scores")]
    assert scored
    assert all(len(over["scores"]) == len(over["ranks"]) for over in scored)


@pytest.mark.parametrize("vector", [v for v in VALID if v["id"].startswith("action")], ids=by_id)
def test_example_actions_are_arrays_of_plays(vector: dict[str, Any]) -> None:
    """§8.6-4, but for those that show what the codec leaves to the rules."""
    action = vector["decoded"]["action"]
    assert not action or all(isinstance(play, dict) for play in action["plays"])
