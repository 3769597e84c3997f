"""The client without I/O: each operation is a flow, a generator that asks its driver to send, wait or get a token.

The sync and the async client drive the same flows, so that they cannot differ.
"""

from __future__ import annotations

import json
import logging
import os
import re
import random
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, Union
from urllib.parse import quote, urlsplit

from . import _answers as answers
from ._answers import Answer
from ._cache import AllowCache
from ._credentials import Credential, Header, NoToken, TokenRequest, is_address
from ._errors import DeniedError, Kind, RejectedError, UnavailableError, unsendable
from ._revisions import Revision
from ._types import (
    Cache,
    Check,
    Decision,
    Observer,
    OnUnavailable,
    Permission,
    Plan,
    Relation,
    RelationCounts,
    Response,
    SearchPage,
)

VERSION = "0.3.0"
#: The most checks of one batch.
MOST_CHECKS = 10_000
#: The longest time that an allow may be kept, in seconds.
LONGEST_TTL = 5.0
#: The longest and the first wait between attempts, in seconds.
LONGEST_WAIT = 0.25
FIRST_WAIT = 0.025
#: The further attempts that the budget holds.
BUDGET = 10.0

LOG = logging.getLogger("portcullis_client")

V = TypeVar("V")


@dataclass(frozen=True)
class Send:
    """Asks the driver to send a request before the deadline. It is sent an `Answer`, or thrown a `Broken`."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None
    deadline: float


@dataclass(frozen=True)
class Wait:
    """Asks the driver to wait for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class NeedToken:
    """Asks the driver for the header of a credential before the deadline. It is thrown `NoToken` or `Broken`."""

    credential: Credential
    deadline: float


Effect = Union[Send, Wait, NeedToken]
Flow = Generator[Effect, Any, V]


