//! Registered resources (`docs/semantics.md`, sections 3.5 and 3.6).

use portcullis_engine::excerpt::quoted;
use portcullis_engine::fields::within;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::nearest::nearest;
use portcullis_engine::rbac::{MAX_ACTION, MAX_SUBJECT};
use portcullis_engine::resource::split_resource;
use portcullis_engine::{Effect, Invalid, Json, ResourcePattern, RuleTuple};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::authorship::signed_record;
use crate::fields::{at_most, each_once, list, registered_resource, rule_field, short};
use crate::input::{self, Field, Members, field};
use crate::rule::NewRule;
use crate::{Timestamp, document, schema};

/// Most registrations of one bulk call.
pub const MAX_BULK: usize = 1_000;
/// Most default roles of one call. Each makes a rule, and other tenants' writes may wait for the transaction.
const MAX_ROLES: usize = 10_000;
/// Longest display name and service name, in characters.
const MAX_LABEL: usize = 256;

/// Returns the end of the reason of a denial by default: the resource is not among the `registered` ones, and no rule or
/// policy names it. It names the nearest registered one. Empty if the resource is known, or if none is registered.
pub fn doubt_about_resource<'r>(
    resource: &str,
    is_known: bool,
    registered: impl IntoIterator<Item = &'r str>,
) -> String {
    let mut registered = registered.into_iter().peekable();
    // Where no resource is registered, the tenant does not use registration, and a doubt would tell nothing.
    if is_known || registered.peek().is_none() {
        return String::new();
    }
    let meant = nearest(resource, registered);
    let meant = meant.map(|name| format!("; did you mean {}?", quoted(name))).unwrap_or_default();
    let resource = quoted(resource);
    format!("; the resource {resource} is not registered, and no rule or policy names it{meant}")
}

/// A resource as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The owner, if it is managed.
    #[serde(rename = "managed_by")]
    pub managed_by: Option<String>,
}

signed_record!(ResourceRecord { updated_at });

document!(ResourceRecord, naming Timestamp => {
    schema::record()
        .field("id", schema::id())
        .field("tenant_id", schema::string())
        .field("name", schema::registered_resource())
        .field("displayName", schema::nullable(schema::string()))
        .field("serviceName", schema::nullable(schema::string()))
        .field("defaultRoles", schema::list(schema::string()))
        .field("created_at", schema::named::<Timestamp>())
        .field("updated_at", schema::nullable(schema::named::<Timestamp>()))
        .field("managed_by", schema::nullable(schema::string()))
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
            "managed_by": null,
        }))
});

/// A registration; it replaces the stored one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    pub name: String,
    pub display_name: Option<String>,
    pub service_name: Option<String>,
    /// Each role once.
    pub default_roles: Vec<String>,
}

impl Registration {
    /// Reads the registration at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let registration = input::read(json, at, problems, Self::declare)?;
        let needs_rules = !registration.default_roles.is_empty();
        // A verb may be longer than an action, but here it becomes the action of a rule.
        if needs_rules && !within(verb(&registration.name), MAX_ACTION) {
            let what = format!(
                "a verb of at most {MAX_ACTION} characters, because `defaultRoles` makes rules with it"
            );
            problems.expected(&at.key("name"), what);
        }
        if registration.default_roles.len() > MAX_ROLES {
            problems.expected(&at.key("defaultRoles"), format!("at most {MAX_ROLES} roles"));
        }
        Some(registration)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let roles = list(rule_field(MAX_SUBJECT)).about(
            "Each gets an allow rule for the resource and its verb, in the domain of the caller, in files of \
             the tenant; the verb then has at most 128 characters",
        );
        let display_name = short(MAX_LABEL).about("The name that people see");
        let service_name = short(MAX_LABEL).about("The service that has the resource");
        let name = members.required("name", registered_resource());
        let display_name = members.optional("displayName", display_name);
        let service_name = members.optional("serviceName", service_name);
        let default_roles = each_once(members.optional("defaultRoles", roles).unwrap_or_default());
        Some(Self { name: name?, display_name, service_name, default_roles })
    }

    /// Reads the body of a single registration.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let registration = Self::read(json, &Place::root(), &mut problems);
        problems.finish(registration)
    }

    /// Returns the allow rule of the default role `role` in `domain`.
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

document!(Registration => {
    input::describe(Registration::declare)
        .about("It replaces what was stored under its name: what it leaves out becomes null or empty")
        .example(json!({
            "name": "x-ray:read",
            "displayName": "Look at X-rays",
            "serviceName": "radiology",
            "defaultRoles": ["doctor"],
        }))
});

/// The body of a bulk registration: an array, or `{"resources": [...]}`.
pub struct BulkRegistration(pub Vec<Registration>);

impl BulkRegistration {
    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        // A body that is neither a list nor an object gets the fault of the object.
        if json.as_array().is_none() {
            return input::parse(json, Self::declare);
        }
        let mut problems = Problems::default();
        let registrations = Self::all().read(json, &Place::root(), &mut problems);
        problems.finish(registrations.map(Self))
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        members.required("resources", Self::all()).map(Self)
    }

    fn all<'j>() -> impl Field<'j, Value = Vec<Registration>> {
        field(read_all, || {
            schema::list(schema::named::<Registration>())
                .max_items(Some(MAX_BULK))
                .description(Some("No name may be there twice"))
        })
    }
}

document!(BulkRegistration, naming Registration => {
    let wrapped = input::describe(BulkRegistration::declare);
    schema::one_of([BulkRegistration::all().schema(), wrapped.into()])
});

/// Reads registrations whose names differ.
fn read_all(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<Registration>> {
    let registrations = at_most(MAX_BULK, "registrations", Registration::read)(json, at, problems)?;
    let roles: usize = registrations.iter().map(|one| one.default_roles.len()).sum();
    if roles > MAX_ROLES {
        problems.expected(at, format!("at most {MAX_ROLES} default roles in all, not {roles}"));
    }
    let names = registrations.iter().enumerate();
    let mut names: Vec<(&str, usize)> =
        names.map(|(index, registration)| (&*registration.name, index)).collect();
    // Sorted, equal names are neighbours.
    names.sort_unstable();
    for pair in names.windows(2) {
        if pair[0].0 == pair[1].0 {
            // Among equal names the smaller index comes first, so the fault is at the later item.
            let at = at.index(pair[1].1);
            let name = pair[0].0;
            problems
                .expected(&at.key("name"), format!("each name once, but `{name}` occurs twice"));
        }
    }
    Some(registrations)
}

/// The verb of a resource's name.
fn verb(name: &str) -> &str {
    split_resource(name).map_or("", |(_, verb)| verb)
}
