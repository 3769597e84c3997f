//! Applies the rules and policies to a running Portcullis service, all at once or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use http::{HeaderName, HeaderValue};
use portcullis_config::Variables;
use portcullis_engine::json;
use portcullis_tools::as_code::{self, Service};
use serde_json::json;
use url::Url;

use super::output::Converted;

const KEY_HEADER: HeaderName = HeaderName::from_static("x-service-api-key");

/// The service that gets the rules and policies.
pub(super) struct Target<'a> {
    service: Service,
    owner: &'a str,
}

impl<'a> Target<'a> {
    pub(super) fn new(
        base: &Url,
        key_file: Option<&Path>,
        owner: &'a str,
        variables: &Variables,
    ) -> anyhow::Result<Self> {
        let credential = match key_file {
            Some(file) => (KEY_HEADER, key(file)?),
            None => variables.manager_credential(None, None)?,
        };
        Ok(Self { service: Service::with_credential(base, credential)?, owner })
    }

    /// Makes the rules and policies of the owner those of `converted`, and reports what changed.
    ///
    /// # Errors
    /// The service refuses them. It stores none then.
    pub(super) async fn apply(
        &self,
        converted: &Converted,
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        let Converted { rules, policies, .. } = converted;
        let content = json!({"rules": rules, "policies": policies}).to_string();
        let content = json::parse(content.as_bytes())?.into_owned();
        let report = as_code::import(&self.service, self.owner, content).await?;
        err.write_all(report.as_bytes())?;
        Ok(())
    }
}

/// Reads a service key from a file.
fn key(file: &Path) -> anyhow::Result<HeaderValue> {
    let key = fs::read_to_string(file).with_context(|| format!("--key-file {}", file.display()))?;
    // The message must not show the key.
    let mut key = HeaderValue::from_str(key.trim()).map_err(|_| {
        anyhow::anyhow!("the service key contains characters that a key cannot have")
    })?;
    key.set_sensitive(true);
    Ok(key)
}
