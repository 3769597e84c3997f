//! The sign-in of people at identity providers.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portcullis_auth::sign_in::{Attempt, Callback, SignInError, attempt_of};
use portcullis_auth::{AuthError, Mode};
use portcullis_http::error::ApiError;
use portcullis_http::session_caller::sent_with;
use portcullis_operations::sessions::providers::{
    ConsoleTenant, LoginProvider, list, named, only_provider, sign_in_provider, tenant_of,
};
use portcullis_operations::sessions::{console, logins, origin};
use portcullis_runtime::error::OperationError;
use uuid::Uuid;

use crate::address::{NO_TENANT, see_other};
use crate::cookies::Cookies;
use crate::problem;
use crate::stranger::Stranger;

/// The name of the one provider of `selfhost` mode in paths.
const ONLY: &str = "provider";
/// The answer where no provider is.
const NO_PROVIDER: &str = "Nobody signs in here at an identity provider.";
/// The answer without an address to come back to.
const NO_ADDRESS: &str =
    "Nobody signs in at an identity provider as long as the service has no PUBLIC_URL.";

/// The way to sign in that a person has before the tenant is known.
enum Way {
    Tenant,
    Provider(String, String),
    None,
}

#[derive(Template)]
#[template(path = "tenants.html")]
struct StartPage {
    way: Way,
    action: String,
    reason: &'static str,
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    providers: Vec<ProviderLink>,
    reason: &'static str,
}

struct ProviderLink {
    name: String,
    url: String,
}

impl Stranger {
    /// Shows that nobody is signed in, with a link to try again.
    fn failed(&self, tenant: Option<&str>, status: StatusCode, message: String) -> Response {
        let again = match tenant {
            Some(tenant) => format!("{}sign-in", self.address.folder(tenant)),
            None => self.address.path("/console"),
        };
        problem::of_sign_in(&self.frame, &self.context, (status, message), &again)
    }

    /// Sends the browser to `provider`, and lets it keep the attempt.
    async fn go_to(
        &self,
        provider: LoginProvider,
        tenant: Option<&ConsoleTenant>,
        to: Option<String>,
    ) -> Result<Response, ApiError> {
        let redirect_uri = self.address.callback();
        let redirect_uri = redirect_uri.ok_or_else(|| ApiError::bad_request(NO_ADDRESS))?;
        let id = tenant.map(|tenant| tenant.id.clone());
        let attempt = Attempt::begin(id, provider.id, to, self.app.clock.now());
        let sign_ins = &console(&self.app)?.sign_ins;
        let url = sign_ins.authorization_url(&provider.provider, &attempt, &redirect_uri).await;
        let url = match url {
            Ok(url) => url,
            Err(error) => return Ok(self.told(tenant.map(|tenant| &*tenant.name), error)),
        };
        let sealed = attempt.seal(&self.app.keys).map_err(OperationError::from)?;
        let mut answer = see_other(url.as_str());
        Cookies::of(&self.address).set_attempt(answer.headers_mut(), &attempt.state, &sealed);
        Ok(answer)
    }

    /// Shows why nobody is signed in.
    fn told(&self, tenant: Option<&str>, error: SignInError) -> Response {
        match error {
            SignInError::Refused(why) => self.failed(tenant, StatusCode::BAD_REQUEST, why),
            SignInError::Provider(cause) => {
                // The cause may name hosts behind the service: the page shows none of it.
                let request_id = self.context.id.text();
                let cause = format!("{cause:#}");
                tracing::warn!(request_id, cause, "an identity provider cannot be asked");
                let message = "the identity provider does not answer as it should; the log of the service has the cause";
                self.failed(tenant, StatusCode::SERVICE_UNAVAILABLE, message.to_owned())
            }
            SignInError::Token(AuthError::TokenRefused(why)) => {
                let is_saas = matches!(self.app.mode, Mode::Saas { .. });
                let message = format!("{why}. {}", setting_for(&why, is_saas));
                self.failed(tenant, StatusCode::FORBIDDEN, message)
            }
            SignInError::Token(error) => {
                problem::page(&self.frame, &self.context, &ApiError::from(error))
            }
        }
    }
}

