//! The table of RBAC rules.

use portcullis_engine::{ResourcePattern, Rule, RuleTuple, Touched};
use portcullis_model::audit::AuditAction;
use portcullis_model::event::{Event, RuleChange};
use portcullis_model::page::{Listed, Page};
use portcullis_model::quota::Quota;
use portcullis_model::rule::{RuleOrigin, RuleRecord};
use portcullis_model::rule_filter::RuleFilter;
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use crate::content::quotas::rule_bytes;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, select, stored,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::row_lists::{Rows, write_rows};
use crate::transactions::row_streams::{Records, stream_rows};
use crate::transactions::tx::Tx;

stored! {
    RuleRecord as Row of "rbac_rules" {
        id, tuple: RuleTuple { sub, dom, obj, act }, effect, origin, created_by, created_at,
        updated_by, updated_at, managed_by,
    }
}

/// Finds the rule with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<RuleRecord>, StoreError> {
    const SQL: &str = select!("FROM rbac_rules WHERE tenant_id = $1 AND id = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, id)?)
}

/// Finds the rule with exactly this tuple.
pub async fn find_by_tuple(
    tx: &mut Tx,
    tuple: &RuleTuple,
) -> Result<Option<RuleRecord>, StoreError> {
    const SQL: &str = select!(
        "FROM rbac_rules \
        WHERE tenant_id = $1 AND obj = $2 AND sub = $3 AND dom = $4 AND act = $5"
    );
    record(fetch_optional!(
        tx,
        Row,
        SQL,
        &tx.tenant,
        tuple.obj.to_string(),
        &tuple.sub,
        &tuple.dom,
        &tuple.act,
    )?)
}

/// Lists a page of the rules that `filter` selects, in order of creation. It reads the rules of the tenant one after the
/// other until the page is full; their quota bounds the work.
pub async fn list(
    tx: &mut Tx,
    filter: &RuleFilter,
    page: Page,
) -> Result<Listed<RuleRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [sub, dom, obj, act],
        "FROM rbac_rules WHERE tenant_id = $1 \
        AND (CAST($2 AS TEXT) IS NULL OR sub = $2) AND (CAST($3 AS TEXT) IS NULL OR dom = $3) \
        AND (CAST($4 AS TEXT) IS NULL OR obj = $4) AND (CAST($5 AS TEXT) IS NULL OR act = $5) \
        AND (CAST($6 AS TEXT) IS NULL OR effect = $6) AND id > $7 ORDER BY id LIMIT $8"
    );
    let RuleFilter { sub, dom, obj, act, effect } = filter;
    let effect = effect.map(|effect| effect.into_str());
    fetch_page!(
        tx,
        Row,
        page.limit,
        PAGES,
        &tx.tenant,
        sub.as_deref(),
        dom.as_deref(),
        obj.as_deref(),
        act.as_deref(),
        effect,
        page.after
    )
}

/// Lists up to `limit` rules whose `obj` is exactly `name`: rules of default roles, and the explicit ones too if
/// `explicit`. They are in the order of the tuple index: SQLite would read every rule of the tenant for another order.
pub async fn for_object(
    tx: &mut Tx,
    name: &str,
    explicit: bool,
    limit: i64,
) -> Result<Vec<RuleRecord>, StoreError> {
    const SQL: &str = select!(
        "FROM rbac_rules WHERE tenant_id = $1 AND obj = $2 \
        AND origin IN ($3, $4) ORDER BY obj, sub, dom, act LIMIT $5"
    );
    let default_role = RuleOrigin::DefaultRole;
    // The statement has two places for origins. One that comes twice changes nothing.
    let other = if explicit { RuleOrigin::Explicit } else { default_role };
    records(fetch_all!(
        tx,
        Row,
        SQL,
        &tx.tenant,
        name,
        default_role.into_str(),
        other.into_str(),
        limit,
    )?)
}

