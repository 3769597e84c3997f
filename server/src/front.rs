//! The listeners of the service, each with its routes and limits.

use std::net::SocketAddr;

use anyhow::Context;
use futures_util::stream::{self, Stream, StreamExt};
use portcullis_api::{RouteSet, router};
use portcullis_config::{ConfigError, EdgeConfig, TlsConfig};
use portcullis_http::listener::{ConnectionLimits, Listener, TlsIdentity};
use portcullis_http::{BodyBudget, HttpService};
use portcullis_runtime::app::App;
use portcullis_runtime::edge_metrics::ConnectionMetrics;
use tokio::signal::unix::Signal;
use tokio::sync::watch;

use crate::descriptors;

/// Connections of the operator's listener. They have their own places, so that metrics and probes answer when tenants
/// have all other connections.
const OPERATOR_CONNECTIONS: usize = 128;

/// A listener with its routes.
pub(crate) struct Front {
    pub(crate) listener: Listener,
    pub(crate) service: HttpService,
    pub(crate) limits: ConnectionLimits,
}

impl Front {
    /// Serves until `stopped` is true.
    pub(crate) async fn serve(
        self,
        metrics: ConnectionMetrics,
        mut stopped: watch::Receiver<bool>,
    ) {
        let stop = async move {
            // An error says that the sender is gone, which is a stop, too.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        self.listener.serve(self.service, self.limits, metrics, stop).await;
    }
}

/// The bound listeners of `portcullis serve`.
pub(crate) struct Listeners {
    public: Listener,
    /// The listener for the operator's routes alone.
    operator: Option<Listener>,
    limits: ConnectionLimits,
}

impl Listeners {
    /// Binds the addresses, and keeps up with the files of the certificate. Each of `hangups` lets it read them at once.
    pub(crate) async fn bind(
        address: SocketAddr,
        config: &EdgeConfig,
        hangups: Signal,
    ) -> anyhow::Result<Self> {
        let limits = limits(config);
        let mut public = bind("LISTEN_ADDR", address).await?;
        let mut operator = match config.admin_listen {
            Some(address) => Some(bind("ADMIN_LISTEN_ADDR", address).await?),
            None => None,
        };
        if let Some(TlsConfig { certificate, key }) = config.tls.clone() {
            let identity = TlsIdentity::read(certificate, key)
                .map_err(|error| ConfigError::unusable_file(error.variable, &error.reason))?;
            public = public.with_tls(&identity)?;
            operator = operator.map(|listener| listener.with_tls(&identity)).transpose()?;
            tokio::spawn(identity.keep_up(hangup_stream(hangups)));
        } else {
            tokio::spawn(hangup_stream(hangups).for_each(async |()| {
                tracing::info!("SIGHUP does nothing without a TLS certificate");
            }));
        }
        Ok(Self { public, operator, limits })
    }

    /// The address of the routes of tenants.
    pub(crate) fn address(&self) -> SocketAddr {
        self.public.address()
    }

    /// Returns the listeners with their routes, and logs their URLs.
    pub(crate) fn with_routes(self, app: &App, bodies: &BodyBudget) -> Vec<Front> {
        let Self { public, operator, limits } = self;
        tracing::info!("listening on {}", public.url());
        let front = |listener, set, limits| {
            let pages =
                // The console is for people of tenants.
                if set == RouteSet::Operator { Vec::new() } else { portcullis_console::rows(app) };
            let service = router(app.clone(), set, pages, bodies.clone());
            Front { listener, service, limits }
        };
        let Some(operator) = operator else {
            return vec![front(public, RouteSet::Everything, limits)];
        };
        tracing::info!("the operator's routes are on {}", operator.url());
        let of_operator = ConnectionLimits { most: OPERATOR_CONNECTIONS, ..limits };
        vec![
            front(public, RouteSet::Public, limits),
            front(operator, RouteSet::Operator, of_operator),
        ]
    }
}

/// Returns an item for each signal.
fn hangup_stream(hangups: Signal) -> impl Stream<Item = ()> + Send + 'static {
    stream::unfold(hangups, async |mut hangups| hangups.recv().await.map(|()| ((), hangups)))
}

/// Returns the limits of the connections with tenants.
pub(crate) fn limits(config: &EdgeConfig) -> ConnectionLimits {
    let most = descriptors::connections(descriptors::raise_limit());
    let most = config.max_connections.map_or(most, |wanted| wanted.min(most));
    tracing::debug!(connections = most, "limits of connections");
    ConnectionLimits {
        most,
        token: config.max_token,
        idle: config.idle_timeout,
        write: config.write_timeout,
    }
}

/// Binds `address`. The error names the variable that has it.
async fn bind(variable: &str, address: SocketAddr) -> anyhow::Result<Listener> {
    let bound = Listener::bind(address).await;
    bound.with_context(|| {
        format!("{variable}: cannot listen on `{address}` (name another address, or port 0 for a free port)")
    })
}
