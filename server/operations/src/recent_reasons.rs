//! The reasons of the decisions of a batch. Most of its decisions are made by few rules and policies.

use std::sync::Arc;

use portcullis_engine::{Decision, Effect};
use uuid::Uuid;

/// The most reasons that are kept.
const MOST: usize = 8;

/// The last reasons that decisions shared.
#[derive(Debug, Default)]
pub(crate) struct RecentReasons {
    recent: Vec<RecentReason>,
    /// The place of the next reason.
    next: usize,
}

#[derive(Debug)]
struct RecentReason {
    rule_id: Option<Uuid>,
    effect: Effect,
    reason: Arc<str>,
}

impl RecentReasons {
    /// Returns the reason of `decision`. All decisions have plans of one tenant at one revision.
    pub(crate) fn reason(&mut self, decision: &Decision<'_>) -> Arc<str> {
        if !decision.has_common_reason() {
            return decision.reason().into();
        }
        let (rule_id, effect) = (decision.rule_id(), decision.effect());
        let is_own = |own: &&RecentReason| own.rule_id == rule_id && own.effect == effect;
        if let Some(own) = self.recent.iter().find(is_own) {
            return Arc::clone(&own.reason);
        }
        let reason: Arc<str> = decision.reason().into();
        let recent = RecentReason { rule_id, effect, reason: Arc::clone(&reason) };
        match self.recent.get_mut(self.next) {
            Some(oldest) => *oldest = recent,
            None => self.recent.push(recent),
        }
        self.next = (self.next + 1) % MOST;
        reason
    }
}
