//! The table of named conditions (`docs/semantics.md`, section 4.11).

use std::collections::BTreeSet;

use portcullis_engine::condition::NamedConditions;
use portcullis_engine::{Policy, ResourcePattern, Touched};
use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::named_condition::{ConditionRecord, named_conditions};
use portcullis_model::page::Listed;
use portcullis_model::quota::Quota;
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, select, stored,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::{Statements, Tx};

stored! {
    ConditionRecord as Row of "conditions" {
        name, about, condition, created_by, created_at, updated_by, updated_at, managed_by,
    }
}

/// Finds the condition with this name.
pub async fn find(tx: &mut Tx, name: &str) -> Result<Option<ConditionRecord>, StoreError> {
    const SQL: &str = select!("FROM conditions WHERE tenant_id = $1 AND name = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, name)?)
}

/// Lists a page of the conditions in the order of names, after the name `after`; the empty text begins.
pub async fn list(
    tx: &mut Tx,
    after: &str,
    limit: i64,
) -> Result<Listed<ConditionRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [name, about, condition],
        "FROM conditions WHERE tenant_id = $1 AND name > $2 ORDER BY name LIMIT $3"
    );
    fetch_page!(tx, Row, limit, PAGES, &tx.tenant, after)
}

/// Reads every condition, in the order of names.
pub async fn all(tx: &mut Tx) -> Result<Vec<ConditionRecord>, StoreError> {
    const SQL: &str = select!("FROM conditions WHERE tenant_id = $1 ORDER BY name");
    records(fetch_all!(tx, Row, SQL, &tx.tenant)?)
}

/// Reads the conditions as policies use them.
pub async fn named(tx: &mut Tx) -> Result<NamedConditions, StoreError> {
    Ok(named_conditions(&all(tx).await?))
}

/// Returns the policies with what the names in their conditions stand for. Reads nothing if there are no names.
pub(crate) async fn resolved(
    tx: &mut Tx,
    policies: Vec<Policy>,
) -> Result<Vec<Policy>, StoreError> {
    let mut written = policies.iter().filter_map(|policy| policy.condition.as_ref().ok());
    if !written.any(|condition| condition.has_names()) {
        return Ok(policies);
    }
    let names = named(tx).await?;
    Ok(policies.into_iter().map(|policy| policy.resolved(&names)).collect())
}

/// Returns whether the condition of a policy may use a name. It does not if the answer is no.
pub fn may_name(rule_data: &str) -> bool {
    // A tree has a node of the type `NAMED`, and an expression says `condition.<name>`. Elsewhere both words are harmless.
    rule_data.contains(r#""NAMED""#) || rule_data.contains("condition")
}

/// Inserts `new`, or replaces those with the same names.
pub async fn store(tx: &mut Tx, new: &[&ConditionRecord]) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO conditions (tenant_id, name, about, condition, \
        created_by, created_at, updated_by, updated_at, managed_by) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
        ON CONFLICT (tenant_id, name) DO UPDATE SET about = excluded.about, \
        condition = excluded.condition, updated_by = excluded.updated_by, \
        updated_at = excluded.updated_at, managed_by = excluded.managed_by";
    let before = all(tx).await?;
    for &record in new {
        execute!(
            tx,
            SQL,
            &tx.tenant,
            &record.name,
            record.about.as_deref(),
            record.condition.text(),
            &record.created_by,
            record.created_at.millis(),
            record.updated_by.as_deref(),
            record.updated_at.map(Timestamp::millis),
            record.managed_by.as_deref(),
        )?;
        let action = match record.updated_at {
            None => AuditAction::ConditionCreated,
            Some(_) => AuditAction::ConditionUpdated,
        };
        note(tx, action, before.iter().find(|old| old.name == record.name), Some(record));
    }
    touch_users(tx, &before, new).await
}

