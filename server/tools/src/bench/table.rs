//! The report for the terminal.

use crate::bench::report::{Latency, Report};
use crate::humanize::{bytes, count, percent, rate, time};

/// The number of plans that are listed.
const LISTED: usize = 10;
/// The number of attributes that a note names.
const NAMED: usize = 5;

/// Returns the report as text.
pub(super) fn render(report: &Report) -> String {
    let sections = [
        report.summary().join("\n"),
        columns(&outcomes(report)),
        columns(&latencies(report)),
        columns(&throughput(report)),
        columns(&plans(report)),
        report.notes().join("\n"),
    ];
    // A section without lines must not leave two blank lines behind.
    let sections: Vec<String> = sections.into_iter().filter(|text| !text.is_empty()).collect();
    sections.join("\n\n") + "\n"
}

impl Report {
    /// Returns sentences about the tenants and the checks.
    pub(super) fn summary(&self) -> Vec<String> {
        let tenants = self.tenants.iter().map(|tenant| {
            format!(
                "tenant {}: {} rules and {} policies, of which {} decide a check; {} resources are asked about",
                tenant.tenant,
                count(tenant.rules),
                count(tenant.policies),
                count(tenant.deciding),
                count(tenant.resources),
            )
        });
        let checks = &self.checks;
        let seed = self.seed.map(|seed| format!(" (seed {seed})")).unwrap_or_default();
        let kinds = [
            (checks.cases, "cases".to_owned()),
            (checks.generated, format!("made from the rules{seed}")),
            (checks.replayed, "replayed".to_owned()),
        ];
        let kinds = kinds.iter().filter(|(number, _)| *number > 0);
        let kinds: Vec<String> =
            kinds.map(|(number, what)| format!("{} {what}", count(*number))).collect();
        let checks = format!("{} checks: {}", count(checks.count), kinds.join(", "));
        self.warning().into_iter().chain(tenants).chain([checks]).collect()
    }

    /// Returns the warning about a build whose times nobody may compare.
    fn warning(&self) -> Option<String> {
        let is_debug = self.build == "debug";
        is_debug.then(|| {
            "WARNING: this is a debug build. It is many times slower than a release build: `cargo build --release`"
                .to_owned()
        })
    }

    /// Returns notes that a reader needs to judge the measurements.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "note: times are wall-clock times without the {} that reading the clock takes; {} cores",
            time(self.clock_ns as f64),
            self.cores
        )];
        let undetermined = &self.undetermined;
        if undetermined.checks > 0 {
            let names = &undetermined.attributes;
            let mut listed = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            if names.len() > NAMED {
                listed.push_str(", …");
            }
            notes.push(format!(
                "note: {} of {} checks depend on attributes that no resolver answered ({listed}); \
                 resolvers are not called here, so these attributes are undetermined",
                count(undetermined.checks),
                count(self.checks.count),
            ));
        }
        for differing in &self.differing {
            notes.push(format!(
                "note: {}: {} checks get another decision than from the first source, because its rules differ",
                differing.source,
                count(differing.checks)
            ));
        }
        let failed = self.cases.iter().filter(|case| !case.as_expected).count();
        if failed > 0 {
            notes.push(format!(
                "note: {} cases do not get the expected decision; run `portcullis test`",
                count(failed)
            ));
        }
        if self.memory.total_bytes > self.memory.cache_bytes {
            notes.push(format!(
                "note: the plans take {}, more than PLAN_CACHE_BYTES allows ({}); some hits are misses",
                bytes(self.memory.total_bytes),
                bytes(self.memory.cache_bytes)
            ));
        }
        notes
    }
}

fn outcomes(report: &Report) -> Vec<Vec<String>> {
    let head = ["decision", "by", "checks", "share"].map(str::to_owned).to_vec();
    let rows = report.outcomes.iter().map(|outcome| {
        vec![
            outcome.decision.to_owned(),
            outcome.by.to_owned(),
            count(outcome.checks),
            percent(outcome.share),
        ]
    });
    [head].into_iter().chain(rows).collect()
}

