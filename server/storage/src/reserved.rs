//! Namespaces of resolvers that a version reserves for attributes of its own, after earlier versions accepted them.

use crate::error::OpenError;

/// Finds a stored resolver whose namespace version 0.2 reserves. Runs before the migrations, so that the earlier version
/// can still rename or delete the resolver.
pub(crate) const FIND: &str = "SELECT tenant_id, namespace FROM resolvers \
    WHERE namespace IN ('action', 'context') ORDER BY tenant_id, namespace LIMIT 1";

/// Refuses the resolver that [`FIND`] gave.
pub(crate) fn check(found: Result<Option<(String, String)>, sqlx::Error>) -> Result<(), OpenError> {
    match found {
        Ok(Some((tenant, namespace))) => Err(OpenError::Reserved { tenant, namespace }),
        // The statement is valid, so the database refuses it because there are no resolvers yet.
        Ok(None) | Err(sqlx::Error::Database(_)) => Ok(()),
        Err(error) => Err(OpenError::Connect(error)),
    }
}
