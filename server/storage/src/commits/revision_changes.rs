//! The tables of the records that revisions changed. A record is stored once by its hash, however many changes have it, so
//! the tables grow with what changes.

use portcullis_model::apply::ObjectKind;
use portcullis_model::page::Listed;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, stored};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::row_lists::{Rows, write_rows};
use crate::transactions::tx::Tx;

/// A change of a record as it is written, with the hashes of what was before and is after.
#[derive(Debug)]
pub(crate) struct KeptChange<'c> {
    pub(crate) kind: &'static str,
    pub(crate) record: &'c str,
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Option<Vec<u8>>,
}

/// A record before and after one revision or several, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRecord {
    pub kind: ObjectKind,
    /// The id, or the name of a role or type.
    pub record: String,
    /// The last revision that changed it.
    pub revision: u64,
    pub before: Option<String>,
    pub after: Option<String>,
}

stored! {
    ChangedRecord as Row of "revision_changes" { kind, record, revision, before, after }
}

/// Writes the changes of a revision, and the records that they have, by their hashes.
pub(crate) async fn write(
    tx: &mut Tx,
    revision: i64,
    changes: &[KeptChange<'_>],
    values: &[(Vec<u8>, &str)],
) -> Result<(), StoreError> {
    // A record that a later revision has again stays until that one is removed.
    const VALUES: Rows = Rows {
        head: "INSERT INTO revision_values (tenant_id, hash, last_revision, value)",
        values: 3,
        tail: "ON CONFLICT (tenant_id, hash) DO UPDATE SET last_revision = excluded.last_revision",
    };
    const CHANGES: Rows = Rows {
        head: "INSERT INTO revision_changes (tenant_id, kind, record, revision, before_hash, after_hash)",
        values: 5,
        tail: "",
    };
    write_rows!(tx, VALUES, values, value => &value.0, revision, value.1);
    write_rows!(tx, CHANGES, changes, change =>
        change.kind,
        change.record,
        revision,
        change.before.as_deref(),
        change.after.as_deref(),
    );
    Ok(())
}

/// Lists a page of the records that differ between the revisions `from` and `to`, after the place `after`, in the order of
/// kinds and ids or names.
pub async fn between(
    tx: &mut Tx,
    (from, to): (u64, u64),
    (kind, record): (&str, &str),
    limit: i64,
) -> Result<Listed<ChangedRecord>, StoreError> {
    // Both joins find a row. As left joins they stay behind the changes: SQLite would read the whole history first.
    const PAGES: Pages = pages!(
        [before, after],
        "FROM (SELECT k.kind AS kind, k.record AS record, k.newest AS revision, \
        b.value AS before, a.value AS after FROM (SELECT kind, record, \
        MIN(revision) AS oldest, MAX(revision) AS newest FROM revision_changes \
        WHERE tenant_id = $1 AND revision > $2 AND revision <= $3 AND (kind, record) > ($4, $5) \
        GROUP BY kind, record) k \
        LEFT JOIN revision_changes f ON f.tenant_id = $1 AND f.kind = k.kind AND f.record = k.record \
        AND f.revision = k.oldest \
        LEFT JOIN revision_changes l ON l.tenant_id = $1 AND l.kind = k.kind AND l.record = k.record \
        AND l.revision = k.newest \
        LEFT JOIN revision_values b ON b.tenant_id = $1 AND b.hash = f.before_hash \
        LEFT JOIN revision_values a ON a.tenant_id = $1 AND a.hash = l.after_hash \
        WHERE f.before_hash IS DISTINCT FROM l.after_hash) c ORDER BY kind, record LIMIT $6"
    );
    let [from, to] = [from, to].map(|revision| i64::try_from(revision).unwrap_or(i64::MAX));
    fetch_page!(tx, Row, limit, PAGES, &tx.tenant, from, to, kind, record)
}

/// Lists a page of the changes of one record before the revision `before`, newest first.
pub async fn for_record(
    tx: &mut Tx,
    (kind, record): (&str, &str),
    before: u64,
    limit: i64,
) -> Result<Listed<ChangedRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [before, after],
        "FROM (SELECT c.kind AS kind, c.record AS record, c.revision AS revision, \
        b.value AS before, a.value AS after FROM revision_changes c \
        LEFT JOIN revision_values b ON b.tenant_id = $1 AND b.hash = c.before_hash \
        LEFT JOIN revision_values a ON a.tenant_id = $1 AND a.hash = c.after_hash \
        WHERE c.tenant_id = $1 AND c.kind = $2 AND c.record = $3 AND c.revision < $4) c \
        ORDER BY revision DESC LIMIT $5"
    );
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    fetch_page!(tx, Row, limit, PAGES, &tx.tenant, kind, record, before)
}

/// Deletes up to `limit` changes of `tenant` before the revision `first`, and as many records that no later change has.
/// Returns the number of deleted rows. For a transaction that sees every tenant.
pub(crate) async fn prune(
    tx: &mut Tx,
    tenant: &str,
    first: i64,
    limit: i64,
) -> Result<u64, StoreError> {
    const CHANGES: &str = "DELETE FROM revision_changes WHERE (tenant_id, kind, record, revision) IN \
        (SELECT tenant_id, kind, record, revision FROM revision_changes \
        WHERE tenant_id = $1 AND revision < $2 LIMIT $3)";
    const VALUES: &str = "DELETE FROM revision_values WHERE (tenant_id, hash) IN \
        (SELECT tenant_id, hash FROM revision_values \
        WHERE tenant_id = $1 AND last_revision < $2 LIMIT $3)";
    let mut deleted = 0;
    for sql in [CHANGES, VALUES] {
        deleted += execute!(tx, sql, tenant, first, limit)?;
    }
    Ok(deleted)
}
