"""What the API's document cannot say about a request, for schemathesis.

JSON Schema has no word for a regular expression that compiles, or for an instant that lies in the future.
Where the service refuses a request for such a reason, which its documentation gives, nothing is wrong.
"""

import ipaddress
import re

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
# What a matcher may hold, joined in any way.
TESTS = st.sampled_from([
    "r.sub.age >= 18",
    "r.sub == r.obj.owner",
    "'a' in r.sub.tags",
    'r.act in ("read", "list", -1)',
    "r.obj.open",
    "!(r.dom != 'acme')",
    'keyMatch2(r.obj.path, "/a/:id/*")',
    'ipMatch(r.sub.ip, "10.0.0.0/8")',
])
MATCHERS = st.lists(TESTS, min_size=1, max_size=4).flatmap(
    lambda tests: st.sampled_from([" && ", "||"]).map(lambda symbol: symbol.join(tests))
)

schemathesis.openapi.format("ip-network", NETWORKS)
schemathesis.openapi.format("casbin-matcher", MATCHERS)


# --- What the document demands in words ---

# In characters.
LONGEST_URL = 2048


@schemathesis.hook
def map_case(context, case):
    """Brings a request closer to what it should be, so that most are served and not refused."""
    # A revision that the rules have yet to reach is a 503, after a wait.
    revision = case.headers.get("X-Min-Policy-Revision")
    if isinstance(revision, str) and revision.isascii() and revision.isdigit():
        case.headers["X-Min-Policy-Revision"] = revision[:1]
    if case.meta.generation.mode.is_positive:
        # Any other tag is one that the record does not have.
        if "If-Match" in case.headers:
            case.headers["If-Match"] = "*"
        # Cursors come from the `Link` of a page.
        case.query.pop("cursor", None)
        if name_of(case) == "deleteRule":
            case.query.pop("id", None)
        if isinstance(case.body, dict):
            follow_the_text(case.body, name_of(case))
    return case


def follow_the_text(body, operation):
    if operation == "updatePolicy":
        body.pop("resource", None)
    if isinstance(body.get("expires_at"), str):
        body["expires_at"] = "2999-01-01T00:00:00Z"
    # Nobody's host gets to see a test's webhooks.
    for name in {"url", "issuer_url", "jwks_uri"}.intersection(body):
        url = re.sub("^https://[^/:]*", "https://portcullis.invalid", body[name])
        body[name] = url[:LONGEST_URL]


# Refusals that are no finding: by operation (`None` is any), status, and a part of the message.
ANNOUNCED = [
    (None, 412, "the record has changed since"),
    ("createPolicy", 400, "expected a network such as"),
    ("createPolicy", 400, "expected a regular expression"),
    ("createPolicy", 400, "there is no resolver"),
    ("deleteRule", 400, "the rule is named twice: send either `?id=` or a body"),
    ("createServiceKey", 400, "expected an instant in the future"),
    ("registerResource", 400, "expected a verb of at most 128 characters"),
    ("registerResources", 400, "expected a verb of at most 128 characters"),
    ("registerResources", 400, "only once in one call"),
    ("updatePolicy", 400, "expected a network such as"),
    ("updatePolicy", 400, "expected a regular expression"),
    ("updatePolicy", 400, "there is no resolver"),
    ("updatePolicy", 400, "since the `format` is `"),
    ("updatePolicy", 400, "as the stored `rule_data` is written"),
    ("updatePolicy", 400, "the resource of a policy never changes"),
    # What a module answers and needs is its own affair.
    ("testResolver", 400, "expected one of `"),
    ("updateResolver", 400, "expected what the module needs, but"),
]
ANNOUNCED += [
    (operation, 400, reason)
    for operation in ("createResolver", "updateResolver")
    for reason in (
        "expected a URL without query and fragment",
        "expected a resolver, but",
        "expected a name of 1 to 128 bytes",
        "expected a name that is not among `allowed_hosts`",
        "expected characters that a header can have",
        "expected the name of a host in lower case",
        "`${name}` is the name of one of `secrets`",
    )
]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failed check is a finding."""
    if "negative_data_rejection" in failure.checks:
        # Their pattern leaves out international names and literal addresses, which the service takes.
        return not re.search(r"\b(url|issuer_url|jwks_uri)\b", failure.message)
    if "positive_data_acceptance" not in failure.checks:
        return True
    message = response.json()["message"]
    return not any(
        operation in (name_of(case), None) and status == response.status_code and reason in message
        for operation, status, reason in ANNOUNCED
    )


def name_of(case):
    return case.operation.definition.raw["operationId"]
