//! The table of ABAC policies.

use std::collections::HashMap;

use portcullis_engine::{Effect, Policy, Touched};
use portcullis_model::audit::AuditAction;
use portcullis_model::event::Event;
use portcullis_model::page::{Listed, Page};
use portcullis_model::policy::PolicyRecord;
use portcullis_model::quota::Quota;
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use crate::content::conditions;
use crate::content::quotas::policy_bytes;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, select, stored,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::row_lists::{Rows, change_by_id, write_rows};
use crate::transactions::row_streams::{Records, stream_rows};
use crate::transactions::tx::Tx;

stored! {
    PolicyRecord as Row of "abac_policies" {
        tenant_id, id, name, description, resource, effect, format, rule_data, priority,
        enabled, created_by, created_at, updated_by, updated_at, managed_by,
    }
}

/// Finds the policy with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<PolicyRecord>, StoreError> {
    const SQL: &str =
        select!("FROM abac_policies WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, id)?)
}

/// Lists a page of the policies, in order of creation; `resource`, `effect` and a part of the name, in any case, filter them if
/// given.
pub async fn list(
    tx: &mut Tx,
    resource: Option<&str>,
    effect: Option<Effect>,
    name_part: Option<&str>,
    page: Page,
) -> Result<Listed<PolicyRecord>, StoreError> {
    // Not `LIKE`, for which `%` and `_` in the part would stand for other characters.
    const PAGES: Pages = pages!(
        [name, description, rule_data],
        "FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL \
        AND (CAST($2 AS TEXT) IS NULL OR resource = $2) \
        AND (CAST($3 AS TEXT) IS NULL OR effect = $3) \
        AND (CAST($4 AS TEXT) IS NULL OR replace(lower(name), lower($4), '') <> lower(name)) \
        AND id > $5 ORDER BY id LIMIT $6"
    );
    let effect = effect.map(|effect| effect.into_str());
    // To replace the empty text changes no name, so that the statement would find nothing.
    let part = name_part.filter(|part| !part.is_empty());
    fetch_page!(tx, Row, page.limit, PAGES, &tx.tenant, resource, effect, part, page.after)
}

/// Lists all policies of the tenant, in order of creation.
pub async fn all(tx: &mut Tx) -> Result<Vec<PolicyRecord>, StoreError> {
    const SQL: &str = select!(
        "FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL \
        ORDER BY id"
    );
    records(fetch_all!(tx, Row, SQL, &tx.tenant)?)
}

/// Reads all policies of the tenant, or `owner`'s alone, in the order of names and creation.
pub fn by_name<'t>(tx: &'t mut Tx, owner: Option<&'t str>) -> Records<'t, PolicyRecord> {
    // By the index, because to sort whole policies takes their memory, or the disk.
    const SQLITE: &str = select!(
        "FROM abac_policies INDEXED BY abac_policies_by_name WHERE tenant_id = $1 \
        AND deleted_at IS NULL AND (CAST($2 AS TEXT) IS NULL OR managed_by = $2) ORDER BY name, id"
    );
    // `COLLATE "C"` orders by bytes, as SQLite does.
    const POSTGRES: &str = select!(
        "FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL \
        AND (CAST($2 AS TEXT) IS NULL OR managed_by = $2) ORDER BY name COLLATE \"C\", id"
    );
    let sql = tx.either(SQLITE, POSTGRES);
    stream_rows!(tx, Row, sql, &tx.tenant, owner)
}

/// Lists every enabled policy, as plans need them.
pub async fn for_every_plan(tx: &mut Tx) -> Result<Vec<Policy>, StoreError> {
    const SQL: &str = select!(
        "FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL \
        AND enabled ORDER BY id"
    );
    let rows = fetch_all!(tx, Row, SQL, &tx.tenant)?;
    let policies = rows.into_iter().map(|row| PolicyRecord::try_from(row).map(planned));
    conditions::resolved(tx, policies.collect::<Result<_, _>>()?).await
}

/// Returns the policies with these ids, as plans need them; `None` for one that is gone or not enabled.
pub async fn by_ids(tx: &mut Tx, ids: &[Uuid]) -> Result<Vec<(Uuid, Option<Policy>)>, StoreError> {
    let mut present = Vec::new();
    for &id in ids {
        let record = find(tx, id).await?.filter(|record| record.enabled);
        present.extend(record.map(planned));
    }
    let present = conditions::resolved(tx, present).await?;
    let mut present: HashMap<Uuid, Policy> = present.into_iter().map(|one| (one.id, one)).collect();
    Ok(ids.iter().map(|id| (*id, present.remove(id))).collect())
}

/// Returns the policy as plans need it, but for what the names in its condition stand for. Reads its condition, which takes
/// time in proportion to its size.
pub fn planned(record: PolicyRecord) -> Policy {
    Policy {
        id: record.id,
        condition: Policy::stored_condition(record.format, record.rule_data.text()),
        name: record.name,
        resource: record.resource,
        effect: record.effect,
        priority: record.priority,
    }
}

/// Inserts `policy`.
pub async fn insert(tx: &mut Tx, policy: &PolicyRecord) -> Result<(), StoreError> {
    write(tx, &[policy]).await?;
    note_insert(tx, policy);
    Ok(())
}

