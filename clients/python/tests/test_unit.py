"""Tests of what the scenarios cannot see: text forms, doubles, the framework, and the README."""

import asyncio
import contextlib
import dataclasses
import http.server
import inspect
import io
import json
import os
import re
import socket
import threading
import time
import tomllib
import unittest
from pathlib import Path
from unittest import mock

import httpcore
from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient

import portcullis_client
from portcullis_client import (
    AsyncPortcullis,
    Cache,
    Check,
    ClientCredentials,
    Credential,
    Decision,
    Portcullis,
    RejectedError,
    UnavailableError,
)
from portcullis_client._cache import AllowCache
from portcullis_client._core import token_send
from portcullis_client._credentials import Renewed
from portcullis_client._revisions import Revision
from portcullis_client.fastapi import permit
from portcullis_client.testing import DevServer, FakePortcullis

HERE = Path(__file__).parent.parent
ALLOW = {"decision": "allow", "matched_rule_id": "r1", "reason": "ok"}


@contextlib.contextmanager
def serving(status, body, header=None, of=0):
    """Serves an answer to every request, with a further header to all but the last of the first `of`. Gives the address."""
    left = [of]

    def answer(_):
        left[0] -= 1
        return status, body, [header] if header and left[0] > 0 else []

    with serving_each(answer) as url:
        yield url


