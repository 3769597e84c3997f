//! The arguments of commands that ask a folder or a service.

use url::Url;

use crate::service_url::service_url;

/// The service to ask in place of a folder.
#[derive(Debug, clap::Args)]
pub struct RemoteArguments {
    /// Ask the service at this URL in place of a folder.
    #[arg(long, value_name = "URL", value_parser = service_url)]
    pub url: Option<Url>,
    /// The token of a manager; better in the variable TOKEN, because other users of the machine see arguments.
    #[arg(long, requires = "url", conflicts_with = "key")]
    pub(crate) token: Option<String>,
    /// A service key with `access:search` and `policies:read`; better in the variable SERVICE_API_KEY.
    #[arg(long, requires = "url")]
    pub(crate) key: Option<String>,
}
