//! The systems whose models and tuples are imported, and their words.

/// A system that stores relations as tuples.
#[derive(Clone, Copy, Debug)]
pub(crate) enum System {
    Openfga,
    Spicedb,
}

impl System {
    /// The name of the import: the owner of what is imported, and the tenant of a folder whose files name none.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Openfga => "openfga",
            Self::Spicedb => "spicedb",
        }
    }

    /// The word for the types with their relations.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Openfga => "model",
            Self::Spicedb => "schema",
        }
    }

    /// The word for a tuple.
    pub(crate) fn tuple(self) -> &'static str {
        match self {
            Self::Openfga => "tuple",
            Self::Spicedb => "relationship",
        }
    }

    /// The word for the questions with expected answers.
    pub(crate) fn tests(self) -> &'static str {
        match self {
            Self::Openfga => "tests",
            Self::Spicedb => "assertions",
        }
    }

    /// The operator that takes subjects away.
    pub(crate) fn except(self) -> &'static str {
        match self {
            Self::Openfga => "but not",
            Self::Spicedb => "-",
        }
    }

    /// An example of a condition that is an expiry.
    pub(crate) fn expiry(self) -> &'static str {
        match self {
            Self::Openfga => "current_time < grant_time + grant_duration",
            Self::Spicedb => "now < end",
        }
    }
}
