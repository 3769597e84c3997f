//! `portcullis decisions`: the record of decisions of a running service (`docs/semantics.md`, section 17).

use std::collections::HashSet;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use portcullis_config::Variables;
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_model::decision::{ErasedDecisions, ErasedPart, ErasureRest};
use serde_json::Value;
use uuid::Uuid;

use crate::moments::Moment;
use crate::report::visible;
use crate::service::{Service, ServiceArguments};

const ROUTE: &str = "decisions";
/// The records of a page.
const PAGE: &str = "500";
/// The pause of `tail` between two questions.
const PAUSE: Duration = Duration::from_secs(1);
/// The milliseconds by which a record may come after younger ones.
const LATE: i64 = 5_000;

/// The selection of decisions.
#[derive(Debug, clap::Args)]
pub struct DecisionFilter {
    #[command(flatten)]
    service: ServiceArguments,
    /// Only decisions about this subject.
    #[arg(long)]
    subject: Option<String>,
    /// Only decisions about this resource.
    #[arg(long)]
    resource: Option<String>,
    /// Only decisions about this action.
    #[arg(long)]
    action: Option<String>,
    /// Only decisions of this effect: `allow` or `deny`.
    #[arg(long)]
    decision: Option<String>,
    /// Only decisions by the rule or policy with this id, or `default-deny`.
    #[arg(long)]
    rule: Option<String>,
    /// Only decisions of this kind of request: `check`, `legacy`, `batch` or `authzen`.
    #[arg(long)]
    via: Option<String>,
    /// Only decisions with an undetermined condition (`true`), or without one (`false`).
    #[arg(long)]
    undetermined: Option<String>,
    /// Only decisions of the request with this id.
    #[arg(long)]
    request_id: Option<String>,
}

/// The arguments of `portcullis decisions search` and `export`.
#[derive(Debug, clap::Args)]
pub struct DecisionSearch {
    #[command(flatten)]
    filter: DecisionFilter,
    /// Only decisions from then on: a time ago such as `7d`, or an instant such as `2026-05-16T09:30:00Z`.
    #[arg(long, value_name = "WHEN")]
    since: Option<Moment>,
    /// Only decisions before then.
    #[arg(long, value_name = "WHEN")]
    until: Option<Moment>,
}

/// The arguments of `portcullis decisions tail`.
#[derive(Debug, clap::Args)]
pub struct TailDecisions {
    #[command(flatten)]
    filter: DecisionFilter,
    /// First the decisions from then on: a time ago such as `30m`, or an instant such as `2026-05-16T09:30:00Z`.
    #[arg(long, value_name = "WHEN")]
    since: Option<Moment>,
}

/// The arguments of `portcullis decisions show`.
#[derive(Debug, clap::Args)]
pub struct ShowDecision {
    /// The id of the decision, as in `X-Decision-Id`.
    #[arg(value_parser = decision_id)]
    id: Uuid,
    #[command(flatten)]
    service: ServiceArguments,
}

/// Reads the id of a decision of the command line.
fn decision_id(text: &str) -> Result<Uuid, String> {
    let expected = "expected the id of a decision, as `portcullis decisions search` shows it at the end of a line";
    text.parse().map_err(|_| expected.to_owned())
}

/// The arguments of `portcullis decisions erase`.
#[derive(Debug, clap::Args)]
pub struct EraseDecisions {
    /// The person: the `subject` of the records.
    #[arg(long)]
    subject: String,
    #[command(flatten)]
    service: ServiceArguments,
}

impl DecisionFilter {
    fn query(&self) -> Vec<(&str, String)> {
        let members = [
            ("subject", &self.subject),
            ("resource", &self.resource),
            ("action", &self.action),
            ("decision", &self.decision),
            ("rule", &self.rule),
            ("via", &self.via),
            ("undetermined", &self.undetermined),
            ("request_id", &self.request_id),
        ];
        let given = members.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        given.chain([("limit", PAGE.to_owned())]).collect()
    }
}

impl DecisionSearch {
    fn query(&self, now: Timestamp) -> Vec<(&str, String)> {
        let moments = [("from", self.since), ("to", self.until)];
        let given =
            moments.into_iter().filter_map(|(name, at)| Some((name, at?.at(now).to_string())));
        self.filter.query().into_iter().chain(given).collect()
    }
}

