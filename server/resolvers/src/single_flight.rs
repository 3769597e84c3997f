//! A single flight: all callers that wait for the same work wait for one execution.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

/// The executions under way by key, and the past executions whose result is kept.
///
/// The work gives a value `V`. Before that it can publish a note `N` to the callers that wait.
pub(crate) struct SingleFlight<K, V, N = ()>(Mutex<HashMap<K, Flight<V, N>>>);

/// One execution. Every clone waits for the same one.
pub(crate) struct Flight<V, N = ()> {
    begun: Instant,
    value: Shared<BoxFuture<'static, Option<V>>>,
    note: watch::Receiver<Option<N>>,
}

impl<K: Eq + Hash, V: Clone + Send + Sync + 'static, N> SingleFlight<K, V, N> {
    /// Returns the flight of `key`. It begins with the future of `work` unless there is one already.
    ///
    /// The work runs in its own task, so it ends even if no caller waits. A flight that has ended is used again only if
    /// `is_kept` accepts it; the others are dropped, flights of other keys too.
    pub(crate) fn begin<F>(
        &self,
        key: K,
        work: impl FnOnce(watch::Sender<Option<N>>) -> F,
        is_kept: impl Fn(&K, &Flight<V, N>) -> bool,
    ) -> Flight<V, N>
    where
        F: Future<Output = V> + Send + 'static,
    {
        let mut flights = self.0.lock();
        // An ended flight of this key goes, too, unless it is kept, so that `entry` begins a new one.
        flights.retain(|key, flight| flight.is_under_way() || is_kept(key, flight));
        let flight = flights.entry(key).or_insert_with(|| Flight::begin(work));
        flight.clone()
    }

    /// Drops the result of the flight of `key`. A flight under way goes on.
    pub(crate) fn forget(&self, key: &K) {
        self.0.lock().retain(|other, flight| other != key || flight.is_under_way());
    }

    /// Returns the number of flights, with those that have ended and are kept.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

impl<V: Clone + Send + Sync + 'static, N> Flight<V, N> {
    fn begin<F>(work: impl FnOnce(watch::Sender<Option<N>>) -> F) -> Self
    where
        F: Future<Output = V> + Send + 'static,
    {
        let (sender, note) = watch::channel(None);
        // A panic must reach those who wait, as the end of the flight.
        let work = AssertUnwindSafe(work(sender)).catch_unwind();
        let value = work.map(Result::ok).boxed().shared();
        // The callers may give up. The task drives the work in any case.
        tokio::spawn(value.clone());
        Self { begun: Instant::now(), value, note }
    }

    /// Waits for the value. Returns `None` if the work panicked.
    pub(crate) async fn finished(&self) -> Option<V> {
        self.value.clone().await
    }

    /// Waits for the note. Returns `None` if the work ended without one.
    pub(crate) async fn note(&mut self) -> Option<N>
    where
        N: Clone,
    {
        self.note.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Returns the value, if the work has ended without a panic.
    pub(crate) fn value(&self) -> Option<&V> {
        self.value.peek()?.as_ref()
    }

    /// Returns the instant at which the work began.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    fn is_under_way(&self) -> bool {
        self.value.peek().is_none()
    }
}

impl<V: Clone, N> Clone for Flight<V, N> {
    fn clone(&self) -> Self {
        Self { begun: self.begun, value: self.value.clone(), note: self.note.clone() }
    }
}

impl<K, V, N> Default for SingleFlight<K, V, N> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, V, N> fmt::Debug for SingleFlight<K, V, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SingleFlight").field(&self.0.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn none_kept(_: &&str, _: &Flight<u8, u8>) -> bool {
        false
    }

    async fn unwanted(_: watch::Sender<Option<u8>>) -> u8 {
        panic!("a flight of this key is under way")
    }

    #[tokio::test]
    async fn callers_of_one_key_share_one_execution() {
        let flights = SingleFlight::default();
        let (end, ended) = oneshot::channel();
        let first = flights.begin("a", |_| async { ended.await.expect("an end") }, none_kept);
        let second = flights.begin("a", unwanted, none_kept);
        let other = flights.begin("b", |_| async { 2 }, none_kept);
        assert_eq!(other.finished().await, Some(2));
        end.send(1).expect("the work goes on");
        assert_eq!((first.finished().await, second.finished().await), (Some(1), Some(1)));
        let anew = flights.begin("a", |_| async { 3 }, none_kept);
        assert_eq!(anew.finished().await, Some(3));
        assert_eq!(flights.len(), 1, "finished flights of other keys are dropped");
    }

    #[tokio::test]
    async fn work_goes_on_without_callers_and_its_result_can_be_kept() {
        let flights = SingleFlight::default();
        let (end, ended) = oneshot::channel();
        drop(flights.begin("a", |_| async { ended.await.expect("an end") }, none_kept));
        end.send(1).expect("the work goes on");
        while flights.begin("a", unwanted, |_, _| true).value().is_none() {
            tokio::task::yield_now().await;
        }
        let kept = flights.begin("a", unwanted, |_, flight| flight.value() == Some(&1));
        assert_eq!(kept.finished().await, Some(1));
        flights.forget(&"a");
        assert_eq!(flights.len(), 0);
    }

    #[tokio::test]
    async fn the_work_publishes_a_note_before_it_ends() {
        let flights = SingleFlight::default();
        let (end, ended) = oneshot::channel();
        let work = |note: watch::Sender<Option<u8>>| async move {
            note.send_replace(Some(7));
            ended.await.expect("an end")
        };
        let mut flight = flights.begin("a", work, none_kept);
        assert_eq!(flight.note().await, Some(7));
        flights.forget(&"a");
        assert_eq!(flights.len(), 1, "it is under way");
        end.send(1).expect("the work goes on");
        assert_eq!(flight.finished().await, Some(1));
        let mut silent = flights.begin("a", |_| async { 2 }, none_kept);
        assert_eq!(silent.note().await, None);
    }

    #[tokio::test]
    async fn a_panic_ends_the_flight_without_a_value() {
        let flights = SingleFlight::default();
        let broken = flights.begin("a", |_| async { panic!("a fault") }, none_kept);
        assert_eq!(broken.finished().await, None);
        let anew = flights.begin("a", |_| async { 1 }, none_kept);
        assert_eq!(anew.finished().await, Some(1));
    }
}
