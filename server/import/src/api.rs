//! Applies what was imported to a running Portcullis service, all at once or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use http::{HeaderName, HeaderValue};
use portcullis_config::{GivenCredential, Variables};
use portcullis_engine::{Json, json};
use portcullis_tools::as_code::{self, Import};
use portcullis_tools::service::{CallLimits, Service};
use serde::Serialize;
use serde_json::Value;
use url::Url;

const KEY_HEADER: HeaderName = HeaderName::from_static("x-service-api-key");

/// The service that gets what was imported.
pub(crate) struct Target<'a> {
    service: Service,
    import: Import<'a>,
}

impl<'a> Target<'a> {
    pub(crate) fn new(
        base: &Url,
        key_file: Option<&Path>,
        import: Import<'a>,
        variables: &Variables,
    ) -> anyhow::Result<Self> {
        let credential = match key_file {
            Some(file) => (KEY_HEADER, key(file)?),
            None => variables.manager_credential(GivenCredential::default())?,
        };
        Ok(Self {
            service: Service::with_credential(base, credential, CallLimits::CONTENT)?,
            import,
        })
    }

    /// Replaces the objects of the owner with `content`, the members of a bundle, and reports what changed.
    ///
    /// # Errors
    /// The service refuses them. It stores none then.
    pub(crate) async fn apply(
        &self,
        content: &Value,
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        let report = as_code::import(&self.service, &self.import, bundle(content)?).await?;
        err.write_all(report.as_bytes())?;
        Ok(())
    }

    /// Replaces the objects of the owner with `content`, and the tuples whose source is the owner with `tuples`, and reports what
    /// changed.
    ///
    /// # Errors
    /// The service refuses a part of them.
    pub(crate) async fn apply_with_tuples<T: Serialize>(
        &self,
        content: &Value,
        tuples: &[T],
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        let content = bundle(content)?;
        let report =
            as_code::import_with_tuples(&self.service, &self.import, content, tuples).await?;
        err.write_all(report.as_bytes())?;
        Ok(())
    }
}

fn bundle(content: &Value) -> anyhow::Result<Json<'static>> {
    Ok(json::parse(content.to_string().as_bytes())?.into_owned())
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
