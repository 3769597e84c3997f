//! Formats measurements for people.

use std::time::Duration;

/// Formats a time in nanoseconds with three significant digits.
pub(crate) fn time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ns >= *unit).unwrap_or((1.0, "ns"));
    format!("{} {name}", three_digits(ns / unit))
}

/// Formats a duration with three significant digits.
pub(crate) fn duration(duration: Duration) -> String {
    time(duration.as_nanos() as f64)
}

/// Formats a size with three significant digits.
pub(crate) fn bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let units = units.map(|(shift, name)| ((1_u64 << shift) as f64, name));
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{} {name}", three_digits(bytes / unit)),
        None => format!("{bytes} B"),
    }
}

/// Formats a number per second with three significant digits.
pub(crate) fn rate(per_second: f64) -> String {
    let units = [(1e6, " million"), (1e3, " thousand")];
    let (unit, name) = units.into_iter().find(|(unit, _)| per_second >= *unit).unwrap_or((1.0, ""));
    format!("{}{name}", three_digits(per_second / unit))
}

/// Formats a whole number with its digits in groups of three.
pub(crate) fn count(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a share from 0 to 1 as percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn three_digits(value: f64) -> String {
    // The bounds are the smallest numbers that round to one more digit before the point.
    let decimals = match value {
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let whole = text.contains('.') && value.fract() == 0.0;
    if whole { format!("{value:.0}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_have_three_digits_and_a_unit() {
        let times = [0.0, 83.0, 999.0, 1_250.0, 34_560.0, 3_456_000.0, 2e9].map(time);
        let expected = ["0 ns", "83 ns", "999 ns", "1.25 µs", "34.6 µs", "3.46 ms", "2 s"];
        assert_eq!(times, expected);
        assert_eq!(
            [0, 1_023, 1_536, 268_435_456].map(bytes),
            ["0 B", "1023 B", "1.50 KiB", "256 MiB"]
        );
        assert_eq!([12.0, 4_500.0, 5_120_000.0].map(rate), ["12", "4.50 thousand", "5.12 million"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(percent(0.1234), "12.3 %");
    }
}
