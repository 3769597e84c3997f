//! The settings of the console.

use std::net::SocketAddr;
use std::time::Duration;

use portcullis_auth::{ConsoleConfig, SignInClient};
use portcullis_engine::names::names;
use portcullis_model::sign_in::{DEFAULT_SCOPES, SignInIdentity};

use crate::error::ConfigError;
use crate::variables::Variables;

/// The longest time of a session without a request.
const IDLE: Duration = Duration::from_secs(3_600);
/// The longest time of a session.
const LONGEST: Duration = Duration::from_secs(12 * 3_600);
/// The variables of the one client, which each provider of `saas` mode has for itself.
const OF_CLIENT: [&str; 5] = [
    "CONSOLE_CLIENT_ID",
    "CONSOLE_CLIENT_SECRET",
    "CONSOLE_SCOPES",
    "CONSOLE_AUDIENCE",
    "CONSOLE_IDENTITY",
];

impl Variables {
    /// Reads the settings of the console of a service that listens on `listen`; `None` if it is off.
    pub(crate) fn console(&self, listen: SocketAddr) -> Result<Option<ConsoleConfig>, ConfigError> {
        let is_on = self.parsed("CONSOLE", "`on` or `off`", |text| match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        })?;
        let client = self.console_client()?;
        let idle = self.positive_duration("CONSOLE_SESSION_IDLE", IDLE)?;
        let longest = self.positive_duration("CONSOLE_SESSION_MAX", LONGEST)?;
        let is_local = listen.ip().is_loopback();
        Ok(is_on.unwrap_or(true).then_some(ConsoleConfig { client, idle, longest, is_local }))
    }

    /// Returns the address before the paths of the console: the one by which browsers reach the service, or the one on which it
    /// listens.
    pub fn console_address(&self) -> Result<String, ConfigError> {
        if let Some(public) = self.public_url()? {
            return Ok(public);
        }
        Ok(format!("http://{}", self.listen()?))
    }

    /// Reads the client at the one provider of `selfhost` mode.
    fn console_client(&self) -> Result<Option<SignInClient>, ConfigError> {
        let secret = self.secret("CONSOLE_CLIENT_SECRET")?;
        if self.is_saas()? {
            let name = OF_CLIENT.into_iter().find(|name| self.get(name).is_some());
            // A secret may come from its file, which the name of its variable does not show.
            let name = name.or(secret.map(|_| "CONSOLE_CLIENT_SECRET"));
            let expected =
                "no value with `MODE=saas`, where each identity provider has its own `sign_in`";
            return name.map_or(Ok(None), |name| Err(ConfigError::new(name, expected)));
        }
        let names: Vec<String> =
            names::<SignInIdentity>().map(|name| format!("`{name}`")).collect();
        let expected = format!("one of {}", names.join(", "));
        let identity = self.parsed("CONSOLE_IDENTITY", &expected, |text| text.parse().ok())?;
        let Some(id) = self.get("CONSOLE_CLIENT_ID") else { return Ok(None) };
        Ok(Some(SignInClient {
            id: id.to_owned(),
            secret,
            scopes: self.text("CONSOLE_SCOPES", DEFAULT_SCOPES.to_owned()),
            audience: self.get("CONSOLE_AUDIENCE").map(str::to_owned),
            identity: identity.unwrap_or_default(),
        }))
    }
}
