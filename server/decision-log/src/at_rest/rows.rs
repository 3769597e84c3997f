//! Records in memory on their way into a file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use bytes::{Buf, BufMut, Bytes};
use parquet::data_type::ByteArray;
use uuid::Uuid;

use super::cells::{Cell, split};
use super::columns::{COLUMNS, Form, SUBJECT, TENANT, WHOLE};
use crate::shared::{Insert, PLACEHOLDER, address, expand, whole_bytes};

/// The fewest bytes of a cell that rows may share in memory, and of texts by which a row is among those that share them.
pub(super) const LEAST_SHARED: usize = 4 * 1024;

/// A record whose cells are somewhere in the texts of all.
#[derive(Clone, Debug)]
struct RecordRow {
    id: Uuid,
    cells: Range<usize>,
    /// The cells that other rows may share, each with its column.
    apart: Vec<(usize, ByteArray)>,
    /// Bytes of its JSON text.
    bytes: usize,
    /// The number of the largest text that it shares with other rows; `None` if it shares little.
    text: Option<usize>,
}

/// Records of several tenants. A tenant's records are sorted by subject, then id: a query by subject reads few pages. Those that
/// share texts come last, by text.
#[derive(Debug)]
pub(crate) struct Rows {
    cells: Bytes,
    by_tenant: BTreeMap<String, Vec<RecordRow>>,
}

/// Records in any order.
#[derive(Debug, Default)]
pub(crate) struct UnsortedRows {
    cells: Vec<u8>,
    by_tenant: BTreeMap<String, HashMap<Vec<u8>, Vec<RecordRow>>>,
    /// Room for a JSON text.
    joined: Vec<u8>,
    /// The texts that rows may share, by address.
    texts: HashMap<usize, TextRows>,
}

/// The rows that have a text.
#[derive(Debug)]
struct TextRows {
    /// The number of the text, in the order in which the texts came.
    number: usize,
    rows: usize,
}

/// The cells of a record, which are taken one after the other.
#[derive(Clone, Debug)]
pub(crate) struct RowCells {
    cells: Bytes,
    apart: Vec<(usize, ByteArray)>,
    /// The next column.
    column: usize,
    /// Whether the row shares texts with others.
    pub(crate) shares: bool,
}

impl UnsortedRows {
    /// Adds the record with this JSON text, in which `texts` are apart.
    pub(crate) fn add(&mut self, tenant: &str, id: Uuid, json: &[u8], texts: &[Insert]) {
        let bytes = whole_bytes(json, texts.iter().map(|(_, text)| text));
        let mut whole = Vec::new();
        let mut cells = split(json, &mut self.joined);
        if !texts.is_empty() && matches!(cells[WHOLE], Cell::Bytes(_)) {
            // A record of a later version has members without a column.
            expand(json, texts.iter().map(|(at, text)| (*at, text)), &mut whole);
            cells = split(&whole, &mut self.joined);
        }
        // An expanded text has all of its texts in the cells.
        let mut texts = texts.iter().filter(|_| whole.is_empty());
        let mut apart = Vec::new();
        // Both are in the order of the members, of which none is written as the placeholder itself.
        for (place, cell) in cells.iter_mut().enumerate() {
            if matches!(cell, Cell::Bytes(json) if COLUMNS[place].form == Form::Json && **json == *PLACEHOLDER)
                && let Some((_, text)) = texts.next()
            {
                apart.push((place, text.clone()));
                *cell = Cell::Null;
            }
        }
        // Its readers learn of a damaged record, too, whose text does not name the tenant.
        cells[TENANT] = Cell::Bytes(tenant.as_bytes().into());
        self.add_row((tenant, id, bytes), &cells, apart);
    }

    /// Adds the record with these cells, whose JSON text has `bytes` bytes.
    pub(crate) fn add_cells(
        &mut self,
        (tenant, id, bytes): (&str, Uuid, usize),
        cells: &[Cell<ByteArray>],
    ) {
        let (mut own, mut apart) = (Vec::with_capacity(COLUMNS.len()), Vec::new());
        for (place, column) in COLUMNS.iter().enumerate() {
            own.push(match cells.get(place).unwrap_or(&Cell::Null) {
                Cell::Bytes(text) if column.form == Form::Json && text.len() >= LEAST_SHARED => {
                    apart.push((place, text.clone()));
                    Cell::Null
                }
                Cell::Bytes(text) => Cell::Bytes(text.data()),
                Cell::Number(number) => Cell::Number(*number),
                Cell::Null => Cell::Null,
            });
        }
        self.add_row((tenant, id, bytes), &own, apart);
    }

    fn add_row<B: AsRef<[u8]>>(
        &mut self,
        (tenant, id, bytes): (&str, Uuid, usize),
        cells: &[Cell<B>],
        apart: Vec<(usize, ByteArray)>,
    ) {
        let start = self.cells.len();
        cells.iter().for_each(|cell| put(&mut self.cells, cell));
        for (_, text) in &apart {
            let number = self.texts.len();
            // The rows keep their texts in memory, so that no two texts have one address.
            let rows = self.texts.entry(address(text));
            rows.or_insert_with(|| TextRows { number, rows: 0 }).rows += 1;
        }
        let row = RecordRow { id, cells: start..self.cells.len(), apart, bytes, text: None };
        let subject: &[u8] = match cells.get(SUBJECT) {
            Some(Cell::Bytes(subject)) => subject.as_ref(),
            _ => &[],
        };
        // An entry would copy the name of the tenant, and of the subject, for each record.
        if !self.by_tenant.contains_key(tenant) {
            self.by_tenant.insert(tenant.to_owned(), HashMap::new());
        }
        let Some(by_subject) = self.by_tenant.get_mut(tenant) else { return };
        match by_subject.get_mut(subject) {
            Some(rows) => rows.push(row),
            None => _ = by_subject.insert(subject.to_owned(), vec![row]),
        }
    }