/// Deletes conditions.
pub async fn delete(tx: &mut Tx, old: &[&ConditionRecord]) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM conditions WHERE tenant_id = $1 AND name = $2";
    let before = all(tx).await?;
    for &record in old {
        execute!(tx, SQL, &tx.tenant, &record.name)?;
        note(tx, AuditAction::ConditionDeleted, Some(record), None);
    }
    touch_users(tx, &before, old).await
}

fn note(
    tx: &mut Tx,
    action: AuditAction,
    old: Option<&ConditionRecord>,
    new: Option<&ConditionRecord>,
) {
    tx.count(Quota::StoredBytes, new.map_or(0, bytes_of) - old.map_or(0, bytes_of));
    let name = new.or(old).map_or("", |record| &record.name);
    tx.audit_change(action, name, old, new);
}

fn bytes_of(record: &ConditionRecord) -> i64 {
    i64::try_from(record.bytes()).unwrap_or(i64::MAX)
}

/// Notes that the policies change that use one of `changed`, by further conditions, too. `before` are the conditions before the
/// change.
async fn touch_users(
    tx: &mut Tx,
    before: &[ConditionRecord],
    changed: &[&ConditionRecord],
) -> Result<(), StoreError> {
    // Both texts of a changed condition count: what it used before, and what it uses after.
    let used = users_among(before.iter().chain(changed.iter().copied()), changed);
    let touched = users(tx, &used).await?;
    tx.touch_names(touched);
    Ok(())
}

/// Returns the names of `changed`, and of the conditions among `all` that use one of them, by others, too.
fn users_among<'r>(
    all: impl Iterator<Item = &'r ConditionRecord>,
    changed: &[&'r ConditionRecord],
) -> BTreeSet<&'r str> {
    let uses: Vec<(&str, Vec<String>)> = all
        .filter_map(|record| {
            // A condition that cannot be read uses none.
            let written = record.written().ok()?;
            let names = written.names().into_iter().map(str::to_owned);
            Some((&*record.name, names.collect()))
        })
        .collect();
    let mut found: BTreeSet<&str> = changed.iter().map(|record| &*record.name).collect();
    loop {
        let known = found.len();
        let users =
            uses.iter().filter(|(_, names)| names.iter().any(|name| found.contains(&**name)));
        let users: Vec<&str> = users.map(|(name, _)| *name).collect();
        found.extend(users);
        if found.len() == known {
            return found;
        }
    }
}

/// Reads the policies whose text may use a condition by its name.
pub(crate) const USERS: Statements = Statements {
    sqlite: "SELECT id, resource, format, enabled, rule_data FROM abac_policies WHERE tenant_id = $1 \
        AND deleted_at IS NULL \
        AND (instr(rule_data, '\"NAMED\"') > 0 OR instr(rule_data, 'condition') > 0)",
    postgres: "SELECT id, resource, format, enabled, rule_data FROM abac_policies WHERE tenant_id = $1 \
        AND deleted_at IS NULL \
        AND (strpos(rule_data, '\"NAMED\"') > 0 OR strpos(rule_data, 'condition') > 0)",
};

/// Returns what a change of the conditions with these names touches: each enabled policy that uses one. Notes the patterns of all
/// that do.
async fn users(tx: &mut Tx, names: &BTreeSet<&str>) -> Result<Vec<Touched>, StoreError> {
    // A change of conditions is rare, and reads as many policies as the judgement before it.
    let sql = tx.statement(&USERS);
    let rows = fetch_all!(tx, (Uuid, String, String, bool, String), sql, &tx.tenant)?;
    let mut touched = Vec::new();
    for (id, resource, format, enabled, rule_data) in rows {
        let condition = format.parse().ok().map(|of| Policy::stored_condition(of, &rule_data));
        let uses = condition.and_then(Result::ok).is_some_and(|condition| {
            condition.names().into_iter().any(|name| names.contains(name))
        });
        let Some(pattern) = ResourcePattern::parse(&resource).filter(|_| uses) else { continue };
        if enabled {
            touched.push(Touched::by_policy(id, pattern));
        }
        tx.changed_uses.insert(resource);
    }
    Ok(touched)
}

#[cfg(test)]
mod tests;
