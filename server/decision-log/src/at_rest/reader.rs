//! Reads the wanted records of a part of a file: by statistics, bloom filters and bounds of pages first, then the columns that
//! decide, then the pages with the rows. What is damaged is counted, and left out.

use std::collections::BTreeMap;
use std::io;
use std::iter;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use parquet::bloom_filter::Sbbf;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::statistics::Statistics;
use portcullis_storage::decision_files::PartRow;
use serde::de::IgnoredAny;
use uuid::Uuid;

use super::archive::Archive;
use super::cells::{Cell, join};
use super::columns::{COLUMNS, Form, ID, TENANT, place};
use super::damaged::FilePart;
use super::pages::{FilePlaces, Pages, is_text};
use super::ranges::{RemoteObject, is_of_the_store};
use super::rows::LEAST_SHARED;
use crate::shared::{Insert, PLACEHOLDER, address, whole_bytes};
use crate::wanted::Wanted;

/// The bytes at the end of a file that are read at first: a part of the file, which has the metadata of most files.
const TAIL: Range<u64> = 8 * 1024..64 * 1024;
const TAIL_PART: u64 = 256;

/// The records of one tenant in one file.
#[derive(Clone, Debug)]
pub(crate) struct RestedPart {
    archive: Archive,
    row: PartRow,
}

/// A row group of a file that has records of the tenant.
#[derive(Debug)]
pub(crate) struct RestedGroup {
    object: Arc<RemoteObject>,
    metadata: Arc<ParquetMetaData>,
    group: usize,
    pub(crate) ids: (Uuid, Uuid),
}

impl RestedPart {
    pub(crate) fn new(archive: Archive, row: PartRow) -> Self {
        Self { archive, row }
    }

    /// Returns the smallest and the greatest id.
    pub(crate) fn ids(&self) -> (Uuid, Uuid) {
        (self.row.first_id, self.row.last_id)
    }

    pub(crate) fn path(&self) -> &str {
        &self.row.path
    }

    /// Reads the metadata of the file, if it is not known, and returns the groups with records of the tenant; none if the
    /// metadata are damaged. Blocks.
    pub(crate) fn sound_groups(&self, wanted: &Wanted) -> io::Result<Vec<RestedGroup>> {
        match self.groups(wanted) {
            Err(error) if !is_of_the_store(&error) => {
                let records = usize::try_from(self.row.records).unwrap_or_default();
                let part = FilePart::Tenant(wanted.tenant.clone());
                self.archive.damaged().note((self.path(), part), iter::once(0..records));
                Ok(Vec::new())
            }
            groups => groups.map_err(|error| self.failure(&error)),
        }
    }

    /// As [`RestedPart::sound_groups`], but damaged metadata are an error.
    pub(crate) fn groups(&self, wanted: &Wanted) -> Result<Vec<RestedGroup>, Arc<ParquetError>> {
        let bytes = u64::try_from(self.row.file_bytes).unwrap_or_default();
        let object = Arc::new(self.archive.object(&self.row.path, bytes));
        let metadata = self.archive.metadata(&self.row.path, || read_metadata(&object))?;
        let (first, last) = self.ids();
        let places = FilePlaces::new(&metadata);
        let groups = metadata.row_groups().iter().enumerate().filter_map(|(group, about)| {
            let (least, greatest) = bounds(about, places.of(TENANT)?)?;
            if wanted.tenant < least || wanted.tenant > greatest {
                return None;
            }
            let (least, greatest) = bounds(about, places.of(ID)?)?;
            // In a group of several tenants they are bounds of all. A damaged record has no id.
            let ids = (
                least.parse::<Uuid>().map_or(first, |least| least.max(first)),
                greatest.parse::<Uuid>().map_or(last, |greatest| greatest.min(last)),
            );
            let (object, metadata) = (Arc::clone(&object), Arc::clone(&metadata));
            (ids.0 <= ids.1).then_some(RestedGroup { object, metadata, group, ids })
        });
        Ok(groups.collect())
    }

    /// Returns the error of a file that cannot be read.
    pub(crate) fn failure(&self, error: &ParquetError) -> io::Error {
        io::Error::other(format!("`{}`: {error}", self.path()))
    }
}

