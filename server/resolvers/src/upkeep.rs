//! Keeps memory as the store is: what is new is loaded before it is asked, what failed is tried again, and what is gone
//! is dropped.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt as _, stream};
use portcullis_engine::ResolverRef;
use portcullis_resolver_host::Digest;
use uuid::Uuid;

use super::Standing;
use crate::service::ResolverService;
use portcullis_storage::resolvers::ResolverLocation;
use portcullis_storage::{StoreError, resolvers};

/// How often the store is compared with what is in memory. So long a failed load is not tried again.
const INTERVAL: Duration = Duration::from_secs(5);
/// How many loads are under way at once: each holds the bytes of a module.
const LOADS: usize = 8;
/// After so many of these intervals, compiled code that is of no use is removed: every 5 minutes.
const SWEEP_ROUNDS: u64 = 60;
/// Code that is younger may be of a module that is about to be stored.
const SWEEP_AGE: Duration = Duration::from_mins(10);
/// After so many failed loads the pause between them does not get any longer: 5 minutes.
const MAX_DOUBLINGS: u32 = 6;

/// The loads that failed.
#[derive(Debug, Default)]
struct Failed(HashMap<(String, ResolverRef), Again>);

/// When a load is tried again.
#[derive(Debug, Default)]
struct Again {
    failures: u32,
    /// In rounds.
    wait: u32,
}

impl Failed {
    /// Whether it is the turn of this one, in a round in which it is asked once.
    fn is_due(&mut self, place: &ResolverLocation) -> bool {
        let Some(again) = self.0.get_mut(&key(place)) else { return true };
        again.wait = again.wait.saturating_sub(1);
        again.wait == 0
    }

    fn note(&mut self, place: &ResolverLocation) {
        let again = self.0.entry(key(place)).or_default();
        again.wait = 1 << again.failures.min(MAX_DOUBLINGS);
        again.failures += 1;
    }

    fn retain(&mut self, still: impl Fn(&str, ResolverRef) -> bool) {
        self.0.retain(|(tenant, reference), _| still(tenant, *reference));
    }
}

fn key(place: &ResolverLocation) -> (String, ResolverRef) {
    (place.tenant.clone(), place.reference)
}

impl ResolverService {
    /// Loads every enabled resolver, and keeps up with what other replicas write, and with loads that failed.
    pub async fn keep_resolvers(&self) {
        let mut failed = Failed::default();
        for round in 0_u64.. {
            if let Err(error) = self.compare_resolvers(&mut failed).await {
                tracing::warn!(%error, "cannot read the resolvers");
            }
            if round % SWEEP_ROUNDS == 0
                && let Err(error) = self.sweep_code().await
            {
                tracing::warn!(%error, "cannot read the modules of resolvers");
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn compare_resolvers(&self, failed: &mut Failed) -> Result<(), StoreError> {
        // Before the store is read: what is created meanwhile is in neither.
        let present = self.parts().registry.present();
        let mut tx = self.parts().store.read_all().await?;
        let stored = resolvers::everywhere(&mut tx).await?;
        tx.end().await?;
        let known: HashSet<(&str, Uuid)> =
            stored.iter().map(|place| (&*place.tenant, place.reference.id)).collect();
        for (tenant, id) in &present {
            if !known.contains(&(&**tenant, *id)) {
                self.parts().registry.remove(tenant, *id);
            }
        }
        failed.retain(|tenant, reference| {
            stored.iter().any(|place| place.tenant == tenant && place.reference == reference)
                && !self.is_ready(tenant, reference)
        });
        let enabled = stored.iter().filter(|place| place.enabled);
        let missing = enabled.filter(|place| !self.is_ready(&place.tenant, place.reference));
        let due: Vec<_> = missing.filter(|place| failed.is_due(place)).collect();
        // One that is slow does not hold up the others.
        let load =
            |place: &ResolverLocation| self.load_resolver(&place.tenant, place.reference).done;
        stream::iter(&due).for_each_concurrent(LOADS, |place| load(place)).await;
        for place in due {
            if !self.is_ready(&place.tenant, place.reference) {
                failed.note(place);
            }
        }
        Ok(())
    }

    /// Removes compiled code that nobody needs: what requests that failed, other replicas and crashes leave behind.
    async fn sweep_code(&self) -> Result<(), StoreError> {
        let before = SystemTime::from(self.parts().clock.now()) - SWEEP_AGE;
        let mut tx = self.parts().store.read_all().await?;
        let stored = resolvers::modules(&mut tx).await?;
        tx.end().await?;
        let stored = stored.iter().filter_map(|sha256| Digest::parse(sha256)).collect();
        self.parts().registry.sweep(stored, before).await;
        Ok(())
    }

    fn is_ready(&self, tenant: &str, reference: ResolverRef) -> bool {
        let status = self.parts().registry.status(tenant, reference.id);
        self.parts().registry.knows(tenant, reference)
            && status.is_some_and(|status| matches!(status.standing, Standing::Ready(_)))
    }

    /// Drops the compiled code of a module that was taken from a resolver, unless another one has it.
    pub async fn forget_module(&self, sha256: &str) {
        let used = async {
            let mut tx = self.parts().store.read_all().await?;
            let used = resolvers::is_module_used(&mut tx, sha256).await?;
            tx.end().await?;
            Ok::<_, StoreError>(used)
        };
        // What cannot be found out costs some space on the disk.
        if let (Ok(false), Some(digest)) = (used.await, Digest::parse(sha256)) {
            self.parts().registry.forget(&digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_goes_on_failing_is_tried_less_and_less_often() {
        let reference = ResolverRef { id: Uuid::nil(), version: 1 };
        let place = ResolverLocation { tenant: "acme".to_owned(), reference, enabled: true };
        let mut failed = Failed::default();
        let mut tried = Vec::new();
        for round in 0..400 {
            if failed.is_due(&place) {
                tried.push(round);
                failed.note(&place);
            }
        }
        assert_eq!(tried, [0, 1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383]);
        let changed = ResolverLocation {
            reference: ResolverRef { version: 2, ..reference },
            tenant: place.tenant.clone(),
            enabled: true,
        };
        assert!(failed.is_due(&changed), "another version may do better");
        failed.retain(|_, _| false);
        assert!(failed.is_due(&place));
    }
}
