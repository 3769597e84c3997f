//! The bytes of the named conditions that the policies on each resource or pattern use. A plan loads each condition once, and so
//! the quota `plan_bytes` counts it.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_engine::Policy;
use portcullis_model::named_condition::ConditionRecord;

use crate::content::conditions;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{fetch_all, fetch_optional};
use crate::transactions::tx::{Statements, Tx};

/// Reads the policies of a pattern whose text may use a condition by its name. In these words each database takes the index of
/// plans, without statistics, too.
pub(crate) const POLICIES_WITH_NAMES: Statements = Statements {
    sqlite: "SELECT format, rule_data FROM abac_policies INDEXED BY abac_policies_of_plans \
        WHERE tenant_id = $1 AND resource = $2 AND COALESCE(deleted_at, -1) = -1 \
        AND (instr(rule_data, '\"NAMED\"') > 0 OR instr(rule_data, 'condition') > 0)",
    postgres: "SELECT format, rule_data FROM abac_policies WHERE tenant_id = $1 AND resource = $2 \
        AND COALESCE(deleted_at, -1) = -1 \
        AND (strpos(rule_data, '\"NAMED\"') > 0 OR strpos(rule_data, 'condition') > 0)",
};

const COUNTED: &str =
    "SELECT condition_bytes FROM plan_sizes WHERE tenant_id = $1 AND pattern = $2";

/// Counts the conditions of the patterns whose uses the transaction may have changed. Returns by how much each number changes.
pub(super) async fn changes(tx: &mut Tx) -> Result<BTreeMap<String, i64>, StoreError> {
    let patterns = std::mem::take(&mut tx.changed_uses);
    let mut changes = BTreeMap::new();
    if patterns.is_empty() {
        return Ok(changes);
    }
    let records = conditions::all(tx).await?;
    let conditions = records.iter().map(|record| (&*record.name, Counted::new(record))).collect();
    for pattern in patterns {
        let sql = tx.statement(&POLICIES_WITH_NAMES);
        let policies = fetch_all!(tx, (String, String), sql, &tx.tenant, &pattern)?;
        let names = policies.iter().flat_map(|(format, rule_data)| {
            let format = format.parse().ok();
            let condition =
                format.and_then(|format| Policy::stored_condition(format, rule_data).ok());
            let names = condition.iter().flat_map(|condition| condition.names());
            names.map(str::to_owned).collect::<Vec<_>>()
        });
        let bytes = bytes_of(&conditions, names.collect());
        let before = fetch_optional!(tx, (i64,), COUNTED, &tx.tenant, &pattern)?;
        let change = bytes - before.map_or(0, |(bytes,)| bytes);
        if change != 0 {
            changes.insert(pattern, change);
        }
    }
    Ok(changes)
}

/// A condition as it counts.
struct Counted {
    bytes: i64,
    /// The names of the conditions that it uses itself.
    names: Vec<String>,
}

impl Counted {
    fn new(record: &ConditionRecord) -> Self {
        let written = record.written().ok();
        let names = written.iter().flat_map(|written| written.names());
        Self {
            bytes: i64::try_from(record.bytes()).unwrap_or(i64::MAX),
            names: names.map(str::to_owned).collect(),
        }
    }
}

/// Returns the bytes of the conditions with these names, and of those that they use, each once.
fn bytes_of(conditions: &BTreeMap<&str, Counted>, names: BTreeSet<String>) -> i64 {
    let mut left: Vec<&str> = names.iter().map(String::as_str).collect();
    let (mut known, mut bytes) = (BTreeSet::new(), 0);
    while let Some(name) = left.pop() {
        // A condition that is known already adds nothing, so that even a circle of names ends.
        if let Some(condition) = conditions.get(name).filter(|_| known.insert(name)) {
            bytes += condition.bytes;
            left.extend(condition.names.iter().map(String::as_str));
        }
    }
    bytes
}
