"""The address of a league, and connections to it: through the machine's proxy, and to the right certificate only.

An address is `https://HOST[:PORT]`. A league without a certificate that others vouch for has the SHA-256 of its own at
the end, `#sha256=HEX`. `http://` is for this machine alone: elsewhere whoever is between could read the token.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from arena.core.face import errors

CONNECT_S: Final = 5.0
"""Seconds that a connection may take, and each step of its handshake."""
ANSWER_S: Final = 20.0
"""Seconds that an answer may take: the league has ten, and the network some."""
_PORTS: Final = {"https": 443, "http": 80}
_PIN: Final = "sha256="
_FORM: Final = "expected the address of a league, https://HOST or https://HOST:PORT"


class Address(msgspec.Struct, frozen=True):
    """Where a league is."""

    scheme: str
    """`https` or `http`."""
    host: str
    port: int
    pin: str = ""
    """SHA-256 (hex) of the certificate, DER, that the league must have; empty means one that this machine trusts."""

    @property
    def place(self) -> str:
        """`HOST` or `HOST:PORT`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.place}{f'#{_PIN}{self.pin}' if self.pin else ''}"


def address(text: str) -> Address:
    """Reads the address of a league.

    >>> str(address("https://Cup.example:443/"))
    'https://cup.example'

    Raises:
        ConfigError: It is none. Show the message to the user.
    """
    if text.startswith("tcp://"):
        raise errors.ConfigError(
            f"{_FORM}, got: an address of ZeroMQ, which leagues had before - at {text[:200]!r}; "
            "ask the league's operator for the address of today"
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise errors.ConfigError(f"{_FORM}, got: {error} - at {text[:200]!r}; ask its operator") from None
    if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/") or parts.query or "@" in parts.netloc:
        raise errors.ConfigError(f"{_FORM}, got: {text[:200]!r}; its operator has it from `arena league open`")
    pin = parts.fragment.removeprefix(_PIN).lower()
    if parts.fragment and not (
        parts.fragment.startswith(_PIN) and len(pin) == 64 and set(pin) <= set("0123456789abcdef")
    ):
        raise errors.ConfigError(
            f"expected #sha256= and 64 hexadecimal digits at the end of the address, got: {parts.fragment[:200]!r}; "
            "give the address as the operator did, in quotes"
        )
    if parts.scheme == "http" and not _is_here(parts.hostname):
        raise errors.ConfigError(
            f"expected https:// for a league on another machine, got: {text[:200]!r}; "
            "with http:// your token could be read on its way: ask its operator for an address with https://"
        )
    return Address(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], pin)


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _WrongCertificate(Exception):
    """A certificate that is not the one in the address. The argument is its SHA-256."""


class _Secure(http.client.HTTPSConnection):
    """A connection by TLS, through the proxy that the environment names, to a certificate that is trusted or pinned."""

    def __init__(self, league: Address) -> None:
        context = ssl.create_default_context()
        if league.pin:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        proxy = urlsplit("" if proxy_bypass(league.host) else getproxies().get("https", ""))
        super().__init__(
            proxy.hostname or league.host,
            proxy.port or 80 if proxy.hostname else league.port,
            timeout=CONNECT_S,
            context=context,
        )
        if proxy.hostname:
            user = b64encode(unquote(f"{proxy.username}:{proxy.password or ''}").encode()).decode()
            headers = {"Proxy-Authorization": f"Basic {user}"} if proxy.username else {}
            self.set_tunnel(league.host, league.port, headers)
        self._pin = league.pin

    def connect(self) -> None:
        super().connect()
        given = sha256(self.sock.getpeercert(binary_form=True) or b"").hexdigest()
        if self._pin and given != self._pin:
            self.close()
            raise _WrongCertificate(given)


def connect(league: Address) -> http.client.HTTPConnection:
    """Returns a connection that stands. Use it in a block of `reached`.

    Raises:
        DoorError: Nothing answers there.
    """
    connection = (
        _Secure(league)
        if league.scheme == "https"
        else http.client.HTTPConnection(league.host, league.port, timeout=CONNECT_S)
    )
    try:
        connection.connect()
    except TimeoutError:
        raise errors.DoorError(
            f"expected a league at {league.place}, got: no answer within {CONNECT_S:g} s; "
            "check the address, and whether a firewall is between",
            "nobody",
        ) from None
    connection.sock.settimeout(ANSWER_S)
    return connection


@contextmanager
def reached(league: Address) -> Iterator[None]:
    """Turns whatever goes wrong between here and a league into one sentence for each cause.

    Raises:
        DoorError: The league cannot be reached; `refusal` is `nobody`, `no_answer`, or `certificate` for a league that
            must not be trusted.
    """
    try:
        yield
    except _WrongCertificate as error:
        raise errors.DoorError(
            f"expected the certificate that the address names, got: another, sha256={error} - at {league.place}; this "
            "is another league, or it has a new certificate: ask its operator for the address of today",
            "certificate",
        ) from None
    except ssl.SSLCertVerificationError as error:
        raise errors.DoorError(
            f"expected a certificate that this machine trusts, got: {error.verify_message} - at {league.place}; check "
            "the address, or ask the league's operator for one that ends with #sha256=…",
            "certificate",
        ) from None
    except ssl.SSLError as error:
        raise errors.DoorError(
            f"expected TLS at {league.place}, got: {error.reason or error}; check the address and its port", "no_tls"
        ) from None
    except socket.gaierror as error:
        raise errors.DoorError(
            f"expected the name of a machine, got: {league.host!r}, {error.strerror}; check the address and whether "
            "this machine is connected",
            "nobody",
        ) from None
    except TimeoutError:
        raise errors.DoorError(
            f"expected an answer of the league at {league.place} within {ANSWER_S:g} s, got: none; try again",
            "no_answer",
        ) from None
    except ConnectionRefusedError:
        raise errors.DoorError(
            f"expected a league at {league.place}, got: nobody listens there; "
            "check the address, or ask its operator whether `arena league open` runs",
            "nobody",
        ) from None
    except (OSError, http.client.HTTPException) as error:
        raise errors.DoorError(
            f"expected the connection to the league at {league.place} to last, got: {error or type(error).__name__}; "
            "try again",
            "no_answer",
        ) from None


def headers(token: str) -> dict[str, str]:
    """Returns the headers by which a league knows an author."""
    from arena import __version__

    return {"Authorization": f"Bearer {token}", "User-Agent": f"arena/{__version__}"}
