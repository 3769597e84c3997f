//! The columns of rows, as the caller declares them.

use std::collections::HashMap;

use strum::{EnumString, IntoStaticStr, VariantArray};

use super::dialect::Dialect;
use crate::condition::AttributePath;
use crate::fields::{Fields, boolean, string, typed};
use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::names::named;

use Kind::{List, Scalar};

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
pub(super) struct Column {
    /// The parts of the identifier, each of letters, digits and underscores.
    pub(super) parts: Box<[Box<str>]>,
    /// The values of the declared type.
    pub(super) kind: Kind,
    /// Whether the column can be NULL.
    pub(super) nullable: bool,
    /// Whether the collation of the column compares by code point.
    pub(super) binary: bool,
    /// The column of the items, if a list is a table of them: a list of SQLite.
    pub(super) items: Option<Box<Column>>,
}

/// The declared type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ColumnType {
    /// A text.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A double.
    Number,
    /// A boolean; 0 or 1 in SQLite.
    Boolean,
    /// An instant: of microseconds in PostgreSQL, in SQLite a text such as `2026-03-01T08:00:00.000Z`.
    Timestamptz,
    /// A UUID; in SQLite the lower-case canonical text.
    Uuid,
    /// A date of the years 1 to 9999; in SQLite a text such as `2026-03-01`.
    Date,
    /// A list of texts: an array in PostgreSQL, a JSON array in SQLite, as the other lists.
    #[strum(serialize = "text[]")]
    TextList,
    /// A list of 64-bit integers.
    #[strum(serialize = "integer[]")]
    IntegerList,
    /// A list of doubles.
    #[strum(serialize = "number[]")]
    NumberList,
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One value.
    Scalar(ScalarType),
    /// A list of values.
    List(ScalarType),
}

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarType {
    Text,
    Integer,
    Number,
    Boolean,
    Instant,
    Uuid,
    Date,
}

impl ColumnType {
    fn kind(self) -> Kind {
        match self {
            Self::Text => Scalar(ScalarType::Text),
            Self::Integer => Scalar(ScalarType::Integer),
            Self::Number => Scalar(ScalarType::Number),
            Self::Boolean => Scalar(ScalarType::Boolean),
            Self::Timestamptz => Scalar(ScalarType::Instant),
            Self::Uuid => Scalar(ScalarType::Uuid),
            Self::Date => Scalar(ScalarType::Date),
            Self::TextList => List(ScalarType::Text),
            Self::IntegerList => List(ScalarType::Integer),
            Self::NumberList => List(ScalarType::Number),
        }
    }
}

impl ScalarType {
    /// Returns whether a check sees a text whose form the database shares.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Uuid | Self::Date)
    }
}

impl Columns {
    /// Reads an object of columns by attribute.
    pub fn read(
        json: &Json<'_>,
        dialect: Dialect,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let members = typed(json.as_object(), "an object", json, at, problems)?;
        if members.len() > MAX_COLUMNS {
            problems.expected(at, format!("at most {MAX_COLUMNS} columns"));
            return None;
        }
        let mut columns = HashMap::new();
        for (number, (name, value)) in (1..).zip(members) {
            let at = at.key(name);
            match AttributePath::parse(name) {
                Ok(path @ (AttributePath::User(_) | AttributePath::Resource(_))) => {
                    let column = Column::read(value, dialect, number, &at, problems);
                    columns.extend(column.map(|column| (path, column)));
                }
                _ => problems.expected(&at, "an attribute such as `resource.owner` as the name"),
            }
        }
        Some(Self(columns))
    }

    /// Returns the column of an attribute.
    pub(super) fn get(&self, path: &AttributePath) -> Option<&Column> {
        self.0.get(path)
    }
}

impl Column {
    /// Reads the column with this number, which no other column has.
    fn read(
        json: &Json<'_>,
        dialect: Dialect,
        number: usize,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let parts = fields.required("sql", |json, at, problems| {
            let parts = identifier(string(json, at, problems)?);
            if parts.is_none() {
                problems.expected(at, IDENTIFIER);
            }
            parts
        });
        let kind = fields.required("type", named::<ColumnType>).map(ColumnType::kind);
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
        let items = match kind {
            Some(List(item)) if dialect == Dialect::Sqlite => {
                if parts.as_ref().is_some_and(|parts| parts.len() == 1) {
                    let what = "a name with its table, such as `d.tags`: `json_each`, which reads a list in SQLite, has \
                        columns too";
                    fields.expected_at("sql", what);
                }
                Some(Self::item(number, "value", item, true))
            }
            _ => None,
        };
        fields.close();
        Some(Self {
            parts: parts?,
            kind: kind?,
            nullable: nullable.unwrap_or(true),
            binary: binary.unwrap_or(false),
            items: items.map(Box::new),
        })
    }

    /// Makes the column `name` of the table of the items of the column with this number. No identifier that a caller
    /// declares has a hyphen.
    fn item(number: usize, name: &str, kind: ScalarType, binary: bool) -> Self {
        let parts = Box::new([format!("item-{number}").into(), name.into()]);
        Self { parts, kind: Scalar(kind), nullable: false, binary, items: None }
    }
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
