//! Reads the wanted records of a part of a file: by statistics and bloom filters first, then the columns that decide, then
//! the pages with the rows.

use std::io;
use std::sync::Arc;

use parquet::bloom_filter::Sbbf;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMask, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::properties::ReaderProperties;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::statistics::Statistics;
use portcullis_storage::decision_files::PartRow;
use uuid::Uuid;

use super::archive::Archive;
use super::cells::{Cell, join};
use super::columns::{COLUMNS, Form, ID, TENANT, place};
use super::ranges::RemoteObject;
use crate::wanted::Wanted;

/// The bytes at the end of a file that are read at first: they have the metadata of most files.
const TAIL: u64 = 32 * 1024;
/// The part of the rows of a group, as one of so many, from which on the whole group is read with one request.
const MOST: usize = 4;

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

/// Reads the end of the file.
fn read_metadata(object: &RemoteObject) -> Result<ParquetMetaData, ParquetError> {
    use parquet::file::reader::Length;
    let start = object.len().saturating_sub(TAIL);
    object.read_ahead(start, object.len() - start)?;
    ParquetMetaDataReader::new().parse_and_finish(object)
}

/// Returns the least and the greatest text of a column.
fn bounds(group: &RowGroupMetaData, column: usize) -> Option<(String, String)> {
    let Statistics::ByteArray(statistics) = group.column(column).statistics()? else { return None };
    let text =
        |bytes: &parquet::data_type::ByteArray| String::from_utf8(bytes.data().to_vec()).ok();
    Some((text(statistics.min_opt()?)?, text(statistics.max_opt()?)?))
}

impl RestedGroup {
    /// Passes the id and the JSON text of each wanted record to `add`. Blocks.
    pub(crate) fn load(&self, wanted: &Wanted, add: impl FnMut(Uuid, &[u8])) -> io::Result<()> {
        self.read(wanted, add).map_err(io::Error::other)
    }

