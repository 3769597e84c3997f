//! Reads that are no older than the primary, on a standby where that is possible.

use std::sync::Arc;

use crate::store::Store;
use crate::store::standbys::{ReadSource, Standbys};
use crate::tenancy::tenants;
use crate::transactions::error::{OpenError, StoreError};
use crate::transactions::history::HistoryPosition;
use crate::transactions::tx::Tx;

impl Store {
    /// Returns the store with servers that follow its database, which plans may be read from.
    ///
    /// # Errors
    /// [`OpenError::Url`]: the URL is malformed.
    pub fn with_standbys(mut self, url: &str) -> Result<Self, OpenError> {
        self.standbys = Some(Arc::new(Standbys::parse(url)?));
        Ok(self)
    }

    /// Begins a transaction that reads one snapshot of `tenant`, no older than the primary is now: on a standby that is
    /// at the same revision, else on the primary. Returns the place in the tenant's history of the snapshot.
    pub async fn read_recent(
        &self,
        tenant: &str,
    ) -> Result<(Tx, HistoryPosition, ReadSource), StoreError> {
        let mut tx = self.begin_read(tenant).await?;
        let position = tenants::position(&mut tx).await?;
        let Some(standbys) = &self.standbys else {
            return Ok((tx, position, ReadSource::Primary));
        };
        // The transaction stays open meanwhile: it serves if no standby can.
        match standbys.begin(tenant, &position).await {
            Ok((standby, position)) => {
                tx.end().await?;
                Ok((standby, position, ReadSource::Standby))
            }
            Err(reason) => Ok((tx, position, reason)),
        }
    }
}
