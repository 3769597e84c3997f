//! Pages of lists, in order of creation.

use uuid::Uuid;

/// What to fetch of a list.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Only records with a greater id; nil at the start.
    pub after: Uuid,
    /// At most so many.
    pub limit: i64,
}

impl Page {
    /// The whole list.
    pub const ALL: Self = Self { after: Uuid::nil(), limit: i64::MAX };
}
