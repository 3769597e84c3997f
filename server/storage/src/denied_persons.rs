//! The person whose denied checks are erased, and the numbers that leave a queue with them.

use portcullis_model::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

/// The denied checks that are erased.
#[derive(Clone, Copy)]
pub struct DeniedPerson<'p> {
    /// Returns whether a check about this subject is one.
    pub is_subject: &'p (dyn Fn(&str) -> bool + Sync),
    /// Later checks stay.
    pub until: Timestamp,
}

/// The denials that left a queue, as the queue counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    pub(crate) waiting: i64,
    pub(crate) settled: i64,
    pub(crate) sent: i64,
    /// The dropped denials that they should have reported.
    pub(crate) unreported: i64,
}

impl DeniedPerson<'_> {
    /// Returns whether the body of the event `id` is about the person.
    pub(crate) fn has(self, id: Uuid, body: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Body {
            data: Denied,
        }
        #[derive(Deserialize)]
        struct Denied {
            subject: String,
        }
        let is_about = |body: Body| (self.is_subject)(&body.data.subject);
        Timestamp::from_id(id) <= self.until && serde_json::from_slice(body).is_ok_and(is_about)
    }
}
