//! The time in which a token is valid.

use chrono::{DateTime, Utc};
use portcullis_engine::json::Json;

use super::claims::missing;
use crate::error::{AuthError, refused};

/// Largest difference between the clocks of issuer and service, in seconds.
const LEEWAY: f64 = 30.0;

/// The time in which a token is valid, in seconds since the epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validity {
    /// The claim `exp`.
    expires: f64,
    /// The claim `nbf`.
    from: Option<f64>,
}

impl Validity {
    /// Reads the times of a token.
    ///
    /// # Errors
    /// `exp` is missing, or a time is not a number.
    pub(crate) fn from_claims(claims: &Json<'_>) -> Result<Self, AuthError> {
        let Some(expires) = numeric_date(claims, "exp")? else {
            return refused(missing("exp"));
        };
        Ok(Self { expires, from: numeric_date(claims, "nbf")? })
    }

    /// Refuses a token that is not valid at `now`.
    pub(super) fn check(self, now: DateTime<Utc>) -> Result<(), AuthError> {
        if self.has_ended(now) {
            return refused("the token has expired");
        }
        if !self.has_begun(now) {
            return refused("the token is not valid yet");
        }
        Ok(())
    }

    /// Returns whether the token is valid at `now`.
    pub(crate) fn includes(self, now: DateTime<Utc>) -> bool {
        self.has_begun(now) && !self.has_ended(now)
    }

    /// Returns the end, in seconds since the epoch.
    pub(crate) fn end(self) -> f64 {
        self.expires
    }

    fn has_begun(self, now: DateTime<Utc>) -> bool {
        self.from.is_none_or(|from| seconds(now) >= from - LEEWAY)
    }

    fn has_ended(self, now: DateTime<Utc>) -> bool {
        seconds(now) >= self.expires + LEEWAY
    }
}

/// Returns the seconds since the epoch.
#[expect(clippy::cast_precision_loss, reason = "milliseconds of this millennium fit a double")]
fn seconds(now: DateTime<Utc>) -> f64 {
    now.timestamp_millis() as f64 / 1_000.0
}

/// Returns a NumericDate (RFC 7519, section 2): seconds since the epoch, fractions allowed.
fn numeric_date(claims: &Json<'_>, name: &str) -> Result<Option<f64>, AuthError> {
    match claims.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Number(number)) => Ok(Some(number.as_f64())),
        Some(_) => refused(missing(name)),
    }
}