@contextlib.contextmanager
def serving_each(answer):
    """Serves to every request what `answer` returns for its path: status, body and further headers. Gives the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            status, body, headers = answer(self.path)
            text = json.dumps(body).encode()
            # The caller may be gone.
            with contextlib.suppress(OSError):
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                for header in headers:
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Surface(unittest.TestCase):
    def test_both_clients_have_each_operation(self):
        operations = re.findall(r"operation: (\w+)", (HERE.parent / "operations.yaml").read_text())
        for client in (Portcullis, AsyncPortcullis):
            methods = {name for name in vars(client) if not name.startswith("_")} - {"close"}
            self.assertEqual(methods, set(operations))

    def test_a_check_has_each_member_of_the_list(self):
        taken = re.search(r"operation: check,.*takes: \[(.*?)\]", (HERE.parent / "operations.yaml").read_text())[1]
        self.assertEqual([member.name for member in dataclasses.fields(Check)], taken.split(", "))
        for client in (Portcullis, AsyncPortcullis, FakePortcullis):
            self.assertLessEqual(set(taken.split(", ")), set(inspect.signature(client.check).parameters))

    def test_the_version_is_the_one_of_the_package(self):
        project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
        self.assertEqual(project["version"], portcullis_client.__version__)


class Secrets(unittest.TestCase):
    def test_no_text_form_has_a_credential(self):
        credentials = ClientCredentials("http://127.0.0.1:1/token", "id", "s3cret")
        with serving(401, {"error": "UNAUTHORIZED", "message": "unknown"}) as url:
            clients = [
                Portcullis(url, service_key="s3cret"),
                Portcullis(url, token="s3cret"),
                Portcullis(url, client_credentials=credentials),
                AsyncPortcullis(url, service_key="s3cret"),
            ]
            shown = [credentials, Credential.token("s3cret"), *clients]
            for client in clients[:3]:
                with self.assertRaises((RejectedError, UnavailableError)) as caught:
                    client.check("ann", "a:b")
                shown += [caught.exception, caught.exception.__dict__]
        for value in shown:
            self.assertNotIn("s3cret", f"{value!r} {value}")


class Options(unittest.TestCase):
    def test_what_cannot_be_is_refused(self):
        for options in ({"service_key": "a", "token": "b"}, {"service_key": "a", "cache": Cache(ttl=6)}):
            with self.assertRaises(RejectedError):
                Portcullis("http://127.0.0.1:1", **options)

    def test_what_no_call_could_use_is_refused_at_the_start(self):
        url = "http://127.0.0.1:1"
        for bad in ("", "127.0.0.1:1", "ftp://a", "http://", "http://u:p@a", "http://a?b", "http://a#b", "http://a:x"):
            with self.assertRaises(RejectedError, msg=bad):
                Portcullis(bad, service_key="a")
        with self.assertRaises(RejectedError):
            Portcullis(url, client_credentials=ClientCredentials("127.0.0.1/token", "id", "secret"))
        given = {"timeout": 0, "max_attempts": 0, "retry_budget": -1, "cache": Cache(max_entries=0)}
        for name, value in given.items():
            with self.assertRaises(RejectedError, msg=name):
                Portcullis(url, service_key="a", **{name: value})
        with self.assertRaises(RejectedError):
            Portcullis(url, service_key="a").check("ann", "a:b", timeout=0)

    def test_a_credential_that_no_header_can_hold_is_refused_and_not_shown(self):
        for secret in ("s3cret\n", "s3cret\u2026", "s3 cret", ""):
            for make in (Credential.service_key, Credential.token, lambda it: Portcullis("http://a", service_key=it)):
                with self.assertRaises(RejectedError) as caught:
                    make(secret)
                self.assertNotIn("s3", f"{caught.exception!r}")

    def test_what_cannot_be_sent_is_rejected_without_a_request(self):
        client = Portcullis("http://127.0.0.1:1", service_key="a")
        calls = [
            lambda: client.put_entity("user", "a\ud800", {}),
            lambda: client.request("GET", "/a b"),
            lambda: client.request("GET", "/ä"),
            lambda: client.request("GE T", "/"),
        ]
        for call in calls:
            with self.assertRaises(RejectedError) as caught:
                call()
            self.assertEqual(caught.exception.attempts, 0)

    def test_more_than_10000_checks_are_rejected_without_a_request(self):
        with self.assertRaises(RejectedError) as caught:
            Portcullis("http://127.0.0.1:1", service_key="a").checks([Check("ann", "a:b")] * 10_001)
        self.assertEqual(caught.exception.attempts, 0)

    def test_what_is_not_json_is_rejected_without_a_request(self):
        client = Portcullis("http://127.0.0.1:1", service_key="a")
        for value in (float("nan"), object()):
            with self.assertRaises(RejectedError):
                client.check("ann", "a:b", attributes={"resource": {"x": value}})


class Outages(unittest.TestCase):
    def test_a_service_that_is_not_there_is_unavailable(self):
        with serving(200, ALLOW) as url:
            pass
        with self.assertRaises(UnavailableError) as caught:
            Portcullis(url, service_key="a").check("ann", "a:b")
        self.assertEqual((caught.exception.kind, caught.exception.attempts), ("connect", 3))

        async def ask():
            async with AsyncPortcullis(url, service_key="a", max_attempts=1) as client:
                await client.check("ann", "a:b")

        with self.assertRaises(UnavailableError) as caught:
            asyncio.run(ask())
        self.assertEqual(caught.exception.kind, "connect")

    def test_a_provider_that_takes_long_ends_no_call_late(self):
        given = threading.Event()
        asked = []

        def token():
            asked.append(None)
            given.wait()
            return "t1"

        with serving(200, ALLOW) as url:
            client = Portcullis(url, token_provider=token)
            with self.assertRaises(UnavailableError) as caught:
                client.check("ann", "a:b", timeout=0.05)
            self.assertEqual(caught.exception.kind, "timeout")
            given.set()
            self.assertTrue(client.check("ann", "a:b", timeout=10).allowed)
            self.assertEqual(len(asked), 1)

    def test_the_deadline_covers_all_addresses_of_a_name(self):
        late = httpcore.ConnectTimeout("late")
        tried = []

        def connect_tcp(address, port, timeout, *_):
            tried.append(timeout)
            time.sleep(timeout)
            raise late

        addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{last}", 80)) for last in range(1, 9)]
        with mock.patch("socket.getaddrinfo", return_value=addresses):
            client = Portcullis("http://portcullis.test", service_key="a", connect_timeout=0.05)
            client._transport._pool._network_backend._inner = mock.Mock(connect_tcp=connect_tcp)
            with self.assertRaises(UnavailableError) as caught:
                client.check("ann", "a:b", timeout=0.1)
        self.assertEqual(caught.exception.kind, "timeout")
        self.assertLess(len(tried), len(addresses))

    def test_a_token_whose_flight_ends_with_its_call_is_asked_for_again(self):
        for is_async in (False, True):
            over = threading.Event()
            asked = []

            def answer(path, over=over, asked=asked):
                if path == "/token":
                    asked.append(None)
                    # The first one hangs until its caller has ended.
                    if len(asked) == 1:
                        over.wait(60)
                return 200, {**ALLOW, "access_token": "t1", "expires_in": 300}, []

            async def ask(url, credentials):
                async with AsyncPortcullis(url, client_credentials=credentials) as client:
                    calls = (client.check("ann", "a:b", timeout=left) for left in (2, 60))
                    return await asyncio.gather(*calls, return_exceptions=True)

            def ask_by_threads(url, credentials):
                client = Portcullis(url, client_credentials=credentials)
                ended = []

                def first():
                    with contextlib.suppress(UnavailableError):
                        client.check("ann", "a:b", timeout=2)
                    ended.append(None)

                thread = threading.Thread(target=first)
                thread.start()
                while not asked:
                    time.sleep(0.01)
                second = client.check("ann", "a:b", timeout=60)
                thread.join()
                return ended, second

            with serving_each(answer) as url:
                given = url, ClientCredentials(f"{url}/token", "id", "secret")
                _, second = asyncio.run(ask(*given)) if is_async else ask_by_threads(*given)
                over.set()
            self.assertTrue(second.allowed)
            self.assertEqual(len(asked), 2)

    def test_a_provider_may_be_a_coroutine(self):
        async def token():
            return "t1"

        async def ask(url):
            async with AsyncPortcullis(url, token_provider=token) as client:
                return await client.check("ann", "a:b")

        with serving(200, ALLOW) as url:
            self.assertTrue(asyncio.run(ask(url)).allowed)


class Parts(unittest.TestCase):
    def test_effects_have_no_text_of_a_credential(self):
        credentials = ClientCredentials("http://127.0.0.1:1", "id", "s3cret")
        request = Renewed(credentials).request()
        basic = request.headers["authorization"].removeprefix("Basic ")
        for shown in (request, token_send(request, 0.0)):
            self.assertNotIn(basic, repr(shown))

    def test_an_empty_text_is_not_an_absent_one(self):
        core = Portcullis("http://127.0.0.1:1", service_key="a", domain="acme")._core
        body = core._body(Check("ann", "chart:read", action="", domain=""))
        self.assertEqual((body["action"], body["domain"]), ("", ""))

    def test_revisions_join_by_the_higher_part(self):
        for one, other, expected in (("7/3", "5/9", "7/9"), ("/3", "5/", "5/3"), ("", "x/y", "/")):
            self.assertEqual(str(Revision.parse(one).highest(Revision.parse(other))), expected)

    def test_the_cache_drops_its_oldest_entry_and_what_is_too_old(self):
        now = [0.0]
        cache = AllowCache(Cache(ttl=5, max_entries=2), lambda: now[0])
        for key in "abc":
            cache.put(key, Decision(True))
        found = [cache.get(key, Revision()) is not None for key in "abc"]
        self.assertEqual(found, [False, True, True])
        cache.answered(Revision(8))
        cache.put("old", Decision(True, revision="7/"))
        self.assertIsNone(cache.get("old", Revision()))
        now[0] = 5.0
        self.assertIsNone(cache.get("c", Revision()))

    def test_an_observer_learns_the_end(self):
        ended = []

        class Observer:
            def start(self, operation):
                return {"traceparent": "00-1-2-01"}, lambda outcome: ended.append((operation, outcome))

        with serving(200, ALLOW) as url:
            Portcullis(url, service_key="a", observer=Observer()).check("ann", "a:b")
        self.assertEqual(ended, [("check", "allowed")])

    def test_an_observer_is_told_once_of_each_call(self):
        ended = []
        pages = {"results": [], "complete": False}

        class Observer:
            def start(self, operation):
                return {}, lambda outcome: ended.append((operation, outcome))

        with serving(200, {**ALLOW, **pages}, ("link", '<?cursor=a>; rel="next"'), of=2) as url:
            client = Portcullis(url, service_key="a", observer=Observer(), cache=Cache())
            client.permissions()
            client.check("ann", "a:b")
            self.assertEqual(client.check("ann", "a:b").attempts, 0)
        self.assertEqual(ended, [("permissions", "ok"), ("check", "allowed"), ("check", "allowed")])

    def test_an_observer_is_told_when_the_caller_gives_up(self):
        ended = []
        observer = mock.Mock(start=lambda operation: ({}, ended.append))

        async def ask(url):
            async with AsyncPortcullis(url, service_key="a", timeout=60, observer=observer) as client:
                task = asyncio.create_task(client.check("ann", "a:b"))
                await asyncio.sleep(0.1)
                task.cancel()
                # The exception, which holds the frames of the call, is still there.
                results = await asyncio.gather(task, return_exceptions=True)
                return list(ended), results

        with socket.create_server(("127.0.0.1", 0)) as silent:
            told, _ = asyncio.run(ask(f"http://127.0.0.1:{silent.getsockname()[1]}"))
        self.assertEqual(told, ["aborted"])

    def test_faults_of_an_observer_change_nothing(self):
        class Fails:
            def start(self, operation):
                raise ValueError("a fault of the test")

        class FailsLater:
            def start(self, operation):
                return {}, {}.__getitem__

        with serving(200, ALLOW) as url, self.assertLogs("portcullis_client", "WARNING") as logs:
            for observer in (Fails(), FailsLater()):
                self.assertTrue(Portcullis(url, service_key="a", observer=observer).check("ann", "a:b").allowed)
        self.assertEqual(len(logs.records), 2)


class Doubles(unittest.TestCase):
    def test_the_fake_decides_as_told_and_denies_the_rest(self):
        fake = FakePortcullis().allow("a:b").deny("a:b", "bob").unavailable("c:d")
        asked = [("ann", "a:b"), ("bob", "a:b"), ("ann", "x:y")]
        self.assertEqual([fake.check(*who).allowed for who in asked], [True, False, False])
        with self.assertRaises(UnavailableError):
            fake.require("ann", "c:d")
        self.assertEqual(len(fake.calls), 4)
        assumed = [{"object": "doc:1", "relation": "viewer", "subject": "user:ann"}]
        fake.check("ann", "a:b", relations=assumed)
        self.assertEqual(fake.calls[-1], Check("ann", "a:b", relations=assumed))

    def test_fastapi_answers_by_the_decision(self):
        fake = FakePortcullis().allow("a:b", "ann").unavailable("a:b", "zoe")
        app = FastAPI()
        who = permit(fake, "a:b", subject=lambda request: request.headers.get("x-user"))

        @app.get("/")
        def show(decision: Decision = Depends(who)):
            return decision.rule

        client = TestClient(app)
        for user, status in (("ann", 200), ("bob", 403), ("zoe", 503), ("", 401)):
            answer = client.get("/", headers={"x-user": user})
            self.assertEqual(answer.status_code, status)
            self.assertEqual(answer.headers["content-type"] == "application/problem+json", status != 200)
            self.assertEqual(answer.headers.get("retry-after"), "1" if status == 503 else None)
            self.assertNotIn("the test says", answer.text)

    @unittest.skipUnless(os.environ.get("PORTCULLIS_BIN"), "SKIPPED: PORTCULLIS_BIN names no program")
    def test_the_real_service_decides(self):
        with DevServer.start(HERE.parent.parent / "policies/hospital") as server:
            with server.client("patient-4711") as client:
                decisions = [
                    client.check(
                        "patient-4711",
                        "chart:read",
                        attributes={"resource": {"patient_id": patient}},
                        timeout=10,
                    )
                    for patient in ("patient-4711", "patient-1")
                ]
        self.assertEqual([decision.allowed for decision in decisions], [True, False])


class Documents(unittest.TestCase):
    def test_the_first_example_of_the_readme_runs(self):
        example = re.search(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)[1]
        with serving(200, ALLOW) as url, contextlib.redirect_stdout(io.StringIO()) as out:
            exec(example.replace("http://127.0.0.1:8080", url), {})
        self.assertEqual(out.getvalue(), "allowed\n")


if __name__ == "__main__":
    unittest.main()
