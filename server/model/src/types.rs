//! Types of a tenant: the properties of its subjects, resources, `context` and `action` (`docs/semantics.md`,
//! section 12.9).

use std::collections::BTreeMap;

use portcullis_engine::fields::within;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::relation::RelationNames;
use portcullis_engine::types::{ACTION, CONTEXT, Property, PropertySource, Types, USER};
use portcullis_engine::{Invalid, Json, KnownProperty, PropertySources};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::authorship::managed_record;
use crate::entity::{MAX_PROPERTY_NAME, entity_type};
use crate::fields::{Names, map, named, text, variant};
use crate::input::{self, DeclaredBody, Field, Members, object};
use crate::relation_declaration::{
    RelationDeclaration, RelationDeclarations, relations, stored_relations,
};
use crate::value_type::{ValueType, value_type};
use crate::{Authorship, SignedRecord, document, schema};

/// Most types of a tenant: each plan of the tenant may need them.
pub const MAX_TYPES: usize = 100;
/// Most properties of a type.
const MAX_PROPERTIES: usize = 200;
/// Longest description of a type or property, in characters.
const MAX_ABOUT: usize = 500;

/// The properties of a type by name.
pub type PropertyDeclarations = BTreeMap<String, PropertyDeclaration>;

/// A property as it is declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyDeclaration {
    #[serde(rename = "type")]
    pub kind: ValueType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The only place that the property is taken from; `None` for every place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PropertySource>,
}

impl PropertyDeclaration {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let from = variant().about(
            "The only place that the property is taken from; when absent, the request and the directory",
        );
        let kind = members.required("type", value_type().about("The type of the values"));
        let about =
            members.optional("about", text(MAX_ABOUT).about("A sentence for people: what it says"));
        let from = members.optional("from", from);
        Some(Self { kind: kind?, about, from })
    }

    /// Returns what decisions know of the property; `None` if they need to know nothing.
    pub fn known(&self) -> Option<KnownProperty> {
        // A property without either one is a plain value, which decisions look up in both places.
        let to = self.kind.to.as_deref().map(Box::from);
        (self.from.is_some() || to.is_some()).then_some(KnownProperty { from: self.from, to })
    }
}

document!(PropertyDeclaration as "Property" => {
    input::describe(PropertyDeclaration::declare)
        .about("A property of a type")
        .example(json!({"type": "boolean", "about": "Nobody outside reads it", "from": "directory"}))
});

/// A type that a bundle or the file `types.yaml` declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewType {
    /// The type: a type of entities, `user`, `context` or `action`.
    pub kind: String,
    pub about: Option<String>,
    pub properties: PropertyDeclarations,
    pub relations: RelationDeclarations,
}

impl NewType {
    /// Returns what the type declares.
    pub fn declared(&self) -> DeclaredType<'_> {
        (&self.kind, &self.properties, &self.relations)
    }

    /// Reads the type at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let read = input::read(json, at, problems, Self::declare)?;
        read.check(at, problems);
        Some(read)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let about = "A type of entities and resources, or `user`, `context` or `action`; unique";
        let kind = members.required("type", entity_type().about(about));
        let rest = declare_rest(members);
        Some(Self { kind: kind?, ..rest })
    }

    /// Notes each property that comes from a place that has none of the type, and relations of what is not an object.
    fn check(&self, at: &Place<'_>, problems: &mut Problems) {
        let kind = &*self.kind;
        if matches!(kind, CONTEXT | ACTION) && !self.relations.is_empty() {
            let what = "no relations: neither `context` nor `action` is an object";
            problems.expected(&at.key("relations"), what);
        }
        for (name, property) in &self.properties {
            // Only the subject has a token, and the directory holds entities alone.
            let expected = match property.from {
                Some(PropertySource::Token) if kind != USER => {
                    "`request` or `directory`: only properties of `user` can be claims of a token"
                }
                Some(PropertySource::Directory) if matches!(kind, CONTEXT | ACTION) => {
                    "`request`: the directory has neither `context` nor `action`"
                }
                _ => continue,
            };
            problems.expected(&at.key("properties").key(name).key("from"), expected);
        }
        self.check_references(&at.key("properties"), problems);
    }

    /// Notes each reference that no object can have, and each property whose name would be behind one.
    fn check_references(&self, at: &Place<'_>, problems: &mut Problems) {
        let references = self.properties.iter().filter(|(_, property)| property.kind.to.is_some());
        for (reference, property) in references {
            if matches!(&*self.kind, CONTEXT | ACTION) {
                let what = "another type: neither `context` nor `action` refers to entities";
                problems.expected(&at.key(reference).key("type"), what);
            }
            if matches!(property.kind.to.as_deref(), Some(CONTEXT | ACTION)) {
                let what =
                    "a reference to a type of entities, which neither `context` nor `action` is";
                problems.expected(&at.key(reference).key("type"), what);
            }
            // A path goes on behind a reference into the entity, so a property of such a name could never be reached.
            let behind = format!("{reference}.");
            for name in self.properties.keys().filter(|name| name.starts_with(&behind)) {
                let what = format!(
                    "a name that does not begin with `{behind}`: `{reference}` is a reference, and what is behind it belongs to its type"
                );
                problems.expected(&at.key(name), what);
            }
        }
    }

    /// Returns the record of a new type.
    pub fn into_record(self, by: &Authorship) -> TypeRecord {
        TypeRecord {
            kind: self.kind,
            about: self.about,
            properties: self.properties,
            relations: self.relations,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
            managed_by: None,
        }
    }
}

