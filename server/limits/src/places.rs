//! Places for the requests of each class: how many run at a time, and which of the others wait or are refused.
//!
//! While less than half of the places of a class are taken, a request takes one with a single atomic operation. Beyond
//! that, the places and the waiting requests are counted by tenant, behind a lock. No tenant has more than a quarter of
//! all places of a class beyond the half that is free for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_fairness::TenantLines;
use prometheus_client::metrics::gauge::Gauge;
use strum::VariantArray;
use tokio::sync::oneshot;

use crate::classes::Class;
use crate::metrics::{LimitMetrics, RefusalReason};
use crate::rate::Moment;

/// Places of the operator: more than a person and a few scripts need.
const OPERATOR_PLACES: u32 = 16;
/// The longest wait is this many times the time after which newer requests are refused.
const LONGEST_WAIT: u32 = 4;

/// The number of places of each class that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCapacities {
    pub checks: u32,
    pub management: u32,
    pub uploads: u32,
}

impl Default for ClassCapacities {
    /// Most checks run for microseconds. Checks that wait for resolvers or plans are the ones that need many places.
    /// Management waits for the database, which serves fewer at a time: more places would only let more wait there.
    fn default() -> Self {
        Self { checks: 1_024, management: 64, uploads: 16 }
    }
}

/// The places of all classes, in their order.
#[derive(Debug)]
pub struct Places([Arc<ClassPlaces>; 4]);

/// The answer to a request for a place.
#[derive(Debug)]
pub enum Admission {
    Entered(RequestPlace),
    /// The place comes later.
    Waiting(WaitingRequest),
    Refused(RefusalReason),
}

/// A place. It becomes free when it is dropped.
#[derive(Debug)]
pub struct RequestPlace {
    class: Arc<ClassPlaces>,
    /// The tenant for which the place is counted.
    tenant: Option<Arc<str>>,
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        self.class.leave(self.tenant.take());
    }
}

/// A request that waits for a place, until it is dropped.
#[derive(Debug)]
pub struct WaitingRequest {
    class: Arc<ClassPlaces>,
    tenant: Arc<str>,
    ticket: u64,
    /// Whether the place is counted for the tenant.
    is_counted: oneshot::Receiver<bool>,
}

impl WaitingRequest {
    /// Waits for the place.
    pub async fn place(&mut self) -> RequestPlace {
        match (&mut self.is_counted).await {
            Ok(is_counted) => self.class.place(is_counted.then_some(&self.tenant)),
            // The class keeps the sender until it sends.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        if self.class.is_given_up(&self.tenant, self.ticket) {
            return;
        }
        // The place came, and nobody may have taken it.
        // Whoever took the place has emptied the channel.
        if let Ok(is_counted) = self.is_counted.try_recv() {
            drop(self.class.place(is_counted.then_some(&self.tenant)));
        }
    }
}

impl Places {
    pub(crate) fn new(capacities: &ClassCapacities, metrics: &LimitMetrics) -> Self {
        let classes = [
            (Class::Checks, capacities.checks),
            (Class::Operator, OPERATOR_PLACES),
            (Class::Management, capacities.management),
            (Class::Uploads, capacities.uploads),
        ];
        Self(classes.map(|(class, places)| Arc::new(ClassPlaces::new(class, places, metrics))))
    }

    /// Returns a place of `class` for a request of `tenant`, or a wait for one.
    pub fn enter(&self, class: Class, tenant: &str, now: Moment) -> Admission {
        let class = self.for_class(class);
        // Half of the places are free for all: while nobody waits, they need no lock and no look at the tenant.
        if class.waiting.get() == 0 && class.take(class.limit() / 2) {
            return Admission::Entered(class.place(None));
        }
        class.enter_behind_lock(&Arc::from(tenant), now)
    }

    /// Returns whether so many requests of `class` wait that no more may wait.
    pub fn is_full(&self, class: Class) -> bool {
        let class = self.for_class(class);
        class.waiting.get() >= class.most_waiting
    }

