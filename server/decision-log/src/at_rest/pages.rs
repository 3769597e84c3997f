//! The pages of a row group: those that have wanted rows, and the cells of these. Rows that cannot be read are left out.

use std::iter;
use std::ops::Range;
use std::sync::Arc;

use parquet::column::reader::get_column_reader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use parquet::file::properties::ReaderProperties;
use parquet::file::serialized_reader::SerializedPageReader;

use super::cells::Cell;
use super::column_cells::ColumnCells;
use super::columns::COLUMNS;
use super::damaged::FilePart;
use super::ranges::{RemoteObject, is_of_the_store};

/// A row group whose pages are known.
pub(crate) struct Pages<'g> {
    object: &'g Arc<RemoteObject>,
    metadata: &'g ParquetMetaData,
    group: usize,
    about: &'g RowGroupMetaData,
    total: usize,
    /// The places of the columns in the file, which may be of a version with other members.
    places: FilePlaces,
}

/// The place of each column in a file, by its name; `None` if the file lacks it.
#[derive(Clone, Copy)]
pub(super) struct FilePlaces([Option<usize>; COLUMNS.len()]);

impl FilePlaces {
    pub(super) fn new(metadata: &ParquetMetaData) -> Self {
        let columns = metadata.file_metadata().schema_descr().columns();
        Self(COLUMNS.map(|column| columns.iter().position(|own| own.name() == column.name)))
    }

    /// Returns the place of `column` in the file.
    pub(super) fn of(&self, column: usize) -> Option<usize> {
        self.0.get(column).copied().flatten()
    }
}

impl<'g> Pages<'g> {
    pub(crate) fn new(
        object: &'g Arc<RemoteObject>,
        metadata: &'g ParquetMetaData,
        group: usize,
    ) -> Self {
        let about = metadata.row_group(group);
        let total = size(about.num_rows());
        Self { object, metadata, group, about, total, places: FilePlaces::new(metadata) }
    }

    /// Returns all rows but those that are known to be damaged.
    pub(crate) fn all_rows(&self) -> Vec<usize> {
        let mut rows = (0..self.total).collect();
        self.retain_sound(&mut rows);
        rows
    }

    fn retain_sound(&self, rows: &mut Vec<usize>) {
        self.object.damaged.retain_sound((&self.object.path, self.group), rows);
    }

    /// Notes that a row cannot be read.
    pub(crate) fn note_damaged(&self, row: usize) {
        self.note_all_damaged(iter::once(row..row + 1));
    }

    fn note_all_damaged(&self, rows: impl IntoIterator<Item = Range<usize>>) {
        self.object.damaged.note((&self.object.path, FilePart::Group(self.group)), rows);
    }

    /// Finds the pages that cannot be read after one of them gave `error`, and keeps of `rows` those outside of them.
    ///
    /// # Errors
    /// The store failed, then or now, or no page is damaged.
    fn go_on_after(&self, error: ParquetError, rows: &mut Vec<usize>) -> Result<(), ParquetError> {
        if is_of_the_store(&error) {
            return Err(error);
        }
        let (all, mut damaged) = ((0..self.total).collect::<Vec<_>>(), Vec::new());
        // The error does not tell the page, and others may be damaged, too: each page is tried.
        for column in self.columns_of_file() {
            // So that only one column is in memory at a time.
            self.object.forget();
            self.object.read_ahead(&self.ranges(column, &all)?)?;
            for page in self.row_ranges(column)? {
                match self.sound_cells(column, &all[page.clone()]) {
                    Err(error) if is_of_the_store(&error) => return Err(error),
                    Err(_) => damaged.push(page),
                    Ok(_) => {}
                }
            }
        }
        self.object.forget();
        if damaged.is_empty() {
            return Err(error);
        }
        self.note_all_damaged(damaged);
        self.retain_sound(rows);
        Ok(())
    }

