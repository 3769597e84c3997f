//! Compares measurements with their bars. Writes a Markdown table, and optionally JSON.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::measure::Samples;

/// The options of the command line, and the measurements so far.
#[derive(Debug, Default)]
pub struct Report {
    /// Only groups whose name contains one of these texts run; all groups if it is empty.
    filters: Vec<String>,
    /// The JSON file.
    json: Option<PathBuf>,
    measurements: Vec<Measurement>,
}

/// The bar of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// The maximum.
    AtMost(f64),
    /// The minimum.
    AtLeast(f64),
    /// No bar: the measurement is only shown.
    Shown,
}

/// One line of a report.
#[derive(Clone, Debug, Serialize)]
struct Measurement {
    group: &'static str,
    what: String,
    value: f64,
    unit: &'static str,
    target: String,
    met: Option<bool>,
}

impl Bar {
    /// Returns whether `value` meets the bar; `None` without a bar or a value.
    fn met(self, value: f64) -> Option<bool> {
        match self {
            _ if value.is_nan() => None,
            Self::AtMost(limit) => Some(value <= limit),
            Self::AtLeast(limit) => Some(value >= limit),
            Self::Shown => None,
        }
    }

    fn text(self, unit: &str) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {}{unit}", rounded(limit)),
            Self::AtLeast(limit) => format!("≥ {}{unit}", rounded(limit)),
            Self::Shown => String::new(),
        }
    }
}

impl Report {
    /// Reads the command line: `[FILTER]… [--json FILE]`.
    ///
    /// # Errors
    /// An option that does not exist, or `--json` without a file.
    pub fn from_args(args: impl Iterator<Item = String>) -> Result<Self> {
        let mut report = Self::default();
        let mut args = args.skip(1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                // `cargo bench` adds it.
                "--bench" => {}
                "--json" => {
                    report.json = Some(args.next().context("`--json` needs a file")?.into());
                }
                option if option.starts_with('-') => {
                    bail!("unknown option `{option}`, expected `[FILTER]… [--json FILE]`")
                }
                filter => report.filters.push(filter.to_lowercase()),
            }
        }
        println!("| group | measurement | value | bar | |\n|---|---|---:|---:|---|");
        Ok(report)
    }

    /// Returns whether the options select the group `name`.
    pub fn selects(&self, name: &str) -> bool {
        let wanted = |filter: &String| name.to_lowercase().contains(filter);
        self.filters.is_empty() || self.filters.iter().any(wanted)
    }

    /// Runs `group` if the options select it.
    ///
    /// # Errors
    /// The error of `run`, such as a wrong decision.
    pub fn group(
        &mut self,
        name: &'static str,
        run: impl FnOnce(&mut Group<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.selects(name) {
            return Ok(());
        }
        run(&mut Group { name, report: self }).with_context(|| name)
    }

    /// Writes the JSON file, if the options name one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        write_json(path, &self.measurements)
    }
}

fn write_json(path: &Path, measurements: &[Measurement]) -> Result<()> {
    let file = std::fs::File::create(path)
        .with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(serde_json::to_writer_pretty(file, measurements)?)
}

/// The measurements of one group.
pub struct Group<'r> {
    name: &'static str,
    report: &'r mut Report,
}

impl Group<'_> {
    /// Prints a measurement and keeps it. NaN means that it could not be measured.
    pub fn measurement(&mut self, what: impl Display, value: f64, unit: &'static str, bar: Bar) {
        let (what, met) = (what.to_string(), bar.met(value));
        let word = match met {
            Some(true) => "met",
            Some(false) => "missed",
            None if value.is_nan() => "not measured",
            None => "",
        };
        let (group, target, shown) = (self.name, bar.text(unit), rounded(value));
        println!("| {group} | {what} | {shown}{unit} | {target} | {word} |");
        self.report.measurements.push(Measurement { group, what, value, unit, target, met });
    }

    /// Prints the time of each of `samples`.
    pub fn times(&mut self, workload: &str, samples: &[Samples]) {
        for sample in samples {
            self.measurement(
                format!("{workload}: {}", sample.name),
                sample.ns(),
                " ns",
                Bar::Shown,
            );
        }
    }
}

/// Formats a measurement with three significant digits, more than it has.
fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        small if small < 10.0 && small.fract() != 0.0 => 2,
        middle if middle < 100.0 && middle.fract() != 0.0 => 1,
        _ => 0,
    };
    let digits = format!("{value:.decimals$}");
    let whole = digits.find('.').unwrap_or(digits.len());
    let grouped = |(index, digit): (usize, char)| {
        let comma = index > 0 && index < whole && (whole - index) % 3 == 0;
        [comma.then_some(','), Some(digit)]
    };
    digits.chars().enumerate().flat_map(grouped).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_met_at_its_limit_and_missed_beyond() {
        assert_eq!(Bar::AtMost(3.0).met(3.0), Some(true));
        assert_eq!(Bar::AtMost(3.0).met(3.01), Some(false));
        assert_eq!(Bar::AtLeast(20.0).met(19.0), Some(false));
        assert_eq!(Bar::AtLeast(20.0).met(f64::NAN), None);
        assert_eq!(Bar::Shown.met(1.0), None);
    }

    #[test]
    fn measurements_are_rounded_to_be_read() {
        let shown = [0.0, 0.066, 1.3, 20.0, 83.45, 442.4, 1_234_567.0].map(rounded);
        assert_eq!(shown, ["0", "0.07", "1.30", "20", "83.5", "442", "1,234,567"]);
    }

    #[test]
    fn options_are_read() {
        let read = |args: &[&str]| {
            Report::from_args(["bench"].iter().chain(args).map(|arg| (*arg).to_owned()))
        };
        assert_eq!(read(&["--bench", "W3"]).expect("sound").filters, ["w3"]);
        assert!(read(&["--json"]).is_err());
        assert!(read(&["--fast"]).is_err());
    }
}
