//! The databases, and the forms of parameters.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// The database that a condition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Dialect {
    /// PostgreSQL 13 or later.
    Postgres,
    /// SQLite 3.38 or later, and 3.23 or later for conditions without lists.
    Sqlite,
}

/// The form of the parameters in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Placeholders {
    /// `$1`, `$2`
    Dollar,
    /// `?`
    Question,
    /// `:p1`, `:p2`
    Named,
}

impl Dialect {
    /// Returns the placeholders that drivers of the database take.
    pub fn placeholders(self) -> Placeholders {
        match self {
            Self::Postgres => Placeholders::Dollar,
            Self::Sqlite => Placeholders::Question,
        }
    }

    /// Returns the resolution of a column of instants, in nanoseconds.
    pub(super) fn resolution(self) -> u32 {
        match self {
            Self::Postgres => 1_000,
            Self::Sqlite => 1_000_000,
        }
    }
}