/// Lists a page of the rules that can match `resource`, patterns included, in order of creation.
pub async fn matching(
    tx: &mut Tx,
    resource: &str,
    page: Page,
) -> Result<Listed<RuleRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [sub, dom, obj, act],
        "FROM rbac_rules WHERE tenant_id = $1 \
        AND obj IN ($2, $3, $4) AND id > $5 ORDER BY id LIMIT $6"
    );
    let [exact, name, any] = ResourcePattern::matching(resource);
    fetch_page!(tx, Row, page.limit, PAGES, &tx.tenant, &exact, &name, &any, page.after)
}

/// Lists all rules of the tenant, in order of creation.
pub async fn all(tx: &mut Tx) -> Result<Vec<RuleRecord>, StoreError> {
    const SQL: &str = select!("FROM rbac_rules WHERE tenant_id = $1 ORDER BY id");
    records(fetch_all!(tx, Row, SQL, &tx.tenant)?)
}

/// Lists the rules whose subject has a character that marks relations (`docs/semantics.md`, section 12.10).
pub async fn with_marker(tx: &mut Tx) -> Result<Vec<RuleRecord>, StoreError> {
    const SQL: &str = select!(
        "FROM rbac_rules WHERE tenant_id = $1 AND (sub LIKE '%@%' OR sub LIKE '%#%') ORDER BY id"
    );
    records(fetch_all!(tx, Row, SQL, &tx.tenant)?)
}

/// Reads all explicit rules of the tenant, or `owner`'s alone, in the order of `obj`, `sub`, `dom` and `act`.
pub fn explicit_by_tuple<'t>(tx: &'t mut Tx, owner: Option<&'t str>) -> Records<'t, RuleRecord> {
    const SQL: &str = select!(
        "FROM rbac_rules WHERE tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR managed_by = $2) \
        AND origin = 'explicit' ORDER BY obj, sub, dom, act"
    );
    stream_rows!(tx, Row, SQL, &tx.tenant, owner)
}

/// Returns the rules with these ids, as plans need them; `None` for one that is gone.
pub async fn by_ids(tx: &mut Tx, ids: &[Uuid]) -> Result<Vec<(Uuid, Option<Rule>)>, StoreError> {
    let mut rules = Vec::with_capacity(ids.len());
    for &id in ids {
        rules.push((id, find(tx, id).await?.map(from_record)));
    }
    Ok(rules)
}

/// Every rule, as plans need them.
pub async fn for_every_plan(tx: &mut Tx) -> Result<Vec<Rule>, StoreError> {
    Ok(all(tx).await?.into_iter().map(from_record).collect())
}

fn from_record(record: RuleRecord) -> Rule {
    Rule { id: record.id, tuple: record.tuple, effect: record.effect }
}

/// Inserts `rule`. False if its tuple has a rule already.
pub async fn insert(tx: &mut Tx, rule: &RuleRecord) -> Result<bool, StoreError> {
    let is_new = write_or(tx, "ON CONFLICT DO NOTHING", &[rule]).await? > 0;
    if is_new {
        note_insert(tx, rule);
    }
    Ok(is_new)
}

/// Writes rules, new or in place of those with their ids.
pub(crate) async fn write(tx: &mut Tx, rules: &[&RuleRecord]) -> Result<(), StoreError> {
    const REPLACE: &str = "ON CONFLICT (tenant_id, id) DO UPDATE SET sub = excluded.sub, \
        dom = excluded.dom, obj = excluded.obj, act = excluded.act, effect = excluded.effect, \
        origin = excluded.origin, updated_by = excluded.updated_by, \
        updated_at = excluded.updated_at, managed_by = excluded.managed_by";
    write_or(tx, REPLACE, rules).await.map(drop)
}

