//! Erases the records about a person, wherever they are.

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use portcullis_model::decision::DecisionSelection;
use portcullis_storage::decision_files;

use crate::at_rest::{ArchiveError, Erased};
use crate::log::DecisionLog;
use crate::question::Wants;
use crate::reading::{DecisionSpan, RawRecord, ReadLimit};

/// The time after which the writer is asked again to begin a file.
const ROTATION: Duration = Duration::from_secs(1);

impl DecisionLog {
    /// Brings every record up to now to rest.
    ///
    /// # Errors
    /// There is no place, or it failed.
    pub async fn seal(&self) -> Result<(), ArchiveError> {
        let keeper = self.keeper().ok_or(ArchiveError::NoStore)?;
        let current = self.segments().current();
        loop {
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

    /// Erases the records of `tenant` about a person, up to now: those at rest, and those that are not yet, of every process.
    ///
    /// # Errors
    /// There is no place of finished files, or it failed: a repetition goes on.
    pub async fn erase(&self, tenant: &str, subject: &str) -> Result<Erased, ArchiveError> {
        let keeper = self.keeper().ok_or(ArchiveError::NoStore)?;
        let archive = &keeper.archive;
        let selection =
            DecisionSelection { subject: Some(subject.to_owned()), ..DecisionSelection::default() };
        let count = |count: &mut u64, _: RawRecord<'_>| {
            *count += 1;
            ControlFlow::Continue(())
        };
        let (span, limit) = (DecisionSpan::default(), ReadLimit::none());
        let counted = self.visit(tenant, &selection, span, limit, 0, count).await;
        let records = counted.map_err(io::Error::other)?.into;
        let now = keeper.now();
        let mut tx = archive.store().write_as(tenant).await?;
        decision_files::erase(&mut tx, &archive.code_of(tenant, subject), now).await?;
        tx.commit().await?;
        self.seal().await?;
        if let Some(others) = self.others() {
            let heard = others.ask(tenant, Wants::Rest).await.map_err(io::Error::other)?;
            if heard.silent > 0 {
                return Err(ArchiveError::Silent(heard.silent));
            }
        }
        let _turn = keeper.turn().await;
        archive.erase(tenant, &selection, now).await?;
        Ok(Erased { records })
    }
}
