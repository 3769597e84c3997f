"""Writes validation files with random schemas, relationships and the answers of SpiceDB to every question about them."""

import ctypes
import pathlib
import random
import sys
import time

from authzed.api.v1 import (
    CheckPermissionRequest,
    CheckPermissionResponse,
    Consistency,
    ObjectReference,
    Relationship,
    RelationshipUpdate,
    SubjectReference,
    WriteRelationshipsRequest,
    WriteSchemaRequest,
)
from google.protobuf.timestamp_pb2 import Timestamp
from spicedb_embedded import EmbeddedSpiceDB, SpiceDBError, ffi

FILES = 60
USERS = ["user:ann", "user:bob", "user:eve", "user:zoe", "group:g0", "folder:f0"]
PAST, FUTURE = "2001-01-01T00:00:00Z", "2100-01-01T00:00:00Z"
TYPES = {
    "member": ["user", "group#member", "user with expiration"],
    "parent": ["folder"],
    "owner": ["user", "group", "folder"],
    "viewer": ["user", "user:*", "group#member", "user with expiration", "group#member with expiration"],
    "banned": ["user", "user:*", "group#member"],
}

# The library frees the message of an error with the type of a text, which fails.
ffi._get_lib().spicedb_free.argtypes = [ctypes.c_void_p]


def expression(draw, names, arrows, depth=0):
    """Draws an expression; what it subtracts is of the names that it may use, all of which are above it."""
    kind = draw.random()
    if depth > 2 or kind < 0.45:
        return draw.choice(names + arrows + ["nil"] if draw.random() < 0.1 else names + arrows)
    parts = [expression(draw, names, arrows, depth + 1) for _ in range(draw.randint(2, 3))]
    text = f" {draw.choice('++&-')} ".join(parts)
    return f"({text})" if draw.random() < 0.5 else text


def definition(draw, name, relations, others):
    """Draws a definition; the permissions of folders flow down."""
    lines = []
    for relation in relations:
        types = draw.sample(TYPES[relation], draw.randint(1, len(TYPES[relation])))
        lines.append(f"relation {relation}: {' | '.join(types)}")
    names, arrows = [one for one in relations if one != "parent"], []
    for number in range(draw.randint(2, 4)):
        permission, drawn = f"may_{number}", expression(draw, names, arrows)
        arrow = draw.choice(["parent->{}", "parent.any({})"])
        if name == "folder" and draw.random() < 0.5:
            drawn = f"({drawn}) + {arrow.format(permission)}"
        lines.append(f"permission {permission} = {drawn}")
        names.append(permission)
        arrows += [arrow.format(one) for one in others] if name == "document" else [arrow.format(permission)]
    return f"definition {name} {{\n" + "\n".join(f"  {line}" for line in lines) + "\n}\n", lines


def schema(draw):
    group = "definition group {\n  relation member: user | group#member | user with expiration\n}\n"
    folder, lines = definition(draw, "folder", ["parent", "owner", "viewer", "banned"], [])
    others = ["owner", "viewer"] + [one.split()[1] for one in lines if one.startswith("permission")]
    document, more = definition(draw, "document", ["parent", "viewer", "banned"], others)
    text = f"use expiration\n\ndefinition user {{}}\n\n{group}\n{folder}\n{document}"
    asked = [("group", "member")]
    asked += [("folder", line.split()[1].rstrip(":")) for line in lines]
    asked += [("document", line.split()[1].rstrip(":")) for line in more]
    stored = [("group", "member", ["user", "group#member", "user with expiration"])]
    for kind, one in [("folder", lines), ("document", more)]:
        for line in one:
            if line.startswith("relation"):
                relation, types = line.removeprefix("relation ").split(": ")
                stored.append((kind, relation, types.split(" | ")))
    return text, asked, stored


def relationships(draw, stored):
    ids = {"group": ["g0", "g1", "g2"], "folder": ["f0", "f1", "f2", "f3"], "document": ["d0", "d1"], "user": ["ann", "bob", "eve"]}
    found = {}
    for _ in range(draw.randint(15, 35)):
        kind, relation, types = draw.choice(stored)
        place = draw.randrange(len(ids[kind]))
        subject, _, expires = draw.choice(types).partition(" with ")
        of_type, _, related = subject.partition("#")
        if of_type.endswith(":*"):
            named = subject
        else:
            # No circles: SpiceDB ends in an error there.
            below = place if of_type == kind else len(ids[of_type])
            if below == 0:
                continue
            named = f"{of_type}:{ids[of_type][draw.randrange(below)]}" + (f"#{related}" if related else "")
        key = f"{kind}:{ids[kind][place]}#{relation}@{named}"
        found[key] = draw.choice([PAST, FUTURE]) if expires else None
    return found


def reference(text):
    kind, _, name = text.partition(":")
    return ObjectReference(object_type=kind, object_id=name)


def update(text, expires):
    object_name, rest = text.split("@")
    object_name, relation = object_name.split("#")
    subject, _, related = rest.partition("#")
    one = Relationship(
        resource=reference(object_name),
        relation=relation,
        subject=SubjectReference(object=reference(subject), optional_relation=related),
    )
    if expires:
        stamp = Timestamp()
        stamp.FromJsonString(expires)
        one.optional_expires_at.CopyFrom(stamp)
    return RelationshipUpdate(operation=RelationshipUpdate.OPERATION_TOUCH, relationship=one)


def answers(service, asked):
    """Returns the questions with the answers."""
    ids = {"group": ["g0", "g2"], "folder": ["f0", "f2", "f3"], "document": ["d0", "d1"]}
    for kind, relation in asked:
        for name in ids[kind]:
            for user in USERS:
                request = CheckPermissionRequest(
                    consistency=Consistency(fully_consistent=True),
                    resource=reference(f"{kind}:{name}"),
                    permission=relation,
                    subject=SubjectReference(object=reference(user)),
                )
                found = service.permissions().CheckPermission(request).permissionship
                yield f"{kind}:{name}#{relation}@{user}", found == CheckPermissionResponse.PERMISSIONSHIP_HAS_PERMISSION


def main(folder):
    draw, counts, spent = random.Random(20261124), {True: 0, False: 0}, 0.0
    for number in range(FILES):
        text, asked, stored = schema(draw)
        tuples = relationships(draw, stored)
        with EmbeddedSpiceDB.start() as service:
            service.schema().WriteSchema(WriteSchemaRequest(schema=text))
            updates = [update(*one) for one in tuples.items() if one[1] != PAST]
            service.permissions().WriteRelationships(WriteRelationshipsRequest(updates=updates))
            began = time.perf_counter()
            found = dict(answers(service, asked))
            spent += time.perf_counter() - began
        lines = [f"{one}[expiration:{expires}]" if expires else one for one, expires in tuples.items()]
        block = "".join(f"  {line}\n" for line in text.splitlines())
        file = f"schema: |-\n{block}relationships: |-\n" + "".join(f"  {line}\n" for line in lines) + "assertions:\n"
        for expected, name in [(True, "assertTrue"), (False, "assertFalse")]:
            listed = [one for one, answer in found.items() if answer is expected]
            counts[expected] += len(listed)
            file += f"  {name}:\n" + "".join(f"  - {one}\n" for one in listed) if listed else ""
        (pathlib.Path(folder) / f"{number}.yaml").write_text(file, encoding="utf-8")
    print(counts[True], counts[False], round(1e6 * spent / sum(counts.values())))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except SpiceDBError as error:
        sys.exit(f"SpiceDB: {error}")
