//! The kinds of objects of a tenant: one row for each.

use serde::Serialize;
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::service_key::Permission;

/// The kind of an object of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, ToSchema, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum ObjectKind {
    Resource,
    Rule,
    /// A role that includes others.
    Role,
    /// A type with its properties.
    Type,
    /// A named condition.
    Condition,
    Policy,
    Resolver,
    Webhook,
    /// The settings of the tenant.
    Settings,
    /// A case of the tenant.
    Case,
}

/// The facts of a kind.
#[derive(Clone, Copy, Debug)]
pub struct KindFacts {
    /// The member of a bundle.
    pub list: &'static str,
    /// The JSON pointers (RFC 6901) of the members that name a record. A tenant has one record of a kind without any.
    pub names: &'static [&'static str],
    /// The permissions to read and to write objects.
    pub permissions: (Permission, Permission),
    /// The list of the API in which objects that decide are found; `None` if none decides, or none has an owner.
    pub deciding: Option<DecidingList>,
}

/// A list of the API with objects that decide.
#[derive(Clone, Copy, Debug)]
pub struct DecidingList {
    /// The path below `/api/v1/`.
    pub route: &'static str,
    /// The members that name an object.
    pub members: &'static [&'static str],
    /// Returns whether an object decides.
    pub decides: fn(&Value) -> bool,
}

const RESOURCES: (Permission, Permission) = (Permission::ResourcesRead, Permission::ResourcesWrite);
const POLICIES: (Permission, Permission) = (Permission::PoliciesRead, Permission::PoliciesWrite);
const RESOLVERS: (Permission, Permission) = (Permission::ResolversRead, Permission::ResolversWrite);
const WEBHOOKS: (Permission, Permission) = (Permission::WebhooksRead, Permission::WebhooksWrite);

impl ObjectKind {
    /// Returns the row of the kind.
    pub const fn facts(self) -> KindFacts {
        match self {
            Self::Resource => named("resources", &["/name"], RESOURCES).deciding(
                "resources",
                &["name"],
                makes_rules,
            ),
            Self::Rule => named("rules", &["/sub", "/dom", "/obj", "/act"], POLICIES).deciding(
                "resources/policies",
                &["sub", "dom", "obj", "act"],
                is_explicit,
            ),
            Self::Role => named("roles", &["/name"], POLICIES).deciding("roles", &["name"], always),
            Self::Type => named("types", &["/type"], POLICIES).deciding("types", &["type"], always),
            Self::Condition => {
                named("conditions", &["/name"], POLICIES).deciding("conditions", &["name"], always)
            }
            Self::Policy => named("policies", &["/name"], POLICIES).deciding(
                "abac/policies",
                &["name"],
                is_enabled,
            ),
            Self::Resolver => named("resolvers", &["/manifest/namespace"], RESOLVERS).deciding(
                "resolvers",
                &["namespace"],
                is_own_and_enabled,
            ),
            Self::Webhook => named("webhooks", &["/url"], WEBHOOKS),
            Self::Settings => named("settings", &[], POLICIES),
            Self::Case => named("cases", &[], POLICIES),
        }
    }

    /// Returns the kinds of objects that have an owner, in the order of their declaration.
    pub fn owned() -> impl Iterator<Item = Self> {
        let all = Self::VARIANTS.iter().copied();
        all.filter(|kind| !kind.facts().names.is_empty())
    }
}

const fn named(
    list: &'static str,
    names: &'static [&'static str],
    permissions: (Permission, Permission),
) -> KindFacts {
    KindFacts { list, names, permissions, deciding: None }
}

impl KindFacts {
    const fn deciding(
        self,
        route: &'static str,
        members: &'static [&'static str],
        decides: fn(&Value) -> bool,
    ) -> Self {
        Self { deciding: Some(DecidingList { route, members, decides }), ..self }
    }
}

const fn always(_: &Value) -> bool {
    true
}

/// Returns whether a resource decides: its default roles make rules, which have no owner of their own.
fn makes_rules(resource: &Value) -> bool {
    resource["defaultRoles"].as_array().is_some_and(|roles| !roles.is_empty())
}

fn is_explicit(rule: &Value) -> bool {
    rule["origin"] == "explicit"
}

fn is_enabled(policy: &Value) -> bool {
    policy["enabled"] == true
}

/// Returns whether policies get attributes from a resolver. The operator's resolvers have no owner.
fn is_own_and_enabled(resolver: &Value) -> bool {
    resolver["origin"] == "tenant" && is_enabled(resolver)
}
