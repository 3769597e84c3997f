//! The items of a batch, as their reader keeps them. A check is made when it is decided: the checks of a large batch
//! would be most of its memory.

use portcullis_engine::batch::{BatchBeside, BatchBody};
use portcullis_engine::{CheckBody, Invalid};
use portcullis_model::relation::AssumedTuples;

/// The checks of a batch.
pub trait BatchItems: Sync {
    /// Returns the number of checks.
    fn count(&self) -> usize;

    /// Returns a check by its number.
    fn check(&self, index: usize) -> Option<CheckBody<'_>>;

    /// Returns the resource and the domain of a check by its number.
    fn scope(&self, index: usize) -> Option<(&str, Option<&str>)>;

    /// Returns the lists of tuples that checks assume, each once.
    fn lists(&self) -> &[AssumedTuples];

    /// Returns the number of the list that a check assumes.
    fn assumed(&self, index: usize) -> Option<usize>;

    /// Returns whether many checks may assume the list of this number.
    fn is_shared(&self, number: usize) -> bool;
}

/// A batch, and the tuples that its checks assume.
#[derive(Debug)]
pub struct SentBatch<'b> {
    body: &'b BatchBody<'b>,
    /// The list of the body goes first, if it has one.
    lists: Vec<AssumedTuples>,
    /// The number of the list of each check; empty if no check has its own.
    numbers: Vec<Option<usize>>,
    default: Option<usize>,
}

impl<'b> SentBatch<'b> {
    /// Joins a batch with the tuples that stand beside its checks.
    ///
    /// # Errors
    /// There are too many.
    pub fn new(
        body: &'b BatchBody<'b>,
        beside: BatchBeside<AssumedTuples>,
    ) -> Result<Self, Invalid> {
        let mut batch = Self { body, lists: Vec::new(), numbers: Vec::new(), default: None };
        batch.default = beside.default.map(|list| batch.add(list));
        if beside.items.iter().any(Option::is_some) {
            let own = beside.items.into_iter();
            batch.numbers = own.map(|own| own.map(|list| batch.add(list))).collect();
        }
        AssumedTuples::must_be_few(&batch.lists)?;
        Ok(batch)
    }

    fn add(&mut self, list: AssumedTuples) -> usize {
        self.lists.push(list);
        self.lists.len() - 1
    }
}

impl BatchItems for SentBatch<'_> {
    fn count(&self) -> usize {
        self.body.count()
    }

    fn check(&self, index: usize) -> Option<CheckBody<'_>> {
        self.body.check(index)
    }

    fn scope(&self, index: usize) -> Option<(&str, Option<&str>)> {
        self.body.scope(index)
    }

    fn lists(&self) -> &[AssumedTuples] {
        &self.lists
    }

    fn assumed(&self, index: usize) -> Option<usize> {
        self.numbers.get(index).copied().flatten().or(self.default)
    }

    fn is_shared(&self, number: usize) -> bool {
        Some(number) == self.default
    }
}
