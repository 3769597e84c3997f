//! The table of what a subject may do on registered resources.

use askama::Template;
use portcullis_engine::request::Attributes;
use portcullis_http::error::ApiError;
use portcullis_http::recipient::carried;
use portcullis_model::page::Page;
use portcullis_model::permissions::PermissionsRequest;
use portcullis_operations::permissions::{self, PermissionPage, ResourcePermission};
use portcullis_runtime::min_revisions::MinRevisions;
use uuid::Uuid;

use crate::decision::copies::AsApi;
use crate::lists::page_of;
use crate::next::{LIMIT, at_cursor, with_query};
use crate::visit::Visit;

/// The route of the API, for copies.
pub(crate) const ROUTE: &str = "/api/v1/permissions";

#[derive(Template)]
#[template(path = "permission_table.html")]
pub(crate) struct PermissionTable {
    permissions: Vec<ResourcePermission>,
    next: Option<String>,
    /// The file of somebody else's permissions, and the call that lists one's own.
    csv: Option<String>,
    api: Option<AsApi>,
}

impl PermissionTable {
    /// Reads the page that the address names: the permissions of `subject`, or the person's own.
    ///
    /// # Errors
    /// The person may not ask about the subject, the cursor is of another list, or nothing can be decided.
    pub(crate) async fn read(visit: &Visit, subject: Option<&str>) -> Result<Self, ApiError> {
        let wanted = page_of(visit, "permissions", subject.unwrap_or_default())?;
        let found = list(visit, subject, *wanted.after()).await?;
        Ok(Self {
            permissions: found.permissions,
            next: found.next.map(|last| at_cursor(&visit.uri, &wanted.cursor(&last))),
            csv: subject
                .map(|subject| with_query(&visit.page("access/what.csv"), &[("subject", subject)])),
            api: subject.is_none().then(|| AsApi::post(&visit.address, ROUTE, "{}")),
        })
    }
}

/// Lists the permissions after the resource with this id: those of `subject`, or the person's own.
///
/// # Errors
/// As for [`permissions::list`].
pub(crate) async fn list(
    visit: &Visit,
    subject: Option<&str>,
    after: Uuid,
) -> Result<PermissionPage, ApiError> {
    let (app, caller, tenant) = (visit.app.clone(), visit.asker(), visit.tenant.id.clone());
    let subject = subject.map(str::to_owned);
    let report = carried(move |awaited| async move {
        let (subject, attributes) = (subject.as_deref(), Attributes::default());
        let request = PermissionsRequest { subject, domain: None, attributes };
        let page = Page { after, limit: LIMIT };
        let at_least = MinRevisions::default();
        Ok(permissions::list(&app, &caller, &request, page, at_least, &awaited).await?)
    });
    visit.app.searches.run(&tenant, report).await
}
