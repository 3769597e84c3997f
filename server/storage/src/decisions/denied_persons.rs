//! The persons whose denied checks are erased, and the numbers that leave a queue with them.

use std::collections::BTreeMap;

use portcullis_model::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

/// The persons of a tenant whose denied checks are erased.
#[derive(Clone, Copy)]
pub struct DeniedPersons<'p> {
    /// The instant of each erasure, by the code of the subject: later checks stay.
    pub erased_at: &'p BTreeMap<Vec<u8>, Timestamp>,
    /// Returns the codes that a subject may have, by different keys.
    pub codes_of: &'p (dyn Fn(&str) -> Vec<Vec<u8>> + Sync),
}

/// The deliveries of denied checks that are gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErasedDenials {
    pub(crate) deliveries: i64,
    /// Those of them that the receivers may have.
    pub(crate) sent: i64,
}

/// The denials that left a queue, as the queue counts them.
#[derive(Debug, Default)]
pub(crate) struct Left<'p> {
    pub(crate) waiting: i64,
    pub(crate) settled: i64,
    /// The dropped denials that they should have reported.
    pub(crate) unreported: i64,
    /// By the code of the subject.
    pub(crate) by_person: BTreeMap<&'p [u8], ErasedDenials>,
}

impl<'p> DeniedPersons<'p> {
    /// Returns the code of the person whom the body of the event `id` is about; `None` if it stays.
    pub(crate) fn find(self, id: Uuid, body: &[u8]) -> Option<&'p [u8]> {
        #[derive(Deserialize)]
        struct Body {
            data: Denied,
        }
        #[derive(Deserialize)]
        struct Denied {
            subject: String,
        }
        let body: Body = serde_json::from_slice(body).ok()?;
        let mut codes = (self.codes_of)(&body.data.subject).into_iter();
        let (code, until) = codes.find_map(|code| self.erased_at.get_key_value(&code))?;
        // The time of an event is that of its id: the check was made no later.
        (Timestamp::from_id(id) <= *until).then_some(code)
    }
}

impl<'p> Left<'p> {
    /// Counts a delivery of the person with this code.
    pub(crate) fn count(&mut self, person: &'p [u8], was_sent: bool) {
        let erased = self.by_person.entry(person).or_default();
        erased.deliveries += 1;
        erased.sent += i64::from(was_sent);
    }
}
