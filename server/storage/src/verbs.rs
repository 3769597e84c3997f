//! The verbs that requests about a type can have: those that some record names.

use std::collections::BTreeSet;

use portcullis_engine::resource::split_resource;

use crate::error::StoreError;
use crate::macros::fetch_all;
use crate::tx::Tx;

/// Most names of each kind of record that are read. A type has a few dozen verbs.
const MOST_NAMES: i64 = 10_000;

/// Returns the verbs of the type `name`, in order: those of registered resources, of rules and of enabled policies, and
/// the acts of rules about every verb.
pub async fn of_type(tx: &mut Tx, name: &str) -> Result<Vec<String>, StoreError> {
    const RESOURCES: &str = "SELECT name FROM resources WHERE tenant_id = $1 \
        AND substr(name, 1, length($2)) = $2 ORDER BY name LIMIT $3";
    const RULES: &str = "SELECT DISTINCT obj FROM rbac_rules WHERE tenant_id = $1 \
        AND substr(obj, 1, length($2)) = $2 ORDER BY obj LIMIT $3";
    const POLICIES: &str = "SELECT DISTINCT resource FROM abac_policies WHERE tenant_id = $1 \
        AND deleted_at IS NULL AND enabled AND substr(resource, 1, length($2)) = $2 ORDER BY resource LIMIT $3";
    const ACTS: &str = "SELECT DISTINCT act FROM rbac_rules WHERE tenant_id = $1 \
        AND obj IN ($2, '*') AND act <> '*' ORDER BY act LIMIT $3";
    let prefix = format!("{name}:");
    let mut verbs = BTreeSet::new();
    for sql in [RESOURCES, RULES, POLICIES] {
        let names = fetch_all!(tx, (String,), sql, &tx.tenant, &prefix, MOST_NAMES)?;
        verbs.extend(names.iter().filter_map(|(resource,)| verb_of(name, resource)));
    }
    let any_verb = format!("{name}:*");
    let acts = fetch_all!(tx, (String,), ACTS, &tx.tenant, &any_verb, MOST_NAMES)?;
    // An act that cannot be a verb stands in no resource.
    let acts = acts.into_iter().map(|(act,)| act);
    verbs.extend(acts.filter_map(|act| verb_of(name, &format!("{name}:{act}"))));
    Ok(verbs.into_iter().collect())
}

/// Returns the verb of a resource of this name, unless it is a pattern.
fn verb_of(name: &str, resource: &str) -> Option<String> {
    let (own, verb) = split_resource(resource)?;
    (own == name && verb != "*").then(|| verb.to_owned())
}
