//! The permissions of a subject on registered resources.

use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use portcullis_auth::Manager;
use portcullis_http::error::ApiError;
use serde_json::json;
use uuid::Uuid;

use super::tabs;
use crate::csv::{CsvPage, download};
use crate::decision::copies::AsApi;
use crate::fields::{FieldRow, Kind, fields_of};
use crate::permission_table::{PermissionTable, ROUTE, list};
use crate::question::QuestionPage;
use crate::visit::Visit;

/// The parameters of the page, and of the file.
pub(crate) const KNOWN: &[&str] = &["subject", "cursor"];
pub(crate) const KNOWN_OF_CSV: &[&str] = &["subject"];
const FIELDS: [FieldRow; 1] =
    [FieldRow { name: "subject", label: "Subject", hint: "ann", kind: Kind::Text }];

/// Shows the permissions of a subject.
pub(crate) async fn page(visit: Visit, _: Manager) -> Result<Response, ApiError> {
    let subject = visit.parameter("subject");
    let (title, body, table) = match &*subject {
        "" => ("What can somebody do?".to_owned(), json!({}), Ok(None)),
        subject => (
            format!("What can {subject} do?"),
            json!({"subject": subject}),
            PermissionTable::read(&visit, Some(subject)).await.map(Some),
        ),
    };
    let page = QuestionPage {
        name: "Choose",
        tabs: tabs(&visit, "access/what"),
        fields: fields_of(&FIELDS, &visit.uri),
        note: "",
        api: AsApi::post(&visit.address, ROUTE, &body.to_string()),
    };
    page.show(&visit, &title, table)
}

/// Answers with the permissions as a file.
pub(crate) async fn csv(visit: Visit, _: Manager) -> Result<Response, ApiError> {
    if visit.parameter("subject").is_empty() {
        return Err(ApiError::bad_request("expected the query parameter `subject`"));
    }
    let header = ["resource", "action", "decision", "depends_on"];
    download(visit, "what.csv", &header, csv_page).await
}

fn csv_page(visit: &Visit, cursor: Option<String>) -> BoxFuture<'_, Result<CsvPage, ApiError>> {
    async move {
        let after = cursor.and_then(|cursor| Uuid::parse_str(&cursor).ok()).unwrap_or_default();
        let found = list(visit, Some(&visit.parameter("subject")), after).await?;
        let rows = found.permissions.into_iter().map(|one| {
            let depends_on = one.depends_on.join(" ");
            vec![one.resource, one.action, one.decision.to_owned(), depends_on]
        });
        let next = found.next.map(|last| last.to_string());
        Ok(CsvPage { rows: rows.collect(), next, revision: found.revision })
    }
    .boxed()
}
