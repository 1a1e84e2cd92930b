"""Rounds of drand's quicknet: real ones are right, everything else is not, and none that is out can be named."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from arena.core.errors import ConfigError
from arena.core.referee import beacon

ROUNDS = {
    123: "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92",
    992: "84ded69151cf00341cb8d11a15472e44e5268046ab6c2301ff74ed3aab9b517c857191506eda83dd8442c9d6752cfeca",
    657413: "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
}
"""What these rounds gave, as drand published it."""
RANDOMNESS = {
    123: "fb8f7bc29bf24db51871ec8c79f3a1e4bd0557bc0dfcee9ed1d924e69d1c60dc",
    992: "5c7adf1800f7878909a9c31bf254fe0be3f8d7939f70dd30e3cc78754d1f86df",
    657413: "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587",
}
"""What drand calls the randomness of them: the SHA-256 of the signature."""
SIGNED = ROUNDS[123]


@pytest.mark.parametrize("number", ROUNDS)
def test_what_a_round_gave_is_its_signature(number: int) -> None:
    assert beacon.is_signature(number, ROUNDS[number])
    assert hashlib.sha256(bytes.fromhex(ROUNDS[number])).hexdigest() == RANDOMNESS[number]


@pytest.mark.parametrize(
    "value",
    [
        ROUNDS[992],
        SIGNED.upper(),  # the same bytes in another form
        "9" + SIGNED[1:],  # the point opposite
        SIGNED[:-1] + "3",
        "c0" + "00" * 47,  # the point at infinity
        "ff" * 48,
        "00" * 48,
        SIGNED[:-2],
        RANDOMNESS[123],
        "",
        "round 123",
        SIGNED + "\n",
    ],
)
def test_nothing_else_is_the_signature_of_a_round(value: str) -> None:
    assert not beacon.is_signature(123, value)


def test_a_point_that_signs_under_another_key_is_none() -> None:
    limit = sys.getrecursionlimit()  # py_ecc raises it where it is imported, which takes half a second
    from py_ecc.bls.hash_to_curve import hash_to_G1
    from py_ecc.bls.point_compression import compress_G1, compress_G2
    from py_ecc.optimized_bls12_381 import G2, curve_order, multiply, neg

    sys.setrecursionlimit(limit)

    def signed(number: int, key: int) -> str:
        message = hashlib.sha256(number.to_bytes(8, "big")).digest()
        point = hash_to_G1(message, b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_", hashlib.sha256)
        return f"{compress_G1(multiply(point, key)):096x}"

    key = int(hashlib.sha256(b"a key of this test").hexdigest(), 16) % curve_order
    public = b"".join(part.to_bytes(48, "big") for part in compress_G2(multiply(G2, key)))
    assert beacon.is_signature(7, signed(7, key), public)
    assert not beacon.is_signature(8, signed(7, key), public)
    assert not beacon.is_signature(7, signed(7, key))
    opposite = b"".join(part.to_bytes(48, "big") for part in compress_G2(neg(multiply(G2, key))))
    assert not beacon.is_signature(7, signed(7, key), opposite)


def test_rounds_come_every_three_seconds() -> None:
    assert beacon.out_at(1) == datetime(2023, 8, 23, 15, 9, 27, tzinfo=UTC)
    assert beacon.moment(992) == "2023-08-23 15:59:00 UTC"
    for later in (0, 0.5, 2.9, 3, 3.1, 86_400):
        number = beacon.round_at(beacon.GENESIS + later)
        out = beacon.out_at(number).timestamp() - beacon.GENESIS
        assert later <= out < later + beacon.PERIOD
    assert beacon.round_at(0) == 1


def test_a_round_is_named_with_the_hash_of_its_chain() -> None:
    named = beacon.named("quicknet:992")
    assert named == f"drand {beacon.QUICKNET} round 992" == beacon.named(named)
    assert beacon.round_of(named) == 992
    assert beacon.where(named).endswith("/public/992")
    assert beacon.round_of(beacon.named("the hash of block 940000 of Bitcoin")) is None


@pytest.mark.parametrize(
    "text",
    ["quicknet", "quicknet:", "quicknet:0", "quicknet:07", "Quicknet 992", "drand round 992", f"{beacon.QUICKNET} 992"],
)
def test_whoever_means_quicknet_is_told_how_to_name_a_round_that_is_not_out(text: str) -> None:
    """Else it would be a text for people, whose value nothing checks."""
    with pytest.raises(ConfigError, match=r"expected quicknet:ROUND, got: .* --beacon quicknet:(\d+)$") as caught:
        beacon.named(text)
    soon = int(str(caught.value).rpartition(":")[2])
    assert timedelta(minutes=9) < beacon.out_at(soon) - datetime.now(UTC) < timedelta(minutes=11)


@pytest.mark.parametrize("text", ["", " x", "a  b", "a\nb", "x" * 201, "\x1b[31m"])
def test_a_name_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match="expected the name of a public value"):
        beacon.named(text)


def test_a_round_that_is_out_cannot_be_named_nor_one_be_given_before() -> None:
    past, future = beacon.named("quicknet:123"), beacon.named("quicknet:9999999999")
    beacon.check_future(future)
    with pytest.raises(ConfigError, match="which was out at 2023-08-23 15:15:33 UTC"):
        beacon.check_future(past)
    beacon.check_value(past, SIGNED)
    with pytest.raises(ConfigError, match=r"expected the signature of quicknet's round 123, .* 'nine'"):
        beacon.check_value(past, "nine")
    with pytest.raises(ConfigError, match="give the same command again then"):
        beacon.check_value(future, SIGNED)


def test_without_the_package_nobody_begins_what_could_not_be_checked(monkeypatch: Any) -> None:
    monkeypatch.setattr("arena.core.extras.find_spec", lambda module: None)
    with pytest.raises(ConfigError, match=r"pip install py_ecc"):
        beacon.check_future(beacon.named("quicknet:9999999999"))
    beacon.check_future("the hash of block 940000 of Bitcoin")


def test_the_library_does_not_let_values_nest_more_deeply_afterwards() -> None:
    script = (
        "import sys; from arena.core.referee import beacon; before = sys.getrecursionlimit()\n"
        "beacon.is_signature(1, '00' * 48); assert sys.getrecursionlimit() == before; print('py_ecc' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
