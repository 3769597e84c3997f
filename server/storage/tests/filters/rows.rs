//! Random rows, their columns, and the attributes that checks of them have.

use fastrand::Rng;
use portcullis_engine::sql::Dialect;
use serde_json::{Map, Value, json};

/// Texts that differ in case, look like patterns of `LIKE`, or like SQL. The two before the last sort one way by code
/// point and the other way in UTF-16.
pub(crate) const TEXTS: [&str; 26] = [
    "", "a", "A", "ann", "Ann", "ANN", "anna", "a%", "%", "_", "a_b", "aXb", "50%", "50", "ä", "Ä",
    "a ", " a", "O'Brien", "\"; --", "\\", "?", "～", "𝄞", UUIDS[0], DATES[0],
];
pub(crate) const INTEGERS: [i64; 11] = [
    0,
    1,
    -1,
    2,
    3,
    9_007_199_254_740_991,
    9_007_199_254_740_992,
    9_007_199_254_740_993,
    i64::MAX,
    i64::MIN,
    50,
];
pub(crate) const DOUBLES: [f64; 12] = [
    0.0,
    1.0,
    1.5,
    2.0,
    0.1,
    -0.5,
    9_007_199_254_740_992.0,
    9_223_372_036_854_775_808.0,
    18_446_744_073_709_551_616.0,
    1e300,
    -1e300,
    5e-324,
];
/// Date-times with a resolution of at most nanoseconds, in several forms.
pub(crate) const INSTANTS: [&str; 9] = [
    "2026-03-01T08:00:00Z",
    "2026-03-01T10:00:00+02:00",
    "2026-03-01T08:00:00.000001Z",
    "2026-03-01T08:00:00.0000015Z",
    "2026-03-01T08:00:00.0015Z",
    "2026-03-01T07:59:59.999999999Z",
    "1969-12-31T23:59:59.9999995Z",
    "0001-01-01T00:00:00Z",
    "2016-12-31T23:59:60Z",
];
/// Instants near these, with whole microseconds as a column of PostgreSQL has them.
const MICROSECONDS: [&str; 6] = [
    "2026-03-01T08:00:00.000000Z",
    "2026-03-01T08:00:00.000001Z",
    "2026-03-01T08:00:00.000002Z",
    "2026-03-01T07:59:59.999999Z",
    "1969-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00.000000Z",
];
/// Instants near these, with whole milliseconds as a column of SQLite has them.
const MILLISECONDS: [&str; 6] = [
    "2026-03-01T08:00:00.000Z",
    "2026-03-01T08:00:00.001Z",
    "2026-03-01T08:00:00.002Z",
    "2026-03-01T07:59:59.999Z",
    "1969-12-31T23:59:59.999Z",
    "0001-01-01T00:00:00.000Z",
];
/// UUIDs, and after the first five texts that nearly are.
pub(crate) const UUIDS: [&str; 9] = [
    "0190d3e1-5b1c-7c4e-8b8f-3a1f6f2b9c01",
    "0190d3e1-5b1c-7c4e-8b8f-3a1f6f2b9c02",
    "00000000-0000-0000-0000-000000000000",
    "abcdef01-0000-4000-8000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "ABCDEF01-0000-4000-8000-000000000000",
    "0190d3e15b1c7c4e8b8f3a1f6f2b9c01",
    "{0190d3e1-5b1c-7c4e-8b8f-3a1f6f2b9c01}",
    "0190d3e1-5b1c",
];
/// Dates, and after the first five texts that nearly are.
pub(crate) const DATES: [&str; 12] = [
    "2026-03-01",
    "2026-03-02",
    "1969-12-31",
    "0001-01-01",
    "9999-12-31",
    "2026-3-1",
    "2026-02-30",
    "0000-01-01",
    "10000-01-01",
    "+2026-03-01",
    "2026",
    "2026-03-01T08:00:00Z",
];
/// The number of texts of [`UUIDS`] and [`DATES`] that columns have.
const VALID: usize = 5;

/// An attribute of rows, and its column.
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    /// The declared type.
    pub(crate) kind: &'static str,
    nullable: bool,
    binary: bool,
    /// Whether the values are those of a column of the table `pairs`.
    pub(crate) paired: bool,
}

const fn nullable(name: &'static str, kind: &'static str) -> Attribute {
    Attribute { name, kind, nullable: true, binary: false, paired: false }
}

const fn paired(name: &'static str, kind: &'static str) -> Attribute {
    Attribute { nullable: false, paired: true, ..nullable(name, kind) }
}

