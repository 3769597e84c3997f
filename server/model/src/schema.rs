//! The words in which the API's document describes values. Each stands for a reader: `text(256)` here says
//! what `fields::text(256)` accepts, and an [`Input`] names its members with the verbs of
//! `fields::Fields`, so that a schema beside a reader can be compared with it line by line.
//!
//! JSON Schema cannot say everything that a reader demands. What it leaves out, such as that a regular
//! expression compiles, stands in a description.

pub mod condition;

use serde_json::Value;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, ObjectBuilder, OneOfBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{MAX_URL, Timestamp};

/// U+0000 is refused everywhere.
const NO_NUL: &str = r"^[^\x00]*$";
const RESOURCE: &str = r"^[^\s\x00-\x1f\x7f-\x9f]+:[^\s\x00-\x1f\x7f-\x9f:]+$";
const REGISTERED_RESOURCE: &str = r"^[^*\s\x00-\x1f\x7f-\x9f]+:[^*\s\x00-\x1f\x7f-\x9f:]+$";
const RESOURCE_PATTERN: &str = r"^(\*|[^*\s\x00-\x1f\x7f-\x9f]+:(\*|[^*\s\x00-\x1f\x7f-\x9f:]+))$";
const RULE_FIELD: &str = r"^(\*|[^*\x00]+)$";
/// A host by its name: which literal addresses are taken depends on what they are and on the settings.
const URL: &str = concat!(
    r"^https://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?",
    r"(:[0-9]{1,4})?(/[!-~]*)?$"
);

/// What a schema is handed over as.
pub type AnySchema = RefOr<Schema>;

/// An object in a request: it has the members that are named, and no others.
pub struct Input(ObjectBuilder);

/// An [`Input`] without members so far.
pub fn input() -> Input {
    let closed = AdditionalProperties::FreeForm(false);
    Input(typed(Type::Object).additional_properties(Some(closed)))
}

impl Input {
    /// A member that must be there.
    pub fn required(self, name: &str, schema: impl Into<AnySchema>) -> Self {
        Self(self.0.property(name, schema).required(name))
    }

    /// A member that may be absent; `null` counts as absent.
    pub fn optional(self, name: &str, schema: impl Into<AnySchema>) -> Self {
        Self(self.0.property(name, nullable(schema)))
    }

    /// A member of an update: absent leaves the record as it is.
    pub fn change(self, name: &str, schema: impl Into<AnySchema>) -> Self {
        Self(self.0.property(name, schema))
    }

    /// A member of an update that `null` clears.
    pub fn clearable(self, name: &str, schema: impl Into<AnySchema>) -> Self {
        self.optional(name, schema)
    }

    pub fn about(self, description: &str) -> Self {
        Self(self.0.description(Some(description)))
    }

    /// What a request may look like.
    pub fn example(self, example: Value) -> Self {
        Self(self.0.examples([example]))
    }
}

impl From<Input> for AnySchema {
    fn from(input: Input) -> Self {
        input.0.into()
    }
}

/// An object in a response: it has every member that is named.
pub struct Record(ObjectBuilder);

/// A [`Record`] without members so far.
pub fn record() -> Record {
    Record(typed(Type::Object))
}

impl Record {
    pub fn field(self, name: &str, schema: impl Into<AnySchema>) -> Self {
        Self(self.0.property(name, schema).required(name))
    }

    pub fn about(self, description: &str) -> Self {
        Self(self.0.description(Some(description)))
    }

    pub fn example(self, example: Value) -> Self {
        Self(self.0.examples([example]))
    }
}

impl From<Record> for AnySchema {
    fn from(record: Record) -> Self {
        record.0.into()
    }
}

/// What `schema` describes, or `null`.
pub fn nullable(schema: impl Into<AnySchema>) -> AnySchema {
    match schema.into() {
        RefOr::T(Schema::Object(mut object)) => {
            object.schema_type = or_null(object.schema_type);
            if let Some(values) = &mut object.enum_values {
                values.push(Value::Null);
            }
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.schema_type = or_null(array.schema_type);
            RefOr::T(Schema::Array(array))
        }
        other => one_of([typed(Type::Null).into(), other]),
    }
}

