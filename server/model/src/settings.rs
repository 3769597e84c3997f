//! Settings of a tenant (`docs/semantics.md`, section 10.6).

use std::collections::BTreeMap;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{CheckTerms, Json};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::decision_log::DecisionLogSettings;
use crate::fields::{Names, boolean, id, integer, list, map, variant};
use crate::hours::{Hours, hours};
use crate::input::{self, Field, Members, object};
use crate::owner::{MAX_OWNER, is_owner};
use crate::{document, schema};

/// Most owners that a tenant binds to keys.
const MAX_OWNERS: usize = 64;
/// Most keys of one owner.
const MAX_KEYS: usize = 64;
/// The part of an owner's objects that one apply may delete when a tenant says nothing, in percent.
const MAX_DELETES: u32 = 20;
/// The largest number of flips that a tenant can name.
const MAX_FLIPS: i32 = 1_000_000_000;

/// The settings of a tenant that its manager keeps with its policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TenantSettings {
    pub gates: TenantGates,
    /// The part of an owner's objects that one apply may delete, and of a source's entities that one sync may, in percent.
    pub max_deletes: u32,
    /// The owners that only some keys may apply as.
    pub owners: BTreeMap<String, OwnerKeys>,
    /// The directory goes before requests and tokens where they differ. Always written: everybody shall see what holds.
    pub directory_wins: bool,
    /// Audit records have the values of the attributes of entities, not their names alone.
    #[serde(skip_serializing_if = "is_unset")]
    pub audit_values: bool,
    /// The terms of checks.
    #[serde(flatten)]
    pub checks: CheckTerms,
    /// The terms by which the decisions of the tenant are recorded.
    #[serde(skip_serializing_if = "DecisionLogSettings::is_default")]
    pub decision_log: DecisionLogSettings,
}

/// An export has no member that older versions do not know, unless the tenant sets it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_unset(flag: &bool) -> bool {
    !flag
}

/// The conditions that changes of decision content must meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TenantGates {
    #[serde(flatten)]
    pub of_writes: Gates,
    #[serde(flatten)]
    pub of_drafts: ShadowGates,
}

/// The conditions that a write of decision content must meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gates {
    /// The cases of the tenant must pass.
    pub cases: bool,
    /// A second manager must approve.
    pub approval: bool,
}

/// The conditions that a draft must meet to be published, by what it would have decided in shadow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShadowGates {
    /// The time for which it was in shadow, at least.
    #[serde(rename = "shadow_time", skip_serializing_if = "Option::is_none")]
    pub time: Option<Hours>,
    /// The checks that it decided otherwise, at most.
    #[serde(rename = "shadow_flips", skip_serializing_if = "Option::is_none")]
    pub flips: Option<u32>,
}

/// The service keys that may apply as one owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OwnerKeys {
    pub keys: Vec<Uuid>,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self {
            gates: TenantGates::default(),
            max_deletes: MAX_DELETES,
            owners: BTreeMap::new(),
            directory_wins: false,
            audit_values: false,
            checks: CheckTerms::default(),
            decision_log: DecisionLogSettings::default(),
        }
    }
}

impl TenantSettings {
    /// Reads the settings at `at`. An absent member has its default.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        input::read(json, at, problems, Self::declare)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let default = Self::default();
        let gates = object(TenantGates::declare)
            .about("The conditions of every change of decision content");
        let deletes = "The part of an owner's objects that one apply may delete, and of a source's entities that one sync may, in percent";
        let max_deletes = integer(0, 100, ", in percent").about(deletes).default_is(MAX_DELETES);
        let gates = members.optional("gates", gates);
        let max_deletes = members.optional("max_deletes", max_deletes);
        let owners = members.optional("owners", owners());
        let wins = boolean()
            .default_is(false)
            .about("The directory goes before requests and tokens, not the other way around");
        let directory_wins = members.optional("directory_wins", wins);
        let values = boolean().default_is(false).about(
            "Audit records have the values of the attributes of entities, not their names alone",
        );
        let audit_values = members.optional("audit_values", values);
        let checks = check_terms(members);
        let decision_log = object(DecisionLogSettings::declare)
            .about("How the decisions of the tenant are recorded");
        let decision_log = members.optional("decision_log", decision_log);
        Some(Self {
            gates: gates.unwrap_or(default.gates),
            max_deletes: max_deletes.unwrap_or(default.max_deletes),
            owners: owners.unwrap_or(default.owners),
            directory_wins: directory_wins.unwrap_or(default.directory_wins),
            audit_values: audit_values.unwrap_or(default.audit_values),
            checks,
            decision_log: decision_log.unwrap_or_default(),
        })
    }

    /// Returns whether the service key `key` may apply as `owner`.
    pub fn admits(&self, owner: &str, key: &str) -> bool {
        // An owner that the settings do not name is open to every key that may apply.
        let Some(bound) = self.owners.get(owner) else { return true };
        // Ids are compared in the form that the service writes, whatever a body had.
        bound.keys.iter().any(|known| known.to_string() == key)
    }
}

document!(TenantSettings => {
    input::describe(TenantSettings::declare)
        .about("The settings of the tenant; an absent member has its default")
        .example(json!({
            "gates": {"cases": true, "approval": false, "shadow_time": "24h", "shadow_flips": 10},
            "max_deletes": 20,
            "owners": {"git:github.com/acme/authz": {"keys": ["019e301f-05c0-7a4e-9c1b-5f0e8d3a7b64"]}},
        }))
});

