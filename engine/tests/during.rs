//! Compares time windows with the oracle of `support/local_time.rs`, for a year of every zone and for random windows.

use chrono::{DateTime, TimeDelta, Utc};
use portcullis_engine::during::{TimeWindow, WEEKDAYS};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::effort::run;
use crate::support::local_time::lies_in;

/// Zones with offsets of whole, half and quarter hours, of both hemispheres, with summer time and without, with a change
/// of half an hour and of two hours, at midnight, and with a day that was left out.
const ZONES: [&str; 18] = [
    "UTC",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/London",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Havana",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Asia/Gaza",
    "Australia/Adelaide",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Pacific/Apia",
    "Antarctica/Troll",
];

/// The end of 2085, in Unix seconds. The database of time zones has its own rules for each year of Gaza until 2086,
/// and the oracle's copy of it ends in 2100.
const END_OF_2085: i64 = 3_660_595_200;

/// The number of random windows and instants.
const CASES: u32 = 20_000;

fn text(window: &Value) -> String {
    let days: Vec<&str> =
        window["days"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let zone = window["zone"].as_str().expect("a zone");
    match window["from"].as_str() {
        Some(from) => {
            format!("{} {from}-{} {zone}", days.join(","), window["to"].as_str().expect("an end"))
        }
        None => format!("{} {zone}", days.join(",")),
    }
}

#[test]
fn a_year_of_quarter_hours_is_as_the_oracle_says() {
    let start = DateTime::from_timestamp(1_703_462_400, 0).expect("in range");
    let mut covered = 0;
    for zone in ZONES {
        for window in [
            json!({"days": ["mon", "tue", "wed", "thu", "fri"], "from": "08:00", "to": "18:00", "zone": zone}),
            json!({"days": ["sat", "sun"], "from": "23:30", "to": "03:15", "zone": zone}),
            json!({"days": ["sun"], "zone": zone}),
        ] {
            let engine = TimeWindow::parse(&text(&window)).expect("a window");
            for quarter in 0..380 * 96 {
                let instant: DateTime<Utc> = start + TimeDelta::minutes(15 * quarter);
                let covers = engine.covers(instant);
                assert_eq!(covers, lies_in(&window, instant.timestamp()), "{window} at {instant}");
                covered += u32::from(covers);
            }
        }
    }
    assert!(covered > 100_000, "only {covered} instants lie in a window");
}

fn window() -> impl Strategy<Value = Value> {
    let time = || {
        (0..24, select(vec![0, 1, 15, 30, 59]))
            .prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}"))
    };
    let days = subsequence(WEEKDAYS.to_vec(), 1..=7);
    let hours = proptest::option::weighted(0.8, (time(), time()));
    (days, hours, select(&ZONES[..])).prop_map(|(days, hours, zone)| {
        let mut window = json!({"days": days, "zone": zone});
        if let Some((from, to)) = hours {
            window["from"] = from.into();
            window["to"] = to.into();
        }
        window
    })
}

#[test]
fn random_windows_are_as_the_oracle_says() {
    run(CASES, &(window(), 0_i64..END_OF_2085), |(window, seconds)| {
        let engine = TimeWindow::parse(&text(&window)).expect("a window");
        let instant = DateTime::from_timestamp(seconds, 0).expect("in range");
        prop_assert_eq!(
            engine.covers(instant),
            lies_in(&window, seconds),
            "{} at {}",
            window,
            instant
        );
        Ok(())
    });
}
