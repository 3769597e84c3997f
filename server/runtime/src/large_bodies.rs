//! The turns of requests with large bodies, whose trees cost much CPU time.

use crate::error::OperationError;
use crate::turns::{Turn, TurnLimits, Turns};

/// The requests with large bodies that are read into trees, and those that wait for it.
#[derive(Debug)]
pub struct LargeBodies(Turns);

/// The permission to read a large body into a tree, until it is dropped.
#[derive(Debug)]
pub struct LargeBodyTurn {
    _turn: Turn,
}

impl Default for LargeBodies {
    fn default() -> Self {
        Self::for_cores(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl LargeBodies {
    pub fn for_cores(cores: usize) -> Self {
        Self(Turns::new(TurnLimits::of_large_bodies(cores)))
    }

    /// Waits for a turn of `sender`: a tenant, or those who share its account for bodies.
    ///
    /// # Errors
    /// Too many large bodies of the sender wait, or the wait takes longer than 5 s.
    pub async fn begin(&self, sender: &str) -> Result<LargeBodyTurn, OperationError> {
        let Some(turn) = self.0.begin(sender).await else {
            let what = "too many large bodies of this tenant wait, and nothing was written; try again later";
            return Err(OperationError::NotNow(what.to_owned()));
        };
        Ok(LargeBodyTurn { _turn: turn })
    }
}
