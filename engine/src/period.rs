//! Periods before and after the present: the right side of `within` and `within_next` (`docs/semantics.md`, section 4.5).

use std::fmt;

use chrono::{DateTime, Utc};

const SECONDS_OF_DAY: u32 = 86_400;
/// The maximum number of days of a duration: a hundred years.
pub const MAX_DAYS: u32 = 36_525;

/// The maximum length of one number. So no sum overflows.
const MAX_DIGITS: usize = 9;

/// The side of the present on which an instant lies. The present itself is on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Past,
    Future,
}

/// A duration of whole seconds, above zero and at most [`MAX_DAYS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeSpan {
    seconds: u32,
}

impl TimeSpan {
    /// Parses an ISO 8601 duration of days, hours, minutes and seconds, such as `P1DT12H`. `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('P')?;
        let (days, time) = match rest.split_once('T') {
            // ISO 8601 has no `T` without a time behind it.
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (rest, ""),
        };
        let days = sum(days, &[('D', SECONDS_OF_DAY)])?;
        let seconds = days + sum(time, &[('H', 3_600), ('M', 60), ('S', 1)])?;
        let seconds = u32::try_from(seconds).ok()?;
        (1..=MAX_DAYS * SECONDS_OF_DAY).contains(&seconds).then_some(Self { seconds })
    }

    /// Returns the length in seconds.
    pub fn seconds(self) -> u32 {
        self.seconds
    }

    /// Returns the periods of this length on both sides of `now`.
    pub(crate) fn around(self, now: DateTime<Utc>) -> Period {
        Period { now, length: self }
    }
}

/// Returns the seconds of numbers, each before the letter of its unit, in the order of `units`. `None` for any other text.
fn sum(mut text: &str, units: &[(char, u32)]) -> Option<u64> {
    let mut seconds = 0u64;
    for (unit, length) in units {
        if let Some((digits, rest)) = text.split_once(*unit) {
            // `parse` alone would accept a sign.
            let is_plain =
                digits.len() <= MAX_DIGITS && digits.bytes().all(|it| it.is_ascii_digit());
            let number: u64 = digits.parse().ok().filter(|_| is_plain)?;
            seconds += number * u64::from(*length);
            text = rest;
        }
    }
    text.is_empty().then_some(seconds)
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, time) = (self.seconds / SECONDS_OF_DAY, self.seconds % SECONDS_OF_DAY);
        f.write_str("P")?;
        if days > 0 {
            write!(f, "{days}D")?;
        }
        f.write_str(if time > 0 { "T" } else { "" })?;
        for (number, unit) in [(time / 3_600, 'H'), (time / 60 % 60, 'M'), (time % 60, 'S')] {
            if number > 0 {
                write!(f, "{number}{unit}")?;
            }
        }
        Ok(())
    }
}

/// The present and a duration, the value of the right side: instants are at most that far from the present.
#[derive(Clone, Copy, Debug)]
pub struct Period {
    now: DateTime<Utc>,
    length: TimeSpan,
}

/// An instant as the seconds since 1970 and the nanoseconds of the second, which a leap second has twice as many of. Both
/// in this order sort as instants do.
type Moment = (i64, u32);

fn moment(instant: DateTime<Utc>) -> Moment {
    (instant.timestamp(), instant.timestamp_subsec_nanos())
}

impl Period {
    /// Returns the length in seconds.
    pub(crate) fn seconds(self) -> u32 {
        self.length.seconds
    }

    /// Returns whether an instant lies in the period on this side of the present. Both ends belong to it.
    pub(crate) fn covers(self, instant: DateTime<Utc>, direction: Direction) -> bool {
        let [first, last] = self.ends(direction);
        (first..=last).contains(&moment(instant))
    }

    /// Returns the first and the last instant on this side of the present.
    pub(crate) fn ends(self, direction: Direction) -> [Moment; 2] {
        let (seconds, nanoseconds) = moment(self.now);
        let length = i64::from(self.length.seconds);
        match direction {
            Direction::Past => [(seconds - length, nanoseconds), (seconds, nanoseconds)],
            Direction::Future => [(seconds, nanoseconds), (seconds + length, nanoseconds)],
        }
    }
}

