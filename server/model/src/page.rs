//! Pages of lists, in order of creation.

use uuid::Uuid;

/// A part of a list.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The page has records with a greater id; nil at the start.
    pub after: Uuid,
    /// The maximal number of records.
    pub limit: i64,
}

impl Page {
    /// The whole list.
    pub const ALL: Self = Self { after: Uuid::nil(), limit: i64::MAX };
}
