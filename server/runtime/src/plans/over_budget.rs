//! Logs the policies whose patterns are too large.

use std::collections::HashSet;

use parking_lot::Mutex;
use portcullis_engine::Plan;
use uuid::Uuid;

/// Most policies over their budget that are remembered as logged. Only databases of version 0.1 have such policies.
const MAX_LOGGED: usize = 10_000;

/// The policies over their budget that the log has named.
#[derive(Debug, Default)]
pub(super) struct OverBudgetLog(Mutex<HashSet<Uuid>>);

impl OverBudgetLog {
    /// Writes a line for each policy of `plan` that is over its budget, once for each policy.
    pub(super) fn report(&self, tenant: &str, plan: &Plan) {
        for policy in plan.policies_over_budget() {
            if self.is_first(policy) {
                tracing::warn!(
                    tenant,
                    %policy,
                    "patterns of the policy are too large, and their tests are undetermined; write smaller ones"
                );
            }
        }
    }

    fn is_first(&self, policy: Uuid) -> bool {
        let mut logged = self.0.lock();
        logged.len() < MAX_LOGGED && logged.insert(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_logged_once() {
        let log = OverBudgetLog::default();
        let id = Uuid::from_u128;
        assert!(log.is_first(id(1)));
        assert!(!log.is_first(id(1)));
        for number in 0..MAX_LOGGED as u128 {
            log.is_first(id(number));
        }
        assert_eq!(log.0.lock().len(), MAX_LOGGED);
    }
}
