//! The table of a run: how many writes and checks each fault let through.

use std::fmt::Write;
use std::time::Duration;

use super::history::History;
use super::load::Load;

/// The faults so far, with the times of their begin and end.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<(&'static str, Duration, Duration)>);

impl Table {
    /// Runs `fault`, and adds its row.
    pub(super) fn row(&mut self, load: &Load<'_>, name: &'static str, fault: impl FnOnce()) {
        let began = load.now();
        fault();
        self.0.push((name, began, load.now()));
    }

    /// Returns the table in Markdown. The longest wait is between two good answers of any replica.
    pub(super) fn render(&self, history: &History) -> String {
        let mut text = String::from(
            "| Fault | Lasts | Writes acknowledged | Writes without an answer | Checks decided | \
             Checks without a decision | Longest time without a decision |\n\
             |---|---:|---:|---:|---:|---:|---:|\n",
        );
        for (name, began, ended) in &self.0 {
            let within = |at: Duration| *began <= at && at < *ended;
            let writes = history.writes.iter().filter(|write| within(write.ended));
            let (good, open): (Vec<_>, Vec<_>) = writes.partition(|write| write.revision.is_some());
            let mut decided: Vec<_> =
                history.checks.iter().map(|check| check.ended).filter(|at| within(*at)).collect();
            decided.sort_unstable();
            let failed = history.failed.iter().filter(|at| within(**at)).count();
            let edges = [vec![*began], decided.clone(), vec![*ended]].concat();
            let gap = edges.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default();
            let _ = writeln!(
                text,
                "| {name} | {:.1} s | {} | {} | {} | {failed} | {} ms |",
                (*ended - *began).as_secs_f64(),
                good.len(),
                open.len(),
                decided.len(),
                gap.as_millis(),
            );
        }
        text
    }
}
