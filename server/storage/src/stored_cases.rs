//! The cases of a tenant as a row holds them.

/// The cases of a tenant, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredCases {
    /// The domain of checks without a domain, and of the users' tokens.
    pub domain: String,
    /// A JSON array.
    pub cases: String,
    /// A JSON array.
    pub users: String,
    /// The names of the cases that could not be decided when they were last judged.
    pub skipped: Vec<String>,
}

impl StoredCases {
    /// Returns whether there is no case.
    pub fn is_empty(&self) -> bool {
        matches!(&*self.cases, "" | "[]")
    }

    /// Returns the bytes that count for the quota.
    pub(crate) fn bytes(&self) -> i64 {
        i64::try_from(self.cases.len() + self.users.len()).unwrap_or(i64::MAX)
    }
}
