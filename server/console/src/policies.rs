//! The page of policies, with what each decided.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_engine::Policy;
use portcullis_http::error::ApiError;
use portcullis_model::Timestamp;
use portcullis_model::decision::DecisionSelection;
use portcullis_model::decision_stats::StatsDimension;
use portcullis_model::page::{Listed, Page};
use portcullis_model::policy::PolicyRecord;
use portcullis_operations::decisions::stats;
use portcullis_operations::policies::{self, PolicyFilter};
use portcullis_runtime::piece_writer::BrokenOff;

use crate::conditions::in_cell;
use crate::decision::copies::AsApi;
use crate::fields::{Field, FieldRow, Kind, fields_of};
use crate::lists::{Tab, next_of, page_of, tabs};
use crate::next::{LIMIT, with_query};
use crate::outcomes::word;
use crate::pages::{PageWriter, stream};
use crate::visit::Visit;

/// The parameters of the page.
pub(crate) const KNOWN: &[&str] = &["q", "cursor"];
const FIELDS: [FieldRow; 1] =
    [FieldRow { name: "q", label: "Name", hint: "a part of the name", kind: Kind::Text }];
/// The time in which decisions are counted, in milliseconds.
const WEEK: i64 = 7 * 24 * 60 * 60 * 1_000;

#[derive(Template)]
#[template(path = "policies_search.html")]
struct Search {
    fields: Vec<Field>,
    tabs: Vec<Tab>,
}

#[derive(Template)]
#[template(path = "policies.html")]
struct Table {
    rows: Vec<PolicyRow>,
    next: Option<String>,
    is_searched: bool,
    /// The reason why the decisions are not counted, or not all.
    uncounted: Option<String>,
    api: AsApi,
}

struct PolicyRow {
    name: String,
    page: String,
    effect: &'static str,
    word: &'static str,
    resource: String,
    priority: i32,
    condition: String,
    decided: String,
    decisions: String,
}

/// Shows the policies, in order of creation.
pub(crate) async fn page(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let fields = fields_of(&FIELDS, &visit.uri);
    let filter = PolicyFilter { name_part: Some(visit.parameter("q")), ..PolicyFilter::default() };
    let wanted = page_of(&visit, "policies", &format!("{filter:?}"))?;
    let page = Page { after: *wanted.after(), limit: LIMIT };
    let listed = policies::list(&visit.app, &manager, &filter, page).await?;
    let next = next_of(&visit, &wanted, &listed, |policy| policy.id);
    let search = Search { fields, tabs: tabs(&visit, "policies") };
    stream(visit, "Policies", &search, move |visit, page| write(visit, listed, next, page))
}

/// Counts the decisions of the policies, and writes the table.
async fn write(
    visit: Visit,
    listed: Listed<PolicyRecord>,
    next: Option<String>,
    mut page: PageWriter,
) -> Result<PageWriter, BrokenOff> {
    let now: Timestamp = visit.app.clock.now().into();
    let from = Some(Timestamp::from_millis(now.millis() - WEEK));
    let selection = DecisionSelection { from, ..DecisionSelection::default() };
    let counted = stats(&visit.app, &visit.caller, selection, &[StatsDimension::Rule]).await;
    let (counts, uncounted) = match counted {
        Ok(stats) => {
            let counts = stats.groups.iter().map(|group| {
                let rule = group.values.first().map(|(_, rule)| rule.clone()).unwrap_or_default();
                (rule, group.allow + group.deny)
            });
            let counts: BTreeMap<String, u64> = counts.collect();
            let part = "Not all decisions could be counted in time.".to_owned();
            (Some(counts), (!stats.complete).then_some(part))
        }
        Err(error) => (None, Some(ApiError::from(error).message())),
    };
    let rows = listed.records.into_iter();
    let table = Table {
        rows: rows.map(|policy| PolicyRow::new(&visit, policy, counts.as_ref())).collect(),
        next,
        is_searched: !visit.parameter("q").is_empty(),
        uncounted,
        api: AsApi::get(
            &visit.address,
            "/api/v1/abac/policies",
            visit.uri.query().unwrap_or_default(),
        ),
    };
    page.part(&table).await?;
    Ok(page)
}

impl PolicyRow {
    fn new(visit: &Visit, policy: PolicyRecord, counts: Option<&BTreeMap<String, u64>>) -> Self {
        let id = policy.id.to_string();
        let effect: &'static str = policy.effect.into_str();
        let decided = match counts.map(|counts| counts.get(&id).copied().unwrap_or_default()) {
            _ if !policy.enabled => "disabled".to_owned(),
            None => "–".to_owned(),
            Some(0) => "never".to_owned(),
            Some(count) => count.to_string(),
        };
        Self {
            page: visit.page(&format!("policies/{id}")),
            effect,
            word: word(effect),
            resource: policy.resource.to_string(),
            priority: policy.priority,
            condition: in_cell(Policy::stored_condition(policy.format, policy.rule_data.text())),
            name: policy.name,
            decided,
            decisions: with_query(&visit.page("decisions"), &[("rule", &id)]),
        }
    }
}
