//! The domain and the tenant that a question is about.

use portcullis_auth::CheckCaller;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

/// Returns the domain that a question of `caller` names, or the caller's own, and its tenant.
///
/// # Errors
/// The caller may not ask about the domain, or its tenant is closed. A token of one tenant may ask about another one that
/// it administers.
pub(crate) fn open_scope<'c>(
    app: &App,
    caller: &'c CheckCaller,
    named: Option<&'c str>,
) -> Result<(&'c str, &'c str), OperationError> {
    let domain = caller.domain_of(named)?;
    let tenant = caller.tenant_of(domain)?;
    app.closed_tenants.must_be_open(tenant)?;
    Ok((domain, tenant))
}
