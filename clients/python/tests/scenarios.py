"""Runs the scenarios that all clients share, by the client for threads and the one for tasks.

Prints `python: N of M scenarios`, and the same for `python async`.
"""

import asyncio
import concurrent.futures
import dataclasses
import inspect
import json
import os
import sys
import time
import urllib.request

from portcullis_client import (
    AsyncPortcullis,
    Cache,
    Check,
    ClientCredentials,
    Credential,
    Decision,
    DeniedError,
    Portcullis,
    RejectedError,
    UnavailableError,
)

BASE = os.environ["FAKE_URL"]


def get(path, method="GET"):
    request = urllib.request.Request(BASE + path, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


def on_unavailable(of):
    return (lambda failure: True) if of == "allow" else of


def client_of(kind, file, of):
    of = dict(of)
    url = f"{BASE}/s/{file}"
    options = {name: of[name] for name in ("domain", "max_attempts", "retry_budget", "token") if name in of}
    for name in ("timeout", "connect_timeout"):
        if f"{name}_ms" in of:
            options[name] = of[f"{name}_ms"] / 1000
    if "on_unavailable" in of:
        options["on_unavailable"] = on_unavailable(of["on_unavailable"])
    if "cache" in of:
        sizes = {"max_entries": of["cache"]["max_entries"]} if "max_entries" in of["cache"] else {}
        options["cache"] = Cache(of["cache"]["ttl_ms"] / 1000, **sizes)
    if "token_provider" in of:
        tokens = list(of["token_provider"])
        options["token_provider"] = lambda: tokens.pop(0) if len(tokens) > 1 else tokens[0]
    if "client_credentials" in of:
        options["client_credentials"] = ClientCredentials(f"{url}/token", **of["client_credentials"])
    if not {"token", "token_provider", "client_credentials"} & set(of):
        options["service_key"] = of.get("service_key", "key")
    return kind(url, **options)


def call_options(of):
    options = {}
    if "timeout_ms" in of:
        options["timeout"] = of["timeout_ms"] / 1000
    if "revision" in of:
        options["revision"] = of["revision"]
    if "on_unavailable" in of:
        options["on_unavailable"] = on_unavailable(of["on_unavailable"])
    if "credential" in of:
        ((name, value),) = of["credential"].items()
        options["credential"] = getattr(Credential, name)(value)
    return options


def call(client, name, of, options):
    """Makes the call of a step."""
    method = getattr(client, name)
    if name == "revision":
        return method()
    if name == "checks":
        return method([Check(**check) for check in of["checks"]], **options)
    if name == "plan" or name.startswith("search_"):
        return method(of, **options)
    return method(**of, **options)


def shown(value):
    if dataclasses.is_dataclass(value):
        members = {member.name: getattr(value, member.name) for member in dataclasses.fields(value)}
        return {name: shown(member) for name, member in members.items()}
    return [shown(item) for item in value] if isinstance(value, (list, tuple)) else value


def outcome_of(value):
    if isinstance(value, Decision):
        return {**shown(value), "outcome": "allowed" if value.allowed else "denied", "raised": False}
    if isinstance(value, list):
        return {"outcome": "list", "items": shown(value)}
    return {"outcome": "value", "value": shown(value)}


def outcome_of_error(error):
    if isinstance(error, DeniedError):
        return {**shown(error.decision), "outcome": "denied", "raised": True}
    members = {name: getattr(error, name, None) for name in ("kind", "status", "code", "message", "details", "request_id", "attempts")}
    if isinstance(error, UnavailableError):
        after = error.retry_after
        return {**members, "outcome": "unavailable", "retry_after_ms": after and after * 1000}
    return {**members, "outcome": "rejected"}


def has(whole, part):
    """Returns whether `whole` has everything of `part`."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(has(whole.get(name), item) for name, item in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(whole) == len(part) and all(map(has, whole, part))
    return type(whole) in (type(part), float) and whole == part or whole is part


async def check_step(client, file, step):
    expect = dict(step["expect"])
    least, most = expect.pop("min_ms", 0), expect.pop("max_ms", 60_000)
    tokens, one_id = expect.pop("tokens", None), expect.pop("one_request_id", False)
    options = call_options(step.get("options", {}))
    start = time.monotonic()
    try:
        if isinstance(client, Portcullis):
            # Threads, so that `at_once` is.
            made = await asyncio.to_thread(call, client, step["call"], step.get("with", {}), options)
        else:
            made = call(client, step["call"], step.get("with", {}), options)
            made = await made if inspect.isawaitable(made) else made
        got = outcome_of(made)
    except (DeniedError, UnavailableError, RejectedError) as error:
        got = outcome_of_error(error)
    took = (time.monotonic() - start) * 1000
    faults = [
        f"{name}: expected {value!r}, got {got.get(name)!r}"
        for name, value in expect.items()
        if not has(got.get(name), value)
    ]
    if not least <= took <= most:
        faults.append(f"took {took:.0f} ms, expected {least} to {most}")
    if tokens is not None and (asked := (await asyncio.to_thread(get, f"/verdict/{file}"))["tokens"]) != tokens:
        faults.append(f"expected {tokens} tokens, got {asked}")
    if one_id:
        seen = await asyncio.to_thread(get, f"/seen/{file}")
        if len({request["headers"].get("x-request-id") for request in seen}) != 1:
            faults.append("not one request id")
        if not all(request["headers"].get("user-agent", "").startswith("portcullis-python/") for request in seen):
            faults.append("no user agent")
    return faults


async def run(kind, file):
    scenario = await asyncio.to_thread(get, f"/scenarios/{file}")
    await asyncio.to_thread(get, f"/seen/{file}", "DELETE")
    client = client_of(kind, file, scenario.get("client", {}))
    faults = []
    for number, step in enumerate(scenario["steps"]):
        for _ in range(step.get("times", 1)):
            together = [check_step(client, file, step) for _ in range(step.get("at_once", 1))]
            found = sum(await asyncio.gather(*together), [])
            faults += [f"step {number}: {fault}" for fault in found]
    closed = client.close()
    if inspect.isawaitable(closed):
        await closed
    return faults + (await asyncio.to_thread(get, f"/verdict/{file}"))["faults"]


async def main():
    asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(32))
    files, failed = get("/scenarios"), 0
    for kind, name in ((Portcullis, "python"), (AsyncPortcullis, "python async")):
        passed = 0
        for file in files:
            faults = await run(kind, file)
            passed += not faults
            for fault in faults:
                print(f"{name} {file}: {fault}", file=sys.stderr)
        print(f"{name}: {passed} of {len(files)} scenarios", flush=True)
        failed += len(files) - passed
    sys.exit(failed != 0)


asyncio.run(main())
