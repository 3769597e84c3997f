//! The page of one policy.

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_engine::ResourcePattern;
use portcullis_http::error::ApiError;
use portcullis_http::path::RecordId;
use portcullis_model::decision::DecisionSelection;
use portcullis_model::policy::PolicyRecord;
use portcullis_model::revision::RecordRevision;
use portcullis_operations::policies::{self, PolicyReport};
use portcullis_operations::revisions;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::BrokenOff;

use crate::conditions::ShownCondition;
use crate::decision::copies::AsApi;
use crate::decisions::figure::Figure;
use crate::decisions::table::NoRecord;
use crate::lists::{Tab, tabs};
use crate::next::with_query;
use crate::pages::{PageWriter, stream};
use crate::times::ShownTime;
use crate::visit::Visit;

/// The newest changes that the page shows.
const CHANGES: i64 = 20;
/// Most registered resources that the page shows.
const COVERED: u32 = 20;

#[derive(Template)]
#[template(path = "policy.html")]
struct Summary {
    tabs: Vec<Tab>,
    policy: PolicyRecord,
    who: String,
    created: ShownTime,
    condition: ShownCondition,
    /// The doubts of the service about it.
    doubts: Vec<String>,
    /// The first registered resources that it is about, each with the page of who can.
    covers: Vec<(String, String)>,
    covers_more: bool,
    history: Vec<Change>,
    has_more: bool,
    api: AsApi,
}

struct Change {
    page: String,
    revision: u64,
    time: ShownTime,
    actor: String,
    words: String,
}

/// Shows a policy: its condition, the doubts about it, what it covers, its history, and its decisions of the last day.
pub(crate) async fn page(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let id = RecordId::from_text(visit.segment("id")).known("policy")?;
    let report = policies::report(&visit.app, &manager, id, COVERED).await?;
    let PolicyReport { record: policy, condition, warnings, covers } = report;
    let history = revisions::for_policy(&visit.app, &manager, id, u64::MAX, CHANGES).await?;
    let fault = condition.as_ref().err();
    let broken = fault.map(|fault| format!("the condition does not compile any more: {fault}"));
    let doubts = broken.into_iter().chain(warnings.into_iter().map(|warning| warning.message));
    let summary = Summary {
        tabs: tabs(&visit, "policies"),
        who: who_page(&visit, &policy.resource.to_string()),
        created: ShownTime::of(policy.created_at),
        doubts: doubts.collect(),
        condition: ShownCondition::of(&visit, condition, policy.rule_data.text()),
        covers: covers.records.into_iter().map(|name| (who_page(&visit, &name), name)).collect(),
        covers_more: covers.more,
        history: history.records.into_iter().map(|one| change(&visit, one)).collect(),
        has_more: history.more,
        api: AsApi::get(&visit.address, "/api/v1/abac/policies/{id}", "").at(&[("{id}", id)]),
        policy,
    };
    let selection =
        DecisionSelection { rule: Some(id.to_string()), ..DecisionSelection::default() };
    stream(visit, &summary.policy.name, &summary, move |visit, page| write(visit, selection, page))
}

/// Returns the page of the subjects who can do something with `resource`.
fn who_page(visit: &Visit, resource: &str) -> String {
    with_query(&visit.page("access/who"), &[("resource", resource)])
}

fn change(visit: &Visit, one: RecordRevision) -> Change {
    let RecordRevision { revision, change } = one;
    Change {
        page: visit.page(&format!("changes/{}", revision.revision)),
        revision: revision.revision,
        time: ShownTime::of(revision.at),
        actor: revision.author.actor,
        words: change.words,
    }
}

/// Writes the figure of what the policy decided.
async fn write(
    visit: Visit,
    selection: DecisionSelection,
    mut page: PageWriter,
) -> Result<PageWriter, BrokenOff> {
    match Figure::read(&visit, &selection).await {
        Ok(figure) => page.part(&figure).await?,
        Err(OperationError::Conflict(message)) => page.part(&NoRecord { message }).await?,
        Err(error) => page.failed(error).await?,
    }
    Ok(page)
}
