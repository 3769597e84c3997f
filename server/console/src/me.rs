//! The page of what the person may do.

use askama::Template;
use axum::response::Response;
use portcullis_engine::request::Attributes;
use portcullis_http::error::ApiError;
use portcullis_http::paging::PageQuery;
use portcullis_http::query::Query;
use portcullis_http::recipient::carried;
use portcullis_model::page::Page;
use portcullis_model::permissions::PermissionsRequest;
use portcullis_operations::permissions::{self, ResourcePermission};
use portcullis_runtime::min_revisions::MinRevisions;

use crate::decision::copies::AsApi;
use crate::visit::Visit;

/// The rows of a page.
const ROWS: i64 = 100;

#[derive(Template)]
#[template(path = "me.html")]
struct MePage {
    permissions: Vec<ResourcePermission>,
    next: Option<String>,
    api: AsApi,
}

impl MePage {
    fn word(permission: &ResourcePermission) -> &'static str {
        match permission.decision {
            "allow" => "Allow",
            "deny" => "Deny",
            _ => "If",
        }
    }
}

/// Shows the permissions on registered resources.
pub(crate) async fn page(visit: Visit) -> Result<Response, ApiError> {
    let query: PageQuery = Query::read(&visit.uri)?;
    let wanted = query.in_list("console permissions", &visit.tenant.id, "")?;
    let page = Page { after: *wanted.after(), limit: ROWS };
    let (app, tenant) = (visit.app.clone(), visit.tenant.id.clone());
    let report = carried(move |awaited| async move {
        let request =
            PermissionsRequest { subject: None, domain: None, attributes: Attributes::default() };
        let at_least = MinRevisions::default();
        let (app, caller) = (&visit.app, &visit.caller);
        let found = permissions::list(app, caller, &request, page, at_least, &awaited).await?;
        let next = found.next.map(|last| format!("me?cursor={}", wanted.cursor(&last)));
        let api = AsApi::post(&visit.address, "/api/v1/permissions", "{}");
        visit.frame.show("My access", &MePage { permissions: found.permissions, next, api })
    });
    app.searches.run(&tenant, report).await
}