fn or_null(schema_type: SchemaType) -> SchemaType {
    match schema_type {
        SchemaType::Type(one) => SchemaType::Array(vec![one, Type::Null]),
        other => other,
    }
}

/// Exactly one of `schemas`.
pub fn one_of(schemas: impl IntoIterator<Item = AnySchema>) -> AnySchema {
    schemas.into_iter().fold(OneOfBuilder::new(), OneOfBuilder::item).into()
}

/// The schema of `T`, by its name.
pub fn named<T: ToSchema>() -> AnySchema {
    Ref::from_schema_name(T::name()).into()
}

/// Adds the schema of `T` to those that the document names.
pub fn collect<T: ToSchema>(schemas: &mut Vec<(String, AnySchema)>) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}

/// Any value of one type.
pub fn typed(one: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(one)
}

/// One of these strings.
pub fn choice(values: impl IntoIterator<Item = &'static str>) -> ObjectBuilder {
    typed(Type::String).enum_values(Some(values))
}

/// `allow` or `deny`.
pub fn effect() -> ObjectBuilder {
    choice(["allow", "deny"])
}

/// A string of 1 to `max` characters.
pub fn text(max: usize) -> ObjectBuilder {
    short(max).min_length(Some(1))
}

/// A string of at most `max` characters, the empty one included.
pub fn short(max: usize) -> ObjectBuilder {
    string().max_length(Some(max))
}

/// A string of any length, the empty one included.
pub fn string() -> ObjectBuilder {
    typed(Type::String).pattern(Some(NO_NUL))
}

/// A string of a format.
fn formatted(format: &str) -> ObjectBuilder {
    typed(Type::String).format(Some(SchemaFormat::Custom(format.to_owned())))
}

/// A UUID.
pub fn id() -> ObjectBuilder {
    formatted("uuid")
}

/// An RFC 3339 date-time.
pub fn instant() -> ObjectBuilder {
    formatted("date-time")
}

/// `true` or `false`.
pub fn boolean() -> ObjectBuilder {
    typed(Type::Boolean)
}

/// An integer from `least` to `most`.
pub fn integer(least: i64, most: i64) -> ObjectBuilder {
    typed(Type::Integer).minimum(Some(least)).maximum(Some(most))
}

/// An array of `item`.
pub fn list(item: impl Into<AnySchema>) -> ArrayBuilder {
    ArrayBuilder::new().items(item.into())
}

/// `<name>:<verb>`
pub fn resource() -> ObjectBuilder {
    pattern(RESOURCE).description(Some("`<name>:<verb>`, split at the last colon"))
}

/// `<name>:<verb>` without `*`.
pub fn registered_resource() -> ObjectBuilder {
    pattern(REGISTERED_RESOURCE)
        .description(Some("`<name>:<verb>`, split at the last colon; unique in the tenant"))
}

/// `*`, `<name>:*` or `<name>:<verb>`.
pub fn resource_pattern() -> ObjectBuilder {
    pattern(RESOURCE_PATTERN).description(Some("`<name>:<verb>`, `<name>:*` or `*`"))
}

fn pattern(pattern: &str) -> ObjectBuilder {
    use portcullis_engine::resource::MAX_RESOURCE;
    typed(Type::String).pattern(Some(pattern)).max_length(Some(MAX_RESOURCE))
}

/// A field of a rule: `*`, or up to `max` characters without any `*`.
pub fn rule_field(max: usize) -> ObjectBuilder {
    text(max).pattern(Some(RULE_FIELD))
}

/// A URL that the service may be told to fetch.
pub fn url() -> ObjectBuilder {
    text(MAX_URL).pattern(Some(URL)).description(Some(
        "An `https` URL. A literal address will do as well as a name, if it is reachable from everywhere",
    ))
}

impl PartialSchema for Timestamp {
    fn schema() -> AnySchema {
        instant().description(Some("UTC, with milliseconds")).into()
    }
}

impl ToSchema for Timestamp {}

#[cfg(test)]
mod tests;
