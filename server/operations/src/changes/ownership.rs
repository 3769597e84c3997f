//! The owners of managed records, on the routes of single records (`docs/semantics.md`, section 10.5).

use portcullis_auth::Manager;
use portcullis_engine::ResourcePattern;
use portcullis_model::rule::{RuleOrigin, RuleRecord};
use portcullis_model::service_key::Permission;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::WriteRefusal;
use portcullis_storage::{StoreError, Tx, resources};
use serde::Serialize;

use super::etag::Precondition;

/// The terms on which a caller changes one record.
#[derive(Clone, Debug, Default)]
pub struct ChangeTerms {
    pub precondition: Precondition,
    /// Whether a managed record is changed too.
    pub force: bool,
}

impl ChangeTerms {
    /// Refuses a change of `record`, or of none, if it is in a state that the caller does not expect, or has an `owner` and
    /// the change is not forced by a caller who may do that.
    pub(crate) fn check(
        &self,
        caller: &Manager,
        record: Option<&impl Serialize>,
        owner: Option<&str>,
    ) -> Result<(), OperationError> {
        self.precondition.check_stored(record)?;
        check(caller, owner, self.force)
    }
}

/// Refuses a change of a record of `owner`, unless it is forced by a caller who may do that.
pub(crate) fn check(
    caller: &Manager,
    owner: Option<&str>,
    force: bool,
) -> Result<(), OperationError> {
    let Some(owner) = owner else { return Ok(()) };
    if !force {
        return Err(WriteRefusal::Managed(owner.to_owned()).into());
    }
    Ok(caller.must_have(Permission::PoliciesForce)?)
}

/// Refuses a change of a managed rule. A rule of a default role is managed if its resource is.
pub(crate) async fn check_rule(
    tx: &mut Tx,
    caller: &Manager,
    rule: &RuleRecord,
    force: bool,
) -> Result<(), OperationError> {
    check(caller, rule_owner(tx, rule).await?.as_deref(), force)
}

async fn rule_owner(tx: &mut Tx, rule: &RuleRecord) -> Result<Option<String>, StoreError> {
    match (&rule.tuple.obj, rule.origin) {
        (ResourcePattern::Exact(name), RuleOrigin::DefaultRole) => {
            let resource = resources::find_by_name(tx, name).await?;
            Ok(resource.and_then(|resource| resource.managed_by))
        }
        _ => Ok(rule.managed_by.clone()),
    }
}
