"""FastAPI: a dependency that lets a request go on if the service allows it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool

from ._errors import RejectedError, UnavailableError
from ._types import Decision

_TITLES = {401: "Unauthorized", 403: "Forbidden", 500: "Internal Server Error", 503: "Service Unavailable"}


class Asks(Protocol):
    """A client, its async form, or a double."""

    @property
    def check(self) -> Callable[..., Decision | Awaitable[Decision]]:
        """Decides."""


class Problem(HTTPException):
    """An answer in place of the handler: problem details (RFC 9457), whose `detail` FastAPI writes."""

    def __init__(self, status: int, detail: str | None = None, **headers: str) -> None:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(
            status, detail or _TITLES[status], {"content-type": "application/problem+json", **headers}
        )


def permit(
    client: Asks,
    resource: str,
    *,
    subject: Callable[[Request], str | None],
    attributes: Callable[[Request], dict[str, Any]] | None = None,
    action: str | None = None,
    expose_reason: bool = False,
) -> Callable[[Request], Awaitable[Decision]]:
    """Returns a dependency that gives the decision.

    Without a subject the answer is 401, for a denial 403, and 503 if there is no decision, as `application/problem+json`.
    """

    async def dependency(request: Request) -> Decision:
        who = subject(request)
        if not who:
            raise Problem(401)
        about = attributes(request) if attributes else None
        try:
            decision = await _asked(client, who, resource, action, about)
        except UnavailableError:
            raise Problem(503, retry_after="1") from None
        except RejectedError:
            # The service refuses this application, not its caller.
            raise Problem(500) from None
        if not decision.allowed:
            raise Problem(403, decision.reason if expose_reason else None)
        return decision

    return dependency


async def _asked(
    client: Asks, subject: str, resource: str, action: str | None, attributes: dict[str, Any] | None
) -> Decision:
    """Asks a client of either kind: one for threads beside the event loop."""
    if inspect.iscoroutinefunction(client.check):
        decided: Decision = await client.check(subject, resource, action, attributes=attributes)
        return decided
    answer = await run_in_threadpool(client.check, subject, resource, action, attributes=attributes)
    return answer if isinstance(answer, Decision) else await answer