class Broken(Exception):
    """A request without a whole answer."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind: Kind = kind


class Budget:
    """Further attempts that an outage may cost. Threads may share it."""

    def __init__(self, refill: float) -> None:
        self._refill = refill
        self._left = BUDGET
        self._lock = threading.Lock()

    def add_call(self) -> None:
        """Adds the share of a call."""
        with self._lock:
            self._left = min(BUDGET, self._left + self._refill)

    def take(self) -> bool:
        """Takes a further attempt. Returns whether there was one."""
        with self._lock:
            if self._left < 1:
                return False
            self._left -= 1
            return True


@dataclass(frozen=True)
class CallOptions:
    """The options of one call; `None` means those of the client."""

    timeout: float | None = None
    revision: str | None = None
    on_unavailable: OnUnavailable | None = None
    credential: Credential | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout > 0:
            raise unsendable("expected `timeout` above 0")


@dataclass(frozen=True)
class Call(Generic[V]):
    """An operation: its request, and what its answer must be."""

    operation: str
    method: str
    path: str
    read: Callable[[Answer], V | None]
    body: Any = None
    #: Whether the request may be sent again.
    repeats: bool = True
    #: Whether it takes `X-Min-…`.
    reads: bool = False
    #: Whether its answer has the revision of an own write.
    writes: bool = False


@dataclass
class Session:
    """A call from its begin to its end. Its requests have one deadline and one request id."""

    options: CallOptions
    deadline: float
    headers: Mapping[str, str]
    outcome: str = "aborted"

    def ended(self, value: V) -> V:
        """Notes how the call ended, and returns its value."""
        self.outcome = _outcome(value)
        return value


class Core:
    """What the sync and the async client share."""

    def __init__(
        self,
        url: str | None,
        credential: Credential,
        *,
        domain: str | None,
        timeout: float,
        max_attempts: int,
        retry_budget: float,
        on_unavailable: OnUnavailable,
        cache: Cache | None,
        observer: Observer | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        address = url or os.environ.get("PORTCULLIS_URL")
        if not address:
            raise unsendable("expected `url`, or the variable PORTCULLIS_URL")
        if cache and not 0 < cache.ttl <= LONGEST_TTL:
            raise unsendable(f"expected the `ttl` of a cache above 0 and up to {LONGEST_TTL} seconds")
        if cache and cache.max_entries < 1:
            raise unsendable("expected `max_entries` of a cache above 0")
        if not (timeout > 0 and max_attempts >= 1 and retry_budget >= 0):
            raise unsendable("expected `timeout` and `max_attempts` above 0, and `retry_budget` of 0 or more")
        if not is_address(address) or "@" in urlsplit(address).netloc or "?" in address or "#" in address:
            raise unsendable("expected a `url` of http or https, without user, query and fragment")
        self._url = address.rstrip("/")
        self._credential = credential
        self._domain = domain
        self._timeout = timeout
        self._max_attempts = max_attempts
        self._budget = Budget(retry_budget)
        self._on_unavailable = on_unavailable
        self._cache = AllowCache(cache, now) if cache else None
        self._observer = observer
        self._revision = Revision()
        self._lock = threading.Lock()
        self.now = now

    # -- operations

    def check(self, check: Check, options: CallOptions, operation: str = "check") -> Flow[Decision]:
        """Decides a check, or takes the allow that the cache has."""
        body = self._body(check)
        call = Call(operation, "POST", "/api/v1/check", answers.read_decision, body, reads=True)
        try:
            with self._observed(operation, options) as session:
                return session.ended((yield from self._kept(call, session)))
        except UnavailableError as error:
            return self._instead(error, options)

    def require(self, check: Check, options: CallOptions) -> Flow[Decision]:
        """Returns an allow, and raises a denial."""
        decision = yield from self.check(check, options, "require")
        if not decision.allowed:
            raise DeniedError(decision)
        return decision

    def checks(self, checks: Sequence[Check], options: CallOptions) -> Flow[list[Decision]]:
        """Decides many checks by the rules of one revision, in order."""
        if len(checks) > MOST_CHECKS:
            raise unsendable(f"expected at most {MOST_CHECKS} checks, got {len(checks)}")
        if not checks:
            return []
        body = {"checks": [self._body(check) for check in checks]}
        read = answers.read_decisions(len(checks))
        try:
            return (
                yield from self._call(Call("checks", "POST", "/api/v1/checks", read, body, reads=True), options)
            )
        except UnavailableError as error:
            return [self._instead(error, options)] * len(checks)

    def access_check(self, resource: str, subject: str | None, options: CallOptions) -> Flow[Decision]:
        """Asks by the route of the legacy check."""
        body = _given(resource=resource, subject=subject)
        path = "/api/v1/resources/access/check"
        try:
            return (
                yield from self._call(
                    Call("access_check", "POST", path, answers.read_legacy, body, reads=True), options
                )
            )
        except UnavailableError as error:
            return self._instead(error, options)

    def permissions(self, subject: str | None, options: CallOptions) -> Flow[list[Permission]]:
        """Lists permissions from all pages, before one deadline."""
        found: list[Permission] = []
        path: str | None = "/api/v1/permissions"
        with self._observed("permissions", options) as session:
            while path:
                call = Call("permissions", "POST", path, _permissions_page, _given(subject=subject), reads=True)
                page, path = yield from self._exchange(call, session)
                found.extend(page)
            return session.ended(found)

    def search(self, what: str, body: Mapping[str, Any], options: CallOptions) -> Flow[SearchPage]:
        """Answers a page of a search."""
        call = Call(
            f"search_{what}", "POST", f"/api/v1/search/{what}", answers.read_page, body, reads=True
        )
        return (yield from self._call(call, options))

    def plan(self, body: Mapping[str, Any], options: CallOptions) -> Flow[Plan]:
        """Returns the condition of an action as SQL."""
        call = Call("plan", "POST", "/api/v1/plan", answers.read_plan, body, reads=True)
        return (yield from self._call(call, options))

    def write_entity(
        self, method: str, type: str, id: str, body: Mapping[str, Any], options: CallOptions
    ) -> Flow[dict[str, Any]]:
        """Puts or patches an entity."""
        operation = f"{method.lower()}_entity"
        call = Call(operation, method, _entity_path(type, id), answers.read_object, body, writes=True)
        return (yield from self._call(call, options))

    def delete_entity(self, type: str, id: str, options: CallOptions) -> Flow[None]:
        """Deletes an entity."""
        call = Call("delete_entity", "DELETE", _entity_path(type, id), lambda _: True, writes=True)
        try:
            yield from self._call(call, options)
        except RejectedError as error:
            # An earlier attempt may have deleted it.
            if not (error.status == 404 and error.attempts > 1):
                raise

    def write_relations(
        self,
        write: Sequence[Relation],
        delete: Sequence[Relation],
        options: CallOptions,
    ) -> Flow[RelationCounts]:
        """Writes and deletes tuples."""
        body = {"write": list(write), "delete": list(delete)}
        call = Call("write_relations", "POST", "/api/v1/relations", answers.read_counts, body, writes=True)
        return (yield from self._call(call, options))

    def register_resources(
        self, resources: Sequence[Mapping[str, Any]], options: CallOptions
    ) -> Flow[list[dict[str, Any]]]:
        """Registers resources."""
        path = "/api/v1/resources/list"
        call = Call(
            "register_resources", "POST", path, answers.read_objects, list(resources), writes=True
        )
        return (yield from self._call(call, options))

    def request(self, method: str, path: str, body: Any, options: CallOptions) -> Flow[Response]:
        """Sends a request to any route. Only a `GET` is tried again."""
        if not path.startswith("/"):
            raise unsendable("expected a path that begins with `/`")
        if not re.fullmatch("[!-~]+", path) or not re.fullmatch("[A-Za-z]+", method):
            raise unsendable("the request cannot be sent: its method or path is malformed")
        reads = method == "GET"
        call = Call("request", method, path, _any_answer, body, repeats=reads, writes=not reads)
        return (yield from self._call(call, options))

    def revision(self) -> str:
        """Returns the highest revisions of the client's own writes."""
        return str(self._revision)

    # -- calls

    def _body(self, check: Check) -> dict[str, Any]:
        attributes = {name: dict(part) for name, part in check.attributes.items()} or None
        return _given(
            subject=check.subject,
            resource=check.resource,
            action=_verb(check.resource) if check.action is None else check.action,
            domain=self._domain if check.domain is None else check.domain,
            attributes=attributes,
            expected=check.expected,
            relations=[dict(relation) for relation in check.relations] or None,
        )

    def _kept(self, call: Call[Decision], session: Session) -> Flow[Decision]:
        """Takes the allow that the cache has, or asks and keeps an allow."""
        credential = session.options.credential or self._credential
        key = f"{credential.identity}\n{_text(call.body)}" if self._cache else ""
        kept = self._cache.get(key, self._demanded(session.options)) if self._cache else None
        decision = kept or (yield from self._exchange(call, session))
        if self._cache and decision.allowed and not kept:
            self._cache.put(key, decision)
        return decision

    def _demanded(self, options: CallOptions) -> Revision:
        """Returns the revisions that an answer must not be older than."""
        own = self._revision
        return own.highest(Revision.parse(options.revision)) if options.revision else own

    def _instead(self, error: UnavailableError, options: CallOptions) -> Decision:
        """Returns what an unavailable service counts as."""
        policy = options.on_unavailable or self._on_unavailable
        if policy == "throw":
            raise error
        allowed = policy != "deny" and policy(error) is True
        return Decision(allowed, reason=str(error), attempts=error.attempts, unavailable=True)

    def _call(self, call: Call[V], options: CallOptions) -> Flow[V]:
        """Makes a call of one request."""
        with self._observed(call.operation, options) as session:
            return session.ended((yield from self._exchange(call, session)))

    @contextmanager
    def _observed(self, operation: str, options: CallOptions) -> Iterator[Session]:
        """Begins a call and tells the observer how it ends. What the observer raises is logged, and changes nothing."""
        added, end = self._begun(operation)
        deadline = self.now() + (self._timeout if options.timeout is None else options.timeout)
        session = Session(options, deadline, {**added, "x-request-id": str(uuid.uuid4())})
        try:
            yield session
        except UnavailableError:
            session.outcome = "unavailable"
            raise
        except RejectedError:
            session.outcome = "rejected"
            raise
        finally:
            try:
                end(session.outcome)
            except Exception:
                LOG.warning("the observer fails", exc_info=True)

    def _begun(self, operation: str) -> tuple[Mapping[str, str], Callable[[str], None]]:
        try:
            return self._observer.start(operation) if self._observer else ({}, _nothing)
        except Exception:
            LOG.warning("the observer fails", exc_info=True)
            return {}, _nothing

    def _exchange(self, call: Call[V], session: Session) -> Flow[V]:
        """Sends a call until there is an answer that counts, and reads it."""
        options = session.options
        body = None if call.body is None else _text(call.body).encode()
        headers = {**session.headers, **_common_headers(body)}
        if call.reads:
            headers |= _minimum_headers(self._demanded(options))
        try:
            answer = yield from self._attempts(call, headers, body, options, session.deadline)
        except LostRevision as error:
            self._forget(error.details)
            raise
        revision = Revision.answered(answer.headers)
        if call.writes:
            with self._lock:
                self._revision = self._revision.highest(revision)
        if self._cache:
            self._cache.answered(revision)
        value = call.read(answer)
        if value is None:
            raise UnavailableError(
                "answer",
                "the answer is not one of the service",
                attempts=answer.attempts,
                status=answer.status,
            )
        return value

    def _attempts(
        self,
        call: Call[Any],
        headers: Mapping[str, str],
        body: bytes | None,
        options: CallOptions,
        deadline: float,
    ) -> Flow[Answer]:
        credential = options.credential or self._credential
        self._budget.add_call()
        renewed = False
        # Those that were sent, and all: there may be no token for one.
        sent = tried = 0
        while True:
            tried += 1
            try:
                name, value = yield from self._header(credential, deadline, sent)
                sent += 1
                url = self._url + call.path
                answer: Answer = yield Send(call.method, url, {**headers, name: value}, body, deadline)
                failure = _failure_of_status(answer, sent)
                again = answer.status in answers.TRANSIENT
            except NoToken as none:
                failure = UnavailableError("credential", str(none), attempts=sent, retry_after=none.retry_after)
                again = none.again
            except Broken as broken:
                failure = UnavailableError(broken.kind, str(broken), attempts=sent)
                again = broken.kind == "connect"
            if failure is None:
                answer = Answer(answer.status, answer.headers, answer.body, sent)
                if answer.status < 300:
                    return answer
                if answer.status == 401 and not renewed and credential.renew((name, value)):
                    renewed = True
                    continue
                raise _refusal(answer)
            wait = self._wait_before(failure, call, tried, deadline) if again else None
            if wait is None:
                raise failure
            yield Wait(wait)

    def _wait_before(
        self, failure: UnavailableError, call: Call[Any], tried: int, deadline: float
    ) -> float | None:
        """Returns the seconds before the next attempt, or `None` where there is none."""
        if not call.repeats or tried >= self._max_attempts:
            return None
        backoff = random.random() * min(LONGEST_WAIT, FIRST_WAIT * 2 ** (tried - 1))
        wait = backoff if failure.retry_after is None else failure.retry_after
        if wait >= deadline - self.now() or not self._budget.take():
            return None
        return wait

    def _header(self, credential: Credential, deadline: float, sent: int) -> Flow[Header]:
        present = credential.present(self.now())
        if present:
            return present
        try:
            header: Header = yield NeedToken(credential, deadline)
        except Broken as broken:
            if broken.kind == "timeout":
                raise UnavailableError("timeout", "no token before the deadline", attempts=sent) from None
            again = broken.kind == "connect"
            raise NoToken("the token endpoint cannot be reached", again=again) from None
        return header

    def _forget(self, details: Mapping[str, Any]) -> None:
        """Replaces the revision that the service lost by the one that it has, or forgets both."""
        if self._cache:
            self._cache.clear()
        number = details.get("revision")
        present = number if answers.is_whole(number) else None
        with self._lock:
            if details.get("of") == "policy":
                self._revision = Revision(present, self._revision.entities)
            elif details.get("of") == "entities":
                self._revision = Revision(self._revision.policy, present)
            else:
                self._revision = Revision()


