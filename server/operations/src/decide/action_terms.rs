//! The setting `actions` of a tenant (`docs/semantics.md`, section 10.6).

use portcullis_engine::{Check, Invalid, Plan};

/// Returns whether the tenant of `plan` lets a check have its action.
#[inline]
pub(crate) fn takes_action(plan: &Plan, check: &Check<'_>) -> bool {
    fault(plan, check).is_none()
}

/// Refuses an action that the tenant of `plan` does not let a check have. `at` is the JSON pointer of the check.
///
/// # Errors
/// The action is not the verb of the resource.
pub(crate) fn must_take_action(plan: &Plan, check: &Check<'_>, at: &str) -> Result<(), Invalid> {
    match fault(plan, check) {
        Some(expected) => Err(Invalid::expected(&format!("{at}/action"), expected)),
        None => Ok(()),
    }
}

#[inline]
fn fault(plan: &Plan, check: &Check<'_>) -> Option<String> {
    plan.facts()?.terms.actions.fault_of_check(check.action, check.resource)
}