/// Prints the decisions that are selected, newest first, one in a line. Prints `limit` at most; the exit code is 1 if there
/// are more.
///
/// # Errors
/// The service cannot be reached or refuses the call; an output that cannot be written.
pub async fn search(
    arguments: &DecisionSearch,
    limit: usize,
    variables: &Variables,
    clock: &Clock,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let service = Service::new(&arguments.filter.service, variables)?;
    let (mut left, mut has_more) = (limit, false);
    let is_whole = service
        .each_page(ROUTE, &arguments.query(clock.now().into()), |page| {
            // Further records show on this page, or by a next one, which is not read.
            has_more |= page.len() > left;
            for record in page.iter().take(left) {
                writeln!(out, "{}", line(record))?;
            }
            left = left.saturating_sub(page.len());
            Ok(left > 0)
        })
        .await?;
    Ok(if is_whole && !has_more { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints every decision that is selected, newest first, each as a line of JSON. The exit code is 1 if some are missing.
///
/// # Errors
/// As for [`search`].
pub async fn export(
    arguments: &DecisionSearch,
    variables: &Variables,
    clock: &Clock,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let service = Service::new(&arguments.filter.service, variables)?;
    let is_whole = service
        .each_page(ROUTE, &arguments.query(clock.now().into()), |page| {
            for record in &page {
                writeln!(out, "{record}")?;
            }
            Ok(true)
        })
        .await?;
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints one decision as JSON.
///
/// # Errors
/// As for [`search`].
pub async fn show(
    arguments: &ShowDecision,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let service = Service::new(&arguments.service, variables)?;
    let record: Value = service.record(ROUTE, &arguments.id.to_string()).await?;
    writeln!(out, "{record:#}")?;
    Ok(ExitCode::SUCCESS)
}

/// The line about everything that an erasure of decisions leaves.
const LEFT: &str = "left: decisions about others that name the person, rules and policies, the audit log, backups, lines of logs, and what the \
    database has freed and not overwritten yet";

/// Erases the decisions about a person and the deliveries of their denied checks. Prints their numbers, and to `err` what is
/// left.
///
/// # Errors
/// As for [`search`].
pub async fn erase(
    arguments: &EraseDecisions,
    variables: &Variables,
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> anyhow::Result<ExitCode> {
    let service = Service::new(&arguments.service, variables)?;
    let answer: ErasedDecisions = service.delete(ROUTE, &[("subject", &arguments.subject)]).await?;
    writeln!(out, "erased {}", counted(answer.erased, "decisions"))?;
    // The decisions are `erased` already.
    for ErasedPart { part, removed } in answer.parts.iter().filter(|one| one.part != "decisions") {
        writeln!(out, "erased {}", counted(*removed, part))?;
    }
    for ErasureRest { place, count, why } in &answer.remains {
        writeln!(err, "left: {count} with {place}: {why}")?;
    }
    writeln!(err, "{LEFT}")?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the number with its noun in the singular or the plural.
fn counted(number: u64, plural: &str) -> String {
    let singular = match plural {
        "decisions" => "decision",
        "deliveries" => "delivery",
        // A part that a later service has.
        other => other,
    };
    format!("{number} {}", if number == 1 { singular } else { plural })
}

/// Prints new decisions, one in a line, until it is stopped.
///
/// # Errors
/// As for [`search`].
pub async fn tail(
    arguments: &TailDecisions,
    variables: &Variables,
    clock: &Clock,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let TailDecisions { filter, since } = arguments;
    let service = Service::new(&filter.service, variables)?;
    let now: Timestamp = clock.now().into();
    let mut seen = Seen::default();
    match since {
        Some(since) => seen.begin_at(since.at(now)),
        None => seen.begin(&service, filter).await?,
    }
    loop {
        let mut query = filter.query();
        query.extend(seen.from().map(|from| ("from", from)));
        let mut new = Vec::new();
        service
            .each_page(ROUTE, &query, |page| {
                new.extend(page.into_iter().filter_map(|record| seen.add(record)));
                Ok(true)
            })
            .await?;
        // The service answers with the newest first, and a terminal has the newest last.
        for record in new.iter().rev() {
            writeln!(out, "{}", line(record))?;
        }
        out.flush()?;
        seen.forget();
        tokio::time::sleep(PAUSE).await;
    }
}

/// The newest decisions that were printed.
#[derive(Debug, Default)]
struct Seen {
    ids: HashSet<Uuid>,
    newest: Option<Timestamp>,
}

impl Seen {
    /// Takes the present records as seen.
    async fn begin(&mut self, service: &Service, filter: &DecisionFilter) -> anyhow::Result<()> {
        service
            .each_page(ROUTE, &filter.query(), |page| {
                let oldest = page.into_iter().filter_map(|record| self.add(record)).last();
                let oldest = oldest.as_ref().and_then(instant);
                let since = self.newest.map(|newest| newest.millis() - LATE);
                // A page whose search took long may be empty.
                Ok(oldest.is_none_or(|oldest| Some(oldest.millis()) >= since))
            })
            .await?;
        self.forget();
        Ok(())
    }

    /// Takes the records before `since` as seen.
    fn begin_at(&mut self, since: Timestamp) {
        // `from` subtracts it again.
        self.newest = Some(Timestamp::from_millis(since.millis() + LATE));
    }

    /// Returns the instant from which records may be new.
    fn from(&self) -> Option<String> {
        self.newest.map(|newest| Timestamp::from_millis(newest.millis() - LATE).to_string())
    }

    /// Returns the record if it is new.
    fn add(&mut self, record: Value) -> Option<Value> {
        let id = record["id"].as_str()?.parse().ok()?;
        self.newest = self.newest.max(instant(&record));
        self.ids.insert(id).then_some(record)
    }

    /// Forgets the ids that the next question does not get.
    fn forget(&mut self) {
        let since = self.newest.map_or(i64::MIN, |newest| newest.millis() - LATE);
        self.ids.retain(|id| Timestamp::from_id(*id).millis() >= since);
    }
}

fn instant(record: &Value) -> Option<Timestamp> {
    record["time"].as_str().and_then(Timestamp::parse)
}

/// Returns a record in a line: instant, decision, subject, action, resource, rule, id.
fn line(record: &Value) -> String {
    let members = ["time", "decision", "subject", "action", "resource", "rule", "id"];
    members.map(|name| visible(record[name].as_str().unwrap_or_default())).join("  ")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_of_a_part_is_in_the_singular() {
        for (number, part, expected) in [
            (0, "decisions", "0 decisions"),
            (1, "decisions", "1 decision"),
            (1, "deliveries", "1 delivery"),
            (2, "deliveries", "2 deliveries"),
        ] {
            assert_eq!(counted(number, part), expected);
        }
    }
}
