//! A record as the cells of a row, and back: the JSON text of a record comes back byte by byte.

use std::borrow::Cow;
use std::fmt;

use portcullis_model::Timestamp;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::columns::{COLUMNS, Form, WHOLE, place};
use crate::members::{quote, write_instant, write_integer};

/// A value of a row.
#[derive(Clone, Debug)]
pub(crate) enum Cell<B> {
    /// A text, or a JSON text.
    Bytes(B),
    Number(i64),
    /// The member is absent.
    Null,
}

/// The members of the JSON text of a record, in the order of the columns.
struct Members<'j>([Option<&'j RawValue>; COLUMNS.len()]);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let (mut members, mut next) = ([None; COLUMNS.len()], 0);
        while let Some(name) = map.next_key::<&str>()? {
            // Members come in the order of columns, and each may be absent.
            let later = (next..COLUMNS.len()).find(|&place| COLUMNS[place].name == name);
            match later.or_else(|| place(name)) {
                Some(place) => {
                    members[place] = Some(map.next_value()?);
                    next = place + 1;
                }
                // A member without a column makes `split` keep the whole text.
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(Members(members))
    }
}

/// Splits the JSON text of a record into the cells of a row. `joined` is room for a copy of the text.
pub(crate) fn split<'j>(
    json: &'j [u8],
    joined: &mut Vec<u8>,
) -> [Cell<Cow<'j, [u8]>>; COLUMNS.len()] {
    // A text that is not JSON gives no cells, and is kept whole below.
    let members = serde_json::from_slice(json).map_or([None; COLUMNS.len()], |Members(all)| all);
    let mut cells = std::array::from_fn(|place| {
        let column = COLUMNS[place];
        let cell = members[place].and_then(|raw| cell(column.form, raw.get()));
        match (cell, column.optional) {
            (Some(cell), _) => cell,
            (None, true) => Cell::Null,
            (None, false) => absent(column.form),
        }
    });
    // A member that is called `record` must not pass for the whole text.
    cells[WHOLE] = Cell::Null;
    join(&cells, joined, |out, _, json| out.extend_from_slice(json));
    // A text that the other columns do not give back byte by byte is kept whole.
    if joined != json {
        cells[WHOLE] = Cell::Bytes(json.into());
    }
    cells
}

/// Returns the cell of a member.
fn cell(form: Form, raw: &str) -> Option<Cell<Cow<'_, [u8]>>> {
    Some(match form {
        Form::Text => Cell::Bytes(match plain_text(raw) {
            Some(text) => text.as_bytes().into(),
            None => serde_json::from_str::<String>(raw).ok()?.into_bytes().into(),
        }),
        Form::Json => Cell::Bytes(raw.as_bytes().into()),
        Form::Integer => Cell::Number(raw.parse().ok()?),
        Form::Instant => Cell::Number(Timestamp::parse(plain_text(raw)?)?.millis()),
    })
}

/// Returns the text of a JSON string without escapes.
fn plain_text(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))
}

/// The value of a required column for a record without the member.
fn absent(form: Form) -> Cell<Cow<'static, [u8]>> {
    match form {
        Form::Text | Form::Json => Cell::Bytes(Cow::default()),
        Form::Integer | Form::Instant => Cell::Number(0),
    }
}

/// Puts the JSON text of a record from the cells of its row in the place of `out`. `add` takes each cell with JSON, and its
/// column, and adds it.
pub(crate) fn join<B: AsRef<[u8]>>(
    cells: &[Cell<B>],
    out: &mut Vec<u8>,
    mut add: impl FnMut(&mut Vec<u8>, usize, &B),
) {
    out.clear();
    if let Some(Cell::Bytes(whole)) = cells.get(WHOLE) {
        out.extend_from_slice(whole.as_ref());
        return;
    }
    out.push(b'{');
    for (place, (column, cell)) in COLUMNS.iter().zip(cells).enumerate() {
        if matches!(cell, Cell::Null) {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        quote(out, column.name);
        out.push(b':');
        match (cell, column.form) {
            (Cell::Bytes(text), Form::Text) => quote(out, text),
            (Cell::Bytes(json), _) => add(out, place, json),
            (Cell::Number(millis), Form::Instant) => {
                write_instant(out, Timestamp::from_millis(*millis));
            }
            (Cell::Number(number), _) => write_integer(out, *number),
            (Cell::Null, _) => {}
        }
    }
    out.push(b'}');
}
