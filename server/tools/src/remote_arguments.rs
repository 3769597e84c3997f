//! The arguments of commands that ask a folder or a service.

use anyhow::Context;
use portcullis_config::Variables;
use url::Url;

use crate::as_code::Service;
use crate::service_url::service_url;

/// The service to ask in place of a folder.
#[derive(Debug, clap::Args)]
pub struct RemoteArguments {
    /// Ask the service at this URL in place of a folder.
    #[arg(long, value_name = "URL", value_parser = service_url)]
    pub url: Option<Url>,
    /// The token of a manager; better in the variable TOKEN, because other users of the machine see arguments.
    #[arg(long, requires = "url", conflicts_with = "key")]
    token: Option<String>,
    /// A service key with `access:search` and `policies:read`; better in the variable SERVICE_API_KEY.
    #[arg(long, requires = "url")]
    key: Option<String>,
}

impl RemoteArguments {
    /// Returns the service, with the credential of the arguments or the variables.
    ///
    /// # Errors
    /// There is no URL or no credential.
    pub(crate) fn service(&self, variables: &Variables) -> anyhow::Result<Service> {
        let url = self.url.as_ref().context("expected the URL of a service in --url")?;
        let credential =
            variables.manager_credential(self.token.as_deref(), self.key.as_deref())?;
        Service::with_credential(url, credential)
    }
}
