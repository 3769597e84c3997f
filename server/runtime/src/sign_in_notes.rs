//! The sign-ins and sign-outs that get an audit record: some of each person, and the others are counted.

use std::collections::HashMap;

use parking_lot::Mutex;
use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;

use crate::audit_window::AuditWindow;

/// Most people and actions in memory. When it is full, those of the last minute are forgotten, with what was not counted.
const MAX: usize = 10_000;

/// The windows of people by tenant, subject and action.
#[derive(Debug, Default)]
pub struct SignInNotes(Mutex<HashMap<Person, AuditWindow>>);

type Person = (String, String, &'static str);

impl SignInNotes {
    /// Returns the number of sign-ins or sign-outs that a record at `at` stands for; `None` if this one gets no record.
    pub fn count(
        &self,
        tenant: &str,
        subject: &str,
        action: AuditAction,
        at: Timestamp,
    ) -> Option<i64> {
        let mut windows = self.0.lock();
        if windows.len() >= MAX {
            windows.retain(|_, window| !window.is_over(at));
        }
        if windows.len() >= MAX {
            windows.clear();
        }
        let person = (tenant.to_owned(), subject.to_owned(), action.into_str());
        windows.entry(person).or_default().count(at)
    }

    /// Returns the number of people in memory.
    pub fn people(&self) -> usize {
        self.0.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_gets_ten_records_in_a_minute_and_each_sign_in_is_counted() {
        let notes = SignInNotes::default();
        let note = |subject: &str, millis| {
            let at = Timestamp::from_millis(millis);
            notes.count("acme", subject, AuditAction::ConsoleSignedIn, at)
        };
        let counted: Vec<_> = (0..25).filter_map(|n| note("ann", 1_000_000 + n)).collect();
        assert_eq!(counted, [1; 10]);
        assert_eq!(note("bob", 1_000_000), Some(1), "another person");
        assert_eq!(note("ann", 1_000_000 + 60_000), Some(16));
        assert_eq!(notes.people(), 2);
    }
}
