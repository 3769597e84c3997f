//! The warnings about written rules and policies (`docs/semantics.md`, section 3.9). Each comparison with the registry is
//! one look into an index.

use portcullis_engine::{ResourcePattern, RuleTuple};
use portcullis_model::policy::CompiledRuleData;
use portcullis_model::warning::Warning;
use portcullis_storage::{StoreError, Tx, resources};

/// Returns the warnings about a written rule: its object matches no registered resource, or none has its action as verb.
/// A tenant without registered resources gets no warnings, because there is nothing to compare with.
pub(crate) async fn for_rule(tx: &mut Tx, rule: &RuleTuple) -> Result<Vec<Warning>, StoreError> {
    let mut warnings = Vec::new();
    if !resources::matches(tx, &ResourcePattern::Any).await? {
        return Ok(warnings);
    }
    if !resources::matches(tx, &rule.obj).await? {
        warnings.push(Warning::unregistered_resource("/obj", &rule.obj.to_string()));
    }
    if rule.act != "*" && !resources::have_verb(tx, &rule.act).await? {
        warnings.push(Warning::unregistered_verb("/act", &rule.act));
    }
    Ok(warnings)
}

/// Returns the warnings about a written policy: its resource matches no registered resource, but the tenant has some, and
/// those about its new condition.
pub(crate) async fn for_policy(
    tx: &mut Tx,
    resource: &ResourcePattern,
    condition: Option<&CompiledRuleData>,
) -> Result<Vec<Warning>, StoreError> {
    let mut warnings = Vec::new();
    let is_known = resources::matches(tx, resource).await?
        || !resources::matches(tx, &ResourcePattern::Any).await?;
    if !is_known {
        warnings.push(Warning::unregistered_resource("/resource", &resource.to_string()));
    }
    warnings.extend(condition.into_iter().flat_map(|it| &it.warnings).cloned());
    Ok(warnings)
}
