//! The progress of the measurements, on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The number of positions of a bar.
const TICKS: u64 = 200;

/// Makes bars on standard error, if that is a terminal.
pub(super) struct Progress {
    style: ProgressStyle,
}

impl Progress {
    pub(super) fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        Self { style: style.unwrap_or_else(|_| ProgressStyle::default_bar()) }
    }

    /// Begins a step that takes about `time`.
    pub(super) fn step(&self, what: impl Into<String>, time: Duration) -> TimedStep {
        let bar = ProgressBar::new(TICKS).with_style(self.style.clone());
        bar.set_message(what.into());
        TimedStep { bar, start: Instant::now(), time }
    }
}

/// A running step with its bar. Dropping it ends the step.
pub(super) struct TimedStep {
    bar: ProgressBar,
    start: Instant,
    time: Duration,
}

impl TimedStep {
    /// Returns whether there is time left, and moves the bar.
    pub(super) fn goes_on(&self) -> bool {
        let elapsed = self.start.elapsed();
        let share = elapsed.as_secs_f64() / self.time.as_secs_f64();
        // Saturates: a step may take longer than it should.
        self.bar.set_position((share.min(1.0) * TICKS as f64) as u64);
        elapsed < self.time
    }
}

impl Drop for TimedStep {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
