"""Reads answers. What is not an answer of the service is `None`, never an allow."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from ._revisions import Revision
from ._types import Decision, Found, Permission, Plan, RelationCounts, SearchPage, Sql

T = TypeVar("T")


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
            return json.loads(self.body.decode("utf-8"))
        except (ValueError, RecursionError):
            return None


def read_decision(answer: Answer) -> Decision | None:
    """Reads the answer of a check."""
    return _decision(answer.json(), answer)


def read_legacy(answer: Answer) -> Decision | None:
    """Reads the answer of the legacy check, whose two members must agree."""
    body = answer.json()
    decision = _decision(body, answer)
    return decision if decision and body.get("allowed") is decision.allowed else None


def read_decisions(length: int) -> Callable[[Answer], list[Decision] | None]:
    """Returns the reader for the answer of a batch of so many checks."""

    def read(answer: Answer) -> list[Decision] | None:
        results = _list(answer.json(), "results")
        if results is None or len(results) != length:
            return None
        return _every([_decision(result, answer) for result in results])

    return read


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
    if resource is None or action is None or decision is None:
        return None
    return Permission(resource, action, decision, tuple(of.get("depends_on") or ()))


def read_page(answer: Answer) -> SearchPage | None:
    """Reads a page of a search."""
    body = answer.json()
    results, conditional = _list(body, "results"), _list(body, "conditional")
    if results is None or conditional is None or not isinstance(body.get("complete"), bool):
        return None
    found = [_found(result) for result in results]
    return SearchPage(found, [_found(it) for it in conditional], body["complete"], _text(body, "next"))


def _found(of: Any) -> Found:
    known = {member.name for member in fields(Found)}
    return Found(**{name: value for name, value in dict(of).items() if name in known})


def read_plan(answer: Answer) -> Plan | None:
    """Reads a plan."""
    body = answer.json()
    kind = _text(body, "kind")
    if kind is None:
        return None
    text = _text(body.get("sql"), "text")
    sql = None if text is None else Sql(text, tuple(body["sql"].get("params") or ()))
    return Plan(kind, sql, body.get("exact") is True)


def read_counts(answer: Answer) -> RelationCounts | None:
    """Reads what a write of relations did."""
    body = answer.json()
    names = [member.name for member in fields(RelationCounts)]
    if not isinstance(body, dict) or not all(isinstance(body.get(name), int) for name in names):
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
