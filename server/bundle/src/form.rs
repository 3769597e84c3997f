//! The forms of the objects of a tenant in its files and in exports: one row for each kind.

use portcullis_engine::Json;
use portcullis_engine::json::Member;

/// The form of an object: its members in their order, each with the value, as compact JSON, that says what its absence says.
/// A `null` says so too.
#[derive(Clone, Copy, Debug)]
pub struct Form(&'static [(&'static str, &'static str)]);

/// No value says what the absence of the member says.
const NONE: &str = "null";

impl Form {
    pub const RESOURCE: Self = Self(&[
        ("name", NONE),
        ("displayName", NONE),
        ("serviceName", NONE),
        ("defaultRoles", "[]"),
    ]);
    pub const RULE: Self =
        Self(&[("sub", NONE), ("dom", NONE), ("obj", NONE), ("act", NONE), ("effect", NONE)]);
    pub const ROLE: Self = Self(&[("name", NONE), ("includes", NONE)]);
    pub const TYPE: Self =
        Self(&[("type", NONE), ("about", NONE), ("properties", "{}"), ("relations", "{}")]);
    pub(super) const PROPERTY: Self = Self(&[("type", NONE), ("about", NONE), ("from", NONE)]);
    pub(super) const RELATION: Self =
        Self(&[("from", NONE), ("claim", NONE), ("request", NONE), ("renamed_from", NONE)]);
    /// The claim of a relation.
    pub(super) const CLAIM: Self = Self(&[("name", NONE), ("absent", r#""undetermined""#)]);
    pub const CONDITION: Self = Self(&[("name", NONE), ("about", NONE), ("when", NONE)]);
    pub const POLICY: Self = Self(&[
        ("name", NONE),
        ("description", NONE),
        ("resource", NONE),
        ("effect", NONE),
        ("priority", NONE),
        ("enabled", "true"),
        ("format", r#""json""#),
        ("rule_data", NONE),
    ]);
    /// The values of the secrets are `null`.
    pub const RESOLVER: Self = Self(&[
        ("namespace", NONE),
        ("description", NONE),
        ("config", "{}"),
        ("secrets", "{}"),
        ("endpoints", "{}"),
        ("allowed_hosts", "[]"),
        ("limits", NONE),
        ("cache_ttl_ms", NONE),
        ("stale_if_error_ms", "0"),
        ("sha256", NONE),
        ("enabled", "true"),
    ]);
    /// Without the secret, which the service keeps.
    pub const WEBHOOK: Self = Self(&[("url", NONE), ("events", NONE)]);
    pub(super) const CASE: Self = Self(&[
        ("name", NONE),
        ("as", NONE),
        ("now", NONE),
        ("check", NONE),
        ("resolved", NONE),
        ("responses", NONE),
        ("relations", NONE),
        ("undetermined", NONE),
        ("expect", NONE),
    ]);
    pub(super) const USER: Self =
        Self(&[("sub", NONE), ("roles", NONE), ("description", NONE), ("claims", "{}")]);

    pub(super) const SETTINGS: Self = Self(&[
        ("gates", NONE),
        // Section 10.6 of docs/semantics.md.
        ("max_deletes", "20"),
        ("owners", "{}"),
        ("directory_wins", NONE),
        ("audit_values", "false"),
        ("actions", r#""any""#),
        ("unknown_subjects", r#""claimed_roles""#),
        ("decision_log", "{}"),
    ]);

    /// Returns the members that `find` finds, in order, without those that mean the same as their absence. `is` compares a
    /// value with a JSON text.
    pub fn members<T>(
        self,
        find: impl Fn(&str) -> Option<T>,
        is: impl Fn(&T, &str) -> bool,
    ) -> impl Iterator<Item = (&'static str, T)> {
        self.0.iter().filter_map(move |(name, absent)| {
            let value = find(name).filter(|value| !is(value, NONE) && !is(value, absent))?;
            Some((*name, value))
        })
    }

    /// Returns the members of `json` in this form.
    pub(super) fn of<'j>(self, json: &Json<'j>) -> Vec<Member<'j>> {
        let members = self.members(|name| json.get(name).cloned(), is);
        members.map(|(name, value)| (name.into(), value)).collect()
    }
}

fn is(json: &Json<'_>, text: &str) -> bool {
    match text {
        NONE => *json == Json::Null,
        text => json.to_string() == text,
    }
}
