//! Writes a file of records.

use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};

use super::cells::Cell;
use super::columns::{COLUMNS, GROUP_ROWS, SCHEMA, SHARED_GROUP, properties};
use super::rows::{RowCells, Rows};

/// Rows that are taken apart at once: they stay in the caches of the processor.
const BLOCK: usize = 1024;

/// The values of some rows in one column.
#[derive(Debug, Default)]
struct Values {
    texts: Vec<ByteArray>,
    numbers: Vec<i64>,
    /// For each row 1 if there is a value, else 0.
    levels: Vec<i16>,
}

/// The rows of a group so far.
#[derive(Debug, Default)]
struct GroupRows {
    /// Whether its rows share texts, which its dictionaries have once.
    shares: bool,
    rows: usize,
    /// The bytes of its rows and of their texts.
    bytes: usize,
    texts: HashSet<usize>,
}

impl GroupRows {
    /// Takes the next row, which `shares` texts or not. Returns whether it belongs to the group.
    fn take(&mut self, row: &RowCells, shares: bool) -> bool {
        let bytes = self.bytes + row.new_bytes(&self.texts);
        let has_room = self.rows < GROUP_ROWS && (!shares || bytes <= SHARED_GROUP);
        // A group takes its first row however large it is: each row must find a group.
        if shares != self.shares || self.rows > 0 && !has_room {
            return false;
        }
        row.add_texts(&mut self.texts);
        (self.rows, self.bytes) = (self.rows + 1, bytes);
        true
    }
}

/// Returns the file with the records of `tenants`, which are in order.
pub(crate) fn write(rows: &Rows, tenants: &[String]) -> Result<Vec<u8>, ParquetError> {
    let schema = SCHEMA.as_ref().map_err(|error| ParquetError::General(error.to_string()))?;
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::clone(schema), Arc::new(properties(false)))?;
    // A tenant with little has no groups of its own.
    let is_alone = tenants.len() == 1;
    let mut records = tenants.iter().flat_map(|tenant| rows.tenant_rows(tenant)).peekable();
    while let Some(first) = records.peek() {
        let mut group = GroupRows { shares: is_alone && first.shares, ..GroupRows::default() };
        let properties = Arc::new(properties(group.shares));
        let rows = iter::from_fn(|| records.next_if(|row| group.take(row, is_alone && row.shares)));
        let columns = write_columns(&file, &properties, rows)?;
        let mut group = file.next_row_group()?;
        for (bytes, column) in columns {
            group.append_column(&bytes, column)?;
        }
        group.close()?;
    }
    file.into_inner()
}

/// Returns the columns of a row group, which are written beside each other: a row is read once.
fn write_columns(
    file: &SerializedFileWriter<Vec<u8>>,
    properties: &WriterPropertiesPtr,
    mut rows: impl Iterator<Item = RowCells>,
) -> Result<Vec<(Bytes, ColumnCloseResult)>, ParquetError> {
    let mut sinks = [(); COLUMNS.len()].map(|()| TrackedWrite::new(Vec::new()));
    let columns = file.schema_descr().columns();
    let writers = sinks.iter_mut().zip(columns).map(|(sink, column)| {
        let pages = Box::new(SerializedPageWriter::new(sink));
        get_column_writer(Arc::clone(column), Arc::clone(properties), pages)
    });
    let mut writers: Vec<_> = writers.collect();
    let mut values = [(); COLUMNS.len()].map(|()| Values::default());
    loop {
        let block = rows.by_ref().take(BLOCK).map(|mut row| {
            // `take` returns the cells in the order of the columns.
            values.iter_mut().for_each(|values| values.push(row.take()));
        });
        // To count the rows of the block is to take them.
        if block.count() == 0 {
            break;
        }
        for ((writer, values), column) in writers.iter_mut().zip(&mut values).zip(COLUMNS) {
            values.write(writer, column.optional)?;
        }
    }
    let closed = writers.into_iter().map(ColumnWriter::close).collect::<Result<Vec<_>, _>>()?;
    let written = sinks.into_iter().zip(closed);
    written.map(|(sink, closed)| Ok((sink.into_inner()?.into(), closed))).collect()
}

impl Values {
    fn push(&mut self, cell: Cell<ByteArray>) {
        self.levels.push(i16::from(!matches!(cell, Cell::Null)));
        match cell {
            Cell::Bytes(bytes) => self.texts.push(bytes),
            Cell::Number(number) => self.numbers.push(number),
            Cell::Null => {}
        }
    }

    /// Writes the values, and forgets them.
    fn write(
        &mut self,
        writer: &mut ColumnWriter<'_>,
        is_optional: bool,
    ) -> Result<(), ParquetError> {
        let Self { texts, numbers, levels } = self;
        // A required column has no definition levels in Parquet.
        let written = is_optional.then_some(&**levels);
        match writer {
            ColumnWriter::ByteArrayColumnWriter(writer) => writer.write_batch(texts, written, None),
            ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(numbers, written, None),
            _ => Err(ParquetError::General("a column has another type".to_owned())),
        }?;
        texts.clear();
        numbers.clear();
        levels.clear();
        Ok(())
    }
}