    /// Keeps the rows of pages that may have `text` in `column`, by the bounds of each page, if the file has them.
    pub(crate) fn retain_by_bounds(
        &self,
        rows: &mut Vec<usize>,
        column: usize,
        text: &str,
    ) -> Result<(), ParquetError> {
        let Some(place) = self.places.of(column) else { return Ok(()) };
        let index =
            self.metadata.page_index().and_then(|index| index.column_index(self.group, place));
        let Some(ColumnIndexMetaData::BYTE_ARRAY(bounds)) = index else { return Ok(()) };
        let text = text.as_bytes();
        // A page whose bounds are unknown stays. Long bounds are cut so that they still enclose all values.
        let pages = self.row_ranges(column)?.into_iter().enumerate().filter(|(page, _)| {
            bounds.min_value(*page).is_none_or(|least| least <= text)
                && bounds.max_value(*page).is_none_or(|greatest| greatest >= text)
        });
        let mut pages = pages.map(|(_, rows)| rows).peekable();
        // Pages and rows both ascend: each page is looked at once.
        rows.retain(|row| {
            while pages.next_if(|page| page.end <= *row).is_some() {}
            pages.peek().is_some_and(|page| page.contains(row))
        });
        Ok(())
    }

    /// Passes each of these rows, which ascend, and its cells to `visit`, but those that cannot be read.
    pub(crate) fn records(
        &self,
        rows: &[usize],
        mut visit: impl FnMut(usize, &[Cell<ByteArray>]),
    ) -> Result<(), ParquetError> {
        let (mut columns, mut cells) = (self.columns()?, Vec::with_capacity(COLUMNS.len()));
        for (number, rows) in self.blocks(rows)?.into_iter().enumerate() {
            if number > 0 {
                self.object.forget();
            }
            let mut rows = rows.to_vec();
            // A block before may have found damaged pages.
            self.retain_sound(&mut rows);
            let block = match self.block(&mut columns, &rows) {
                Ok(block) => block,
                Err(error) => {
                    self.go_on_after(error, &mut rows)?;
                    // Some of the old readers are beyond the rows of the block.
                    columns = self.columns()?;
                    self.block(&mut columns, &rows)?
                }
            };
            let mut block: Vec<_> = block.into_iter().map(Vec::into_iter).collect();
            for row in rows {
                cells.clear();
                // Each column has a cell for each row: with fewer, the block could not be read.
                cells.extend(block.iter_mut().filter_map(Iterator::next));
                visit(row, &cells);
            }
        }
        Ok(())
    }

    /// Returns the columns that the file has.
    fn columns_of_file(&self) -> impl Iterator<Item = usize> {
        (0..COLUMNS.len()).filter(|column| self.places.of(*column).is_some())
    }

    fn columns(&self) -> Result<Vec<ColumnCells>, ParquetError> {
        (0..COLUMNS.len()).map(|column| self.column(column)).collect()
    }

    /// Reads the cells of every column in these rows.
    fn block(
        &self,
        columns: &mut [ColumnCells],
        rows: &[usize],
    ) -> Result<Vec<Vec<Cell<ByteArray>>>, ParquetError> {
        let ranges = self.columns_of_file().map(|column| self.ranges(column, rows));
        let ranges: Vec<_> = ranges.collect::<Result<_, _>>()?;
        self.object.read_ahead(&ranges.concat())?;
        columns.iter_mut().map(|column| column.cells(rows)).collect()
    }

