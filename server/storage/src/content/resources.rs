//! The table of registered resources.

use portcullis_engine::ResourcePattern;
use portcullis_engine::resource::split_resource;
use portcullis_model::audit::AuditAction;
use portcullis_model::event::Event;
use portcullis_model::page::{Listed, Page};
use portcullis_model::quota::Quota;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use crate::content::quotas::resource_bytes;
use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json_list;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, indexed, record, records, select, stored,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::row_lists::{Rows, write_rows};
use crate::transactions::row_streams::{Records, stream_rows};
use crate::transactions::tx::{Statements, Tx};

stored! {
    ResourceRecord as Row of "resources" {
        id, tenant_id,
        registration: Registration { name, display_name, service_name, default_roles },
        created_at, updated_at, managed_by,
    }
}

/// Finds the resource with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<ResourceRecord>, StoreError> {
    const SQL: &str = select!("FROM resources WHERE tenant_id = $1 AND id = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, id)?)
}

/// Finds the resource with this name.
pub async fn find_by_name(tx: &mut Tx, name: &str) -> Result<Option<ResourceRecord>, StoreError> {
    const SQL: &str = select!("FROM resources WHERE tenant_id = $1 AND name = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, name)?)
}

/// Lists a page of the resources, in order of creation.
pub async fn list(tx: &mut Tx, page: Page) -> Result<Listed<ResourceRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [name, display_name, service_name, default_roles],
        "FROM resources WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    );
    fetch_page!(tx, Row, page.limit, PAGES, &tx.tenant, page.after)
}

/// Lists all resources of the tenant, in order of creation.
pub async fn all(tx: &mut Tx) -> Result<Vec<ResourceRecord>, StoreError> {
    const SQL: &str = select!("FROM resources WHERE tenant_id = $1 ORDER BY id");
    records(fetch_all!(tx, Row, SQL, &tx.tenant)?)
}

/// Reads all resources of the tenant, or `owner`'s alone, in the order of names.
pub fn by_name<'t>(tx: &'t mut Tx, owner: Option<&'t str>) -> Records<'t, ResourceRecord> {
    const SQL: &str = select!(
        "FROM resources WHERE tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR managed_by = $2) \
        ORDER BY name"
    );
    stream_rows!(tx, Row, SQL, &tx.tenant, owner)
}

/// Returns whether the tenant has a resource that `pattern` matches.
pub async fn matches(tx: &mut Tx, pattern: &ResourcePattern) -> Result<bool, StoreError> {
    const ANY: &str = "SELECT name FROM resources WHERE tenant_id = $1 LIMIT 1";
    const STEM: &str = "SELECT stem FROM resources WHERE tenant_id = $1 AND stem = $2 LIMIT 1";
    const NAME: &str = "SELECT name FROM resources WHERE tenant_id = $1 AND name = $2";
    let found = match pattern {
        ResourcePattern::Any => fetch_optional!(tx, (String,), ANY, &tx.tenant)?,
        ResourcePattern::Name(stem) => fetch_optional!(tx, (String,), STEM, &tx.tenant, stem)?,
        ResourcePattern::Exact(name) => fetch_optional!(tx, (String,), NAME, &tx.tenant, name)?,
    };
    Ok(found.is_some())
}

/// Lists the first `limit` names of the tenant's resources, in their order.
pub async fn names(tx: &mut Tx, limit: u32) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT name FROM resources WHERE tenant_id = $1 ORDER BY name LIMIT $2";
    let rows = fetch_all!(tx, (String,), SQL, &tx.tenant, i64::from(limit))?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