class LostRevision(UnavailableError):
    """The service has not the revision any more that the call demands: an older database was put back."""

    def __init__(self, attempts: int, details: Mapping[str, Any]) -> None:
        super().__init__("revision_lost", "the service lost the revision", attempts=attempts, status=409)
        self.details = details


def token_send(request: TokenRequest, deadline: float) -> Send:
    """Returns the effect that asks a token endpoint."""
    return Send("POST", request.url, request.headers, request.body, deadline)


def _failure_of_status(answer: Answer, sent: int) -> UnavailableError | None:
    """Returns the failure that a status says, if it is one."""
    status = answer.status
    kind: Kind = "answer" if status < 200 or 300 <= status < 400 else "status"
    if kind == "status" and status < 500 and status != 429:
        return None
    seconds = answers.retry_after(answer)
    return UnavailableError(
        kind, f"the service answers {status}", attempts=sent, status=status, retry_after=seconds
    )


def _refusal(answer: Answer) -> UnavailableError | RejectedError:
    """Returns the error for a 4xx."""
    body = answers.read_object(answer) or {}
    code, message, details = (body.get(name) for name in ("error", "message", "details"))
    details = details if isinstance(details, dict) else {}
    if answer.status == 409 and code == "REVISION_LOST":
        return LostRevision(answer.attempts, details)
    return RejectedError(
        answer.status,
        message if isinstance(message, str) else f"the service answers {answer.status}",
        code=code if isinstance(code, str) else None,
        details=details,
        request_id=answer.headers.get("x-request-id"),
        attempts=answer.attempts,
    )


