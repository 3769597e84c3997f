//! Record ids: UUIDv7 (RFC 9562), so that their order is the order of creation.

use parking_lot::Mutex;
use uuid::{ContextV7, Timestamp as UuidTimestamp, Uuid};

use crate::Timestamp;

/// Makes ids. Two ids of one millisecond are in the order in which they were made.
#[derive(Debug)]
pub struct Ids(Mutex<ContextV7>);

impl Default for Ids {
    fn default() -> Self {
        Self::new()
    }
}

impl Ids {
    pub fn new() -> Self {
        Self(Mutex::new(ContextV7::new()))
    }

    /// A new id for something that is created at `at`.
    pub fn next(&self, at: Timestamp) -> Uuid {
        // Instants before the epoch cannot be in a UUIDv7, and count as the epoch.
        let millis = u64::try_from(at.millis()).unwrap_or_default();
        let nanos = u32::try_from(millis % 1_000).unwrap_or_default() * 1_000_000;
        // The context counts the ids of one millisecond, so only one thread may ask it at a time.
        let context = self.0.lock();
        Uuid::new_v7(UuidTimestamp::from_unix(&*context, millis / 1_000, nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_instant_ascend() {
        let ids = Ids::new();
        let made: Vec<Uuid> =
            (0..10_000).map(|_| ids.next(Timestamp::from_millis(1_000))).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert_eq!(made[0].get_version_num(), 7);
    }
}
