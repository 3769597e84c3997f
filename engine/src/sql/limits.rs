//! The limits of a condition in SQL.

/// The maximum length of a text, in bytes.
pub const MAX_TEXT: usize = 1024 * 1024;
/// The maximum number of parameters. SQLite takes 32,766, PostgreSQL 65,535, and a statement has others besides.
pub const MAX_PARAMS: usize = 30_000;
/// The maximum size of the ids in all parameters, in bytes.
pub const MAX_ID_BYTES: usize = 16 * 1024 * 1024;
/// The maximum nesting. SQLite refuses expressions that are 1,000 levels deep, and a level here is up to four there.
pub const MAX_NESTING: usize = 200;

/// The output is larger than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;
