//! The tenants and versions of stored resolvers, by which a process finds what it has to load.

use portcullis_engine::ResolverRef;
use uuid::Uuid;

use crate::content::resolvers::reference;
use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json_list;
use crate::transactions::macros::fetch_all;
use crate::transactions::tx::Tx;

/// The tenant and the version of a stored resolver.
#[derive(Debug, PartialEq)]
pub struct ResolverLocation {
    pub tenant: String,
    pub reference: ResolverRef,
    pub enabled: bool,
}

/// Lists the `most` enabled resolvers that changed last, except resolvers of suspended tenants and of tenants that are
/// being deleted. For a transaction that sees every tenant.
pub async fn latest(tx: &mut Tx, most: u32) -> Result<Vec<ResolverLocation>, StoreError> {
    const SQL: &str = "SELECT tenant_id, id, version, enabled FROM resolvers \
        WHERE enabled = TRUE AND tenant_id NOT IN (SELECT id FROM tenants \
        WHERE suspended_at IS NOT NULL OR deleting_at IS NOT NULL) \
        ORDER BY COALESCE(updated_at, created_at) DESC, id DESC LIMIT $1";
    locations(fetch_all!(tx, (String, Uuid, i64, bool), SQL, i64::from(most))?)
}

/// Lists the resolvers of `tenants`, except for suspended tenants and tenants that are being deleted. For a
/// transaction that sees every tenant.
pub async fn for_tenants(
    tx: &mut Tx,
    tenants: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<Vec<ResolverLocation>, StoreError> {
    const SQLITE: &str = "SELECT tenant_id, id, version, enabled FROM resolvers \
        WHERE tenant_id IN (SELECT id FROM tenants WHERE suspended_at IS NULL \
        AND deleting_at IS NULL AND id IN (SELECT value FROM json_each($1))) ORDER BY id";
    const POSTGRES: &str = "SELECT tenant_id, id, version, enabled FROM resolvers \
        WHERE tenant_id IN (SELECT id FROM tenants WHERE suspended_at IS NULL \
        AND deleting_at IS NULL \
        AND id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON))))) ORDER BY id";
    let sql = tx.either(SQLITE, POSTGRES);
    let tenants: Vec<_> = tenants.into_iter().collect();
    locations(fetch_all!(tx, (String, Uuid, i64, bool), sql, to_json_list(&tenants))?)
}

fn locations(rows: Vec<(String, Uuid, i64, bool)>) -> Result<Vec<ResolverLocation>, StoreError> {
    let mut locations = Vec::with_capacity(rows.len());
    for (tenant, id, version, enabled) in rows {
        locations.push(ResolverLocation { tenant, reference: reference(id, version)?, enabled });
    }
    Ok(locations)
}