/// Writes policies, new or in place of those with their ids. The resource of a policy never changes.
pub(crate) async fn write(tx: &mut Tx, policies: &[&PolicyRecord]) -> Result<(), StoreError> {
    const ROWS: Rows = Rows {
        head: concat!("INSERT INTO abac_policies (", columns!(), ")"),
        values: 14,
        tail: "ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, \
            description = excluded.description, effect = excluded.effect, \
            format = excluded.format, rule_data = excluded.rule_data, \
            priority = excluded.priority, enabled = excluded.enabled, \
            updated_by = excluded.updated_by, updated_at = excluded.updated_at, \
            managed_by = excluded.managed_by",
    };
    write_rows!(tx, ROWS, policies, policy =>
        policy.id,
        &policy.name,
        policy.description.as_deref(),
        policy.resource.to_string(),
        policy.effect.into_str(),
        policy.format.into_str(),
        policy.rule_data.text(),
        policy.priority,
        policy.enabled,
        &policy.created_by,
        policy.created_at.millis(),
        policy.updated_by.as_deref(),
        policy.updated_at.map(Timestamp::millis),
        policy.managed_by.as_deref(),
    );
    Ok(())
}

/// Notes that the use of named conditions changes by `policy`, if it may use any.
fn note_uses(tx: &mut Tx, policy: &PolicyRecord) {
    if conditions::may_name(policy.rule_data.text()) {
        tx.changed_uses.insert(policy.resource.to_string());
    }
}

/// Notes the consequences of the insertion of `policy`.
pub(crate) fn note_insert(tx: &mut Tx, policy: &PolicyRecord) {
    tx.count(Quota::Policies, 1);
    tx.count(Quota::StoredBytes, policy_bytes(policy));
    tx.count_on(&policy.resource, policy_bytes(policy));
    note_uses(tx, policy);
    tx.touch([Touched::by_policy(policy.id, policy.resource.clone())]);
    tx.record(Event::policy_created(policy));
    tx.audit_change(AuditAction::PolicyCreated, policy.id, None, Some(policy));
}

/// Stores `policy`, the updated form of `old`. The resource never changes.
pub async fn update(
    tx: &mut Tx,
    old: &PolicyRecord,
    policy: &PolicyRecord,
    by: &Authorship,
) -> Result<(), StoreError> {
    write(tx, &[policy]).await?;
    note_update(tx, old, policy, by);
    Ok(())
}

/// Notes the consequences of the update of `old` to `policy`. A change of the owner alone has no event.
pub(crate) fn note_update(tx: &mut Tx, old: &PolicyRecord, policy: &PolicyRecord, by: &Authorship) {
    let growth = policy_bytes(policy) - policy_bytes(old);
    tx.count(Quota::StoredBytes, growth);
    tx.count_on(&policy.resource, growth);
    note_uses(tx, old);
    note_uses(tx, policy);
    tx.touch([Touched::by_policy(policy.id, policy.resource.clone())]);
    if !policy.has_content_of(old) {
        tx.record(Event::policy_updated(old, policy, by));
    }
    tx.audit_change(AuditAction::PolicyUpdated, policy.id, Some(old), Some(policy));
}

/// Marks `policy` as deleted; the record is retained.
pub async fn delete(tx: &mut Tx, policy: &PolicyRecord, by: &Authorship) -> Result<(), StoreError> {
    mark_deleted(tx, &[policy.id], by).await?;
    note_delete(tx, policy, by);
    Ok(())
}

/// Marks the policies with these ids as deleted.
pub(crate) async fn mark_deleted(
    tx: &mut Tx,
    ids: &[Uuid],
    by: &Authorship,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE abac_policies SET deleted_at = $2 WHERE tenant_id = $1";
    change_by_id(tx, SQL, Some(by.at), ids).await
}

/// Forgets the retained records of deleted policies with these ids, which come back as new ones.
pub async fn forget_deleted(tx: &mut Tx, ids: &[Uuid]) -> Result<(), StoreError> {
    const FIND: &str =
        select!("FROM abac_policies WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NOT NULL");
    const DELETE: &str = "DELETE FROM abac_policies WHERE tenant_id = $1 AND id = $2";
    for &id in ids {
        let old: Option<PolicyRecord> = record(fetch_optional!(tx, Row, FIND, &tx.tenant, id)?)?;
        if let Some(old) = old {
            execute!(tx, DELETE, &tx.tenant, id)?;
            tx.count(Quota::StoredBytes, -policy_bytes(&old));
        }
    }
    Ok(())
}

/// Notes the consequences of the deletion of `policy`.
pub(crate) fn note_delete(tx: &mut Tx, policy: &PolicyRecord, by: &Authorship) {
    // The stored bytes still count, because the record is retained; no plan loads it.
    tx.count(Quota::Policies, -1);
    tx.count_on(&policy.resource, -policy_bytes(policy));
    note_uses(tx, policy);
    tx.touch([Touched::by_policy(policy.id, policy.resource.clone())]);
    tx.record(Event::policy_deleted(policy, by));
    tx.audit_change(AuditAction::PolicyDeleted, policy.id, Some(policy), None);
}