fn latencies(report: &Report) -> Vec<Vec<String>> {
    let head = ["time", "samples", "mean", "p50", "p90", "p99", "p99.9", "max"];
    let head = head.map(str::to_owned).to_vec();
    let compile = ("compile a plan".to_owned(), &report.compile);
    let answers = report.answers.iter().map(|answer| (answer.name(), &answer.latency));
    let rows = [compile]
        .into_iter()
        .chain(answers)
        .map(|(name, latency)| [name].into_iter().chain(latency.shown()).collect());
    [head].into_iter().chain(rows).collect()
}

impl Latency {
    /// Returns the cells of a table: samples, mean, 50th, 90th, 99th and 99.9th percentile, maximum.
    pub(super) fn shown(&self) -> [String; 7] {
        let samples = count(usize::try_from(self.samples).unwrap_or(usize::MAX));
        let [p50, p90, p99, p999, max] =
            [self.p50_ns, self.p90_ns, self.p99_ns, self.p999_ns, self.max_ns]
                .map(|ns| time(ns as f64));
        [samples, time(self.mean_ns), p50, p90, p99, p999, max]
    }
}

fn throughput(report: &Report) -> Vec<Vec<String>> {
    let head = ["threads", "checks per second", "per second of a core", "cores had"]
        .map(str::to_owned)
        .to_vec();
    let rows = report.throughput.iter().map(|row| {
        let (wall, core) = (rate(row.per_second), rate(row.per_core_second));
        vec![row.threads.to_string(), wall, core, format!("{:.1}", row.cores)]
    });
    [head].into_iter().chain(rows).collect()
}

fn plans(report: &Report) -> Vec<Vec<String>> {
    let head = ["plan", "rules", "policies", "memory", "compile"].map(str::to_owned).to_vec();
    // The report has the largest plans first, so the cut leaves out the small ones.
    let rows = report.plans.iter().take(LISTED).map(|plan| {
        vec![
            format!("{} {}", plan.tenant, plan.resource),
            count(plan.rules),
            count(plan.policies),
            bytes(plan.bytes),
            time(plan.compile_ns as f64),
        ]
    });
    let all = report.plans.len();
    let total = vec![
        format!("all {}", count(all)),
        String::new(),
        String::new(),
        bytes(report.memory.total_bytes),
        String::new(),
    ];
    [head].into_iter().chain(rows).chain([total]).collect()
}

/// Aligns rows in columns: the first column to the left, the others to the right.
fn columns(rows: &[Vec<String>]) -> String {
    let mut lines = Vec::new();
    for row in rows {
        let mut cells = Vec::new();
        for (column, cell) in row.iter().enumerate() {
            let width = width(rows, column);
            cells.push(match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
        }
        // The last column of a row may be empty, which would leave spaces at the end.
        lines.push(cells.join("  ").trim_end().to_owned());
    }
    lines.join("\n")
}

/// Returns the width of a column, in characters.
fn width(rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column));
    cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::{CheckCounts, UndeterminedChecks};

    fn report(build: &'static str, attributes: &[&str]) -> Report {
        let attributes: Vec<String> = attributes.iter().map(ToString::to_string).collect();
        let checks = if attributes.is_empty() { 0 } else { 3 };
        Report {
            build,
            checks: CheckCounts { count: 12, ..CheckCounts::default() },
            undetermined: UndeterminedChecks { checks, attributes },
            ..Report::default()
        }
    }

    #[test]
    fn a_debug_build_warns_first() {
        let warning = "WARNING: this is a debug build. It is many times slower than a release build: \
                       `cargo build --release`";
        assert_eq!(report("debug", &[]).summary()[0], warning);
        assert!(!render(&report("release", &[])).contains("debug"));
    }

    #[test]
    fn checks_without_answers_of_resolvers_are_counted() {
        let note = |attributes: &[&str]| {
            let notes = report("release", attributes).notes();
            notes.into_iter().find(|note| note.contains("resolver"))
        };
        assert_eq!(note(&[]), None);
        let expected = |names: &str| {
            format!(
                "note: 3 of 12 checks depend on attributes that no resolver answered ({names}); resolvers are not \
                 called here, so these attributes are undetermined"
            )
        };
        assert_eq!(note(&["geo.a", "hr.b"]), Some(expected("geo.a, hr.b")));
        let many = ["a.a", "a.b", "a.c", "a.d", "a.e", "a.f"];
        assert_eq!(note(&many), Some(expected("a.a, a.b, a.c, a.d, a.e, …")));
    }
}
