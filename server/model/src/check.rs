//! The bodies of checks in the API's document. The engine declares and reads them ([`CheckBody`], [`LegacyCheckBody`]).

use portcullis_engine::batch::{BatchSemantic, MAX_ITEM_ID, MAX_ITEMS};
use portcullis_engine::names::names;
use portcullis_engine::request::{Attributes, CheckMembers, CheckText, LegacyCheckBody};
use portcullis_engine::{CheckBody, Effect};
use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::document;
use crate::relation::{MAX_ASSUMED, MAX_TUPLES, NewTuple, RELATIONS};
use crate::revision::revision_schema;
use crate::schema::{self, Input};

/// The body of a check.
pub struct CheckRequest;

document!(CheckRequest, naming NewTuple => {
    let mut description = Description::new(about_check);
    CheckBody::declare_compared(&mut description);
    let now = schema::instant().description(Some(
        "Stands for the present in conditions and resolvers; only with `explain=true`",
    ));
    let relations = schema::list(schema::named::<NewTuple>())
        .max_items(Some(MAX_TUPLES))
        .description(Some("Count beside the stored tuples; at most 100 without `explain=true`, with the right to assume"));
    let at_revision = revision_schema()
        .description(Some("The revision whose content decides; only with `explain=true`"));
    let input = description.input.optional("now", now).optional(RELATIONS, relations);
    input.optional("at_revision", at_revision).example(json!({
        "subject": "patient-4711",
        "resource": "chart:read",
        "action": "read",
        "attributes": {"resource": {"patient_id": "patient-4711"}},
    }))
});

/// The body of a batch.
pub struct BatchRequest;

document!(BatchRequest, naming NewTuple => {
    let id = schema::text(MAX_ITEM_ID).description(Some("Returned with the answer to the item"));
    let item = batch_members().optional("id", id);
    let items = schema::list(item).min_items(Some(1)).max_items(Some(MAX_ITEMS));
    let semantic = schema::choice(names::<BatchSemantic>())
        .description(Some("The item after which the batch ends; `execute_all` when absent"));
    batch_members()
        .required("checks", items)
        .optional("semantic", semantic)
        .about("Members that an item leaves out are taken from the body; each must be in one of the two")
        .example(json!({
            "subject": "patient-4711",
            "action": "read",
            "resource": "chart:read",
            "checks": [
                {"id": "a", "attributes": {"resource": {"patient_id": "patient-4711"}}},
                {"id": "b", "attributes": {"resource": {"patient_id": "patient-4712"}}},
            ],
        }))
});

/// Returns the members of a check, each of which the body or the item of a batch has.
fn batch_members() -> Input {
    let mut description = Description { are_optional: true, ..Description::new(about_check) };
    CheckBody::declare_compared(&mut description);
    let relations = schema::list(schema::named::<NewTuple>())
        .max_items(Some(MAX_ASSUMED))
        .description(Some("Count beside the stored tuples, with the right to assume"));
    description.input.optional(RELATIONS, relations)
}

/// A check in a file: the body of a check, whose instant is beside it.
pub struct FileCheck;

document!(FileCheck as "Check" => {
    let mut description = Description::new(about_check);
    CheckBody::declare(&mut description);
    description.input.about("The body of the check, as `POST /api/v1/check` has it")
});

/// The body of a legacy check.
pub struct LegacyCheckRequest;

document!(LegacyCheckRequest => {
    let mut description = Description::new(about_legacy_check);
    LegacyCheckBody::declare(&mut description);
    description.input.example(json!({"resource": "chart:read"}))
});

/// The schema of a check body, while a declaration names its members.
pub(crate) struct Description {
    input: Input,
    /// Returns the description of a member.
    about: fn(&str) -> Option<&'static str>,
    /// A member that a body must have may be absent.
    are_optional: bool,
}

impl Description {
    fn new(about: fn(&str) -> Option<&'static str>) -> Self {
        Self { input: schema::input(), about, are_optional: false }
    }

    /// Describes the members of a check.
    pub(crate) fn for_check() -> Input {
        let mut description = Self::new(about_check);
        CheckBody::declare(&mut description);
        description.input
    }

    /// Describes the members of a request that is about many resources, so far none.
    pub(crate) fn about_permissions() -> Self {
        Self::new(about_permissions)
    }

