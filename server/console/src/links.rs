//! Links that sign somebody in once.

use askama::Template;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use portcullis_http::error::ApiError;
use portcullis_http::form_body::FormBody;
use portcullis_http::request_context::RequestContext;
use portcullis_http::session_caller::sent_with;
use portcullis_model::session::{SessionLink, hash_of};
use portcullis_operations::sessions::providers::named;
use portcullis_operations::sessions::{links, origin};
use portcullis_runtime::app::App;

use crate::address::Address;
use crate::cookies::Cookies;
use crate::frame::Frame;
use crate::visit::see_other;
use crate::{forms, problem};

#[derive(Template)]
#[template(path = "link.html")]
struct LinkPage {
    subject: String,
    tenant: String,
    roles: String,
    csrf: String,
}

/// A request for a link.
struct Arrival {
    app: App,
    address: Address,
    frame: Frame,
    context: RequestContext,
    headers: HeaderMap,
}

impl Arrival {
    fn of(app: App, request: &Request) -> Result<Self, ApiError> {
        let address = Address::of(&app);
        let headers = request.headers().clone();
        let frame = Frame::stranger(&app, &address, &headers);
        let context = RequestContext::find(request.extensions())?.clone();
        Ok(Self { app, address, frame, context, headers })
    }

    fn show(&self, answer: Result<Response, ApiError>) -> Response {
        answer.unwrap_or_else(|error| problem::page(&self.frame, &self.context, &error))
    }

    /// Refuses a link where the cookie of the session would leave this machine without `https`.
    fn must_be_safe(&self) -> Result<(), ApiError> {
        let is_local = self.app.console.as_ref().is_some_and(|console| console.config.is_local);
        if self.address.public().is_some() || is_local {
            return Ok(());
        }
        Err(ApiError::bad_request(
            "links work with `PUBLIC_URL`, or on a loopback `LISTEN_ADDR`: the operator sets one",
        ))
    }

    fn used_up(&self) -> Response {
        let message =
            "the link is used, or older than ten minutes: ask the operator for another one";
        let again = self.address.path("/console");
        let problem = (StatusCode::GONE, message.to_owned());
        problem::of_sign_in(&self.frame, &self.context, problem, &again)
    }
}

/// Shows whom a link signs in.
pub(crate) async fn show(
    State(app): State<App>,
    Path(secret): Path<String>,
    request: Request,
) -> Response {
    let arrival = match Arrival::of(app, &request) {
        Ok(arrival) => arrival,
        Err(error) => return error.into_response(),
    };
    let shown = async {
        arrival.must_be_safe()?;
        let Some(link) = links::find(&arrival.app, &secret).await? else {
            return Ok(arrival.used_up());
        };
        let SessionLink { subject, tenant_id, roles, .. } = link;
        let tenant = named(&arrival.app, &tenant_id).await?.name;
        let csrf = forms::token(&arrival.app, &hash_of(&secret));
        let roles = if roles.is_empty() { "none".to_owned() } else { roles.join(", ") };
        arrival.frame.show("Sign in", &LinkPage { subject, tenant, roles, csrf })
    };
    arrival.show(shown.await)
}

/// Signs somebody in by a link, which is used up then.
pub(crate) async fn take(
    State(app): State<App>,
    Path(secret): Path<String>,
    request: Request,
) -> Response {
    let arrival = match Arrival::of(app, &request) {
        Ok(arrival) => arrival,
        Err(error) => return error.into_response(),
    };
    let Arrival { app, address, context, headers, .. } = &arrival;
    let taken = async {
        arrival.must_be_safe()?;
        let form = FormBody::read(request).await?;
        if !forms::is_own(app, address, headers, &form, &hash_of(&secret)) {
            return Err(problem::foreign_form());
        }
        let by = sent_with(origin(""), context);
        let Some(signed_in) = links::take(app, &secret, by).await? else {
            return Ok(arrival.used_up());
        };
        let tenant = named(app, &signed_in.tenant).await?;
        let mut answer = see_other(&address.folder(&tenant.name));
        let cookies = Cookies::of(address);
        cookies.set_session(answer.headers_mut(), &tenant.id, &signed_in.value);
        Ok(arrival.frame.finish(answer))
    };
    let answer = taken.await;
    arrival.show(answer)
}