document!(NewType, naming PropertyDeclaration, RelationDeclaration => {
    input::describe(NewType::declare).about("A type, its properties and its relations").example(json!({
        "type": "document",
        "about": "A file of a customer",
        "properties": {
            "confidential": {"type": "boolean", "from": "directory"},
            "readers": {"type": "list<text>"},
        },
        "relations": {
            "owner": "[user]",
            "viewer": "[user, user:*] || owner",
        },
    }))
});

/// The body of `PUT /api/v1/types/{type}`.
#[derive(Clone, Debug)]
pub struct TypeBody {
    kind: Option<String>,
    rest: NewType,
}

impl DeclaredBody<'_> for TypeBody {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let about = "The type, which the path names";
        let kind = members.optional("type", entity_type().about(about));
        let rest = declare_rest(members);
        Some(Self { kind, rest })
    }
}

impl TypeBody {
    /// Returns the type, which the path calls `name`.
    ///
    /// # Errors
    /// The body names another type, or declares what the type cannot have.
    pub fn into_type(self, name: &str) -> Result<NewType, Invalid> {
        if self.kind.is_some_and(|kind| kind != name) {
            let what = format!("`{name}`, the type of the path; it may be left out");
            return Err(Invalid::expected("/type", what));
        }
        let declared = NewType { kind: name.to_owned(), ..self.rest };
        let mut problems = Problems::default();
        // The checks depend on the name of the type, which the body may leave out.
        declared.check(&Place::root(), &mut problems);
        problems.finish(Some(declared))
    }
}

document!(TypeBody, naming PropertyDeclaration, RelationDeclaration => {
    input::describe(TypeBody::declare)
        .about("A type; it replaces the one from before")
        .example(json!({
            "properties": {"confidential": {"type": "boolean"}},
            "relations": {"owner": "[user]", "viewer": "[user] || owner"},
        }))
});

managed_record! {
    /// A type as the store keeps it and the API shows it.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
    #[schema(examples(json!({
        "type": "document",
        "about": "A file of a customer",
        "properties": {"confidential": {"type": "boolean", "from": "directory"}},
        "relations": {"owner": "[user]", "viewer": "[user, user:*] || owner"},
        "created_by": "ines-admin",
        "created_at": "2026-05-16T09:30:00.000Z",
        "updated_by": null,
        "updated_at": null,
        "managed_by": null,
    })))]
    pub struct TypeRecord {
        #[serde(rename = "type")]
        pub kind: String,
        #[schema(required)]
        pub about: Option<String>,
        #[schema(value_type = BTreeMap<String, PropertyDeclaration>)]
        pub properties: PropertyDeclarations,
        #[serde(deserialize_with = "stored_relations")]
        #[schema(value_type = BTreeMap<String, RelationDeclaration>)]
        pub relations: RelationDeclarations,
    }
}

impl TypeRecord {
    /// Returns what the type declares.
    pub fn declared(&self) -> DeclaredType<'_> {
        (&self.kind, &self.properties, &self.relations)
    }

    /// Returns whether the record says what `declared` does.
    pub fn says(&self, declared: &NewType) -> bool {
        let NewType { about, properties, relations, .. } = declared;
        (&self.about, &self.properties, &self.relations) == (about, properties, relations)
    }

    /// Returns the type with another declaration.
    #[must_use]
    pub fn with(self, declared: NewType, by: &Authorship) -> Self {
        let NewType { about, properties, relations, .. } = declared;
        Self { about, properties, relations, ..self.signed(by) }
    }
}

/// A type with its properties and relations.
pub type DeclaredType<'t> = (&'t str, &'t PropertyDeclarations, &'t RelationDeclarations);

