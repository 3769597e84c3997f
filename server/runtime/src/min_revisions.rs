//! The revisions that a request demands (`docs/semantics.md`, sections 2.9 and 12.6).

use crate::app::App;
use crate::plans::{PlanError, is_lost};

/// The revisions that an answer must reflect at least; 0 accepts every revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinRevisions {
    pub rules: u64,
    /// The revision of the directory.
    pub entities: u64,
}

impl App {
    /// Waits until the entities of `tenant` have the demanded revision. Every later read of them here has it. Returns the
    /// revision that the rules must have: plans of it know the directory.
    ///
    /// # Errors
    /// The store failed, or does not have the revision of the entities.
    pub async fn reach(&self, tenant: &str, demanded: MinRevisions) -> Result<u64, PlanError> {
        let MinRevisions { rules, entities } = demanded;
        if entities == 0 {
            return Ok(rules);
        }
        if let Some(known) = self.entities.reached(tenant, entities) {
            // Rules of an earlier epoch are nothing to demand: all plans are later.
            return Ok(if is_lost(known, self.plans.latest(tenant)) {
                rules
            } else {
                rules.max(known)
            });
        }
        let present = self.plans.wait_for_entities(tenant, entities).await?;
        self.entities.note_reached(tenant, present.entities, present.rules).await?;
        Ok(rules.max(present.rules))
    }
}
