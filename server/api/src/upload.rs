//! Bodies that bring a module along: `multipart/form-data` with the parts `module` and `manifest` (`docs/semantics.md`,
//! section 5.11).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::multipart::Field;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::{self, Json, JsonError};
use portcullis_resolver_host::limits::MODULE_BYTES;
use utoipa::openapi::schema::Type;

use super::deadline::Deadline;
use super::layers::{Read, read_body};
use crate::error::ApiError;
use portcullis_model::resolver::{Manifest, ManifestUpdate};
use portcullis_model::{document, schema};
use portcullis_operations::error::OperationError;
use portcullis_operations::uploads::Uploads;

/// Largest upload, in bytes: the largest module, and what a manifest and the multipart form take beside it.
pub(super) const MAX_UPLOAD: usize = MODULE_BYTES + (1 << 20);
const FORM: &str = "multipart/form-data";

/// Whether a request brings a module, and so a larger body than others may.
pub(super) fn is_upload(request: &Request) -> bool {
    let path = request.uri().path();
    let one = path.strip_prefix("/api/v1/resolvers/").is_some_and(|id| !id.contains('/'));
    let takes_modules = match *request.method() {
        Method::POST => path == "/api/v1/resolvers",
        Method::PUT => one,
        _ => false,
    };
    takes_modules && is_form(request.headers())
}

fn is_form(headers: &HeaderMap) -> bool {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case(FORM)
}

/// A large body, which is read only once it is known that its sender may send one.
#[derive(Clone, Debug)]
pub(super) struct Unread(Arc<Mutex<Option<Body>>>);

impl Unread {
    pub(super) fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new(Some(body))))
    }

    /// The body, unless somebody has taken it.
    pub(super) fn take(&self) -> Option<Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// An upload that is read only once it is known whose it is.
#[derive(Debug)]
pub(super) struct Incoming {
    request: Request,
    /// That of the request.
    pub(super) deadline: Deadline,
}

/// The parts of an upload.
#[derive(Default)]
pub(super) struct Upload {
    /// While there are copies of it, its sender has that much less to upload.
    pub(super) module: Option<Bytes>,
    manifest: Option<Bytes>,
}

/// Shows how long the parts are: the manifest has secrets.
impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = |part: &Option<Bytes>| part.as_ref().map(Bytes::len);
        f.debug_struct("Upload")
            .field("module", &length(&self.module))
            .field("manifest", &length(&self.manifest))
            .finish()
    }
}

impl Upload {
    /// The manifest as a tree, if there is one; what `read` finds is placed at `/manifest`.
    pub(super) fn manifest<T>(
        &self,
        read: impl FnOnce(&Json<'_>) -> Result<T, portcullis_engine::Invalid>,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = &self.manifest else { return Ok(None) };
        let json = json::parse(text).map_err(|error| match error {
            JsonError::Syntax(_) => {
                OperationError::BadRequest(format!("the part `manifest`: {error}"))
            }
            JsonError::Invalid(invalid) => OperationError::Invalid(invalid.under("/manifest")),
        })?;
        Ok(Some(read(&json).map_err(|invalid| invalid.under("/manifest"))?))
    }

    /// Both parts; refuses an upload that lacks one.
    pub(super) fn complete<T>(
        self,
        read: impl FnOnce(&Json<'_>) -> Result<T, portcullis_engine::Invalid>,
    ) -> Result<(Bytes, T), ApiError> {
        let manifest = self.manifest(read)?;
        let mut problems = Problems::default();
        if manifest.is_none() {
            problems.missing(&Place::root(), "manifest");
        }
        if self.module.is_none() {
            problems.missing(&Place::root(), "module");
        }
        Ok(problems.finish(self.module.zip(manifest))?)
    }
}

impl<S: Send + Sync> FromRequest<S> for Incoming {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        if !is_form(request.headers()) {
            return Err(ApiError::UnsupportedMediaType(FORM));
        }
        let deadline = Deadline::of(request.extensions());
        Ok(Self { request, deadline })
    }
}

impl Incoming {
    /// Reads it, if there is a turn for the tenant.
    pub(super) async fn read(self, uploads: &Uploads, tenant: &str) -> Result<Upload, ApiError> {
        let turn = uploads.begin(tenant).await?;
        let (parts, body) = self.request.into_parts();
        let mut body = parts.extensions.get().and_then(Unread::take).unwrap_or(body);
        // A sender that takes its time has a turn meanwhile.
        let body = match self.deadline.bound(read_body(&mut body, MAX_UPLOAD)).await {
            Some(Read::Whole(body)) => body,
            Some(Read::TooLarge) => return Err(ApiError::PayloadTooLarge(MAX_UPLOAD)),
            Some(Read::Broken) => {
                return Err(
                    OperationError::BadRequest("the body ended too early".to_owned()).into()
                );
            }
            None => {
                let what = "the body took too long, and nothing was written; try again later";
                return Err(OperationError::NotNow(what.to_owned()).into());
            }
        };
        let mut request = Request::from_parts(parts, Body::from(body));
        // It has been limited.
        DefaultBodyLimit::disable().apply(&mut request);
        let form = Multipart::from_request(request, &()).await;
        let mut upload = read_parts(form.map_err(|error| broken(&error))?).await?;
        upload.module = upload.module.map(|module| turn.until_gone(module));
        Ok(upload)
    }
}

/// Reads each part, in whatever order; notes those that are unknown, or there twice.
async fn read_parts(mut form: Multipart) -> Result<Upload, ApiError> {
    let mut upload = Upload::default();
    let mut problems = Problems::default();
    let root = Place::root();
    while let Some(field) = form.next_field().await.map_err(|error| broken(&error))? {
        let name = field.name().unwrap_or_default().to_owned();
        let part = match &*name {
            "module" => &mut upload.module,
            "manifest" => &mut upload.manifest,
            _ => {
                problems.unknown(&root, &name);
                continue;
            }
        };
        if part.is_some() {
            problems.expected(&root.key(&name), "one part of this name, not several");
            continue;
        }
        *part = Some(bytes(field).await?);
    }
    problems.into_result()?;
    Ok(upload)
}

/// The bytes of a part; those of the form itself, where it has them in one piece.
async fn bytes(mut field: Field<'_>) -> Result<Bytes, ApiError> {
    let mut bytes = Bytes::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
        bytes = if bytes.is_empty() { chunk } else { [bytes, chunk].concat().into() };
    }
    Ok(bytes)
}

fn broken(error: &impl std::fmt::Display) -> ApiError {
    OperationError::BadRequest(format!("the form cannot be read: {error}")).into()
}

/// The upload of a new resolver, as the document describes it.
pub(super) struct NewUpload;

document!(NewUpload as "NewResolver", naming Manifest => {
    schema::input()
        .required("module", module())
        .required("manifest", schema::named::<Manifest>())
});

/// The upload that changes a resolver, as the document describes it.
pub(super) struct ChangeUpload;

document!(ChangeUpload as "ResolverReplacement", naming ManifestUpdate => {
    schema::input()
        .member("module", module())
        .member("manifest", schema::named::<ManifestUpdate>())
});

fn module() -> utoipa::openapi::schema::ObjectBuilder {
    schema::typed(Type::String)
        .content_media_type("application/wasm")
        .description(Some("A component of `portcullis:resolver@1.0.0`, at most 16 MiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_has_no_secret() {
        let manifest = Bytes::from_static(br#"{"secrets": {"token": "s3cret"}}"#);
        let upload = Upload { module: None, manifest: Some(manifest) };
        assert_eq!(format!("{upload:?}"), "Upload { module: None, manifest: Some(32) }");
    }
}
