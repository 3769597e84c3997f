//! Time windows as one text: `mon-fri 08:00-18:00 Europe/Berlin`.

use std::fmt;

use super::window::{Hours, TIME, TimeOfDay, TimeWindow, WEEKDAY, WEEKDAYS, Weekdays, find_zone};

/// From this many days on, days that follow each other are written as a range.
const MIN_RANGE: usize = 3;

impl TimeWindow {
    /// Parses `[days] [from-to] zone`, with spaces between the parts. Days are names and ranges with commas between
    /// them; a range may run over the end of the week.
    ///
    /// # Errors
    /// The expected form, in words that complete "expected …".
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split_ascii_whitespace().take(4).collect();
        let begins_with_digit = |part: &str| part.starts_with(|char: char| char.is_ascii_digit());
        let (days, hours, zone) = match *parts.as_slice() {
            [zone] => (None, None, zone),
            [hours, zone] if begins_with_digit(hours) => (None, Some(hours), zone),
            [days, zone] => (Some(days), None, zone),
            [days, hours, zone] => (Some(days), Some(hours), zone),
            _ => {
                return Err("days, hours and a time zone such as \
                    `mon-fri 08:00-18:00 Europe/Berlin`; days and hours may be absent"
                    .to_owned());
            }
        };
        Ok(Self {
            days: days.map_or(Ok(Weekdays::ALL), parse_days)?,
            hours: hours.map(parse_hours).transpose()?,
            zone: find_zone(zone)?,
        })
    }
}

fn parse_days(text: &str) -> Result<Weekdays, String> {
    let mut days = Weekdays::NONE;
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (parse_day(first)?, parse_day(last)?);
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
