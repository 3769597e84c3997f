//! The table of settings. Each tenant has one row.

use portcullis_engine::ResourcePattern;
use portcullis_model::Authorship;
use portcullis_model::apply::ObjectKind;
use portcullis_model::audit::AuditAction;
use portcullis_model::decision_log::Keep;
use portcullis_model::quota::Quota;
use portcullis_model::settings::{Gates, TenantSettings};
use serde_json::Value;

use crate::decisions::decision_files;
use crate::transactions::audit_entry::AuditEntry;
use crate::transactions::column_values::number;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_optional};
use crate::transactions::tx::Tx;

/// Returns the settings as JSON; `None` if the tenant has none.
pub async fn find(tx: &mut Tx) -> Result<Option<String>, StoreError> {
    let tenant = tx.tenant.clone();
    find_of(tx, &tenant).await
}

async fn find_of(tx: &mut Tx, tenant: &str) -> Result<Option<String>, StoreError> {
    const SQL: &str = "SELECT settings FROM tenant_settings WHERE tenant_id = $1";
    let row = fetch_optional!(tx, (String,), SQL, tenant)?;
    Ok(row.map(|(settings,)| settings))
}

/// Returns for how many milliseconds `tenant` keeps records of decisions.
pub async fn keeps_decisions(tx: &mut Tx, tenant: &str) -> Result<i64, StoreError> {
    Ok(keep(find_of(tx, tenant).await?.as_deref()))
}

/// Stores the settings as JSON, and the gates that they have. The gates of this transaction stay those from before.
pub async fn store(
    tx: &mut Tx,
    settings: &str,
    gates: Gates,
    by: &Authorship,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO tenant_settings (tenant_id, settings, updated_by, updated_at) \
        VALUES ($1, $2, $3, $4) ON CONFLICT (tenant_id) DO UPDATE SET \
        settings = excluded.settings, updated_by = excluded.updated_by, \
        updated_at = excluded.updated_at";
    const GATES: &str = "UPDATE tenants SET gate_cases = $2, gate_approval = $3 WHERE id = $1";
    let old = find(tx).await?;
    execute!(tx, SQL, &tx.tenant, settings, &by.actor, by.at.millis())?;
    execute!(tx, GATES, &tx.tenant, gates.cases, gates.approval)?;
    let before = old.as_ref().map_or(0, String::len);
    tx.count(Quota::StoredBytes, number(settings.len()) - number(before));
    tx.touch_guards();
    let changes = |name| member(old.as_deref(), name) != member(Some(settings), name);
    if ["decision_log", "actions", "unknown_subjects"].into_iter().any(changes) {
        // Plans know them, so that a check obeys them from the next one on.
        tx.touch([ResourcePattern::Any.into()]);
    }
    if changes("decision_log") {
        decision_files::keep(tx, keep(Some(settings))).await?;
    }
    let (tenant, new) = (tx.tenant.clone(), Some(settings.to_owned()));
    tx.record_changes.note(ObjectKind::Settings, tenant.clone(), old.clone(), new.clone());
    let entry = AuditEntry::new(AuditAction::SettingsUpdated, tenant);
    // What held until now, also where nobody had stored it.
    let before = old.or_else(|| serde_json::to_string(&TenantSettings::default()).ok());
    tx.audited.push(entry.with_change(before, new));
    Ok(())
}

/// Returns whether audit records have the values of the attributes of entities.
pub(crate) async fn audit_values(tx: &mut Tx) -> Result<bool, StoreError> {
    let Some(settings) = find(tx).await? else { return Ok(false) };
    let settings: Value =
        serde_json::from_str(&settings).map_err(StoreError::corrupt("tenant_settings.settings"))?;
    Ok(settings.get("audit_values").and_then(Value::as_bool).unwrap_or(false))
}

/// Stores whether the directory goes before requests. Plans know it, so a change touches all of them.
pub async fn store_directory_wins(tx: &mut Tx, wins: bool) -> Result<(), StoreError> {
    const SQL: &str =
        "UPDATE tenants SET directory_wins = $2 WHERE id = $1 AND directory_wins <> $2";
    if execute!(tx, SQL, &tx.tenant, wins)? > 0 {
        tx.touch([ResourcePattern::Any.into()]);
    }
    Ok(())
}

/// Returns for how many milliseconds records of decisions are kept.
fn keep(settings: Option<&str>) -> i64 {
    let own = member(settings, "decision_log");
    let keep = own.as_ref().and_then(|own| own.get("keep")?.as_str().and_then(Keep::parse));
    number(keep.unwrap_or_default().duration().as_millis())
}

/// Returns a member of settings.
fn member(settings: Option<&str>, name: &str) -> Option<Value> {
    let mut settings: Value = serde_json::from_str(settings?).ok()?;
    settings.get_mut(name).map(Value::take)
}

#[cfg(test)]
mod tests;
