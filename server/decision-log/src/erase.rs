//! Erases the records about a person, wherever they are.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_model::decision::DecisionSelection;
use portcullis_storage::decision_erasures::{self, ErasureRow};
use portcullis_storage::denied_persons::DeniedPersons;
use portcullis_storage::{erased_denials, tenant_settings};
use tokio::time::{Instant, timeout, timeout_at};

use crate::at_rest::{ArchiveError, Erased, Keeper};
use crate::log::DecisionLog;
use crate::question::Wants;

/// The time after which the writer is asked again to begin a file.
const ROTATION: Duration = Duration::from_secs(1);
/// The longest wait of a request for the end of its erasure.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time between two looks of a request whether its erasure is done.
const LOOK: Duration = Duration::from_secs(1);
/// The time between two looks for erasures that are not done.
const AGAIN: Duration = Duration::from_secs(10);
/// The most erasures of one round, which are carried out together.
const ROUND: i64 = 1_000;

impl DecisionLog {
    /// Seals every record up to now.
    ///
    /// # Errors
    /// There is no place, or it failed.
    pub async fn seal(&self) -> Result<(), ArchiveError> {
        let keeper = self.keeper().ok_or(ArchiveError::NoStore)?;
        // A file has only what was written before it is replaced: the buffer may have more.
        self.flush().await;
        let current = self.segments().current();
        loop {
            // Before the look at the files, so that a file that ends in between is not missed.
            let finished = self.segments().finished();
            if current.extent().ids.is_none() || self.segments().current().number > current.number {
                break;
            }
            self.rotate();
            // The writer may have failed to begin a file: ask again.
            let _ = tokio::time::timeout(ROTATION, finished).await;
        }
        keeper.seal_all().await
    }

    /// Erases the records of `tenant` about a person, up to now: sealed ones, and those that are not yet, of every process.
    /// The erasure is noted, and goes on without this call, in [`DecisionLog::run_maintenance`] of any process. Returns the
    /// number of records that are gone and that no earlier call returned.
    ///
    /// # Errors
    /// There is no place of finished files, the database failed, the tenant has too many erasures, or the erasure takes longer
    /// than a request may: a repetition tells whether it is done.
    pub async fn erase(&self, tenant: &str, subject: &str) -> Result<Erased, ArchiveError> {
        let keeper = self.keeper().ok_or(ArchiveError::NoStore)?;
        let archive = &keeper.archive;
        let code = archive.code_of(tenant, subject);
        // This comes before the erasure is noted, so that whoever carries it out in this process knows the name.
        self.erasures().add(tenant, &code, subject);
        let mut tx = archive.store().write_as(tenant).await?;
        let keep = tenant_settings::keeps_decisions(&mut tx, tenant).await?;
        if !decision_erasures::begin(&mut tx, &code, keeper.now(), keep).await? {
            self.erasures().end(tenant, &code);
            return Err(ArchiveError::TooManyErasures(decision_erasures::MAX));
        }
        tx.commit().await?;
        self.erasures().due.notify_one();
        let end = Instant::now() + PATIENCE;
        loop {
            // This comes before the look, so that an erasure that ends in between wakes the wait below.
            let done = self.erasures().done.notified();
            let mut tx = archive.store().write_as(tenant).await?;
            let taken = decision_erasures::take(&mut tx, &code).await?;
            tx.commit().await?;
            if let Some(taken) = taken {
                return Ok(Erased {
                    records: taken.records.unsigned_abs(),
                    deliveries: taken.deliveries.unsigned_abs(),
                    sent: taken.sent.unsigned_abs(),
                });
            }
            // Another process may have done it.
            if timeout_at(end.min(Instant::now() + LOOK), done).await.is_err()
                && Instant::now() >= end
            {
                return Err(ArchiveError::Erasing);
            }
        }
    }

    /// Goes on with the erasures that are not done, until it is dropped.
    pub(crate) async fn erase_for_ever(&self, keeper: &Keeper) {
        loop {
            // A request that comes while a round runs leaves a permit, and so begins the next round at once.
            let due = self.erasures().due.notified();
            if let Err(error) = self.erase_pending(keeper).await {
                tracing::warn!(%error, "decisions about persons are not erased yet");
            }
            let _ = timeout(AGAIN, due).await;
        }
    }

