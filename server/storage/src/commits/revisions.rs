//! The table of revisions: the history of each tenant. The commit writes it, so a revision is in it if and only if its
//! changes are stored.

use std::collections::BTreeMap;

use portcullis_model::Timestamp;
use portcullis_model::audit::{ChangeAuthor, ChangeSource, CredentialKind};
use portcullis_model::page::Listed;
use portcullis_model::revision::{RevisionRecord, RevisionVia};
use sha2::{Digest, Sha256};

use crate::commits::author::Author;
use crate::commits::revision_changes::{self, KeptChange};
use crate::transactions::column_values::number;
use crate::transactions::error::StoreError;
use crate::transactions::json_list::from_json;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, row, select,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

/// Bytes that a revision and each of its changes count beside the records and the source: names, hashes, indexes.
const ROW_BYTES: usize = 256;

row! {
    struct RevisionRow as columns {
        revision: i64,
        created_at: i64,
        actor: String,
        credential: String,
        key_id: Option<String>,
        key_name: Option<String>,
        via: String,
        source: Option<String>,
        request_id: Option<String>,
        changes: i64,
    }
}

impl TryFrom<RevisionRow> for RevisionRecord {
    type Error = StoreError;

    fn try_from(row: RevisionRow) -> Result<Self, StoreError> {
        let source: Option<ChangeSource> = from_json(row.source, "revisions.source")?;
        Ok(Self {
            revision: u64::try_from(row.revision)
                .map_err(StoreError::corrupt("revisions.revision"))?,
            at: Timestamp::from_millis(row.created_at),
            author: ChangeAuthor {
                actor: row.actor,
                credential: row.credential,
                key: row.key_id,
                key_name: row.key_name,
            },
            via: row.via.parse().map_err(StoreError::corrupt("revisions.via"))?,
            message: source.as_ref().and_then(|source| source.message.clone()),
            source,
            request_id: row.request_id,
            count: row.changes,
        })
    }
}

/// Stores that the transaction makes `revision`, with the records that it changes.
pub(crate) async fn write(tx: &mut Tx, revision: u64, author: &Author) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO revisions (tenant_id, revision, created_at, actor, credential, \
        key_id, key_name, via, source, request_id, changes, bytes) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let changes = std::mem::take(&mut tx.record_changes).into_changes();
    let (revision, via) = (number(revision), via(tx, author));
    let mut bytes = ROW_BYTES + author.source.as_deref().map_or(0, str::len);
    let (mut values, mut kept) = (BTreeMap::new(), Vec::with_capacity(changes.len()));
    for ((kind, record), change) in &changes {
        let [before, after] = [&change.before, &change.after].map(|text| {
            let hash: [u8; 32] = Sha256::digest(text.as_deref()?).into();
            Some(hash)
        });
        // Equal texts are stored once, under their hash.
        for (hash, text) in [(before, &change.before), (after, &change.after)] {
            if let Some((hash, text)) = hash.zip(text.as_deref()) {
                values.insert(hash, text);
                bytes += text.len();
            }
        }
        bytes += ROW_BYTES;
        let [before, after] = [before, after].map(|hash| hash.map(Vec::from));
        kept.push(KeptChange { kind: kind.into_str(), record, before, after });
    }
    let values: Vec<_> = values.into_iter().map(|(hash, text)| (hash.to_vec(), text)).collect();
    revision_changes::write(tx, revision, &kept, &values).await?;
    execute!(
        tx,
        SQL,
        &tx.tenant,
        revision,
        author.at.millis(),
        &author.origin.actor,
        author.origin.credential.into_str(),
        author.origin.key.as_deref(),
        author.key_name.as_deref(),
        via.into_str(),
        author.source.as_deref(),
        author.origin.request_id.as_deref(),
        number(changes.len()),
        number(bytes),
    )?;
    Ok(())
}

/// Returns the way on which the changes of the transaction came.
fn via(tx: &Tx, author: &Author) -> RevisionVia {
    tx.via.unwrap_or(match author.origin.credential {
        CredentialKind::Service => RevisionVia::Service,
        _ => RevisionVia::Api,
    })
}

/// Lists a page of the revisions before `before`, newest first.
pub async fn list(
    tx: &mut Tx,
    before: u64,
    limit: i64,
) -> Result<Listed<RevisionRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [actor, source],
        "FROM revisions WHERE tenant_id = $1 AND revision < $2 ORDER BY revision DESC LIMIT $3"
    );
    fetch_page!(tx, RevisionRow, limit, PAGES, &tx.tenant, number(before))
}

