//! Pages of lists, in order of creation.

use uuid::Uuid;

/// Most bytes of the records of a page (`docs/semantics.md`, section 8.7). A policy may have 256 KiB, so a page of 1,000
/// records without this limit takes hundreds of MiB of memory.
pub const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// The part of a list that is wanted. It ends earlier where its records reach [`MAX_PAGE_BYTES`].
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The page has records with a greater id; nil at the start.
    pub after: Uuid,
    /// The maximal number of records.
    pub limit: i64,
}

impl Page {
    /// The start of a list, up to the limit in bytes.
    pub const FIRST: Self = Self { after: Uuid::nil(), limit: i64::MAX };
}

/// A page that was read.
#[derive(Debug)]
pub struct Listed<T> {
    /// At least one, unless the list ends here.
    pub records: Vec<T>,
    /// Whether the list goes on.
    pub more: bool,
}
