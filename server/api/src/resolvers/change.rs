//! The body of an update: JSON with a manifest, or an upload with a module.

use axum::extract::{FromRequest, Request};
use portcullis_http::body::JsonBody;
use portcullis_http::deadline::Deadline;
use portcullis_http::error::ApiError;
use portcullis_http::handler_parameters::HandlerParameter;
use portcullis_http::request_context::RequestContext;
use portcullis_http::route_facts::is_form;
use portcullis_http::upload::Upload;
use portcullis_model::resolver::ManifestUpdate;
use portcullis_operations::resolvers::ResolverChange;
use portcullis_runtime::app::App;

/// The body of an update.
pub(crate) enum ChangeBody {
    Manifest(JsonBody, Deadline),
    Upload(Box<Upload>),
}

impl HandlerParameter for ChangeBody {}

impl<S: Send + Sync> FromRequest<S> for ChangeBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if is_form(request.headers()) {
            return Ok(Self::Upload(Box::new(Upload::from_request(request, state).await?)));
        }
        let deadline = RequestContext::find(request.extensions())?.deadline;
        Ok(Self::Manifest(JsonBody::from_request(request, state).await?, deadline))
    }
}

impl ChangeBody {
    /// Returns the deadline of the request.
    pub(super) fn deadline(&self) -> Deadline {
        match self {
            Self::Manifest(_, deadline) => *deadline,
            Self::Upload(upload) => upload.deadline(),
        }
    }

    /// Reads and parses the body.
    pub(super) async fn read(self, app: &App, tenant: &str) -> Result<ResolverChange, ApiError> {
        let rules = &app.egress.rules;
        match self {
            Self::Manifest(body, _) => {
                let update = ManifestUpdate::parse(&body.parse()?, rules)?;
                Ok(ResolverChange { update, module: None, at: "" })
            }
            Self::Upload(upload) => {
                let parts = upload.read(&app.uploads, tenant).await?;
                let update = parts.manifest(|json| ManifestUpdate::parse(json, rules))?;
                let update = update.unwrap_or_default();
                Ok(ResolverChange { update, module: parts.module, at: "/manifest" })
            }
        }
    }
}