    /// Returns the longest time that a request of `class` may wait.
    pub fn longest_wait(&self, class: Class) -> Duration {
        self.for_class(class).patience * LONGEST_WAIT
    }

    fn for_class(&self, class: Class) -> &Arc<ClassPlaces> {
        // There is one for each class, in the order of the classes.
        &self.0[class as usize]
    }
}

/// The places of one class.
#[derive(Debug)]
struct ClassPlaces {
    places: i64,
    /// Most waiting requests: as many as there are places, so that the last waits about as long as a request takes.
    most_waiting: i64,
    /// If the oldest waiting request of a tenant waits longer, its new ones are refused.
    patience: Duration,
    running: Gauge,
    waiting: Gauge,
    /// The waiting requests of the classes that go before this one.
    earlier: Vec<Gauge>,
    requests: Mutex<Requests>,
}

/// The requests that are counted by tenant: those with places, and those that wait.
type Requests = TenantLines<Waiter>;

/// A request that waits.
#[derive(Debug)]
struct Waiter {
    since: Moment,
    /// Gets whether the place is counted for the tenant.
    place: oneshot::Sender<bool>,
}

impl ClassPlaces {
    fn new(class: Class, places: u32, metrics: &LimitMetrics) -> Self {
        let earlier = Class::VARIANTS.iter().copied().filter(|other| *other < class);
        let places = i64::from(places.max(1));
        Self {
            places,
            most_waiting: places,
            patience: patience(class),
            running: metrics.running(class),
            waiting: metrics.waiting(class),
            earlier: earlier.map(|class| metrics.waiting(class)).collect(),
            requests: Mutex::default(),
        }
    }

    /// Returns how many requests may run now: a quarter of the places while requests of an earlier class wait.
    fn limit(&self) -> i64 {
        if self.earlier.iter().any(|waiting| waiting.get() > 0) {
            return (self.places / 4).max(1);
        }
        self.places
    }

    /// Returns the most counted places of one tenant.
    fn share(&self) -> usize {
        usize::try_from(self.places / 4).unwrap_or(usize::MAX).max(1)
    }

    /// Takes a place if less than `limit` are taken.
    fn take(&self, limit: i64) -> bool {
        let taken =
            self.running.inner().fetch_update(Ordering::SeqCst, Ordering::SeqCst, |running| {
                (running < limit).then_some(running + 1)
            });
        taken.is_ok()
    }

    /// Takes a place of the half that is free for all.
    fn take_free(&self, requests: &Requests) -> bool {
        let running = self.running.inner().load(Ordering::SeqCst);
        let counted = i64::try_from(requests.running()).unwrap_or(i64::MAX);
        let limit = self.limit();
        running.saturating_sub(counted) < limit / 2 && self.take(limit)
    }

    /// Enters, waits or is refused, while many places are taken.
    fn enter_behind_lock(self: &Arc<Self>, tenant: &Arc<str>, now: Moment) -> Admission {
        let mut requests = self.requests.lock();
        // Counted before the last look at the places: whoever leaves one from now on sees that somebody waits.
        self.waiting_count().fetch_add(1, Ordering::SeqCst);
        // Whoever waits goes first. There may be places since no request of an earlier class waits any more.
        self.serve_waiting(&mut requests);
        let waiting = requests.counts(tenant).waiting;
        let oldest = requests.first(tenant).map(|waiter| waiter.since);
        // A request goes behind those of its own tenant that wait already.
        let place = if waiting == 0 { self.place_now(&mut requests, tenant) } else { None };
        if let Some(place) = place {
            self.waiting_count().fetch_sub(1, Ordering::SeqCst);
            return Admission::Entered(place);
        }
        if let Some(reason) = self.refusal(waiting, oldest, now) {
            self.waiting_count().fetch_sub(1, Ordering::SeqCst);
            return Admission::Refused(reason);
        }
        let (place, is_counted) = oneshot::channel();
        let ticket = requests.push(tenant, Waiter { since: now, place });
        let (class, tenant) = (Arc::clone(self), Arc::clone(tenant));
        Admission::Waiting(WaitingRequest { class, tenant, ticket, is_counted })
    }

