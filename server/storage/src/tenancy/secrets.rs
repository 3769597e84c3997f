//! Every encrypted value of the database, for the re-encryption of secrets.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::tenancy::encryption::{Context, KeyId, KeyRing};
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, row};
use crate::transactions::tx::Tx;

/// A column of encrypted values.
#[derive(Clone, Copy, Debug)]
pub struct SecretColumn {
    /// The table and the column, as a [`Context`] has them.
    name: &'static str,
    /// The most values that one step re-encrypts, so that other writers wait a short time only.
    pub batch: i64,
}

/// Every column of encrypted values.
pub const COLUMNS: [SecretColumn; 5] = [
    SecretColumn { name: "webhooks.secret", batch: 100 },
    SecretColumn { name: "resolvers.secrets", batch: 100 },
    SecretColumn { name: "identity_providers.client_secret", batch: 100 },
    SecretColumn { name: "console_sessions.tokens", batch: 20 },
    // A request has up to 8 MiB.
    SecretColumn { name: "proposals.request", batch: 4 },
];

// Bytes 2 to 5 of a value are the id of its key.
impl SecretColumn {
    fn table_and_column(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or_default()
    }

    fn list(&self) -> String {
        let (table, column) = self.table_and_column();
        format!(
            "SELECT tenant_id, id, {column} AS secret FROM {table} \
            WHERE (tenant_id > $1 OR (tenant_id = $1 AND id > $2)) \
            AND substr({column}, 2, 4) <> $3 ORDER BY tenant_id, id LIMIT $4"
        )
    }

    fn replace(&self) -> String {
        let (table, column) = self.table_and_column();
        format!(
            "UPDATE {table} SET {column} = $4 WHERE tenant_id = $1 AND id = $2 AND {column} = $3"
        )
    }

    fn count(&self) -> String {
        let (table, column) = self.table_and_column();
        format!(
            "SELECT substr({column}, 2, 4), count(*) FROM {table} WHERE {column} IS NOT NULL \
            GROUP BY substr({column}, 2, 4)"
        )
    }
}

row! {
    struct SecretRow {
        tenant_id: String,
        id: Uuid,
        secret: Vec<u8>,
    }
}

/// The row after which a step begins.
pub type Position = (String, Uuid);

/// The outcome of a step of re-encryption.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReencryptedRows {
    /// The number of values that the first key encrypts now.
    pub reencrypted: usize,
    /// The last row of the step; `None` if no row was left.
    pub last: Option<Position>,
}

/// Encrypts up to `limit` values of a column that another key encrypts with the first key of the ring. A value that
/// cannot be decrypted, or that somebody replaced meanwhile, stays. For a transaction that sees every tenant.
pub async fn reencrypt(
    tx: &mut Tx,
    column: &SecretColumn,
    keys: &KeyRing,
    (tenant, id): &Position,
    limit: i64,
) -> Result<ReencryptedRows, StoreError> {
    let first = keys.first_id().to_vec();
    let rows = fetch_all!(tx, SecretRow, AssertSqlSafe(column.list()), tenant, *id, first, limit)?;
    let mut outcome = ReencryptedRows::default();
    for row in rows {
        let context = Context { tenant: &row.tenant_id, record: row.id, column: column.name };
        let plain = keys.decrypt(context, &row.secret);
        if let Ok(encrypted) = plain.and_then(|plain| keys.encrypt(context, &plain)) {
            let sql = AssertSqlSafe(column.replace());
            let changed = execute!(tx, sql, &row.tenant_id, row.id, &row.secret, encrypted)?;
            outcome.reencrypted += usize::from(changed > 0);
        }
        // Also past a value that stays: the next step must not begin with it again.
        outcome.last = Some((row.tenant_id, row.id));
    }
    Ok(outcome)
}

/// Counts the values of a column by the id of their key. Zeros stand for the missing bytes of a value that is too short
/// to have an id. For a transaction that sees every tenant.
pub async fn count(
    tx: &mut Tx,
    column: &SecretColumn,
    counts: &mut BTreeMap<KeyId, u64>,
) -> Result<(), StoreError> {
    for (stored, number) in fetch_all!(tx, (Vec<u8>, i64), AssertSqlSafe(column.count()))? {
        let mut id = KeyId::default();
        id.iter_mut().zip(stored).for_each(|(byte, stored)| *byte = stored);
        *counts.entry(id).or_default() += u64::try_from(number).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
