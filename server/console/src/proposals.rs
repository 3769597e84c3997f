//! Proposals: changes that wait for a second manager.

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_http::error::ApiError;
use portcullis_http::path::RecordId;
use portcullis_model::page::Page;
use portcullis_model::proposal::{ProposalRecord, ProposalState};
use portcullis_operations::apply::{self, proposals};

use crate::changes::table::ChangeTable;
use crate::changes::tabs;
use crate::decision::copies::AsApi;
use crate::lists::{Tab, next_of, page_of};
use crate::next::LIMIT;
use crate::times::ShownTime;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "proposals.html")]
struct ProposalsPage {
    tabs: Vec<Tab>,
    proposals: Vec<Shown>,
    next: Option<String>,
    api: AsApi,
}

#[derive(Template)]
#[template(path = "proposal.html")]
struct ProposalPage {
    tabs: Vec<Tab>,
    proposal: Shown,
    is_open: bool,
    table: ChangeTable,
    csrf: String,
    api: AsApi,
}

struct Shown {
    title: String,
    page: String,
    state: &'static str,
    owner: String,
    by: String,
    time: ShownTime,
    expires: ShownTime,
    decided_by: Option<String>,
}

impl Shown {
    fn of(visit: &Visit, record: &ProposalRecord) -> Self {
        Self {
            title: record.message.clone().unwrap_or_else(|| format!("Proposal {}", record.id)),
            page: visit.page(&format!("proposals/{}", record.id)),
            state: record.state.into_str(),
            owner: record.owner.clone(),
            by: record.proposed_by.clone(),
            time: ShownTime::of(record.proposed_at),
            expires: ShownTime::of(record.expires_at),
            decided_by: record.decided_by.clone(),
        }
    }
}

/// Shows the proposals, in order of creation.
pub(crate) async fn page(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let wanted = page_of(&visit, "proposals", "")?;
    let page = Page { after: *wanted.after(), limit: LIMIT };
    let listed = proposals::list(&visit.app, &manager, page).await?;
    let next = next_of(&visit, &wanted, &listed, |record| record.id);
    let content = ProposalsPage {
        tabs: tabs(&visit, "proposals"),
        proposals: listed.records.iter().map(|record| Shown::of(&visit, record)).collect(),
        next,
        api: AsApi::get(&visit.address, "/api/v1/proposals", ""),
    };
    visit.frame.show("Proposals", &content)
}

/// Shows a proposal, and what it changes.
pub(crate) async fn one(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let id = RecordId::from_text(visit.segment("id")).known("proposal")?;
    let record = proposals::get(&visit.app, &manager, id).await?;
    let proposal = Shown::of(&visit, &record);
    let title = proposal.title.clone();
    let content = ProposalPage {
        tabs: tabs(&visit, "proposals"),
        proposal,
        is_open: record.state == ProposalState::Open,
        table: ChangeTable::of_stored(&record.plan),
        csrf: visit.frame.csrf().to_owned(),
        api: AsApi::get(&visit.address, "/api/v1/proposals/{id}", "").at(&[("{id}", id)]),
    };
    visit.frame.show(&title, &content)
}

/// Approves a proposal, which is applied.
pub(crate) async fn approve(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let id = RecordId::from_text(visit.segment("id")).known("proposal")?;
    apply::approve(&visit.app, &manager, id, visit.context.deadline.instant()).await?;
    Ok(visit.done(&format!("proposals/{id}"), "approved"))
}

/// Rejects a proposal.
pub(crate) async fn reject(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let id = RecordId::from_text(visit.segment("id")).known("proposal")?;
    proposals::reject(&visit.app, &manager, id).await?;
    Ok(visit.done(&format!("proposals/{id}"), "rejected"))
}
