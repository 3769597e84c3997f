//! `hours.open` and `hours.weekday`: what the clock on the wall of the house says at the instant of a check.
//!
//! Configuration: `opens` and `closes` as `HH:MM` (a closing time before the opening time is on the next day), `days`
//! as `mon,tue,…`, and `utc_offset` as `+HH:MM`.

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Host, Kind, Request, Resolution,
    Resolver, Value, export_resolver,
};

const MINUTE_MS: u64 = 60_000;
/// Minutes of a day.
const DAY: i64 = 24 * 60;
/// The first of January 1970 was a Thursday.
const WEEKDAYS: [&str; 7] =
    ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"];

/// The resolver.
pub struct BusinessHours;

impl Resolver for BusinessHours {
    fn describe() -> Descriptor {
        Descriptor {
            attributes: vec![
                AttributeSpec::new("open", Kind::Boolean, 60_000),
                AttributeSpec::new("weekday", Kind::Text, 60_000),
            ],
            config_keys: ["opens", "closes", "days", "utc_offset"].map(ConfigKey::required).into(),
            ..Descriptor::new("business-hours", "1.0.0")
        }
    }

    fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error> {
        let offset = setting(host, "utc_offset", "such as `+01:00`", offset)?;
        let opens = setting(host, "opens", "such as `08:00`", time)?;
        let closes = setting(host, "closes", "such as `18:00`", time)?;
        let days = setting(host, "days", "such as `mon,tue`", days)?;
        let local = (request.now_ms / MINUTE_MS).cast_signed() + offset;
        let (day, minute) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (today, yesterday) = (days.contains(&weekday(day)), days.contains(&weekday(day - 1)));
        let open = if opens <= closes {
            today && (opens..closes).contains(&minute)
        } else {
            // The hours that began yesterday last until the closing time of today.
            today && minute >= opens || yesterday && minute < closes
        };
        // Nothing changes before the next minute begins, and everything may then.
        let ttl_ms = u32::try_from(MINUTE_MS - request.now_ms % MINUTE_MS).ok();
        let attributes = request.wanted.iter().map(|name| {
            let value = match name.as_str() {
                "open" => Value::Boolean(open),
                _ => Value::Text(weekday(day).to_owned()),
            };
            Attribute { ttl_ms, ..Attribute::new(name, value) }
        });
        Ok(Resolution::new(attributes.collect(), vec![]))
    }
}

export_resolver!(BusinessHours);

fn weekday(day: i64) -> &'static str {
    WEEKDAYS[day.rem_euclid(7) as usize]
}

fn setting<T>(
    host: &impl Host,
    key: &str,
    expected: &str,
    read: fn(&str) -> Option<T>,
) -> Result<T, Error> {
    let text = host.config(key).unwrap_or_default();
    read(&text)
        .ok_or_else(|| Error::Internal(format!("`{key}`: expected {expected}, not `{text}`")))
}

/// Minutes since midnight.
fn time(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then(|| i64::from(hours) * 60 + i64::from(minutes))
}

/// Minutes to add to UTC.
fn offset(text: &str) -> Option<i64> {
    match text.split_at_checked(1)? {
        ("+", rest) => time(rest),
        ("-", rest) => time(rest).map(|minutes| -minutes),
        _ => None,
    }
}

fn days(text: &str) -> Option<Vec<&'static str>> {
    let short = text.split(',').map(str::trim);
    short.map(|short| WEEKDAYS.into_iter().find(|day| day[..3] == *short)).collect()
}

#[cfg(test)]
mod tests {
    use portcullis_guest_sdk::testing::{MockHost, request};

    use super::*;

    /// 2026-01-15T00:00:00Z, a Thursday.
    const THURSDAY: u64 = 1_768_435_200_000;

    fn house(opens: &str, closes: &str, offset: &str) -> MockHost {
        let host = MockHost::new().config("opens", opens).config("closes", closes);
        host.config("days", "mon,tue, wed,thu,fri").config("utc_offset", offset)
    }

    /// Whether the house is open so many minutes after that Thursday began in Greenwich.
    fn open(host: &MockHost, minutes: i64) -> bool {
        let now_ms = THURSDAY.wrapping_add_signed(minutes * 60_000);
        let resolution =
            BusinessHours::resolve(&Request { now_ms, ..request(&["open"]) }, host).unwrap();
        resolution.attributes[0].value == Value::Boolean(true)
    }

    #[test]
    fn it_is_open_from_the_first_minute_until_the_last_on_its_days() {
        let host = house("08:00", "18:00", "+00:00");
        let hours = [(479, false), (480, true), (1079, true), (1080, false)];
        for (minutes, expected) in hours {
            assert_eq!(open(&host, minutes), expected, "{minutes}");
        }
        assert!(open(&host, DAY + 600) && !open(&host, 2 * DAY + 600), "Friday and Saturday");
    }

    #[test]
    fn the_offset_moves_the_clock_on_the_wall() {
        assert!(open(&house("08:00", "18:00", "+01:30"), 390), "06:30 in Greenwich");
        assert!(!open(&house("08:00", "18:00", "+01:30"), 389));
        assert!(
            open(&house("08:00", "18:00", "-05:00"), 1379)
                && !open(&house("08:00", "18:00", "-05:00"), 779)
        );
    }

    #[test]
    fn a_night_belongs_to_the_day_on_which_it_begins() {
        let host = house("22:00", "06:00", "+00:00");
        assert!(open(&host, 359) && !open(&host, 360) && open(&host, 1320));
        let saturday = 2 * DAY;
        assert!(open(&host, saturday + 100) && !open(&host, saturday + 1320));
        assert!(!open(&host, 4 * DAY + 100), "Sunday's night into Monday");
    }

    #[test]
    fn answers_hold_until_the_next_minute() {
        let asked = Request { now_ms: THURSDAY + 59_000, ..request(&["weekday", "open"]) };
        let resolution =
            BusinessHours::resolve(&asked, &house("08:00", "18:00", "+00:00")).unwrap();
        let weekday = &resolution.attributes[0];
        assert_eq!(weekday.value, Value::Text("thursday".to_owned()));
        assert_eq!((weekday.ttl_ms, resolution.attributes.len()), (Some(1_000), 2));
    }

    #[test]
    fn a_setting_that_makes_no_sense_is_named() {
        for (opens, offset, expected) in [
            ("8", "+00:00", "`opens`: expected such as `08:00`, not `8`"),
            ("24:00", "+00:00", "`opens`: expected such as `08:00`, not `24:00`"),
            ("08:00", "01:00", "`utc_offset`: expected such as `+01:00`, not `01:00`"),
        ] {
            let answer =
                BusinessHours::resolve(&request(&["open"]), &house(opens, "18:00", offset));
            assert_eq!(answer, Err(Error::Internal(expected.to_owned())));
        }
    }
}
