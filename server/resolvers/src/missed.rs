//! The reason why a call of a resolver has no answer.

use std::time::Duration;

use portcullis_resolver_host::CallError;

/// The reason why a call has no answer.
#[derive(Debug)]
pub(crate) enum Missed {
    /// The call failed.
    Failed(CallError),
    /// The breaker refused the call. `failure` is the last failure of the calls before it.
    Suspended { wait: Duration, failure: Option<CallError> },
}

impl Missed {
    /// Whether the source of the resolver is unavailable, by this call or by the last one before the breaker opened.
    pub(crate) fn is_unavailable(&self) -> bool {
        let (Self::Failed(error) | Self::Suspended { failure: Some(error), .. }) = self else {
            return false;
        };
        matches!(error, CallError::Unavailable(_))
    }

    /// Returns the cause for everyone who may see a decision: no words of the guest.
    pub(crate) fn summary(&self) -> String {
        self.describe(CallError::summary)
    }

    /// Returns the cause for managers of the tenant.
    pub(crate) fn cause(&self) -> String {
        self.describe(CallError::to_string)
    }

    fn describe(&self, show: fn(&CallError) -> String) -> String {
        match self {
            Self::Failed(error) => show(error),
            Self::Suspended { wait, failure } => {
                let how_long = match wait.as_secs_f64().ceil() {
                    0.0 => "while a trial call runs".to_owned(),
                    seconds => format!("for {seconds} s"),
                };
                let last = failure.as_ref().map(|last| format!(", the last one: {}", show(last)));
                let last = last.unwrap_or_default();
                format!("circuit breaker open {how_long} because calls failed{last}")
            }
        }
    }
}
