//! The comparisons of checks with drafts in shadow: columns of the table of drafts (`docs/semantics.md`, section 18.3).

use portcullis_model::shadow::ShadowReport;
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional, row};
use crate::transactions::tx::{Inner, Tx};

row! {
    /// A draft in shadow.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ShadowRow {
        pub tenant_id: String,
        /// The name of the draft.
        pub name: String,
        /// Identifies the comparison.
        pub shadow_id: Uuid,
    }
}

/// Returns the drafts in shadow of every tenant, at most `limit`, in the order of tenants.
pub async fn all(tx: &mut Tx, limit: i64) -> Result<Vec<ShadowRow>, StoreError> {
    const SQL: &str = "SELECT tenant_id, name, shadow_id FROM drafts WHERE shadow_id IS NOT NULL \
        ORDER BY tenant_id LIMIT $1";
    Ok(fetch_all!(tx, ShadowRow, SQL, limit)?)
}

/// Returns the draft in shadow of the transaction's tenant.
pub async fn find(tx: &mut Tx) -> Result<Option<ShadowRow>, StoreError> {
    const SQL: &str = "SELECT tenant_id, name, shadow_id FROM drafts WHERE tenant_id = $1 \
        AND shadow_id IS NOT NULL";
    Ok(fetch_optional!(tx, ShadowRow, SQL, &tx.tenant)?)
}

/// Returns the counts of the comparison `shadow_id` of `tenant` as they were stored last. They are empty if there are none
/// yet, or the comparison is over.
pub async fn counts(
    tx: &mut Tx,
    tenant: &str,
    shadow_id: Uuid,
) -> Result<ShadowReport, StoreError> {
    const SQL: &str = "SELECT shadow_counts FROM drafts WHERE tenant_id = $1 AND shadow_id = $2";
    let row = fetch_optional!(tx, (Option<String>,), SQL, tenant, shadow_id)?;
    read(row)
}

/// Returns the counts as [`counts`] does, and keeps others from storing theirs until the transaction ends.
pub async fn lock_counts(
    tx: &mut Tx,
    tenant: &str,
    shadow_id: Uuid,
) -> Result<ShadowReport, StoreError> {
    const SQL: &str =
        "SELECT shadow_counts FROM drafts WHERE tenant_id = $1 AND shadow_id = $2 FOR UPDATE";
    match tx.inner {
        // Its transactions that write come one after the other.
        Inner::Sqlite(_) => counts(tx, tenant, shadow_id).await,
        Inner::Postgres(_) => {
            let row = fetch_optional!(tx, (Option<String>,), SQL, tenant, shadow_id)?;
            read(row)
        }
    }
}

/// Stores the counts of a comparison, unless it is over.
pub async fn store_counts(
    tx: &mut Tx,
    tenant: &str,
    shadow_id: Uuid,
    counts: &ShadowReport,
) -> Result<(), StoreError> {
    const SQL: &str =
        "UPDATE drafts SET shadow_counts = $3 WHERE tenant_id = $1 AND shadow_id = $2";
    // It is made of numbers and texts.
    let counts = serde_json::to_string(counts).unwrap_or_default();
    execute!(tx, SQL, tenant, shadow_id, counts)?;
    Ok(())
}

fn read(row: Option<(Option<String>,)>) -> Result<ShadowReport, StoreError> {
    let Some((Some(counts),)) = row else { return Ok(ShadowReport::default()) };
    serde_json::from_str(&counts).map_err(StoreError::corrupt("drafts.shadow_counts"))
}

#[cfg(test)]
mod tests {
    use portcullis_model::Timestamp;
    use portcullis_model::draft::{DraftMode, DraftRecord};
    use serde_json::value::RawValue;

    use super::*;
    use crate::content::drafts;
    use crate::store::Store;
    use crate::testing::{TestDatabase, on_every_database};

    on_every_database!(counts_are_those_of_one_comparison, a_tenant_has_one_shadow);

    async fn put(store: &Store, name: &str, shadow_id: Option<u128>) -> Result<(), StoreError> {
        let mut tx = store.write("acme", 0).await.expect("begins");
        let draft = DraftRecord {
            name: name.to_owned(),
            tenant_id: "acme".to_owned(),
            bundle: RawValue::from_string("{}".to_owned()).expect("JSON"),
            domain: "acme".to_owned(),
            mode: DraftMode::default(),
            shadow: shadow_id.is_some(),
            created_by: "ann".to_owned(),
            created_at: Timestamp::from_millis(0),
            updated_by: None,
            updated_at: None,
        };
        drafts::store(&mut tx, &draft, shadow_id.map(Uuid::from_u128)).await?;
        tx.commit().await.map(drop)
    }

    async fn counted(store: &Store, id: u128) -> u64 {
        let mut tx = store.begin_read("acme").await.expect("begins");
        let report = counts(&mut tx, "acme", Uuid::from_u128(id)).await.expect("works");
        tx.end().await.expect("ends");
        report.checks
    }

    async fn counts_are_those_of_one_comparison(database: TestDatabase) {
        let store = database.open().await;
        put(&store, "d", Some(1)).await.expect("works");
        let mut tx = store.write_all().await.expect("begins");
        let (first, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut report = lock_counts(&mut tx, "acme", first).await.expect("works");
        assert!(report.is_empty());
        report.checks = 7;
        for id in [first, other] {
            store_counts(&mut tx, "acme", id, &report).await.expect("works");
        }
        let expected =
            ShadowRow { tenant_id: "acme".to_owned(), name: "d".to_owned(), shadow_id: first };
        assert_eq!(all(&mut tx, 10).await.expect("works"), std::slice::from_ref(&expected));
        tx.commit().await.expect("commits");
        assert_eq!((counted(&store, 1).await, counted(&store, 2).await), (7, 0));
        let mut tx = store.begin_read("acme").await.expect("begins");
        assert_eq!(find(&mut tx).await.expect("works"), Some(expected));
        tx.end().await.expect("ends");
        put(&store, "d", Some(2)).await.expect("works");
        assert_eq!((counted(&store, 1).await, counted(&store, 2).await), (0, 0));
        put(&store, "d", None).await.expect("works");
        let mut tx = store.begin_read("acme").await.expect("begins");
        assert_eq!(find(&mut tx).await.expect("works"), None);
        tx.end().await.expect("ends");
    }

    async fn a_tenant_has_one_shadow(database: TestDatabase) {
        let store = database.open().await;
        put(&store, "d", Some(1)).await.expect("works");
        assert!(put(&store, "e", Some(2)).await.is_err());
        put(&store, "e", None).await.expect("works");
    }
}
