//! Time windows: the value of `during` as JSON, and its meaning.

use chrono::{DateTime, Utc};

use super::zone::Zone;
use crate::excerpt::quoted;
use crate::fields::{self, Fields, string, typed};
use crate::invalid::{Place, Problems};
use crate::json::Json;

/// The names of the weekdays, in the order of a week.
pub const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Completes "expected …" for a weekday.
pub(super) const WEEKDAY: &str = "`mon`, `tue`, `wed`, `thu`, `fri`, `sat` or `sun`";
/// Completes "expected …" for a time zone.
const ZONE: &str = "an IANA time zone such as `Europe/Berlin`";
/// Completes "expected …" for a time of day.
pub(super) const TIME: &str = "a time from `00:00` to `23:59`; midnight is `00:00`";

const SECONDS_OF_DAY: i64 = 86_400;
/// The weekday of 1970-01-01, as an index of [`WEEKDAYS`].
const FIRST_WEEKDAY: i64 = 3;

/// Weekdays and hours in the local time of a zone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimeWindow {
    pub(super) days: Weekdays,
    /// `None` is the whole day.
    pub(super) hours: Option<Hours>,
    pub(super) zone: Zone,
}

/// A set of weekdays, one bit for each index of [`WEEKDAYS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Weekdays(u8);

/// The hours from `from` up to but not including `to`, over midnight if `to` is not after `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hours {
    pub(super) from: TimeOfDay,
    pub(super) to: TimeOfDay,
}

/// A time of day, in minutes since midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TimeOfDay(u16);

impl Weekdays {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self(0b111_1111);

    pub(super) fn has(self, day: usize) -> bool {
        self.0 & 1 << day != 0
    }

    pub(super) fn with(self, day: usize) -> Self {
        Self(self.0 | 1 << day)
    }

    /// Returns the name of each day in the set.
    fn names(self) -> impl Iterator<Item = &'static str> {
        let days = WEEKDAYS.into_iter().enumerate();
        days.filter(move |(day, _)| self.has(*day)).map(|(_, name)| name)
    }
}

impl TimeOfDay {
    /// Parses `hh:mm`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
        (hours < 24 && minutes < 60).then_some(Self(60 * hours + minutes))
    }
}

impl std::fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl TimeWindow {
    /// Returns whether the instant lies in the window.
    pub fn covers(&self, instant: DateTime<Utc>) -> bool {
        let local = self.zone.local_seconds(instant);
        let day = local.div_euclid(SECONDS_OF_DAY);
        let Some(Hours { from, to }) = self.hours else { return self.has_day(day) };
        let minute = local.rem_euclid(SECONDS_OF_DAY) / 60;
        let (has_begun, is_over) = (i64::from(from.0) <= minute, i64::from(to.0) <= minute);
        if from < to {
            return self.has_day(day) && has_begun && !is_over;
        }
        // After midnight the window belongs to the day before.
        (self.has_day(day) && has_begun) || (self.has_day(day - 1) && !is_over)
    }

    /// Returns whether a day, counted from 1970-01-01, is one of the weekdays.
    #[inline]
    fn has_day(&self, day: i64) -> bool {
        let weekday = (day + FIRST_WEEKDAY).rem_euclid(7);
        usize::try_from(weekday).is_ok_and(|weekday| self.days.has(weekday))
    }

    /// Returns the number of steps that it takes to parse a date-time: 16 bytes of a text are one.
    pub(crate) fn scanned(text: &str) -> usize {
        text.len() / 16
    }

    /// Reads the window at `at` of a larger input.
    pub(crate) fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        fields::object(json, at, problems, |fields| {
            let days = fields.optional("days", read_days);
            let hours = read_hours(json, fields);
            let zone = fields.required("zone", read_zone);
            Some(Self { days: days.unwrap_or(Weekdays::ALL), hours: hours?, zone: zone? })
        })
    }

    /// Returns the window as a condition tree writes it.
    pub(crate) fn to_json(&self) -> Json<'static> {
        let mut members = Vec::new();
        if self.days != Weekdays::ALL {
            let days = self.days.names().map(|name| Json::String(name.into()));
            members.push(("days".into(), Json::Array(days.collect())));
        }
        if let Some(Hours { from, to }) = self.hours {
            members.push(("from".into(), Json::String(from.to_string().into())));
            members.push(("to".into(), Json::String(to.to_string().into())));
        }
        members.push(("zone".into(), Json::String(self.zone.name().into())));
        Json::Object(members)
    }
}

/// Returns the number that two digits write. [`str::parse`] alone would accept a sign.
fn two_digits(part: &str) -> Option<u16> {
    let is_plain = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    part.parse().ok().filter(|_| is_plain)
}

fn read_days(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Weekdays> {
    let items = typed(json.as_array(), "an array of weekdays", json, at, problems)?;
    if items.is_empty() {
        problems.expected(at, "at least one weekday; without `days`, every day counts");
        return None;
    }
    // More items are names that are wrong or come twice.
    let mut days = Weekdays::NONE;
    for (index, item) in items.iter().enumerate() {
        let name = item.as_str();
        match WEEKDAYS.iter().position(|known| name == Some(known)) {
            None => problems.expected(&at.index(index), WEEKDAY),
            Some(day) if days.has(day) => problems.expected(&at.index(index), "each weekday once"),
            Some(day) => days = days.with(day),
        }
    }
    Some(days)
}

/// Reads `from` and `to`, which come together or not at all. `Some(None)` is the whole day.
fn read_hours(json: &Json<'_>, fields: &mut Fields<'_, '_>) -> Option<Option<Hours>> {
    let mut values = ["from", "to"].into_iter().map(|name| json.get(name));
    if values.all(|value| value.is_none_or(|value| matches!(value, Json::Null))) {
        fields.skip("from");
        fields.skip("to");
        return Some(None);
    }
    let from = fields.required("from", read_time);
    let to = fields.required("to", read_time);
    Some(Some(Hours { from: from?, to: to? }))
}

fn read_time(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<TimeOfDay> {
    let time = json.as_str().and_then(TimeOfDay::parse);
    if time.is_none() {
        problems.expected(at, TIME);
    }
    time
}

fn read_zone(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Zone> {
    let name = string(json, at, problems)?;
    // The nearest name is searched for only if the fault is kept: a condition can have 1,000 wrong names.
    if problems.is_full() {
        return Zone::find(name).or_else(|| {
            problems.expected(at, ZONE);
            None
        });
    }
    find_zone(name).map_err(|expected| problems.expected(at, expected)).ok()
}

/// Returns the zone of this name, or the words that complete "expected …".
fn find_zone(name: &str) -> Result<Zone, String> {
    Zone::find(name).ok_or_else(|| match Zone::nearest(name) {
        Some(nearest) => format!("{ZONE}, not {}; the nearest is `{nearest}`", quoted(name)),
        None => format!("{ZONE}, not {}", quoted(name)),
    })
}
