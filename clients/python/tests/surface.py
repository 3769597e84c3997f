"""Names every public signature as programs of others do: that it is well typed is the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from fastapi import Depends, FastAPI, Request

from portcullis_client import (
    AsyncPortcullis,
    Cache,
    Check,
    ClientCredentials,
    Credential,
    Decision,
    DeniedError,
    Permission,
    Plan,
    Portcullis,
    PortcullisError,
    RejectedError,
    RelationCounts,
    Response,
    SearchPage,
    UnavailableError,
)
from portcullis_client.fastapi import permit
from portcullis_client.testing import DevServer, FakePortcullis

URL = "http://127.0.0.1:1"
RELATION = {"object": "doc:1", "relation": "viewer", "subject": "user:ann"}
CHECKS = [
    Check("ann", "chart:read"),
    Check("ann", "chart:read", "read", "er", {"resource": {"id": "c-17"}}, "allow"),
    Check(subject="ann", resource="chart:read", action=None, domain=None, attributes={}, expected=None, relations=[RELATION]),
]


def clients(decide: Callable[[UnavailableError], bool]) -> list[Portcullis]:
    given = ClientCredentials(token_url=URL, client_id="id", client_secret="secret", scope="s")
    return [
        Portcullis(URL, service_key="k"),
        Portcullis(url=URL, token="t", domain="er", timeout=1.0, connect_timeout=0.25, max_attempts=3, retry_budget=0.1),
        Portcullis(URL, token_provider=lambda: "t", on_unavailable="deny", cache=Cache(ttl=5.0, max_entries=10_000), observer=None),
        Portcullis(URL, client_credentials=given, on_unavailable=decide, cache=Cache()),
        Portcullis(URL, client_credentials=ClientCredentials(URL, "id", "secret"), on_unavailable="throw", cache=None),
    ]


def calls(options: dict[str, Any]) -> list[Any]:
    with Portcullis(URL, service_key="k") as client:
        decision: Decision = client.check("ann", "chart:read", "read", domain="er", attributes={"resource": {"id": 1}}, expected="deny",
            relations=[RELATION], timeout=1.0, revision="7/3", on_unavailable="deny", credential=Credential.service_key("k"))
        client.check(subject="ann", resource="chart:read", action=None, relations=None, credential=Credential.token("t"))
        required: Decision = client.require("ann", "chart:read", attributes={}, **options)
        decisions: list[Decision] = client.checks(CHECKS, **options)
        legacy: Decision = client.access_check("chart:read", subject="ann", **options)
        permissions: list[Permission] = client.permissions("ann", **options)
        page: SearchPage = client.search_resources({"subject": "ann"}, **options)
        client.search_subjects(body={}, **options)
        client.search_actions(body={}, **options)
        plan: Plan = client.plan(body={}, **options)
        client.put_entity("doc", "1", {}, **options)
        client.patch_entity(type="doc", id="1", body={}, **options)
        client.delete_entity("doc", "1", **options)
        counts: RelationCounts = client.write_relations(write=[RELATION], delete=[RELATION], **options)
        client.write_relations()
        client.register_resources([{"name": "doc:read", "displayName": "Read", "serviceName": "docs", "defaultRoles": ["clerk"]}])
        response: Response = client.request("GET", "/api/v1/roles", body=None, **options)
        revision: str = client.revision()
    sql = plan.sql.text if plan.sql else ""
    return [decision.allowed, decision.rule, decision.reason, decision.revision, decision.id, decision.request_id, decision.attempts,
        decision.unavailable, required, decisions, legacy, permissions[0].resource, permissions[0].depends_on, page.results, page.conditional,
        page.complete, page.next, plan.kind, sql, plan.exact, counts.written, counts.unchanged, counts.deleted, counts.absent,
        response.status, response.headers, response.json, revision]


async def async_calls(options: dict[str, Any]) -> list[Any]:
    async with AsyncPortcullis(URL, service_key="k", timeout=1.0) as client:
        decision: Decision = await client.check("ann", "chart:read", timeout=1.0, revision="7/3", on_unavailable="deny", relations=[RELATION])
        decisions: list[Decision] = await client.checks(CHECKS, **options)
        every = [decision, decisions, await client.require("ann", "chart:read", **options), await client.access_check("chart:read", **options),
            await client.permissions(**options), await client.search_resources({}), await client.search_subjects({}),
            await client.search_actions({}), await client.plan({}), await client.put_entity("doc", "1", {}),
            await client.patch_entity("doc", "1", {}), await client.write_relations([RELATION], []), await client.register_resources([]),
            await client.request("GET", "/api/v1/roles"), client.revision()]
        await client.delete_entity("doc", "1")
    return every


def members(error: PortcullisError) -> list[Any]:
    if isinstance(error, DeniedError):
        return [error.decision.reason]
    if isinstance(error, UnavailableError):
        return [error.kind, error.attempts, error.status, error.retry_after]
    if isinstance(error, RejectedError):
        return [error.status, error.code, error.message, error.details, error.request_id, error.attempts]
    return []


def doubles(folder: Path) -> list[Any]:
    fake = FakePortcullis().allow("a:b").allow("a:b", "ann").deny("a:b", subject="bob").unavailable(resource="c:d", subject=None)
    fake.check("ann", "a:b", timeout=1.0)
    fake.require("ann", "a:b", attributes={})
    fake.checks(CHECKS, timeout=1.0)
    asked: list[Check] = fake.calls
    server = DevServer.start(folder)
    client: Portcullis = server.client("ann")
    url: str = server.url
    server.close()
    DevServer.start(str(folder)).close()
    return [asked, url, application(fake), application(client), application(AsyncPortcullis(URL, token="t"))]


def application(client: FakePortcullis | Portcullis | AsyncPortcullis) -> FastAPI:
    def who(request: Request) -> str | None:
        return request.headers.get("x-user")

    def about(request: Request) -> dict[str, Any]:
        return {"resource": {"id": request.path_params["id"]}}

    app = FastAPI()
    reads = permit(client, "chart:read", subject=who, attributes=about)

    @app.get("/charts/{id}")
    async def show(decision: Decision = Depends(reads)) -> bool:
        return decision.allowed

    @app.get("/", dependencies=[Depends(permit(client, "chart:read", subject=who))])
    async def index() -> None:
        pass

    return app
