//! One turn of one alternative, and the medians of all turns.

use crate::child::send;
use crate::load::{Load, Measured};
use crate::support::costs;

/// One turn of one alternative.
pub(crate) struct Turn {
    /// Microseconds of CPU per request.
    pub(crate) cpu: f64,
    /// Requests per second.
    pub(crate) rate: f64,
    pub(crate) seen: Measured,
}

impl Turn {
    /// Sends `load` to `process`, and measures its CPU time meanwhile.
    pub(crate) fn take(load: &Load, process: u32) -> Self {
        let before = costs::cpu_time_of_threads(process);
        let seen = send(load);
        let cpu = costs::cpu_time_of_threads(process).checked_sub(before).expect("no thread ended");
        assert_eq!(seen.wrong, 0, "every check is a 200");
        let answers = seen.answers as f64;
        Self { cpu: cpu.as_secs_f64() * 1e6 / answers, rate: answers / seen.seconds, seen }
    }
}

/// The medians of both alternatives, and of their ratio turn by turn.
pub(crate) struct Pair {
    pub(crate) ours: f64,
    pub(crate) echo: f64,
    pub(crate) ratio: f64,
}

impl Pair {
    pub(crate) fn new(turns: &[(Turn, Turn)], value: impl Fn(&Turn) -> f64) -> Self {
        Self {
            ours: median(turns.iter().map(|(ours, _)| value(ours))),
            echo: median(turns.iter().map(|(_, echo)| value(echo))),
            ratio: median(turns.iter().map(|(ours, echo)| value(ours) / value(echo))),
        }
    }
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
