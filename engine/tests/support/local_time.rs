//! The oracle for `during`: local times by the crate chrono-tz, which has its own copy of the rules of time zones.

use chrono::{DateTime, Datelike, Timelike};
use chrono_tz::Tz;
use serde_json::Value;

const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const MINUTES_OF_DAY: u32 = 24 * 60;
const MINUTES_OF_WEEK: u32 = 7 * MINUTES_OF_DAY;

/// Returns whether an instant, in Unix seconds, lies in the window: whether it comes less than the window's length after
/// its beginning, on a clock that shows a week.
pub(crate) fn lies_in(window: &Value, unix_seconds: i64) -> bool {
    let now = minute_of_week(unix_seconds, window["zone"].as_str().expect("a zone"));
    let (from, to) = match window["from"].as_str() {
        Some(from) => (minutes(from), minutes(window["to"].as_str().expect("an end"))),
        None => (0, 0),
    };
    let length = if to > from { to - from } else { to + MINUTES_OF_DAY - from };
    let days = window["days"].as_array();
    let is_on = |name: &str| days.is_none_or(|days| days.iter().any(|day| day == name));
    (0..).zip(WEEKDAYS).filter(|(_, name)| is_on(name)).any(|(day, _)| {
        let since_start = now + MINUTES_OF_WEEK - day * MINUTES_OF_DAY - from;
        since_start % MINUTES_OF_WEEK < length
    })
}

fn minutes(time: &str) -> u32 {
    let (hours, minutes) = time.split_once(':').expect("hh:mm");
    let number = |digits: &str| digits.parse::<u32>().expect("digits");
    60 * number(hours) + number(minutes)
}

/// Returns the minute that clocks show, counted from the beginning of Monday.
fn minute_of_week(unix_seconds: i64, zone: &str) -> u32 {
    let instant = DateTime::from_timestamp(unix_seconds, 0).expect("in range");
    let local = instant.with_timezone(&zone.parse::<Tz>().expect("a zone"));
    local.weekday().num_days_from_monday() * MINUTES_OF_DAY + local.hour() * 60 + local.minute()
}
