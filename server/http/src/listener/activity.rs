//! The requests of one connection, to know when it is idle and when its client takes no answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::HEADER_TIMEOUT;

/// The requests of one connection.
#[derive(Debug)]
pub(super) struct Activity {
    exchanges: Mutex<Exchanges>,
    /// Notified when another connection takes the place of this one.
    evicted: Notify,
    /// Whether the next answer of HTTP/1 is the last one.
    ends_with_answer: AtomicBool,
}

/// The protocol of a connection, once its client has shown it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

#[derive(Debug)]
struct Exchanges {
    next: u64,
    /// The requests without a complete answer. HTTP/2 bounds their number, HTTP/1 has one.
    running: Vec<Running>,
    /// The end of the last request, or the start of the connection.
    idle_since: Instant,
    protocol: Option<Protocol>,
    /// The arrival of the first bytes of a header of HTTP/1 that is not complete.
    header_since: Option<Instant>,
}

#[derive(Debug)]
struct Running {
    id: u64,
    /// The instant until which the client must take the next piece of the answer; `None` before the answer.
    take_by: Option<Instant>,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionState {
    /// It runs requests, or ran one a short time ago. The state cannot change to another one before this instant.
    Active(Instant),
    /// It runs no request, and did not for the idle time.
    Idle,
    /// The client does not take an answer, or does not complete a header.
    Stalled,
}

impl Activity {
    /// Returns the activity of a connection that begins now.
    pub(super) fn begin() -> Arc<Self> {
        let exchanges = Exchanges {
            next: 0,
            running: Vec::new(),
            idle_since: Instant::now(),
            protocol: None,
            header_since: None,
        };
        Arc::new(Self {
            exchanges: Mutex::new(exchanges),
            evicted: Notify::new(),
            ends_with_answer: AtomicBool::new(false),
        })
    }

    /// Notes that bytes of this protocol arrived. Between two requests of HTTP/1 they begin a header.
    pub(super) fn note_bytes(&self, protocol: Protocol) {
        let mut exchanges = self.exchanges.lock();
        exchanges.protocol = Some(protocol);
        if protocol == Protocol::Http1 && exchanges.running.is_empty() {
            exchanges.header_since.get_or_insert_with(Instant::now);
        }
    }

    /// Returns the protocol, if the client has shown it.
    pub(super) fn protocol(&self) -> Option<Protocol> {
        self.exchanges.lock().protocol
    }

    /// Makes the next answer of HTTP/1 the last one.
    pub(super) fn end_with_answer(&self) {
        self.ends_with_answer.store(true, Ordering::Relaxed);
    }

    /// Returns whether an answer of HTTP/1 is the last one.
    pub(super) fn ends_with_answer(&self) -> bool {
        self.ends_with_answer.load(Ordering::Relaxed)
    }

    /// Counts a request until the exchange is dropped.
    pub(super) fn exchange(self: &Arc<Self>) -> Exchange {
        let mut exchanges = self.exchanges.lock();
        let id = exchanges.next;
        exchanges.next += 1;
        // A request begins when its header is complete.
        exchanges.header_since = None;
        exchanges.running.push(Running { id, take_by: None });
        Exchange { activity: Arc::clone(self), id }
    }

    /// Returns the state. `idle` is the time without a request after which the connection is idle, `write` the
    /// shortest time that an answer waits for the client.
    pub(super) fn state(&self, idle: Duration, write: Duration) -> ConnectionState {
        let now = Instant::now();
        let exchanges = self.exchanges.lock();
        let is_idle = exchanges.running.is_empty();
        // A header is on its way only while no request runs.
        let due = match exchanges.header_since {
            // After a goodbye, the time of a header that had begun counts from the goodbye.
            Some(since) => Some(since.max(exchanges.idle_since) + HEADER_TIMEOUT.min(idle)),
            None if is_idle => Some(exchanges.idle_since + idle),
            None => exchanges.running.iter().filter_map(|running| running.take_by).min(),
        };
        let is_idle = is_idle && exchanges.header_since.is_none();
        match due {
            Some(due) if due <= now && is_idle => ConnectionState::Idle,
            Some(due) if due <= now => ConnectionState::Stalled,
            due => {
                // An answer and a header that begin from now on have their own full time, and so has the idle time.
                let next = now + idle.min(write).min(HEADER_TIMEOUT);
                ConnectionState::Active(due.map_or(next, |due| due.min(next)))
            }
        }
    }