    fn read(&self, wanted: &Wanted, mut add: impl FnMut(Uuid, &[u8])) -> Result<(), ParquetError> {
        if !self.may_have(wanted)? {
            return Ok(());
        }
        let about = self.metadata.row_group(self.group);
        let is_selective = wanted.needs_members();
        if !is_selective {
            self.read_whole_ahead()?;
        }
        let pages = self.pages()?;
        let total = usize::try_from(about.num_rows()).unwrap_or_default();
        let mut rows: Vec<usize> = (0..total).collect();
        for (name, text) in wanted.texts() {
            if let (Some(text), Some(column)) = (text, place(name)) {
                pages.retain(&mut rows, column, |cell| is_text(cell, text))?;
            }
        }
        pages.retain_words(&mut rows, wanted)?;
        if let (false, Some(column)) = (wanted.counts, place("left_out")) {
            pages.retain(&mut rows, column, |cell| *cell == Cell::Null)?;
        }
        pages.retain(&mut rows, TENANT, |cell| is_text(cell, &wanted.tenant))?;
        // Last: ids are a third of all bytes.
        pages.retain(&mut rows, ID, |cell| id_of(cell).is_some_and(|id| wanted.has_id(id)))?;
        if rows.is_empty() {
            return Ok(());
        }
        if is_selective && rows.len() > total / MOST {
            self.read_whole_ahead()?;
        }
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
        self.read_whole_ahead()?;
        let rows = self.metadata.row_group(self.group).num_rows();
        let rows: Vec<usize> = (0..usize::try_from(rows).unwrap_or_default()).collect();
        let mut text = Vec::new();
        self.pages()?.records(&rows, |cells| {
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

    fn pages(&self) -> Result<Pages<'_>, ParquetError> {
        let mut index = ParquetMetaDataReader::new_with_metadata((*self.metadata).clone())
            .with_offset_index_policy(PageIndexPolicy::Required)
            .with_offset_index_mask(ColumnChunkMask::row_groups([self.group]));
        index.read_page_indexes(&*self.object)?;
        Ok(Pages { group: self, metadata: index.finish()? })
    }

    /// Asks the bloom filters.
    fn may_have(&self, wanted: &Wanted) -> Result<bool, ParquetError> {
        let about = self.metadata.row_group(self.group);
        for (name, text) in wanted.texts() {
            let (Some(text), Some(column)) = (text, place(name)) else { continue };
            let filter = Sbbf::read_from_column_chunk(about.column(column), &*self.object)?;
            if filter.is_some_and(|filter| !filter.check(&text.as_str())) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read_whole_ahead(&self) -> Result<(), ParquetError> {
        let ranges =
            self.metadata.row_group(self.group).columns().iter().map(|column| column.byte_range());
        let (mut start, mut end) = (u64::MAX, 0);
        for (from, length) in ranges {
            (start, end) = (start.min(from), end.max(from + length));
        }
        self.object.read_ahead(start, end.saturating_sub(start))
    }
}

/// A row group whose pages are known.
struct Pages<'g> {
    group: &'g RestedGroup,
    metadata: ParquetMetaData,
}

impl Pages<'_> {
    /// Passes the cells of each of these rows to `visit`.
    fn records(&self, rows: &[usize], mut visit: impl FnMut(&[Cell])) -> Result<(), ParquetError> {
        let columns: Vec<Vec<Cell>> =
            (0..COLUMNS.len()).map(|column| self.cells(column, rows)).collect::<Result<_, _>>()?;
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        let mut cells = Vec::with_capacity(columns.len());
        for _ in rows {
            cells.clear();
            cells.extend(columns.iter_mut().filter_map(Iterator::next));
            visit(&cells);
        }
        Ok(())
    }

    /// Keeps the rows whose cell of `column` is as `is_wanted` says.
    fn retain(
        &self,
        rows: &mut Vec<usize>,
        column: usize,
        is_wanted: impl Fn(&Cell) -> bool,
    ) -> Result<(), ParquetError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut cells = self.cells(column, rows)?.into_iter();
        rows.retain(|_| cells.next().is_some_and(|cell| is_wanted(&cell)));
        Ok(())
    }

    fn retain_words(&self, rows: &mut Vec<usize>, wanted: &Wanted) -> Result<(), ParquetError> {
        let decision = wanted.selection.decision.map(|decision| decision.into_str());
        let via = wanted.selection.via.map(|via| via.into_str());
        for (name, word) in [("decision", decision), ("via", via)] {
            if let (Some(word), Some(column)) = (word, place(name)) {
                self.retain(rows, column, |cell| is_text(cell, word))?;
            }
        }
        if let (Some(some), Some(column)) = (wanted.selection.undetermined, place("undetermined")) {
            let is_empty = |cell: &Cell| *cell == Cell::Null || is_text(cell, "[]");
            self.retain(rows, column, |cell| some != is_empty(cell))?;
        }
        Ok(())
    }

    /// Reads the cells of `column` in these rows, which ascend.
    fn cells(&self, column: usize, rows: &[usize]) -> Result<Vec<Cell>, ParquetError> {
        let about = self.metadata.row_group(self.group.group);
        let chunk = about.column(column);
        let total = usize::try_from(about.num_rows()).unwrap_or_default();
        let index = self.metadata.page_index();
        let index = index.and_then(|index| index.offset_index(self.group.group, column));
        let locations = index.map(|index| index.page_locations().clone());
        let pages = SerializedPageReader::new_with_properties(
            Arc::clone(&self.group.object),
            chunk,
            total,
            locations,
            Arc::new(ReaderProperties::builder().build()),
        )?;
        let mut reader = get_column_reader(chunk.column_descr_ptr(), Box::new(pages));
        let (mut cells, mut at) = (Vec::with_capacity(rows.len()), 0);
        for run in rows.chunk_by(|before, after| before + 1 == *after) {
            let Some(&start) = run.first() else { continue };
            skip(&mut reader, start - at)?;
            read(&mut reader, run.len(), COLUMNS[column].form, &mut cells)?;
            at = start + run.len();
        }
        Ok(cells)
    }
}

fn skip(reader: &mut ColumnReader, rows: usize) -> Result<(), ParquetError> {
    match reader {
        ColumnReader::ByteArrayColumnReader(reader) => reader.skip_records(rows)?,
        ColumnReader::Int64ColumnReader(reader) => reader.skip_records(rows)?,
        _ => 0,
    };
    Ok(())
}

fn read(
    reader: &mut ColumnReader,
    rows: usize,
    form: Form,
    cells: &mut Vec<Cell>,
) -> Result<(), ParquetError> {
    let mut levels = Vec::with_capacity(rows);
    match reader {
        ColumnReader::ByteArrayColumnReader(reader) => {
            let mut values = Vec::with_capacity(rows);
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            add(cells, &levels, values.into_iter().map(Cell::Bytes));
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let mut values = Vec::with_capacity(rows);
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            add(cells, &levels, values.into_iter().map(Cell::Number));
        }
        _ => return Err(ParquetError::General(format!("a column of {form:?} has another type"))),
    }
    Ok(())
}

/// Adds the values; a required column has no levels.
fn add(cells: &mut Vec<Cell>, levels: &[i16], mut values: impl Iterator<Item = Cell>) {
    if levels.is_empty() {
        cells.extend(values);
    } else {
        let cell = |level: &i16| if *level == 0 { Some(Cell::Null) } else { values.next() };
        cells.extend(levels.iter().filter_map(cell));
    }
}

fn is_text(cell: &Cell, text: &str) -> bool {
    matches!(cell, Cell::Bytes(bytes) if bytes.data() == text.as_bytes())
}

fn id_of(cell: &Cell) -> Option<Uuid> {
    let Cell::Bytes(bytes) = cell else { return None };
    Uuid::try_parse_ascii(bytes.data()).ok()
}
