//! The columns of rows, as the caller declares them.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use strum::{EnumString, IntoStaticStr, VariantArray};

use super::dialect::Dialect;
use crate::condition::AttributePath;
use crate::fields::{Fields, boolean, string, typed};
use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::names::named;
use crate::nearest::{any_of, nearest};

use Kind::{List, Scalar};

/// The maximum number of columns.
const MAX_COLUMNS: usize = 256;
/// The maximum length of one part of an identifier, in characters: PostgreSQL cuts longer ones.
const MAX_PART: usize = 63;
/// The maximum number of parts: schema, table and column.
const MAX_PARTS: usize = 3;

// Each completes "expected … of at most 63 letters".
const COLUMN: &str =
    "a column such as `d.owner_id`: one to three names with dots between them, each";
const KEY: &str = "the key of the row with its table, such as `d.id`, because the table of pairs may have an `id` too: \
    two or three names with dots between them, each";
const TABLE: &str = "a table such as `shares`: one or two names with a dot between them, each";
const PAIRED: &str = "a column of the table of pairs, such as `document_id`: one name";

/// The parts of an identifier: letters, digits and underscores.
type Names = Box<[Box<str>]>;

/// The columns that have the attributes of rows, by attribute.
#[derive(Clone, Debug, Default)]
pub struct Columns(HashMap<AttributePath, Column>);

/// A column, or a list of the values that a table pairs with the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// The parts of the identifier, or of the key of the row.
    pub(super) parts: Names,
    /// The values of the declared type.
    pub(super) kind: Kind,
    /// Whether the column can be NULL.
    pub(super) nullable: bool,
    /// Whether the collation of the column compares by code point.
    pub(super) binary: bool,
    /// The table of the items, if a list has one: pairs, and each list of SQLite.
    pub(super) items: Option<Box<Items>>,
    /// The type of the objects whose bare ids the column has: attributes are `<type>:<id>`.
    pub(super) of: Option<Box<str>>,
    /// Whether the boolean attribute says that the column is NULL, or that it is not; `None` if it is the column's value.
    pub(super) presence: Option<Presence>,
    /// The items of a list as conditions on items see them; `None` if it is not a list.
    pub(super) each: Option<Box<Each>>,
    /// The items whose number the column is; `None` if it is the column's value.
    pub(super) length_of: Option<Box<Items>>,
}

/// The items of a list, for `any`, `all` and `length`. The alias of their table is another one than that of [`Column::items`],
/// which may stand inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Each {
    pub(super) items: Items,
    /// The number of items, as a column.
    pub(super) length: Column,
}

/// A boolean attribute that is never absent: whether a column has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// True where the column is not NULL.
    Present,
    /// True where it is NULL.
    Absent,
}

/// The table of the items of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Items {
    /// The items. The name of their table is an alias.
    pub(super) column: Column,
    /// The table of pairs; `None` for a JSON array, and for an array of PostgreSQL.
    pub(super) pairs: Option<Pairs>,
}

/// A table of pairs of a row and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pairs {
    pub(super) table: Names,
    /// The column that equals the key of the row.
    pub(super) row: Names,
}

