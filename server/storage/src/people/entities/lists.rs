//! Pages of entities: for lists, and to keep them in memory.

use portcullis_model::entity::EntityRecord;
use portcullis_model::page::Listed;

use super::found::StoredEntity;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{fetch_all, fetch_optional};
use crate::transactions::paging::fetch_page;
use crate::transactions::stored_records::Records;
use crate::transactions::tx::Tx;

/// Lists a page of the entities in the order of types and ids, only of one type if `kind` is given. The page begins
/// after the entity `after`; two empty texts begin the list.
pub async fn list(
    tx: &mut Tx,
    kind: Option<&str>,
    (after_type, after_id): (&str, &str),
    limit: i64,
) -> Result<Listed<EntityRecord>, StoreError> {
    const SIZES: &str = "SELECT CAST(octet_length(roles) + octet_length(domain_roles) \
        + octet_length(properties) + octet_length(id) AS BIGINT) FROM entities \
        WHERE tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR type = $2) AND (type, id) > ($3, $4) \
        AND NOT is_deleted ORDER BY type, id LIMIT $5";
    const SQL: &str = "SELECT type AS kind, id, roles, domain_roles, properties, source, sync, \
        revision, updated_at, is_deleted FROM entities \
        WHERE tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR type = $2) AND (type, id) > ($3, $4) \
        AND NOT is_deleted ORDER BY type, id LIMIT $5";
    // Nothing before the type is listed, so that no entity of another type is looked at.
    let after = match kind {
        Some(kind) if after_type.is_empty() => (kind, ""),
        _ => (after_type, after_id),
    };
    fetch_page!(tx, StoredEntity, limit, [SIZES, SQL], &tx.tenant, kind, after.0, after.1)
}

/// Reads up to `limit` entities after the entity `after`, the first ones in the order of types and ids; two empty texts
/// begin.
pub(super) async fn page(
    tx: &mut Tx,
    (after_type, after_id): (&str, &str),
    limit: i64,
) -> Result<Records, StoreError> {
    const SQL: &str = "SELECT string_agg(octet_length(type) || ':' || type \
        || octet_length(id) || ':' || id || octet_length(roles) || ':' || roles \
        || octet_length(domain_roles) || ':' || domain_roles \
        || octet_length(properties) || ':' || properties, '') FROM ( \
        SELECT type, id, roles, domain_roles, properties FROM entities \
        WHERE tenant_id = $1 AND (type, id) > ($2, $3) AND NOT is_deleted \
        ORDER BY type, id LIMIT $4) AS entity";
    let row = fetch_optional!(tx, (Option<String>,), SQL, &tx.tenant, after_type, after_id, limit)?;
    Ok(Records::from(row.and_then(|(text,)| text)))
}

/// Reads up to `limit` entities that changed after `revision`, deleted ones included.
pub(super) async fn changed_since(
    tx: &mut Tx,
    revision: u64,
    limit: i64,
) -> Result<Vec<StoredEntity>, StoreError> {
    const SQL: &str = "SELECT type AS kind, id, roles, domain_roles, properties, source, sync, \
        revision, updated_at, is_deleted FROM entities \
        WHERE tenant_id = $1 AND revision > $2 ORDER BY revision LIMIT $3";
    let revision = i64::try_from(revision).unwrap_or(i64::MAX);
    Ok(fetch_all!(tx, StoredEntity, SQL, &tx.tenant, revision, limit)?)
}
