//! Begins epochs of tenants whose commits the database lost (`docs/semantics.md`, section 2.9).

use portcullis_engine::ResourcePattern;
use portcullis_model::Timestamp;
use portcullis_storage::{HistoryPosition, StoreError, entities, tenants};

use crate::histories::Continuity;
use crate::plans::Plans;

impl Plans {
    /// Publishes the present revision of `tenant` if nobody has: changes of other processes may have made it, which may
    /// touch anything.
    pub(super) fn publish_present(&self, tenant: &str, revision: u64) {
        if self.cache.latest(tenant).is_some_and(|latest| latest < revision) {
            self.cache.publish(tenant, revision, vec![ResourcePattern::Any.into()]);
        }
    }

    /// Begins an epoch of `tenant` if the database lost commits, and returns the place in the new history then.
    pub(super) async fn follow(
        &self,
        tenant: &str,
        continuity: Continuity,
    ) -> Result<Option<HistoryPosition>, StoreError> {
        match continuity {
            Continuity::Continues => Ok(None),
            Continuity::Lost(revision) => self.begin_epoch(tenant, revision).await.map(Some),
        }
    }

    /// Begins an epoch of `tenant` after the database lost revision `lost`, and returns the place in the new history. No
    /// later check is decided by a plan of an earlier place. Other processes learn of it as of any change.
    pub(super) async fn begin_epoch(
        &self,
        tenant: &str,
        lost: u64,
    ) -> Result<HistoryPosition, StoreError> {
        // Before the wait for the turn: no check is decided on the lost history meanwhile.
        self.cache.forget(tenant);
        let now = Timestamp::from(self.clock.now());
        let turn = self.store.patient_turn(tenant).await;
        let mut tx = self.store.write_in(turn, now.millis()).await?;
        if tenants::begin_epoch(&mut tx, lost).await? {
            // Changes of entities may be lost, too, and nobody here may know the last of them.
            let known = entities::state(&mut tx).await?.position.revision;
            entities::begin_epoch(&mut tx, known).await?;
        }
        // Nobody decided on this change: the database made it.
        tx.pass_gates();
        let position = tx.commit().await?.position;
        let revision = position.revision;
        // Checks that began meanwhile may have loaded plans of an earlier revision.
        self.publish_present(tenant, revision);
        // A place of a later epoch may be known by now.
        self.histories.note_commit(tenant, position.clone());
        tracing::warn!(
            tenant,
            lost,
            revision,
            "the database lost changes; all plans are loaded again"
        );
        Ok(position)
    }
}