/// Inserts rules, or does what `tail` says. Returns the number of rows that were written.
async fn write_or(
    tx: &mut Tx,
    tail: &'static str,
    rules: &[&RuleRecord],
) -> Result<u64, StoreError> {
    let head = concat!("INSERT INTO rbac_rules (tenant_id, ", columns!(), ")");
    let rows = Rows { head, values: 12, tail };
    Ok(write_rows!(tx, rows, rules, rule =>
        rule.id,
        &rule.tuple.sub,
        &rule.tuple.dom,
        rule.tuple.obj.to_string(),
        &rule.tuple.act,
        rule.effect.into_str(),
        rule.origin.into_str(),
        &rule.created_by,
        rule.created_at.millis(),
        rule.updated_by.as_deref(),
        rule.updated_at.map(Timestamp::millis),
        rule.managed_by.as_deref(),
    ))
}

/// Notes the consequences of the insertion of `rule`.
pub(crate) fn note_insert(tx: &mut Tx, rule: &RuleRecord) {
    tx.count(Quota::Rules, 1);
    tx.count(Quota::StoredBytes, rule_bytes(rule));
    tx.count_on(&rule.tuple.obj, rule_bytes(rule));
    tx.touch([Touched::by_rule(rule.id, rule.tuple.obj.clone())]);
    let by = Authorship { actor: rule.created_by.clone(), at: rule.created_at };
    tx.record(Event::rule(RuleChange::Created, rule, &by));
    tx.audit_change(AuditAction::RuleCreated, rule.id, None, Some(rule));
}

/// Stores `new`, which has the id of `old`. False if another rule has its tuple.
pub async fn update(
    tx: &mut Tx,
    old: &RuleRecord,
    new: &RuleRecord,
    by: &Authorship,
) -> Result<bool, StoreError> {
    // `write` replaces by the id. A conflict of tuples would fail as an error of the database.
    if old.tuple != new.tuple && find_by_tuple(tx, &new.tuple).await?.is_some() {
        return Ok(false);
    }
    write(tx, &[new]).await?;
    note_update(tx, old, new, by);
    Ok(true)
}

/// Notes the consequences of the update of `old` to `new`. A change of the owner alone has no event.
pub(crate) fn note_update(tx: &mut Tx, old: &RuleRecord, new: &RuleRecord, by: &Authorship) {
    tx.count(Quota::StoredBytes, rule_bytes(new) - rule_bytes(old));
    tx.count_on(&old.tuple.obj, -rule_bytes(old));
    tx.count_on(&new.tuple.obj, rule_bytes(new));
    tx.touch([&old.tuple.obj, &new.tuple.obj].map(|obj| Touched::by_rule(new.id, obj.clone())));
    if (&old.tuple, old.effect, old.origin) != (&new.tuple, new.effect, new.origin) {
        tx.record(Event::rule(RuleChange::Updated, new, by));
    }
    tx.audit_change(AuditAction::RuleUpdated, new.id, Some(old), Some(new));
}

/// Deletes `rule`.
pub async fn delete(tx: &mut Tx, rule: &RuleRecord, by: &Authorship) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM rbac_rules WHERE tenant_id = $1 AND id = $2";
    if execute!(tx, SQL, &tx.tenant, rule.id)? > 0 {
        count_delete(tx, rule);
    }
    note_delete(tx, rule, by);
    Ok(())
}

/// Counts that `rule` is gone.
pub(crate) fn count_delete(tx: &mut Tx, rule: &RuleRecord) {
    tx.count(Quota::Rules, -1);
    tx.count(Quota::StoredBytes, -rule_bytes(rule));
    tx.count_on(&rule.tuple.obj, -rule_bytes(rule));
}

/// Notes the other consequences of the deletion of `rule`.
pub(crate) fn note_delete(tx: &mut Tx, rule: &RuleRecord, by: &Authorship) {
    tx.touch([Touched::by_rule(rule.id, rule.tuple.obj.clone())]);
    tx.record(Event::rule(RuleChange::Deleted, rule, by));
    tx.audit_change(AuditAction::RuleDeleted, rule.id, Some(rule), None);
}
