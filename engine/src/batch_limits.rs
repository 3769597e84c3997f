//! The limits of batches (`docs/semantics.md`, section 11.1).

/// The most items of a batch. So many take about 10 ms, which other requests of the thread wait for.
pub const MAX_ITEMS: usize = 10_000;
/// The maximum length of the id of an item, in characters.
pub const MAX_ITEM_ID: usize = 256;
