//! Answers in a case that stand for calls of resolvers: `resolved`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{AttributeAnswer, AttributeAnswers, AttributeKind, Json};
use portcullis_model::input::{Field, field};
use portcullis_model::schema::{self, AnySchema};
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, SchemaType, Type};

use crate::resolvers::SampleResolver;

/// Answers that stand for calls of resolvers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenAnswers {
    pub answers: AttributeAnswers,
    /// The resolvers that are not called. Their attributes without an answer are undetermined.
    pub namespaces: BTreeSet<String>,
}

/// Answers that stand for the calls of `resolvers`: `{hr: {department: sales, manager: null}}`, where null is absent. An
/// attribute that is not there fails. Without `resolvers` every namespace and attribute is accepted.
pub(super) fn given<'j>(
    resolvers: Option<&[SampleResolver]>,
) -> impl Field<'j, Value = GivenAnswers> {
    field(move |json, at, problems| read(json, at, problems, resolvers), answers).about(
        "Answers of resolvers by namespace and attribute, in place of calls; `null` is an attribute that is absent",
    )
}

/// The schema of answers by namespace and attribute.
fn answers() -> ObjectBuilder {
    let types = [Type::String, Type::Number, Type::Boolean, Type::Null];
    let scalar = schema::string().schema_type(SchemaType::from_iter(types));
    let lists = [schema::list(schema::string()), schema::list(schema::typed(Type::Number))];
    // An empty list is a list of texts and a list of numbers.
    let lists = lists.into_iter().map(|list| list.into());
    let value = lists.fold(AnyOfBuilder::new().item(scalar), AnyOfBuilder::item::<AnySchema>);
    by_name(by_name(value.into()).into())
}

fn by_name(value: AnySchema) -> ObjectBuilder {
    schema::typed(Type::Object).additional_properties(Some(value))
}

fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    resolvers: Option<&[SampleResolver]>,
) -> Option<GivenAnswers> {
    let mut given = GivenAnswers::default();
    for (namespace, attributes) in members(json, at, problems)? {
        let at = at.key(namespace);
        let resolver =
            resolvers.map(|known| known.iter().find(|one| one.manifest.namespace == *namespace));
        // Without known resolvers every namespace is one.
        if resolver == Some(None) {
            problems.expected(&at, "the namespace of a resolver of the tenant");
            continue;
        }
        given.namespaces.insert(namespace.to_string());
        for (name, value) in members(attributes, &at, problems)? {
            let kind = resolver.flatten().map(|resolver| resolver.kind(name));
            if kind == Some(None) {
                problems
                    .expected(&at.key(name), format!("an attribute of the resolver `{namespace}`"));
                continue;
            }
            let answer = answer(kind.flatten(), value, &at.key(name), problems);
            if let Some(answer) = answer {
                given.answers.insert(namespace, name, answer);
            }
        }
    }
    Some(given)
}

fn members<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'j [(Cow<'j, str>, Json<'j>)]> {
    let members = json.as_object();
    if members.is_none() {
        problems.expected(at, format!("an object, not {}", json.kind()));
    }
    members
}

/// Reads one answer, of `kind` if that is known.
fn answer(
    kind: Option<AttributeKind>,
    value: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<AttributeAnswer> {
    match (kind, value) {
        (_, Json::Null) => Some(AttributeAnswer::Absent),
        (Some(kind), value) if !fits(kind, value) => {
            problems.expected(at, format!("{kind}, not {}", value.kind()));
            None
        }
        (None, Json::Object(_)) => {
            problems.expected(at, "the value of an attribute, not an object");
            None
        }
        (_, value) => Some(AttributeAnswer::Value(value.clone().into_owned())),
    }
}

fn fits(kind: AttributeKind, value: &Json<'_>) -> bool {
    match kind {
        AttributeKind::Text => matches!(value, Json::String(_)),
        AttributeKind::Number => matches!(value, Json::Number(_)),
        AttributeKind::Boolean => matches!(value, Json::Bool(_)),
        AttributeKind::Texts => each_fits(AttributeKind::Text, value),
        AttributeKind::Numbers => each_fits(AttributeKind::Number, value),
    }
}

fn each_fits(kind: AttributeKind, list: &Json<'_>) -> bool {
    list.as_array().is_some_and(|items| items.iter().all(|item| fits(kind, item)))
}
