//! Time windows at the changes of real clocks, their texts, and the message of each fault.

use super::*;
use crate::invalid::{Place, Problems};
use crate::value::parse_instant;

fn window(text: &str) -> TimeWindow {
    TimeWindow::parse(text).expect(text)
}

/// Each row: an instant, and whether it lies in the window.
#[track_caller]
fn verify(text: &str, rows: &[(&str, bool)]) {
    let window = window(text);
    for (instant, expected) in rows {
        let covers = window.covers(parse_instant(instant).expect(instant));
        assert_eq!(covers, *expected, "{text} at {instant}");
    }
}

#[test]
fn hours_end_before_their_end() {
    verify(
        "mon-fri 08:00-18:00 Europe/Berlin",
        &[
            ("2026-01-12T06:59:59.999Z", false),
            ("2026-01-12T07:00:00Z", true),
            ("2026-01-16T16:59:59.999999999Z", true),
            ("2026-01-16T17:00:00Z", false),
            ("2026-01-17T12:00:00Z", false),
            // In summer the clocks are an hour further.
            ("2026-07-13T05:59:59Z", false),
            ("2026-07-13T06:00:00Z", true),
            ("2026-07-13T18:00:00+02:00", false),
        ],
    );
    verify("UTC", &[("2026-01-17T12:00:00Z", true), ("0001-01-01T00:00:00Z", true)]);
    verify(
        "sat Asia/Kathmandu",
        &[("2026-01-16T18:14:59Z", false), ("2026-01-16T18:15:00Z", true)],
    );
    verify(
        "08:00-18:00 Asia/Kolkata",
        &[("2026-01-17T02:29:59Z", false), ("2026-01-17T02:30:00Z", true)],
    );
}

#[test]
fn hours_over_midnight_belong_to_the_day_on_which_they_begin() {
    verify(
        "fri 22:00-06:00 Europe/Berlin",
        &[
            ("2026-01-16T05:00:00+01:00", false),
            ("2026-01-16T21:59:59+01:00", false),
            ("2026-01-16T22:00:00+01:00", true),
            ("2026-01-17T05:59:59+01:00", true),
            ("2026-01-17T06:00:00+01:00", false),
            ("2026-01-17T22:00:00+01:00", false),
        ],
    );
    verify(
        "sun 22:00-00:00 UTC",
        &[("2026-01-18T23:59:59Z", true), ("2026-01-19T00:00:00Z", false)],
    );
    // A whole day that does not begin at midnight.
    verify(
        "mon 08:00-08:00 UTC",
        &[
            ("2026-01-12T07:59:59Z", false),
            ("2026-01-12T08:00:00Z", true),
            ("2026-01-13T07:59:59Z", true),
            ("2026-01-13T08:00:00Z", false),
        ],
    );
}

#[test]
fn a_skipped_hour_never_comes() {
    for (text, before, after) in [
        ("sun 02:00-03:00 Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z"),
        ("sun 02:00-03:00 America/New_York", "2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z"),
        ("sun 02:00-03:00 America/St_Johns", "2026-03-08T05:29:59Z", "2026-03-08T05:30:00Z"),
        // Half an hour, in the spring of the southern hemisphere.
        ("sun 02:00-02:30 Australia/Lord_Howe", "2026-10-03T15:29:59Z", "2026-10-03T15:30:00Z"),
        ("sun 02:45-03:45 Pacific/Chatham", "2026-09-26T13:59:59Z", "2026-09-26T14:00:00Z"),
        // A whole day.
        ("fri Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-30T10:00:00Z"),
    ] {
        verify(text, &[(before, false), (after, false)]);
    }
    // After midnight the day before counts, on the calendar.
    verify(
        "fri 22:00-02:00 Pacific/Apia",
        &[("2011-12-30T09:59:59Z", false), ("2011-12-30T10:00:00Z", true)],
    );
}

