"""Reads answers. What is not an answer of the service is `None`, never an allow."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from ._revisions import Revision
from ._types import Decision, Found, Permission, Plan, RelationCounts, SearchPage, Sql

T = TypeVar("T")

#: The statuses after which a further attempt may have another one.
TRANSIENT = (429, 502, 503, 504)


@dataclass(frozen=True)
class Answer:
    """A whole answer. `headers` have lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    attempts: int = 1

    def json(self) -> Any:
        """Returns the JSON of the body; `None` where it is not one JSON text."""
        try:
            return json.loads(self.body.decode("utf-8"), parse_constant=_refuse)
        except (ValueError, RecursionError):
            return None


def retry_after(answer: Answer) -> float | None:
    """Reads `Retry-After` (RFC 9110, section 10.2.3) in seconds; `None` where it cannot be read."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        instant = parsedate_to_datetime(text).timestamp() if text.endswith("GMT") else math.nan
    except (TypeError, ValueError):
        return None
    return None if math.isnan(instant) else max(0.0, instant - time.time())


def _refuse(constant: str) -> None:
    """Refuses `NaN` and infinities, which are no JSON."""
    raise ValueError(constant)


def read_decision(answer: Answer) -> Decision | None:
    """Reads the answer of a check."""
    return _decision(_decided(answer), answer)


def read_legacy(answer: Answer) -> Decision | None:
    """Reads the answer of the legacy check, whose two members must agree."""
    body = _decided(answer)
    decision = _decision(body, answer)
    return decision if decision and body.get("allowed") is decision.allowed else None


def read_decisions(length: int) -> Callable[[Answer], list[Decision] | None]:
    """Returns the reader for the answer of a batch of so many checks."""

    def read(answer: Answer) -> list[Decision] | None:
        results = _list(_decided(answer), "results")
        if results is None or len(results) != length:
            return None
        return _every([_decision(result, answer) for result in results])

    return read


def _decided(answer: Answer) -> Any:
    """Returns the JSON of an answer with decisions. They come with the status 200 alone."""
    return answer.json() if answer.status == 200 else None


def _decision(body: Any, answer: Answer) -> Decision | None:
    decision = body.get("decision") if isinstance(body, dict) else None
    if decision not in ("allow", "deny"):
        return None
    revision = Revision.answered(answer.headers)
    return Decision(
        allowed=decision == "allow",
        rule=_text(body, "matched_rule_id"),
        reason=_text(body, "reason"),
        revision=str(revision) if revision else None,
        id=_text(body, "decision_id") or answer.headers.get("x-decision-id"),
        request_id=answer.headers.get("x-request-id"),
        attempts=answer.attempts,
    )


def read_permissions(answer: Answer) -> list[Permission] | None:
    """Reads a page of permissions."""
    results = _list(answer.json(), "results")
    return None if results is None else _every([_permission(result) for result in results])


def _permission(of: Any) -> Permission | None:
    if not isinstance(of, dict):
        return None
    resource, action, decision = (_text(of, name) for name in ("resource", "action", "decision"))
    depends_on = _depends_on(of)
    if resource is None or action is None or decision is None or depends_on is None:
        return None
    return Permission(resource, action, decision, depends_on)


def _depends_on(of: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Returns the attributes that a decision depends on; `None` unless that is a list of texts."""
    names = of.get("depends_on") or []
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return tuple(names) if is_list else None


def read_page(answer: Answer) -> SearchPage | None:
    """Reads a page of a search."""
    body = answer.json()
    results, conditional = _list(body, "results"), _list(body, "conditional")
    if results is None or conditional is None or not isinstance(body.get("complete"), bool):
        return None
    found = _every([_found(result) for result in results])
    others = _every([_found(result) for result in conditional])
    if found is None or others is None:
        return None
    return SearchPage(found, others, body["complete"], _text(body, "next"))


def _found(of: Any) -> Found | None:
    depends_on = _depends_on(of) if isinstance(of, dict) else None
    if depends_on is None:
        return None
    texts = {member.name: _text(of, member.name) for member in fields(Found) if member.name != "depends_on"}
    return Found(**texts, depends_on=depends_on)


def read_plan(answer: Answer) -> Plan | None:
    """Reads a plan."""
    body = answer.json()
    kind = _text(body, "kind")
    if kind is None:
        return None
    sql = body.get("sql")
    text, params = _text(sql, "text"), _list(sql, "params")
    if sql is not None and (text is None or params is None):
        return None
    return Plan(kind, None if text is None else Sql(text, tuple(params or ())), body.get("exact") is True)


def read_counts(answer: Answer) -> RelationCounts | None:
    """Reads what a write of relations did."""
    body = answer.json()
    names = [member.name for member in fields(RelationCounts)]
    if not isinstance(body, dict) or not all(is_whole(body.get(name)) for name in names):
        return None
    return RelationCounts(**{name: body[name] for name in names})


def read_object(answer: Answer) -> dict[str, Any] | None:
    """Reads a record."""
    body = answer.json()
    return body if isinstance(body, dict) else None


def read_objects(answer: Answer) -> list[dict[str, Any]] | None:
    """Reads a list of records."""
    body = answer.json()
    return body if isinstance(body, list) and all(isinstance(it, dict) for it in body) else None


def is_whole(value: Any) -> bool:
    """Returns whether a value is a whole number, which `True` is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _text(of: Any, name: str) -> str | None:
    value = of.get(name) if isinstance(of, dict) else None
    return value if isinstance(value, str) else None


def _list(of: Any, name: str) -> list[Any] | None:
    value = of.get(name) if isinstance(of, dict) else None
    return value if isinstance(value, list) else None


def _every(items: list[T | None]) -> list[T] | None:
    """Returns the list, if each item is there."""
    there = [item for item in items if item is not None]
    return there if len(there) == len(items) else None