/// The declared type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", const_into_str)]
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

    /// Returns whether a column of the type can have bare ids.
    fn is_of_ids(self) -> bool {
        let (Scalar(kind) | List(kind)) = self.kind();
        matches!(kind, ScalarType::Text | ScalarType::Uuid | ScalarType::Integer)
    }

    /// Returns whether a table of pairs has values of the type.
    fn is_of_pairs(self) -> bool {
        match self.kind() {
            Scalar(kind) => !matches!(kind, ScalarType::Boolean | ScalarType::Instant),
            List(_) => false,
        }
    }

    /// Returns the names of the types that values of pairs can have.
    pub fn names_for_pairs() -> impl Iterator<Item = &'static str> {
        Self::VARIANTS.iter().filter(|kind| kind.is_of_pairs()).map(Self::into_str)
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
        // The numbers tell the tables of the items of two columns apart.
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

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns each attribute with its column, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&AttributePath, &Column)> {
        self.0.iter()
    }

    /// Returns whether an attribute has a column.
    pub fn has(&self, path: &AttributePath) -> bool {
        self.0.contains_key(path)
    }

    /// Returns the column of an attribute.
    ///
    /// # Errors
    /// There is none. The message names the column that resembles it.
    pub(super) fn find(&self, path: &AttributePath) -> Result<&Column, String> {
        self.0.get(path).ok_or_else(|| {
            let missing = path.to_string();
            let names: Vec<String> = self.0.keys().map(ToString::to_string).collect();
            let meant = missing.split_once('.').and_then(|(kind, name)| {
                let known =
                    names.iter().filter_map(|path| path.strip_prefix(kind)?.strip_prefix('.'));
                nearest(name, known).map(|name| format!(", but one for `{kind}.{name}`"))
            });
            format!("`columns` has no column for `{missing}`{}", meant.unwrap_or_default())
        })
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
        let is_presence = ["present", "absent"]
            .iter()
            .any(|name| json.get(name).is_some_and(|value| !matches!(value, Json::Null)));
        let column = if fields.has("pairs") {
            Self::read_pairs(&mut fields, number)
        } else if is_presence {
            Self::read_presence(&mut fields)
        } else {
            Self::read_column(&mut fields, dialect, number)
        };
        fields.close();
        column
    }

    /// Reads whether a column has a value.
    fn read_presence(fields: &mut Fields<'_, '_>) -> Option<Self> {
        let present = fields.optional("present", names(1..=MAX_PARTS, COLUMN));
        let absent = fields.optional("absent", names(1..=MAX_PARTS, COLUMN));
        let kind = fields.optional("type", named::<ColumnType>);
        if kind.is_some_and(|kind| kind != ColumnType::Boolean) {
            fields.expected_at(
                "type",
                "no other `type` than `boolean` beside `present` and `absent`",
            );
        }
        for (name, what) in [
            ("sql", "no `sql` beside `present` and `absent`, which name the column"),
            ("nullable", "no `nullable` beside `present` and `absent`: they are never NULL"),
            ("collation", "no `collation` beside `present` and `absent`"),
            ("of", "no `of` beside `present` and `absent`"),
        ] {
            if fields.has(name) {
                fields.skip(name);
                fields.expected_at(name, what);
            }
        }
        let (parts, presence) = match (present, absent) {
            (Some(parts), None) => (parts, Presence::Present),
            (None, Some(parts)) => (parts, Presence::Absent),
            (Some(_), Some(_)) => {
                fields.expected_at("absent", "either `present` or `absent`");
                return None;
            }
            (None, None) => return None,
        };
        let (kind, presence) = (Scalar(ScalarType::Boolean), Some(presence));
        Some(Self { presence, ..Self::scalar(parts, kind, true) })
    }

    fn read_column(fields: &mut Fields<'_, '_>, dialect: Dialect, number: usize) -> Option<Self> {
        // `read` has seen that the column has none of these.
        for name in ["pairs", "present", "absent"] {
            fields.skip(name);
        }
        let parts = fields.required("sql", names(1..=MAX_PARTS, COLUMN));
        let kind = fields.required("type", named::<ColumnType>);
        let nullable = fields.optional("nullable", boolean);
        let binary = fields.optional("collation", collation);
        let of = read_of(fields, kind);
        let kind = kind.map(ColumnType::kind);
        let items = match kind {
            Some(List(item)) if dialect == Dialect::Sqlite => {
                if parts.as_ref().is_some_and(|parts| parts.len() == 1) {
                    let what = "a name with its table, such as `d.tags`: `json_each`, which reads a list in SQLite, has \
                        columns too";
                    fields.expected_at("sql", what);
                }
                // `json_each` has the item in its column `value`.
                let column = Self::item("item", number, "value".into(), item, true);
                Some(Items { column, pairs: None })
            }
            _ => None,
        };
        let binary = binary.unwrap_or(false);
        // A column can be NULL unless the caller says that it cannot.
        let column =
            Self { nullable: nullable.unwrap_or(true), of, ..Self::scalar(parts?, kind?, binary) };
        let List(item) = column.kind else { return Some(column) };
        // `json_each` compares by code point, whatever the collation of the column.
        let is_by_code_point = binary || items.is_some();
        let each = Self::item("each", number, "value".into(), item, is_by_code_point);
        let each = Each::new(&column.parts, Items { column: each, pairs: None });
        Some(Self { items: items.map(Box::new), each: Some(Box::new(each)), ..column })
    }

    fn read_pairs(fields: &mut Fields<'_, '_>, number: usize) -> Option<Self> {
        let pairs = fields.required("pairs", |json, at, problems| {
            let mut fields = Fields::open(json, at, problems)?;
            let table = fields.required("table", names(1..=2, TABLE));
            let row = fields.required("row", names(1..=1, PAIRED));
            let value = fields.required("value", names(1..=1, PAIRED));
            fields.close();
            Some((Pairs { table: table?, row: row? }, value?.into_iter().next()?))
        });
        let key = fields.required("key", names(2..=MAX_PARTS, KEY));
        let kind = fields.required("type", type_of_pairs);
        let binary = fields.optional("collation", collation);
        let of = read_of(fields, kind);
        let kind = kind.map(ColumnType::kind);
        for (name, what) in [
            ("sql", "no `sql` with `pairs`, but the `key` of the row"),
            ("nullable", "no `nullable` with `pairs`: a row without pairs has an empty list"),
        ] {
            if fields.has(name) {
                fields.skip(name);
                fields.expected_at(name, what);
            }
        }
        let ((pairs, value), Scalar(kind)) = (pairs?, kind?) else { return None };
        let items = |alias| {
            let column = Self::item(alias, number, value.clone(), kind, binary.unwrap_or(false));
            Items { column, pairs: Some(pairs.clone()) }
        };
        let column = Self::scalar(key?, List(kind), false);
        let each = Each::new(&column.parts, items("each"));
        let items = Some(Box::new(items("item")));
        Some(Self { items, each: Some(Box::new(each)), of, ..column })
    }

    /// Returns whether the values are texts that may have another collation than by code point.
    pub(super) fn is_collated(&self) -> bool {
        matches!(self.kind, Scalar(ScalarType::Text) | List(ScalarType::Text)) && !self.binary
    }

    /// Makes the column `name` of a table of the items of the column with this number. No identifier that a caller
    /// declares has a hyphen.
    fn item(alias: &str, number: usize, name: Box<str>, kind: ScalarType, binary: bool) -> Self {
        let parts = Box::new([format!("{alias}-{number}").into(), name]);
        Self::scalar(parts, Scalar(kind), binary)
    }

    /// Makes a column that is never NULL and has a value of its own.
    fn scalar(parts: Names, kind: Kind, binary: bool) -> Self {
        let (items, of, presence, each, length_of) = (None, None, None, None, None);
        Self { parts, kind, nullable: false, binary, items, of, presence, each, length_of }
    }

    /// Returns the items of a list as conditions on items see them, if they are JSON, which promises no types.
    pub(super) fn json_items(&self) -> Option<&Self> {
        let each = self.each.as_deref().filter(|_| self.items.is_some())?;
        each.items.pairs.is_none().then_some(&each.items.column)
    }
}

