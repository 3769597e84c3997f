//! The types and named conditions after a plan, compared with cases and policies.

use portcullis_bundle::BundleDocument;
use portcullis_engine::Namespaces;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_model::named_condition::{ConditionRecord, named_conditions};
use portcullis_model::policy::PolicyRecord;
use portcullis_model::types::TypeRecord;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::BrokenObjects;

use crate::content::tenant_content::TenantContent;
use crate::content::types::{
    broken_cases, broken_conditions, broken_policies, compiled, must_be_few, must_be_none,
};

/// Notes the attributes of the cases of the bundle that `types` do not declare.
pub(super) fn check_cases(bundle: &BundleDocument, types: &Types, problems: &mut Problems) {
    let root = Place::root();
    let at = root.key("bundle");
    let at = at.key("cases");
    for (index, sent) in bundle.cases.iter().flatten().enumerate() {
        sent.value.check_attributes(types, &at.index(index), problems);
    }
}

/// Refuses changes of types and named conditions that break a policy, a condition or a stored case. `policies` are those after
/// the plan, `readable` has what they may read then.
///
/// # Errors
/// Something breaks, or the tenant has too many types.
pub(super) fn check_stored<'p>(
    state: &TenantContent,
    bundle: &BundleDocument,
    policies: impl IntoIterator<Item = &'p PolicyRecord>,
    readable: &Namespaces,
    (types, conditions): (&[&TypeRecord], &[&ConditionRecord]),
) -> Result<(), OperationError> {
    must_be_few(types.iter().copied())?;
    let (before, after) = (compiled(&state.types), compiled(types.iter().copied()));
    let are_same = conditions.iter().copied().eq(&state.conditions);
    if before == after && are_same {
        return Ok(());
    }
    let mut broken = BrokenObjects::default();
    let names = named_conditions(&state.conditions);
    broken_conditions(conditions.iter().copied(), (&names, readable.conditions()), &mut broken);
    let stored = readable.clone().with_types(before.clone()).with_conditions(names);
    broken_policies(policies, (&stored, readable), &mut broken);
    if bundle.cases.is_none() {
        broken_cases(&state.guards.cases.cases, (&before, &after), &mut broken);
    }
    must_be_none(broken)
}
