//! A record as the cells of a row, and back: the JSON text of a record comes back byte by byte.

use std::borrow::Cow;
use std::collections::HashMap;

use parquet::data_type::ByteArray;
use portcullis_model::Timestamp;
use serde_json::value::RawValue;

use super::columns::{COLUMNS, Form, WHOLE};
use crate::members::{quote, write_integer};

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A text, or a JSON text.
    Bytes(ByteArray),
    Number(i64),
    /// The member is absent.
    Null,
}

/// Splits the JSON text of a record into the cells of a row.
pub(crate) fn split(json: &[u8]) -> Vec<Cell> {
    let members: HashMap<&str, &RawValue> = serde_json::from_slice(json).unwrap_or_default();
    let mut cells: Vec<Cell> = COLUMNS
        .iter()
        .map(|column| {
            let raw = members.get(column.name).map(|raw| raw.get());
            match (raw.and_then(|raw| cell(column.form, raw)), column.optional) {
                (Some(cell), _) => cell,
                (None, true) => Cell::Null,
                (None, false) => absent(column.form),
            }
        })
        .collect();
    cells[WHOLE] = Cell::Null;
    if join(&cells) != json {
        cells[WHOLE] = Cell::Bytes(json.to_vec().into());
    }
    cells
}

fn cell(form: Form, raw: &str) -> Option<Cell> {
    let text = || serde_json::from_str::<Cow<'_, str>>(raw).ok();
    Some(match form {
        Form::Text => Cell::Bytes(text()?.into_owned().into_bytes().into()),
        Form::Json => Cell::Bytes(raw.as_bytes().to_vec().into()),
        Form::Integer => Cell::Number(raw.parse().ok()?),
        Form::Instant => Cell::Number(Timestamp::parse(&text()?)?.millis()),
    })
}

/// The value of a required column for a record without the member.
fn absent(form: Form) -> Cell {
    match form {
        Form::Text | Form::Json => Cell::Bytes(Vec::new().into()),
        Form::Integer | Form::Instant => Cell::Number(0),
    }
}

/// Returns the JSON text of a record from the cells of its row.
pub(crate) fn join(cells: &[Cell]) -> Vec<u8> {
    if let Some(Cell::Bytes(whole)) = cells.get(WHOLE) {
        return whole.data().to_vec();
    }
    let mut out = vec![b'{'];
    for (column, cell) in COLUMNS.iter().zip(cells) {
        if *cell == Cell::Null {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        quote(&mut out, column.name);
        out.push(b':');
        match (cell, column.form) {
            (Cell::Bytes(text), Form::Text) => {
                quote(&mut out, &String::from_utf8_lossy(text.data()));
            }
            (Cell::Bytes(json), _) => out.extend_from_slice(json.data()),
            (Cell::Number(millis), Form::Instant) => {
                quote(&mut out, &Timestamp::from_millis(*millis).to_string());
            }
            (Cell::Number(number), _) => write_integer(&mut out, *number),
            (Cell::Null, _) => {}
        }
    }
    out.push(b'}');
    out
}
