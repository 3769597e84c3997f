"""Revisions: the text `<policy>/<entities>`, of which a part may be empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Revision:
    """A revision of the rules and one of the directory, where they are known."""

    policy: int | None = None
    entities: int | None = None

    @classmethod
    def parse(cls, text: str) -> Revision:
        """Reads the text of a revision. What is not a number counts as absent."""
        policy, _, entities = text.partition("/")
        return cls(_number(policy), _number(entities))

    @classmethod
    def answered(cls, headers: Mapping[str, str]) -> Revision:
        """Returns the revisions that an answer names."""
        policy = _number(headers.get("x-policy-revision", ""))
        return cls(policy, _number(headers.get("x-entities-revision", "")))

    def __str__(self) -> str:
        parts = (self.policy, self.entities)
        return "/".join("" if part is None else str(part) for part in parts)

    def __bool__(self) -> bool:
        return self.policy is not None or self.entities is not None

    def highest(self, other: Revision) -> Revision:
        """Returns the higher of each part."""
        return Revision(_higher(self.policy, other.policy), _higher(self.entities, other.entities))

    def reaches(self, demanded: Revision) -> bool:
        """Returns whether it is known to be at least as new as `demanded`."""
        pairs = ((self.policy, demanded.policy), (self.entities, demanded.entities))
        return all(other is None or (own is not None and own >= other) for own, other in pairs)

    def differs(self, other: Revision) -> bool:
        """Returns whether a part is another one, where both have it."""
        pairs = ((self.policy, other.policy), (self.entities, other.entities))
        return any(None not in pair and pair[0] != pair[1] for pair in pairs)


def _higher(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else None