/// The list that some rows of SQLite have another text for. Conditions on items alone read it.
pub(crate) const MIXED: &str = "mixed";
/// Texts that are no JSON array.
const NO_ARRAYS: [&str; 8] = ["", "a", "[", "\"a\"", "5", "null", "{\"a\": [\"a\"]}", "[\"a\"] b"];

/// The attributes of rows. Both databases have the columns in this order, first those of `docs`, then those of `pairs`.
pub(crate) const ATTRIBUTES: [Attribute; 23] = [
    nullable("name", "text"),
    Attribute { binary: true, ..nullable("code", "text") },
    Attribute { nullable: false, ..nullable("owner", "text") },
    nullable("prefix", "text"),
    nullable("level", "integer"),
    Attribute { nullable: false, ..nullable("rank", "integer") },
    nullable("score", "number"),
    nullable("flag", "boolean"),
    nullable("until", "timestamptz"),
    nullable("parent", "uuid"),
    Attribute { nullable: false, ..nullable("key", "uuid") },
    nullable("day", "date"),
    nullable("tags", "text[]"),
    nullable("numbers", "integer[]"),
    nullable("scores", "number[]"),
    Attribute { nullable: false, ..nullable("labels", "text[]") },
    nullable(MIXED, "text[]"),
    paired("readers", "text"),
    Attribute { binary: true, ..paired("codes", "text") },
    paired("levels", "integer"),
    paired("weights", "number"),
    paired("teams", "uuid"),
    paired("days", "date"),
];

/// Boolean attributes that say whether a column has a value: the name, the member that declares it, the column.
pub(crate) const PRESENCES: [(&str, &str, &str); 3] =
    [("named", "present", "name"), ("unscored", "absent", "score"), ("dated", "present", "until")];

impl Attribute {
    pub(crate) fn is_list(&self) -> bool {
        self.paired || self.kind.ends_with("[]")
    }

    fn column(&self) -> Value {
        let Self { name, kind, nullable, .. } = self;
        let mut column = match self.paired {
            true => {
                json!({"pairs": {"table": "pairs", "row": "doc", "value": name}, "key": "d.id", "type": kind})
            }
            false => json!({"sql": format!("d.{name}"), "type": kind, "nullable": nullable}),
        };
        if self.binary {
            column["collation"] = json!("binary");
        }
        column
    }
}

/// The attributes of a row that are not NULL.
pub(crate) type Row = Map<String, Value>;

pub(crate) fn random(rng: &mut Rng, dialect: Dialect) -> Row {
    let mut row = Row::new();
    for attribute in &ATTRIBUTES {
        if attribute.nullable && rng.u8(..5) == 0 {
            continue;
        }
        let item = attribute.kind.trim_end_matches("[]");
        if attribute.name == MIXED && dialect == Dialect::Sqlite && rng.bool() {
            row.insert(MIXED.to_owned(), json!(one(rng, &NO_ARRAYS)));
            continue;
        }
        let value = match attribute.is_list() {
            true => (0..rng.usize(..4)).map(|_| value(rng, dialect, item)).collect(),
            false => value(rng, dialect, item),
        };
        row.insert(attribute.name.to_owned(), value);
    }
    row
}

fn value(rng: &mut Rng, dialect: Dialect, kind: &str) -> Value {
    match kind {
        "text" => json!(one(rng, &TEXTS)),
        "integer" => json!(one(rng, &INTEGERS)),
        "number" => json!(one(rng, &DOUBLES)),
        "boolean" => json!(rng.bool()),
        "uuid" => json!(one(rng, &UUIDS[..VALID])),
        "date" => json!(one(rng, &DATES[..VALID])),
        "timestamptz" if dialect == Dialect::Sqlite => json!(one(rng, &MILLISECONDS)),
        "timestamptz" => json!(one(rng, &MICROSECONDS)),
        other => panic!("no values of type {other}"),
    }
}

fn one<T: Copy>(rng: &mut Rng, pool: &[T]) -> T {
    pool[rng.usize(..pool.len())]
}

/// The columns of the table `docs`, by attribute.
pub(crate) fn columns() -> Value {
    let columns = ATTRIBUTES.iter().map(|one| (format!("resource.{}", one.name), one.column()));
    let presences = PRESENCES.map(|(name, member, column)| {
        (format!("resource.{name}"), json!({member: format!("d.{column}")}))
    });
    columns.chain(presences).collect()
}
