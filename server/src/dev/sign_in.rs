//! The sign-in at the identity provider of `portcullis dev`: a page that asks who somebody is, and the codes that it gives
//! (RFC 6749, section 4.1, with PKCE).

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use http::header::{CACHE_CONTROL, LOCATION};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use super::examples::roles_of;
use super::tenants::ServedTenants;

/// The client of the console.
pub(super) const CLIENT: &str = "portcullis-console";

/// The request to sign in, as the browser brings it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SignInRequest {
    response_type: String,
    client_id: String,
    redirect_uri: String,
    state: String,
    nonce: Option<String>,
    code_challenge: String,
    code_challenge_method: String,
    /// The person, once the page has asked.
    pub(super) user: Option<String>,
}

/// The sign-in that a code stands for. The provider signs it, and keeps nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Code {
    pub(super) user: String,
    redirect_uri: String,
    pub(super) nonce: Option<String>,
    challenge: String,
    /// Distinguishes it from a token.
    pub(super) use_as: String,
    pub(super) exp: i64,
}

/// The use of a code.
pub(super) const USE: &str = "code";

#[derive(Template)]
#[template(path = "who_are_you.html")]
struct WhoAreYou {
    fields: [(&'static str, String); 7],
    tenants: Vec<(String, Vec<(String, String)>)>,
}

impl SignInRequest {
    /// Refuses a request that is not one of the console at `base_url`: nobody is sent elsewhere.
    pub(super) fn check(&self, base_url: &str) -> Result<(), &'static str> {
        if self.client_id != CLIENT {
            return Err("the client is not `portcullis-console`");
        }
        if self.redirect_uri != format!("{base_url}/console/-/callback") {
            return Err("the `redirect_uri` is not the one of the console");
        }
        if self.response_type != "code" || self.code_challenge_method != "S256" {
            return Err("send `response_type=code` and `code_challenge_method=S256`");
        }
        Ok(())
    }

    /// Asks for one of the users.
    pub(super) fn page(&self, tenants: &ServedTenants) -> Response {
        let users = tenants.all().into_iter().map(|tenant| {
            let name = tenant.bundle.tenant.clone();
            let users = tenant
                .bundle
                .users
                .iter()
                .map(|user| (tenants.name_of(&name, &user.sub), roles_of(user)));
            let users = users.collect();
            (name, users)
        });
        let Self { response_type, client_id, redirect_uri, state, .. } = self.clone();
        let page = WhoAreYou {
            fields: [
                ("response_type", response_type),
                ("client_id", client_id),
                ("redirect_uri", redirect_uri),
                ("state", state),
                ("nonce", self.nonce.clone().unwrap_or_default()),
                ("code_challenge", self.code_challenge.clone()),
                ("code_challenge_method", self.code_challenge_method.clone()),
            ],
            tenants: users.collect(),
        };
        match page.render() {
            Ok(page) => ([(CACHE_CONTROL, "no-store")], Html(page)).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }

    /// Returns what the code for `user` stands for.
    pub(super) fn code(&self, user: &str, exp: i64) -> Code {
        Code {
            user: user.to_owned(),
            redirect_uri: self.redirect_uri.clone(),
            // The form sends an empty field if there was none.
            nonce: self.nonce.clone().filter(|nonce| !nonce.is_empty()),
            challenge: self.code_challenge.clone(),
            use_as: USE.to_owned(),
            exp,
        }
    }

    /// Sends the browser back with a code.
    pub(super) fn back(&self, code: &str, issuer: &str) -> Response {
        let Ok(mut url) = Url::parse(&self.redirect_uri) else {
            return StatusCode::BAD_REQUEST.into_response();
        };
        url.query_pairs_mut()
            .append_pair("code", code)
            .append_pair("state", &self.state)
            .append_pair("iss", issuer);
        (StatusCode::SEE_OTHER, [(LOCATION, url.to_string())]).into_response()
    }
}

impl Code {
    /// Returns whether whoever redeems the code began the sign-in.
    pub(super) fn is_redeemed_by(&self, verifier: &str, redirect_uri: &str) -> bool {
        self.use_as == USE
            && self.redirect_uri == redirect_uri
            && self.challenge == URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
    }
}
