//! The explanation of a decision: `POST /api/v1/check?explain=true`.

use portcullis_http::error::ApiError;
use portcullis_http::query::{QueryParameters, QueryReader};
use utoipa::openapi::schema::Type;

use portcullis_engine::names::names;
use portcullis_model::document;
use portcullis_model::hint::{HintCode, MAX_HINTS};
use portcullis_model::schema::{
    self, AnySchema, Record, anything, boolean, choice, effect, id, integer, list, named, one_of,
    record, string, typed,
};

/// Whether the query asks for an explanation.
#[derive(Clone, Copy)]
pub(super) struct Explain(pub(super) bool);

impl QueryParameters for Explain {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let about = "Whether the answer explains itself; only managers may ask for that";
        query.flag("explain", about).map(Self)
    }
}

/// An explanation in the OpenAPI document.
pub(super) struct ExplanationSchema;

document!(ExplanationSchema as "Explanation", naming NodeSchema => explanation_schema());

fn explanation_schema() -> AnySchema {
    let policy = record()
        .field("id", id())
        .field("name", string())
        .field("effect", effect())
        .field("priority", integer(i32::MIN.into(), i32::MAX.into()))
        .field("applies", boolean())
        .field("decides", boolean())
        .field("outcome", outcome())
        .field("condition", schema::nullable(named::<NodeSchema>()))
        .about("A policy about the resource; the first that applies decides, unless a rule denies");
    let rule = ["sub", "dom", "obj", "act"]
        .into_iter()
        .fold(record().field("id", id()), |rule, field| rule.field(field, string()))
        .field("effect", effect())
        .field("decides", boolean())
        .about("An RBAC rule that matches");
    let attribute = record()
        .field("attribute", string())
        .field("source", string())
        .about(
            "An attribute that a condition reads, and where its value comes from: `request`, `token`, \
             `directory`, `relations` or `resolver:<namespace>`. Without `value` it is absent, or there is no answer, and \
             `because` says why. A relation has `words`; the edges of its `path` from the object to the subject, or one path \
             for each of its `branches`; and what was `looked_at` if it does not hold",
        );
    let resolver = record()
        .field("namespace", string())
        .field("origin", schema::nullable(choice(["tenant", "operator"])))
        .field(
            "attributes",
            list(
                record()
                    .field("name", string())
                    .field("source", choice(["cache", "stale", "call", "nowhere"])),
            ),
        )
        .about(
            "A resolver that was asked. `cause` says why answers are missing or stale; `call` is there if the \
             module was called, with `elapsed_us`, `memory_bytes` and its `log`",
        );
    let change = record()
        .field("attribute", string())
        .field("from", anything())
        .field("to", anything())
        .about(
            "The value that the check was decided with, and the one to send; `null` is no value",
        );
    let changes = record().field("changes", list(change).max_items(Some(3)));
    let complete = boolean().description(Some(
        "False if further sets of as few changes may allow: the search came to its limit, or a pattern, a relation or a \
         resolver decides",
    ));
    record()
        .field("revision", typed(Type::Integer).minimum(Some(0)))
        .field("policies", list(policy))
        .field("rules", list(rule))
        .field("attributes", list(attribute))
        .field("resolvers", list(resolver))
        .maybe(
            "would_allow",
            list(changes).description(Some(
                "Of a denial: the smallest sets of changed attributes by which it would be allowed",
            )),
        )
        .maybe("would_allow_complete", complete)
        .maybe("hints", list(hint()).max_items(Some(MAX_HINTS)))
        .about("Everything that was looked at; for `explain=true`")
        .into()
}

/// A doubt about a check.
fn hint() -> Record {
    record()
        .field("code", choice(names::<HintCode>()))
        .field("path", string().description(Some("The place in the body, as a JSON pointer")))
        .field("message", string())
        .about("What may be mistaken in the check; it changes no decision")
}

/// A node of an explained condition.
struct NodeSchema;

document!(NodeSchema as "ExplainedCondition" => node_schema());

/// Returns what the nodes of these types have in common.
fn node(types: &[&'static str]) -> Record {
    record().field("type", choice(types.to_vec())).maybe("outcome", outcome()).about(
        "A node with its truth. `expression` is the node as an expression, unless none stands for it or it is very \
         long",
    )
}

fn node_schema() -> AnySchema {
    one_of([
        node(&["AND", "OR"]).field("children", list(named::<NodeSchema>())).into(),
        node(&["NOT"]).field("child", named::<NodeSchema>()).into(),
        node(&["ANY", "ALL"])
            .field("attribute", string())
            .field("child", named::<NodeSchema>())
            .about(
                "A condition on the items of a list, with the first item that decides (`item`), which `child` is about. If no \
                 item decides, there is no `item`, and no `outcome` in `child`",
            )
            .into(),
        node(&["NAMED"])
            .field("name", string())
            .about("A named condition, and the condition itself (`child`) where the name first stands")
            .into(),
        node(&["CONDITION", "LENGTH"])
            .field("attribute", string())
            .field("operator", string())
            .about(
                "A test of one attribute, with what it is compared with (`value`), what it is \
                 (`actual`, unless it is absent), and why the test is undetermined (`because`). `expression` is the \
                 test as an expression, unless none stands for it or it is very long",
            )
            .into(),
    ])
}

fn outcome() -> utoipa::openapi::schema::ObjectBuilder {
    choice(["true", "false", "undetermined"])
}
