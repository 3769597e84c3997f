//! Random rows, their columns, and the attributes that checks of them have.

use fastrand::Rng;
use portcullis_engine::condition::AttributePath;
use portcullis_engine::sql::{Column, ColumnType, Columns, ScalarType};
use serde_json::{Value, json};

/// Texts that differ in case, look like patterns of `LIKE`, or like SQL. The last two sort one way by code point and the
/// other way in UTF-16.
pub(crate) const TEXTS: [&str; 24] = [
    "", "a", "A", "ann", "Ann", "ANN", "anna", "a%", "%", "_", "a_b", "aXb", "50%", "50", "ä", "Ä",
    "a ", " a", "O'Brien", "\"; --", "\\", "?", "～", "𝄞",
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
pub(crate) const INSTANTS: [&str; 8] = [
    "2026-03-01T08:00:00Z",
    "2026-03-01T10:00:00+02:00",
    "2026-03-01T08:00:00.000001Z",
    "2026-03-01T08:00:00.0000015Z",
    "2026-03-01T07:59:59.999999999Z",
    "1969-12-31T23:59:59.9999995Z",
    "0001-01-01T00:00:00Z",
    "2016-12-31T23:59:60Z",
];
/// Instants near these, with whole microseconds as a column has them.
pub(crate) const ROW_INSTANTS: [&str; 6] = [
    "2026-03-01T08:00:00.000000Z",
    "2026-03-01T08:00:00.000001Z",
    "2026-03-01T08:00:00.000002Z",
    "2026-03-01T07:59:59.999999Z",
    "1969-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00.000000Z",
];

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: Option<&'static str>,
    pub(crate) code: Option<&'static str>,
    pub(crate) owner: &'static str,
    pub(crate) prefix: Option<&'static str>,
    pub(crate) level: Option<i64>,
    pub(crate) rank: i64,
    pub(crate) score: Option<f64>,
    pub(crate) flag: Option<bool>,
    pub(crate) until: Option<&'static str>,
    pub(crate) tags: Option<Vec<&'static str>>,
    pub(crate) numbers: Option<Vec<i64>>,
    pub(crate) scores: Option<Vec<f64>>,
}

impl Row {
    pub(crate) fn random(rng: &mut Rng, with_arrays: bool) -> Self {
        let only = |rng: &mut Rng| with_arrays && rng.u8(..5) > 0;
        Self {
            name: maybe(rng, &TEXTS),
            code: maybe(rng, &TEXTS),
            owner: one(rng, &TEXTS),
            prefix: maybe(rng, &TEXTS),
            level: maybe(rng, &INTEGERS),
            rank: one(rng, &INTEGERS),
            score: maybe(rng, &DOUBLES),
            flag: maybe(rng, &[true, false]),
            until: if only(rng) { Some(one(rng, &ROW_INSTANTS)) } else { None },
            tags: only(rng).then(|| some(rng, &TEXTS)),
            numbers: only(rng).then(|| some(rng, &INTEGERS)),
            scores: only(rng).then(|| some(rng, &DOUBLES)),
        }
    }

    /// Returns the attributes of the row that are not NULL.
    pub(crate) fn attributes(&self) -> Vec<(&'static str, Value)> {
        let all = [
            ("name", self.name.map(|value| json!(value))),
            ("code", self.code.map(|value| json!(value))),
            ("owner", Some(json!(self.owner))),
            ("prefix", self.prefix.map(|value| json!(value))),
            ("level", self.level.map(|value| json!(value))),
            ("rank", Some(json!(self.rank))),
            ("score", self.score.map(|value| json!(value))),
            ("flag", self.flag.map(|value| json!(value))),
            ("until", self.until.map(|value| json!(value))),
            ("tags", self.tags.as_ref().map(|value| json!(value))),
            ("numbers", self.numbers.as_ref().map(|value| json!(value))),
            ("scores", self.scores.as_ref().map(|value| json!(value))),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

fn one<T: Copy>(rng: &mut Rng, pool: &[T]) -> T {
    pool[rng.usize(..pool.len())]
}

fn maybe<T: Copy>(rng: &mut Rng, pool: &[T]) -> Option<T> {
    if rng.u8(..5) == 0 { None } else { Some(one(rng, pool)) }
}

fn some<T: Copy>(rng: &mut Rng, pool: &[T]) -> Vec<T> {
    (0..rng.usize(..4)).map(|_| one(rng, pool)).collect()
}

/// The columns of the table `docs`, by attribute: name, type, whether it can be NULL, whether it compares by code point.
pub(crate) fn columns() -> Columns {
    use ColumnType::{List, Scalar};
    use ScalarType::{Boolean, Instant, Integer, Number, Text};
    let mut columns = Columns::default();
    for (name, kind, nullable, binary) in [
        ("name", Scalar(Text), true, false),
        ("code", Scalar(Text), true, true),
        ("owner", Scalar(Text), false, false),
        ("prefix", Scalar(Text), true, false),
        ("level", Scalar(Integer), true, false),
        ("rank", Scalar(Integer), false, false),
        ("score", Scalar(Number), true, false),
        ("flag", Scalar(Boolean), true, false),
        ("until", Scalar(Instant), true, false),
        ("tags", List(Text), true, false),
        ("numbers", List(Integer), true, false),
        ("scores", List(Number), true, false),
    ] {
        let mut column = Column::new(&format!("d.{name}"), kind).expect("an identifier");
        let path = AttributePath::parse(&format!("resource.{name}")).expect("a path");
        (column.nullable, column.binary) = (nullable, binary);
        columns.insert(path, column);
    }
    columns
}
