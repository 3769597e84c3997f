//! The tables of resolvers and of their modules.

use std::collections::HashMap;

use portcullis_engine::{ResolverRef, ResourcePattern};
use portcullis_model::Timestamp;
use portcullis_model::apply::ObjectKind;
use portcullis_model::audit::AuditAction;
use portcullis_model::page::{Listed, Page};
use portcullis_model::quota::Quota;
use portcullis_model::resolver::StoredResolver;
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, select, stored,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::row_streams::{Records, stream_rows};
use crate::transactions::tx::Tx;

stored! {
    StoredResolver as Row of "resolvers" {
        id, tenant_id, version, enabled, manifest, module, created_by, created_at, updated_by,
        updated_at, managed_by,
    }
}

/// Finds the resolver with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<StoredResolver>, StoreError> {
    const SQL: &str = select!("FROM resolvers WHERE tenant_id = $1 AND id = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, id)?)
}

/// Lists the tenant's resolvers, in order of creation. There are few.
pub async fn list(tx: &mut Tx) -> Result<Vec<StoredResolver>, StoreError> {
    const SQL: &str = select!("FROM resolvers WHERE tenant_id = $1 ORDER BY id");
    records(fetch_all!(tx, Row, SQL, &tx.tenant)?)
}

/// Reads all resolvers of the tenant, or `owner`'s alone, in the order of namespaces.
pub fn by_namespace<'t>(tx: &'t mut Tx, owner: Option<&'t str>) -> Records<'t, StoredResolver> {
    const SQL: &str = select!(
        "FROM resolvers WHERE tenant_id = $1 \
        AND (CAST($2 AS TEXT) IS NULL OR managed_by = $2) ORDER BY namespace"
    );
    stream_rows!(tx, Row, SQL, &tx.tenant, owner)
}

/// Lists a page of the tenant's resolvers, in order of creation.
pub async fn list_page(tx: &mut Tx, page: Page) -> Result<Listed<StoredResolver>, StoreError> {
    const PAGES: Pages = pages!(
        [manifest, module],
        "FROM resolvers WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    );
    fetch_page!(tx, Row, page.limit, PAGES, &tx.tenant, page.after)
}

/// Returns the resolver of each namespace, as plans need it. A disabled resolver has its namespace, too, but gives no
/// answers.
pub async fn for_plans(tx: &mut Tx) -> Result<HashMap<String, ResolverRef>, StoreError> {
    const SQL: &str = "SELECT namespace, id, version FROM resolvers WHERE tenant_id = $1";
    let rows = fetch_all!(tx, (String, Uuid, i64), SQL, &tx.tenant)?;
    rows.into_iter().map(|(name, id, version)| Ok((name, reference(id, version)?))).collect()
}

/// Raises the versions of the tenant's resolvers beyond any that lost changes gave them: each change raises a version by
/// one.
pub(crate) async fn skip_versions(tx: &mut Tx) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE resolvers SET version = version + 1000000 WHERE tenant_id = $1";
    execute!(tx, SQL, &tx.tenant)?;
    Ok(())
}

/// Returns the reference of the version of a resolver in these columns.
pub(crate) fn reference(id: Uuid, version: i64) -> Result<ResolverRef, StoreError> {
    let version = u64::try_from(version).map_err(StoreError::corrupt("resolvers.version"))?;
    Ok(ResolverRef { id, version })
}

/// Reads the secrets of a resolver, encrypted.
pub async fn secrets(tx: &mut Tx, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
    const SQL: &str = "SELECT secrets FROM resolvers WHERE tenant_id = $1 AND id = $2";
    let row = fetch_optional!(tx, (Vec<u8>,), SQL, &tx.tenant, id)?;
    Ok(row.map(|(secrets,)| secrets))
}

/// Reads the bytes of a module.
pub async fn module(tx: &mut Tx, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
    const SQL: &str = "SELECT bytes FROM resolver_modules WHERE tenant_id = $1 AND sha256 = $2";
    let row = fetch_optional!(tx, (Vec<u8>,), SQL, &tx.tenant, sha256)?;
    Ok(row.map(|(bytes,)| bytes))
}

/// Tells whether some tenant has a resolver of this module. For a transaction that sees every tenant.
pub async fn is_module_used(tx: &mut Tx, sha256: &str) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT sha256 FROM resolver_modules WHERE sha256 = $1 LIMIT 1";
    Ok(fetch_optional!(tx, (String,), SQL, sha256)?.is_some())
}

/// Lists the digests of the modules that tenants have. For a transaction that sees every tenant.
pub async fn modules(tx: &mut Tx) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT DISTINCT sha256 FROM resolver_modules ORDER BY sha256";
    let rows = fetch_all!(tx, (String,), SQL)?;
    Ok(rows.into_iter().map(|(sha256,)| sha256).collect())
}