/// Returns every row group of a file. Blocks.
pub(crate) fn every_group(object: RemoteObject) -> Result<Vec<RestedGroup>, ParquetError> {
    let object = Arc::new(object);
    let metadata = Arc::new(read_metadata(&object)?);
    let groups = (0..metadata.num_row_groups()).map(|group| {
        let (object, metadata) = (Arc::clone(&object), Arc::clone(&metadata));
        RestedGroup { object, metadata, group, ids: (Uuid::nil(), Uuid::max()) }
    });
    Ok(groups.collect())
}

/// Reads the metadata of a file, with the places of its pages.
fn read_metadata(object: &RemoteObject) -> Result<ParquetMetaData, ParquetError> {
    let tail = (object.bytes / TAIL_PART).clamp(TAIL.start, TAIL.end);
    let tail = object.bytes.saturating_sub(tail)..object.bytes;
    // The parser reads the end of the file in several steps: one request serves them all.
    object.read_ahead(slice::from_ref(&tail))?;
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    reader.parse_and_finish(object)
}

/// Returns the least and the greatest text of the column at this place of the file.
fn bounds(group: &RowGroupMetaData, column: usize) -> Option<(String, String)> {
    let Statistics::ByteArray(statistics) = group.column(column).statistics()? else { return None };
    Some((text(statistics.min_opt()?)?, text(statistics.max_opt()?)?))
}

fn text(bytes: &ByteArray) -> Option<String> {
    String::from_utf8(bytes.data().to_vec()).ok()
}

impl RestedGroup {
    pub(crate) fn path(&self) -> &str {
        &self.object.path
    }

    /// Passes the id and the JSON text of each wanted record to `add`, with the texts that it shares with others apart. Blocks.
    pub(crate) fn load(
        &self,
        wanted: &Wanted,
        add: impl FnMut(Uuid, &[u8], &[Insert]),
    ) -> io::Result<()> {
        self.read(wanted, add).map_err(io::Error::other)
    }

    fn read(
        &self,
        wanted: &Wanted,
        mut add: impl FnMut(Uuid, &[u8], &[Insert]),
    ) -> Result<(), ParquetError> {
        if !self.may_have(wanted)? {
            return Ok(());
        }
        let (pages, mut read, mut joined) = (self.pages(), Vec::new(), JoinedRecord::default());
        loop {
            let rows = wanted_rows(&pages, wanted, &read)?;
            let before = read.len();
            pages.records(&rows, |row, cells| match joined.join(cells) {
                Some(id) => {
                    read.push(row);
                    add(id, &joined.json, &joined.inserts);
                }
                None => pages.note_damaged(row),
            })?;
            // If only the first records are wanted, others take the places of those that cannot be read.
            if read.len() - before == rows.len() {
                return Ok(());
            }
            read.sort_unstable();
        }
    }

    /// Returns whether somebody met rows that cannot be read.
    pub(crate) fn is_damaged(&self) -> bool {
        self.object.damaged.are_in((self.path(), self.group))
    }

    /// Passes every record of every tenant to `add`: tenant, id and bytes, its JSON text without the texts that it shares with
    /// others, and its cells. Blocks.
    pub(crate) fn every(
        &self,
        mut add: impl FnMut((&str, Uuid, usize), &[u8], &[Cell<ByteArray>]),
    ) -> Result<(), ParquetError> {
        let (pages, mut joined) = (self.pages(), JoinedRecord::default());
        pages.records(&pages.all_rows(), |row, cells| {
            let tenant = match cells.get(TENANT) {
                Some(Cell::Bytes(tenant)) => std::str::from_utf8(tenant.data()).ok(),
                _ => None,
            };
            match (tenant, joined.join(cells)) {
                (Some(tenant), Some(id)) => {
                    let texts = joined.inserts.iter().map(|(_, text)| text);
                    let bytes = whole_bytes(&joined.json, texts);
                    add((tenant, id, bytes), &joined.json, cells);
                }
                _ => pages.note_damaged(row),
            }
        })
    }

