//! Applies the content of an import.

use portcullis_engine::Json;

use super::apply::report;
use super::request::SentApply;
use super::service::Service;
use super::upload::{Planned, apply_content};

/// Makes the objects of `owner` those of `content`, and returns the report of what changed.
///
/// # Errors
/// The service refuses the content, and stores none of it then, or gives no answer.
pub async fn import(
    service: &Service,
    owner: &str,
    content: Json<'static>,
) -> anyhow::Result<String> {
    let request = SentApply::for_import(owner);
    let Planned { answer, .. } = apply_content(service, &request, content).await?;
    Ok(report(owner, &answer))
}
