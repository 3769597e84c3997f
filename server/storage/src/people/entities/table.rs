//! Reads the entities of a tenant as the table that checks and searches use: all of them, or what changed.

use portcullis_engine::entities::{EntityTable, TableFull};
use portcullis_fairness::run_apart;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::lists::{changed_since, page};
use super::rows::{EntityRow, ParsedRow};
use crate::transactions::column_values::number;
use crate::transactions::error::StoreError;
use crate::transactions::stored_records::Records;
use crate::transactions::tx::Tx;

/// Entities of one read. An entity has at most some 16 KB of content, and three pages are in memory at once.
const PAGE: usize = 2_000;
/// Most changes that are applied to a table. More of them cost as much as all entities.
const MAX_CHANGES: usize = 20_000;

/// Reads all entities. The inner error says that they do not fit into a table.
pub async fn table(tx: &mut Tx) -> Result<Result<EntityTable, TableFull>, StoreError> {
    // The database reads a page while another thread parses the one before: each takes about half of the time.
    let (pages, received) = mpsc::channel(1);
    let building = run_apart(move || build(received));
    let sent = send_pages(tx, pages).await;
    // It ends even if the reading failed: the sender of the pages is gone.
    let built = building.await??;
    sent.map(|()| built)
}

/// Reads all entities and sends them, until nobody receives them any more.
async fn send_pages(tx: &mut Tx, pages: Sender<Records>) -> Result<(), StoreError> {
    let (mut last_type, mut last_id) = (String::new(), String::new());
    loop {
        let page = page(tx, (&last_type, &last_id), number(PAGE)).await?;
        let rows = rows(&page)?;
        let is_last = rows.len() < PAGE;
        if let Some((kind, id)) = rows.iter().map(|row| (row.kind, row.id)).max() {
            (last_type, last_id) = (kind.to_owned(), id.to_owned());
        }
        if pages.send(page).await.is_err() || is_last {
            return Ok(());
        }
    }
}

/// Builds the table of the entities that come.
fn build(mut pages: Receiver<Records>) -> Result<Result<EntityTable, TableFull>, StoreError> {
    let mut builder = EntityTable::builder();
    while let Some(page) = pages.blocking_recv() {
        for row in rows(&page)? {
            if let Err(full) = builder.push(&ParsedRow::parse(row)?.input()) {
                return Ok(Err(full));
            }
        }
    }
    Ok(builder.finish())
}

/// Returns each entity of a page, in no order.
fn rows(page: &Records) -> Result<Vec<EntityRow<'_>>, StoreError> {
    page.read(EntityRow::read, "entities")
}

/// Applies what changed since `table` was read at `revision`. Returns `None` if that is too much.
pub async fn changed_table(
    tx: &mut Tx,
    table: &EntityTable,
    revision: u64,
) -> Result<Option<Result<EntityTable, TableFull>>, StoreError> {
    let changed = changed_since(tx, revision, number(MAX_CHANGES)).await?;
    // A full list may be cut off.
    if changed.len() >= MAX_CHANGES {
        return Ok(None);
    }
    let parsed = changed.iter().map(|changed| ParsedRow::parse(EntityRow::from_stored(changed)));
    let parsed: Vec<ParsedRow<'_>> = parsed.collect::<Result<_, _>>()?;
    let changes = parsed.iter().zip(&changed).map(|(row, changed)| row.change(changed));
    let changed = table.changed(changes);
    Ok(Some(changed.and_then(|table| match table.should_fold() {
        true => table.folded(),
        false => Ok(table),
    })))
}