/// Finds a revision that is kept.
pub async fn find(tx: &mut Tx, revision: u64) -> Result<Option<RevisionRecord>, StoreError> {
    const SQL: &str = select!("FROM revisions WHERE tenant_id = $1 AND revision = $2");
    record(fetch_optional!(tx, RevisionRow, SQL, &tx.tenant, number(revision))?)
}

/// Lists `count` revisions before `before` that changed the record, newest first.
pub async fn for_record(
    tx: &mut Tx,
    (kind, record): (&str, &str),
    before: u64,
    count: usize,
) -> Result<Vec<RevisionRecord>, StoreError> {
    const SQL: &str = select!(
        "FROM revisions WHERE tenant_id = $1 AND revision IN (SELECT revision \
        FROM revision_changes WHERE tenant_id = $1 AND kind = $2 AND record = $3 AND revision < $4) \
        ORDER BY revision DESC LIMIT $5"
    );
    let (before, count) = (number(before), number(count));
    records(fetch_all!(tx, RevisionRow, SQL, &tx.tenant, kind, record, before, count)?)
}

/// Returns the tenants that have revisions from before `before`, or more than `bytes` of history, and the bytes of the
/// history of all tenants. For a transaction that sees every tenant.
pub async fn prunable_tenants(
    tx: &mut Tx,
    before: Timestamp,
    bytes: u64,
) -> Result<(Vec<String>, i64), StoreError> {
    const SQL: &str = "SELECT tenant_id, CAST(SUM(bytes) AS BIGINT), MIN(created_at) FROM revisions \
        GROUP BY tenant_id ORDER BY tenant_id";
    let rows = fetch_all!(tx, (String, i64, i64), SQL)?;
    let all = rows.iter().map(|(_, kept, _)| kept).sum();
    let due = rows
        .into_iter()
        .filter(|(_, kept, oldest)| *kept > number(bytes) || *oldest < before.millis());
    Ok((due.map(|(tenant, ..)| tenant).collect(), all))
}

/// Returns the oldest revision that is to be kept: none from before `before`, and no more than `bytes` of them, but
/// always the newest. For a transaction that sees every tenant.
pub async fn first_kept(
    tx: &mut Tx,
    tenant: &str,
    before: Timestamp,
    bytes: u64,
) -> Result<u64, StoreError> {
    // `MAX` keeps the newest where all are too old or too large.
    const SQL: &str = "SELECT COALESCE(MIN(revision), (SELECT MAX(revision) FROM revisions \
        WHERE tenant_id = $1), 0) FROM (SELECT revision, created_at, \
        SUM(bytes) OVER (ORDER BY revision DESC) AS total FROM revisions WHERE tenant_id = $1) r \
        WHERE total <= $2 AND created_at >= $3";
    let row = fetch_optional!(tx, (i64,), SQL, tenant, number(bytes), before.millis())?;
    Ok(row.and_then(|(first,)| u64::try_from(first).ok()).unwrap_or_default())
}

/// Deletes up to `limit` revisions of `tenant` before `first`, and what only they need. Returns the number of revisions
/// and the number of all rows. For a transaction that sees every tenant.
pub async fn prune(
    tx: &mut Tx,
    tenant: &str,
    first: u64,
    limit: i64,
) -> Result<(u64, u64), StoreError> {
    const SQL: &str = "DELETE FROM revisions WHERE (tenant_id, revision) IN (SELECT tenant_id, revision \
        FROM revisions WHERE tenant_id = $1 AND revision < $2 ORDER BY revision LIMIT $3)";
    // A revision that is still there has all that changed since.
    const OLDEST: &str = "SELECT COALESCE(MIN(revision), $2) FROM revisions WHERE tenant_id = $1";
    let revisions = execute!(tx, SQL, tenant, number(first), limit)?;
    let oldest = fetch_optional!(tx, (i64,), OLDEST, tenant, number(first))?;
    // At most `first`: what changed at it or later is kept.
    let oldest = oldest.map_or(number(first), |(oldest,)| oldest.min(number(first)));
    Ok((revisions, revisions + revision_changes::prune(tx, tenant, oldest, limit).await?))
}

#[cfg(test)]
mod tests;
