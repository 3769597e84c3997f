//! The settings of commands that call another program or service.

use std::collections::BTreeMap;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};

use crate::error::ConfigError;
use crate::variables::Variables;

const SERVICE_API_KEY: &str = "SERVICE_API_KEY";
const TOKEN: &str = "TOKEN";

/// The header of service keys.
const SERVICE_KEY_HEADER: HeaderName = HeaderName::from_static("x-service-api-key");

/// The name and value of a header that proves who calls.
pub type CredentialHeader = (HeaderName, HeaderValue);

/// The token or the key in the arguments of a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct GivenCredential<'g> {
    pub token: Option<&'g str>,
    pub key: Option<&'g str>,
}

impl Variables {
    /// Returns the header with which `resolver push` calls a Portcullis service.
    pub fn credential(&self) -> Result<CredentialHeader, ConfigError> {
        let expected = "a service key with `resolvers:read` and `resolvers:write`; or in TOKEN, a manager's token";
        self.token_or_key(GivenCredential::default(), expected)
    }

    /// Returns the header with which `check` calls a Portcullis service: the token or the key of the arguments, or else
    /// the credential of the variables.
    pub fn check_credential(
        &self,
        given: GivenCredential<'_>,
    ) -> Result<CredentialHeader, ConfigError> {
        if let Some(header) = self.token_or_given_key(given)? {
            return Ok(header);
        }
        let expected = "a token in --token or TOKEN, a service key with `access:evaluate` in --key or \
                        SERVICE_API_KEY, or a tenant folder in --dir";
        let key =
            self.secret(SERVICE_API_KEY)?.ok_or_else(|| ConfigError::new("check", expected))?;
        Ok((SERVICE_KEY_HEADER, sensitive("SERVICE_API_KEY", key)?))
    }

    /// Returns the header with which `export`, `plan`, `apply`, `drift` and `import` call a Portcullis service: the token or
    /// the key of the arguments, or else the credential of the variables.
    pub fn manager_credential(
        &self,
        given: GivenCredential<'_>,
    ) -> Result<CredentialHeader, ConfigError> {
        let expected = "a service key with the permissions of every kind that the command touches; or in TOKEN, a \
                        manager's token";
        self.token_or_key(given, expected)
    }

    /// Returns the header of the token or the key of the arguments, or else of the variables, where a token comes first.
    ///
    /// # Errors
    /// There is neither; the error says what was `expected`.
    fn token_or_key(
        &self,
        given: GivenCredential<'_>,
        expected: &'static str,
    ) -> Result<CredentialHeader, ConfigError> {
        if let Some(header) = self.token_or_given_key(given)? {
            return Ok(header);
        }
        let key = self.required_secret(SERVICE_API_KEY, expected)?;
        Ok((SERVICE_KEY_HEADER, sensitive(SERVICE_API_KEY, key)?))
    }

    /// Returns the header of the token or the key of the arguments, or else of the token of the variables.
    fn token_or_given_key(
        &self,
        given: GivenCredential<'_>,
    ) -> Result<Option<CredentialHeader>, ConfigError> {
        if let Some(token) = given.token {
            return Ok(Some((AUTHORIZATION, sensitive("--token", format!("Bearer {token}"))?)));
        }
        if let Some(key) = given.key {
            return Ok(Some((SERVICE_KEY_HEADER, sensitive("--key", key.to_owned())?)));
        }
        let Some(token) = self.secret(TOKEN)? else { return Ok(None) };
        Ok(Some((AUTHORIZATION, sensitive("TOKEN", format!("Bearer {token}"))?)))
    }

    /// Returns the values of the variables with these names, which files of a tenant refer to. A variable that is not set
    /// or empty has none.
    pub fn values_of<'n>(&self, names: impl Iterator<Item = &'n str>) -> BTreeMap<String, String> {
        let set = names.filter_map(|name| {
            let value = self.0.get(name).filter(|value| !value.is_empty())?;
            Some((name.to_owned(), value.clone()))
        });
        set.collect()
    }

    /// Returns the directory in which cargo keeps its downloads.
    pub fn cargo_home(&self) -> Option<String> {
        let chosen = self.get("CARGO_HOME").map(str::to_owned);
        chosen.or_else(|| self.get("HOME").map(|home| format!("{home}/.cargo")))
    }
}

/// Returns the value of a header that no log shows. The error names the source of the secret, and does not have it.
fn sensitive(name: &'static str, text: String) -> Result<HeaderValue, ConfigError> {
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| ConfigError::new(name, "characters that a header can have"))?;
    value.set_sensitive(true);
    Ok(value)
}
