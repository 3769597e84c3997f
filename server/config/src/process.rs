//! The settings that several commands read.

use std::net::SocketAddr;

use tracing_subscriber::EnvFilter;

use crate::error::ConfigError;
use crate::variables::Variables;

/// The beginning of the targets of the driver of both databases.
const DRIVER: &str = "sqlx";

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

impl Variables {
    /// Returns the format of log lines.
    pub fn log_format(&self) -> Result<LogFormat, ConfigError> {
        let format = self.parsed("LOG_FORMAT", "`text` or `json`", |text| match text {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        })?;
        Ok(format.unwrap_or(LogFormat::Text))
    }

    /// Returns the filter of log lines, in the syntax of `tracing_subscriber`.
    pub fn log_filter(&self) -> Result<EnvFilter, ConfigError> {
        let expected = "a filter such as `info,portcullis=debug`";
        let filter = self.parsed("RUST_LOG", expected, |text| EnvFilter::try_new(text).ok())?;
        Ok(filter.unwrap_or_else(|| EnvFilter::new("info")))
    }

    /// Returns the filter of the log lines of a command, whose output people read: without those of the database driver,
    /// unless the setting names it.
    pub fn log_filter_of_command(&self) -> Result<EnvFilter, ConfigError> {
        let filter = self.log_filter()?;
        let text = filter.to_string();
        let names_driver = text.split(',').any(|part| part.starts_with(DRIVER));
        // The text of a filter that was parsed has the same syntax.
        let quiet = EnvFilter::try_new(format!("{text},{DRIVER}=off"));
        Ok(if names_driver { filter } else { quiet.unwrap_or(filter) })
    }

    /// Returns the address to listen on.
    pub fn listen(&self) -> Result<SocketAddr, ConfigError> {
        let expected = "an address such as `127.0.0.1:8080`";
        let listen = self.parsed("LISTEN_ADDR", expected, |text| text.parse().ok())?;
        Ok(listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080))))
    }

    /// Returns whether `MODE` is `saas`.
    pub fn is_saas(&self) -> Result<bool, ConfigError> {
        let saas = self.parsed("MODE", "`saas` or `selfhost`", |text| match text {
            "saas" => Some(true),
            "selfhost" => Some(false),
            _ => None,
        })?;
        Ok(saas.unwrap_or(false))
    }

    /// Returns the URL of the database.
    pub fn database_url(&self) -> Result<String, ConfigError> {
        let url = self.secret("DATABASE_URL")?;
        Ok(url.unwrap_or_else(|| "sqlite://portcullis.db".to_owned()))
    }

    /// Returns the most bytes that plans may take in memory.
    pub fn plan_cache_bytes(&self) -> Result<u64, ConfigError> {
        Ok(self.size("PLAN_CACHE_BYTES", "256MiB")?.unwrap_or(256 << 20))
    }

    /// Returns the most bytes that the entities of all tenants may take in memory.
    pub fn entities_bytes(&self) -> Result<u64, ConfigError> {
        Ok(self.size("ENTITIES_BYTES", "1GiB")?.unwrap_or(1 << 30))
    }

    /// Returns the address for `dev`, which must be a loopback address.
    pub fn loopback_listen(&self) -> Result<SocketAddr, ConfigError> {
        let listen = self.listen()?;
        if listen.ip().is_loopback() {
            return Ok(listen);
        }
        Err(ConfigError::new("LISTEN_ADDR", "a loopback address: `dev` is not for production")
            .not(listen.to_string()))
    }
}
