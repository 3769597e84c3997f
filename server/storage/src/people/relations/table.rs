//! Reads the tuples of a tenant as the table that checks and searches use: all of them, or what changed.

use chrono::{DateTime, Utc};
use portcullis_directory::{
    Object, RelationNumber, Tuple, TupleChange, TupleTable, TupleTableBuilder, TuplesFull,
};
use portcullis_fairness::run_apart;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::lists::TuplePlace;
use super::stored::{StoredTuple, relation, subject_relation};
use crate::transactions::column_values::number;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{fetch_all, fetch_optional};
use crate::transactions::stored_records::{Columns, Records};
use crate::transactions::tx::Tx;

/// Tuples of one read. One has at most some 600 bytes, and three pages are in memory at once.
const PAGE: usize = 10_000;
/// Most changes that are applied to a table. More of them cost as much as all tuples.
const MAX_CHANGES: usize = 20_000;

const CORRUPT: StoreError = StoreError::Corrupt { what: "relations" };

/// Reads all tuples. The inner error says that they do not fit into a table.
pub async fn table(tx: &mut Tx) -> Result<Result<TupleTable, TuplesFull>, StoreError> {
    // The database reads a page while another thread adds the one before.
    let (pages, received) = mpsc::channel(1);
    let building = run_apart(move || build(received));
    let sent = send_pages(tx, pages).await;
    // It ends even if the reading failed: the sender of the pages is gone.
    let built = building.await??;
    sent.map(|()| built)
}

/// Reads all tuples and sends them, until nobody receives them any more.
async fn send_pages(tx: &mut Tx, pages: Sender<Records>) -> Result<(), StoreError> {
    let mut last = TuplePlace::default();
    loop {
        let page = page(tx, &last).await?;
        let tuples = tuples(&page)?;
        let is_last = tuples.len() < PAGE;
        if let Some(tuple) = tuples.iter().max_by_key(order) {
            last = place(tuple);
        }
        if pages.send(page).await.is_err() || is_last {
            return Ok(());
        }
    }
}

/// Reads the first tuples after a place, as one text: each column has its length before it.
async fn page(tx: &mut Tx, after: &TuplePlace) -> Result<Records, StoreError> {
    const SQL: &str = "SELECT string_agg(octet_length(object_type) || ':' || object_type \
        || octet_length(object_id) || ':' || object_id \
        || length(CAST(relation AS TEXT)) || ':' || relation \
        || octet_length(subject_type) || ':' || subject_type \
        || octet_length(subject_id) || ':' || subject_id \
        || length(CAST(subject_relation AS TEXT)) || ':' || subject_relation \
        || COALESCE(length(CAST(expires_at AS TEXT)) || ':' || expires_at, '0:'), '') \
        FROM (SELECT object_type, object_id, relation, subject_type, subject_id, subject_relation, \
        expires_at FROM relations WHERE tenant_id = $1 AND NOT is_deleted \
        AND (object_type, object_id, relation, subject_type, subject_id, subject_relation) \
        > ($2, $3, $4, $5, $6, $7) \
        ORDER BY object_type, object_id, relation, subject_type, subject_id, subject_relation \
        LIMIT $8) AS tuple";
    let row = fetch_optional!(
        tx,
        (Option<String>,),
        SQL,
        &tx.tenant,
        &after.object_type,
        &after.object_id,
        after.relation,
        &after.subject_type,
        &after.subject_id,
        after.subject_relation,
        number(PAGE),
    )?;
    Ok(Records::from(row.and_then(|(text,)| text)))
}

/// Builds the table of the tuples that come.
fn build(mut pages: Receiver<Records>) -> Result<Result<TupleTable, TuplesFull>, StoreError> {
    let mut builder = TupleTable::builder();
    while let Some(page) = pages.blocking_recv() {
        if let Err(full) = add(&mut builder, &page)? {
            return Ok(Err(full));
        }
    }
    Ok(Ok(builder.finish()))
}

