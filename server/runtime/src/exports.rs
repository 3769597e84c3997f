//! The exports that run and wait.

use crate::error::OperationError;
use crate::turns::{Turn, TurnLimits, Turns};

/// The exports that run and wait.
#[derive(Debug)]
pub struct Exports(Turns);

impl Default for Exports {
    fn default() -> Self {
        Self(Turns::new(TurnLimits::of_exports()))
    }
}

impl Exports {
    /// Waits for the turn of an export of `tenant`.
    ///
    /// # Errors
    /// Too many exports of the tenant wait, or the wait takes longer than 20 s.
    pub async fn begin(&self, tenant: &str) -> Result<Turn, OperationError> {
        self.0.begin(tenant).await.ok_or_else(|| {
            let what = "too many exports run already; try again later";
            OperationError::NotNow(what.to_owned())
        })
    }

    /// Returns the number of tenants with exports that run or wait.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
