//! The verbs that requests about a type can have: those that some record names.

use std::collections::BTreeSet;

use portcullis_engine::resource::split_resource;

use crate::transactions::error::StoreError;
use crate::transactions::macros::fetch_all;
use crate::transactions::tx::Tx;

/// Most names of each kind of record that one chunk reads. A type has a few dozen verbs.
const MAX_NAMES: usize = 1_000;

/// Verbs of a type, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct VerbChunk {
    pub verbs: Vec<String>,
    /// The place after which the next chunk begins; `None` after the last chunk.
    pub next: Option<String>,
}

/// Returns the first verbs of the type `name` after `after`: verbs of registered resources, of rules and of enabled
/// policies, and the acts of rules about every verb.
pub async fn for_type(tx: &mut Tx, name: &str, after: &str) -> Result<VerbChunk, StoreError> {
    chunk(tx, name, after, MAX_NAMES).await
}

async fn chunk(tx: &mut Tx, name: &str, after: &str, most: usize) -> Result<VerbChunk, StoreError> {
    const RESOURCES: &str = "SELECT name FROM resources WHERE tenant_id = $1 \
        AND substr(name, 1, length($2)) = $2 AND name > $3 ORDER BY name LIMIT $4";
    const RULES: &str = "SELECT DISTINCT obj FROM rbac_rules WHERE tenant_id = $1 \
        AND substr(obj, 1, length($2)) = $2 AND obj > $3 ORDER BY obj LIMIT $4";
    const POLICIES: &str = "SELECT DISTINCT resource FROM abac_policies WHERE tenant_id = $1 \
        AND deleted_at IS NULL AND enabled AND substr(resource, 1, length($2)) = $2 AND resource > $3 \
        ORDER BY resource LIMIT $4";
    const ACTS: &str = "SELECT DISTINCT act FROM rbac_rules WHERE tenant_id = $1 \
        AND obj IN ($2, '*') AND act <> '*' AND act > $3 ORDER BY act LIMIT $4";
    let (prefix, any_verb) = (format!("{name}:"), format!("{name}:*"));
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let mut lists: Vec<Vec<String>> = Vec::new();
    for sql in [RESOURCES, RULES, POLICIES] {
        let names =
            fetch_all!(tx, (String,), sql, &tx.tenant, &prefix, format!("{prefix}{after}"), limit)?;
        let rests =
            names.into_iter().filter_map(|(name,)| name.strip_prefix(&prefix).map(str::to_owned));
        lists.push(rests.collect());
    }
    let acts = fetch_all!(tx, (String,), ACTS, &tx.tenant, &any_verb, after, limit)?;
    lists.push(acts.into_iter().map(|(act,)| act).collect());
    // A full list may go on. No other list is known to be complete beyond its end.
    let full = lists.iter().filter(|list| list.len() == most);
    let next = full.filter_map(|list| list.last()).min().cloned();
    let known: BTreeSet<&String> = lists.iter().flatten().collect();
    let known = known.into_iter().filter(|rest| next.as_ref().is_none_or(|next| rest <= &next));
    // A name with a further colon is of another type, though it begins with the same text.
    let verbs = known.filter_map(|rest| verb_of(name, &format!("{prefix}{rest}"))).collect();
    Ok(VerbChunk { verbs, next })
}

/// Returns the verb of a resource of this name, unless it is a pattern.
fn verb_of(name: &str, resource: &str) -> Option<String> {
    let (own, verb) = split_resource(resource)?;
    (own == name && verb != "*").then(|| verb.to_owned())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::testing::{TestDatabase, on_every_database};
    use crate::transactions::macros::execute;

    on_every_database!(chunks_have_every_verb_once_and_in_order);

    async fn chunks_have_every_verb_once_and_in_order(database: TestDatabase) {
        const RESOURCE: &str = "INSERT INTO resources (tenant_id, id, name, default_roles, created_at, stem, verb) \
            VALUES ($1, $2, $3, '[]', 0, $4, $5)";
        const RULE: &str = "INSERT INTO rbac_rules (tenant_id, id, obj, sub, dom, act, effect, origin, created_by, \
            created_at) VALUES ($1, $2, $3, 'ann', '*', $4, 'allow', 'explicit', 'ann', 0)";
        let store = database.open().await;
        let mut tx = store.write("acme", 0).await.expect("begins");
        let mut ids = (1..).map(Uuid::from_u128);
        // The last two are of other types, and the name of one begins with the same text.
        for name in ["doc:a", "doc:c", "doc:ü", "doc:x", "doc:b:read", "other:z"] {
            let (stem, verb) = split_resource(name).expect("a resource");
            execute!(tx, RESOURCE, &tx.tenant, ids.next(), name, stem, verb).expect("inserts");
        }
        for (obj, act) in [
            ("doc:b", "b"),
            ("doc:c", "c"),
            ("doc:*", "e"),
            ("*", "d"),
            ("doc:*", "*"),
            ("x:y", "f"),
        ] {
            execute!(tx, RULE, &tx.tenant, ids.next(), obj, act).expect("inserts");
        }
        let expected = ["a", "b", "c", "d", "e", "x", "ü"];
        for most in [1, 2, 3, 100] {
            let (mut all, mut after) = (Vec::new(), Some(String::new()));
            while let Some(place) = after {
                let chunk = chunk(&mut tx, "doc", &place, most).await.expect("works");
                assert!(chunk.verbs.len() <= 4 * most, "{most}: {chunk:?}");
                all.extend(chunk.verbs);
                after = chunk.next;
            }
            assert_eq!(all, expected, "{most}");
        }
    }
}
