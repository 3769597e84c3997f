//! A requirement on one test.

use super::truth_set::TruthSet;
use crate::condition::Test;

/// A test, and the truths that it may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand<'c> {
    pub(super) test: &'c Test,
    pub(super) truths: TruthSet,
}