    /// Returns a place for a request of `tenant` if it may have one.
    fn place_now(
        self: &Arc<Self>,
        requests: &mut Requests,
        tenant: &Arc<str>,
    ) -> Option<RequestPlace> {
        if self.take_free(requests) {
            return Some(self.place(None));
        }
        if requests.counts(tenant).running < self.share() && self.take(self.limit()) {
            requests.begin(tenant);
            return Some(self.place(Some(tenant)));
        }
        None
    }

    /// Returns why one more request of a tenant may not wait, if `waiting` of its requests do, the oldest since `oldest`.
    fn refusal(
        &self,
        waiting: usize,
        oldest: Option<Moment>,
        now: Moment,
    ) -> Option<RefusalReason> {
        if oldest.is_some_and(|oldest| now.since(oldest) > self.patience) {
            return Some(RefusalReason::QueueTime);
        }
        // The new request is counted as waiting already.
        let most_of_tenant = usize::try_from(self.most_waiting / 2).unwrap_or(usize::MAX).max(1);
        (self.waiting.get() > self.most_waiting || waiting >= most_of_tenant)
            .then_some(RefusalReason::QueueFull)
    }

    /// Takes a request that nobody waits for out of its line. Returns whether it was there.
    fn is_given_up(&self, tenant: &Arc<str>, ticket: u64) -> bool {
        let mut requests = self.requests.lock();
        let was_waiting = requests.remove(tenant, ticket).is_some();
        if was_waiting {
            self.waiting_count().fetch_sub(1, Ordering::SeqCst);
        }
        was_waiting
    }

    /// Gives a place back.
    fn leave(self: &Arc<Self>, tenant: Option<Arc<str>>) {
        let Some(tenant) = tenant else {
            self.running.inner().fetch_sub(1, Ordering::SeqCst);
            // Read after the place is free: a request that counts itself as waiting later finds the place on its own.
            if self.waiting_count().load(Ordering::SeqCst) > 0 {
                self.serve_waiting(&mut self.requests.lock());
            }
            return;
        };
        let mut requests = self.requests.lock();
        requests.end(&tenant);
        self.running.inner().fetch_sub(1, Ordering::SeqCst);
        self.serve_waiting(&mut requests);
    }

    /// Gives free places to waiting requests.
    fn serve_waiting(&self, requests: &mut Requests) {
        loop {
            let is_counted = !self.take_free(requests);
            if is_counted && !self.take(self.limit()) {
                return;
            }
            let share = if is_counted { self.share() } else { usize::MAX };
            let Some((tenant, waiter)) = requests.next(share) else {
                // Nobody who waits may have this place now.
                self.running.inner().fetch_sub(1, Ordering::SeqCst);
                return;
            };
            self.waiting_count().fetch_sub(1, Ordering::SeqCst);
            if is_counted {
                requests.begin(&tenant);
            }
            // The receiver is there: who drops it takes the request out of its line first.
            let _ = waiter.place.send(is_counted);
        }
    }

    /// Returns a place that is taken already, counted for `tenant` if there is one.
    fn place(self: &Arc<Self>, tenant: Option<&Arc<str>>) -> RequestPlace {
        RequestPlace { class: Arc::clone(self), tenant: tenant.cloned() }
    }

    fn waiting_count(&self) -> &AtomicI64 {
        self.waiting.inner()
    }
}

/// Returns how long the oldest request of a tenant may wait before new ones are refused: some times what a request of the
/// class takes, and less than a client waits for its answer.
fn patience(class: Class) -> Duration {
    match class {
        Class::Checks => Duration::from_millis(500),
        Class::Operator | Class::Management => Duration::from_secs(2),
        Class::Uploads => Duration::from_secs(5),
    }
}

#[cfg(test)]
mod tests;
