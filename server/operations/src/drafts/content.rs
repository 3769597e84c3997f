//! The content of a tenant as a draft makes it (`docs/semantics.md`, section 18.2).

use portcullis_bundle::{BundleDocument, DocumentContext};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json;
use portcullis_model::draft::DraftRecord;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::input::Field;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

use crate::apply::with_kinds;
use crate::content::tenant_content::TenantContent;

/// Reads the bundle of a stored draft beside the threads that serve requests.
///
/// # Errors
/// It does not fit this version of the service, or too many compilations of the tenant wait.
pub(crate) async fn stored_bundle(
    app: &App,
    draft: &DraftRecord,
) -> Result<BundleDocument, OperationError> {
    let (egress, draft) = (app.egress.rules.clone(), draft.clone());
    let tenant = draft.tenant_id.clone();
    app.compilations.run(&tenant, move || read(&draft, &egress)).await?
}

/// Returns the content that `state` becomes with the kinds of a stored draft. It is made beside the threads that serve
/// requests.
///
/// # Errors
/// The draft does not fit the content, or too many compilations of the tenant wait.
pub(crate) async fn content_with_draft(
    app: &App,
    state: TenantContent,
    draft: DraftRecord,
) -> Result<TenantContent, OperationError> {
    let (own, tenant) = (app.clone(), draft.tenant_id.clone());
    let made = app.compilations.run(&tenant, move || {
        let bundle = read(&draft, &own.egress.rules)?;
        with_kinds(&own, state, &(&draft).into(), &bundle)
    });
    made.await?
}

fn read(draft: &DraftRecord, egress: &EgressRules) -> Result<BundleDocument, OperationError> {
    let context = DocumentContext { domain: &draft.domain, egress };
    let tree = json::parse(draft.bundle.get().as_bytes())?;
    let (mut problems, root) = (Problems::default(), Place::root());
    let bundle = BundleDocument::field(context).read(&tree, &root.key("bundle"), &mut problems);
    Ok(problems.finish(bundle)?)
}
