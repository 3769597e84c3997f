//! The end of sessions: by the person, and by the identity provider.

use askama::Template;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderName, HeaderValue};
use portcullis_auth::AuthError;
use portcullis_http::error::ApiError;
use portcullis_http::form_body::FormBody;
use portcullis_http::request_context::RequestContext;
use portcullis_http::session_caller::{admit_stranger, failed};
use portcullis_limits::RefusedCredential;
use portcullis_operations::sessions::live::{Ending, end, end_session_url};
use portcullis_operations::sessions::logins::log_out;
use portcullis_runtime::app::App;

use crate::cookies::Cookies;
use crate::headers;
use crate::visit::Visit;

const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

#[derive(Template)]
#[template(path = "signed_out.html")]
struct SignedOut {
    /// The page that signs the person out at the provider.
    provider: Option<String>,
    again: String,
}

/// Ends the session, or all of the person.
pub(crate) async fn by_person(visit: Visit) -> Result<Response, ApiError> {
    let ending = match visit.form.get("everywhere") {
        Some("true") => Ending::All,
        None | Some("" | "false") => Ending::One(visit.session.record.id),
        Some(_) => return Err(ApiError::bad_request("`everywhere` must be `true` or `false`")),
    };
    // First: whatever the provider answers then, the session has ended.
    end(&visit.app, &visit.session, ending, &visit.origin()).await?;
    let provider = end_session_url(&visit.app, &visit.session).await?;
    let frame = visit.frame.signed_out();
    let again = visit.page("sign-in");
    let mut answer = frame.show("Signed out", &SignedOut { provider, again })?;
    let sent = answer.headers_mut();
    Cookies::of(&visit.address).clear_session(sent, &visit.tenant.id);
    // A step back in the history must not show the pages of the session.
    sent.insert(CLEAR_SITE_DATA, HeaderValue::from_static("\"cache\""));
    Ok(answer)
}

/// Ends the sessions of a login that its provider ended (OpenID Connect Back-Channel Logout 1.0, section 2.8).
pub(crate) async fn by_provider(State(app): State<App>, request: Request) -> Response {
    let context = match RequestContext::find(request.extensions()) {
        Ok(context) => context.clone(),
        Err(error) => return error.into_response(),
    };
    let ended = async {
        let _place = admit_stranger(&app, &context).await?;
        let form = FormBody::read(request).await?;
        let token = form.get("logout_token");
        let token = token.ok_or_else(|| ApiError::bad_request("the form has no `logout_token`"))?;
        let ended = log_out(&app, token).await;
        ended.map_err(|error| match &error {
            AuthError::TokenRefused(why) => {
                // A wrong token counts against the address, as any wrong credential does.
                let bad = ApiError::bad_request(why.clone());
                match failed(&app, &context, RefusedCredential::Token, error) {
                    limited @ ApiError::RateLimited(_) => limited,
                    _ => bad,
                }
            }
            _ => error.into(),
        })
    };
    let mut answer = match ended.await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(error) => error.into_response(),
    };
    headers::add(&mut answer);
    answer
}
