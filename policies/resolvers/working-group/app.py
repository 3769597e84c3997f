"""`group.names` and `group.lead`: the working groups of the subject, as the configuration lists them.

Configuration: `groups` as `cardiology=dr-osei,nurse-lind; ethics=ines-admin,dr-osei`. The first member leads a group.
"""

import gc

from componentize_py_types import Err

from wit_world import exports
from wit_world.imports import config, log
from wit_world.imports.types import (
    Attribute,
    AttributeSpec,
    ConfigKey,
    Descriptor,
    Error_Internal,
    Kind,
    Request,
    Resolution,
    Value_Boolean,
    Value_Texts,
)

# The groups change with the configuration only, and then nothing cached is used any more.
TTL_MS = 3_600_000


class Resolver(exports.Resolver):
    def describe(self) -> Descriptor:
        return Descriptor(
            name="working-group",
            version="1.0.0",
            inputs=["subject"],
            attributes=[
                AttributeSpec("names", Kind.TEXTS, TTL_MS),
                AttributeSpec("lead", Kind.BOOLEAN, TTL_MS),
            ],
            config_keys=[ConfigKey("groups", True)],
            endpoints=[],
            ext=[],
        )

    def resolve(self, request: Request) -> Resolution:
        groups = parse(config.get("groups") or "")
        mine = {name: members for name, members in groups.items() if request.subject in members}
        log.emit(log.Level.DEBUG, f"{len(mine)} of {len(groups)} groups")
        values = {
            "names": Value_Texts(sorted(mine)),
            "lead": Value_Boolean(any(members[0] == request.subject for members in mine.values())),
        }
        return Resolution([Attribute(name, values[name], None) for name in request.wanted], [], [])


def parse(text: str) -> dict[str, list[str]]:
    """The members of each group."""
    groups = {}
    for group in text.split(";"):
        name, found, members = group.partition("=")
        if not found:
            # An error of the contract: the attributes are undetermined.
            raise Err(Error_Internal(f"`groups`: expected `name=member,…; …`, not `{group.strip()}`"))
        groups[name.strip()] = [member.strip() for member in members.split(",")]
    return groups


# The component is an image of the interpreter after this module was loaded. What was freed by then is part of it
# until zeros stand there, and makes it larger than a module may be.
gc.collect()
for _size in (1 << 20, 1 << 16, 1 << 12, 1 << 10):
    _zeros = [bytes(_size) for _ in range((8 << 20) // _size)]
    del _zeros
