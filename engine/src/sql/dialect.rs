//! The databases, and the forms of parameters.

/// The database that a condition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL 13 or later.
    Postgres,
    /// SQLite 3.23 or later.
    Sqlite,
}

/// The form of the parameters in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholders {
    /// `$1`, `$2`
    Dollar,
    /// `?`
    Question,
    /// `:p1`, `:p2`
    Named,
}

impl Dialect {
    /// Every dialect with its name.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Postgres, "postgres"), (Self::Sqlite, "sqlite")];

    /// Returns the placeholders that drivers of the database take.
    pub fn placeholders(self) -> Placeholders {
        match self {
            Self::Postgres => Placeholders::Dollar,
            Self::Sqlite => Placeholders::Question,
        }
    }
}

impl Placeholders {
    /// Every form with its name.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Dollar, "dollar"), (Self::Question, "question"), (Self::Named, "named")];
}