    fn pages(&self) -> Pages<'_> {
        Pages::new(&self.object, &self.metadata, self.group)
    }

    /// Asks the bloom filters.
    fn may_have(&self, wanted: &Wanted) -> Result<bool, ParquetError> {
        let about = self.metadata.row_group(self.group);
        let places = FilePlaces::new(&self.metadata);
        for (name, text) in wanted.texts() {
            let column = place(name).and_then(|column| places.of(column));
            let (Some(text), Some(column)) = (text, column) else { continue };
            match Sbbf::read_from_column_chunk(about.column(column), &*self.object) {
                Ok(Some(filter)) if !filter.check(text) => return Ok(false),
                Err(error) if is_of_the_store(&error) => return Err(error),
                // Without a sound filter the rows tell.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(true)
    }
}

/// Returns the rows of the wanted records but those in `read`, both in ascending order.
fn wanted_rows(
    pages: &Pages<'_>,
    wanted: &Wanted,
    read: &[usize],
) -> Result<Vec<usize>, ParquetError> {
    let mut rows = pages.all_rows();
    rows.retain(|row| read.binary_search(row).is_err());
    let texts = wanted.texts().into_iter();
    let texts = texts.filter_map(|(name, text)| Some((place(name)?, text?)));
    let texts = iter::once((TENANT, &*wanted.tenant)).chain(texts);
    // Before a page is read.
    for (column, text) in texts.clone() {
        pages.retain_by_bounds(&mut rows, column, text)?;
    }
    for (column, text) in texts {
        pages.retain(&mut rows, column, |cell| is_text(cell, text))?;
    }
    if let (Some(some), Some(column)) = (wanted.selection.undetermined, place("undetermined")) {
        pages.retain(&mut rows, column, |cell| {
            some != (matches!(cell, Cell::Null) || is_text(cell, "[]"))
        })?;
    }
    if let (false, Some(column)) = (wanted.counts, place("left_out")) {
        pages.retain(&mut rows, column, |cell| matches!(cell, Cell::Null))?;
    }
    // Last: ids are a third of all bytes.
    let ids = pages.cells(ID, &mut rows)?;
    let mut known = Vec::with_capacity(rows.len());
    for (id, row) in ids.iter().zip(rows) {
        match id_of(id) {
            Some(id) => known.push((id, row)),
            None => pages.note_damaged(row),
        }
    }
    known.retain(|(id, _)| wanted.has_id(*id));
    wanted.retain_first(&mut known, |(id, _)| *id);
    let mut rows: Vec<_> = known.into_iter().map(|(_, row)| row).collect();
    // The choice of the first records does not keep the order of the rows.
    rows.sort_unstable();
    Ok(rows)
}

/// The record of a row. Texts that it shares with the row before are apart.
#[derive(Debug, Default)]
struct JoinedRecord {
    json: Vec<u8>,
    inserts: Vec<Insert>,
    /// The texts of the rows before, by column.
    before: BTreeMap<usize, ByteArray>,
}

impl JoinedRecord {
    /// Takes the record in the cells, and returns its id; `None` if they have no sound one.
    fn join(&mut self, cells: &[Cell<ByteArray>]) -> Option<Uuid> {
        let id = cells.get(ID).and_then(id_of)?;
        let Self { json, inserts, before } = self;
        inserts.clear();
        join(cells, json, |out, column, text: &ByteArray| {
            let before = before.get(&column);
            if before.is_some_and(|before| address(before) == address(text)) {
                inserts.push((out.len(), text.clone()));
                out.extend_from_slice(PLACEHOLDER);
            } else {
                out.extend_from_slice(text.data());
            }
        });
        let json = std::str::from_utf8(json).ok()?;
        serde_json::from_str::<IgnoredAny>(json).ok()?;
        // From here on they are known to be sound.
        for (column, cell) in cells.iter().enumerate() {
            if let Cell::Bytes(text) = cell
                && text.len() >= LEAST_SHARED
                && COLUMNS[column].form == Form::Json
            {
                self.before.insert(column, text.clone());
            }
        }
        Some(id)
    }
}

/// Returns the id in a cell.
fn id_of(cell: &Cell<ByteArray>) -> Option<Uuid> {
    let Cell::Bytes(bytes) = cell else { return None };
    Uuid::try_parse_ascii(bytes.data()).ok()
}
