//! The tenants and their revisions.

use super::{StoreError, Tx, execute, fetch_optional};

/// Creates the tenant of the transaction unless it is there.
pub(super) async fn ensure(tx: &mut Tx, now: i64) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO tenants (id, revision, created_at) VALUES ($1, 0, $2) \
        ON CONFLICT (id) DO NOTHING";
    execute!(tx, SQL, tx.tenant.clone(), now)?;
    Ok(())
}

/// Raises the revision by one and gives the new one.
pub(super) async fn raise_revision(tx: &mut Tx) -> Result<u64, StoreError> {
    const SQL: &str = "UPDATE tenants SET revision = revision + 1 WHERE id = $1 RETURNING revision";
    let raised = fetch_optional!(tx, (i64,), SQL, tx.tenant.clone())?;
    raised.map(to_revision).ok_or(StoreError::Corrupt { what: "tenants.id" })
}

/// The revision; 0 for a tenant that has never written.
pub(crate) async fn revision(tx: &mut Tx) -> Result<u64, StoreError> {
    const SQL: &str = "SELECT revision FROM tenants WHERE id = $1";
    let row = fetch_optional!(tx, (i64,), SQL, tx.tenant.clone())?;
    Ok(row.map_or(0, to_revision))
}

fn to_revision((revision,): (i64,)) -> u64 {
    u64::try_from(revision).unwrap_or_default()
}
