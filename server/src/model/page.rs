//! Pages of lists, in order of creation.

use uuid::Uuid;

/// What to fetch of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// Only records with a greater id; nil at the start.
    pub(crate) after: Uuid,
    /// At most so many.
    pub(crate) limit: i64,
}

impl Page {
    /// The whole list.
    pub(crate) const ALL: Self = Self { after: Uuid::nil(), limit: i64::MAX };
}
