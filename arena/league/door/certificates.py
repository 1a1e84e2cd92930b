"""The certificate of a door that serves TLS itself: one that its operator has, or one that is made for a classroom."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from arena.core.face import errors, files

_DAYS: Final = 3_650
_MAKE: Final = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -batch -subj /CN=arena "
    f"-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -days {_DAYS}"
)


def own(folder: Path) -> tuple[str, str]:
    """Returns the files of a door's own certificate and its key; the first time they are made.

    Raises:
        ConfigError: They cannot be made, or were there and are not: authors know the league by them.
    """
    certificate, key, known = folder / "tls.crt", folder / "tls.key", folder / "authors"
    if certificate.is_file() and key.is_file():
        return str(certificate), str(key)
    if known.is_file() and "#sha256=" in _text(known):
        raise errors.ConfigError(
            "expected the certificate of this league's door, by which authors know it, got: no file - at "
            f"{certificate}; bring it back from a backup, or remove {known} and send all authors the new address that "
            "is printed then"
        )
    umask = os.umask(0o077)
    try:
        subprocess.run(
            [*_MAKE.split(), "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True, text=True
        )
    except FileNotFoundError:
        raise errors.ConfigError(
            "expected the program openssl, which makes a certificate, got: it is not installed; install it, or give "
            "--tls CERT KEY"
        ) from None
    except subprocess.CalledProcessError as error:
        raise errors.ConfigError(
            f"expected openssl to make a certificate, got: {error.stderr.strip()[-300:]}; give --tls CERT KEY"
        ) from None
    finally:
        os.umask(umask)
    return str(certificate), str(key)


def context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Returns what serves TLS with a certificate.

    Raises:
        ConfigError: Its files cannot be used. Show the message to the operator.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        made.load_cert_chain(certificate, key)
    except (OSError, ValueError) as error:
        raise errors.ConfigError(
            f"expected the files of a certificate and its key, PEM without a password, got: {error} - at {certificate} "
            f"and {key}; give others with --tls"
        ) from None
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    return made


def pin(certificate: Path) -> str:
    """Returns the SHA-256 (hex) of a certificate, as addresses have it."""
    return sha256(ssl.PEM_cert_to_DER_cert(_text(certificate))).hexdigest()


def url(host: str, port: int, *, secure: bool) -> str:
    """Returns the address of a socket for authors, as far as this machine knows."""
    if host in ("0.0.0.0", "[::]"):
        host = socket.getfqdn()
        with socket.socket(type=socket.SOCK_DGRAM) as probe, suppress(OSError):
            probe.connect(("192.0.2.1", 9))  # sends nothing, and finds by which address others see this machine
            host = probe.getsockname()[0]
    return f"{'https' if secure else 'http'}://{host}:{port}"


def _text(path: Path) -> str:
    return files.read_text(path, "a file of the door", files.MOST_TEXT, errors.ConfigError)
