//! The databases, and the forms of parameters.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// The database that a condition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Dialect {
    /// PostgreSQL 13 or later.
    Postgres,
    /// SQLite 3.23 or later.
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
}