#[test]
fn a_repeated_hour_comes_twice() {
    for (text, first, second, end) in [
        (
            "sun 02:00-03:00 Europe/Berlin",
            "2026-10-25T00:00:00Z",
            "2026-10-25T01:00:00Z",
            "2026-10-25T02:00:00Z",
        ),
        (
            "sun 01:00-02:00 America/New_York",
            "2026-11-01T05:00:00Z",
            "2026-11-01T06:00:00Z",
            "2026-11-01T07:00:00Z",
        ),
        (
            "sun 01:30-02:00 Australia/Lord_Howe",
            "2026-04-04T14:30:00Z",
            "2026-04-04T15:00:00Z",
            "2026-04-04T15:30:00Z",
        ),
        (
            "sun 02:45-03:45 Pacific/Chatham",
            "2026-04-04T13:00:00Z",
            "2026-04-04T14:00:00Z",
            "2026-04-04T15:00:00Z",
        ),
        // The last hour of Saturday.
        (
            "sat 23:00-00:00 America/Santiago",
            "2026-04-05T02:00:00Z",
            "2026-04-05T03:00:00Z",
            "2026-04-05T04:00:00Z",
        ),
    ] {
        verify(text, &[(first, true), (second, true), (end, false)]);
        let before_first = parse_instant(first).expect(first) - chrono::TimeDelta::seconds(1);
        assert!(!window(text).covers(before_first), "{text} before {first}");
    }
}

#[test]
fn every_date_time_has_a_local_time() {
    // A leap second belongs to the minute that it ends.
    verify(
        "sat 23:59-00:00 UTC",
        &[("2016-12-31T23:59:60Z", true), ("2017-01-01T00:00:00Z", false)],
    );
    // Summer time is known for ever.
    verify(
        "08:00-09:00 Europe/Berlin",
        &[("2150-07-01T06:30:00Z", true), ("9998-01-01T06:30:00Z", false)],
    );
    for instant in ["0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999-23:59"] {
        verify("Pacific/Apia", &[(instant, true)]);
    }
}

fn read(text: &str) -> Result<TimeWindow, String> {
    let json = crate::json::parse(text.as_bytes()).expect("JSON");
    let mut problems = Problems::default();
    let window = TimeWindow::read(&json, &Place::root(), &mut problems);
    problems.finish(window).map_err(|invalid| invalid.to_string())
}