impl Each {
    /// Makes the items of the list whose identifier, or the key of whose row, has these parts.
    fn new(parts: &Names, items: Items) -> Self {
        let length = Column::scalar(parts.clone(), Scalar(ScalarType::Integer), true);
        let length = Column { length_of: Some(Box::new(items.clone())), ..length };
        Self { items, length }
    }
}

fn collation(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<bool> {
    if json.as_str() != Some("binary") {
        let what = "`binary`, for a column whose own collation compares by code point";
        problems.expected(at, what);
        return None;
    }
    Some(true)
}

fn type_of_pairs(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<ColumnType> {
    let kind = json.as_str().and_then(|name| name.parse::<ColumnType>().ok());
    let kind = kind.filter(|kind| kind.is_of_pairs());
    if kind.is_none() {
        problems.expected(at, any_of(ColumnType::names_for_pairs()));
    }
    kind
}

/// Reads the type of the objects whose bare ids a column has.
fn read_of(fields: &mut Fields<'_, '_>, kind: Option<ColumnType>) -> Option<Box<str>> {
    let of = fields.optional("of", |json, at, problems| {
        let name = string(json, at, problems)?;
        if name.is_empty() || name.contains(':') {
            problems.expected(at, "a type of objects such as `folder`: one name without `:`");
        }
        Some(name.into())
    });
    if fields.has("of") && kind.is_some_and(|kind| !kind.is_of_ids()) {
        let kinds = ColumnType::VARIANTS.iter().filter(|kind| kind.is_of_ids());
        let kinds = any_of(kinds.map(|kind| kind.into_str()));
        fields.expected_at("of", format!("no `of` but with a `type` that ids have: {kinds}"));
    }
    of
}

/// Reads names with dots between them. `what` completes "expected … of at most 63 letters".
fn names(
    count: RangeInclusive<usize>,
    what: &'static str,
) -> impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<Names> {
    move |json, at, problems| {
        let text = string(json, at, problems)?;
        let names: Names = text.split('.').map(Into::into).collect();
        if !count.contains(&names.len()) || !names.iter().all(|name| is_name(name)) {
            let what = format!(
                "{what} of at most {MAX_PART} letters, digits and underscores of ASCII, without a digit in front"
            );
            problems.expected(at, what);
            return None;
        }
        Some(names)
    }
}

fn is_name(part: &str) -> bool {
    let starts = part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // Bytes count characters, because all are ASCII.
    starts && plain && part.len() <= MAX_PART
}