/// Lists the first `limit` names of the tenant's resources that `pattern` matches, in their order.
pub async fn matching(
    tx: &mut Tx,
    pattern: &ResourcePattern,
    limit: u32,
) -> Result<Vec<String>, StoreError> {
    const STEM: Statements = indexed!(
        "SELECT name FROM resources",
        resources_by_stem,
        "WHERE tenant_id = $1 AND stem = $2 ORDER BY name LIMIT $3"
    );
    match pattern {
        ResourcePattern::Any => names(tx, limit).await,
        ResourcePattern::Name(stem) => {
            let sql = tx.statement(&STEM);
            let rows = fetch_all!(tx, (String,), sql, &tx.tenant, stem, i64::from(limit))?;
            Ok(rows.into_iter().map(|(name,)| name).collect())
        }
        ResourcePattern::Exact(name) => {
            let is_there = matches(tx, pattern).await?;
            Ok(is_there.then(|| name.to_string()).into_iter().collect())
        }
    }
}

/// Returns whether the tenant has a resource whose name ends with `verb`.
pub async fn have_verb(tx: &mut Tx, verb: &str) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT verb FROM resources WHERE tenant_id = $1 AND verb = $2 LIMIT 1";
    Ok(fetch_optional!(tx, (String,), SQL, &tx.tenant, verb)?.is_some())
}

/// Inserts `resource`, or replaces `old`, which has the same id. No decision reads this table, so the change touches no
/// plan.
pub async fn upsert(
    tx: &mut Tx,
    old: Option<&ResourceRecord>,
    resource: &ResourceRecord,
    by: &Authorship,
) -> Result<(), StoreError> {
    write(tx, &[resource]).await?;
    note_upsert(tx, old, resource);
    tx.record(Event::resource(resource, by));
    Ok(())
}

/// Writes resources, new or in place of those with their ids. The name of a resource never changes.
pub(crate) async fn write(tx: &mut Tx, resources: &[&ResourceRecord]) -> Result<(), StoreError> {
    const ROWS: Rows = Rows {
        head: "INSERT INTO resources (tenant_id, id, name, display_name, service_name, \
            default_roles, created_at, updated_at, stem, verb, managed_by)",
        values: 10,
        tail: "ON CONFLICT (tenant_id, id) DO UPDATE SET display_name = excluded.display_name, \
            service_name = excluded.service_name, default_roles = excluded.default_roles, \
            updated_at = excluded.updated_at, managed_by = excluded.managed_by",
    };
    write_rows!(tx, ROWS, resources, resource =>
        resource.id,
        &resource.registration.name,
        resource.registration.display_name.as_deref(),
        resource.registration.service_name.as_deref(),
        to_json_list(&resource.registration.default_roles),
        resource.created_at.millis(),
        resource.updated_at.map(Timestamp::millis),
        split_resource(&resource.registration.name).map_or("", |(stem, _)| stem),
        split_resource(&resource.registration.name).map_or("", |(_, verb)| verb),
        resource.managed_by.as_deref(),
    );
    Ok(())
}

/// Notes the consequences of a registration, except its event.
pub(crate) fn note_upsert(tx: &mut Tx, old: Option<&ResourceRecord>, resource: &ResourceRecord) {
    tx.count(Quota::Resources, i64::from(old.is_none()));
    tx.count(Quota::StoredBytes, resource_bytes(resource) - old.map_or(0, resource_bytes));
    // The revision rises, and no plan is touched.
    tx.touch([]);
    tx.audit_change(AuditAction::ResourceRegistered, resource.id, old, Some(resource));
}

/// Deletes `resource`. The rules that name it are other records.
pub async fn delete(tx: &mut Tx, resource: &ResourceRecord) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM resources WHERE tenant_id = $1 AND id = $2";
    if execute!(tx, SQL, &tx.tenant, resource.id)? > 0 {
        count_delete(tx, resource);
    }
    note_delete(tx, resource);
    Ok(())
}

/// Counts that `resource` is gone.
pub(crate) fn count_delete(tx: &mut Tx, resource: &ResourceRecord) {
    tx.count(Quota::Resources, -1);
    tx.count(Quota::StoredBytes, -resource_bytes(resource));
}

/// Notes the other consequences of the deletion of `resource`.
pub(crate) fn note_delete(tx: &mut Tx, resource: &ResourceRecord) {
    tx.touch([]);
    tx.audit_change(AuditAction::ResourceDeleted, resource.id, Some(resource), None);
}

#[cfg(test)]
mod tests;
