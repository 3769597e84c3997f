//! The pages of a row group: those that have wanted rows, and the cells of these.

use std::ops::Range;
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::properties::ReaderProperties;
use parquet::file::serialized_reader::SerializedPageReader;

use super::cells::Cell;
use super::columns::{COLUMNS, Form};
use super::ranges::RemoteObject;

/// A row group whose pages are known.
pub(crate) struct Pages<'g> {
    object: &'g Arc<RemoteObject>,
    metadata: &'g ParquetMetaData,
    group: usize,
    about: &'g RowGroupMetaData,
    total: usize,
}

impl<'g> Pages<'g> {
    pub(crate) fn new(
        object: &'g Arc<RemoteObject>,
        metadata: &'g ParquetMetaData,
        group: usize,
    ) -> Self {
        let about = metadata.row_group(group);
        let total = usize::try_from(about.num_rows()).unwrap_or_default();
        Self { object, metadata, group, about, total }
    }

    pub(crate) fn all_rows(&self) -> Vec<usize> {
        (0..self.total).collect()
    }

    /// Keeps the rows of pages that may have `text` in `column`, by the bounds of each page, if the file has them.
    pub(crate) fn retain_by_bounds(&self, rows: &mut Vec<usize>, column: usize, text: &str) {
        let index =
            self.metadata.page_index().and_then(|index| index.column_index(self.group, column));
        let Some(ColumnIndexMetaData::BYTE_ARRAY(bounds)) = index else { return };
        let text = text.as_bytes();
        let may_have = |page: usize| {
            bounds.min_value(page).is_none_or(|least| least <= text)
                && bounds.max_value(page).is_none_or(|greatest| greatest >= text)
        };
        let pages = self.row_ranges(column).into_iter().enumerate();
        let pages: Vec<_> =
            pages.filter(|(page, _)| may_have(*page)).map(|(_, rows)| rows).collect();
        let mut pages = pages.into_iter().peekable();
        rows.retain(|row| {
            while pages.next_if(|page| page.end <= *row).is_some() {}
            pages.peek().is_some_and(|page| page.contains(row))
        });
    }

    /// Passes the cells of each of these rows, which ascend, to `visit`.
    pub(crate) fn records(
        &self,
        rows: &[usize],
        mut visit: impl FnMut(&[Cell<ByteArray>]),
    ) -> Result<(), ParquetError> {
        let all: Vec<_> = (0..COLUMNS.len()).flat_map(|column| self.ranges(column, rows)).collect();
        self.object.read_ahead(&all)?;
        let columns = (0..COLUMNS.len()).map(|column| self.cells(column, rows));
        let columns: Vec<_> = columns.collect::<Result<_, _>>()?;
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
    pub(crate) fn retain(
        &self,
        rows: &mut Vec<usize>,
        column: usize,
        is_wanted: impl Fn(&Cell<ByteArray>) -> bool,
    ) -> Result<(), ParquetError> {
        let mut cells = self.cells(column, rows)?.into_iter();
        rows.retain(|_| cells.next().is_some_and(|cell| is_wanted(&cell)));
        Ok(())
    }

    fn locations(&self, column: usize) -> &[PageLocation] {
        let index =
            self.metadata.page_index().and_then(|index| index.offset_index(self.group, column));
        index.map_or(&[], |index| index.page_locations())
    }

    /// Returns the rows of each page of `column`.
    fn row_ranges(&self, column: usize) -> Vec<Range<usize>> {
        let starts = self.locations(column).iter();
        let starts = starts.map(|page| usize::try_from(page.first_row_index).unwrap_or_default());
        let ends = starts.clone().skip(1).chain([self.total]);
        starts.zip(ends).map(|(start, end)| start..end).collect()
    }

    /// Returns where the pages of `column` with these rows are in the file.
    fn ranges(&self, column: usize, mut rows: &[usize]) -> Vec<Range<u64>> {
        let place = |offset: i64| u64::try_from(offset).unwrap_or_default();
        let locations = self.locations(column);
        let mut ranges = Vec::new();
        let dictionary = self.about.column(column).dictionary_page_offset();
        if let (Some(start), Some(first), false) = (dictionary, locations.first(), rows.is_empty())
        {
            ranges.push(place(start)..place(first.offset));
        }
        for (page, page_rows) in locations.iter().zip(self.row_ranges(column)) {
            let (here, later) = rows.split_at(rows.partition_point(|row| *row < page_rows.end));
            if !here.is_empty() {
                let start = place(page.offset);
                ranges.push(start..start + place(page.compressed_page_size.into()));
            }
            rows = later;
        }
        ranges
    }

    /// Reads the cells of `column` in these rows, which ascend.
    pub(crate) fn cells(
        &self,
        column: usize,
        rows: &[usize],
    ) -> Result<Vec<Cell<ByteArray>>, ParquetError> {
        self.object.read_ahead(&self.ranges(column, rows))?;
        let chunk = self.about.column(column);
        let pages = SerializedPageReader::new_with_properties(
            Arc::clone(self.object),
            chunk,
            self.total,
            Some(self.locations(column).to_vec()),
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
    cells: &mut Vec<Cell<ByteArray>>,
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
fn add(
    cells: &mut Vec<Cell<ByteArray>>,
    levels: &[i16],
    mut values: impl Iterator<Item = Cell<ByteArray>>,
) {
    if levels.is_empty() {
        cells.extend(values);
    } else {
        let cell = |level: &i16| if *level == 0 { Some(Cell::Null) } else { values.next() };
        cells.extend(levels.iter().filter_map(cell));
    }
}

/// Returns whether the cell is this text.
pub(crate) fn is_text(cell: &Cell<ByteArray>, text: &str) -> bool {
    matches!(cell, Cell::Bytes(bytes) if bytes.data() == text.as_bytes())
}