def _permissions_page(answer: Answer) -> tuple[list[Permission], str | None] | None:
    """Reads a page of permissions, and the path of the next one."""
    found = answers.read_permissions(answer)
    if found is None:
        return None
    cursor = None
    for link in answer.headers.get("link", "").split(","):
        target, _, parameters = link.strip().partition(">")
        if 'rel="next"' in parameters and "cursor=" in target:
            cursor = target.partition("cursor=")[2].partition("&")[0]
    return found, f"/api/v1/permissions?cursor={cursor}" if cursor else None


def _any_answer(answer: Answer) -> Response | None:
    body = answer.json() if answer.body else None
    if answer.body and body is None and answer.body.strip() != b"null":
        return None
    return Response(answer.status, answer.headers, body)


def _verb(resource: str) -> str | None:
    """Returns what stands behind the last colon; `None` where it is percent-encoded: the service decodes it for its rules."""
    verb = resource.rpartition(":")[2]
    return None if "%" in verb else verb


def _entity_path(type: str, id: str) -> str:
    """Returns the path of an entity. Segments of dots would lead elsewhere."""
    for name, value in (("type", type), ("id", id)):
        if value in ("", ".", ".."):
            raise unsendable(f"`{value}` cannot be the {name} of an entity")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise unsendable(f"the {name} of an entity has a half of a pair of surrogates")
    return f"/api/v1/entities/{quote(type, safe='')}/{quote(id, safe='')}"


def _common_headers(body: bytes | None) -> dict[str, str]:
    headers = {
        "accept": "application/json",
        "user-agent": f"portcullis-python/{VERSION}",
    }
    if body is not None:
        headers["content-type"] = "application/json"
    return headers


def _minimum_headers(revision: Revision) -> dict[str, str]:
    parts = {"x-min-policy-revision": revision.policy, "x-min-entities-revision": revision.entities}
    return {name: str(part) for name, part in parts.items() if part is not None}


def _given(**members: Any) -> dict[str, Any]:
    """Returns the members that are given."""
    return {name: value for name, value in members.items() if value is not None}


def _text(body: Any) -> str:
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise unsendable(f"the request cannot be written as JSON: {error}") from None


def _outcome(value: Any) -> str:
    if isinstance(value, Decision):
        return "allowed" if value.allowed else "denied"
    return "ok"


def _nothing(_: str) -> None:
    """Tells nobody."""
