//! The table of roles that include other roles (`docs/semantics.md`, section 12.8).

use std::collections::BTreeSet;

use portcullis_engine::{ResourcePattern, RoleInclusions};
use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::page::Listed;
use portcullis_model::role::RoleRecord;

use crate::transactions::error::StoreError;
use crate::transactions::json_list::{from_json_list, to_json_list};
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, select, stored,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

stored! {
    RoleRecord as Row of "roles" {
        name, includes, created_by, created_at, updated_by, updated_at, managed_by,
    }
}

/// Finds the role with this name.
pub async fn find(tx: &mut Tx, name: &str) -> Result<Option<RoleRecord>, StoreError> {
    const SQL: &str = select!("FROM roles WHERE tenant_id = $1 AND name = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, name)?)
}

/// Lists a page of the roles in the order of names, after the name `after`; the empty text begins.
pub async fn list(tx: &mut Tx, after: &str, limit: i64) -> Result<Listed<RoleRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [name, includes],
        "FROM roles WHERE tenant_id = $1 AND name > $2 ORDER BY name LIMIT $3"
    );
    fetch_page!(tx, Row, limit, PAGES, &tx.tenant, after)
}

/// Reads every role that includes others, in the order of names.
pub async fn all(tx: &mut Tx) -> Result<Vec<RoleRecord>, StoreError> {
    const SQL: &str = select!("FROM roles WHERE tenant_id = $1 ORDER BY name");
    records(fetch_all!(tx, Row, SQL, &tx.tenant)?)
}

/// Reads which roles include which.
pub async fn inclusions(tx: &mut Tx) -> Result<RoleInclusions, StoreError> {
    Ok(RoleInclusions::new(pairs(tx).await?))
}

/// Returns the names of all roles that include others or are included.
pub async fn names(tx: &mut Tx) -> Result<BTreeSet<String>, StoreError> {
    let all = pairs(tx).await?.into_iter();
    Ok(all.flat_map(|(name, includes)| std::iter::once(name).chain(includes)).collect())
}

/// Reads every role that includes others, with the roles that it names.
async fn pairs(tx: &mut Tx) -> Result<Vec<(String, Vec<String>)>, StoreError> {
    const SQL: &str = "SELECT name, includes FROM roles WHERE tenant_id = $1";
    let rows = fetch_all!(tx, (String, String), SQL, &tx.tenant)?;
    let mut pairs = Vec::with_capacity(rows.len());
    for (name, includes) in rows {
        pairs.push((name, from_json_list(&includes, "roles.includes")?));
    }
    Ok(pairs)
}

/// Inserts `role`, or replaces the one with the same name.
pub async fn store(tx: &mut Tx, role: &RoleRecord) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO roles (tenant_id, name, includes, created_by, created_at, \
        updated_by, updated_at, managed_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
        ON CONFLICT (tenant_id, name) DO UPDATE SET includes = excluded.includes, \
        updated_by = excluded.updated_by, updated_at = excluded.updated_at, \
        managed_by = excluded.managed_by";
    let old = find(tx, &role.name).await?;
    execute!(
        tx,
        SQL,
        &tx.tenant,
        &role.name,
        to_json_list(&role.includes),
        &role.created_by,
        role.created_at.millis(),
        role.updated_by.as_deref(),
        role.updated_at.map(Timestamp::millis),
        role.managed_by.as_deref(),
    )?;
    let action = match role.updated_at {
        None => AuditAction::RoleCreated,
        Some(_) => AuditAction::RoleUpdated,
    };
    note(tx, action, old.as_ref(), Some(role));
    Ok(())
}

/// Deletes the role with this name. False if it does not exist.
pub async fn delete(tx: &mut Tx, name: &str) -> Result<bool, StoreError> {
    const SQL: &str = "DELETE FROM roles WHERE tenant_id = $1 AND name = $2";
    let Some(old) = find(tx, name).await? else { return Ok(false) };
    execute!(tx, SQL, &tx.tenant, name)?;
    note(tx, AuditAction::RoleDeleted, Some(&old), None);
    Ok(true)
}

/// Notes that what a role includes changed: rules of any resource may name it.
fn note(tx: &mut Tx, action: AuditAction, old: Option<&RoleRecord>, new: Option<&RoleRecord>) {
    tx.touch([ResourcePattern::Any.into()]);
    let name = new.or(old).map_or("", |role| &role.name);
    tx.audit_change(action, name, old, new);
}
