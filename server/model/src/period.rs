//! Periods by which decisions are counted.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::Timestamp;

/// Milliseconds of an hour.
const HOUR: i64 = 60 * 60 * 1_000;

/// A period of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum CountPeriod {
    Hour,
    Day,
}

impl CountPeriod {
    /// Returns the beginning of the period that has `instant`.
    pub fn start(self, instant: Timestamp) -> Timestamp {
        let length = match self {
            Self::Hour => HOUR,
            Self::Day => 24 * HOUR,
        };
        Timestamp::from_millis(instant.millis().div_euclid(length) * length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_begins_at_a_full_hour_or_day_of_utc() {
        for (instant, hour, day) in [
            ("2026-05-16T09:30:01.5Z", "2026-05-16T09:00:00.000Z", "2026-05-16T00:00:00.000Z"),
            ("2026-05-16T00:00:00Z", "2026-05-16T00:00:00.000Z", "2026-05-16T00:00:00.000Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:00:00.000Z", "1969-12-31T00:00:00.000Z"),
        ] {
            let instant = Timestamp::parse(instant).expect("an instant");
            assert_eq!(CountPeriod::Hour.start(instant).to_string(), hour);
            assert_eq!(CountPeriod::Day.start(instant).to_string(), day);
        }
    }
}
