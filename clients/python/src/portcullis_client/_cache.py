"""Allows that were answered a short time ago."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from ._revisions import Revision
from ._types import Cache, Decision


class AllowCache:
    """Keeps allows by all that was sent, and drops them when an answer has another revision. Threads may share it."""

    def __init__(self, options: Cache, now: Callable[[], float]) -> None:
        self._ttl = options.ttl
        self._most = options.max_entries
        self._now = now
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[Decision, float]] = OrderedDict()
        self._revision = Revision()

    def get(self, key: str, demanded: Revision) -> Decision | None:
        """Returns an allow that is young enough, and as new as `demanded`."""
        with self._lock:
            if not self._revision.reaches(demanded):
                return None
            decision, end = self._entries.get(key, (None, 0.0))
            if decision is None or end <= self._now():
                self._entries.pop(key, None)
                return None
            return replace(decision, attempts=0)

    def put(self, key: str, decision: Decision) -> None:
        """Keeps an allow, unless other answers have made it old meanwhile. The oldest entry makes room for it."""
        with self._lock:
            if decision.revision and Revision.parse(decision.revision).differs(self._revision):
                return
            self._entries.pop(key, None)
            while len(self._entries) >= self._most:
                self._entries.popitem(last=False)
            self._entries[key] = (decision, self._now() + self._ttl)

    def answered(self, revision: Revision) -> None:
        """Drops everything if an answer has another revision than the entries."""
        with self._lock:
            if self._revision.differs(revision):
                self._entries.clear()
            policy = self._revision.policy if revision.policy is None else revision.policy
            entities = self._revision.entities if revision.entities is None else revision.entities
            self._revision = Revision(policy, entities)

    def clear(self) -> None:
        """Drops everything."""
        with self._lock:
            self._entries.clear()
            self._revision = Revision()