/// Returns the declarations as conditions, rules and entities are checked against them.
pub fn declared_types<'t>(types: impl IntoIterator<Item = DeclaredType<'t>>) -> Types {
    // The types are read twice: once for the names of their relations, and once for their properties.
    let types: Vec<_> = types.into_iter().collect();
    let relations = types.iter().map(|(kind, _, relations)| {
        ((*kind).to_owned(), relations.keys().cloned().collect::<Vec<_>>())
    });
    let relations = relations.collect::<RelationNames>();
    let types = types.iter().map(|(kind, properties, _)| {
        let properties = properties.iter().map(|(name, declared)| {
            let ValueType { kind, to } = declared.kind.clone();
            (name.clone(), Property { kind, to, from: declared.from })
        });
        ((*kind).to_owned(), properties)
    });
    types.collect::<Types>().with_relations(relations)
}

/// Returns what decisions know of the properties of types.
pub fn property_sources<'t>(types: impl IntoIterator<Item = DeclaredType<'t>>) -> PropertySources {
    let types = types.into_iter().map(|(kind, properties, _)| {
        let known = properties.iter().filter_map(|(name, one)| Some((name.clone(), one.known()?)));
        (kind.to_owned(), known.collect::<Vec<_>>())
    });
    types.collect()
}

/// Returns what is expected of the types of a tenant, if it has too many.
pub fn exceeded_limit(types: usize) -> Option<String> {
    (types > MAX_TYPES).then(|| format!("at most {MAX_TYPES} types"))
}

/// Reads the members beside the name of the type.
fn declare_rest(members: &mut Members<'_, '_>) -> NewType {
    let about =
        members.optional("about", text(MAX_ABOUT).about("A sentence for people: what it is"));
    let properties = members.optional("properties", properties());
    let relations = members.optional("relations", relations());
    NewType {
        // The callers know the type, and put it in place of this text.
        kind: String::new(),
        about,
        properties: properties.unwrap_or_default(),
        relations: relations.unwrap_or_default(),
    }
}

fn properties<'j>() -> impl Field<'j, Value = PropertyDeclarations> {
    let names = Names { fault: property_fault, schema: || schema::text(MAX_PROPERTY_NAME) };
    let property = named::<PropertyDeclaration, _>(object(PropertyDeclaration::declare));
    map(MAX_PROPERTIES, "properties", names, property).about("The attributes of the type, by name")
}

