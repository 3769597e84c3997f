//! The files of tuples.

use std::collections::HashMap;

use serde_saphyr::Spanned;

use crate::csv;
use crate::relations::place::Place;
use crate::relations::tuples::{StoredTuple, TupleCondition};
use crate::relations::yaml;

/// Returns the tuples of a YAML or JSON value, each with its place.
pub(super) fn placed(
    tuples: Vec<Spanned<StoredTuple>>,
    start: &Place,
) -> impl Iterator<Item = (Place, StoredTuple)> {
    tuples.into_iter().map(|one| (yaml::place(&one, start), one.value))
}

/// Reads a file of tuples: CSV with the columns of `fga tuple write`, YAML or JSON.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn read(text: &str, start: &Place) -> Result<Vec<(Place, StoredTuple)>, String> {
    if start.file().extension().is_none_or(|end| end != "csv") {
        return Ok(placed(yaml::parse(text, start)?, start).collect());
    }
    let mut rows = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let rows = rows.by_ref().filter(|(_, row)| !row.trim().is_empty());
    let mut rows = rows.map(|(line, row)| {
        let place = start.at(line);
        csv::values(row).map_err(|reason| place.says(reason)).map(|values| (place, values))
    });
    let Some((_, columns)) = rows.next().transpose()? else { return Ok(Vec::new()) };
    let read = rows.map(|row| {
        let (place, values) = row?;
        let tuple = row_tuple(&columns, values).map_err(|reason| place.says(reason))?;
        Ok((place, tuple))
    });
    read.collect()
}

/// Returns the tuple of a row of CSV.
fn row_tuple(columns: &[String], values: Vec<String>) -> Result<StoredTuple, String> {
    if values.len() != columns.len() {
        return Err(format!("expected {} values, not {}", columns.len(), values.len()));
    }
    let mut row: HashMap<&str, String> = columns.iter().map(|name| &**name).zip(values).collect();
    let user = format!("{}:{}", required(&mut row, "user_type")?, required(&mut row, "user_id")?);
    let object =
        format!("{}:{}", required(&mut row, "object_type")?, required(&mut row, "object_id")?);
    let relation = required(&mut row, "relation")?;
    let user = match optional(&mut row, "user_relation") {
        Some(relation) => format!("{user}#{relation}"),
        None => user,
    };
    let context = optional(&mut row, "condition_context").map(|text| serde_json::from_str(&text));
    let context = context.transpose().map_err(|error| format!("condition_context: {error}"))?;
    let condition =
        optional(&mut row, "condition_name").map(|name| TupleCondition { name, context });
    // Each known column is taken by now.
    match row.into_keys().next() {
        Some(unknown) => Err(format!("the column `{unknown}` is unknown")),
        None => Ok(StoredTuple { user, relation, object, condition, expires_at: None }),
    }
}

fn required(row: &mut HashMap<&str, String>, column: &str) -> Result<String, String> {
    optional(row, column).ok_or_else(|| format!("expected a value in the column `{column}`"))
}

/// Takes the value of a column, if it has one.
fn optional(row: &mut HashMap<&str, String>, column: &str) -> Option<String> {
    row.remove(column).filter(|value| !value.is_empty())
}
