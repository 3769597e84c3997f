//! The settings of commands that call another program or service.

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};

use crate::error::ConfigError;
use crate::secrets::{SERVICE_API_KEY, TOKEN};
use crate::variables::Variables;

impl Variables {
    /// Returns the service key with which `import` calls a Portcullis service.
    pub fn service_api_key(&self) -> Result<String, ConfigError> {
        self.required_secret(SERVICE_API_KEY, "a service key with `policies:write`")
    }

    /// Returns the header with which `resolver push` calls a Portcullis service.
    pub fn credential(&self) -> Result<(HeaderName, HeaderValue), ConfigError> {
        let expected = "a service key with `resolvers:read` and `resolvers:write`; or in TOKEN, a manager's token";
        let key = self.secret(SERVICE_API_KEY)?;
        let (name, header, text) = match self.secret(TOKEN)? {
            Some(token) if key.is_none() => ("TOKEN", AUTHORIZATION, format!("Bearer {token}")),
            _ => {
                let key = self.required_secret(SERVICE_API_KEY, expected)?;
                ("SERVICE_API_KEY", HeaderName::from_static("x-service-api-key"), key)
            }
        };
        // The message must not have the secret.
        let fault = |_| ConfigError {
            name,
            expected: "characters that a header can have".to_owned(),
            found: None,
        };
        let mut value = HeaderValue::try_from(text).map_err(fault)?;
        value.set_sensitive(true);
        Ok((header, value))
    }

    /// Returns the directory in which cargo keeps its downloads.
    pub fn cargo_home(&self) -> Option<String> {
        let home = || self.get("HOME").map(|home| format!("{home}/.cargo"));
        self.get("CARGO_HOME").map(str::to_owned).or_else(home)
    }
}
