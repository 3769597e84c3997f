//! The wall clock, as a parameter: whoever needs the time is given a [`Clock`].

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};

/// Tells the time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>);

impl Clock {
    /// The clock of the machine.
    pub fn system() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
        Self(Arc::new(Utc::now))
    }

    /// A clock that a test sets.
    pub fn of(now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The present instant.
    pub fn now(&self) -> DateTime<Utc> {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
