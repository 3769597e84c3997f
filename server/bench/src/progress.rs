//! How far the measuring is, on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Ticks of a bar: smooth enough to watch.
const TICKS: u64 = 200;

/// A bar on standard error; where that is no terminal, nothing.
pub(super) struct Progress {
    style: ProgressStyle,
}

impl Progress {
    pub(super) fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        Self { style: style.unwrap_or_else(|_| ProgressStyle::default_bar()) }
    }

    /// A step that takes about `time`.
    pub(super) fn step(&self, what: impl Into<String>, time: Duration) -> Step {
        let bar = ProgressBar::new(TICKS).with_style(self.style.clone());
        bar.set_message(what.into());
        Step { bar, start: Instant::now(), time }
    }
}

/// A step that has begun; it is done when it is dropped.
pub(super) struct Step {
    bar: ProgressBar,
    start: Instant,
    time: Duration,
}

impl Step {
    /// Whether there is time for more.
    pub(super) fn goes_on(&self) -> bool {
        let elapsed = self.start.elapsed();
        let share = elapsed.as_secs_f64() / self.time.as_secs_f64();
        // Saturates: a step may take longer than it should.
        self.bar.set_position((share.min(1.0) * TICKS as f64) as u64);
        elapsed < self.time
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
