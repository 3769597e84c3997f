//! The body of a form that a browser sends (WHATWG URL, section 5).

use std::fmt;

use axum::extract::Request;
use http::header::CONTENT_TYPE;
use url::form_urlencoded;

use crate::error::ApiError;
use crate::raw_body::UnreadBody;

const FORM: &str = "application/x-www-form-urlencoded";

/// The fields of a form, which may hold secrets.
#[derive(Default)]
pub struct FormBody(Vec<(String, String)>);

impl fmt::Debug for FormBody {
    /// Shows only the number of fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FormBody").field(&self.0.len()).finish()
    }
}

impl FormBody {
    /// Reads the body of a request, within the limit of its route.
    ///
    /// # Errors
    /// The body is not a form, is too large, or does not come.
    pub async fn read(request: Request) -> Result<Self, ApiError> {
        let sent = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = sent.and_then(|text| text.split(';').next()).unwrap_or_default();
        if !media_type.trim().eq_ignore_ascii_case(FORM) {
            return Err(ApiError::UnsupportedMediaType(FORM));
        }
        let body = UnreadBody::from_request(request)?.read().await?;
        Ok(Self(form_urlencoded::parse(body.as_ref()).into_owned().collect()))
    }

    /// Returns the value of a field; the first if it was sent several times.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| &**value)
    }
}
