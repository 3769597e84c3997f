//! Reads the entities of a tenant as the table that checks and searches use: all of them, or what changed.

use portcullis_engine::entities::{EntityChange, EntityInput, EntityTable, TableFull};
use portcullis_engine::{Json, json};

use super::lists::{EntityRow, changed_since, page};
use crate::error::StoreError;
use crate::tx::Tx;

/// Entities of one read. The texts of a page take a few megabytes.
const PAGE: usize = 5_000;
/// Most changes that are applied to a table. More of them cost as much as all entities.
const MOST_CHANGES: usize = 20_000;

/// Reads all entities. The inner error says that they do not fit into a table.
pub async fn table(tx: &mut Tx) -> Result<Result<EntityTable, TableFull>, StoreError> {
    let mut builder = EntityTable::builder();
    let (mut last_type, mut last_id) = (String::new(), String::new());
    loop {
        let rows = page(tx, (&last_type, &last_id), limit(PAGE)).await?;
        for row in &rows {
            if let Err(full) = builder.push(&ParsedRow::of(row)?.input()) {
                return Ok(Err(full));
            }
        }
        if rows.len() < PAGE {
            return Ok(builder.finish());
        }
        if let Some(last) = rows.into_iter().last() {
            (last_type, last_id) = (last.kind, last.id);
        }
    }
}

/// Applies what changed since `table` was read at `revision`. Returns `None` if that is too much.
pub async fn changed_table(
    tx: &mut Tx,
    table: &EntityTable,
    revision: u64,
) -> Result<Option<Result<EntityTable, TableFull>>, StoreError> {
    let rows = changed_since(tx, revision, limit(MOST_CHANGES)).await?;
    if rows.len() >= MOST_CHANGES {
        return Ok(None);
    }
    let parsed: Vec<ParsedRow<'_>> = rows.iter().map(ParsedRow::of).collect::<Result<_, _>>()?;
    let changed = table.changed(parsed.iter().map(ParsedRow::change));
    let folded = |table: EntityTable| if table.should_fold() { table.folded() } else { Ok(table) };
    Ok(Some(changed.and_then(folded)))
}

fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// A row with its texts as trees.
struct ParsedRow<'r> {
    row: &'r EntityRow,
    roles: Json<'r>,
    domain_roles: Json<'r>,
    properties: Json<'r>,
}

impl<'r> ParsedRow<'r> {
    fn of(row: &'r EntityRow) -> Result<Self, StoreError> {
        let corrupt = |what| move |_| StoreError::Corrupt { what };
        let parse = |text: &'r str| json::parse(text.as_bytes());
        Ok(Self {
            row,
            roles: parse(&row.roles).map_err(corrupt("entities.roles"))?,
            domain_roles: parse(&row.domain_roles).map_err(corrupt("entities.domain_roles"))?,
            properties: parse(&row.properties).map_err(corrupt("entities.properties"))?,
        })
    }

    fn input(&self) -> EntityInput<'_> {
        EntityInput {
            entity_type: &self.row.kind,
            id: &self.row.id,
            roles: self.roles.as_array().unwrap_or_default(),
            domain_roles: self.domain_roles.as_object().unwrap_or_default(),
            properties: self.properties.as_object().unwrap_or_default(),
        }
    }

    fn change(&self) -> EntityChange<'_> {
        match self.row.is_deleted {
            true => EntityChange::Remove { entity_type: &self.row.kind, id: &self.row.id },
            false => EntityChange::Put(self.input()),
        }
    }
}
