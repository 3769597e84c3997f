//! Time windows as one text: `mon-fri 08:00-18:00 Europe/Berlin`.

use std::fmt;

use super::window::{Hours, TIME, TimeOfDay, TimeWindow, WEEKDAY, WEEKDAYS, Weekdays};
use super::zone::Zone;
use crate::excerpt::quoted;

/// From this many days on, days that follow each other are written as a range.
const MIN_RANGE: usize = 3;
/// Completes "expected …" for a text.
const FORM: &str = "days, hours and a time zone such as `mon-fri 08:00-18:00 Europe/Berlin`, in this order, with days in \
    lower case; days and hours may be absent";

impl TimeWindow {
    /// Parses `[days] [from-to] zone`, with spaces between the parts. Days are names and ranges with commas between
    /// them; a range may run over the end of the week.
    ///
    /// # Errors
    /// The expected form, in words that complete "expected …".
    pub fn parse(text: &str) -> Result<Self, String> {
        // Four parts are one too many, as more are.
        let parts: Vec<&str> = text.split_ascii_whitespace().take(4).collect();
        Self::from_parts(&parts)
            .map_err(|expected| if is_misplaced(&parts) { FORM.to_owned() } else { expected })
    }

    fn from_parts(parts: &[&str]) -> Result<Self, String> {
        let (days, hours, zone) = match *parts {
            [zone] => (None, None, zone),
            [hours, zone] if begins_with_digit(hours) => (None, Some(hours), zone),
            [days, zone] => (Some(days), None, zone),
            [days, hours, zone] => (Some(days), Some(hours), zone),
            _ => return Err(FORM.to_owned()),
        };
        Ok(Self {
            days: days.map_or(Ok(Weekdays::ALL), parse_days)?,
            hours: hours.map(parse_hours).transpose()?,
            zone: parse_zone(zone)?,
        })
    }
}

fn begins_with_digit(part: &str) -> bool {
    part.starts_with(|char: char| char.is_ascii_digit())
}

/// Returns whether the parts have another order, or days in upper case.
fn is_misplaced(parts: &[&str]) -> bool {
    let ranks: Vec<u8> = parts.iter().map(|part| rank(part)).collect();
    let mut sorted = ranks.clone();
    sorted.sort_unstable();
    // Days, hours and zone come at most once each.
    let is_complete = sorted.is_sorted_by(|one, next| one < next);
    let has_upper_days = parts.iter().any(|part| are_days(part) && parse_days(part).is_err());
    is_complete && (ranks != sorted || has_upper_days)
}

fn are_days(part: &str) -> bool {
    parse_days(&part.to_ascii_lowercase()).is_ok()
}

/// Returns the place of a part in the order of parts.
fn rank(part: &str) -> u8 {
    match (are_days(part), begins_with_digit(part)) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    }
}

/// Returns the zone of this name. The fault leaves "not …" to its reader, who quotes the whole text.
fn parse_zone(name: &str) -> Result<Zone, String> {
    Zone::find(name).ok_or_else(|| {
        let nearest = Zone::nearest(name);
        let nearest = nearest.map(|nearest| format!(" (the nearest is `{nearest}`)"));
        let name = quoted(name);
        let nearest = nearest.unwrap_or_default();
        format!("an IANA time zone such as `Europe/Berlin` in place of {name}{nearest}")
    })
}

fn parse_days(text: &str) -> Result<Weekdays, String> {
    let mut days = Weekdays::NONE;
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (parse_day(first)?, parse_day(last)?);
        // A range whose last day comes first runs over the end of the week.
        let count = (last + WEEKDAYS.len() - first) % WEEKDAYS.len() + 1;
        for day in (first..first + count).map(|day| day % WEEKDAYS.len()) {
            if days.has(day) {
                return Err(format!("each weekday once in `{text}`"));
            }
            days = days.with(day);
        }
    }
    Ok(days)
}

fn parse_day(text: &str) -> Result<usize, String> {
    let day = WEEKDAYS.iter().position(|known| *known == text);
    day.ok_or_else(|| {
        format!("{WEEKDAY}, a range such as `mon-fri`, or both with `,` between them")
    })
}

fn parse_hours(text: &str) -> Result<Hours, String> {
    let hours = text.split_once('-').and_then(|(from, to)| {
        Some(Hours { from: TimeOfDay::parse(from)?, to: TimeOfDay::parse(to)? })
    });
    hours.ok_or_else(|| format!("hours such as `08:00-18:00`, each {TIME}"))
}

impl fmt::Display for TimeWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days != Weekdays::ALL {
            write_days(self.days, f)?;
            f.write_str(" ")?;
        }
        if let Some(Hours { from, to }) = self.hours {
            write!(f, "{from}-{to} ")?;
        }
        f.write_str(self.zone.name())
    }
}

fn write_days(days: Weekdays, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let present: Vec<bool> = (0..WEEKDAYS.len()).map(|day| days.has(day)).collect();
    let mut names = WEEKDAYS.as_slice();
    let mut between = "";
    for run in present.chunk_by(|one, next| one == next) {
        let (of_run, rest) = names.split_at(run.len());
        names = rest;
        if run.first() != Some(&true) {
            continue;
        }
        match of_run {
            [first, .., last] if of_run.len() >= MIN_RANGE => write!(f, "{between}{first}-{last}")?,
            single => write!(f, "{between}{}", single.join(","))?,
        }
        between = ",";
    }
    Ok(())
}
