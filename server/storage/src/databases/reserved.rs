//! Namespaces of resolvers that a version reserves for its own attributes, after earlier versions accepted them.

use sqlx::error::DatabaseError;

use crate::transactions::error::OpenError;

/// Finds a stored resolver whose namespace version 0.2 reserves. Runs before the migrations, so that the earlier version
/// can still rename or delete the resolver.
pub(crate) const FIND: &str = "SELECT tenant_id, namespace FROM resolvers \
    WHERE namespace IN ('action', 'context') ORDER BY tenant_id, namespace LIMIT 1";

/// Refuses the resolver that [`FIND`] gave.
pub(crate) fn check(found: Result<Option<(String, String)>, sqlx::Error>) -> Result<(), OpenError> {
    match found {
        Ok(Some((tenant, namespace))) => Err(OpenError::Reserved { tenant, namespace }),
        Ok(None) => Ok(()),
        // The database is new.
        Err(sqlx::Error::Database(error)) if is_missing_table(&*error) => Ok(()),
        Err(error) => Err(OpenError::Connect(error)),
    }
}

/// Returns whether a statement failed because its table does not exist.
fn is_missing_table(error: &dyn DatabaseError) -> bool {
    // SQLite has no code for it. The code of PostgreSQL is `undefined_table`.
    error.message().starts_with("no such table") || error.code().as_deref() == Some("42P01")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestDatabase, on_every_database};
    use crate::transactions::macros::fetch_optional;

    on_every_database!(only_a_missing_table_is_passed_over);

    async fn only_a_missing_table_is_passed_over(database: TestDatabase) {
        let store = database.open().await;
        for (sql, passes) in [
            (FIND, true),
            ("SELECT tenant_id, namespace FROM unknown_table", true),
            ("SELECT tenant_id, unknown_column FROM resolvers", false),
        ] {
            let mut tx = store.begin_read_all().await.expect("begins");
            let checked = check(fetch_optional!(tx, (String, String), sql));
            let is_refused = matches!(checked, Err(OpenError::Connect(_)));
            assert_eq!((checked.is_ok(), is_refused), (passes, !passes), "{sql}");
        }
    }
}
