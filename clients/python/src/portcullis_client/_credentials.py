"""Credentials: each gives its header to a request. None of them is ever in a text form."""

from __future__ import annotations

import base64
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

from ._answers import TRANSIENT, Answer, read_object, retry_after
from ._errors import unsendable
from ._types import ClientCredentials

#: Tokens are renewed so many seconds before their end.
RENEWED_BEFORE = 30.0

Header = tuple[str, str]


class NoToken(Exception):
    """There is no token to be had. The message has no part of the credential. `again` says that a further attempt may get one,
    `retry_after` are the seconds that the token endpoint asked to wait.
    """

    def __init__(self, message: str, *, again: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.again = again
        self.retry_after = retry_after


class Credential:
    """A credential of a single call."""

    def __init__(self, header: Header) -> None:
        self._header = header

    @classmethod
    def service_key(cls, key: str) -> Credential:
        """Returns the credential of a service key."""
        if not _is_holdable(key):
            raise unsendable("no header can hold the service key")
        return cls(("x-service-api-key", key))

    @classmethod
    def token(cls, token: str) -> Credential:
        """Returns the credential of a token."""
        if not _is_holdable(token):
            raise unsendable("no header can hold the token")
        return cls(_bearer(token))

    @property
    def identity(self) -> str:
        """What tells entries of the cache apart."""
        return " ".join(self._header)

    def present(self, now: float) -> Header | None:
        """Returns the header, if there is one now."""
        return self._header

    def renew(self, refused: Header) -> bool:
        """Forgets a header that the service refused. Returns whether there may be another one."""
        return False


@dataclass(frozen=True)
class TokenRequest:
    """A request for a token."""

    url: str
    headers: dict[str, str] = field(repr=False)
    body: bytes


class Renewed(Credential):
    """A token that is got when it is needed. Its driver asks one at a time."""

    def __init__(self, source: Callable[[], Any] | ClientCredentials) -> None:
        self._source = source
        self._token: tuple[str, float] | None = None

    @property
    def identity(self) -> str:
        return f"renewed {id(self)}"

    def present(self, now: float) -> Header | None:
        token = self._token
        if token is None or token[1] - RENEWED_BEFORE <= now:
            return None
        return _bearer(token[0])

    def renew(self, refused: Header) -> bool:
        # Another call may have a new one already.
        token = self._token
        if token is not None and _bearer(token[0]) == refused:
            self._token = None
        return True

    @property
    def provider(self) -> Callable[[], Any] | None:
        """The function that gives tokens, if that is the source."""
        return None if isinstance(self._source, ClientCredentials) else self._source

    def request(self) -> TokenRequest:
        """Returns the request for a token by client credentials."""
        of = self._source
        if not isinstance(of, ClientCredentials):
            raise NoToken("the credential has no token endpoint")
        pair = f"{quote_plus(of.client_id)}:{quote_plus(of.client_secret)}"
        form = {"grant_type": "client_credentials", **({"scope": of.scope} if of.scope else {})}
        headers = {
            "authorization": f"Basic {base64.b64encode(pair.encode()).decode()}",
            "content-type": "application/x-www-form-urlencoded",
        }
        return TokenRequest(of.token_url, headers, urlencode(form).encode())

    def provided(self, token: Any) -> Header:
        """Takes the token of the provider."""
        if not _is_holdable(token):
            raise NoToken("the provider gave no usable token")
        return self._keep(token, math.inf)

    def answered(self, answer: Answer, now: float) -> Header:
        """Takes the answer of the token endpoint (RFC 6749, section 5.1)."""
        if answer.status != 200:
            raise NoToken(
                f"the token endpoint answers {answer.status}",
                again=answer.status in TRANSIENT,
                retry_after=retry_after(answer),
            )
        body = read_object(answer)
        if body is None:
            raise NoToken("the token endpoint does not answer with a JSON object")
        token = body.get("access_token")
        if not isinstance(token, str) or not _is_holdable(token):
            raise NoToken("the token endpoint gives no usable `access_token`")
        seconds = body.get("expires_in")
        return self._keep(token, now + (seconds if isinstance(seconds, (int, float)) else 0))

    def _keep(self, token: str, end: float) -> Header:
        self._token = (token, end)
        return _bearer(token)


def is_address(text: str) -> bool:
    """Returns whether a text is an address of http or https."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _is_holdable(text: Any) -> bool:
    """Returns whether a header can hold the text. An error of what sends it would show it."""
    return isinstance(text, str) and re.fullmatch("[!-~]+", text) is not None


def _bearer(token: str) -> Header:
    return "authorization", f"Bearer {token}"


def chosen(
    service_key: str | None,
    token: str | None,
    token_provider: Callable[[], Any] | None,
    client_credentials: ClientCredentials | None,
) -> Credential:
    """Returns the credential of a client: one of these, or the key of `PORTCULLIS_SERVICE_KEY`."""
    given = [it for it in (service_key, token, token_provider, client_credentials) if it is not None]
    if len(given) > 1:
        raise unsendable(
            "expected one of `service_key`, `token`, `token_provider` and `client_credentials`"
        )
    if token is not None:
        return Credential.token(token)
    if client_credentials and not is_address(client_credentials.token_url):
        raise unsendable("expected a `token_url` of http or https")
    source = token_provider or client_credentials
    if source is not None:
        return Renewed(source)
    key = os.environ.get("PORTCULLIS_SERVICE_KEY") or None if service_key is None else service_key
    if key is None:
        raise unsendable("expected a credential: `service_key`, or the variable PORTCULLIS_SERVICE_KEY")
    return Credential.service_key(key)
