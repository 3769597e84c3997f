//! Times of whole hours, as settings have them.

use std::fmt;
use std::time::Duration;

use portcullis_engine::Json;
use serde::{Serialize, Serializer};

use crate::input::{Field, field};
use crate::schema;

const HOUR: u64 = 60 * 60;
/// The hours of a day.
const DAY: u64 = 24;
/// The longest time, in days: ten years.
const MAX_DAYS: u64 = 3_650;

/// A time of at least one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours(u64);

impl Hours {
    /// Returns the time of `days` days.
    pub(crate) const fn from_days(days: u64) -> Self {
        Self(days * DAY)
    }

    /// Returns the time.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0 * HOUR)
    }

    /// Reads hours or days, such as `36h` or `7d`.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, hours) = match text.strip_suffix('d') {
            Some(days) => (days, DAY),
            None => (text.strip_suffix('h')?, 1),
        };
        // The parser of integers also accepts a sign, which no time has.
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number: u64 = number.parse().ok().filter(|_| is_number)?;
        let hours = number.checked_mul(hours)?;
        (1..=MAX_DAYS * DAY).contains(&hours).then_some(Self(hours))
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % DAY {
            0 => write!(f, "{}d", self.0 / DAY),
            _ => write!(f, "{}h", self.0),
        }
    }
}

impl Serialize for Hours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads a time of whole hours. `about` says what it is.
pub(crate) fn hours<'j>(
    about: &'static str,
    default: Option<Hours>,
) -> impl Field<'j, Value = Hours> {
    field(
        |json: &Json<'_>, at, problems| {
            let hours = json.as_str().and_then(Hours::parse);
            if hours.is_none() {
                let what = format!("a time such as `7d` or `36h`, from `1h` to `{MAX_DAYS}d`");
                problems.expected(at, what);
            }
            hours
        },
        move || {
            let text = schema::string().pattern(Some("^[0-9]{1,6}[hd]$"));
            let default = default.map(|hours| hours.to_string().into());
            text.description(Some(about)).default(default)
        },
    )
}
