//! The tenants whose plans are made before checks ask for them (`docs/semantics.md`, section 2.11).

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_plan_cache::WarmedTenant;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The most tenants whose plans wait to be made. Those of others are loaded by their checks.
const MAX_WAITING: usize = 1_024;
/// The longest rest, and the rest after a failure.
pub(super) const MAX_REST: Duration = Duration::from_secs(10);

/// The tenants whose plans are made before checks ask for them.
#[derive(Debug, Default)]
pub(super) struct Warming {
    tenants: Mutex<Tenants>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Tenants {
    /// The passes that wait. A part of the first one is next.
    waiting: VecDeque<Pass>,
    /// The tenants of all passes, with those that run.
    known: HashSet<Arc<str>>,
    /// The instant from which the next pass of a tenant may begin.
    resting: HashMap<Arc<str>, Instant>,
}

/// A pass over the plans of a tenant.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) tenant: Arc<str>,
    /// `None` before the first part.
    pub(super) warmed: Option<WarmedTenant>,
    /// The last pattern of the parts so far.
    pub(super) after: String,
    /// The time that the parts took.
    pub(super) spent: Duration,
}

impl Warming {
    /// Adds a pass over the plans of `tenant`, unless there is one, the tenant rests, or too many wait.
    pub(super) fn want(&self, tenant: &str, now: Instant) {
        let mut tenants = self.tenants.lock();
        let Tenants { waiting, known, resting } = &mut *tenants;
        let rests = resting.get(tenant).is_some_and(|end| now < *end);
        if rests || known.contains(tenant) || known.len() >= MAX_WAITING {
            return;
        }
        let tenant: Arc<str> = tenant.into();
        known.insert(Arc::clone(&tenant));
        let (warmed, after, spent) = (None, String::new(), Duration::ZERO);
        waiting.push_back(Pass { tenant, warmed, after, spent });
        drop(tenants);
        self.added.notify_one();
    }

    pub(super) fn next(&self) -> Option<Pass> {
        self.tenants.lock().waiting.pop_front()
    }

    /// Puts a pass at the end of the line.
    pub(super) fn go_on(&self, pass: Pass) {
        self.tenants.lock().waiting.push_back(pass);
    }

    /// Ends a pass. The tenant rests for `rest`.
    pub(super) fn end(&self, pass: &Pass, rest: Duration, now: Instant) {
        let mut tenants = self.tenants.lock();
        let Tenants { known, resting, .. } = &mut *tenants;
        known.remove(&pass.tenant);
        // Those who have rested go, so that only the tenants of the last seconds take memory.
        resting.retain(|_, end| now < *end);
        resting.insert(Arc::clone(&pass.tenant), now + rest.min(MAX_REST));
    }

    /// Waits until a pass was added since the last call.
    pub(super) async fn added(&self) {
        self.added.notified().await;
    }

    /// Returns the number of tenants.
    pub(super) fn len(&self) -> usize {
        let tenants = self.tenants.lock();
        tenants.known.len() + tenants.resting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_has_one_pass_and_rests_after_it() {
        let (warming, now) = (Warming::default(), Instant::now());
        warming.want("acme", now);
        warming.want("acme", now);
        let pass = warming.next().expect("one");
        warming.want("acme", now);
        assert!(warming.next().is_none(), "it runs");
        warming.end(&pass, Duration::MAX, now);
        for number in 0..2 * MAX_WAITING {
            warming.want(&format!("t{number}"), now);
        }
        assert_eq!(warming.len(), MAX_WAITING + 1);
        while let Some(pass) = warming.next() {
            warming.end(&pass, Duration::ZERO, now + MAX_REST);
        }
        assert_eq!(warming.len(), 1, "who has rested is forgotten");
        let pass = |at| {
            warming.want("acme", at);
            warming.next()
        };
        let first = pass(now).expect("one");
        warming.end(&first, Duration::from_secs(2), now);
        assert!(pass(now + Duration::from_millis(1_999)).is_none(), "it rests");
        assert!(pass(now + Duration::from_secs(2)).is_some());
    }
}
