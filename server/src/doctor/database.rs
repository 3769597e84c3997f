//! The database, and the keys of the secrets in it.

use std::collections::BTreeMap;

use portcullis_config::{Config, refuse_bypass, without_password};
use portcullis_operations::secrets::hexadecimal;
use portcullis_storage::encryption::{KeyId, KeyRing};
use portcullis_storage::{OpenError, Store, StoreError, secrets};

use super::report::Report;

const ABOUT: &str = "database";

/// Looks at the database, and returns it if it has the schema of this version.
pub(super) async fn examine(config: &Config, report: &mut Report) -> Option<Store> {
    let shown = without_password(&config.database_url);
    let store = match Store::examine(&config.database_url).await {
        Ok(Some(store)) => store,
        Ok(None) => {
            report.fine(ABOUT, format!("`{shown}` does not exist: the first start makes it"));
            return None;
        }
        Err(OpenError::Schema(state)) => {
            report.fine(ABOUT, format!("`{shown}`: {state}, and the next start does too"));
            return None;
        }
        Err(fault) => {
            report.wrong(ABOUT, format!("DATABASE_URL `{shown}`: {fault}"));
            return None;
        }
    };
    if !config.allow_bypass_rls
        && let Err(fault) = refuse_bypass(&store).await
    {
        report.wrong(ABOUT, fault.to_string());
    } else {
        report.fine(ABOUT, format!("`{shown}` has the schema of this version"));
    }
    Some(store)
}

/// Looks for secrets that no key decrypts.
pub(super) async fn keys(store: &Store, keys: &KeyRing, report: &mut Report) {
    match counts(store).await {
        Ok(counts) => judge(&counts, keys, report),
        Err(fault) => report.wrong("keys", format!("cannot count the secrets: {fault}")),
    }
}

async fn counts(store: &Store) -> Result<BTreeMap<KeyId, u64>, StoreError> {
    store
        .read_all(async |tx| {
            let mut counts = BTreeMap::new();
            for column in &secrets::COLUMNS {
                secrets::count(tx, column, &mut counts).await?;
            }
            Ok(counts)
        })
        .await
}

fn judge(counts: &BTreeMap<KeyId, u64>, keys: &KeyRing, report: &mut Report) {
    let missing: Vec<_> = counts.iter().filter(|(id, _)| !keys.has(**id)).collect();
    for (id, number) in &missing {
        let id = hexadecimal(**id);
        report.wrong(
            "keys",
            format!(
                "{number} secrets need the key {id}, which ENCRYPTION_KEY does not have: add the key that was set when \
                 they were stored, behind the first one and a comma"
            ),
        );
    }
    if missing.is_empty() {
        let number: u64 = counts.values().sum();
        report.fine("keys", format!("ENCRYPTION_KEY has the keys of all {number} secrets"));
    }
}