/// Returns how many seconds an instant lies before `now`, below zero if it lies after it. A part of a second counts as a
/// whole one. So a period covers the instant if and only if its length in seconds is at least as far from zero.
pub(crate) fn age(instant: DateTime<Utc>, now: DateTime<Utc>) -> i64 {
    let (instant, now) = (moment(instant), moment(now));
    let seconds = now.0 - instant.0;
    match instant <= now {
        true => seconds + i64::from(instant.1 < now.1),
        false => seconds - i64::from(instant.1 > now.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_days_and_smaller_units() {
        for (text, seconds, canonical) in [
            ("P30D", 2_592_000, "P30D"),
            ("PT15M", 900, "PT15M"),
            ("PT36H", 129_600, "P1DT12H"),
            ("P0DT90S", 90, "PT1M30S"),
            ("P1DT1H1M1S", 90_061, "P1DT1H1M1S"),
            ("P007D", 604_800, "P7D"),
            ("P36525D", MAX_DAYS * SECONDS_OF_DAY, "P36525D"),
        ] {
            let span = TimeSpan::parse(text).expect(text);
            assert_eq!((span.seconds(), &*span.to_string()), (seconds, canonical));
            assert_eq!(TimeSpan::parse(canonical), Some(span));
        }
        for text in [
            "",
            "P",
            "PT",
            "P1DT",
            "P0D",
            "PT0S",
            "P36525DT1S",
            "P99999999999D",
            "P0000000001D",
            "1D",
            "p1D",
            "P1d",
            "P1W",
            "P1M",
            "P1Y",
            "P1D12H",
            "PT1D",
            "PT1S1M",
            "PT1H1H",
            "P-1D",
            "-P1D",
            "+P1D",
            "P+1D",
            "P1.5D",
            "PT0.5S",
            "PT1,5S",
            " P1D",
            "P1D ",
            "P1DT 1H",
            "P١D",
            "PD",
            "PTM",
            "P1DT1H1",
        ] {
            assert_eq!(TimeSpan::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_period_covers_what_is_not_older_than_its_length() {
        let instants = [
            "2016-12-31T23:59:59Z",
            "2016-12-31T23:59:60Z",
            "2016-12-31T23:59:60.5Z",
            "2017-01-01T00:00:00Z",
            "2017-01-01T00:00:00.250Z",
            "2017-01-01T00:00:00.250000001Z",
            "2017-01-01T00:00:01Z",
            "2017-01-01T00:00:59.999Z",
            "2017-01-01T00:01:00Z",
            "2017-01-02T00:00:00.250Z",
            "2017-01-02T00:00:00.251Z",
            "0000-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999999Z",
        ];
        let instants =
            instants.map(|text| DateTime::parse_from_rfc3339(text).expect(text).to_utc());
        let (mut covered, mut others) = (0, 0);
        for (now, instant) in
            instants.iter().flat_map(|now| instants.map(|instant| (*now, instant)))
        {
            for length in ["PT1S", "PT1M", "P1D"].map(|text| TimeSpan::parse(text).expect(text)) {
                let period = length.around(now);
                let age = age(instant, now);
                let reach = i64::from(length.seconds());
                for (direction, ages) in
                    [(Direction::Past, 0..=reach), (Direction::Future, -reach..=0)]
                {
                    let is_covered = period.covers(instant, direction);
                    assert_eq!(is_covered, ages.contains(&age), "{instant} at {now}, {length}");
                    let is_there = match direction {
                        Direction::Past => instant <= now,
                        Direction::Future => instant >= now,
                    };
                    assert!(is_there || !is_covered, "{instant} at {now}, {length}");
                    *(if is_covered { &mut covered } else { &mut others }) += 1;
                }
            }
        }
        assert!(covered > 80 && others > 400, "{covered} covered, {others} not");
    }
}
