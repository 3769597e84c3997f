//! Uploads of modules: `multipart/form-data` with the parts `module` and `manifest` (`docs/semantics.md`, section 5.11).
//!
//! [`Upload`] is extracted after the credential and the right of the sender are checked. Its handler reads the body when the
//! tenant has a turn.

use std::fmt;

use axum::body::Body;
use axum::extract::multipart::Field;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use portcullis_engine::Invalid;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::{self, Json, JsonError};
use portcullis_model::resolver::{Manifest, ManifestUpdate};
use portcullis_model::{document, schema};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::turns::{WorkQueue, hold_turn};
use utoipa::openapi::schema::Type;

use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::handler_parameters::HandlerParameter;
use crate::raw_body::UnreadBody;
use crate::route_facts::{FORM, is_form};

/// Largest manifest, in bytes: as large as a body, because its tree takes many times the memory of its text.
const MAX_MANIFEST: usize = 1 << 20;

/// An upload whose body is not read yet.
pub struct Upload {
    body: UnreadBody,
    /// Has the boundary of the parts.
    content_type: HeaderValue,
}

/// The parts of an upload.
#[derive(Default)]
pub struct UploadParts {
    /// The tenant's turn lasts as long as there is a copy of these bytes.
    pub module: Option<Bytes>,
    manifest: Option<Bytes>,
}

/// Shows the lengths of the parts, because the manifest has secrets.
impl fmt::Debug for UploadParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UploadParts")
            .field("module", &self.module.as_ref().map(Bytes::len))
            .field("manifest", &self.manifest.as_ref().map(Bytes::len))
            .finish()
    }
}

impl UploadParts {
    /// Parses the manifest by `read`, if there is one. The paths of problems begin with `/manifest`.
    pub fn manifest<T>(
        &self,
        read: impl FnOnce(&Json<'_>) -> Result<T, Invalid>,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = &self.manifest else { return Ok(None) };
        if text.len() > MAX_MANIFEST {
            let expected = format!("at most {MAX_MANIFEST} bytes");
            return Err(Invalid::expected("/manifest", expected).into());
        }
        let json = json::parse(text).map_err(|error| match error {
            JsonError::Syntax(_) => {
                OperationError::BadRequest(format!("the part `manifest` is not valid: {error}"))
            }
            JsonError::Invalid(invalid) => OperationError::Invalid(invalid.under("/manifest")),
        })?;
        Ok(Some(read(&json).map_err(|invalid| invalid.under("/manifest"))?))
    }

    /// Returns both parts. Refuses an upload without one of them.
    pub fn complete<T>(
        self,
        read: impl FnOnce(&Json<'_>) -> Result<T, Invalid>,
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

impl HandlerParameter for Upload {}

impl<S: Send + Sync> FromRequest<S> for Upload {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let content_type = request.headers().get(CONTENT_TYPE).cloned();
        let Some(content_type) = content_type.filter(|_| is_form(request.headers())) else {
            return Err(ApiError::UnsupportedMediaType(FORM));
        };
        Ok(Self { body: UnreadBody::from_request(request)?, content_type })
    }
}

impl Upload {
    /// Returns the deadline of the request.
    pub fn deadline(&self) -> Deadline {
        self.body.deadline()
    }

    /// Reads the parts, once the tenant has a turn.
    pub async fn read(self, uploads: &WorkQueue, tenant: &str) -> Result<UploadParts, ApiError> {
        // The turn is taken before the body is read: a slow sender keeps others of its tenant from sending.
        let turn = uploads.begin(tenant).await?;
        let body = self.body.read().await?.into_bytes();
        let mut parts = read_parts(multipart(self.content_type, body).await?).await?;
        // The turn goes on with the module, which is still to be compiled. Without one it ends here.
        parts.module = parts.module.map(|module| hold_turn(turn, module));
        Ok(parts)
    }
}

/// Returns the form in `body`.
async fn multipart(content_type: HeaderValue, body: Bytes) -> Result<Multipart, ApiError> {
    let mut request = Request::new(Body::from(body));
    request.headers_mut().insert(CONTENT_TYPE, content_type);
    // The body was read up to the limit already.
    DefaultBodyLimit::disable().apply(&mut request);
    Multipart::from_request(request, &()).await.map_err(|error| broken(&error))
}

/// Reads the parts in any order. Refuses unknown parts, and a part that is sent twice.
async fn read_parts(mut form: Multipart) -> Result<UploadParts, ApiError> {
    let mut upload = UploadParts::default();
    let mut problems = Problems::default();
    let root = Place::root();
    while let Some(field) = form.next_field().await.map_err(|error| broken(&error))? {
        let name = field.name().unwrap_or_default().to_owned();
        let part = match &*name {
            "module" => &mut upload.module,
            "manifest" => &mut upload.manifest,
            _ => {
                problems.unknown(&root, &name, &["module", "manifest"]);
                continue;
            }
        };
        if part.is_some() {
            problems.expected(&root.key(&name), "one part with this name, not several");
            continue;
        }
        *part = Some(bytes(field).await?);
    }
    problems.into_result()?;
    Ok(upload)
}

/// Reads the bytes of a part. A part in one piece is not copied.
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
pub struct NewUpload;

document!(NewUpload as "NewResolver", naming Manifest => {
    schema::input()
        .required("module", module())
        .required("manifest", schema::named::<Manifest>())
});

/// The upload that changes a resolver, as the document describes it.
pub struct ChangeUpload;

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
    fn the_debug_form_of_a_body_has_no_secret() {
        let manifest = Bytes::from_static(br#"{"secrets": {"token": "s3cret"}}"#);
        let upload = UploadParts { module: None, manifest: Some(manifest) };
        assert_eq!(format!("{upload:?}"), "UploadParts { module: None, manifest: Some(32) }");
    }
}
