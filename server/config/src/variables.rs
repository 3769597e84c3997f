//! The variables from which every setting is read. This is the only module that reads the environment.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::error::ConfigError;
use crate::units::parse_duration;

/// The variables: the environment, over the entries of a file.
#[derive(Debug)]
pub struct Variables(pub(crate) HashMap<String, String>);

impl Variables {
    /// Reads the environment of the process, over the entries of `env_file`.
    pub fn load(env_file: Option<&Path>) -> Result<Self, ConfigError> {
        let mut variables = HashMap::new();
        if let Some(path) = env_file {
            let fault = |error: dotenvy::Error| ConfigError {
                name: "--env-file",
                expected: format!("a readable file of NAME=value lines, but {error}"),
                found: Some(path.display().to_string()),
            };
            for entry in dotenvy::from_path_iter(path).map_err(fault)? {
                let (name, value) = entry.map_err(fault)?;
                variables.insert(name, value);
            }
        }
        variables.extend(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }));
        Ok(Self(variables))
    }

    /// Keeps only the variables with these names.
    pub fn only(self, names: &[&str]) -> Self {
        let kept = self.0.into_iter().filter(|(name, _)| names.contains(&&**name));
        Self(kept.collect())
    }

    /// Returns the value of `name`. An empty value is an absent one.
    pub(crate) fn get(&self, name: &'static str) -> Option<&str> {
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
        let duration = self.parsed(name, "a duration such as `30s`", parse_duration)?;
        Ok(duration.unwrap_or(default))
    }

    pub(crate) fn positive_duration(
        &self,
        name: &'static str,
        default: Duration,
    ) -> Result<Duration, ConfigError> {
        let read = |text: &str| parse_duration(text).filter(|duration| !duration.is_zero());
        let duration = self.parsed(name, "a duration such as `10s`", read)?;
        Ok(duration.unwrap_or(default))
    }

    pub(crate) fn text(&self, name: &'static str, default: String) -> String {
        self.get(name).map_or(default, str::to_owned)
    }
}
