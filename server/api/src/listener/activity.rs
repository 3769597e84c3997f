//! The requests of one connection, to know when it is idle and when its client takes no answer.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The requests of one connection.
#[derive(Debug)]
pub(super) struct Activity {
    exchanges: Mutex<Exchanges>,
    /// Notified when another connection takes the place of this one.
    evicted: Notify,
}

#[derive(Debug)]
struct Exchanges {
    next: u64,
    /// The requests without a complete answer. HTTP/2 bounds their number, HTTP/1 has one.
    running: Vec<Running>,
    /// The end of the last request, or the start of the connection.
    idle_since: Instant,
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
    /// The client does not take an answer.
    Stalled,
}

impl Activity {
    /// Returns the activity of a connection that begins now.
    pub(super) fn begin() -> Arc<Self> {
        let exchanges = Exchanges { next: 0, running: Vec::new(), idle_since: Instant::now() };
        Arc::new(Self { exchanges: Mutex::new(exchanges), evicted: Notify::new() })
    }

    /// Counts a request until the exchange is dropped.
    pub(super) fn exchange(self: &Arc<Self>) -> Exchange {
        let mut exchanges = self.exchanges.lock();
        let id = exchanges.next;
        exchanges.next += 1;
        exchanges.running.push(Running { id, take_by: None });
        Exchange { activity: Arc::clone(self), id }
    }

    /// Returns the state. `idle` is the time without a request after which the connection is idle, `write` the
    /// shortest time that an answer waits for the client.
    pub(super) fn state(&self, idle: Duration, write: Duration) -> ConnectionState {
        let now = Instant::now();
        let exchanges = self.exchanges.lock();
        let is_idle = exchanges.running.is_empty();
        let due = exchanges.running.iter().filter_map(|running| running.take_by).min();
        let due = if is_idle { Some(exchanges.idle_since + idle) } else { due };
        match due {
            Some(due) if due <= now && is_idle => ConnectionState::Idle,
            Some(due) if due <= now => ConnectionState::Stalled,
            due => {
                // An answer that begins from now on has its own full time, and so has the idle time.
                let next = now + idle.min(write);
                ConnectionState::Active(due.map_or(next, |due| due.min(next)))
            }
        }
    }

    /// Returns whether no request runs.
    pub(super) fn is_idle(&self) -> bool {
        self.exchanges.lock().running.is_empty()
    }

    /// Lets the idle time begin now.
    pub(super) fn restart_idle_time(&self) {
        self.exchanges.lock().idle_since = Instant::now();
    }

    /// Ends the connection at once, because another one takes its place.
    pub(super) fn evict(&self) {
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
        // An answer may begin at any time.
        assert_eq!(activity.state(IDLE, WRITE), ConnectionState::Active(begun + WRITE));
        assert_eq!(activity.state(WRITE, IDLE), ConnectionState::Active(begun + WRITE));
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
    async fn one_answer_that_waits_is_enough_to_stall_a_connection() {
        let activity = Activity::begin();
        let (stuck, lively) = (activity.exchange(), activity.exchange());
        stuck.take_by(Instant::now() + WRITE);
        tokio::time::advance(WRITE).await;
        lively.take_by(Instant::now() + WRITE);
        assert_eq!(activity.state(IDLE, WRITE), ConnectionState::Stalled);
        drop(stuck);
        let due = Instant::now() + WRITE;
        assert_eq!(activity.state(IDLE, WRITE), ConnectionState::Active(due));
    }
}
