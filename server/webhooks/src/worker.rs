//! Claims lanes that are due and has them served, several at once. It sleeps until something is due or
//! somebody wakes it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::courier::Courier;
use portcullis_storage::lanes::{self, Lane};
use portcullis_storage::{Store, StoreError};

/// Lanes that are served at a time. Each needs a socket, and memory for an event and an answer.
const MAX_LANES: usize = 256;
/// As many of them may be slow: receivers that are dead or slow leave room to all others.
const MAX_SLOW_LANES: usize = 128;
/// The longest sleep: a notification can get lost.
const MAX_SLEEP: Duration = Duration::from_secs(5);
/// Pause when the store fails, and when what is due cannot be claimed.
const PAUSE: Duration = Duration::from_secs(1);
/// How long attempts may take once the process is to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Delivers events, in the background.
#[derive(Debug)]
pub struct Worker {
    courier: Arc<Courier>,
    store: Store,
    /// Names what this process was before it was started again.
    place: String,
    wake: Arc<Notify>,
    slow_lanes: Arc<AtomicUsize>,
}

impl Worker {
    pub fn new(courier: Arc<Courier>, place: String, wake: Arc<Notify>) -> Self {
        let store = courier.store.clone();
        Self { courier, store, place, wake, slow_lanes: Arc::default() }
    }

    /// Delivers until the courier is told to stop, and then finishes what is under way.
    pub async fn run(self) {
        let mut served = JoinSet::new();
        let mut taken_over = false;
        while !self.courier.is_stopping() {
            if !taken_over {
                taken_over = self.take_over().await;
            }
            let pause = self.claim(&mut served).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "cannot look for something to deliver");
                PAUSE
            });
            tokio::select! {
                () = self.wake.notified() => {}
                Some(_) = served.join_next() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        let rest = async { while served.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, rest).await.is_err() {
            tracing::warn!("stopped with deliveries under way; they will be made again");
        }
    }

    /// Gives back what this process held when it ended; false when the store is down.
    async fn take_over(&self) -> bool {
        let release: Result<u64, StoreError> = async {
            let mut tx = self.store.write_all().await?;
            let count = lanes::release_all(&mut tx, &self.place).await?;
            tx.commit().await?;
            Ok(count)
        }
        .await;
        match &release {
            Ok(count) => tracing::debug!(count, "took over lanes of webhooks"),
            Err(error) => tracing::warn!(%error, "cannot take over lanes of webhooks"),
        }
        release.is_ok()
    }

    /// Has lanes served that are due, as far as there is room, and gives how long to sleep.
    async fn claim(&self, served: &mut JoinSet<()>) -> Result<Duration, StoreError> {
        while served.try_join_next().is_some() {}
        let room = MAX_LANES.saturating_sub(served.len());
        if room == 0 {
            return Ok(MAX_SLEEP);
        }
        let terms = self.courier.terms();
        let mut tx = self.store.read_all().await?;
        let due = lanes::next_due(&mut tx, terms.holder).await?;
        tx.end().await?;
        match due {
            None => return Ok(MAX_SLEEP),
            Some(due) if terms.is_ahead(due) => {
                let millis = u64::try_from(due - terms.now.millis()).unwrap_or(0);
                return Ok(Duration::from_millis(millis).min(MAX_SLEEP));
            }
            Some(_) => {}
        }
        let slow_room = MAX_SLOW_LANES.saturating_sub(self.slow_lanes.load(Ordering::Relaxed));
        let mut tx = self.store.write_all().await?;
        let mut claimed = lanes::claim(&mut tx, &terms, false, room).await?;
        let slow_room = slow_room.min(room - claimed.len());
        claimed.extend(lanes::claim(&mut tx, &terms, true, slow_room).await?);
        tx.commit().await?;
        if claimed.is_empty() {
            return Ok(PAUSE);
        }
        claimed.into_iter().for_each(|lane| self.start(served, lane));
        Ok(Duration::ZERO)
    }

    fn start(&self, served: &mut JoinSet<()>, lane: Lane) {
        let courier = Arc::clone(&self.courier);
        let room = lane.slow.then(|| SlowLane::enter(&self.slow_lanes));
        served.spawn(async move {
            let _room = room;
            // A fault of ours must not hold the lane for ever.
            if AssertUnwindSafe(courier.serve(&lane)).catch_unwind().await.is_err() {
                tracing::error!(webhook = %lane.webhook, "the delivery to a webhook panicked");
                courier.give_back(&lane).await;
            }
        });
    }
}

/// Counts a slow lane for as long as it is served, however that ends.
struct SlowLane(Arc<AtomicUsize>);

impl SlowLane {
    fn enter(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for SlowLane {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
