//! Writes a file of records.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;

use super::cells::{Cell, split};
use super::columns::{COLUMNS, Form, GROUP_ROWS, SCHEMA, properties};
use super::rows::Rows;

/// The values of one column of a row group.
#[derive(Debug, Default)]
struct Values {
    bytes: Vec<ByteArray>,
    numbers: Vec<i64>,
    /// For each row 1 if there is a value, else 0.
    levels: Vec<i16>,
}

/// Returns the file with the records of `tenants`, which are in order.
pub(crate) fn write(rows: &Rows, tenants: &[String]) -> Result<Vec<u8>, ParquetError> {
    let schema = SCHEMA.as_ref().map_err(|error| ParquetError::General(error.to_string()))?;
    let properties = Arc::new(properties());
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::clone(schema), properties)?;
    let mut records = tenants.iter().flat_map(|tenant| rows.of(tenant)).peekable();
    let mut joined = Vec::new();
    while records.peek().is_some() {
        let mut columns: Vec<Values> = COLUMNS.iter().map(|_| Values::default()).collect();
        for (_, json) in records.by_ref().take(GROUP_ROWS) {
            for (values, cell) in columns.iter_mut().zip(split(&json, &mut joined)) {
                values.push(cell);
            }
        }
        write_group(&mut file, &columns)?;
    }
    file.into_inner()
}

fn write_group(
    file: &mut SerializedFileWriter<Vec<u8>>,
    columns: &[Values],
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for (values, column) in columns.iter().zip(COLUMNS) {
        let Some(mut writer) = group.next_column()? else { break };
        let levels = column.optional.then_some(&*values.levels);
        if matches!(column.form, Form::Text | Form::Json) {
            writer.typed::<ByteArrayType>().write_batch(&values.bytes, levels, None)?;
        } else {
            writer.typed::<Int64Type>().write_batch(&values.numbers, levels, None)?;
        }
        writer.close()?;
    }
    group.close()?;
    Ok(())
}

impl Values {
    fn push(&mut self, cell: Cell) {
        self.levels.push(i16::from(cell != Cell::Null));
        match cell {
            Cell::Bytes(bytes) => self.bytes.push(bytes),
            Cell::Number(number) => self.numbers.push(number),
            Cell::Null => {}
        }
    }
}