    /// Returns whether no request runs or arrives.
    pub(super) fn is_idle(&self) -> bool {
        let exchanges = self.exchanges.lock();
        exchanges.running.is_empty() && exchanges.header_since.is_none()
    }

    /// Lets the idle time begin now.
    pub(super) fn restart_idle_time(&self) {
        self.exchanges.lock().idle_since = Instant::now();
    }

    /// Ends the connection at once, because another one takes its place.
    pub(super) fn evict(&self) {
        // The permit stays until the connection looks, even if it does not wait at this moment.
        self.evicted.notify_one();
    }

    /// Done when the connection has lost its place.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

/// A request and its answer. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Exchange {
    activity: Arc<Activity>,
    id: u64,
}

impl Exchange {
    /// Sets the instant until which the client must take the next piece of the answer.
    pub(super) fn take_by(&self, instant: Instant) {
        let mut exchanges = self.activity.exchanges.lock();
        let own = exchanges.running.iter_mut().find(|running| running.id == self.id);
        if let Some(own) = own {
            own.take_by = Some(instant);
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut exchanges = self.activity.exchanges.lock();
        exchanges.running.retain(|running| running.id != self.id);
        exchanges.idle_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);
    const WRITE: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_after_its_last_request() {
        let activity = Activity::begin();
        let begun = Instant::now();
        // A header may begin at any time, and an answer.
        let (short, next) = (HEADER_TIMEOUT / 2, ConnectionState::Active(begun + HEADER_TIMEOUT));
        assert_eq!(activity.state(IDLE, WRITE), next);
        let next = ConnectionState::Active(begun + short);
        assert_eq!((activity.state(IDLE, short), activity.state(short, WRITE)), (next, next));
        let exchange = activity.exchange();
        tokio::time::advance(2 * IDLE).await;
        assert!(matches!(activity.state(IDLE, WRITE), ConnectionState::Active(_)));
        drop(exchange);
        assert!(activity.is_idle());
        let (dropped, almost) = (begun + 2 * IDLE, IDLE - Duration::from_secs(1));
        tokio::time::advance(almost).await;
        assert_eq!(activity.state(IDLE, WRITE), ConnectionState::Active(dropped + IDLE));
        tokio::time::advance(IDLE - almost).await;
        assert_eq!(activity.state(IDLE, WRITE), ConnectionState::Idle);
        activity.restart_idle_time();
        assert!(matches!(activity.state(IDLE, WRITE), ConnectionState::Active(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_header_that_is_not_complete_is_no_idle_time() {
        let activity = Activity::begin();
        let begun = Instant::now();
        for protocol in [Protocol::Http2, Protocol::Http1] {
            activity.note_bytes(protocol);
            assert_eq!(
                (activity.protocol(), activity.is_idle()),
                (Some(protocol), protocol == Protocol::Http2)
            );
        }
        let almost = HEADER_TIMEOUT - Duration::from_secs(1);
        tokio::time::advance(almost).await;
        // More bytes give no more time, and no idle time counts.
        activity.note_bytes(Protocol::Http1);
        let due = ConnectionState::Active(begun + HEADER_TIMEOUT);
        assert_eq!(activity.state(IDLE, WRITE), due);
        tokio::time::advance(HEADER_TIMEOUT - almost).await;
        assert_eq!(activity.state(IDLE, WRITE), ConnectionState::Stalled);
        // A goodbye leaves it a moment.
        activity.restart_idle_time();
        let moment = Duration::from_secs(1);
        let due = ConnectionState::Active(Instant::now() + moment);
        assert_eq!(activity.state(moment, WRITE), due);
        let exchange = activity.exchange();
        activity.note_bytes(Protocol::Http1);
        drop(exchange);
        assert!(activity.is_idle(), "the bytes of a body begin no header");
    }

    #[tokio::test(start_paused = true)]
    async fn one_answer_that_waits_is_enough_to_stall_a_connection() {
        let activity = Activity::begin();
        let (stuck, lively) = (activity.exchange(), activity.exchange());
        stuck.take_by(Instant::now() + WRITE);
        tokio::time::advance(WRITE).await;
        lively.take_by(Instant::now() + WRITE);
        assert_eq!(activity.state(IDLE, WRITE), ConnectionState::Stalled);
        drop(stuck);
        let due = Instant::now() + HEADER_TIMEOUT;
        assert_eq!(activity.state(IDLE, WRITE), ConnectionState::Active(due));
    }
}
