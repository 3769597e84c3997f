//! Instants as people write them on a command line.

use std::str::FromStr;
use std::time::Duration;

use portcullis_model::Timestamp;

/// An instant, or a time before the present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    At(Timestamp),
    Ago(Duration),
}

impl Moment {
    /// Returns the instant.
    pub(crate) fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(instant) => instant,
            Self::Ago(ago) => {
                let ago = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
                Timestamp::from_millis(now.millis().saturating_sub(ago))
            }
        }
    }
}

impl FromStr for Moment {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected minutes, hours or days ago, such as `30m`, `12h` or `7d`, or an instant such as `2026-05-16T09:30:00Z`";
        if let Some(instant) = Timestamp::parse(text) {
            return Ok(Self::At(instant));
        }
        let (number, seconds) = ["m", "h", "d"]
            .into_iter()
            .zip([60, 3_600, 86_400])
            .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
            .ok_or(expected)?;
        let number: u32 = number.parse().map_err(|_| expected)?;
        Ok(Self::Ago(Duration::from_secs(u64::from(number) * seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_an_instant_or_a_time_ago() {
        let now = Timestamp::parse("2026-05-16T09:30:00Z").expect("an instant");
        for (text, expected) in [
            ("7d", "2026-05-09T09:30:00.000Z"),
            ("12h", "2026-05-15T21:30:00.000Z"),
            ("30m", "2026-05-16T09:00:00.000Z"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
        ] {
            let moment: Moment = text.parse().expect("a moment");
            assert_eq!(moment.at(now).to_string(), expected, "{text}");
        }
        for text in ["", "d", "7", "7w", "-1d", "yesterday"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