/// Returns the setting to change so that a token is not refused because of `why`.
fn setting_for(why: &str, is_saas: bool) -> &'static str {
    // By the words of the refusals in `portcullis-auth`.
    let [selfhost, saas] = if why.contains("`aud`") {
        [
            "Set `OIDC_AUDIENCE` to its audience, or `CONSOLE_AUDIENCE` to ask for another one",
            "Set the `audience` of the provider, or of its `sign_in`",
        ]
    } else if why.contains("`iss`") {
        [
            "Set `AUTH_SERVER_URL` to its issuer",
            "Register its issuer as the `issuer_url` of a provider",
        ]
    } else if why.contains("the claim `") {
        [
            "Let the identity provider add the claim, or set `ROLES_CLAIM` or `DOMAIN_CLAIM` to its name",
            "Let the identity provider add the claim, or set its name in the `claim_config` of the provider",
        ]
    } else if why.contains("key set") || why.contains("signature") {
        ["Set `JWKS_URI` to the key set of the issuer", "Set the `jwks_uri` of the provider"]
    } else {
        [
            "Set `CONSOLE_AUDIENCE` so that the provider gives a JWT for Portcullis, or `CONSOLE_IDENTITY=id_token`",
            "Set `audience` in the `sign_in` of the provider so that it gives a JWT for Portcullis, or `identity` to `id_token`",
        ]
    };
    if is_saas { saas } else { selfhost }
}

/// Asks for the tenant, or leads to the one provider.
pub(crate) async fn start(stranger: Stranger) -> Response {
    stranger.show(start_page(&stranger))
}

fn start_page(stranger: &Stranger) -> Result<Response, ApiError> {
    stranger.must_know(&["tenant"])?;
    if let Some(tenant) = stranger.parameter("tenant").filter(|tenant| !tenant.is_empty()) {
        return Ok(see_other(&stranger.address.folder(&tenant)));
    }
    let is_saas = matches!(stranger.app.mode, Mode::Saas { .. });
    let (way, reason) = match (only_provider(&stranger.app), stranger.address.public()) {
        _ if is_saas => (Way::Tenant, ""),
        (Some(only), Some(url)) => {
            (Way::Provider(only.name, format!("{url}/console/-/sign-in")), "")
        }
        (Some(_), None) => (Way::None, NO_ADDRESS),
        (None, _) => (Way::None, NO_PROVIDER),
    };
    let action = stranger.address.path("/console");
    stranger.frame.show("Sign in", &StartPage { way, action, reason })
}

/// Begins a sign-in whose token names the tenant.
pub(crate) async fn begin_at_only(stranger: Stranger) -> Response {
    let begun = async {
        stranger.must_know(&[])?;
        let only = only_provider(&stranger.app).ok_or(ApiError::not_found("page"))?;
        stranger.go_to(only, None, None).await
    };
    let answer = begun.await;
    stranger.show(answer)
}

/// Shows the providers of a tenant. The page says nothing about whether the tenant exists.
pub(crate) async fn show(stranger: Stranger) -> Response {
    let shown = async {
        stranger.must_know(&["to"])?;
        let (app, name) = (&stranger.app, stranger.segment("t"));
        if name == NO_TENANT {
            return Err(ApiError::not_found("page"));
        }
        let Some(public) = stranger.address.public() else {
            let page = SignInPage { providers: Vec::new(), reason: NO_ADDRESS };
            return stranger.frame.show("Sign in", &page);
        };
        let all = match tenant_of(app, name).await? {
            Some(tenant) => list(app, &tenant.id).await?,
            None => Vec::new(),
        };
        let to = wanted(&stranger, name);
        let to = utf8_percent_encode(&to, NON_ALPHANUMERIC).to_string();
        let folder = stranger.address.folder(name);
        // `public` ends with the path with which the folder begins.
        let own = folder.get(stranger.address.path("").len()..).unwrap_or_default();
        let providers = all.into_iter().map(|provider| {
            let id = provider.id.map_or_else(|| ONLY.to_owned(), |id| id.to_string());
            // At the public address, to which the provider sends the browser back: only there the cookie of the attempt is found.
            ProviderLink { name: provider.name, url: format!("{public}{own}sign-in/{id}?to={to}") }
        });
        let page = SignInPage { providers: providers.collect(), reason: NO_PROVIDER };
        stranger.frame.show("Sign in", &page)
    };
    let answer = shown.await;
    stranger.show(answer)
}