fn property_fault(name: &str) -> Option<String> {
    (!within(name, MAX_PROPERTY_NAME))
        .then(|| format!("a name of 1 to {MAX_PROPERTY_NAME} characters"))
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json;
    use portcullis_engine::types::PropertyType;

    use super::*;

    fn parsed<T>(
        text: &str,
        read: impl FnOnce(&Json<'_>) -> Result<T, Invalid>,
    ) -> Result<T, String> {
        let json = json::parse(text.as_bytes()).expect("JSON");
        read(&json).map_err(|invalid| invalid.to_string())
    }

    fn new_type(text: &str) -> Result<NewType, String> {
        parsed(text, |json| {
            let mut problems = Problems::default();
            let read = NewType::read(json, &Place::root(), &mut problems);
            problems.finish(read)
        })
    }

    #[test]
    fn a_type_has_what_was_sent() {
        let text = r#"{"type": "user", "about": "Staff", "properties": {
            "hired": {"type": "datetime", "from": "directory"},
            "groups": {"type": "list<text>", "about": "Of the token", "from": "token"},
            "manager": {"type": "ref<user>"}}}"#;
        let read = new_type(text).expect("sound");
        let sent: serde_json::Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(json!(read.properties), sent["properties"]);
        let types = declared_types([read.declared()]);
        let hired = Property {
            kind: PropertyType::Datetime,
            to: None,
            from: Some(PropertySource::Directory),
        };
        assert_eq!(types.property("user", "hired"), Some(&hired));
        let manager = Property { kind: PropertyType::Text, to: Some("user".into()), from: None };
        assert_eq!(types.property("user", "manager"), Some(&manager));
        assert_eq!(types.property("chart", "hired"), None);
    }

    #[test]
    fn faults_have_their_place() {
        let long = "x".repeat(129);
        let many: Vec<_> =
            (0..=MAX_PROPERTIES).map(|n| format!(r#""p{n}": {{"type": "text"}}"#)).collect();
        for (sent, fault) in [
            ("{}".to_owned(), "field `type` is missing"),
            (r#"{"type": "a:b"}"#.to_owned(), "at `/type`: expected a type without `:`, white space and control characters"),
            (r#"{"type": "d", "propertys": {}}"#.to_owned(), "field `propertys` is unknown; did you mean `properties`?"),
            (
                r#"{"type": "d", "relations": {"a": "[user", "id": "[user]"}}"#.to_owned(),
                "at `/relations/a`: expected `,`, `]`, `#` and a relation, or `:*`, where the text ends at position 5; at `/relations/id`: expected a name of letters, digits and `_`, of at most 128 characters, neither `id` nor `type`",
            ),
            (
                r#"{"type": "d", "relations": {"a": "[user]", "b": {"from": "[user]", "renamed_from": "a"}}}"#.to_owned(),
                "at `/relations/b/renamed_from`: expected the name of a relation that the type does not have any more",
            ),
            (
                r#"{"type": "context", "relations": {"a": "[user]"}}"#.to_owned(),
                "at `/relations`: expected no relations: neither `context` nor `action` is an object",
            ),
            (r#"{"type": "d", "properties": {"a": {}}}"#.to_owned(), "at `/properties/a`: field `type` is missing"),
            (
                r#"{"type": "d", "properties": {"a": {"type": "string"}}}"#.to_owned(),
                "at `/properties/a/type`: expected `text`, `number`, `boolean`, `datetime`, `ip`, `list<text>`, `list<number>` or `ref<type>`",
            ),
            (
                r#"{"type": "d", "properties": {"a": {"type": "text", "from": "cookie"}}}"#.to_owned(),
                "at `/properties/a/from`: expected `request`, `token` or `directory`",
            ),
            (
                r#"{"type": "d", "properties": {"a": {"type": "text", "from": "token"}}}"#.to_owned(),
                "at `/properties/a/from`: expected `request` or `directory`: only properties of `user` can be claims of a token",
            ),
            (
                r#"{"type": "context", "properties": {"a": {"type": "text", "from": "directory"}}}"#.to_owned(),
                "at `/properties/a/from`: expected `request`: the directory has neither `context` nor `action`",
            ),
            (
                r#"{"type": "d", "properties": {"a": {"type": "ref<a:b>"}}}"#.to_owned(),
                "at `/properties/a/type`: expected `text`, `number`, `boolean`, `datetime`, `ip`, `list<text>`, `list<number>` or `ref<type>`",
            ),
            (
                r#"{"type": "d", "properties": {"a": {"type": "ref<d>"}, "a.b": {"type": "text"}, "ab": {"type": "text"}}}"#.to_owned(),
                "at `/properties/a.b`: expected a name that does not begin with `a.`: `a` is a reference, and what is behind it belongs to its type",
            ),
            (
                r#"{"type": "context", "properties": {"a": {"type": "ref<d>"}}}"#.to_owned(),
                "at `/properties/a/type`: expected another type: neither `context` nor `action` refers to entities",
            ),
            (
                r#"{"type": "d", "properties": {"a": {"type": "ref<context>"}}}"#.to_owned(),
                "at `/properties/a/type`: expected a reference to a type of entities, which neither `context` nor `action` is",
            ),
            (
                r#"{"type": "d", "properties": {"": {"type": "text"}}}"#.to_owned(),
                "at `/properties/`: expected a name of 1 to 128 characters",
            ),
            (
                format!(r#"{{"type": "d", "properties": {{"{long}": {{"type": "text"}}}}}}"#),
                &*format!("at `/properties/{long}`: expected a name of 1 to 128 characters"),
            ),
            (
                format!(r#"{{"type": "d", "properties": {{{}}}}}"#, many.join(",")),
                "at `/properties`: expected at most 200 properties",
            ),
            (
                format!(r#"{{"type": "d", "about": "{}"}}"#, long.repeat(4)),
                "at `/about`: expected 1 to 500 characters",
            ),
        ] {
            let found = new_type(&sent).expect_err(fault);
            assert_eq!(found, fault);
        }
    }

    #[test]
    fn a_body_is_of_the_type_of_its_path() {
        let body = |text| parsed(text, |json| TypeBody::parse(json)?.into_type("document"));
        let bare = body(r#"{"properties": {"a": {"type": "ip"}}}"#).expect("sound");
        let named = body(r#"{"type": "document", "properties": {"a": {"type": "ip"}}}"#);
        assert_eq!(named, Ok(bare));
        assert_eq!(
            body(r#"{"type": "chart"}"#).expect_err("another type"),
            "at `/type`: expected `document`, the type of the path; it may be left out"
        );
        let of_token = body(r#"{"properties": {"a": {"type": "ip", "from": "token"}}}"#);
        assert!(of_token.expect_err("no subject").starts_with("at `/properties/a/from`"));
    }

    #[test]
    fn the_types_of_a_tenant_are_bounded() {
        assert_eq!(exceeded_limit(MAX_TYPES), None);
        assert_eq!(exceeded_limit(MAX_TYPES + 1).as_deref(), Some("at most 100 types"));
    }
}
