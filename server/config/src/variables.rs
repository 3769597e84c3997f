//! The variables from which every setting is read. This is the only module that reads the environment.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::env_file;
use crate::error::ConfigError;
use crate::known::{self, Source};
use crate::units::{DURATION_UNITS, parse_duration};

/// The variables: the environment, over the entries of a file.
#[derive(Debug)]
pub struct Variables(pub(crate) HashMap<String, String>);

impl Variables {
    /// Reads the environment of the process, over the entries of `env_file`.
    ///
    /// # Errors
    /// The file cannot be read, or a variable that no command reads resembles one that some command reads.
    pub fn load(env_file: Option<&Path>) -> Result<Self, ConfigError> {
        let mut variables = HashMap::new();
        if let Some(path) = env_file {
            let entries = env_file::read(path)?;
            check_names(&entries, Source::File(&path.to_string_lossy()))?;
            variables.extend(entries);
        }
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let environment: Vec<_> = environment.collect();
        check_names(&environment, Source::Environment)?;
        variables.extend(environment);
        Ok(Self(variables))
    }

    /// Keeps only the variables with these names.
    pub fn only(self, names: &[&str]) -> Self {
        let kept = self.0.into_iter().filter(|(name, _)| names.contains(&&**name));
        Self(kept.collect())
    }

    /// Returns the value of `name`. An empty value is an absent one.
    pub(crate) fn get(&self, name: &'static str) -> Option<&str> {
        debug_assert!(known::is_known(name), "`{name}` is missing in server/config/src/known.rs");
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the value of `name`, parsed by `read`.
    pub(crate) fn parsed<T>(
        &self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let fault =
            || ConfigError { name, expected: expected.to_owned(), found: Some(text.to_owned()) };
        read(text).map(Some).ok_or_else(fault)
    }

    /// Returns the value of `name`, which must be set.
    pub(crate) fn required(&self, name: &'static str, expected: &str) -> Result<&str, ConfigError> {
        self.get(name).ok_or_else(|| ConfigError {
            name,
            expected: format!("{expected}, but it is not set"),
            found: None,
        })
    }

    pub(crate) fn boolean(&self, name: &'static str) -> Result<Option<bool>, ConfigError> {
        self.parsed(name, "`true` or `false`", |text| text.parse().ok())
    }

    pub(crate) fn duration(
        &self,
        name: &'static str,
        default: Duration,
    ) -> Result<Duration, ConfigError> {
        let expected = format!("a duration such as `30s` {DURATION_UNITS}");
        let duration = self.parsed(name, &expected, parse_duration)?;
        Ok(duration.unwrap_or(default))
    }

    pub(crate) fn positive_duration(
        &self,
        name: &'static str,
        default: Duration,
    ) -> Result<Duration, ConfigError> {
        let read = |text: &str| parse_duration(text).filter(|duration| !duration.is_zero());
        let expected = format!("a duration above 0, such as `10s` {DURATION_UNITS}");
        let duration = self.parsed(name, &expected, read)?;
        Ok(duration.unwrap_or(default))
    }

    pub(crate) fn text(&self, name: &'static str, default: String) -> String {
        self.get(name).map_or(default, str::to_owned)
    }
}

/// Refuses names with typos. An empty variable is an absent one.
fn check_names(entries: &[(String, String)], source: Source<'_>) -> Result<(), ConfigError> {
    let set = entries.iter().filter(|(_, value)| !value.is_empty());
    set.map(|(name, _)| name).try_for_each(|name| known::check(name, source))
}