    /// Goes on with every erasure that is not done: every record up to now is sealed without those about the persons, and
    /// then each file that has some is written anew once for all persons of a tenant. A tenant whose erasures fail does not
    /// prevent the others.
    ///
    /// # Errors
    /// One failed.
    async fn erase_pending(&self, keeper: &Keeper) -> Result<(), ArchiveError> {
        let store = keeper.archive.store();
        let pending =
            store.read_all(async |tx| decision_erasures::pending(tx, ROUND).await).await?;
        let mut by_tenant = BTreeMap::<String, Vec<ErasureRow>>::new();
        for erasure in pending {
            by_tenant.entry(erasure.tenant_id.clone()).or_default().push(erasure);
        }
        let (mut outcome, mut ready) = (Ok(()), Vec::new());
        // First, so that none is sent meanwhile.
        for (tenant, erasures) in by_tenant {
            match erase_deliveries(keeper, &tenant, &erasures).await {
                Ok(()) => ready.push((tenant, erasures)),
                failed => outcome = outcome.and(failed),
            }
        }
        let Some((first, _)) = ready.first() else { return outcome };
        self.seal().await?;
        if let Some(others) = self.others() {
            // They seal the records of all tenants.
            let heard = others.ask(first, Wants::Sealed).await.map_err(io::Error::other)?;
            if heard.silent > 0 {
                return Err(ArchiveError::Silent(heard.silent));
            }
        }
        for (tenant, erasures) in ready {
            let ended = self.erase_at_rest(keeper, &tenant, &erasures).await;
            outcome = outcome.and(ended);
        }
        outcome
    }

    /// Removes the records of `tenant` about the persons from the files, and the deliveries of their denied checks that came
    /// until the end.
    async fn erase_at_rest(
        &self,
        keeper: &Keeper,
        tenant: &str,
        erasures: &[ErasureRow],
    ) -> Result<(), ArchiveError> {
        // All records are read if one name is not known.
        let selections: Option<Vec<_>> =
            erasures.iter().map(|erasure| self.selection_of(tenant, erasure)).collect();
        let selections = selections.unwrap_or_else(|| vec![DecisionSelection::default()]);
        let turn = keeper.turn().await;
        keeper.archive.erase(tenant, &selections, keeper.now()).await?;
        drop(turn);
        erase_deliveries(keeper, tenant, erasures).await?;
        let mut tx = keeper.archive.store().write_all().await?;
        for erasure in erasures {
            decision_erasures::end(&mut tx, erasure, keeper.now()).await?;
        }
        tx.commit().await?;
        erasures.iter().for_each(|erasure| self.erasures().end(tenant, &erasure.subject));
        Ok(())
    }

    /// Returns what selects the records that an erasure removes; `None` if this process does not know the name of the person.
    fn selection_of(&self, tenant: &str, erasure: &ErasureRow) -> Option<DecisionSelection> {
        let subject = Some(self.erasures().name(tenant, &erasure.subject)?);
        // `to` is not selected itself.
        let to = Some(Timestamp::from_millis(erasure.erased_at.saturating_add(1)));
        Some(DecisionSelection { subject, to, ..DecisionSelection::default() })
    }
}

/// Erases the deliveries of the denied checks of the persons, and counts them.
async fn erase_deliveries(
    keeper: &Keeper,
    tenant: &str,
    erasures: &[ErasureRow],
) -> Result<(), ArchiveError> {
    let erased_at = erasures
        .iter()
        .map(|row| (row.subject.clone(), Timestamp::from_millis(row.erased_at)))
        .collect();
    let codes_of = |subject: &str| keeper.archive.codes_of(tenant, subject);
    let persons = DeniedPersons { erased_at: &erased_at, codes_of: &codes_of };
    Ok(erased_denials::erase(keeper.archive.store(), tenant, persons).await?)
}
