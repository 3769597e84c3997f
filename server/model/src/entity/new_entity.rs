//! Entities as clients send them (`docs/semantics.md`, section 12.1).

use std::borrow::Cow;
use std::collections::BTreeMap;

use portcullis_engine::Json;
use portcullis_engine::entities::principal;
use portcullis_engine::fields::{text as read_text, within};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::{MAX_DOMAIN, MAX_SUBJECT};
use portcullis_engine::request::{ATTRIBUTE_VALUE, is_attribute_value};
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::schema::Type;

use crate::fields::{by_name, each_once, list, members, owned, text};
use crate::input::{self, Field, Members, field};
use crate::schema::AnySchema;
use crate::{document, schema};

/// Longest type of an entity, in characters.
pub const MAX_TYPE: usize = 128;
/// Completes "expected …" for a text that is not the type of an entity.
pub(super) const TYPE_RULE: &str = "a type without `:`, white space and control characters";
/// Longest id of an entity, in characters: as the subject of a check.
pub const MAX_ID: usize = MAX_SUBJECT;
/// Longest role, in characters: as the `sub` of a rule.
const MAX_ROLE: usize = MAX_SUBJECT;
/// Most roles of an entity in one domain, or without one: each is looked up by each check of the entity.
const MAX_ROLES: usize = 100;
/// Most domains in which an entity has roles.
pub(super) const MAX_DOMAINS: usize = 1_000;
/// Most properties of an entity.
pub(super) const MAX_PROPERTIES: usize = 100;
/// Longest name of a property, in characters.
pub(crate) const MAX_PROPERTY_NAME: usize = 128;
/// Most bytes of the roles, roles by domain and properties of an entity, as JSON. A million of them must fit.
pub(super) const MAX_BYTES: usize = 16 * 1024;

/// The roles of an entity by domain.
pub type DomainRoles = BTreeMap<String, Vec<String>>;

/// The properties of an entity by name. A value has a type that an attribute of a check may have; one that is sent as `null` is
/// not kept.
pub type Properties = BTreeMap<String, Json<'static>>;

/// An entity as a client sends it.
#[derive(Clone, Debug)]
pub struct NewEntity {
    /// The type: 1 to 128 characters without `:`, white space and control characters.
    pub kind: String,
    /// The id: 1 to 256 characters, unique within the type.
    pub id: String,
    /// The roles in every domain, each once.
    pub roles: Vec<String>,
    /// The roles in some domains.
    pub domain_roles: DomainRoles,
    pub properties: Properties,
}

impl NewEntity {
    /// Reads the entity at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entity = input::read(json, at, problems, Self::declare)?;
        entity.check(at, problems);
        Some(entity)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let kind = members.required("type", entity_type());
        let id = members.required("id", text(MAX_ID).about("Unique within the type"));
        let content = Self::declare_content(members);
        Some(Self { kind: kind?, id: id?, ..content })
    }

    /// Reads the members beside type and id.
    pub(super) fn declare_content(members: &mut Members<'_, '_>) -> Self {
        let about = "The roles in some domains, by domain";
        let roles = members.optional("roles", roles().about("The roles in every domain"));
        let domain_roles = members.optional("domain_roles", domain_roles().about(about));
        let about = "The attributes that a check of the entity may leave out";
        let properties = members.optional("properties", properties().about(about));
        Self {
            kind: String::new(),
            id: String::new(),
            roles: roles.unwrap_or_default(),
            domain_roles: domain_roles.unwrap_or_default(),
            properties: properties.map(present).unwrap_or_default(),
        }
    }

    /// Notes what exceeds the limits of the entity at `at`.
    pub(super) fn check(&self, at: &Place<'_>, problems: &mut Problems) {
        // Type and id fit separately, but together they are the subject of checks and rules.
        if !within(&self.principal(), MAX_SUBJECT) {
            let what = format!("at most {MAX_SUBJECT} characters of type, `:` and id together");
            problems.expected(&at.key("id"), what);
        }
        check_roles(&self.roles, &at.key("roles"), problems);
        let at_domains = at.key("domain_roles");
        if self.domain_roles.len() > MAX_DOMAINS {
            problems.expected(&at_domains, format!("at most {MAX_DOMAINS} domains"));
        }
        for (domain, roles) in &self.domain_roles {
            check_roles(roles, &at_domains.key(domain), problems);
        }
        let at_properties = at.key("properties");
        if self.properties.len() > MAX_PROPERTIES {
            problems.expected(&at_properties, format!("at most {MAX_PROPERTIES} properties"));
        }
        for name in self.properties.keys() {
            if !within(name, MAX_PROPERTY_NAME) {
                let what = format!("a name of 1 to {MAX_PROPERTY_NAME} characters");
                problems.expected(&at_properties.key(name), what);
            } else if name == "roles" {
                let what = "no property `roles`; send the roles as `roles` of the entity";
                problems.expected(&at_properties.key(name), what);
            }
        }
        // The type and the id do not count, because they have limits of their own.
        let bytes = json_bytes(&(&self.roles, &self.domain_roles, &self.properties));
        if bytes > MAX_BYTES {
            problems.expected(at, format!("an entity of at most {MAX_BYTES} bytes, not {bytes}"));
        }
    }

    /// Returns the string by which rules match the entity (`docs/semantics.md`, section 12.3).
    pub fn principal(&self) -> Cow<'_, str> {
        principal(&self.kind, &self.id)
    }

    /// Returns every role that the entity has in some domain or in all.
    pub fn every_role(&self) -> impl Iterator<Item = &str> {
        let in_domains = self.domain_roles.values().flatten();
        self.roles.iter().chain(in_domains).map(String::as_str)
    }
}

