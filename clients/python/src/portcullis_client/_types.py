"""What operations take and give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union

if TYPE_CHECKING:
    from ._errors import UnavailableError

#: What an unavailable service counts as: an error, a denial, or what a function says.
OnUnavailable = Union[Literal["throw", "deny"], "Callable[[UnavailableError], bool]"]

#: A tuple: `object`, `relation` and `subject`.
Relation = Mapping[str, str]

#: The parts `user`, `resource`, `action` and `context`, each with its attributes by name.
Attributes = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Check:
    """A question: may the subject do the action (by default the verb of the resource) on the resource?"""

    subject: str
    resource: str
    action: str | None = None
    domain: str | None = None
    attributes: Attributes = field(default_factory=dict)
    expected: Literal["allow", "deny"] | None = None
    #: Tuples that count beside the stored ones, in this decision alone. They take the right to assume.
    relations: Sequence[Relation] = ()


@dataclass(frozen=True)
class Decision:
    """The answer to a check.

    `revision` is `<policy>/<entities>`, the revisions that decided. `attempts` is 0 for an answer of the cache, and
    `unavailable` says that the service gave no decision, and `on_unavailable` did.
    """

    allowed: bool
    rule: str | None = None
    reason: str | None = None
    revision: str | None = None
    id: str | None = None
    request_id: str | None = None
    attempts: int = 1
    unavailable: bool = False


@dataclass(frozen=True)
class Permission:
    """What a subject may do on a resource. `depends_on` names the attributes that a decision depends on."""

    resource: str
    action: str
    decision: str
    depends_on: Sequence[str] = ()


@dataclass(frozen=True)
class Found:
    """An entity or action that a search found."""

    type: str | None = None
    id: str | None = None
    resource: str | None = None
    action: str | None = None
    decision: str | None = None
    rule: str | None = None
    depends_on: Sequence[str] = ()


@dataclass(frozen=True)
class SearchPage:
    """A page of a search. `next` is the `cursor` of the next call; `complete` says that there is none."""

    results: Sequence[Found]
    conditional: Sequence[Found]
    complete: bool
    next: str | None = None


@dataclass(frozen=True)
class Sql:
    """A condition for rows, with its parameters."""

    text: str
    params: Sequence[Any]


@dataclass(frozen=True)
class Plan:
    """What decides about rows of the caller's own database."""

    kind: str
    sql: Sql | None
    exact: bool


@dataclass(frozen=True)
class RelationCounts:
    """What a write of relations did."""

    written: int
    unchanged: int
    deleted: int
    absent: int


@dataclass(frozen=True)
class Response:
    """The answer of any route. `headers` have lower-case names."""

    status: int
    headers: Mapping[str, str]
    json: Any


@dataclass(frozen=True)
class ClientCredentials:
    """Gets tokens by the grant `client_credentials` (RFC 6749, section 4.4)."""

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None


@dataclass(frozen=True)
class Cache:
    """Keeps allows for up to `ttl` seconds (5 at most)."""

    ttl: float = 5.0
    max_entries: int = 10_000


class Observer(Protocol):
    """Is told about each call. What it raises is logged, and changes nothing."""

    def start(self, operation: str) -> tuple[Mapping[str, str], Callable[[str], None]]:
        """Returns headers to add, and a function that is told the outcome: `allowed`, `denied`, `ok`, `unavailable`,
        `rejected` or `aborted`."""
