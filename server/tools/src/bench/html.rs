//! The report as one HTML page that loads nothing else.

use askama::Template;

use crate::bench::plot::Plot;
use crate::bench::report::{Latency, PlanSize, Report};
use crate::humanize::{self, rate, time};

/// The number of plans that are listed. The JSON file has all of them.
const LISTED: usize = 50;

#[derive(Template)]
#[template(path = "bench.html")]
struct Page<'a> {
    report: &'a Report,
    latencies: Vec<(String, &'a Latency)>,
    answers: Plot,
    compile: Plot,
    throughput: Plot,
}

/// Returns the page.
pub(super) fn render(report: &Report) -> askama::Result<String> {
    let latencies: Vec<(String, &Latency)> =
        report.answers.iter().map(|answer| (answer.name(), &answer.latency)).collect();
    let compile = [("compile a plan".to_owned(), &report.compile)];
    Page {
        report,
        answers: Plot::latencies("Time to answer a check", &latencies),
        compile: Plot::latencies("Time to compile a plan", &compile),
        throughput: Plot::throughput(&report.throughput),
        latencies,
    }
    .render()
}

impl Page<'_> {
    /// Returns the names of the tenants.
    fn tenants(&self) -> String {
        let names: Vec<&str> = self.report.tenants.iter().map(|tenant| &*tenant.tenant).collect();
        names.join(", ")
    }

    /// Returns the measurements at the top of the page, each with its name.
    fn headlines(&self) -> Vec<(String, String)> {
        let medians = self.report.answers.iter().map(|answer| {
            (time(answer.latency.p50_ns as f64), format!("median, {}", answer.name()))
        });
        let rates = self.report.throughput.iter().map(|row| row.per_core_second);
        let fastest = rates.fold(0.0, f64::max);
        let rate = (rate(fastest), "checks per second of a core".to_owned());
        medians.chain([rate]).collect()
    }

    /// Returns the width of a bar, in percent of the widest one.
    fn share(value: &u64, most: &u64) -> u64 {
        if *most == 0 { 0 } else { value.saturating_mul(100) / most }
    }
}

impl PlanSize {
    fn compile_time(&self) -> String {
        time(self.compile_ns as f64)
    }
}