/// Returns the page to go to after the sign-in: the wanted one, or the first one of the tenant.
fn wanted(stranger: &Stranger, tenant: &str) -> String {
    let to = stranger.parameter("to");
    let to = to.and_then(|to| stranger.address.page_of(tenant, &to));
    to.unwrap_or_else(|| stranger.address.folder(tenant))
}

/// Begins a sign-in at a provider of a tenant.
pub(crate) async fn begin(stranger: Stranger) -> Response {
    let begun = async {
        stranger.must_know(&["to"])?;
        // The answer is the same without the tenant, so that nobody learns which tenants exist.
        let tenant = tenant_of(&stranger.app, stranger.segment("t")).await?;
        let tenant = tenant.ok_or_else(no_provider)?;
        let id = match stranger.segment("provider") {
            ONLY => None,
            text => Some(Uuid::try_parse(text).map_err(|_| no_provider())?),
        };
        let provider = sign_in_provider(&stranger.app, &tenant.id, id).await?;
        let provider = provider.ok_or_else(no_provider)?;
        let to = wanted(&stranger, &tenant.name);
        stranger.go_to(provider, Some(&tenant), Some(to)).await
    };
    let answer = begun.await;
    stranger.show(answer)
}

fn no_provider() -> ApiError {
    ApiError::not_found("identity provider")
}

/// Ends a sign-in: the browser comes back from the provider.
pub(crate) async fn callback(stranger: Stranger) -> Response {
    let [code, state, iss, error] =
        ["code", "state", "iss", "error"].map(|name| stranger.parameter(name));
    let callback = Callback { code, state, iss, error };
    let mut answer = stranger.show(finish(&stranger, &callback).await);
    if let Some(state) = &callback.state {
        // An attempt serves once, whatever came of it.
        Cookies::of(&stranger.address).clear_attempt(answer.headers_mut(), state);
    }
    answer
}

async fn finish(stranger: &Stranger, callback: &Callback) -> Result<Response, ApiError> {
    let (app, address, cookies) =
        (&stranger.app, &stranger.address, Cookies::of(&stranger.address));
    let state = callback.state.as_deref().unwrap_or_default();
    let sealed = cookies.attempt(&stranger.headers, state);
    let attempt = match attempt_of(&app.keys, callback, sealed, app.clock.now()) {
        Ok(attempt) => attempt,
        Err(error) => return Ok(stranger.told(None, error)),
    };
    let tenant = match &attempt.tenant {
        Some(id) => Some(named(app, id).await?.name),
        None => None,
    };
    let redirect_uri = address.callback().ok_or_else(|| ApiError::bad_request(NO_ADDRESS))?;
    let by = sent_with(origin(""), &stranger.context);
    let signed_in = match logins::finish(app, &attempt, callback, &redirect_uri, by).await? {
        Ok(signed_in) => signed_in,
        Err(error) => return Ok(stranger.told(tenant.as_deref(), error)),
    };
    let tenant = named(app, &signed_in.tenant).await?;
    let to = attempt.to.and_then(|to| address.page_of(&tenant.name, &to));
    let to = to.unwrap_or_else(|| address.folder(&tenant.name));
    Ok(cookies.sign_in(&to, &tenant.id, &signed_in.value))
}
