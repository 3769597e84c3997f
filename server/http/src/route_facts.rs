//! The facts about a route that the extractors of a request know.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use portcullis_limits::{Class, RequestKind};

use crate::body_budget::{BodyBudget, MAX_UPLOAD};

/// The type of an upload.
pub const FORM: &str = "multipart/form-data";

/// The most bytes of a body.
#[derive(Clone, Copy, Debug)]
pub enum MaxBody {
    /// 1 MiB.
    Small,
    /// 8 MiB: 10,000 items of 800 bytes, or a thousand entities of 8 KiB.
    Items,
    /// The setting for applies.
    Apply,
    /// The largest module with its manifest if the body is a form, and otherwise 1 MiB.
    Upload,
}

impl MaxBody {
    /// Returns the number for a request with these headers.
    pub fn bytes(self, headers: &HeaderMap, budget: &BodyBudget) -> usize {
        match self {
            Self::Upload if is_form(headers) => MAX_UPLOAD,
            Self::Small | Self::Upload => 1 << 20,
            Self::Items => 8 << 20,
            Self::Apply => budget.largest_apply(),
        }
    }
}

/// The facts about a route.
#[derive(Debug)]
pub struct RouteFacts {
    /// The class of its requests; `None` if no caller takes a place.
    pub class: Option<Class>,
    /// The rate that counts its requests.
    pub kind: RequestKind,
    pub max_body: MaxBody,
    /// The names of all query parameters; `None` if the route ignores those that it does not know.
    pub known_query: Option<Vec<String>>,
}

/// Whether the content type says that the body is a form.
pub fn is_form(headers: &HeaderMap) -> bool {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case(FORM)
}
