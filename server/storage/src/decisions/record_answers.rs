//! The answers of replicas to questions for decisions that are not sealed. PostgreSQL carries both: replicas know of each
//! other there, and each question is of one tenant, whose rows nobody else sees.

use portcullis_model::Timestamp;
use uuid::Uuid;

use crate::databases::notices;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional, row};
use crate::transactions::tx::{Inner, Tx};

row! {
    /// The answer of one replica.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RecordAnswer {
        pub replica: i64,
        /// Whether the records are all that the question asks for.
        pub complete: bool,
        pub records: Vec<u8>,
    }
}

/// Stores the answer to a question of the transaction's tenant. The commit tells the replica that asked.
pub async fn add(
    tx: &mut Tx,
    question: Uuid,
    answer: &RecordAnswer,
    at: Timestamp,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO record_answers (tenant_id, question, replica, at, complete, records) \
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let RecordAnswer { replica, complete, records } = answer;
    execute!(tx, SQL, &tx.tenant, question, *replica, at.millis(), *complete, records)?;
    if let Inner::Postgres(connection) = &mut tx.inner {
        notices::send_answer(connection, question, *replica).await?;
    }
    Ok(())
}

/// Lists the answers to a question of the transaction's tenant.
pub async fn list(tx: &mut Tx, question: Uuid) -> Result<Vec<RecordAnswer>, StoreError> {
    const SQL: &str = "SELECT replica, complete, records FROM record_answers \
        WHERE tenant_id = $1 AND question = $2 ORDER BY replica";
    Ok(fetch_all!(tx, RecordAnswer, SQL, &tx.tenant, question)?)
}

/// Removes the answers to a question of the transaction's tenant.
pub async fn remove(tx: &mut Tx, question: Uuid) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM record_answers WHERE tenant_id = $1 AND question = $2";
    execute!(tx, SQL, &tx.tenant, question)?;
    Ok(())
}

/// Returns whether some answer is from before `before`: whoever asked is gone. For a transaction that sees every tenant.
pub async fn has_older(tx: &mut Tx, before: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT replica FROM record_answers WHERE at < $1 LIMIT 1";
    Ok(fetch_optional!(tx, (i64,), SQL, before.millis())?.is_some())
}

/// Removes the answers from before `before`. For a transaction that sees every tenant.
pub async fn remove_older(tx: &mut Tx, before: Timestamp) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM record_answers WHERE at < $1";
    execute!(tx, SQL, before.millis())?;
    Ok(())
}
