"""What keeps a page harmless, whatever bots and boards put into it.

1. A page carries a policy (Content Security Policy) that lets nothing run or load but the one script and the one style
   that arena wrote into it, by their hashes.
2. Data are JSON in a script element that is not a program, and nothing in them can end that element.
3. The template escapes everything else.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from typing import Any, Final

import msgspec

from arena.core.face import errors

_HEAD: Final = 1_000
"""Bytes at the beginning of a page in which its policy stands."""
_OWN_SCRIPT: Final = re.compile(rb"script-src &#39;(sha256-[A-Za-z0-9+/]{43}=)&#39;")
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def policy(script: str, style: str) -> str:
    """Returns the policy of a page with this one script and this one style. No address of any network is in it."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def own_script(page: bytes) -> str:
    """Returns the source that lets the script of a page with a `policy` run, for the policy of whoever serves it.

    It is empty for any other page.
    """
    found = _OWN_SCRIPT.search(page[:_HEAD])
    return f"'{found[1].decode()}'" if found else ""


def json_in_script(value: Any) -> str:
    r"""Returns a value as JSON that can stand in a script element.

    >>> print(json_in_script(["</script>"]))
    ["\u003c/script\u003e"]
    """
    text = msgspec.json.encode(value).decode()
    for char, escaped in _ESCAPED.items():
        text = text.replace(char, escaped)
    return text


def raw(text: str) -> str:
    """Returns a script or style of ours, which a page holds as it is.

    Raises:
        InternalError: It could end its own element, or be changed by whoever reads the page.
    """
    lower = text.lower()
    for bad in ("</script", "</style", "<!--", "\r", "\0"):
        if bad in lower:
            raise errors.InternalError(f"expected a script or style without {bad!r}, got one; correct arena/pages")
    return text


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
