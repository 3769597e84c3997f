//! The table of service API keys.

use portcullis_model::audit::AuditAction;
use portcullis_model::event::Event;
use portcullis_model::page::{Listed, Page};
use portcullis_model::quota::Quota;
use portcullis_model::service_key::{Permission, ServiceKeyRecord, key_prefix};
use portcullis_model::webhook::EventType;
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::json_list::{from_json_list, to_json_list};
use crate::transactions::macros::{execute, fetch_optional, record, row, select};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

row! {
    struct ServiceKeyRow as columns {
        id: Uuid,
        name: String,
        description: Option<String>,
        secret_hash: Vec<u8>,
        permissions: String,
        domain: Option<String>,
        created_by: String,
        created_at: i64,
        expires_at: Option<i64>,
        last_used_at: Option<i64>,
    }
}

impl TryFrom<ServiceKeyRow> for ServiceKeyRecord {
    type Error = StoreError;

    fn try_from(row: ServiceKeyRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id,
            name: row.name,
            description: row.description,
            prefix: key_prefix(row.id),
            permissions: permissions(&row.permissions)?,
            domain: row.domain,
            created_by: row.created_by,
            created_at: Timestamp::from_millis(row.created_at),
            expires_at: row.expires_at.map(Timestamp::from_millis),
            last_used_at: row.last_used_at.map(Timestamp::from_millis),
            secret_hash: row.secret_hash,
        })
    }
}

/// Reads the column `permissions`.
fn permissions(text: &str) -> Result<Vec<Permission>, StoreError> {
    const COLUMN: &str = "service_keys.permissions";
    let mut permissions = Vec::new();
    for name in from_json_list(text, COLUMN)? {
        permissions.push(name.parse().map_err(StoreError::corrupt(COLUMN))?);
    }
    Ok(permissions)
}

/// A service key, and the tenant that it determines.
#[derive(Debug)]
pub struct FoundKey {
    pub record: ServiceKeyRecord,
    pub tenant: String,
    pub slug: Option<String>,
    /// False if the tenant is suspended or being deleted.
    pub is_open: bool,
}

/// Finds the key with this id in any tenant. For a transaction that sees every tenant.
pub async fn find_anywhere(tx: &mut Tx, id: Uuid) -> Result<Option<FoundKey>, StoreError> {
    // In two statements: both tables have the columns `id` and `name`, which a join would make ambiguous.
    const TENANT: &str = "SELECT t.id, t.slug, \
        t.suspended_at IS NULL AND t.deleting_at IS NULL AS is_open \
        FROM service_keys k JOIN tenants t ON t.id = k.tenant_id WHERE k.id = $1";
    const SQL: &str = select!("FROM service_keys WHERE tenant_id = $1 AND id = $2");
    let found = fetch_optional!(tx, (String, Option<String>, bool), TENANT, id)?;
    let Some((tenant, slug, is_open)) = found else { return Ok(None) };
    let Some(row) = fetch_optional!(tx, ServiceKeyRow, SQL, &tenant, id)? else {
        return Ok(None);
    };
    Ok(Some(FoundKey { record: row.try_into()?, tenant, slug, is_open }))
}

/// Finds the tenant's key with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<ServiceKeyRecord>, StoreError> {
    const SQL: &str = select!("FROM service_keys WHERE tenant_id = $1 AND id = $2");
    record(fetch_optional!(tx, ServiceKeyRow, SQL, &tx.tenant, id)?)
}

/// Lists a page of the tenant's keys, in order of creation.
pub async fn list(tx: &mut Tx, page: Page) -> Result<Listed<ServiceKeyRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [name, description, permissions, domain],
        "FROM service_keys WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    );
    fetch_page!(tx, ServiceKeyRow, page.limit, PAGES, &tx.tenant, page.after)
}

/// Inserts a key.
pub async fn insert(tx: &mut Tx, key: &ServiceKeyRecord) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO service_keys (tenant_id, id, name, description, secret_hash, \
        permissions, domain, created_by, created_at, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let permissions: Vec<&str> = key.permissions.iter().map(|each| each.into_str()).collect();
    execute!(
        tx,
        SQL,
        &tx.tenant,
        key.id,
        &key.name,
        key.description.as_deref(),
        &*key.secret_hash,
        to_json_list(&permissions),
        key.domain.as_deref(),
        &key.created_by,
        key.created_at.millis(),
        key.expires_at.map(Timestamp::millis),
    )?;
    let by = Authorship { actor: key.created_by.clone(), at: key.created_at };
    tx.count(Quota::ServiceKeys, 1);
    tx.record(Event::service_key(EventType::ServiceKeyCreated, key.id, &key.name, &by));
    tx.audit(AuditAction::ServiceKeyCreated, key.id);
    Ok(())
}

/// Stores `now` as the last use of a key.
pub async fn used(tx: &mut Tx, id: Uuid, now: Timestamp) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE service_keys SET last_used_at = $3 WHERE tenant_id = $1 AND id = $2";
    execute!(tx, SQL, &tx.tenant, id, now.millis())?;
    Ok(())
}

/// Revokes the key with this id. False if it does not exist.
pub async fn delete(tx: &mut Tx, id: Uuid, by: &Authorship) -> Result<bool, StoreError> {
    const SQL: &str = "DELETE FROM service_keys WHERE tenant_id = $1 AND id = $2 RETURNING name";
    let Some((name,)) = fetch_optional!(tx, (String,), SQL, &tx.tenant, id)? else {
        return Ok(false);
    };
    tx.revoked_keys.push(id);
    tx.count(Quota::ServiceKeys, -1);
    tx.record(Event::service_key(EventType::ServiceKeyRevoked, id, &name, by));
    tx.audit(AuditAction::ServiceKeyRevoked, id);
    Ok(true)
}
