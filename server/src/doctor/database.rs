//! The database, and the keys of the secrets in it.

use std::collections::BTreeMap;

use portcullis_config::{
    Config, database_file, refuse_bypass, refuse_bypassing_role, with_standbys, without_password,
};
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
        Err(state @ (OpenError::NoSchema | OpenError::OlderSchema)) => {
            match judge_role(config).await {
                Ok(()) if is_in_memory(&config.database_url) => report.warning(
                    ABOUT,
                    format!("`{shown}` is in memory: everything is gone when the service stops"),
                ),
                Ok(()) => {
                    report.fine(ABOUT, format!("`{shown}`: {state}, and the next start does too"))
                }
                Err(fault) => report.wrong(ABOUT, fault.to_string()),
            }
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
    match &config.database_read_url {
        Some(url) => standbys(store, url, report).await,
        None => Some(store),
    }
}

fn is_in_memory(url: &str) -> bool {
    url.starts_with("sqlite:") && database_file(url).is_none()
}

/// Refuses a role that the start refuses before it makes the schema.
async fn judge_role(config: &Config) -> anyhow::Result<()> {
    if config.allow_bypass_rls {
        return Ok(());
    }
    refuse_bypassing_role(&config.database_url).await
}

/// Looks at the servers that plans are read from, and returns the store with them. Without them the primary serves.
async fn standbys(store: Store, url: &str, report: &mut Report) -> Option<Store> {
    match with_standbys(store, url) {
        Ok(store) => {
            for (host, fault) in store.standby_faults().await {
                report.warning(
                    ABOUT,
                    format!("DATABASE_READ_URL: `{host}` does not answer: {fault}"),
                );
            }
            Some(store)
        }
        Err(fault) => {
            report.wrong(ABOUT, fault.to_string());
            None
        }
    }
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