/// Inserts `resolver`, or replaces the one with its id. Its secrets are encrypted already; `module` is its module, unless the
/// tenant stores it. False if its namespace is taken.
pub async fn store(
    tx: &mut Tx,
    resolver: &StoredResolver,
    secrets: &[u8],
    module: Option<&[u8]>,
) -> Result<bool, StoreError> {
    const SQL: &str = "INSERT INTO resolvers (tenant_id, id, namespace, version, enabled, manifest, \
        secrets, module, sha256, created_by, created_at, updated_by, updated_at, managed_by) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
        ON CONFLICT (tenant_id, id) DO UPDATE SET namespace = excluded.namespace, \
        version = excluded.version, enabled = excluded.enabled, manifest = excluded.manifest, \
        secrets = excluded.secrets, module = excluded.module, sha256 = excluded.sha256, \
        updated_by = excluded.updated_by, updated_at = excluded.updated_at, \
        managed_by = excluded.managed_by";
    if is_taken(tx, resolver).await? {
        return Ok(false);
    }
    // All bytes are counted before and after, because modules that nobody uses any more go as well.
    let (old, before) = (find(tx, resolver.id).await?, stored_bytes(tx).await?);
    // Before the resolver, whose row refers to its module.
    if let Some(module) = module {
        insert_module(tx, &resolver.module.sha256, module).await?;
    }
    execute!(
        tx,
        SQL,
        &tx.tenant,
        resolver.id,
        &resolver.manifest.namespace,
        version(resolver),
        resolver.enabled,
        to_json(&resolver.manifest),
        secrets,
        to_json(&resolver.module),
        &resolver.module.sha256,
        &resolver.created_by,
        resolver.created_at.millis(),
        resolver.updated_by.as_deref(),
        resolver.updated_at.map(Timestamp::millis),
        resolver.managed_by.as_deref(),
    )?;
    // After the write, without which the new module would be unused.
    delete_unused_modules(tx).await?;
    count_bytes_since(tx, before).await?;
    note_change(tx, old.as_ref(), Some(resolver));
    let action = match old {
        None => AuditAction::ResolverCreated,
        Some(_) => AuditAction::ResolverUpdated,
    };
    tx.count(Quota::Resolvers, i64::from(old.is_none()));
    tx.audit(action, resolver.id);
    Ok(true)
}

/// Deletes a resolver.
pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM resolvers WHERE tenant_id = $1 AND id = $2";
    let (old, before) = (find(tx, id).await?, stored_bytes(tx).await?);
    let deleted = execute!(tx, SQL, &tx.tenant, id)? > 0;
    delete_unused_modules(tx).await?;
    tx.count(Quota::Resolvers, -i64::from(deleted));
    count_bytes_since(tx, before).await?;
    note_change(tx, old.as_ref(), None);
    tx.audit(AuditAction::ResolverDeleted, id);
    Ok(())
}

/// Notes that a resolver changed: policies of any resource may read it.
fn note_change(tx: &mut Tx, old: Option<&StoredResolver>, new: Option<&StoredResolver>) {
    tx.touch([ResourcePattern::Any.into()]);
    let Some(id) = new.or(old).map(|resolver| resolver.id) else { return };
    tx.record_changes.note(
        ObjectKind::Resolver,
        id.to_string(),
        old.map(to_json),
        new.map(to_json),
    );
}

/// Tells whether another resolver has the namespace of this one. The tenant is locked, so no other request can take
/// the namespace in between.
async fn is_taken(tx: &mut Tx, resolver: &StoredResolver) -> Result<bool, StoreError> {
    const SQL: &str =
        "SELECT id FROM resolvers WHERE tenant_id = $1 AND namespace = $2 AND id <> $3";
    let namespace = &resolver.manifest.namespace;
    Ok(fetch_optional!(tx, (Uuid,), SQL, &tx.tenant, namespace, resolver.id)?.is_some())
}

async fn insert_module(tx: &mut Tx, sha256: &str, bytes: &[u8]) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO resolver_modules (tenant_id, sha256, bytes) VALUES ($1, $2, $3) \
        ON CONFLICT DO NOTHING";
    execute!(tx, SQL, &tx.tenant, sha256, bytes)?;
    Ok(())
}

async fn delete_unused_modules(tx: &mut Tx) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM resolver_modules WHERE tenant_id = $1 AND sha256 NOT IN \
        (SELECT sha256 FROM resolvers WHERE tenant_id = $1)";
    execute!(tx, SQL, &tx.tenant)?;
    Ok(())
}

/// Returns the bytes of the tenant's resolvers and modules. They are few, and both databases know the length of a value
/// without reading it.
async fn stored_bytes(tx: &mut Tx) -> Result<i64, StoreError> {
    const RESOLVERS: &str = "SELECT COALESCE(SUM(octet_length(manifest) + octet_length(secrets) \
        + octet_length(module)), 0) FROM resolvers WHERE tenant_id = $1";
    const MODULES: &str = "SELECT COALESCE(SUM(octet_length(bytes)), 0) FROM resolver_modules \
        WHERE tenant_id = $1";
    let mut sum = 0;
    for sql in [RESOLVERS, MODULES] {
        sum += fetch_optional!(tx, (i64,), sql, &tx.tenant)?.map_or(0, |(bytes,)| bytes);
    }
    Ok(sum)
}

/// Counts the change of the bytes of resolvers and modules since there were `before`.
async fn count_bytes_since(tx: &mut Tx, before: i64) -> Result<(), StoreError> {
    let after = stored_bytes(tx).await?;
    tx.count(Quota::StoredBytes, after - before);
    Ok(())
}

fn version(resolver: &StoredResolver) -> i64 {
    i64::try_from(resolver.version).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
