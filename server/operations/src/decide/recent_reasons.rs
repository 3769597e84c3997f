//! The reasons of the decisions of a batch. Most of its decisions are made by few rules and policies.

use std::sync::Arc;

use portcullis_engine::{Decision, Effect};
use portcullis_limits::{MemoryCharge, Spent};
use uuid::Uuid;

/// The most reasons that are kept.
const MAX: usize = 8;
/// The bytes of reasons that are not charged.
const UNCHARGED: usize = 64 * 1024;

/// The last reasons of decisions, which later decisions share, and the memory of all reasons.
#[derive(Debug)]
pub(crate) struct RecentReasons {
    recent: Vec<RecentReason>,
    /// The place of the next reason.
    next: usize,
    charge: MemoryCharge,
    /// The bytes of all reasons.
    bytes: usize,
    spent: Option<Spent>,
}

#[derive(Debug)]
struct RecentReason {
    rule_id: Option<Uuid>,
    effect: Effect,
    /// Whether it is the reason of every decision with this effect by this rule or policy.
    is_common: bool,
    reason: Arc<str>,
}

impl RecentReasons {
    /// Returns no reasons. Those to come are charged to `charge`.
    pub(crate) fn new(charge: MemoryCharge) -> Self {
        Self { recent: Vec::new(), next: 0, charge, bytes: 0, spent: None }
    }

    /// Counts the bytes of a reason before they are there.
    ///
    /// # Errors
    /// The memory for answers is spent.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), Spent> {
        self.bytes += bytes;
        if self.bytes > UNCHARGED {
            self.charge.grow_to(self.bytes).inspect_err(|spent| self.spent = Some(*spent))?;
        }
        Ok(())
    }

    /// Returns whether the memory for answers is spent, so that nobody gets the answers of the batch.
    pub(crate) fn are_spent(&self) -> bool {
        self.spent.is_some()
    }

    /// Returns the charge of all reasons.
    ///
    /// # Errors
    /// The memory for answers is spent, and reasons are missing.
    pub(crate) fn into_charge(self) -> Result<MemoryCharge, Spent> {
        self.spent.map_or(Ok(self.charge), Err)
    }

    /// Returns the reason of `decision`; an empty one if the memory for answers is spent. All decisions have plans of one
    /// tenant at one revision.
    pub(crate) fn reason(&mut self, decision: &Decision<'_>) -> Arc<str> {
        let (rule_id, effect) = (decision.rule_id(), decision.effect());
        let is_common = decision.has_common_reason();
        let mut own = self.recent.iter().filter(|own| {
            own.rule_id == rule_id && own.effect == effect && own.is_common == is_common
        });
        // Its text is the same whatever the check has, and is not made again.
        if is_common && let Some(own) = own.next() {
            return Arc::clone(&own.reason);
        }
        let text = decision.reason();
        // What is undetermined is mostly the same for many checks.
        if let Some(own) = own.find(|own| *own.reason == *text) {
            return Arc::clone(&own.reason);
        }
        if self.count(text.len()).is_err() {
            return Arc::default();
        }
        let reason: Arc<str> = text.into();
        let recent = RecentReason { rule_id, effect, is_common, reason: Arc::clone(&reason) };
        match self.recent.get_mut(self.next) {
            Some(oldest) => *oldest = recent,
            None => self.recent.push(recent),
        }
        self.next = (self.next + 1) % MAX;
        reason
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use portcullis_engine::{Check, CheckBody, Condition, Plan, Policy, ResourcePattern, json};
    use portcullis_limits::{MemoryAccount, MemoryBudget, MemoryMetrics};

    use super::*;

    /// Returns the reasons of `count` checks without attributes, which a plan decides by a policy with a long name. The checks
    /// ask for different actions.
    fn reasons_of(count: usize, reasons: &mut RecentReasons) -> Vec<Arc<str>> {
        let tree = br#"{"type": "CONDITION", "attribute": "user.a", "operator": "ne", "value": 1}"#;
        let tree = json::parse(tree).expect("JSON");
        let policy = Policy {
            id: Uuid::nil(),
            name: "n".repeat(UNCHARGED),
            resource: ResourcePattern::Any,
            effect: Effect::Deny,
            priority: 1,
            condition: Ok(Condition::parse(&tree).expect("a condition")),
        };
        let plan = Plan::compile("doc:read", 1, &[], [policy]);
        let check = |number| {
            let body =
                format!(r#"{{"subject":"a","resource":"doc:read","action":"act-{number}"}}"#);
            let body = json::parse(body.as_bytes()).expect("JSON");
            let body = CheckBody::parse(&body).expect("a check");
            let check = Check::new(body, "acme", None, DateTime::UNIX_EPOCH);
            reasons.reason(&plan.evaluate(&check))
        };
        (0..count).map(check).collect()
    }

    fn budget(most: usize) -> RecentReasons {
        let budget = MemoryBudget::new(most as u64, 0, MemoryMetrics::default());
        RecentReasons::new(budget.charge(MemoryAccount::for_tenant("acme")))
    }

    #[test]
    fn equal_reasons_are_in_memory_once() {
        let mut reasons = budget(8 * UNCHARGED);
        let found = reasons_of(1_000, &mut reasons);
        assert!(found[0].ends_with("is undetermined, because attribute `user.a` is missing"));
        assert!(found.iter().all(|reason| Arc::ptr_eq(reason, &found[0])));
        let charge = reasons.into_charge().expect("room for one");
        assert_eq!(charge.bytes(), found[0].len());
    }

    #[test]
    fn reasons_without_room_are_not_made() {
        let mut reasons = budget(4 * UNCHARGED);
        assert_eq!(&*reasons_of(1, &mut reasons)[0], "");
        assert!(reasons.are_spent());
        assert_eq!(reasons.into_charge().map(|_| ()), Err(Spent));
    }
}
