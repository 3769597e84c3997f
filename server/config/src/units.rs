//! Sizes and durations.

use std::time::Duration;

/// The units of sizes, for messages.
pub(crate) const SIZE_UNITS: &str = "(units: KiB, MiB, GiB)";
/// The units of durations, for messages.
pub(crate) const DURATION_UNITS: &str = "(units: ms, s, m, h, d)";

/// Parses a size: a number and `KiB`, `MiB` or `GiB` (`docs/semantics.md`, section 9.3).
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))?;
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Parses a duration: a number and `ms`, `s`, `m`, `h` or `d`.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    units.iter().find_map(|(unit, millis)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*millis).map(Duration::from_millis)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, expected) in [
            ("250ms", Some(250)),
            ("10s", Some(10_000)),
            ("2m", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("30d", Some(2_592_000_000)),
            ("1.5s", None),
            ("-1s", None),
            ("10", None),
            ("", None),
        ] {
            assert_eq!(parse_duration(text).map(|read| read.as_millis()), expected, "{text}");
        }
    }
}
