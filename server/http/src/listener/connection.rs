//! One connection: it is served until it ends, is idle, takes no answer, loses its place, or the service stops.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::activity::{Activity, ConnectionState, Protocol};
use super::answer::AnswerBody;
use super::limits::ConnectionLimits;
use super::opening::Opening;
use crate::page_stream::LiveAnswer;
use crate::peer::Peer;
use crate::service::HttpService;

/// Longest time for a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time between the goodbye to a client and the end of its connection, if no request runs.
const GOODBYE: Duration = Duration::from_secs(1);

/// The parts that all connections of a listener share.
#[derive(Clone)]
pub(super) struct Serving {
    pub(super) builder: auto::Builder<TokioExecutor>,
    pub(super) service: HttpService,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) limits: ConnectionLimits,
    /// Becomes true when the service stops.
    pub(super) stopped: watch::Receiver<bool>,
}

/// An accepted connection.
pub(super) struct Connection {
    pub(super) serving: Serving,
    pub(super) peer: IpAddr,
    pub(super) activity: Arc<Activity>,
}

impl Connection {
    /// Serves the connection until it ends.
    pub(super) async fn run(mut self, stream: TcpStream) {
        // Answers are small and complete, so that waiting to fill a segment would only delay them.
        let _ = stream.set_nodelay(true);
        let Some(tls) = self.serving.tls.take() else { return self.serve(stream).await };
        if let Some(stream) = self.shake_hands(&tls, stream).await {
            // The handshake has its own time.
            self.activity.restart_idle_time();
            self.serve(stream).await;
        }
    }

    /// Returns the encrypted stream. Returns `None` if the handshake fails, takes too long, or is not wanted any more.
    async fn shake_hands(
        &mut self,
        tls: &TlsAcceptor,
        stream: TcpStream,
    ) -> Option<TlsStream<TcpStream>> {
        let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream));
        tokio::select! {
            done = handshake => done.ok()?.ok(),
            () = self.activity.evicted() => None,
            _ = self.serving.stopped.wait_for(|stopped| *stopped) => None,
        }
    }

    async fn serve<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { serving, peer, activity } = self;
        let Serving { builder, service, limits, stopped, .. } = serving;
        let io = TokioIo::new(Opening::new(stream, Arc::clone(&activity)));
        let taken = service.answers_of_connection();
        let peer = Peer { address: peer, answers: taken, most_header: limits.header() };
        let answers = answers(service, peer, Arc::clone(&activity), limits.write);
        let mut connection = pin!(builder.serve_connection(io, answers));
        let mut idle = limits.idle;
        let mut goodbye = None;
        loop {
            let look = match activity.state(idle, limits.write) {
                ConnectionState::Stalled => return,
                ConnectionState::Idle if goodbye == Some(Goodbye::Closing) => return,
                ConnectionState::Idle => None,
                ConnectionState::Active(until) => Some(until),
            };
            if let Some(look) = look {
                // Once the service stops, it would interrupt without end.
                let stopped = goodbye.is_none().then(|| stopped.clone());
                // In its own set, which polls it only when it is woken: a request that arrives wakes the task of
                // the connection, but costs no look at timers and at what all connections share.
                let mut interruption = FuturesUnordered::new();
                interruption.push(interrupted(&activity, look, stopped));
                tokio::select! {
                    biased;
                    // A broken connection is not a fault of the service.
                    _ = connection.as_mut() => return,
                    Some(interruption) = interruption.next() => match interruption {
                        Interruption::Evicted => return,
                        Interruption::Look => continue,
                        Interruption::Stopped => {}
                    },
                }
            }
            // The client learns that the next request needs another connection: HTTP/2 by a frame, HTTP/1 by an answer, for
            // which it has a moment. What is on its way is answered.
            let next = match goodbye {
                None if activity.protocol() == Some(Protocol::Http1) => Goodbye::LastAnswer,
                _ => Goodbye::Closing,
            };
            match next {
                Goodbye::LastAnswer => activity.end_with_answer(),
                Goodbye::Closing => connection.as_mut().graceful_shutdown(),
            }
            activity.restart_idle_time();
            (goodbye, idle) = (Some(next), GOODBYE);
        }
    }
}

/// The steps to the end of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goodbye {
    /// The next answer says that it is the last one.
    LastAnswer,
    /// The connection ends when no request runs.
    Closing,
}

/// The reason why a connection is looked at while it is served.
enum Interruption {
    /// Another connection takes its place.
    Evicted,
    /// The state may be another one by now.
    Look,
    /// The service stops.
    Stopped,
}

/// Waits for the first interruption of a connection: an eviction, the instant `look`, or the stop of the service.
async fn interrupted(
    activity: &Activity,
    look: Instant,
    stopped: Option<watch::Receiver<bool>>,
) -> Interruption {
    let stop = async {
        match stopped {
            // An error says that the sender is gone, which is a stop, too.
            Some(mut stopped) => drop(stopped.wait_for(|stopped| *stopped).await),
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = activity.evicted() => Interruption::Evicted,
        () = tokio::time::sleep_until(look) => Interruption::Look,
        () = stop => Interruption::Stopped,
    }
}

/// Returns what answers the requests of a connection by `service`.
fn answers(
    service: HttpService,
    peer: Peer,
    activity: Arc<Activity>,
    write: Duration,
) -> impl Service<
    Request<Incoming>,
    Response = Response<AnswerBody>,
    Error = Infallible,
    Future: Send + 'static,
> {
    service_fn(move |request: Request<Incoming>| {
        let exchange = activity.exchange();
        let (service, peer) = (service.clone(), peer.clone());
        let (activity, is_http1) = (Arc::clone(&activity), request.version() < Version::HTTP_2);
        async move {
            let mut answer = service.answer_to(Some(peer), request).await;
            if is_http1 && activity.ends_with_answer() {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            let is_live = answer.extensions().get::<LiveAnswer>().is_some();
            Ok(answer.map(|body| {
                let body = AnswerBody::new(body, exchange, write);
                if is_live { body.live() } else { body }
            }))
        }
    })
}
