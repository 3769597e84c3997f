"""What a check costs beside the same request by httpcore and by http.client, what an outage costs, when calls end, and what stays in
memory. `clients/bench` starts the server (`FIXED_URL`) and calls this."""

import gc
import http.client
import json
import os
import statistics
import time
import tracemalloc
import uuid

import httpcore

import portcullis_client
from portcullis_client import Portcullis, UnavailableError

URL = os.environ["FIXED_URL"]
PAIRS, CALLS = 60, 100
ATTRIBUTES = {"resource": {"id": "c-17", "ward": "w-3"}}
BODY = {"subject": "ann", "resource": "chart:read", "action": "read", "attributes": ATTRIBUTES}
HEADERS = {
    "accept": "application/json",
    "content-type": "application/json",
    "x-service-api-key": "key",
    "x-request-id": str(uuid.uuid4()),
    "user-agent": f"portcullis-python/{portcullis_client.__version__}",
}

client = Portcullis(f"{URL}/allow", service_key="key", timeout=10.0)
pool = httpcore.ConnectionPool()
connection = http.client.HTTPConnection(URL.removeprefix("http://"))


def check():
    assert client.check("ann", "chart:read", attributes=ATTRIBUTES).allowed


def by_httpcore():
    body = json.dumps(BODY).encode()
    answer = pool.request("POST", f"{URL}/allow/api/v1/check", headers=HEADERS, content=body)
    assert json.loads(answer.content)["decision"] == "allow"


def by_stdlib():
    connection.request("POST", "/allow/api/v1/check", json.dumps(BODY), HEADERS)
    assert json.loads(connection.getresponse().read())["decision"] == "allow"


def cost(call):
    """Returns the seconds of the process and of the clock that calls take."""
    cpu, clock = time.process_time(), time.perf_counter()
    for _ in range(CALLS):
        call()
    return time.process_time() - cpu, time.perf_counter() - clock


def ratios(bare):
    """Returns the median of the ratios of pairs, each first in every other pair."""
    cpu, clock = [], []
    for pair in range(-10, PAIRS):
        costs = {call: cost(call) for call in ((check, bare) if pair % 2 else (bare, check))}
        if pair >= 0:
            cpu.append(costs[check][0] / costs[bare][0])
            clock.append(costs[check][1] / costs[bare][1])
    return statistics.median(cpu), statistics.median(clock)


def failing(call):
    try:
        call()
    except UnavailableError:
        return
    raise AssertionError("a decision in an outage")


def count():
    connection.request("GET", "/count")
    return int(connection.getresponse().read())


for name, bare in (("httpcore", by_httpcore), ("http.client", by_stdlib)):
    cpu, clock = ratios(bare)
    print(f"python: a check costs {cpu:.2f} × the CPU time and {clock:.2f} × the time of {name}")
tracemalloc.start()
kept = []
for _ in range(4):
    for _ in range(20):
        cost(check)
    gc.collect()
    kept.append(tracemalloc.get_traced_memory()[0] // 1024)
tracemalloc.stop()
down = Portcullis(f"{URL}/busy", service_key="key", timeout=10.0)
before = count()
for _ in range(1000):
    failing(lambda: down.check("ann", "chart:read"))
print(f"python: 1000 calls in an outage make {count() - before - 1000} more requests")
late = []
hanging = Portcullis(f"{URL}/hang", service_key="key", timeout=0.1)
for _ in range(40):
    start = time.perf_counter()
    failing(lambda: hanging.check("ann", "chart:read"))
    late.append((time.perf_counter() - start - 0.1) * 1000)
middle = statistics.median(late)
print(f"python: calls end {middle:.1f} ms after their deadline, at the latest {max(late):.1f} ms")
print(f"python: KiB more after each 2,000 checks: {', '.join(map(str, kept))}")
