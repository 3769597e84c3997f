//! Links that sign somebody in once.

use askama::Template;
use axum::extract::Request;
use axum::response::Response;
use http::StatusCode;
use portcullis_http::error::ApiError;
use portcullis_http::form_body::FormBody;
use portcullis_http::session_caller::sent_with;
use portcullis_model::session::{SessionLink, hash_of};
use portcullis_operations::sessions::providers::named;
use portcullis_operations::sessions::{links, origin};

use crate::cookies::Cookies;
use crate::stranger::Stranger;
use crate::{forms, problem};

#[derive(Template)]
#[template(path = "link.html")]
struct LinkPage {
    subject: String,
    tenant: String,
    roles: String,
    csrf: String,
}

/// Refuses a link where the cookie of the session would leave this machine without `https`.
fn must_be_safe(stranger: &Stranger) -> Result<(), ApiError> {
    let is_local = stranger.app.console.as_ref().is_some_and(|console| console.config.is_local);
    if stranger.address.public().is_some() || is_local {
        return Ok(());
    }
    Err(ApiError::bad_request(
        "links work with `PUBLIC_URL`, or on a loopback `LISTEN_ADDR`: the operator sets one",
    ))
}

fn used_up(stranger: &Stranger) -> Response {
    let message = "the link is used, or older than ten minutes: ask the operator for another one";
    let again = stranger.address.path("/console");
    let problem = (StatusCode::GONE, message.to_owned());
    problem::of_sign_in(&stranger.frame, &stranger.context, problem, &again)
}

/// Shows whom a link signs in.
pub(crate) async fn show(stranger: Stranger) -> Response {
    let shown = async {
        stranger.must_know(&[])?;
        must_be_safe(&stranger)?;
        let secret = stranger.segment("secret");
        // A look uses nothing up, so that a preview of the link in a mail program does no harm.
        let Some(link) = links::find(&stranger.app, secret).await? else {
            return Ok(used_up(&stranger));
        };
        let SessionLink { subject, tenant_id, roles, .. } = link;
        let tenant = named(&stranger.app, &tenant_id).await?.name;
        let csrf = forms::token(&stranger.app, &hash_of(secret));
        let roles = if roles.is_empty() { "none".to_owned() } else { roles.join(", ") };
        let frame = stranger.frame.clone().of_tenant(&tenant);
        frame.show("Sign in", &LinkPage { subject, tenant, roles, csrf })
    };
    stranger.show(shown.await)
}

/// Signs somebody in by a link, which is used up then.
pub(crate) async fn take(stranger: Stranger, request: Request) -> Response {
    let Stranger { app, address, context, headers, .. } = &stranger;
    let secret = stranger.segment("secret");
    let taken = async {
        stranger.must_know(&[])?;
        must_be_safe(&stranger)?;
        let form = FormBody::read(request).await?;
        if !forms::is_own(app, address, headers, &form, &hash_of(secret)) {
            return Err(problem::foreign_form());
        }
        let by = sent_with(origin(""), context);
        let Some(signed_in) = links::take(app, secret, by).await? else {
            return Ok(used_up(&stranger));
        };
        let tenant = named(app, &signed_in.tenant).await?;
        let (cookies, first) = (Cookies::of(address), address.folder(&tenant.name));
        let mut answer = cookies.sign_in(&first, &tenant.id, &signed_in.value);
        cookies.set_word(answer.headers_mut(), "signed-in");
        Ok(answer)
    };
    let answer = taken.await;
    stranger.show(answer)
}
