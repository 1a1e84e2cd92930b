"""Which addresses of clusters are accepted."""

from __future__ import annotations

import pytest

from arena.cluster.engine import check_address, connected
from arena.core.errors import ConfigError


@pytest.mark.parametrize(
    "address",
    [
        "local:1",
        "local:256",
        "tls://host:8786",
        "tls://[fe80::1]:65535",
        "tls://10.0.0.1:1",
        "tcp://127.0.0.1:8786",
        "tcp://localhost:1",
        "tcp://[::1]:8786",
    ],
)
def test_what_only_this_machine_or_owners_of_keys_reach_is_accepted(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "tcp://host:8786", "tcp://127.0.0.1.evil.org:1", "tcp://localhost.org:8786"]
)
def test_what_anybody_reaches_needs_a_word(address: str) -> None:
    with pytest.raises(ConfigError, match="expected a tls:// address"):
        check_address(address)
    check_address(address, insecure=True)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "local:",
        "local:0",
        "local:257",
        "local:-1",
        "local:²",
        "local:" + "9" * 5000,
        "host:8786",
        "inproc://x",
        "tls://",
        "tls://127.0.0.1",
        "tls://127.0.0.1:",
        "tls://127.0.0.1:abc",
        "tls://::1:8786",
        "tcp://127.0.0.1",
        "tls://host:0",
        "tls://host:65536",
        "tcp://127.0.0.1:999999",
        "tls://host:²",
        "tls://user@host:1",
        "tls://host:1/x",
        "tls://[::1",
        "tls:// host:1",
        "tls://host:1\n",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match=r"expected (tls://HOST:PORT|local:N)"):
        check_address(address, insecure=True)


def test_tls_without_keys_says_which_variables_name_them() -> None:
    distributed = pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")
    assert distributed
    with pytest.raises(ConfigError, match="DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY"), connected("tls://127.0.0.1:1"):
        pass
