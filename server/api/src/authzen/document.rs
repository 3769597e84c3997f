//! The bodies of AuthZEN requests in the API document. [`super::body`] reads them.

use portcullis_engine::batch::{BatchSemantic, MAX_ITEMS};
use portcullis_engine::names::names;
use portcullis_engine::rbac::{MAX_DOMAIN, MAX_SUBJECT};
use portcullis_model::{document, schema};
use serde_json::json;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};

use super::answer::{EvaluationAnswer, EvaluationsAnswer};

/// The greatest length of a type or an action in the document, in characters. The percent-encoding of three bytes for each
/// fits twice into a resource.
const SHORT: usize = 13;

/// The body of an evaluation.
pub(super) struct EvaluationRequest;

document!(EvaluationRequest => {
    let options = open().property("reasons", schema::boolean());
    let body = members(open(), entity).property("options", options);
    let body = body.required("subject").required("action").required("resource");
    body.examples([json!({
        "subject": {"type": "user", "id": "alice"},
        "action": {"name": "read"},
        "resource": {"type": "record", "id": "record-1"},
    })])
    .build()
});

/// The body of evaluations.
pub(super) struct EvaluationsRequest;

document!(EvaluationsRequest => {
    // The fault of an evaluation is its own: the schema accepts whatever is an object.
    let items = schema::list(members(open(), partial)).max_items(Some(MAX_ITEMS));
    let options = open()
        .property("evaluations_semantic", schema::choice(names::<BatchSemantic>()))
        .property("reasons", schema::boolean());
    members(open(), entity)
        .property("evaluations", items.min_items(Some(1)))
        .property("options", options)
        .required("subject").required("action").required("resource")
        .examples([json!({
            "subject": {"type": "user", "id": "alice"},
            "action": {"name": "read"},
            "resource": {"type": "record", "id": "record-1"},
            "evaluations": [{}, {"resource": {"type": "record", "id": "record-2"}}],
        })])
        .build()
});

/// The answer to evaluations: the answer to one evaluation if the request has no list.
pub(super) struct EvaluationsResponse;

document!(EvaluationsResponse, naming EvaluationsAnswer, EvaluationAnswer => {
    schema::one_of([
        schema::named::<EvaluationsAnswer>(),
        schema::named::<EvaluationAnswer>(),
    ])
});

/// The body of a search for subjects.
pub(super) struct SubjectSearch;

document!(SubjectSearch => {
    searched(&[("type", SHORT)], Some(&[("name", SHORT)]), &[("type", SHORT), ("id", MAX_SUBJECT)])
        .examples([json!({
            "subject": {"type": "user"},
            "action": {"name": "read"},
            "resource": {"type": "record", "id": "record-1"},
        })])
        .build()
});

/// The body of a search for resources.
pub(super) struct ResourceSearch;

document!(ResourceSearch => {
    searched(SUBJECT, Some(&[("name", SHORT)]), &[("type", SHORT)])
        .examples([json!({
            "subject": {"type": "user", "id": "alice"},
            "action": {"name": "read"},
            "resource": {"type": "record"},
            "page": {"limit": 100},
        })])
        .build()
});

/// The body of a search for actions.
pub(super) struct ActionSearch;

document!(ActionSearch => {
    searched(SUBJECT, None, &[("type", SHORT), ("id", MAX_SUBJECT)])
        .examples([json!({
            "subject": {"type": "user", "id": "alice"},
            "resource": {"type": "record", "id": "record-1"},
        })])
        .build()
});

const CONTEXT: &str = "What policies read as `context.*`. `relations`, if it is a list with an object in it, is tuples that \
                       count beside the stored ones in this decision, with the right to assume";

/// A complete subject.
const SUBJECT: Texts = &[("type", SHORT), ("id", MAX_SUBJECT - SHORT - 1)];

/// The body of a search with these entities. A search for actions has no action.
fn searched(subject: Texts, action: Option<Texts>, resource: Texts) -> ObjectBuilder {
    let domain = schema::nullable(schema::text(MAX_DOMAIN));
    let page = open()
        .property("token", schema::string())
        .property("limit", schema::integer(0, i32::MAX.into()));
    let body = open()
        .property("subject", entity(subject))
        .property("resource", entity(resource))
        .property("context", free().property("domain", domain))
        .property("page", page)
        .required("subject")
        .required("resource");
    match action {
        Some(action) => body.property("action", entity(action)).required("action"),
        None => body,
    }
}

/// An object that may have any other member.
fn open() -> ObjectBuilder {
    schema::typed(Type::Object)
}

fn free() -> ObjectBuilder {
    open().additional_properties(Some(AdditionalProperties::FreeForm(true)))
}

/// Names and texts, each with its greatest length.
type Texts = &'static [(&'static str, usize)];

fn members(body: ObjectBuilder, entity: fn(Texts) -> ObjectBuilder) -> ObjectBuilder {
    let domain = schema::nullable(schema::text(MAX_DOMAIN));
    // The types are short here, so that a type and what stands behind it fit together.
    body.property("subject", entity(&[("type", SHORT), ("id", MAX_SUBJECT - SHORT - 1)]))
        .property("action", entity(&[("name", SHORT)]))
        .property("resource", entity(&[("type", SHORT), ("id", MAX_SUBJECT)]))
        .property("context", free().property("domain", domain).description(Some(CONTEXT)))
}

fn entity(texts: Texts) -> ObjectBuilder {
    texts.iter().fold(partial(texts), |entity, (name, _)| entity.required(*name))
}

fn partial(texts: Texts) -> ObjectBuilder {
    let entity = texts
        .iter()
        .fold(open(), |entity, (name, most)| entity.property(*name, schema::text(*most)));
    entity.property("properties", free())
}
