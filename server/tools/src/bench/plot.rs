//! Plots of lines, as the page draws them in SVG.

use crate::bench::report::{Latency, Throughput};
use crate::humanize::{rate, time};

/// The size of the drawing and of its margins, in units of the drawing.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;
/// The percentiles that have a label at the axis.
const PERCENTILES: [f64; 5] = [0.0, 90.0, 99.0, 99.9, 99.99];

/// A drawing.
#[derive(Debug)]
pub(super) struct Plot {
    /// The title and the description, which screen readers read.
    pub(super) title: &'static str,
    pub(super) description: String,
    pub(super) x_label: &'static str,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_ticks: Vec<Tick>,
    pub(super) lines: Vec<Line>,
}

/// A mark of an axis.
#[derive(Debug)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: String,
    /// The points of the polyline, in the syntax of SVG.
    pub(super) points: String,
    /// The last point. It is drawn, so that a line of one point is visible.
    pub(super) end: (f64, f64),
}

impl Plot {
    pub(super) const WIDTH: f64 = WIDTH;
    pub(super) const HEIGHT: f64 = HEIGHT;
    pub(super) const LEFT: f64 = LEFT;
    pub(super) const BOTTOM: f64 = HEIGHT - BOTTOM;
    pub(super) const RIGHT: f64 = WIDTH - RIGHT;
    pub(super) const TOP: f64 = TOP;

    /// Plots times by percentile. Both axes are logarithmic; the slowest samples are on the right.
    pub(super) fn latencies(title: &'static str, curves: &[(String, &Latency)]) -> Self {
        let points = curves.iter().flat_map(|(_, latency)| &latency.curve);
        let rarest = points.clone().map(|(percentile, _)| rarity(*percentile)).fold(1.0, f64::max);
        // A time of 0 has no logarithm.
        let times = points.map(|(_, ns)| (*ns).max(1) as f64);
        let lowest = times.clone().fold(f64::INFINITY, f64::min).min(1e18).log10().floor();
        let highest = times.fold(10.0, f64::max).log10().ceil().max(lowest + 1.0);
        let (x, y) = (Axis::across(rarest), Axis::upward(lowest, highest));
        let lines = curves.iter().map(|(name, latency)| {
            let points = latency.curve.iter().map(|(percentile, ns)| {
                (x.place(rarity(*percentile)), y.place((*ns as f64).max(1.0).log10()))
            });
            line(name, points)
        });
        let shown = PERCENTILES.iter().filter(|percentile| rarity(**percentile) <= rarest);
        let described = curves.iter().map(|(name, latency)| {
            let [median, rare] = [latency.p50_ns, latency.p99_ns].map(|ns| time(ns as f64));
            format!("{name}: half within {median}, 99 % within {rare}")
        });
        // Whole powers of ten.
        let powers = (lowest as i32)..=(highest as i32);
        Self {
            title,
            description: described.collect::<Vec<_>>().join("; "),
            x_label: "share of the samples within the time",
            x_ticks: shown
                .map(|percentile| Tick {
                    at: x.place(rarity(*percentile)),
                    label: format!("{percentile} %"),
                })
                .collect(),
            y_ticks: powers
                .map(|power| 10_f64.powi(power))
                .map(|ns| Tick { at: y.place(ns.max(1.0).log10()), label: time(ns) })
                .collect(),
            lines: lines.collect(),
        }
    }

