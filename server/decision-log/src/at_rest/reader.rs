//! Reads the wanted records of a part of a file: by statistics, bloom filters and bounds of pages first, then the columns that
//! decide, then the pages with the rows.

use std::io;
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
use uuid::Uuid;

use super::archive::Archive;
use super::cells::{Cell, join};
use super::columns::{ID, TENANT, place};
use super::pages::{Pages, is_text};
use super::ranges::RemoteObject;
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

    /// Reads the metadata of the file, if it is not known, and returns the groups with records of the tenant. Blocks.
    pub(crate) fn groups(&self, wanted: &Wanted) -> io::Result<Vec<RestedGroup>> {
        let bytes = u64::try_from(self.row.file_bytes).unwrap_or_default();
        let object = Arc::new(self.archive.object(&self.row.path, bytes));
        let metadata = self.archive.metadata(&self.row.path, || read_metadata(&object))?;
        let (first, last) = self.ids();
        let groups = metadata.row_groups().iter().enumerate().filter_map(|(group, about)| {
            let (least, greatest) = bounds(about, TENANT)?;
            if wanted.tenant < least || wanted.tenant > greatest {
                return None;
            }
            let (least, greatest) = bounds(about, ID)?;
            // In a group of several tenants they are bounds of all.
            let ids =
                (least.parse::<Uuid>().ok()?.max(first), greatest.parse::<Uuid>().ok()?.min(last));
            let (object, metadata) = (Arc::clone(&object), Arc::clone(&metadata));
            (ids.0 <= ids.1).then_some(RestedGroup { object, metadata, group, ids })
        });
        Ok(groups.collect())
    }
}

/// Returns every row group of a file. Blocks.
pub(crate) fn every_group(object: RemoteObject) -> Result<Vec<RestedGroup>, ParquetError> {
    let object = Arc::new(object);
    let metadata = Arc::new(read_metadata(&object)?);
    let group = |group| {
        let (object, metadata) = (Arc::clone(&object), Arc::clone(&metadata));
        RestedGroup { object, metadata, group, ids: (Uuid::nil(), Uuid::max()) }
    };
    Ok((0..metadata.num_row_groups()).map(group).collect())
}

/// Reads the metadata of a file, with the places of its pages.
fn read_metadata(object: &RemoteObject) -> Result<ParquetMetaData, ParquetError> {
    let tail = (object.bytes / TAIL_PART).clamp(TAIL.start, TAIL.end);
    let tail = object.bytes.saturating_sub(tail)..object.bytes;
    object.read_ahead(slice::from_ref(&tail))?;
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    reader.parse_and_finish(object)
}

/// Returns the least and the greatest text of a column.
fn bounds(group: &RowGroupMetaData, column: usize) -> Option<(String, String)> {
    let Statistics::ByteArray(statistics) = group.column(column).statistics()? else { return None };
    let text = |bytes: &ByteArray| String::from_utf8(bytes.data().to_vec()).ok();
    Some((text(statistics.min_opt()?)?, text(statistics.max_opt()?)?))
}

impl RestedGroup {
    pub(crate) fn path(&self) -> &str {
        &self.object.path
    }

    /// Passes the id and the JSON text of each wanted record to `add`. Blocks.
    pub(crate) fn load(&self, wanted: &Wanted, add: impl FnMut(Uuid, &[u8])) -> io::Result<()> {
        self.read(wanted, add).map_err(io::Error::other)
    }

    fn read(&self, wanted: &Wanted, mut add: impl FnMut(Uuid, &[u8])) -> Result<(), ParquetError> {
        if !self.may_have(wanted)? {
            return Ok(());
        }
        let pages = self.pages();
        let mut rows = pages.all_rows();
        let texts = wanted.texts().into_iter();
        let texts = texts.filter_map(|(name, text)| Some((place(name)?, text?)));
        let texts = std::iter::once((TENANT, &*wanted.tenant)).chain(texts);
        // Before a page is read.
        for (column, text) in texts.clone() {
            pages.retain_by_bounds(&mut rows, column, text)?;
        }
        for (column, text) in texts {
            pages.retain(&mut rows, column, |cell| is_text(cell, text))?;
        }
        if let (Some(some), Some(column)) = (wanted.selection.undetermined, place("undetermined")) {
            let is_empty = |cell: &_| matches!(cell, Cell::Null) || is_text(cell, "[]");
            pages.retain(&mut rows, column, |cell| some != is_empty(cell))?;
        }
        if let (false, Some(column)) = (wanted.counts, place("left_out")) {
            pages.retain(&mut rows, column, |cell| matches!(cell, Cell::Null))?;
        }
        // Last: ids are a third of all bytes.
        let ids = pages.cells(ID, &rows)?.into_iter();
        let ids = ids.zip(rows).filter_map(|(id, row)| Some((id_of(&id)?, row)));
        let mut ids: Vec<_> = ids.filter(|(id, _)| wanted.has_id(*id)).collect();
        wanted.retain_first(&mut ids, |(id, _)| *id);
        let mut rows: Vec<_> = ids.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        let mut text = Vec::new();
        pages.records(&rows, |cells| {
            if let Some(id) = cells.get(ID).and_then(id_of) {
                join(cells, &mut text);
                add(id, &text);
            }
        })
    }

    /// Passes tenant, id and JSON text of every record of every tenant to `add`. Blocks.
    pub(crate) fn every(&self, mut add: impl FnMut(&str, Uuid, &[u8])) -> Result<(), ParquetError> {
        let pages = self.pages();
        let mut text = Vec::new();
        pages.records(&pages.all_rows(), |cells| {
            let tenant = match cells.get(TENANT) {
                Some(Cell::Bytes(tenant)) => std::str::from_utf8(tenant.data()).ok(),
                _ => None,
            };
            if let (Some(tenant), Some(id)) = (tenant, cells.get(ID).and_then(id_of)) {
                join(cells, &mut text);
                add(tenant, id, &text);
            }
        })
    }

    fn pages(&self) -> Pages<'_> {
        Pages::new(&self.object, &self.metadata, self.group)
    }

    /// Asks the bloom filters.
    fn may_have(&self, wanted: &Wanted) -> Result<bool, ParquetError> {
        let about = self.metadata.row_group(self.group);
        for (name, text) in wanted.texts() {
            let (Some(text), Some(column)) = (text, place(name)) else { continue };
            let filter = Sbbf::read_from_column_chunk(about.column(column), &*self.object)?;
            if filter.is_some_and(|filter| !filter.check(text)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the id in a cell.
fn id_of(cell: &Cell<ByteArray>) -> Option<Uuid> {
    let Cell::Bytes(bytes) = cell else { return None };
    Uuid::try_parse_ascii(bytes.data()).ok()
}
