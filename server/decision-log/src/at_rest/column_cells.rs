//! Reads the cells of a column, row after row.

use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;

use super::cells::Cell;

/// A column of a row group, which is read from its first row to its last.
pub(crate) struct ColumnCells {
    /// `None` if the file lacks the column.
    reader: Option<ColumnReader>,
    /// The next row.
    at: usize,
}

impl ColumnCells {
    pub(crate) fn new(reader: ColumnReader) -> Self {
        Self { reader: Some(reader), at: 0 }
    }

    /// Returns a column that the file lacks.
    pub(crate) fn absent() -> Self {
        Self { reader: None, at: 0 }
    }

    /// Reads the cells in these rows, which ascend and follow those that were read.
    ///
    /// # Errors
    /// The column cannot be read, or has fewer rows.
    pub(crate) fn cells(&mut self, rows: &[usize]) -> Result<Vec<Cell<ByteArray>>, ParquetError> {
        if self.reader.is_none() {
            return Ok(vec![Cell::Null; rows.len()]);
        }
        let mut cells = Vec::with_capacity(rows.len());
        for run in rows.chunk_by(|before, after| before + 1 == *after) {
            let Some(&start) = run.first() else { continue };
            self.skip(start - self.at)?;
            self.read(run.len(), &mut cells)?;
            self.at = start + run.len();
        }
        if cells.len() < rows.len() {
            return Err(ParquetError::EOF("a column ends before its last row".to_owned()));
        }
        Ok(cells)
    }

    fn skip(&mut self, rows: usize) -> Result<(), ParquetError> {
        match &mut self.reader {
            Some(ColumnReader::ByteArrayColumnReader(reader)) => reader.skip_records(rows)?,
            Some(ColumnReader::Int64ColumnReader(reader)) => reader.skip_records(rows)?,
            // `read` reports a column of another type.
            _ => 0,
        };
        Ok(())
    }

    fn read(&mut self, rows: usize, cells: &mut Vec<Cell<ByteArray>>) -> Result<(), ParquetError> {
        let mut levels = Vec::with_capacity(rows);
        match &mut self.reader {
            Some(ColumnReader::ByteArrayColumnReader(reader)) => {
                let mut values = Vec::with_capacity(rows);
                reader.read_records(rows, Some(&mut levels), None, &mut values)?;
                add(cells, &levels, values.into_iter().map(Cell::Bytes));
            }
            Some(ColumnReader::Int64ColumnReader(reader)) => {
                let mut values = Vec::with_capacity(rows);
                reader.read_records(rows, Some(&mut levels), None, &mut values)?;
                add(cells, &levels, values.into_iter().map(Cell::Number));
            }
            _ => return Err(ParquetError::General("a column has another type".to_owned())),
        }
        Ok(())
    }
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
        // A missing value leaves a cell out, so that the caller notices by the number of cells.
        cells.extend(levels.iter().filter_map(|level| match level {
            0 => Some(Cell::Null),
            _ => values.next(),
        }));
    }
}
