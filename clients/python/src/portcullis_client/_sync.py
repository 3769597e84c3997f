"""The client for threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from ._core import CallOptions, Core, Flow
from ._credentials import Credential, chosen
from ._transport import SyncTransport
from ._types import (
    Attributes,
    Cache,
    Check,
    ClientCredentials,
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

V = TypeVar("V")


class Portcullis:
    """A client of one service, which threads may share.

    Further keywords of each method are options of the call: `timeout`, `revision`, `on_unavailable` and `credential`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        service_key: str | None = None,
        token: str | None = None,
        token_provider: Callable[[], str] | None = None,
        client_credentials: ClientCredentials | None = None,
        domain: str | None = None,
        timeout: float = 1.0,
        connect_timeout: float = 0.25,
        max_attempts: int = 3,
        retry_budget: float = 0.1,
        on_unavailable: OnUnavailable = "throw",
        cache: Cache | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._core = Core(
            url,
            chosen(service_key, token, token_provider, client_credentials),
            domain=domain,
            timeout=timeout,
            max_attempts=max_attempts,
            retry_budget=retry_budget,
            on_unavailable=on_unavailable,
            cache=cache,
            observer=observer,
        )
        self._transport = SyncTransport(connect_timeout)

    def check(
        self,
        subject: str,
        resource: str,
        action: str | None = None,
        *,
        domain: str | None = None,
        attributes: Attributes | None = None,
        expected: Literal["allow", "deny"] | None = None,
        relations: Sequence[Relation] | None = None,
        timeout: float | None = None,
        revision: str | None = None,
        on_unavailable: OnUnavailable | None = None,
        credential: Credential | None = None,
    ) -> Decision:
        """Asks whether the subject may do the action on the resource. A denial is a value."""
        check = Check(subject, resource, action, domain, attributes or {}, expected, relations or ())
        return self._run(self._core.check(check, CallOptions(timeout, revision, on_unavailable, credential)))

    def require(
        self,
        subject: str,
        resource: str,
        action: str | None = None,
        *,
        domain: str | None = None,
        attributes: Attributes | None = None,
        expected: Literal["allow", "deny"] | None = None,
        relations: Sequence[Relation] | None = None,
        **options: Any,
    ) -> Decision:
        """Returns an allow; raises `DeniedError` for a denial."""
        check = Check(subject, resource, action, domain, attributes or {}, expected, relations or ())
        return self._run(self._core.require(check, CallOptions(**options)))

    def checks(self, checks: Sequence[Check], **options: Any) -> list[Decision]:
        """Decides many checks by the rules of one revision, in order."""
        return self._run(self._core.checks(checks, CallOptions(**options)))

    def access_check(self, resource: str, subject: str | None = None, **options: Any) -> Decision:
        """Asks by the route of the legacy check; without `subject` about the caller."""
        return self._run(self._core.access_check(resource, subject, CallOptions(**options)))

    def permissions(self, subject: str | None = None, **options: Any) -> list[Permission]:
        """Lists what a subject (without one the caller) may do on each registered resource."""
        return self._run(self._core.permissions(subject, CallOptions(**options)))

    def search_resources(self, body: Mapping[str, Any], **options: Any) -> SearchPage:
        """Lists the resources on which a subject may do an action."""
        return self._run(self._core.search("resources", body, CallOptions(**options)))

    def search_subjects(self, body: Mapping[str, Any], **options: Any) -> SearchPage:
        """Lists the subjects that may do an action."""
        return self._run(self._core.search("subjects", body, CallOptions(**options)))

    def search_actions(self, body: Mapping[str, Any], **options: Any) -> SearchPage:
        """Lists the actions that a subject may do."""
        return self._run(self._core.search("actions", body, CallOptions(**options)))

    def plan(self, body: Mapping[str, Any], **options: Any) -> Plan:
        """Returns the condition of an action as SQL, for rows of the caller's own database."""
        return self._run(self._core.plan(body, CallOptions(**options)))

    def put_entity(self, type: str, id: str, body: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """Creates or replaces an entity."""
        return self._run(self._core.write_entity("PUT", type, id, body, CallOptions(**options)))

    def patch_entity(self, type: str, id: str, body: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """Changes an entity."""
        return self._run(self._core.write_entity("PATCH", type, id, body, CallOptions(**options)))

    def delete_entity(self, type: str, id: str, **options: Any) -> None:
        """Deletes an entity."""
        return self._run(self._core.delete_entity(type, id, CallOptions(**options)))

    def write_relations(
        self,
        write: Sequence[Relation] = (),
        delete: Sequence[Relation] = (),
        **options: Any,
    ) -> RelationCounts:
        """Writes and deletes tuples (`object`, `relation`, `subject`), all or none."""
        return self._run(self._core.write_relations(write, delete, CallOptions(**options)))

    def register_resources(
        self, resources: Sequence[Mapping[str, Any]], **options: Any
    ) -> list[dict[str, Any]]:
        """Registers resources, as a service does at its start."""
        return self._run(self._core.register_resources(resources, CallOptions(**options)))

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> Response:
        """Sends a request to any route. Only a `GET` is tried again."""
        return self._run(self._core.request(method, path, body, CallOptions(**options)))

    def revision(self) -> str:
        """Returns the highest revisions of the client's own writes, as `<policy>/<entities>`."""
        return self._core.revision()

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Portcullis:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, flow: Flow[V]) -> V:
        """Drives a flow to its end."""
        try:
            effect = next(flow)
            while True:
                try:
                    result = self._transport.carry_out(effect)
                except Exception as error:
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            value: V = end.value
            return value
        finally:
            # Also where the caller gives up: the observer is told now.
            flow.close()
