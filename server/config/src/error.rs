//! The error of the configuration.

use std::borrow::Cow;
use std::fmt::Display;

/// The error of a value that is missing or cannot be used. Its text is one line that names the variable.
#[derive(Debug, thiserror::Error)]
#[error("{name}: expected {expected}{}", shown(found.as_deref()))]
pub struct ConfigError {
    pub(crate) name: Cow<'static, str>,
    pub(crate) expected: String,
    /// The value, unless it may be a secret.
    pub(crate) found: Option<String>,
}

/// Returns the value as the error shows it. A value with `@` can be a URL with a password, unless the password is masked.
fn shown(found: Option<&str>) -> String {
    match found {
        None => String::new(),
        Some(found) if found.contains('@') && !found.contains("***@") => {
            "; the value is not shown, since it may hold a password".to_owned()
        }
        Some(found) => format!(", not `{found}`"),
    }
}

impl ConfigError {
    /// Returns the error of a value that is missing, or that may be a secret.
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, expected: impl Into<String>) -> Self {
        Self { name: name.into(), expected: expected.into(), found: None }
    }

    /// Returns the error with the value, which it shows.
    pub(crate) fn not(self, found: impl Into<String>) -> Self {
        Self { found: Some(found.into()), ..self }
    }

    /// The error of a `DATABASE_URL` whose database is not supported.
    pub fn database_url(expected: String, found: String) -> Self {
        Self::new("DATABASE_URL", expected).not(found)
    }

    /// Returns the error of a file that cannot be read as `expected`, and the cause.
    pub(crate) fn unreadable_file(
        name: &'static str,
        expected: &str,
        path: &str,
        cause: &dyn Display,
    ) -> Self {
        Self::new(name, format!("{expected}, but `{path}` is not: {cause}"))
    }

    /// The error of a file in PEM that cannot be used, named by the variable `name`.
    pub fn unusable_file(name: &'static str, reason: &str) -> Self {
        Self::new(name, format!("a usable file in PEM: {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_may_hold_a_password_is_not_shown() {
        let error = |found: &str| ConfigError::new("NAME", "a URL").not(found).to_string();
        assert_eq!(error("x"), "NAME: expected a URL, not `x`");
        let hidden = "NAME: expected a URL; the value is not shown, since it may hold a password";
        assert_eq!(error("user:hunter2@host"), hidden);
    }
}
