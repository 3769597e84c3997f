//! The permissions of callers (`docs/semantics.md`, section 6.2).

use portcullis_model::service_key::Permission;

use crate::error::AuthError;

/// Refuses a caller with `permissions` who does not have `permission`.
pub(crate) fn must_have(
    permissions: &[Permission],
    permission: Permission,
) -> Result<(), AuthError> {
    if permissions.contains(&permission) {
        return Ok(());
    }
    Err(AuthError::AccessDenied(format!(
        "the service key does not have the permission `{}`",
        permission.into_str()
    )))
}
