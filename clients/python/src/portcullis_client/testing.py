"""Doubles for tests: a fake in memory, and the real service on a folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote

import httpcore

from ._errors import DeniedError, UnavailableError
from ._sync import Portcullis
from ._types import Check, Decision, Relation

_Answer = Literal["allow", "deny", "unavailable"]


class FakePortcullis:
    """Decides as a test says, and denies everything else."""

    def __init__(self) -> None:
        # The last entry that fits counts.
        self._entries: list[tuple[str, str | None, _Answer]] = []
        self.calls: list[Check] = []

    def allow(self, resource: str, subject: str | None = None) -> FakePortcullis:
        """Allows a resource, for one subject or for all."""
        return self._add(resource, subject, "allow")

    def deny(self, resource: str, subject: str | None = None) -> FakePortcullis:
        """Denies a resource."""
        return self._add(resource, subject, "deny")

    def unavailable(self, resource: str, subject: str | None = None) -> FakePortcullis:
        """Makes checks of a resource fail as they do in an outage."""
        return self._add(resource, subject, "unavailable")

    def check(
        self,
        subject: str,
        resource: str,
        action: str | None = None,
        *,
        domain: str | None = None,
        attributes: Any = None,
        expected: Literal["allow", "deny"] | None = None,
        relations: Sequence[Relation] | None = None,
        **options: Any,
    ) -> Decision:
        """Decides as the test says."""
        return self._decide(Check(subject, resource, action, domain, attributes or {}, expected, relations or ()))

    def require(self, subject: str, resource: str, action: str | None = None, **members: Any) -> Decision:
        """Returns an allow; raises `DeniedError` for a denial."""
        decision = self.check(subject, resource, action, **members)
        if not decision.allowed:
            raise DeniedError(decision)
        return decision

    def checks(self, checks: Sequence[Check], **options: Any) -> list[Decision]:
        """Decides each check."""
        return [self._decide(check) for check in checks]

    def _decide(self, check: Check) -> Decision:
        self.calls.append(check)
        for resource, subject, answer in reversed(self._entries):
            if resource == check.resource and subject in (None, check.subject):
                if answer == "unavailable":
                    raise UnavailableError("connect", "the test says so", attempts=1)
                allowed = answer == "allow"
                return Decision(allowed, "fake" if allowed else "default-deny", "the test says so")
        return Decision(False, "default-deny", "the test says nothing else")

    def _add(self, resource: str, subject: str | None, answer: _Answer) -> FakePortcullis:
        self._entries.append((resource, subject, answer))
        return self


class DevServer:
    """`portcullis dev` on a folder of tenants: a test decides as production does."""

    def __init__(self, process: subprocess.Popen[str], data: str, url: str) -> None:
        self._process = process
        self._data = data
        self.url = url

    @classmethod
    def start(cls, folder: str | Path) -> DevServer:
        """Starts the program of `PORTCULLIS_BIN`, or `portcullis`, and waits until it serves."""
        program = os.environ.get("PORTCULLIS_BIN") or "portcullis"
        data = tempfile.mkdtemp(prefix="portcullis-")
        command = [program, "dev", str(folder), "--port", "0", "--data-dir", data]
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        except OSError as error:
            shutil.rmtree(data, ignore_errors=True)
            raise RuntimeError(f"cannot start `{program}`: {error.strerror}") from None
        for line in process.stdout or ():
            address = re.search(r"https?://[0-9.:\[\]a-z]+", line)
            if address:
                # What it prints later is read, so that it never waits for a reader.
                threading.Thread(target=_read_all, args=(process,), daemon=True).start()
                return cls(process, data, address[0])
        shutil.rmtree(data, ignore_errors=True)
        raise RuntimeError(f"`{program} dev` ended with {process.wait()}")

    def client(self, user: str) -> Portcullis:
        """Returns a client with the token of a sample user."""
        answer = httpcore.request("GET", f"{self.url}/dev/token?user={quote(user, safe='')}")
        token = answer.content.decode().strip()
        if answer.status != 200:
            raise RuntimeError(f"no token of `{user}`: {token}")
        return Portcullis(self.url, token=token)

    def close(self) -> None:
        """Stops the service and removes its data."""
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._data, ignore_errors=True)

    def __enter__(self) -> DevServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _read_all(process: subprocess.Popen[str]) -> None:
    if process.stdout:
        with process.stdout as output:
            for _ in output:
                pass
