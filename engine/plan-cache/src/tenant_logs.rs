//! The change logs of the tenants that have plans in memory.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use parking_lot::RwLock;

use crate::changes::ChangeLog;

/// The map is swept at this length for the first time, and then whenever its length has doubled.
const FIRST_SWEEP: usize = 256;

/// The change logs, by tenant. A log is dropped some time after the last plan and the last load of its tenant, so that
/// tenants that callers invent do not fill the memory.
#[derive(Debug, Default)]
pub(crate) struct TenantLogs(RwLock<Logs>);

#[derive(Debug, Default)]
struct Logs {
    by_tenant: HashMap<Arc<str>, Arc<ChangeLog>>,
    /// The tenants whose checks are compared with a cache beside. Their logs come and go as other logs do.
    shadowed: HashSet<Box<str>>,
    /// The length at which the next sweep begins.
    sweep_at: usize,
}

impl TenantLogs {
    /// Returns the name and the log of a tenant, a new log if the tenant has none. A log stays at least as long as the returned
    /// handle: whoever loads a plan takes it first, and so misses no change.
    pub(crate) fn get_or_create(&self, tenant: &str) -> (Arc<str>, Arc<ChangeLog>) {
        if let Some((tenant, log)) = self.0.read().by_tenant.get_key_value(tenant) {
            return (Arc::clone(tenant), Arc::clone(log));
        }
        let mut logs = self.0.write();
        logs.sweep();
        // Another caller may have made the log since the read.
        let known = logs.by_tenant.get_key_value(tenant).map(|(known, _)| Arc::clone(known));
        let tenant = known.unwrap_or_else(|| tenant.into());
        let has_shadow = logs.shadowed.contains(&*tenant);
        let log = logs.by_tenant.entry(Arc::clone(&tenant)).or_default();
        log.set_shadow(has_shadow);
        (tenant, Arc::clone(log))
    }

    /// Sets whether the checks of a tenant are compared with a cache beside, for its log and for every later one.
    pub(crate) fn set_shadow(&self, tenant: &str, has_shadow: bool) {
        let mut logs = self.0.write();
        match has_shadow {
            true => logs.shadowed.insert(tenant.into()),
            false => logs.shadowed.remove(tenant),
        };
        if let Some(log) = logs.by_tenant.get(tenant) {
            log.set_shadow(has_shadow);
        }
    }

    /// Returns the log of a tenant, if it has one. A tenant without a log has no plan in memory and no load under way.
    pub(crate) fn get(&self, tenant: &str) -> Option<Arc<ChangeLog>> {
        self.0.read().by_tenant.get(tenant).map(Arc::clone)
    }

    /// Drops the log of a tenant, and ends it: whoever holds it must take another one.
    pub(crate) fn forget(&self, tenant: &str) {
        if let Some(log) = self.0.write().by_tenant.remove(tenant) {
            log.end();
        }
    }

    /// Returns the number of logs.
    pub(crate) fn len(&self) -> usize {
        self.0.read().by_tenant.len()
    }
}

impl Logs {
    /// Drops the logs that nobody holds, if there are many. Nobody can take one meanwhile: the map is locked.
    fn sweep(&mut self) {
        if self.by_tenant.len() < self.sweep_at.max(FIRST_SWEEP) {
            return;
        }
        // The map itself has one reference to each.
        self.by_tenant.retain(|_, log| Arc::strong_count(log) > 1);
        self.sweep_at = 2 * self.by_tenant.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_tenants_leave_no_logs_behind() {
        let logs = TenantLogs::default();
        let held: Vec<_> = (0..100).map(|n| logs.get_or_create(&format!("held-{n}"))).collect();
        for number in 0..100_000 {
            drop(logs.get_or_create(&format!("invented-{number}")));
            assert!(logs.len() <= FIRST_SWEEP, "{}", logs.len());
        }
        for (tenant, log) in &held {
            let found = logs.get(tenant).expect("a log that somebody holds stays");
            assert!(Arc::ptr_eq(&found, log));
        }
    }

    #[test]
    fn a_log_that_is_made_anew_keeps_its_shadow() {
        let logs = TenantLogs::default();
        logs.set_shadow("acme", true);
        assert!(logs.get_or_create("acme").1.has_shadow());
        // The log goes, because nobody holds it.
        (0..FIRST_SWEEP).for_each(|n| drop(logs.get_or_create(&format!("other-{n}"))));
        assert!(logs.get("acme").is_none());
        assert!(logs.get_or_create("acme").1.has_shadow());
        logs.forget("acme");
        assert!(logs.get_or_create("acme").1.has_shadow());
        logs.set_shadow("acme", false);
        assert!(!logs.get_or_create("acme").1.has_shadow());
    }
}
