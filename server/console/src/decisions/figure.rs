//! The figure of decisions by hour or minute.

use askama::Template;
use portcullis_engine::Effect;
use portcullis_model::Timestamp;
use portcullis_model::decision::{DecisionSelection, Via};
use portcullis_model::decision_stats::StatsDimension;
use portcullis_operations::decisions;
use portcullis_runtime::error::OperationError;
use url::form_urlencoded;

use crate::visit::Visit;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// The time that the figure covers unless the filter says so.
const DAY: i64 = 24 * HOUR;
/// The longest time of a figure by minutes.
const MINUTES_UP_TO: i64 = 2 * HOUR;
/// Most bars. A longer time shows its newest hours.
const MAX_BARS: usize = 24 * 31;
/// The height of the figure, and the width of a bar with its gap, in units of its own.
const HEIGHT: u64 = 60;
const STEP: usize = 10;

#[derive(Template)]
#[template(path = "decisions_figure.html")]
pub(crate) struct Figure {
    bars: Vec<Bar>,
    width: usize,
    allow: String,
    deny: String,
    period: &'static str,
    complete: bool,
}

struct Bar {
    start: String,
    link: String,
    allow: u64,
    deny: u64,
    x: usize,
    width: usize,
    allow_y: u64,
    allow_height: u64,
    deny_y: u64,
    deny_height: u64,
}

impl Figure {
    /// Counts the decisions of the filter, or of the last day.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(crate) async fn read(
        visit: &Visit,
        selection: &DecisionSelection,
    ) -> Result<Self, OperationError> {
        let now: Timestamp = visit.app.clock.now().into();
        let to = selection.to.unwrap_or(now);
        let from = selection.from.unwrap_or(Timestamp::from_millis(to.millis() - DAY));
        let by_minute = to.millis() - from.millis() <= MINUTES_UP_TO;
        let (dimension, period, length) = match by_minute {
            true => (StatsDimension::Minute, "minute", MINUTE),
            false => (StatsDimension::Hour, "hour", HOUR),
        };
        let counted = DecisionSelection { from: Some(from), ..selection.clone() };
        let stats = decisions::stats(&visit.app, &visit.caller, counted, &[dimension]).await?;
        let allow = stats.groups.iter().map(|group| group.allow).sum();
        let deny = stats.groups.iter().map(|group| group.deny).sum();
        let most = stats.groups.iter().map(|group| group.allow + group.deny).max().unwrap_or(1);
        // The newest periods come last.
        let first = stats.groups.len().saturating_sub(MAX_BARS);
        let newest = stats.groups.get(first..).unwrap_or_default();
        let page = visit.page("decisions");
        let bars = newest.iter().enumerate().map(|(index, group)| {
            let start = group.values.first().map(|(_, value)| value.clone()).unwrap_or_default();
            bar(start, (group.allow, group.deny), (index, most), (length, &page), selection)
        });
        let bars: Vec<Bar> = bars.collect();
        Ok(Self {
            width: (bars.len() * STEP).max(STEP),
            bars,
            allow: grouped(allow),
            deny: grouped(deny),
            period,
            complete: stats.complete,
        })
    }
}

/// Returns the bar of a period: denials stand on the ground, allows above them.
fn bar(
    start: String,
    (allow, deny): (u64, u64),
    (index, most): (usize, u64),
    (length, page): (i64, &str),
    selection: &DecisionSelection,
) -> Bar {
    let (allow_height, deny_height) = (height(allow, most), height(deny, most));
    let end = Timestamp::parse(&start).map(|begin| Timestamp::from_millis(begin.millis() + length));
    // The filter of the page, with the time of the bar in place of its own.
    let mut filter = form_urlencoded::Serializer::new(String::new());
    filter.append_pair("from", &start);
    if let Some(end) = end {
        filter.append_pair("to", &end.to_string());
    }
    for (name, value) in [
        ("subject", selection.subject.as_deref()),
        ("resource", selection.resource.as_deref()),
        ("action", selection.action.as_deref()),
        ("rule", selection.rule.as_deref()),
        ("request_id", selection.request_id.as_deref()),
        ("decision", selection.decision.as_ref().map(Effect::into_str)),
        ("via", selection.via.as_ref().map(Via::into_str)),
        ("undetermined", selection.undetermined.map(|one| if one { "true" } else { "false" })),
    ] {
        if let Some(value) = value {
            filter.append_pair(name, value);
        }
    }
    Bar {
        link: format!("{page}?{}", filter.finish()),
        start,
        allow,
        deny,
        x: index * STEP,
        width: STEP - 2,
        allow_y: (HEIGHT).saturating_sub(deny_height + allow_height),
        allow_height,
        deny_y: HEIGHT.saturating_sub(deny_height),
        deny_height,
    }
}

fn height(count: u64, most: u64) -> u64 {
    match count {
        0 => 0,
        // One decision among thousands is seen, too.
        count => (count.saturating_mul(HEIGHT) / most).max(1),
    }
}

/// Returns a number with commas between its thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (98_410_204, "98,410,204")]
        {
            assert_eq!(grouped(number), expected);
        }
    }
}
