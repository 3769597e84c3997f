//! The columns of rows, as the caller declares them.

use std::collections::HashMap;

use crate::condition::AttributePath;
use crate::fields::{Fields, boolean, string, typed};
use crate::invalid::{Place, Problems};
use crate::json::Json;

/// The maximum number of columns.
const MAX_COLUMNS: usize = 256;
/// The maximum length of one part of an identifier, in characters: PostgreSQL cuts longer ones.
const MAX_PART: usize = 63;
/// The maximum number of parts: schema, table and column.
const MAX_PARTS: usize = 3;

/// Completes "expected …".
const IDENTIFIER: &str = "a column such as `d.owner_id`: one to three names with dots between them, each of at most 63 \
    letters, digits and underscores of ASCII, without a digit in front";

/// The columns that have the attributes of rows, by attribute.
#[derive(Clone, Debug, Default)]
pub struct Columns(HashMap<AttributePath, Column>);

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The parts of the identifier, each of letters, digits and underscores.
    pub(super) parts: Box<[Box<str>]>,
    /// The declared type.
    pub kind: ColumnType,
    /// Whether the column can be NULL.
    pub nullable: bool,
    /// Whether the collation of the column compares by code point.
    pub binary: bool,
}

/// The declared type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// One value.
    Scalar(ScalarType),
    /// An array of PostgreSQL.
    List(ScalarType),
}

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarType {
    /// A text.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A double.
    Number,
    /// A boolean.
    Boolean,
    /// An instant with a resolution of microseconds.
    Instant,
}

impl ColumnType {
    /// Every type with its name.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Scalar(ScalarType::Text), "text"),
        (Self::Scalar(ScalarType::Integer), "integer"),
        (Self::Scalar(ScalarType::Number), "number"),
        (Self::Scalar(ScalarType::Boolean), "boolean"),
        (Self::Scalar(ScalarType::Instant), "timestamptz"),
        (Self::List(ScalarType::Text), "text[]"),
        (Self::List(ScalarType::Integer), "integer[]"),
        (Self::List(ScalarType::Number), "number[]"),
    ];
}

impl Columns {
    /// Reads an object of columns by attribute.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let members = typed(json.as_object(), "an object", json, at, problems)?;
        if members.len() > MAX_COLUMNS {
            problems.expected(at, format!("at most {MAX_COLUMNS} columns"));
            return None;
        }
        let mut columns = HashMap::new();
        for (name, value) in members {
            let at = at.key(name);
            match AttributePath::parse(name) {
                Ok(path @ (AttributePath::User(_) | AttributePath::Resource(_))) => {
                    let column = Column::read(value, &at, problems);
                    columns.extend(column.map(|column| (path, column)));
                }
                _ => problems.expected(&at, "an attribute such as `resource.owner` as the name"),
            }
        }
        Some(Self(columns))
    }

    /// Adds a column.
    pub fn insert(&mut self, path: AttributePath, column: Column) {
        self.0.insert(path, column);
    }

    /// Returns the column of an attribute.
    pub(super) fn get(&self, path: &AttributePath) -> Option<&Column> {
        self.0.get(path)
    }
}

impl Column {
    /// Makes a column. `None` if `sql` is not an identifier.
    pub fn new(sql: &str, kind: ColumnType) -> Option<Self> {
        Some(Self { parts: identifier(sql)?, kind, nullable: true, binary: false })
    }

    fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let parts = fields.required("sql", |json, at, problems| {
            let parts = identifier(string(json, at, problems)?);
            if parts.is_none() {
                problems.expected(at, IDENTIFIER);
            }
            parts
        });
        let kind = fields.required("type", column_type);
        let nullable = fields.optional("nullable", boolean);
        let binary = fields.optional("collation", |json, at, problems| {
            let is_binary = json.as_str() == Some("binary");
            if !is_binary {
                problems.expected(
                    at,
                    "`binary`, for a column whose own collation compares by code point",
                );
            }
            is_binary.then_some(true)
        });
        fields.close();
        Some(Self {
            parts: parts?,
            kind: kind?,
            nullable: nullable.unwrap_or(true),
            binary: binary.unwrap_or(false),
        })
    }
}

fn column_type(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<ColumnType> {
    let kind = ColumnType::ALL.into_iter().find(|(_, name)| json.as_str() == Some(name));
    if kind.is_none() {
        let names: Vec<_> = ColumnType::ALL.iter().map(|(_, name)| format!("`{name}`")).collect();
        problems.expected(at, format!("one of {}", names.join(", ")));
    }
    kind.map(|(kind, _)| kind)
}

/// Splits an identifier into its parts. `None` for any other text.
fn identifier(text: &str) -> Option<Box<[Box<str>]>> {
    let parts: Box<[Box<str>]> = text.split('.').map(Into::into).collect();
    (parts.len() <= MAX_PARTS && parts.iter().all(|part| is_name(part))).then_some(parts)
}

fn is_name(part: &str) -> bool {
    let starts = part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    starts && plain && part.len() <= MAX_PART
}
