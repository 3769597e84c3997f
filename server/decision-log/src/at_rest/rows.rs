//! Records in memory on their way into a file.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use bytes::{Buf, BufMut, Bytes};
use uuid::Uuid;

use super::cells::{Cell, split};
use super::columns::{SUBJECT, TENANT};

/// A record whose cells are somewhere in the texts of all.
#[derive(Clone, Debug)]
struct Row {
    id: Uuid,
    cells: Range<usize>,
    /// Bytes of its JSON text.
    bytes: usize,
}

/// Records of several tenants. A tenant's records are sorted by subject, then id: a query by subject reads few pages.
#[derive(Debug)]
pub(crate) struct Rows {
    cells: Bytes,
    by_tenant: BTreeMap<String, Vec<Row>>,
}

/// Records in any order.
#[derive(Debug, Default)]
pub(crate) struct UnsortedRows {
    cells: Vec<u8>,
    by_tenant: BTreeMap<String, HashMap<Vec<u8>, Vec<Row>>>,
    /// Room for a JSON text.
    joined: Vec<u8>,
}

/// The cells of a record, which are taken one after the other.
#[derive(Clone, Debug)]
pub(crate) struct RowCells(Bytes);

impl UnsortedRows {
    pub(crate) fn add(&mut self, tenant: &str, id: Uuid, json: &[u8]) {
        let mut cells = split(json, &mut self.joined);
        // Its readers learn of a damaged record, too, whose text does not name the tenant.
        cells[TENANT] = Cell::Bytes(tenant.as_bytes().into());
        let start = self.cells.len();
        cells.iter().for_each(|cell| put(&mut self.cells, cell));
        let row = Row { id, cells: start..self.cells.len(), bytes: json.len() };
        let subject: &[u8] = match &cells[SUBJECT] {
            Cell::Bytes(subject) => subject,
            _ => &[],
        };
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
        let sorted = |by_subject: HashMap<Vec<u8>, Vec<Row>>| {
            let mut subjects: Vec<_> = by_subject.into_iter().collect();
            subjects.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            for (_, rows) in &mut subjects {
                rows.sort_unstable_by_key(|row| (row.id, row.cells.start));
                rows.dedup_by_key(|row| row.id);
            }
            subjects.into_iter().flat_map(|(_, rows)| rows).collect()
        };
        let by_tenant = self.by_tenant.into_iter().map(|(tenant, rows)| (tenant, sorted(rows)));
        Rows { cells: self.cells.into(), by_tenant: by_tenant.collect() }
    }
}

impl Rows {
    /// Returns the tenants, in order.
    pub(crate) fn tenants(&self) -> impl Iterator<Item = &str> {
        self.by_tenant.keys().map(String::as_str)
    }

    /// Returns the records of `tenant`, in the order of the file.
    pub(crate) fn tenant_rows(&self, tenant: &str) -> impl Iterator<Item = RowCells> {
        self.rows(tenant).iter().map(|row| RowCells(self.cells.slice(row.cells.clone())))
    }

    /// Returns the ids of the records of `tenant`, in the order of the file.
    pub(crate) fn ids(&self, tenant: &str) -> impl Iterator<Item = Uuid> {
        self.rows(tenant).iter().map(|row| row.id)
    }

    /// Returns the bytes of the JSON texts of `tenant`.
    pub(crate) fn bytes(&self, tenant: &str) -> usize {
        self.rows(tenant).iter().map(|row| row.bytes).sum()
    }

    fn rows(&self, tenant: &str) -> &[Row] {
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
    pub(crate) fn take(&mut self) -> Cell<Bytes> {
        match self.0.try_get_u8() {
            Ok(NUMBER) => self.0.try_get_i64().map_or(Cell::Null, Cell::Number),
            Ok(BYTES) => {
                let length = self.0.try_get_u64().map(usize::try_from);
                match length {
                    Ok(Ok(length)) if length <= self.0.len() => {
                        Cell::Bytes(self.0.split_to(length))
                    }
                    _ => Cell::Null,
                }
            }
            _ => Cell::Null,
        }
    }
}