fn add(
    builder: &mut TupleTableBuilder,
    page: &Records,
) -> Result<Result<(), TuplesFull>, StoreError> {
    Ok(tuples(page)?.into_iter().try_for_each(|tuple| builder.push(tuple)))
}

/// Returns each tuple of a page, in no order.
fn tuples(page: &Records) -> Result<Vec<Tuple<'_>>, StoreError> {
    page.read(read_tuple, "relations")
}

fn read_tuple<'t>(columns: &mut Columns<'t>) -> Option<Tuple<'t>> {
    let object = Object { object_type: columns.next()?, id: columns.next()? };
    let number = columns.next()?.parse().ok()?;
    let subject = Object { object_type: columns.next()?, id: columns.next()? };
    let subject_relation = relation(columns.next()?.parse().ok()?).ok()?;
    let expires_at = match columns.next()? {
        "" => None,
        millis => Some(instant(millis.parse().ok()?)),
    };
    Some(Tuple { object, relation: relation(number).ok()??, subject, subject_relation, expires_at })
}

/// Returns the tuple of a row.
///
/// # Errors
/// [`StoreError::Corrupt`]
fn tuple(row: &StoredTuple) -> Result<Tuple<'_>, StoreError> {
    Ok(Tuple {
        object: Object { object_type: &row.object_type, id: &row.object_id },
        relation: relation(row.relation)?.ok_or(CORRUPT)?,
        subject: Object { object_type: &row.subject_type, id: &row.subject_id },
        subject_relation: relation(row.subject_relation)?,
        expires_at: row.expires_at.map(instant),
    })
}

/// Returns an instant. One that is later than any that can be written never comes.
fn instant(millis: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// Returns what orders the tuples of pages.
fn order<'t>(tuple: &&Tuple<'t>) -> (Object<'t>, RelationNumber, Object<'t>, i64) {
    (tuple.object, tuple.relation, tuple.subject, subject_relation(tuple.subject_relation))
}

/// Returns the place of a tuple in the order of pages.
fn place(tuple: &Tuple<'_>) -> TuplePlace {
    let Tuple { object, relation, subject, subject_relation: number, .. } = tuple;
    TuplePlace {
        object_type: object.object_type.to_owned(),
        object_id: object.id.to_owned(),
        relation: i64::from(relation.0),
        subject_type: subject.object_type.to_owned(),
        subject_id: subject.id.to_owned(),
        subject_relation: subject_relation(*number),
    }
}

/// Applies what changed since `table` was read at `revision`. Returns `None` if that is too much.
pub async fn changed_table(
    tx: &mut Tx,
    table: &TupleTable,
    revision: u64,
) -> Result<Option<Result<TupleTable, TuplesFull>>, StoreError> {
    const SQL: &str = "SELECT object_type, object_id, relation, subject_type, subject_id, \
        subject_relation, expires_at, source, sync, revision, updated_at, is_deleted \
        FROM relations WHERE tenant_id = $1 AND revision > $2 ORDER BY revision LIMIT $3";
    let revision = i64::try_from(revision).unwrap_or(i64::MAX);
    let changed = fetch_all!(tx, StoredTuple, SQL, &tx.tenant, revision, number(MAX_CHANGES))?;
    // A full list may be cut off.
    if changed.len() >= MAX_CHANGES {
        return Ok(None);
    }
    let tuples = changed.iter().map(tuple).collect::<Result<Vec<_>, _>>()?;
    let changes = tuples.into_iter().zip(&changed).map(|(tuple, row)| match row.is_deleted {
        true => TupleChange::Remove(tuple),
        false => TupleChange::Put(tuple),
    });
    let changed = table.changed(changes);
    Ok(Some(changed.and_then(|table| match table.should_fold() {
        true => table.folded(),
        false => Ok(table),
    })))
}