#[test]
fn texts_and_json_say_the_same() {
    for (text, json) in [
        ("UTC", r#"{"zone": "UTC"}"#),
        ("UTC", r#"{"days": null, "from": null, "to": null, "zone": "UTC"}"#),
        ("mon-fri UTC", r#"{"days": ["fri", "mon", "wed", "tue", "thu"], "zone": "UTC"}"#),
        ("sat,sun UTC", r#"{"days": ["sat", "sun"], "zone": "UTC"}"#),
        ("fri-mon UTC", r#"{"days": ["fri", "sat", "sun", "mon"], "zone": "UTC"}"#),
        (
            "mon,wed-fri 08:00-17:30 Etc/GMT+5",
            r#"{"days": ["mon", "wed", "thu", "fri"], "from": "08:00", "to": "17:30", "zone": "Etc/GMT+5"}"#,
        ),
        (
            " 22:00-06:00\t America/Argentina/Buenos_Aires ",
            r#"{"from": "22:00", "to": "06:00", "zone": "America/Argentina/Buenos_Aires"}"#,
        ),
    ] {
        assert_eq!(read(json), TimeWindow::parse(text), "{text}");
    }
    for days in 1_usize..128 {
        let names: Vec<_> =
            (0..7).filter(|day| days & 1 << day != 0).map(|day| WEEKDAYS[day]).collect();
        for hours in ["", "00:00-23:59 ", "22:30-06:05 "] {
            let given = window(&format!("{} {hours}Europe/Berlin", names.join(",")));
            assert_eq!(window(&given.to_string()), given, "{given}");
            assert_eq!(
                read(&serde_json::to_string(&given.to_json()).expect("JSON")),
                Ok(given.clone()),
                "{given}"
            );
        }
    }
    assert_eq!(
        window("sun,sat,fri,tue,mon 08:00-09:00 UTC").to_string(),
        "mon,tue,fri-sun 08:00-09:00 UTC"
    );
    assert_eq!(window("mon-sun UTC").to_string(), "UTC");
}

#[test]
fn faults_name_the_place_and_what_is_expected() {
    for (json, expected) in [
        ("1", "expected an object, not a number"),
        ("{}", "field `zone` is missing"),
        (r#"{"zone": null}"#, "field `zone` is missing"),
        (r#"{"zone": 1}"#, "at `/zone`: expected a string, not a number"),
        (r#"{"zone": "UTC", "until": 1}"#, "field `until` is unknown"),
        (r#"{"zone": "UTC", "from": "08:00"}"#, "field `to` is missing"),
        (r#"{"zone": "UTC", "from": null, "to": "08:00"}"#, "field `from` is missing"),
        (
            r#"{"zone": "UTC", "from": "8:00", "to": "24:00"}"#,
            "at `/from`: expected a time from `00:00` to `23:59`; midnight is `00:00`; at `/to`: expected a time",
        ),
        (
            r#"{"zone": "UTC", "from": "+8:00", "to": "08:00:00"}"#,
            "at `/from`: expected a time from `00:00` to `23:59`; midnight is `00:00`; at `/to`: expected a time",
        ),
        (
            r#"{"zone": "UTC", "from": 8, "to": "08:60"}"#,
            "at `/from`: expected a time from `00:00` to `23:59`; midnight is `00:00`; at `/to`: expected a time",
        ),
        (
            r#"{"zone": "UTC", "days": "mon"}"#,
            "at `/days`: expected an array of weekdays, not a string",
        ),
        (r#"{"zone": "UTC", "days": []}"#, "at `/days`: expected at least one weekday"),
        (
            r#"{"zone": "UTC", "days": ["mon", "Tue", "mon", 1]}"#,
            "at `/days/1`: expected `mon`, `tue`, `wed`, `thu`, `fri`, `sat` or `sun`; at `/days/2`: expected each weekday once; at `/days/3`",
        ),
        (
            r#"{"zone": "Europe/Berln"}"#,
            "at `/zone`: expected an IANA time zone such as `Europe/Berlin`, not `Europe/Berln`; the nearest is `Europe/Berlin`",
        ),
        (r#"{"zone": "europe/berlin"}"#, "the nearest is `Europe/Berlin`"),
        (r#"{"zone": "America/New York"}"#, "the nearest is `America/New_York`"),
        (r#"{"zone": "Kalkutta"}"#, "the nearest is `Asia/Calcutta`"),
        (r#"{"zone": "GMT+1"}"#, "the nearest is `Etc/GMT+1`"),
    ] {
        let fault = read(json).expect_err(json);
        assert!(fault.contains(expected), "{json}: {fault}");
    }
    let nothing_near = read(r#"{"zone": "Mars/Olympus"}"#).expect_err("no zone");
    assert!(nothing_near.ends_with("not `Mars/Olympus`"), "{nothing_near}");
    for (text, expected) in [
        ("", "days, hours and a time zone such as"),
        ("mon 08:00-18:00 UTC x", "days, hours and a time zone such as"),
        ("08:00-18:00 mon-fri UTC", "in this order"),
        ("Europe/Berlin mon-fri", "in this order"),
        ("MON-FRI 08:00-18:00 UTC", "with days in lower case"),
        ("mon Europe/Berln", "in place of `Europe/Berln` (the nearest is `Europe/Berlin`)"),
        ("mo UTC", "a range such as `mon-fri`"),
        ("mon- UTC", "a range such as `mon-fri`"),
        ("mon,mon UTC", "each weekday once in `mon,mon`"),
        ("mon-wed,tue UTC", "each weekday once"),
        ("08:00 UTC", "hours such as `08:00-18:00`"),
        ("08:00-24:00 UTC", "midnight is `00:00`"),
        ("mon-fri 08:00-18:00", "an IANA time zone"),
    ] {
        let fault = TimeWindow::parse(text).expect_err(text);
        assert!(fault.contains(expected), "{text}: {fault}");
    }
}
