"""What the API's document cannot say about a request, for schemathesis.

JSON Schema has no word for a regular expression that compiles, or for an instant that lies in the future.
Where the service refuses a request for such a reason, which its documentation gives, nothing is wrong.
"""

import ipaddress

import schemathesis
from hypothesis import strategies as st

# --- Formats that only this API has ---

# Whatever means the same in Python and in Rust's `regex`.
ATOMS = st.sampled_from(["a", "é", "-", " ", ".", "[a-z0-9]", "[^/]", r"\d", r"\w", r"\.", "(?:ab|c)", "(x)"])
REGULAR_EXPRESSIONS = st.lists(
    st.tuples(ATOMS, st.sampled_from(["", "*", "+", "?", "{2,5}"])).map("".join), max_size=8
).map("".join)


def network(address, prefix):
    """The network of that size that `address` lies in."""
    return str(ipaddress.ip_network((address, prefix), strict=False))


NETWORKS = st.one_of(
    st.ip_addresses().map(str),
    st.builds(network, st.ip_addresses(v=4), st.integers(0, 32)),
    st.builds(network, st.ip_addresses(v=6), st.integers(0, 128)),
)

schemathesis.openapi.format("rust-regex", REGULAR_EXPRESSIONS)
schemathesis.openapi.format("ip-network", NETWORKS)


# --- Refusals that the document announces in words ---

# By operation (`None` is any), status, and a part of the message.
ANNOUNCED = [
    # Cursors come from the `Link` of a page.
    (None, 400, "the query parameter `cursor` is none of this list"),
    # Entity tags come from the record.
    (None, 412, "the record has changed since"),
    ("createServiceKey", 400, "expected an instant in the future"),
    ("updatePolicy", 400, "the resource of a policy never changes"),
    ("deleteRule", 400, "the rule is named twice: send either `?id=` or a body"),
    ("registerResources", 400, "only once in one call"),
]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failed check is a finding."""
    if "positive_data_acceptance" not in type(failure).checks:
        return True
    operation = case.operation.definition.raw["operationId"]
    message = response.json()["message"]
    return not any(
        name in (operation, None) and status == response.status_code and reason in message
        for name, status, reason in ANNOUNCED
    )


@schemathesis.hook
def map_case(context, case):
    """Asks for no revision that the rules have yet to reach: that is a 503, after a wait."""
    revision = case.headers.get("X-Min-Policy-Revision")
    if isinstance(revision, str) and revision.isascii() and revision.isdigit():
        case.headers["X-Min-Policy-Revision"] = revision[:1]
    return case
