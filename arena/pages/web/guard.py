"""Who may ask: an ASGI middleware around a whole application.

Laws:
1. `Host` is an address in numbers, `localhost`, or a name that the operator gave. A page of another site that has had
   its own name point to this machine (DNS rebinding) is sent nothing, since its name is in `Host`.
2. With a key, only who has it is sent anything. It is in the address that the operator is told, moves at once into a
   cookie that no script can read, and the address in the browser is without it from then on. Of another site's
   requests only a link that somebody follows brings the cookie (`SameSite=Lax`), and no site can read where that
   leads. With `Strict` the address would be refused wherever it is a link: in a mail, a chat, a terminal in a browser.
3. Whatever is no mere look (any method but GET and HEAD) must come from a page of our own, by its `Origin`, and is
   small.
4. Every answer has headers that keep its page harmless: nothing from elsewhere is loaded, and nobody may frame it.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from ipaddress import ip_address
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of a page, unless its answer says otherwise: scripts, styles, pictures and data of ours."""
KEY: Final = "key"
"""The name of the key in an address."""
MOST_BODY: Final = 65_536
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_LOOKS: Final = ("GET", "HEAD")


def new_key() -> str:
    """Returns a key that nobody can guess."""
    return secrets.token_urlsafe(32)


class Guard:
    """Lets through to an application what may pass, and answers the rest itself.

    Args:
        key: The key that a browser must have; None: everybody may look.
        port: The port of the socket; it tells the cookies of two commands on one machine apart.
        names: Names of this machine in addresses, beside `localhost` and addresses in numbers.
    """

    def __init__(self, app: ASGIApp, *, key: str | None, port: int, names: Collection[str] = ()) -> None:
        self._app = app
        self._key = key
        self._cookie = f"arena-{port}"
        self._names = frozenset({"localhost", *(name.lower() for name in names)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            answer = self._refusal(scope) or self._app
            await answer(scope, receive, _with_headers(send))
        # What opens a WebSocket gets no answer, and the server refuses it: there are none here.

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return _refuse(421, "expected the address that arena printed, got another name of this machine")
        if self._key is not None and (answer := self._unlock(self._key, scope)) is not None:
            return answer
        if scope["method"] in _LOOKS:
            return None
        if "authorization" in headers:  # no page of another site can send it
            return _too_large(headers)
        origin = urlsplit(headers.get("origin", ""))
        if origin.scheme not in ("http", "https") or origin.netloc.lower() != host.lower():
            return _refuse(403, "expected an action of a page of this address, got one from elsewhere")
        return _too_large(headers)

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in self._names:
                return True
            ip_address(name)
        except ValueError:
            return False
        return True

    def _unlock(self, key: str, scope: Scope) -> Response | None:
        """Returns None for who has the key, as a cookie or as a token; else the answer that gives it or refuses."""
        if _same(Headers(scope=scope).get("authorization", ""), f"Bearer {key}"):
            return None
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name == KEY and _same(value, key) for name, value in given):
            rest = urlencode([(name, value) for name, value in given if name != KEY])
            path = "/" + quote(scope["path"].lstrip("/\\"))  # never //name, which would lead to another machine
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
            answer.set_cookie(self._cookie, key, httponly=True, samesite="lax", path="/")
            return answer
        if _same(HTTPConnection(scope).cookies.get(self._cookie, ""), key):
            return None
        if any(name == KEY for name, _ in given):
            return _refuse(403, "expected the key of this start, got: another; open the address arena printed last")
        return _refuse(403, "expected a key, got none; open the whole address that arena printed")


def _too_large(headers: Headers) -> Response | None:
    size = headers.get("content-length", "")
    if size.isdecimal() and int(size) <= MOST_BODY:
        return None
    return _refuse(413, f"expected an action of at most {MOST_BODY} bytes, its length given first")


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def _refuse(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status)


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers
