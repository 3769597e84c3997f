//! The table of decisions.

use askama::Template;
use portcullis_http::paging::Requested;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::page::Page;
use portcullis_operations::decisions;
use portcullis_runtime::error::OperationError;
use uuid::Uuid;

use crate::decision::copies::{AsApi, EXAMPLE};
use crate::decision::rule_name::rule_name;
use crate::next::{LIMIT, at_cursor, with_query};
use crate::outcomes::word;
use crate::times::ShownTime;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "no_record.html")]
pub(crate) struct NoRecord {
    pub(crate) message: String,
}

#[derive(Template)]
#[template(path = "decisions_table.html")]
pub(super) struct Table {
    rows: Vec<DecisionRow>,
    next: Option<String>,
    /// The replicas whose newest decisions are missing.
    silent: usize,
    /// A command that makes a decision.
    example: String,
    api: AsApi,
}

struct DecisionRow {
    page: String,
    time: ShownTime,
    decision: &'static str,
    word: &'static str,
    subject: String,
    action: String,
    resource: String,
    rule: String,
    reason: String,
    by_decision: String,
    by_subject: String,
    by_action: String,
    by_resource: String,
    by_rule: String,
}

impl Table {
    /// Reads a page of the decisions.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(super) async fn read(
        visit: &Visit,
        selection: DecisionSelection,
        wanted: &Requested,
    ) -> Result<Self, OperationError> {
        let page = Page { after: *wanted.after(), limit: LIMIT };
        let found = decisions::list(&visit.app, &visit.caller, selection, page).await?;
        let listed = found.into;
        // A cursor is the record before the page.
        let before_rest = found.rest.map(|rest| Uuid::from_u128(rest.as_u128().saturating_add(1)));
        let last = listed.records.last().filter(|_| listed.more).map(|record| record.id);
        let next = last.or(before_rest).map(|last| at_cursor(&visit.uri, &wanted.cursor(&last)));
        let address = &visit.address;
        Ok(Self {
            rows: listed.records.into_iter().map(row).collect(),
            next,
            silent: found.silent,
            example: AsApi::post(address, "/api/v1/check", EXAMPLE).curl,
            api: AsApi::get(address, "/api/v1/decisions", visit.uri.query().unwrap_or_default()),
        })
    }
}

fn row(record: DecisionRecord) -> DecisionRow {
    let decision: &'static str = record.decision.into_str();
    DecisionRow {
        page: format!("decisions/{}", record.id),
        time: ShownTime::of(record.time),
        decision,
        word: word(decision),
        by_decision: by("decision", decision),
        by_subject: by("subject", &record.subject),
        by_action: by("action", &record.action),
        by_resource: by("resource", &record.resource),
        by_rule: by("rule", &record.rule),
        rule: rule_name(&record.rule, &record.reason).to_owned(),
        subject: record.subject,
        action: record.action,
        resource: record.resource,
        reason: record.reason,
    }
}

/// Returns the address of the decisions with this member.
fn by(name: &str, value: &str) -> String {
    with_query("decisions", &[(name, value)])
}
