//! The columns of a file: one for each member of a record, and one for records that they do not tell exactly.

use std::sync::{Arc, LazyLock};

use parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel,
};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use portcullis_model::decision::{DecisionMember, MEMBERS, MemberForm, MemberPresence, member};

/// The form of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A text.
    Text,
    /// The JSON text of a nested member.
    Json,
    Integer,
    /// Milliseconds since the epoch, shown as an instant.
    Instant,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// The name of the member.
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) optional: bool,
}

/// The place of the column with the id of the tenant.
pub(crate) const TENANT: usize = member("tenant");
/// The place of the column with the subject.
pub(crate) const SUBJECT: usize = member("subject");
/// The place of the column with the id of the record.
pub(crate) const ID: usize = member("id");
/// The place of the last column, which has the whole JSON text of a record that the others do not tell exactly.
pub(crate) const WHOLE: usize = MEMBERS.len();

/// The columns, in the order of the members of a record.
pub(crate) const COLUMNS: [Column; WHOLE + 1] = {
    let mut columns = [Column { name: "record", form: Form::Json, optional: true }; WHOLE + 1];
    let mut place = 0;
    // A constant cannot use an iterator.
    while place < WHOLE {
        columns[place] = Column::of(&MEMBERS[place]);
        place += 1;
    }
    columns
};

impl Column {
    /// Returns the column of a member.
    const fn of(member: &DecisionMember) -> Self {
        let form = match member.form {
            MemberForm::Id | MemberForm::Text | MemberForm::Route | MemberForm::Decision => {
                Form::Text
            }
            MemberForm::Texts | MemberForm::Object | MemberForm::Tuples => Form::Json,
            MemberForm::Number => Form::Integer,
            MemberForm::Instant => Form::Instant,
        };
        // As files of earlier versions have it: each JSON text may be absent.
        let optional =
            matches!(form, Form::Json) || !matches!(member.presence, MemberPresence::Always);
        Self { name: member.name, form, optional }
    }
}

/// Columns that a query looks a value up in.
const BLOOM: [&str; 3] = ["resource", "rule", "request_id"];
/// Columns by which rows are sorted: each page of them has bounds.
const SORTED: [&str; 2] = ["tenant", "subject"];
/// Columns whose values are nearly all different.
const UNLIKE: [&str; 3] = ["id", "request_id", "record"];
/// The part of the values that a bloom filter has wrongly.
const FALSE_HITS: f64 = 0.01;
/// The most rows of a row group: more than a write-ahead file has.
pub(crate) const GROUP_ROWS: usize = 500_000;
/// The rows after which a page may be full.
const BATCH: usize = 256;
/// The most bytes of a dictionary: who reads one row reads it.
const DICTIONARY: usize = 4 * 1024;
/// The bytes of rows after which a group of rows that share texts ends.
pub(crate) const SHARED_GROUP: usize = 4 * 1024 * 1024;
/// The most bytes of a dictionary of such a group: all of its texts, and one row more.
const SHARED_DICTIONARY: usize = 4 * SHARED_GROUP;

/// Returns the bytes of a page of values before compression. Who reads one row reads a page of each column, and the places of all
/// pages: columns with much in a row have many small pages, one with a constant has one.
const fn page_bytes(form: Form) -> usize {
    match form {
        Form::Json => 64 * 1024,
        Form::Text => 16 * 1024,
        Form::Integer | Form::Instant => 4 * 1024,
    }
}

/// The schema of a file.
pub(crate) static SCHEMA: LazyLock<Result<TypePtr, ParquetError>> = LazyLock::new(|| {
    let fields = COLUMNS.iter().map(|column| {
        let (physical, logical) = match column.form {
            Form::Text | Form::Json => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Form::Integer => (Physical::INT64, None),
            Form::Instant => {
                (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS)))
            }
        };
        let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(column.name, physical);
        field.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("decision").with_fields(fields).build()?))
});

/// Returns how a file, or a group of rows that share texts, is written. Equal records make equal bytes.
pub(crate) fn properties(shares: bool) -> WriterProperties {
    let dictionary = if shares { SHARED_DICTIONARY } else { DICTIONARY };
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let mut properties = WriterProperties::builder()
        .set_created_by("portcullis".to_owned())
        .set_compression(zstd)
        .set_dictionary_page_size_limit(dictionary)
        .set_data_page_row_count_limit(GROUP_ROWS)
        .set_write_batch_size(BATCH)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_max_row_group_row_count(Some(GROUP_ROWS));
    for column in COLUMNS {
        let bytes = page_bytes(column.form);
        properties = properties.set_column_data_page_size_limit(path(column.name), bytes);
    }
    for name in ["id", "time"] {
        properties = properties.set_column_statistics_enabled(path(name), EnabledStatistics::Chunk);
    }
    for name in SORTED {
        properties = properties.set_column_statistics_enabled(path(name), EnabledStatistics::Page);
    }
    // While a column has a dictionary, its other encoding is not used.
    for (name, encoding) in
        [("subject", Encoding::DELTA_BYTE_ARRAY), ("time", Encoding::DELTA_BINARY_PACKED)]
    {
        properties = properties
            .set_column_dictionary_enabled(path(name), false)
            .set_column_encoding(path(name), encoding);
    }
    for name in UNLIKE {
        properties = properties.set_column_dictionary_enabled(path(name), false);
    }
    for name in BLOOM {
        properties = properties
            .set_column_bloom_filter_enabled(path(name), true)
            .set_column_bloom_filter_fpp(path(name), FALSE_HITS)
            .set_column_bloom_filter_max_ndv(path(name), GROUP_ROWS as u64);
    }
    properties.build()
}

fn path(name: &str) -> ColumnPath {
    ColumnPath::new(vec![name.to_owned()])
}

/// Returns the place of the column with this name.
pub(crate) fn place(name: &str) -> Option<usize> {
    COLUMNS.iter().position(|column| column.name == name)
}
