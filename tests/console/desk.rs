//! A server whose people sign in at a provider that answers as the test says.

use serde_json::{Value, json};

use super::browser::{Browser, form, location};
use crate::setup;
use crate::support::keys::Key;
use crate::support::{Operator, Provider, Reply, Server, Settings};

/// The client of the console.
pub(super) const CLIENT: &str = "console";
/// The event of a logout token.
const LOGOUT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// A server whose people sign in at a provider that answers as the test says.
pub(super) struct Desk {
    pub(super) provider: Provider,
    pub(super) settings: Settings,
    pub(super) server: Server,
    /// The tenant's id.
    pub(super) tenant: String,
}

/// A sign-in that has begun.
pub(super) struct Begun {
    pub(super) browser: Browser,
    pub(super) state: String,
    pub(super) nonce: String,
}

impl Desk {
    /// A desk where `identity` says which token has the claims.
    #[track_caller]
    pub(super) fn open(identity: &str) -> Self {
        Self::with(identity, |settings| settings)
    }

    /// A desk whose server has more settings.
    #[track_caller]
    pub(super) fn with(identity: &str, more: impl FnOnce(Settings) -> Settings) -> Self {
        let provider = Provider::new(vec![Key::p256("one")]);
        let settings = more(Settings::new(&provider));
        let settings = match setup::is_saas() {
            true => settings,
            false => settings
                .set("CONSOLE_CLIENT_ID", CLIENT)
                .set("CONSOLE_CLIENT_SECRET", "s3cret")
                .set("CONSOLE_IDENTITY", identity),
        };
        let server = settings.start();
        let mut tenant = "desk".to_owned();
        if setup::is_saas() {
            tenant = Operator::new(&server).tenant("the-desk");
            let sign_in =
                json!({"client_id": CLIENT, "client_secret": "s3cret", "identity": identity});
            let body = json!({
                "issuer_url": provider.issuer(), "jwks_uri": provider.jwks_uri(), "sign_in": sign_in,
            });
            Operator::new(&server).register(&tenant, &body).is(201);
        }
        Self { provider, settings, server, tenant }
    }

    pub(super) fn page(&self, page: &str) -> String {
        format!("/console/{}/{page}", if setup::is_saas() { "the-desk" } else { "desk" })
    }

    /// The path to the provider on the page to sign in.
    #[track_caller]
    pub(super) fn link(&self, browser: &mut Browser) -> String {
        let page = browser.get(&self.page("sign-in")).is(200);
        let link = page.text.split("class=\"button\" href=\"").nth(1).expect("a link");
        let link = link.split('"').next().expect("an address");
        link.strip_prefix("https://authz.example").expect("an absolute link").to_owned()
    }

    /// Begins a sign-in.
    #[track_caller]
    pub(super) fn begin(&self) -> Begun {
        let mut browser = Browser::new(self.server.address);
        let path = self.link(&mut browser);
        Self::begun(browser, &path)
    }

    /// Follows the link `path` to the provider.
    #[track_caller]
    pub(super) fn begun(mut browser: Browser, path: &str) -> Begun {
        let url = location(&browser.get(path).is(303));
        let (_, query) = url.split_once('?').expect("a query");
        let sent = |name: &str| {
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            let found = pairs.find(|(own, _)| own == name);
            found.expect("a parameter").1.into_owned()
        };
        Begun { state: sent("state"), nonce: sent("nonce"), browser }
    }

    /// The claims of an access token of `subject`.
    pub(super) fn access(&self, subject: &str) -> Value {
        self.provider.claims("desk", subject, &["admin"])
    }

    /// The claims of an ID token of `subject`.
    pub(super) fn id(&self, subject: &str, nonce: &str) -> Value {
        let mut claims = self.access(subject);
        claims["aud"] = json!([CLIENT]);
        claims["nonce"] = json!(nonce);
        claims["sid"] = json!(format!("session of {subject}"));
        claims
    }

    /// The good claims of a logout token for the login of `subject`.
    pub(super) fn logout(&self, subject: &str) -> Value {
        let now = crate::support::provider::now();
        json!({
            "iss": self.provider.issuer(), "aud": CLIENT, "iat": now, "exp": now + 60, "jti": "one",
            "sub": subject, "events": {LOGOUT: {}},
        })
    }

    /// Brings the browser back, and returns the answer.
    pub(super) fn back(&self, begun: &mut Begun) -> Reply {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("code", "c")
            .append_pair("state", &begun.state)
            .append_pair("iss", &self.provider.issuer())
            .finish();
        begun.browser.get(&format!("/console/-/callback?{query}"))
    }

    /// Signs `subject` in by good tokens, with what `change` makes of the answer of the token endpoint.
    #[track_caller]
    pub(super) fn sign_in(&self, subject: &str, change: impl FnOnce(&mut Value)) -> Browser {
        let mut begun = self.begin();
        self.finish(&mut begun, subject, change).is(303);
        begun.browser.get(&self.page("me")).is(200);
        begun.browser
    }

    /// Signs `subject` in by an ID token without the session of the provider.
    #[track_caller]
    pub(super) fn sign_in_without_sid(&self, subject: &str) -> Browser {
        let mut begun = self.begin();
        let id = with(self.id(subject, &begun.nonce), &json!({"sid": null}));
        let id = json!(self.provider.token(&id));
        self.finish(&mut begun, subject, |tokens| tokens["id_token"] = id).is(303);
        begun.browser
    }

    /// Ends a sign-in of `subject` as [`sign_in`](Self::sign_in) does, and returns the answer.
    pub(super) fn finish(
        &self,
        begun: &mut Begun,
        subject: &str,
        change: impl FnOnce(&mut Value),
    ) -> Reply {
        let mut tokens = json!({
            "access_token": self.provider.token(&self.access(subject)),
            "id_token": self.provider.token(&self.id(subject, &begun.nonce)),
        });
        change(&mut tokens);
        self.provider.serve_tokens(Some(tokens));
        self.back(begun)
    }

    pub(super) fn log_out(&self, claims: &Value) -> Reply {
        let token = self.provider.token(claims);
        form("/console/-/back-channel-logout", &[("logout_token", &token)])
            .send(self.server.address)
    }
}

/// `claims` with these members, of which null removes one.
pub(super) fn with(mut claims: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().into_iter().flatten() {
        let members = claims.as_object_mut().expect("an object");
        match value {
            Value::Null => drop(members.remove(name)),
            value => drop(members.insert(name.clone(), value.clone())),
        }
    }
    claims
}
