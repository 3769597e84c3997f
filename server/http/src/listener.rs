//! The accept loop: connections with limits, and a shutdown that lets running requests finish.
//!
//! `axum::serve` sets no limits: a client that sends half a header would hold its connection forever.

mod activity;
mod answer;
mod connection;
mod limits;
mod opening;
mod places;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use portcullis_fairness::Throttle;
use portcullis_runtime::edge_metrics::ConnectionMetrics;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use crate::service::HttpService;
use activity::Activity;
use connection::{Connection, Serving};
pub use limits::ConnectionLimits;
use places::ConnectionPlaces;
pub use tls::{TlsError, TlsIdentity};

/// Longest time for running requests after the start of a shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after a failed accept. Without a free file descriptor the next accept would fail at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A port that is bound but not served yet.
pub struct Listener {
    tcp: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl Listener {
    /// Binds `address`; port 0 takes a free one.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let tcp = TcpListener::bind(address).await?;
        let address = tcp.local_addr()?;
        Ok(Self { tcp, address, tls: None })
    }

    /// Encrypts the connections.
    ///
    /// # Errors
    /// The cryptography does not support the versions of TLS.
    pub fn with_tls(self, identity: &TlsIdentity) -> Result<Self, rustls::Error> {
        Ok(Self { tls: Some(identity.acceptor()?), ..self })
    }

    /// The address that is bound.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the service at this address.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves by `service` until `stop` is done. Then it accepts no connections, closes idle ones, and lets running
    /// requests finish for ten seconds.
    pub async fn serve(
        self,
        service: HttpService,
        limits: ConnectionLimits,
        metrics: ConnectionMetrics,
        stop: impl Future<Output = ()>,
    ) {
        let (stopping, stopped) = watch::channel(false);
        let builder = limits::connection_builder(limits);
        let places = ConnectionPlaces::new(limits.most, metrics);
        let serving = Serving { builder, service, tls: self.tls, limits, stopped };
        let mut stop = std::pin::pin!(stop);
        let (failed, refused) = (Throttle::default(), Throttle::default());
        loop {
            let accepted = tokio::select! {
                accepted = self.tcp.accept() => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok(accepted) => begin(&serving, &places, accepted, &refused),
                Err(error) => {
                    if let Some(unwritten) = failed.pass(Instant::now()) {
                        tracing::warn!(%error, count = unwritten + 1, "cannot accept connections");
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        // A closed socket refuses new connections. `serving` has a receiver, with which the wait below would not end.
        drop((self.tcp, serving));
        stopping.send_replace(true);
        // Each connection holds a receiver until it ends.
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, stopping.closed()).await.is_err() {
            tracing::warn!("stopped while requests were still running");
        }
    }
}

/// Serves an accepted connection in its own task, if there is a place for it.
fn begin(
    serving: &Serving,
    places: &Arc<ConnectionPlaces>,
    (stream, peer): (TcpStream, SocketAddr),
    refused: &Throttle,
) {
    let (peer, activity) = (peer.ip().to_canonical(), Activity::begin());
    // Without a place the stream is dropped, which closes the connection.
    let Some(place) = places.take(peer, &activity) else {
        if let Some(unwritten) = refused.pass(Instant::now()) {
            tracing::warn!(%peer, count = unwritten + 1, "refused connections: there are too many");
        }
        return;
    };
    let connection = Connection { serving: serving.clone(), peer, activity };
    tokio::spawn(async move {
        connection.run(stream).await;
        drop(place);
    });
}