impl TenantGates {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let cases = boolean().default_is(false).about("Every case must pass after the change");
        let approval = boolean().default_is(false).about("A second manager must approve an apply");
        let cases = members.optional("cases", cases);
        let approval = members.optional("approval", approval);
        let time = "For how long a draft must have been in shadow when it is published, such as `24h` or `7d`";
        let flips = "How many checks a draft in shadow may have decided otherwise when it is published, at most";
        let time = members.optional("shadow_time", hours(time, None));
        let flips = members.optional("shadow_flips", integer(0, MAX_FLIPS, "").about(flips));
        Some(Self {
            of_writes: Gates { cases: cases.unwrap_or(false), approval: approval.unwrap_or(false) },
            of_drafts: ShadowGates { time, flips },
        })
    }
}

impl OwnerKeys {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let keys = list(id()).about("The ids of the service keys");
        let keys = members.required("keys", keys)?;
        // An empty list is allowed: then only managers apply as this owner.
        if keys.len() > MAX_KEYS {
            members.expected_at("keys", format!("at most {MAX_KEYS} keys"));
        }
        Some(Self { keys })
    }
}

fn check_terms(members: &mut Members<'_, '_>) -> CheckTerms {
    let actions = variant()
        .default_is("any")
        .about("`verb` refuses a check whose action is not the verb of its resource");
    let unknown_subjects = variant().default_is("claimed_roles").about(
        "`no_roles` takes the claimed roles from users, and other subjects of a known type, that the directory lacks",
    );
    let actions = members.optional("actions", actions);
    let unknown_subjects = members.optional("unknown_subjects", unknown_subjects);
    CheckTerms {
        actions: actions.unwrap_or_default(),
        unknown_subjects: unknown_subjects.unwrap_or_default(),
    }
}

fn owners<'j>() -> impl Field<'j, Value = BTreeMap<String, OwnerKeys>> {
    let names = Names { fault: owner_fault, schema: || schema::text(MAX_OWNER) };
    map(MAX_OWNERS, "owners", names, object(OwnerKeys::declare))
        .about("Owners that only these keys, and managers, apply as")
}

fn owner_fault(name: &str) -> Option<String> {
    (!is_owner(name))
        .then(|| format!("a name of 1 to {MAX_OWNER} printable characters without white space"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TenantSettings, String> {
        let json = portcullis_engine::json::parse(text.as_bytes()).expect("JSON");
        let mut problems = Problems::default();
        let settings = TenantSettings::read(&json, &Place::root(), &mut problems);
        problems.finish(settings).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn absent_settings_have_defaults() {
        assert_eq!(read("{}"), Ok(TenantSettings::default()));
        let gates = TenantGates {
            of_writes: Gates { cases: true, approval: false },
            ..TenantGates::default()
        };
        let expected = TenantSettings { gates, max_deletes: 0, ..TenantSettings::default() };
        assert_eq!(read(r#"{"gates": {"cases": true}, "max_deletes": 0}"#), Ok(expected));
    }

    #[test]
    fn gates_are_written_as_they_are_read_without_those_that_no_older_version_knows() {
        for text in [
            r#"{"cases":false,"approval":true}"#,
            r#"{"cases":false,"approval":false,"shadow_time":"36h","shadow_flips":0}"#,
        ] {
            let settings = read(&format!(r#"{{"gates": {text}}}"#)).expect(text);
            assert_eq!(serde_json::to_string(&settings.gates).expect("JSON"), text);
        }
    }

    #[test]
    fn terms_of_checks_are_written_only_if_they_are_set() {
        for text in [r#"{"actions":"verb"}"#, r#"{"unknown_subjects":"no_roles"}"#, "{}"] {
            let settings = read(text).expect(text);
            assert_eq!(serde_json::to_string(&settings.checks).expect("JSON"), text);
        }
    }

    #[test]
    fn faults_have_their_place() {
        for (text, fault) in [
            ("[]", "expected an object, not an array"),
            (
                r#"{"max_deletes": 101}"#,
                "at `/max_deletes`: expected an integer from 0 to 100, in percent",
            ),
            (
                r#"{"gates": {"shadow_time": "7"}}"#,
                "at `/gates/shadow_time`: expected a time such as `7d` or `36h`, from `1h` to `3650d`",
            ),
            (
                r#"{"gates": {"shadow_flips": -1}}"#,
                "at `/gates/shadow_flips`: expected an integer from 0 to 1000000000",
            ),
            (
                r#"{"gates": {"case": true}}"#,
                "at `/gates`: field `case` is unknown; did you mean `cases`?",
            ),
            (
                r#"{"owners": {"a b": {"keys": []}}}"#,
                "at `/owners/a b`: expected a name of 1 to 256 printable characters without white space",
            ),
            (r#"{"owners": {"a": {"keys": ["x"]}}}"#, "at `/owners/a/keys/0`: expected a UUID"),
            (r#"{"actions": "verbs"}"#, "at `/actions`: expected `any` or `verb`"),
            (
                r#"{"unknown_subjects": true}"#,
                "at `/unknown_subjects`: expected `claimed_roles` or `no_roles`",
            ),
        ] {
            assert_eq!(read(text).expect_err(text), fault);
        }
    }

    #[test]
    fn an_owner_that_is_bound_admits_its_keys_alone() {
        let key = "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b64";
        let text = format!(r#"{{"owners": {{"git:a": {{"keys": ["{key}"]}}}}}}"#);
        let settings = read(&text).expect("sound");
        assert!(settings.admits("git:a", key));
        assert!(!settings.admits("git:a", "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b65"));
        assert!(settings.admits("git:b", key));
    }
}
