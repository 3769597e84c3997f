//! The variables from which every setting is read. This is the only module that reads the environment.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;
use portcullis_engine::operator::parse_network;

use crate::env_file;
use crate::error::ConfigError;
use crate::known::{self, Source};
use crate::units::{DURATION_UNITS, SIZE_UNITS, parse_duration, parse_size};

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
        // Our names and values are UTF-8: any other variable is not ours.
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
        debug_assert!(
            known::is_known(name),
            "`{name}` is missing in server/config/src/settings.rs"
        );
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
        read(text).map(Some).ok_or_else(|| ConfigError::new(name, expected).not(text))
    }

    /// Returns the value of `name`, which must be set.
    pub(crate) fn required(&self, name: &'static str, expected: &str) -> Result<&str, ConfigError> {
        self.get(name)
            .ok_or_else(|| ConfigError::new(name, format!("{expected}, but it is not set")))
    }

    /// Returns a number of this range.
    pub(crate) fn number<N: FromStr + PartialOrd + Display>(
        &self,
        name: &'static str,
        range: RangeInclusive<N>,
    ) -> Result<Option<N>, ConfigError> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        self.parsed(name, &expected, |text| text.parse().ok().filter(|n| range.contains(n)))
    }

    pub(crate) fn positive<N: FromStr + PartialOrd + Default>(
        &self,
        name: &'static str,
    ) -> Result<Option<N>, ConfigError> {
        self.parsed(name, "a number of at least 1", |text| {
            text.parse().ok().filter(|number| *number > N::default())
        })
    }

    /// Returns a number of bytes. An error shows the `example`.
    pub(crate) fn size(
        &self,
        name: &'static str,
        example: &str,
    ) -> Result<Option<u64>, ConfigError> {
        self.parsed(name, &format!("a size such as `{example}` {SIZE_UNITS}"), parse_size)
    }

    /// Returns a number of bytes, `least` or more, which is a number of KiB or MiB.
    pub(crate) fn size_from(
        &self,
        name: &'static str,
        least: u64,
    ) -> Result<Option<u64>, ConfigError> {
        let shown = match least.is_multiple_of(1 << 20) {
            true => format!("{}MiB", least >> 20),
            false => format!("{}KiB", least >> 10),
        };
        let expected = format!("a size of at least `{shown}` {SIZE_UNITS}");
        self.parsed(name, &expected, |text| parse_size(text).filter(|bytes| *bytes >= least))
    }

    /// Returns networks in CIDR notation, with commas between them.
    pub(crate) fn networks(&self, name: &'static str) -> Result<Vec<IpNet>, ConfigError> {
        let expected = "networks such as `10.0.0.0/8,192.168.1.7`, with host bits zero";
        let networks = self.parsed(name, expected, |text| {
            text.split(',').map(|network| parse_network(network.trim())).collect()
        })?;
        Ok(networks.unwrap_or_default())
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
        let expected = format!("a duration above 0, such as `10s` {DURATION_UNITS}");
        let duration = self.parsed(name, &expected, |text| {
            parse_duration(text).filter(|duration| !duration.is_zero())
        })?;
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
