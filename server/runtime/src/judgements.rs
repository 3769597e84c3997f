//! The judgements of changes that run and wait.

use std::time::Duration;

use crate::error::OperationError;
use crate::turns::{Turn, TurnLimits, Turns};

/// The permission to judge, until it is dropped.
#[derive(Debug)]
pub struct JudgementTurn(#[expect(dead_code, reason = "held until it is dropped")] Turn);

/// The judgements that run and wait. A judgement decides up to 1,000 cases on all content of a tenant, for 10 s at
/// most.
#[derive(Debug)]
pub struct Judgements(Turns);

impl Default for Judgements {
    /// A tenant judges one change at a time, and waits for those of others while its request may.
    fn default() -> Self {
        Self(Turns::new(TurnLimits {
            at_once: Self::at_once(),
            of_tenant: 1,
            waiting_of_tenant: 64,
            wait: Duration::from_secs(10),
        }))
    }
}

impl Judgements {
    /// Returns how many judgements run at the same time, which leaves half of the cores to everything else.
    pub fn at_once() -> usize {
        (std::thread::available_parallelism().map_or(1, usize::from) / 2).max(1)
    }

    /// Returns the number of tenants with judgements that run or wait.
    pub fn tenants(&self) -> usize {
        self.0.len()
    }

    /// Waits for a turn of `tenant`.
    ///
    /// # Errors
    /// Too many changes of the tenant wait, or the wait takes longer than 10 s.
    pub async fn begin(&self, tenant: &str) -> Result<JudgementTurn, OperationError> {
        self.0.begin(tenant).await.map(JudgementTurn).ok_or_else(|| {
            let what = "too many changes of this tenant wait for the judgement of its cases, and nothing was written; \
                try again later";
            OperationError::NotNow(what.to_owned())
        })
    }
}
