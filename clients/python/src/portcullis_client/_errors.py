"""The failures of a call: denied, unavailable, or rejected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ._types import Decision

Kind = Literal["connect", "timeout", "status", "answer", "credential", "revision_lost"]


class PortcullisError(Exception):
    """Any failure of this client."""


class DeniedError(PortcullisError):
    """A denial, which `require` raises."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(f"denied: {decision.reason or 'no reason'}")
        self.decision = decision


class UnavailableError(PortcullisError):
    """There is no decision: the service cannot be reached, is too slow, or does not answer as it should.

    `retry_after` are the seconds that the service asked to wait.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        attempts: int,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"unavailable ({kind}): {message}")
        self.kind: Kind = kind
        self.attempts = attempts
        self.status = status
        self.retry_after = retry_after


class RejectedError(PortcullisError):
    """The service refuses the request: it is not a denial, and a repeat does not help.

    `status` is 0 where the client rejects the call without a request.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        attempts: int = 0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details: Mapping[str, Any] = details or {}
        self.request_id = request_id
        self.attempts = attempts


def unsendable(message: str) -> RejectedError:
    """Returns the error for a call that cannot be sent as it is."""
    return RejectedError(0, message, code="INVALID_CALL")
