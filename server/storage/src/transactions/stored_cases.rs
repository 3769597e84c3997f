//! The cases of a tenant as a row holds them.

use serde::Deserialize;
use serde_json::value::RawValue;

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

    /// Returns the text by which the history keeps the cases; `None` if there are none.
    pub(crate) fn to_json(&self) -> Option<String> {
        if self.cases.is_empty() {
            return None;
        }
        let domain = serde_json::to_string(&self.domain).ok()?;
        let Self { cases, users, .. } = self;
        Some(format!(r#"{{"domain":{domain},"cases":{cases},"users":{users}}}"#))
    }

    /// Reads the text of the history.
    ///
    /// # Errors
    /// It has another form.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        let KeptCases { domain, cases, users } = serde_json::from_str(text)?;
        let (cases, users) = (cases.get().to_owned(), users.get().to_owned());
        Ok(Self { domain, cases, users, skipped: Vec::new() })
    }

    /// Returns the bytes that count for the quota.
    pub(crate) fn bytes(&self) -> i64 {
        i64::try_from(self.cases.len() + self.users.len()).unwrap_or(i64::MAX)
    }
}

/// The members of [`StoredCases::to_json`].
#[derive(Deserialize)]
struct KeptCases<'t> {
    domain: String,
    #[serde(borrow)]
    cases: &'t RawValue,
    #[serde(borrow)]
    users: &'t RawValue,
}
