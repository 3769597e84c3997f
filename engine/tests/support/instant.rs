//! Reads RFC 3339 date-times by the grammar of its section 5.6.

/// An instant that sorts without a calendar: seconds since the year 0, true in a leap second after that second, and the
/// digits of the fraction without trailing zeros, which sort as text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(i64, bool, String);

/// The number of days from the first day of the year 0 to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 719_528;

impl Instant {
    /// Returns whole seconds since 1970. A leap second is the second before it.
    pub(crate) fn unix_seconds(&self) -> i64 {
        self.0 - DAYS_BEFORE_1970 * 86_400
    }

    /// Returns the instant that many seconds later, at the same place within its second.
    pub(crate) fn plus(&self, seconds: i64) -> Self {
        Self(self.0 + seconds, self.1, self.2.clone())
    }
}

/// Parses a date-time; `None` for any other text.
pub(crate) fn parse(text: &str) -> Option<Instant> {
    let date_time = text.as_bytes();
    if !text.is_ascii() || date_time.len() < "2026-01-01T00:00:00Z".len() {
        return None;
    }
    let separators = [(4, "-"), (7, "-"), (10, "Tt "), (13, ":"), (16, ":")];
    if separators.iter().any(|(at, any_of)| !any_of.contains(char::from(date_time[*at]))) {
        return None;
    }
    let (year, month, day) = (number(&text[..4])?, number(&text[5..7])?, number(&text[8..10])?);
    let (hour, minute) = (number(&text[11..13])?, number(&text[14..16])?);
    let second = number(&text[17..19])?;
    let days = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
    if !days || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, offset) = split_fraction(&text[19..])?;
    let leap = second == 60;
    let of_day = hour * 3600 + minute * 60 + second - i64::from(leap);
    let seconds = days_before(year, month, day) * 86_400 + of_day - offset_seconds(offset)?;
    Some(Instant(seconds, leap, fraction.trim_end_matches('0').to_owned()))
}

/// Parses digits without sign or space.
fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Splits the digits of an optional fraction from the rest.
fn split_fraction(text: &str) -> Option<(&str, &str)> {
    let Some(after_dot) = text.strip_prefix('.') else {
        return Some(("", text));
    };
    let end = after_dot.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then(|| after_dot.split_at(end))
}

/// Parses `Z`, `+hh:mm` or `-hh:mm`, in seconds.
fn offset_seconds(text: &str) -> Option<i64> {
    if text == "Z" || text == "z" {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Counts the days from the first day of the year 0 to this one, one year and one month at a time.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let years: i64 = (0..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let months: i64 = (1..month).map(|month| days_of_month(year, month)).sum();
    years + months + day - 1
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}