    /// Plots checks per second by threads, and beside them the rate of one thread multiplied by the number of threads.
    pub(super) fn throughput(rows: &[Throughput]) -> Self {
        let most = rows.iter().map(|row| row.threads).max().unwrap_or(1) as f64;
        let alone = rows.first().map_or(0.0, |row| row.per_second / row.threads as f64);
        let measured = rows.iter().map(|row| row.per_second);
        let highest = measured.fold(alone * most, f64::max);
        let step = nice(highest / 5.0);
        let steps = (highest / step).ceil().max(1.0);
        let highest = step * steps;
        // Half a thread of room, so that the last label fits.
        let (x, y) = (Axis::across(most + 0.5), Axis::upward(0.0, highest));
        let measured =
            rows.iter().map(|row| (x.place(row.threads as f64), y.place(row.per_second)));
        let ideal = rows.iter().map(|row| {
            let threads = row.threads as f64;
            (x.place(threads), y.place(alone * threads))
        });
        let described =
            rows.iter().map(|row| format!("{} threads: {}", row.threads, rate(row.per_second)));
        Self {
            title: "Checks per second by threads",
            description: described.collect::<Vec<_>>().join("; "),
            x_label: "threads",
            x_ticks: rows
                .iter()
                .map(|row| Tick { at: x.place(row.threads as f64), label: row.threads.to_string() })
                .collect(),
            // There are at most five steps.
            y_ticks: (0..=steps as u8)
                .map(|index| step * f64::from(index))
                .map(|rate| Tick { at: y.place(rate), label: short(rate) })
                .collect(),
            lines: vec![
                line("measured", measured),
                line("one thread, multiplied by the number of threads", ideal),
            ],
        }
    }
}

/// Returns the line through the points.
fn line(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Line {
    let points: Vec<(f64, f64)> = points.collect();
    let written = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
    Line {
        name: name.to_owned(),
        points: written.collect::<Vec<_>>().join(" "),
        end: points.last().copied().unwrap_or_default(),
    }
}

/// Returns the number of powers of ten between a percentile and the slowest sample.
fn rarity(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).max(1e-9).log10()
}

/// The values from `lowest` to `highest` between two coordinates.
struct Axis {
    lowest: f64,
    highest: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// The horizontal axis, which begins at 0.
    fn across(highest: f64) -> Self {
        Self { lowest: 0.0, highest, from: LEFT, to: WIDTH - RIGHT }
    }

    fn upward(lowest: f64, highest: f64) -> Self {
        Self { lowest, highest, from: HEIGHT - BOTTOM, to: TOP }
    }

    /// Returns the coordinate of a value. One beyond the axis is at its end.
    fn place(&self, value: f64) -> f64 {
        let share = (value - self.lowest) / (self.highest - self.lowest);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }
}

/// Returns the next 1, 2 or 5 times a power of ten.
fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value).unwrap_or(power * 10.0)
}

/// Returns a short label for a rate.
fn short(rate: f64) -> String {
    match rate {
        millions if millions >= 1e6 => format!("{} M", millions / 1e6),
        thousands if thousands >= 1e3 => format!("{} k", thousands / 1e3),
        few => few.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(curve: &[(f64, u64)]) -> Latency {
        Latency { curve: curve.to_vec(), ..Latency::default() }
    }

    #[test]
    fn points_stay_inside_and_slower_is_higher() {
        let (fast, slow) = (latency(&[(0.0, 0), (99.9, 950)]), latency(&[(50.0, 10_000_000)]));
        let plot = Plot::latencies("t", &[("fast".to_owned(), &fast), ("slow".to_owned(), &slow)]);
        let labels: Vec<&str> = plot.y_ticks.iter().map(|tick| &*tick.label).collect();
        assert_eq!(labels.first().zip(labels.last()), Some((&"1 ns", &"10 ms")));
        let [fast, slow] = &*plot.lines else { panic!("two lines") };
        assert!(slow.end.1 < fast.end.1 && slow.end.0 < fast.end.0, "{plot:?}");
        assert_eq!(fast.end.0, Plot::RIGHT);
        for (x, y) in [fast.end, slow.end] {
            assert!((LEFT..=WIDTH - RIGHT).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y));
        }
    }

    #[test]
    fn empty_measurements_have_finite_coordinates() {
        let empty = Latency::default();
        for plot in [Plot::latencies("t", &[("none".to_owned(), &empty)]), Plot::throughput(&[])] {
            let ticks = plot.x_ticks.iter().chain(&plot.y_ticks);
            assert!(ticks.map(|tick| tick.at).all(f64::is_finite), "{plot:?}");
        }
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([0.0, 3.0, 10.0, 1_200_000.0].map(nice), [1.0, 5.0, 10.0, 2_000_000.0]);
    }
}