fn check_roles(roles: &[String], at: &Place<'_>, problems: &mut Problems) {
    if roles.len() > MAX_ROLES {
        problems.expected(at, format!("at most {MAX_ROLES} roles"));
    }
}

/// Returns the bytes of `content` as JSON.
pub(super) fn json_bytes(content: &impl Serialize) -> usize {
    serde_json::to_string(content).map_or(0, |text| text.len())
}

document!(NewEntity => {
    input::describe(NewEntity::declare)
        .about("An entity; it replaces the stored one of the same type and id")
        .example(json!({
            "type": "user",
            "id": "alice",
            "roles": ["doctor"],
            "domain_roles": {"ws-1": ["owner"]},
            "properties": {"ward": "er", "clearance": 3},
        }))
});

/// Returns whether `text` can be the type of an entity.
pub fn is_type(text: &str) -> bool {
    within(text, MAX_TYPE)
        && !text.contains(|one: char| one == ':' || one.is_whitespace() || one.is_control())
}

/// A type of entities.
pub(crate) fn entity_type<'j>() -> impl Field<'j, Value = String> {
    owned(read_type, || schema::text(MAX_TYPE).pattern(Some(r"^[^:\s\x00-\x1f\x7f-\x9f]+$")))
}

fn read_type<'j>(json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems) -> Option<&'j str> {
    let text = read_text(MAX_TYPE)(json, at, problems)?;
    if !is_type(text) {
        problems.expected(at, TYPE_RULE);
        return None;
    }
    Some(text)
}

pub(super) fn roles<'j>() -> impl Field<'j, Value = Vec<String>> {
    list(text(MAX_ROLE)).map(each_once)
}

/// Roles by domain.
pub(super) fn domain_roles<'j>() -> impl Field<'j, Value = DomainRoles> {
    let by_domain = by_name(roles());
    // The schema is taken here, because the closure that reads takes the field.
    let schema = by_domain.schema();
    let read = move |json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems| {
        let domains = by_domain.read(json, at, problems)?;
        if domains.keys().any(|domain| !within(domain, MAX_DOMAIN)) {
            problems.expected(at, format!("domains of 1 to {MAX_DOMAIN} characters"));
        }
        Some(domains)
    };
    field(read, move || schema.clone())
}

pub(super) fn properties<'j>() -> impl Field<'j, Value = Properties> {
    field(read_properties, || {
        let value = schema::one_of([
            schema::string().into(),
            schema::typed(Type::Number).into(),
            schema::boolean().into(),
            schema::list(item_schema()).into(),
            schema::typed(Type::Null).description(Some("An absent property")).into(),
        ]);
        schema::typed(Type::Object)
            .additional_properties(Some(value))
            .property_names(Some(schema::text(MAX_PROPERTY_NAME)))
            .max_properties(Some(MAX_PROPERTIES))
    })
}

/// An item of a property that is a list.
pub(super) fn item_schema() -> AnySchema {
    schema::one_of([schema::string().into(), schema::typed(Type::Number).into()])
}

/// Returns the properties that are not `null`.
fn present(mut properties: Properties) -> Properties {
    properties.retain(|_, value| *value != Json::Null);
    properties
}

/// Reads properties, with those that are `null`.
fn read_properties(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Properties> {
    let mut properties = Properties::new();
    for (name, value) in members(json, at, problems)? {
        match is_attribute_value(value) {
            // The value outlives the body, so it may not borrow from it.
            true => drop(properties.insert(name.to_string(), value.clone().into_owned())),
            false => {
                problems.expected(&at.key(name), ATTRIBUTE_VALUE);
            }
        }
    }
    Some(properties)
}