    /// Returns the schema of the members that were named.
    pub(crate) fn into_input(self) -> Input {
        self.input
    }

    fn text(&self, name: &str, text: CheckText) -> ObjectBuilder {
        let schema = match text {
            CheckText::UpTo(max) => schema::text(max),
            CheckText::Resource => schema::resource(),
        };
        match (self.about)(name) {
            Some(about) => schema.description(Some(about)),
            None => schema,
        }
    }
}

impl CheckMembers<'static> for Description {
    fn required(&mut self, name: &'static str, text: CheckText) -> Option<&'static str> {
        // An item of a batch may leave out any member that the body has.
        if self.are_optional {
            return self.optional(name, text);
        }
        self.input.add_required(name, self.text(name, text));
        None
    }

    fn optional(&mut self, name: &'static str, text: CheckText) -> Option<&'static str> {
        self.input.add(name, schema::nullable(self.text(name, text)));
        None
    }

    fn attributes(&mut self, name: &'static str) -> Option<Attributes<'static>> {
        self.input.add(name, schema::nullable(attributes_schema()));
        None
    }

    fn effect(&mut self, name: &'static str) -> Option<Effect> {
        let about = "What another system decided, for parity; it changes no decision";
        self.input.add(name, schema::nullable(schema::effect().description(Some(about))));
        None
    }
}

fn about_check(name: &str) -> Option<&'static str> {
    match name {
        "subject" => Some("Who is to be judged"),
        "action" => Some("What the subject wants to do; the verb of the resource when absent"),
        "domain" => Some("The caller's own when absent"),
        _ => None,
    }
}

fn about_permissions(name: &str) -> Option<&'static str> {
    match name {
        "subject" => Some("The caller when absent; required with a service key"),
        "domain" => Some("The caller's own when absent"),
        _ => None,
    }
}

fn about_legacy_check(name: &str) -> Option<&'static str> {
    match name {
        "action" => Some("The resource's verb when absent"),
        "subject" => Some("The caller when absent"),
        "domain" => Some("The caller's own when absent"),
        _ => None,
    }
}

/// Returns the schema of the attributes of a request.
pub(crate) fn attributes_schema() -> Input {
    let user = attribute_map_schema().description(Some("What policies read as `user.*`"));
    let resource = attribute_map_schema().description(Some("What policies read as `resource.*`"));
    let action = attribute_map_schema().description(Some("What policies read as `action.*`"));
    let context = attribute_map_schema().description(Some("What policies read as `context.*`"));
    schema::input()
        .optional("user", user)
        .optional("resource", resource)
        .optional("action", action)
        .optional("context", context)
        .about(
            "What policies read as `user.*`, `resource.*`, `action.*` and `context.*`; `user.roles` are the roles of a \
             subject other than the caller",
        )
}

/// Strings, numbers, booleans, lists of strings and numbers, and `null`, by name.
pub(crate) fn attribute_map_schema() -> ObjectBuilder {
    let scalar = schema::any_of_types([Type::String, Type::Number, Type::Boolean]);
    let items = schema::list(schema::any_of_types([Type::String, Type::Number]));
    let absent = "An absent attribute, which the directory does not supply either";
    let absent = schema::typed(Type::Null).description(Some(absent));
    schema::typed(Type::Object)
        .property_names(Some(schema::string()))
        .additional_properties(Some(schema::one_of([scalar.into(), items.into(), absent.into()])))
}

#[cfg(test)]
mod tests {
    use portcullis_engine::batch::BatchBody;
    use portcullis_engine::fields::Body;
    use portcullis_engine::json::parse;
    use utoipa::PartialSchema;

    use super::*;
    use crate::schema::AnySchema;

    #[test]
    fn examples_are_accepted() {
        let example = |schema: AnySchema| {
            let schema = serde_json::to_value(schema).expect("a schema");
            schema["examples"][0].to_string()
        };
        let check = example(CheckRequest::schema());
        let json = parse(check.as_bytes()).expect("JSON");
        CheckBody::parse(&json).expect("a check");
        let batch = example(BatchRequest::schema());
        let json = parse(batch.as_bytes()).expect("JSON");
        BatchBody::parse(&json).expect("a batch");
        let legacy = example(LegacyCheckRequest::schema());
        let json = parse(legacy.as_bytes()).expect("JSON");
        LegacyCheckBody::parse(&json).expect("a legacy check");
    }
}
