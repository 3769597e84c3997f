//! The revision and the history of a tenant's directory: its entities and its tuples.

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::tenancy::tenants;
use crate::transactions::error::StoreError;
use crate::transactions::history::{HistoryPosition, ID_DIGITS, epoch, in_epoch};
use crate::transactions::macros::{execute, fetch_all, fetch_optional, on_database};
use crate::transactions::row_lists::{BATCH, numbered};
use crate::transactions::tx::Tx;

/// The deleted records of a table that keep their rows. A replica that did not read them in time loads the table again.
const KEPT_DELETIONS: i64 = 20_000;

/// The job and the sync that write entities or tuples.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntityOrigin<'o> {
    pub source: Option<&'o str>,
    pub sync: Option<Uuid>,
}

/// The state of a tenant's directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryState {
    /// The place in the history of entities and tuples.
    pub position: HistoryPosition,
    /// Deletions of entities up to this revision left no row.
    pub forgotten: u64,
    /// Deletions of tuples up to this revision left no row.
    pub relations_forgotten: u64,
    /// The number of entities.
    pub entities: u64,
    /// The number of tuples.
    pub relations: u64,
}

/// Reads the state of the tenant's directory; revision 0 for a tenant that never had an entity or a tuple.
pub async fn state(tx: &mut Tx) -> Result<DirectoryState, StoreError> {
    const SQL: &str = "SELECT entities_revision, entities_history, entities_forgotten, \
        relations_forgotten, used_entities, used_relations FROM tenants WHERE id = $1";
    type Row = (i64, String, i64, i64, i64, i64);
    let row = fetch_optional!(tx, Row, SQL, &tx.tenant)?;
    let (revision, history, forgotten, of_relations, entities, relations) = row.unwrap_or_default();
    Ok(DirectoryState {
        position: HistoryPosition::read(number(revision), &history),
        forgotten: number(forgotten),
        relations_forgotten: number(of_relations),
        entities: number(entities),
        relations: number(relations),
    })
}

/// Reads the places in the histories of entities, each with the ids of its last `commits`: of the `named` tenants, or of
/// all that have or had entities. For a transaction that sees every tenant.
pub async fn for_tenants(
    tx: &mut Tx,
    named: Option<&[String]>,
    commits: usize,
) -> Result<Vec<(String, HistoryPosition)>, StoreError> {
    const SQL: &str = "SELECT id, entities_revision, substr(entities_history, 1, $1) FROM tenants \
        WHERE entities_revision > 0";
    type Row = (String, i64, String);
    // `substr` of PostgreSQL takes numbers of 32 bits only.
    let digits = i32::try_from(commits * ID_DIGITS).unwrap_or(i32::MAX);
    let Some(named) = named else {
        return Ok(fetch_all!(tx, Row, SQL, digits)?.into_iter().map(place).collect());
    };
    let mut places = Vec::with_capacity(named.len());
    for batch in named.chunks(BATCH) {
        // Safe: the text has the numbers of parameters, and no value.
        let sql = AssertSqlSafe(format!("{SQL} AND id IN ({})", numbered(2, batch.len())));
        macro_rules! bound {
            () => {{
                let is_full = batch.len() == BATCH;
                let mut query = sqlx::query_as::<_, Row>(sql).persistent(is_full).bind(digits);
                for tenant in batch {
                    query = query.bind(tenant);
                }
                query
            }};
        }
        let rows = on_database!(tx, bound!(), fetch_all)?;
        places.extend(rows.into_iter().map(place));
    }
    Ok(places)
}

fn place((tenant, revision, last): (String, i64, String)) -> (String, HistoryPosition) {
    (tenant, HistoryPosition::read(number(revision), &last))
}

/// Returns the revision of what the transaction changes. Its first call raises the revision of the tenant's entities.
pub(crate) async fn next(tx: &mut Tx) -> Result<i64, StoreError> {
    if let Some(position) = &tx.entities {
        return stored(position);
    }
    let mut position = state(tx).await?.position;
    if position.revision == 0 {
        // The first entities of a lost history raised the revision of the rules, too: its epoch tells of them.
        position.revision = in_epoch(0, epoch(tenants::revision(tx).await?));
    }
    set_position(tx, position.next()?).await
}

/// Begins an epoch of the entities after `lost`, the last revision that is known of a history that was replaced. Does
/// nothing if another process has begun an epoch after `lost`, and for a tenant that never had an entity.
pub async fn begin_epoch(tx: &mut Tx, lost: u64) -> Result<(), StoreError> {
    let mut position = state(tx).await?.position;
    if position.revision == 0 || epoch(position.revision) > epoch(lost) {
        return Ok(());
    }
    position.revision = in_epoch(position.revision, epoch(lost) + 1);
    set_position(tx, position.next()?).await.map(drop)
}

async fn set_position(tx: &mut Tx, position: HistoryPosition) -> Result<i64, StoreError> {
    const SQL: &str =
        "UPDATE tenants SET entities_revision = $2, entities_history = $3 WHERE id = $1";
    let revision = stored(&position)?;
    execute!(tx, SQL, &tx.tenant, revision, position.history())?;
    tx.entities = Some(position);
    Ok(revision)
}

fn stored(position: &HistoryPosition) -> Result<i64, StoreError> {
    i64::try_from(position.revision).map_err(StoreError::corrupt("tenants.entities_revision"))
}

/// The statements that remove the rows of deleted records of a table.
pub(crate) struct Forgetting {
    /// Counts them.
    pub(crate) count: &'static str,
    /// Deletes those from before a revision.
    pub(crate) forget: &'static str,
    /// Notes the last revision whose deleted rows are gone.
    pub(crate) note: &'static str,
}

/// Removes the rows of deleted records if they are many, except the rows of this transaction: other replicas are about
/// to read these.
pub(crate) async fn forget_deletions(tx: &mut Tx, table: &Forgetting) -> Result<(), StoreError> {
    let count = fetch_optional!(tx, (i64,), table.count, &tx.tenant)?;
    if count.is_none_or(|(count,)| count <= KEPT_DELETIONS) {
        return Ok(());
    }
    let revision = next(tx).await?;
    execute!(tx, table.forget, &tx.tenant, revision)?;
    execute!(tx, table.note, &tx.tenant, revision - 1)?;
    Ok(())
}

fn number(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or_default()
}