    /// Sorts the records. One that is there twice stays once.
    pub(crate) fn sorted(self) -> Rows {
        let Self { cells, by_tenant, texts, .. } = self;
        let by_tenant =
            by_tenant.into_iter().map(|(tenant, rows)| (tenant, sorted_rows(rows, &texts)));
        Rows { cells: cells.into(), by_tenant: by_tenant.collect() }
    }
}

/// Returns the records of a tenant in the order of the file.
fn sorted_rows(
    by_subject: HashMap<Vec<u8>, Vec<RecordRow>>,
    texts: &HashMap<usize, TextRows>,
) -> Vec<RecordRow> {
    let mut subjects: Vec<_> = by_subject.into_iter().collect();
    subjects.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    for (_, rows) in &mut subjects {
        rows.sort_unstable_by_key(|row| (row.id, row.cells.start));
        // The first one that was added stays.
        rows.dedup_by_key(|row| row.id);
    }
    let mut rows: Vec<_> = subjects.into_iter().flat_map(|(_, rows)| rows).collect();
    rows.iter_mut().for_each(|row| row.text = row.largest_shared(texts));
    // A stable sort: rows with one text, and those with none, stay in the order of subject and id.
    rows.sort_by_key(|row| row.text);
    rows
}

impl RecordRow {
    /// Returns the number of the largest text that it shares with other rows; `None` if it shares little.
    fn largest_shared(&self, texts: &HashMap<usize, TextRows>) -> Option<usize> {
        let texts = self.apart.iter().filter_map(|(_, text)| {
            let known = texts.get(&address(text)).filter(|known| known.rows > 1)?;
            Some((text.len(), known.number))
        });
        let bytes: usize = texts.clone().map(|(bytes, _)| bytes).sum();
        texts.max().filter(|_| bytes >= LEAST_SHARED).map(|(_, number)| number)
    }
}

impl Rows {
    /// Returns the tenants, in order.
    pub(crate) fn tenants(&self) -> impl Iterator<Item = &str> {
        self.by_tenant.keys().map(String::as_str)
    }

    /// Returns the records of `tenant`, in the order of the file.
    pub(crate) fn tenant_rows(&self, tenant: &str) -> impl Iterator<Item = RowCells> {
        self.rows(tenant).iter().map(|row| RowCells {
            cells: self.cells.slice(row.cells.clone()),
            apart: row.apart.clone(),
            column: 0,
            shares: row.text.is_some(),
        })
    }

    /// Returns the ids of the records of `tenant`, in the order of the file.
    pub(crate) fn ids(&self, tenant: &str) -> impl Iterator<Item = Uuid> {
        self.rows(tenant).iter().map(|row| row.id)
    }

    /// Returns the bytes of the JSON texts of `tenant`.
    pub(crate) fn bytes(&self, tenant: &str) -> usize {
        self.rows(tenant).iter().map(|row| row.bytes).sum()
    }

    fn rows(&self, tenant: &str) -> &[RecordRow] {
        self.by_tenant.get(tenant).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The first byte of a cell.
const NULL: u8 = 0;
const NUMBER: u8 = 1;
const BYTES: u8 = 2;

fn put<B: AsRef<[u8]>>(out: &mut Vec<u8>, cell: &Cell<B>) {
    match cell {
        Cell::Null => out.put_u8(NULL),
        Cell::Number(number) => {
            out.put_u8(NUMBER);
            out.put_i64(*number);
        }
        Cell::Bytes(bytes) => {
            out.put_u8(BYTES);
            out.put_u64(bytes.as_ref().len() as u64);
            out.put_slice(bytes.as_ref());
        }
    }
}

impl RowCells {
    /// Takes the cell of the next column. It shares the memory of all.
    pub(crate) fn take(&mut self) -> Cell<ByteArray> {
        // A cell that is apart has left a null here, which is taken, too.
        let own = self.take_own();
        let column = self.column;
        self.column += 1;
        match self.apart.iter().find(|(place, _)| *place == column) {
            Some((_, text)) => Cell::Bytes(text.clone()),
            None => own,
        }
    }

    fn take_own(&mut self) -> Cell<ByteArray> {
        // `put` wrote these bytes, so that no cell is cut off.
        match self.cells.try_get_u8() {
            Ok(NUMBER) => self.cells.try_get_i64().map_or(Cell::Null, Cell::Number),
            Ok(BYTES) => {
                let length = self.cells.try_get_u64().map(usize::try_from);
                match length {
                    // `split_to` panics beyond the end.
                    Ok(Ok(length)) if length <= self.cells.len() => {
                        Cell::Bytes(self.cells.split_to(length).into())
                    }
                    _ => Cell::Null,
                }
            }
            _ => Cell::Null,
        }
    }

    /// Returns the bytes of its cells but those of texts in `known`.
    pub(crate) fn new_bytes(&self, known: &HashSet<usize>) -> usize {
        let new = self.apart.iter().filter(|(_, text)| !known.contains(&address(text)));
        self.cells.len() + new.map(|(_, text)| text.len()).sum::<usize>()
    }

    /// Adds its texts to `known`.
    pub(crate) fn add_texts(&self, known: &mut HashSet<usize>) {
        known.extend(self.apart.iter().map(|(_, text)| address(text)));
    }
}
