"""Tests of what the scenarios cannot see: text forms, doubles, the framework, and the README."""

import asyncio
import contextlib
import http.server
import io
import json
import os
import re
import threading
import tomllib
import unittest
from pathlib import Path

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
from portcullis_client._revisions import Revision
from portcullis_client.fastapi import permit
from portcullis_client.testing import DevServer, FakePortcullis

HERE = Path(__file__).parent.parent
ALLOW = {"decision": "allow", "matched_rule_id": "r1", "reason": "ok"}


@contextlib.contextmanager
def serving(status, body):
    """Serves an answer to every request. Gives the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
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

    def test_a_provider_may_be_a_coroutine(self):
        async def token():
            return "t1"

        async def ask(url):
            async with AsyncPortcullis(url, token_provider=token) as client:
                return await client.check("ann", "a:b")

        with serving(200, ALLOW) as url:
            self.assertTrue(asyncio.run(ask(url)).allowed)


class Parts(unittest.TestCase):
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


class Doubles(unittest.TestCase):
    def test_the_fake_decides_as_told_and_denies_the_rest(self):
        fake = FakePortcullis().allow("a:b").deny("a:b", "bob").unavailable("c:d")
        asked = [("ann", "a:b"), ("bob", "a:b"), ("ann", "x:y")]
        self.assertEqual([fake.check(*who).allowed for who in asked], [True, False, False])
        with self.assertRaises(UnavailableError):
            fake.require("ann", "c:d")
        self.assertEqual(len(fake.calls), 4)

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
