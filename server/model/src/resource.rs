//! Registered resources (`docs/semantics.md`, sections 3.5 and 3.6).

use portcullis_engine::fields::{Fields, list, within};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::{MAX_ACTION, MAX_SUBJECT, rule_field};
use portcullis_engine::resource::{registered_resource, split_resource};
use portcullis_engine::{Effect, Invalid, Json, ResourcePattern, RuleTuple};
use serde::Serialize;
use serde_json::json;
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::rule::NewRule;
use super::schema::{self, AnySchema};
use super::{Timestamp, short};

/// Most registrations of one bulk call.
pub const MAX_BULK: usize = 1_000;
/// Longest display name and service name, in characters.
const MAX_LABEL: usize = 256;

/// A resource as the store keeps it and the API shows it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRecord {
    pub id: Uuid,
    #[serde(rename = "tenant_id")]
    pub tenant_id: String,
    #[serde(flatten)]
    pub registration: Registration,
    #[serde(rename = "created_at")]
    pub created_at: Timestamp,
    #[serde(rename = "updated_at")]
    pub updated_at: Option<Timestamp>,
}

impl ToSchema for ResourceRecord {
    fn schemas(schemas: &mut Vec<(String, AnySchema)>) {
        schema::collect::<Timestamp>(schemas);
    }
}

impl PartialSchema for ResourceRecord {
    fn schema() -> AnySchema {
        schema::record()
            .field("id", schema::id())
            .field("tenant_id", schema::string())
            .field("name", schema::registered_resource())
            .field("displayName", schema::nullable(schema::string()))
            .field("serviceName", schema::nullable(schema::string()))
            .field("defaultRoles", schema::list(schema::string()))
            .field("created_at", schema::named::<Timestamp>())
            .field("updated_at", schema::nullable(schema::named::<Timestamp>()))
            .about("A registered resource")
            .example(json!({
                "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b63",
                "tenant_id": "hospital",
                "name": "x-ray:read",
                "displayName": "Look at X-rays",
                "serviceName": "radiology",
                "defaultRoles": ["doctor"],
                "created_at": "2026-05-16T09:30:00.000Z",
                "updated_at": null,
            }))
            .into()
    }
}

/// What a registration says; it replaces what was stored before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    pub name: String,
    pub display_name: Option<String>,
    pub service_name: Option<String>,
    /// Each role once.
    pub default_roles: Vec<String>,
}

impl Registration {
    /// Reads a registration that stands at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let name = fields.required("name", registered_resource);
        let display_name = fields.optional("displayName", short(MAX_LABEL));
        let service_name = fields.optional("serviceName", short(MAX_LABEL));
        let roles = fields.optional("defaultRoles", list(rule_field(MAX_SUBJECT)));
        fields.close();
        let mut default_roles: Vec<String> = Vec::new();
        for role in roles.unwrap_or_default() {
            if !default_roles.iter().any(|known| known == role) {
                default_roles.push(role.to_owned());
            }
        }
        if !default_roles.is_empty() && name.is_some_and(|name| !within(verb(name), MAX_ACTION)) {
            let what = format!(
                "a verb of at most {MAX_ACTION} characters, which the rules of default roles need"
            );
            problems.expected(&at.key("name"), what);
        }
        Some(Self { name: name?.to_owned(), display_name, service_name, default_roles })
    }

    /// Reads the body of a single registration.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let registration = Self::read(json, &Place::root(), &mut problems);
        problems.finish(registration)
    }

    /// Reads the body of a bulk registration: an array, or `{"resources": [...]}`.
    pub fn parse_bulk(json: &Json<'_>) -> Result<Vec<Self>, Invalid> {
        let mut problems = Problems::default();
        let at = Place::root();
        let registrations = if let Json::Array(_) = json {
            Self::read_all(json, &at, &mut problems)
        } else {
            Fields::open(json, &at, &mut problems).and_then(|mut fields| {
                let registrations = fields.required("resources", Self::read_all);
                fields.close();
                registrations
            })
        };
        problems.finish(registrations)
    }

    fn read_all(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<Self>> {
        if json.as_array().is_some_and(|items| items.len() > MAX_BULK) {
            problems.expected(at, format!("at most {MAX_BULK} registrations"));
            return None;
        }
        let registrations = list(Self::read)(json, at, problems)?;
        let mut names: Vec<(&str, usize)> = registrations
            .iter()
            .enumerate()
            .map(|(index, registration)| (&*registration.name, index))
            .collect();
        names.sort_unstable();
        for pair in names.windows(2) {
            if pair[0].0 == pair[1].0 {
                let at = at.index(pair[1].1);
                let name = pair[0].0;
                problems.expected(&at.key("name"), format!("`{name}` only once in one call"));
            }
        }
        Some(registrations)
    }

    /// The allow rule that the default role `role` stands for in `domain`.
    pub fn default_rule(&self, role: &str, domain: &str) -> NewRule {
        let tuple = RuleTuple {
            sub: role.to_owned(),
            dom: domain.to_owned(),
            obj: ResourcePattern::Exact(self.name.clone()),
            act: verb(&self.name).to_owned(),
        };
        NewRule { tuple, effect: Effect::Allow }
    }
}

impl ToSchema for Registration {}

impl PartialSchema for Registration {
    fn schema() -> AnySchema {
        let roles = schema::list(schema::rule_field(MAX_SUBJECT)).description(Some(
            "Each gets an allow rule for the resource and its verb, in the caller's domain; the verb then \
             has at most 128 characters",
        ));
        schema::input()
            .required("name", schema::registered_resource())
            .optional("displayName", schema::short(MAX_LABEL))
            .optional("serviceName", schema::short(MAX_LABEL))
            .optional("defaultRoles", roles)
            .about("It replaces what was stored under its name: what it leaves out becomes null or empty")
            .example(json!({
                "name": "x-ray:read",
                "displayName": "Look at X-rays",
                "serviceName": "radiology",
                "defaultRoles": ["doctor"],
            }))
            .into()
    }
}

/// The body of a bulk registration, as the document describes it.
pub struct BulkRegistration;

impl ToSchema for BulkRegistration {
    fn schemas(schemas: &mut Vec<(String, AnySchema)>) {
        schema::collect::<Registration>(schemas);
    }
}

impl PartialSchema for BulkRegistration {
    fn schema() -> AnySchema {
        let all = || {
            schema::list(schema::named::<Registration>())
                .max_items(Some(MAX_BULK))
                .description(Some("No name may be there twice"))
        };
        let wrapped = schema::input().required("resources", all());
        schema::one_of([all().into(), wrapped.into()])
    }
}

/// The verb of a resource's name.
fn verb(name: &str) -> &str {
    split_resource(name).map_or("", |(_, verb)| verb)
}
