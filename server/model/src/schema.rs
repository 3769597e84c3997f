//! The words of the API's document: schemas of values, of the objects in requests, and of the objects in responses.
//!
//! A request declares its members with `crate::input`, which pairs these words with readers. An answer derives `ToSchema`.
//! [`record`] is for an answer whose struct is in a crate without utoipa, or whose JSON has another shape than its struct.

mod document;
mod patterns;

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, SchemaFormat,
    SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};

use patterns::{ANY_URL, NO_NUL, REGISTERED_RESOURCE, RESOURCE, RESOURCE_PATTERN, RULE_FIELD, URL};

/// Longest URL, in characters.
pub(crate) const MAX_URL: usize = 2_048;
/// Any schema, written out or by its name.
pub type AnySchema = RefOr<Schema>;

/// An object in a request: it has the members that are named, and no others.
pub struct Input(Object);

/// An [`Input`] without members so far.
pub fn input() -> Input {
    let closed = AdditionalProperties::FreeForm(false);
    Input(typed(Type::Object).additional_properties(Some(closed)).build())
}

impl Input {
    /// With a member that must exist.
    pub fn required(mut self, name: &str, schema: impl Into<AnySchema>) -> Self {
        self.add_required(name, schema);
        self
    }

    /// With a member that may be absent.
    pub fn member(mut self, name: &str, schema: impl Into<AnySchema>) -> Self {
        self.add(name, schema);
        self
    }

    /// With a member that may be absent or `null`.
    pub fn optional(self, name: &str, schema: impl Into<AnySchema>) -> Self {
        self.member(name, nullable(schema))
    }

    /// Adds a member that must exist.
    pub fn add_required(&mut self, name: &str, schema: impl Into<AnySchema>) {
        self.0.required.push(name.to_owned());
        self.add(name, schema);
    }

    /// Adds a member that may be absent.
    pub fn add(&mut self, name: &str, schema: impl Into<AnySchema>) {
        self.0.properties.insert(name.to_owned(), schema.into());
    }

    /// With the members of `other`, each of which may be absent.
    pub fn optional_members_of(mut self, other: Self) -> Self {
        self.0.properties.extend(other.0.properties);
        self
    }

    /// With a title, by which an editor tells the forms of an object apart.
    pub fn titled(mut self, title: &str) -> Self {
        self.0.title = Some(title.to_owned());
        self
    }

    /// With a description.
    pub fn about(mut self, description: &str) -> Self {
        self.0.description = Some(description.to_owned());
        self
    }

    /// With an example of a request.
    pub fn example(mut self, example: Value) -> Self {
        self.0.examples.push(example);
        self
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
    /// With a member that always exists.
    pub fn field(self, name: &str, schema: impl Into<AnySchema>) -> Self {
        Self(self.0.property(name, schema).required(name))
    }

    /// With a member that may be absent.
    pub fn maybe(self, name: &str, schema: impl Into<AnySchema>) -> Self {
        Self(self.0.property(name, schema))
    }

    /// With a description.
    pub fn about(self, description: &str) -> Self {
        Self(self.0.description(Some(description)))
    }

    /// With an example of a response.
    pub fn example(self, example: Value) -> Self {
        Self(self.0.examples([example]))
    }
}

impl From<Record> for AnySchema {
    fn from(record: Record) -> Self {
        record.0.into()
    }
}

/// The values of `schema`, and `null`.
pub fn nullable(schema: impl Into<AnySchema>) -> AnySchema {
    match schema.into() {
        RefOr::T(Schema::Object(mut object)) => {
            object.schema_type = or_null(object.schema_type);
            // A list of values restricts `null` as well, so the type alone would not admit it.
            if let Some(values) = &mut object.enum_values {
                values.push(Value::Null);
            }
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.schema_type = or_null(array.schema_type);
            RefOr::T(Schema::Array(array))
        }
        // A reference has no type that could be extended.
        other => one_of([typed(Type::Null).into(), other]),
    }
}

fn or_null(schema_type: SchemaType) -> SchemaType {
    match schema_type {
        // A schema of any value, and one with a list of types, stay as they are.
        SchemaType::Type(one) => SchemaType::Array(vec![one, Type::Null]),
        other => other,
    }
}

/// `schema` with this description.
pub fn about(mut schema: AnySchema, description: &str) -> AnySchema {
    let place = match &mut schema {
        RefOr::Ref(reference) => {
            description.clone_into(&mut reference.description);
            return schema;
        }
        RefOr::T(Schema::Object(object)) => &mut object.description,
        RefOr::T(Schema::Array(array)) => &mut array.description,
        RefOr::T(Schema::OneOf(one_of)) => &mut one_of.description,
        // The other kinds of schemas are not made here, and go without a description.
        RefOr::T(_) => return schema,
    };
    *place = Some(description.to_owned());
    schema
}

/// `schema` with the value that stands for an absent one.
pub fn default(mut schema: AnySchema, value: impl Into<Value>) -> AnySchema {
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        object.default = Some(value.into());
    }
    schema
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

/// Any value, `null` included.
pub fn anything() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::AnyValue)
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

/// A value of one of these types. The pattern is about strings alone: U+0000 is refused everywhere.
pub(crate) fn any_of_types<const N: usize>(types: [Type; N]) -> ObjectBuilder {
    string().schema_type(SchemaType::from_iter(types))
}

/// A string in a format.
pub fn formatted(format: &str) -> ObjectBuilder {
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

/// An object of any members, which `about` describes.
pub fn any_object(about: &str) -> ObjectBuilder {
    let any = AdditionalProperties::FreeForm(true);
    typed(Type::Object).additional_properties(Some(any)).description(Some(about))
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
        "An `https` URL. Its host is a name, or a literal address that is public",
    ))
}

/// A URL in a file. The settings of the service that reads it say whether the URL may have `http` and which addresses.
pub fn any_url() -> ObjectBuilder {
    text(MAX_URL).pattern(Some(ANY_URL)).description(Some(
        "An `https` URL, or an `http` URL where the settings of the service allow it",
    ))
}

#[cfg(test)]
mod tests;
