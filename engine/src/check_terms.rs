//! The settings of a tenant about checks (`docs/semantics.md`, section 10.6).

use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::action::{Action, is_verb, verb_of};
use crate::rbac::{RuleTuple, WILDCARD};
use crate::resource::ResourcePattern;

/// The settings. Those that have their default are not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckTerms {
    #[serde(skip_serializing_if = "ActionTerms::is_default")]
    pub actions: ActionTerms,
    #[serde(skip_serializing_if = "UnknownSubjects::is_default")]
    pub unknown_subjects: UnknownSubjects,
}

/// The actions that a check of a resource may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ActionTerms {
    /// Any action.
    #[default]
    Any,
    /// The verb of the resource alone, percent-decoded or not.
    Verb,
}

impl ActionTerms {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::Any
    }

    /// Returns what is wrong with `action` in a check of `resource`; completes "expected …".
    pub fn fault(self, action: &str, resource: &str) -> Option<String> {
        let is_wrong = self == Self::Verb && !is_verb(action, resource);
        is_wrong.then(|| {
            let verb = verb_of(resource);
            format!("`{verb}`, the verb of the resource, not `{action}`: with the setting `actions: verb` no check has another action")
        })
    }

    /// Returns what is wrong with the action of a rule; completes "expected …".
    pub fn fault_of_rule(self, rule: &RuleTuple) -> Option<String> {
        match &rule.obj {
            ResourcePattern::Exact(resource) if rule.act != WILDCARD => {
                self.fault(&rule.act, resource)
            }
            // A rule on many resources may have the verb of any of them.
            _ => None,
        }
    }

    /// Returns what is wrong with the action of a check; completes "expected …".
    #[inline]
    pub fn fault_of_check(self, action: Action<'_>, resource: &str) -> Option<String> {
        match action {
            Action::Plain(action) if self == Self::Verb => self.fault(action, resource),
            // An encoded action stands for the verb itself, so it cannot be another one.
            _ => None,
        }
    }
}

/// The roles of a subject that the directory does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum UnknownSubjects {
    /// Those of the request, or of the token.
    #[default]
    ClaimedRoles,
    /// None.
    NoRoles,
}

impl UnknownSubjects {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::ClaimedRoles
    }
}
