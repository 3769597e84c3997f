//! The types after a plan, compared with cases and policies.

use portcullis_bundle::BundleDocument;
use portcullis_engine::Namespaces;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_model::policy::PolicyRecord;
use portcullis_model::types::TypeRecord;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::BrokenObjects;

use crate::content::tenant_content::TenantContent;
use crate::content::types::{broken_cases, broken_policies, compiled, must_be_few, must_be_none};

/// Notes the attributes of the cases of the bundle that `types` do not declare.
pub(super) fn check_cases(bundle: &BundleDocument, types: &Types, problems: &mut Problems) {
    let root = Place::root();
    let at = root.key("bundle");
    let at = at.key("cases");
    for (index, sent) in bundle.cases.iter().flatten().enumerate() {
        sent.value.check_attributes(types, &at.index(index), problems);
    }
}

/// Refuses changes of types that break a policy or a stored case. `policies` are those after the plan.
///
/// # Errors
/// Something breaks, or the tenant has too many types.
pub(super) fn check_stored<'p>(
    state: &TenantContent,
    bundle: &BundleDocument,
    policies: impl IntoIterator<Item = &'p PolicyRecord>,
    resolvers: &Namespaces,
    after: &[&TypeRecord],
) -> Result<(), OperationError> {
    must_be_few(after.iter().copied())?;
    let (before, after) = (compiled(&state.types), compiled(after.iter().copied()));
    if before == after {
        return Ok(());
    }
    let mut broken = BrokenObjects::default();
    let readable = |types: &Types| resolvers.clone().with_types(types.clone());
    let readable = (readable(&before), readable(&after));
    broken_policies(policies, (&readable.0, &readable.1), &mut broken);
    if bundle.cases.is_none() {
        broken_cases(&state.guards.cases.cases, (&before, &after), &mut broken);
    }
    must_be_none(broken)
}
