//! Turns to write. The writes of one tenant wait for each other here, before they take a connection or the write lock
//! of the database. So a tenant with many writes delays only itself: a write of another tenant waits for one of them
//! at most.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::StoreError;

/// The most writes of one tenant that run or wait. Each waiting request holds its body, which has up to 1 MiB.
const MAX_PLACES: usize = 64;
/// The longest wait for a turn, as for a connection.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The writes that run or wait, by tenant. A tenant without one has no entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteTurns(Arc<Mutex<HashMap<String, Places>>>);

/// The writes of one tenant that run or wait.
#[derive(Debug)]
struct Places {
    taken: usize,
    /// One permit, which goes to the write that waits for longest.
    turn: Arc<Semaphore>,
}

/// The right to write for a tenant. The next write of the tenant begins when it is dropped.
#[derive(Debug)]
pub struct WriteTurn {
    // Dropped first: the place keeps the entry in the map until then.
    _turn: OwnedSemaphorePermit,
    place: Place,
}

/// A place among the writes of a tenant.
#[derive(Debug)]
struct Place {
    turns: WriteTurns,
    tenant: String,
    turn: Arc<Semaphore>,
}

impl WriteTurns {
    /// Waits for the turn of a request of `tenant`.
    ///
    /// # Errors
    /// [`StoreError::Busy`]: too many writes of the tenant wait, or the wait took longer than 5 s.
    pub(crate) async fn begin(&self, tenant: &str) -> Result<WriteTurn, StoreError> {
        let place = self.place(tenant, MAX_PLACES).ok_or(StoreError::Busy)?;
        let turn = tokio::time::timeout(MAX_WAIT, place.into_turn()).await;
        turn.map_err(|_| StoreError::Busy)?
    }

    /// Waits for a turn of `tenant`, however many requests wait. For work of the service itself, of which there is one
    /// task for each tenant.
    pub(crate) async fn begin_patiently(&self, tenant: &str) -> Result<WriteTurn, StoreError> {
        self.place(tenant, usize::MAX).ok_or(StoreError::Busy)?.into_turn().await
    }

    /// Returns the number of tenants with writes that run or wait.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Takes a place, unless `most` are taken.
    fn place(&self, tenant: &str, most: usize) -> Option<Place> {
        let mut tenants = self.0.lock();
        if !tenants.contains_key(tenant) {
            let places = Places { taken: 0, turn: Arc::new(Semaphore::new(1)) };
            tenants.insert(tenant.to_owned(), places);
        }
        let places = tenants.get_mut(tenant).filter(|places| places.taken < most)?;
        places.taken += 1;
        let turn = Arc::clone(&places.turn);
        Some(Place { turns: self.clone(), tenant: tenant.to_owned(), turn })
    }
}

impl Place {
    async fn into_turn(self) -> Result<WriteTurn, StoreError> {
        // Nothing closes the semaphore.
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| StoreError::Busy)?;
        Ok(WriteTurn { _turn: turn, place: self })
    }
}

impl WriteTurn {
    /// Returns the tenant that may write.
    pub(crate) fn tenant(&self) -> &str {
        &self.place.tenant
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut tenants = self.turns.0.lock();
        match tenants.get_mut(&self.tenant) {
            Some(places) if places.taken > 1 => places.taken -= 1,
            _ => drop(tenants.remove(&self.tenant)),
        }
    }
}

#[cfg(test)]
mod tests;
