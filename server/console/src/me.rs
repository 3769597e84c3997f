//! The page of what the person may do.

use axum::response::Response;
use portcullis_http::error::ApiError;

use crate::permission_table::PermissionTable;
use crate::visit::Visit;

/// Shows the permissions on registered resources.
pub(crate) async fn page(visit: Visit) -> Result<Response, ApiError> {
    let table = PermissionTable::read(&visit, None).await?;
    visit.frame.show("My access", &table)
}