    /// Divides rows, which ascend, into blocks whose cells are in memory at once. A cell keeps its page in memory.
    fn blocks<'r>(&self, rows: &'r [usize]) -> Result<Vec<&'r [usize]>, ParquetError> {
        /// The most rows of a block, and the bytes of their pages after which it ends.
        const ROWS: usize = 4096;
        const BYTES: usize = 16 << 20;
        let pages = self.columns_of_file().map(|column| self.page_sizes(column));
        let mut pages: Vec<_> = pages.collect::<Result<_, _>>()?;
        // The next page comes last.
        pages.iter_mut().for_each(|pages| pages.reverse());
        let (mut blocks, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (place, row) in rows.iter().enumerate() {
            for pages in &mut pages {
                let reached = iter::from_fn(|| pages.pop_if(|(first, _)| *first <= *row));
                // Pages before the row's are not read.
                bytes += reached.last().map_or(0, |(_, size)| size);
            }
            if bytes >= BYTES || place + 1 - start == ROWS {
                blocks.push(&rows[start..=place]);
                (start, bytes) = (place + 1, 0);
            }
        }
        blocks.extend(Some(&rows[start..]).filter(|rest| !rest.is_empty()));
        Ok(blocks)
    }

    /// Returns the first row of each page of `column`, and the bytes of its texts.
    fn page_sizes(&self, column: usize) -> Result<Vec<(usize, usize)>, ParquetError> {
        let index = self.offset_index(column)?;
        // Texts that rows share are in memory once: they are in the dictionary.
        let all = self.about_column(column)?.uncompressed_size();
        let texts = index.unencoded_byte_array_data_bytes();
        let pages = index.page_locations().iter().enumerate().map(|(number, page)| {
            // Numbers have no such bytes, and take few.
            let texts = texts.and_then(|texts| texts.get(number)).copied();
            let bytes = texts.unwrap_or(page.compressed_page_size.into()).min(all);
            (page.first_row_index, bytes)
        });
        Ok(pages.map(|(first, bytes)| (size(first), size(bytes))).collect())
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

    /// Returns where the pages of `column` are.
    fn locations(&self, column: usize) -> Result<&[PageLocation], ParquetError> {
        Ok(self.offset_index(column)?.page_locations())
    }

    fn offset_index(&self, column: usize) -> Result<&OffsetIndexMetaData, ParquetError> {
        let (index, place) = (self.metadata.page_index(), self.places.of(column));
        let index =
            index.zip(place).and_then(|(index, place)| index.offset_index(self.group, place));
        index.ok_or_else(|| {
            ParquetError::General("the file does not say where its pages are".into())
        })
    }

    fn about_column(&self, column: usize) -> Result<&ColumnChunkMetaData, ParquetError> {
        let place = self.places.of(column);
        let place =
            place.ok_or_else(|| ParquetError::General("the file lacks the column".into()))?;
        Ok(self.about.column(place))
    }

    /// Returns the rows of each page of `column`.
    fn row_ranges(&self, column: usize) -> Result<Vec<Range<usize>>, ParquetError> {
        let starts = self.locations(column)?.iter();
        let starts = starts.map(|page| size(page.first_row_index));
        let ends = starts.clone().skip(1).chain([self.total]);
        Ok(starts.zip(ends).map(|(start, end)| start..end).collect())
    }

    /// Returns where the pages of `column` with these rows are in the file.
    fn ranges(&self, column: usize, mut rows: &[usize]) -> Result<Vec<Range<u64>>, ParquetError> {
        let locations = self.locations(column)?;
        let mut ranges = Vec::new();
        let dictionary = self.about_column(column)?.dictionary_page_offset();
        // The dictionary is before the first page, and has the values of them all.
        if let (Some(start), Some(first), false) = (dictionary, locations.first(), rows.is_empty())
        {
            ranges.push(offset(start)..offset(first.offset));
        }
        for (page, page_rows) in locations.iter().zip(self.row_ranges(column)?) {
            let (here, later) = rows.split_at(rows.partition_point(|row| *row < page_rows.end));
            if !here.is_empty() {
                let start = offset(page.offset);
                ranges.push(start..start + offset(page.compressed_page_size.into()));
            }
            rows = later;
        }
        Ok(ranges)
    }

    /// Reads the cells of `column` in these rows, which ascend. Keeps of them those that can be read.
    pub(crate) fn cells(
        &self,
        column: usize,
        rows: &mut Vec<usize>,
    ) -> Result<Vec<Cell<ByteArray>>, ParquetError> {
        match self.sound_cells(column, rows) {
            Err(error) => {
                self.go_on_after(error, rows)?;
                self.sound_cells(column, rows)
            }
            read => read,
        }
    }

    fn sound_cells(
        &self,
        column: usize,
        rows: &[usize],
    ) -> Result<Vec<Cell<ByteArray>>, ParquetError> {
        if self.places.of(column).is_some() {
            self.object.read_ahead(&self.ranges(column, rows)?)?;
        }
        self.column(column)?.cells(rows)
    }

    fn column(&self, column: usize) -> Result<ColumnCells, ParquetError> {
        if self.places.of(column).is_none() {
            return Ok(ColumnCells::absent());
        }
        let chunk = self.about_column(column)?;
        let pages = SerializedPageReader::new_with_properties(
            Arc::clone(self.object),
            chunk,
            self.total,
            Some(self.locations(column)?.to_vec()),
            Arc::new(ReaderProperties::builder().build()),
        )?;
        Ok(ColumnCells::new(get_column_reader(chunk.column_descr_ptr(), Box::new(pages))))
    }
}

/// Returns a number of rows or bytes as the metadata have it; 0 for a negative one, which only a damaged file has.
fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// As [`size`], for a place in the file.
fn offset(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// Returns whether the cell is this text.
pub(crate) fn is_text(cell: &Cell<ByteArray>, text: &str) -> bool {
    matches!(cell, Cell::Bytes(bytes) if bytes.data() == text.as_bytes())
}
