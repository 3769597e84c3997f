//! The sign-in at a real OpenID provider, and each attack on it beside its control.

use std::net::SocketAddr;

use serde_json::json;

use super::browser::{Browser, location};
use crate::setup;
use crate::support::openid::Realm;
use crate::support::{Operator, Reply, Server, Settings};

/// The address by which browsers reach the service.
const PUBLIC: &str = "https://authz.example";

/// A server whose people sign in at a realm.
struct House {
    realm: Realm,
    server: Server,
    /// The name of the tenant in URLs.
    tenant: String,
}

impl House {
    /// `None` where the provider cannot be run.
    fn start(identity: &'static str) -> Option<Self> {
        let realm = Realm::start("shop")?;
        let settings = if setup::is_saas() {
            Settings::new(crate::support::Provider::shared())
        } else {
            Settings::without_provider()
                .set("AUTH_SERVER_URL", realm.issuer())
                .set("OIDC_AUDIENCE", "urn:portcullis")
                .set("CONSOLE_CLIENT_ID", "console")
                .set("CONSOLE_CLIENT_SECRET", "secret of console")
                .set("CONSOLE_IDENTITY", identity)
        };
        let server = settings.start();
        let tenant = if setup::is_saas() { "the-shop" } else { "shop" }.to_owned();
        if setup::is_saas() {
            let id = Operator::new(&server).tenant(&tenant);
            let body = json!({
                "issuer_url": realm.issuer(), "jwks_uri": realm.jwks_uri(), "audience": "urn:portcullis",
                "sign_in": {
                    "client_id": "console", "client_secret": "secret of console", "identity": identity,
                    "name": "The Shop",
                },
            });
            Operator::new(&server).register(&id, &body).is(201);
        }
        Some(Self { realm, server, tenant })
    }

    fn page(&self, page: &str) -> String {
        format!("/console/{}/{page}", self.tenant)
    }

    /// Begins a sign-in that goes to `to`, and returns the address at the provider.
    #[track_caller]
    fn begin(&self, browser: &mut Browser, to: &str) -> String {
        let to: String = url::form_urlencoded::byte_serialize(to.as_bytes()).collect();
        let page = browser.get(&self.page(&format!("sign-in?to={to}"))).is(200);
        let link =
            page.text.split("class=\"button\" href=\"").nth(1).and_then(|it| it.split('"').next());
        let link = link.expect("a link").replace("&amp;", "&").replace("&#38;", "&");
        let path = link.strip_prefix(PUBLIC).expect("an absolute link");
        location(&browser.get(path).is(303))
    }

    /// Lets the provider sign `person` in, and returns the path that the browser comes back to.
    #[track_caller]
    fn authorize(&self, url: &str, person: &str) -> String {
        let address: SocketAddr = {
            let host = self.realm.issuer();
            host.split('/').nth(2).and_then(|host| host.parse().ok()).expect("an address")
        };
        let mut browser = Browser::new(address);
        let mut next = format!("{url}&login_hint={person}");
        for _ in 0..8 {
            if let Some(path) = next.strip_prefix(PUBLIC) {
                return path.to_owned();
            }
            let path = next.strip_prefix(&format!("http://{address}")).unwrap_or(&next).to_owned();
            next = location(&browser.get(&path));
        }
        panic!("the provider does not send the browser back: {next}");
    }

    /// Signs somebody in, and returns the last answer.
    #[track_caller]
    fn sign_in(&self, browser: &mut Browser, person: &str, to: &str) -> Reply {
        let url = self.begin(browser, to);
        let back = self.authorize(&url, person);
        browser.get(&back)
    }
}

/// Asserts that nobody is signed in, for a reason that is shown.
#[track_caller]
fn refused(reply: Reply, browser: &Browser, attack: &str) {
    assert_eq!(reply.status, 400, "{attack}: {}", reply.text);
    assert!(
        reply.text.contains("role=\"alert\"") && reply.text.contains("Sign in again"),
        "{attack}"
    );
    assert_eq!(browser.session(), None, "{attack}");
}

#[test]
fn somebody_signs_in_and_comes_to_the_page_that_was_wanted() {
    let Some(house) = House::start("access_token") else { return };
    let mut browser = Browser::new(house.server.address);
    let wanted = house.page("decisions?subject=a%20b");
    let url = house.begin(&mut browser, &wanted);
    for part in
        ["response_type=code", "code_challenge_method=S256", "scope=openid", "nonce=", "state="]
    {
        assert!(url.contains(part), "{url}");
    }
    assert!(!url.contains("code_verifier") && !url.contains("secret"), "{url}");
    let back = house.authorize(&url, "ann");
    let done = browser.get(&back).is(303);
    assert_eq!(location(&done), wanted);
    assert_eq!(browser.cookies.len(), 1, "the attempt is cleared: {:?}", browser.cookies);
    let me = browser.get(&house.page("me")).is(200);
    assert!(me.text.contains("<strong>ann</strong>"), "{}", me.text);
    // A manager by the role of the token.
    assert!(me.text.contains("href=\"/console/"), "{}", me.text);
    // The code is used, and the attempt with it.
    let mut again = browser.clone();
    again.cookies.clear();
    let replayed = again.get(&back);
    refused(replayed, &again, "a used callback");
    // The provider is asked to end its own session, too.
    let page = browser.get(&house.page("sessions")).is(200);
    let out = browser.post(&house.page("sign-out"), &page, &[]).is(200);
    assert!(out.text.contains("session/end?id_token_hint="), "{}", out.text);
}

#[test]
fn a_callback_that_does_not_fit_signs_nobody_in() {
    let Some(house) = House::start("access_token") else { return };
    let start = || {
        let mut browser = Browser::new(house.server.address);
        let url = house.begin(&mut browser, &house.page("me"));
        let back = house.authorize(&url, "ann");
        (browser, back)
    };
    let change = |back: &str, name: &str, value: Option<&str>| {
        let (path, query) = back.split_once('?').expect("a query");
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        let pairs = pairs.filter_map(|(own, old)| match own == name {
            true => value.map(|value| (own, value.to_owned().into())),
            false => Some((own, old)),
        });
        let query =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        format!("{path}?{query}")
    };
    for (name, value, attack) in [
        ("state", None, "no state"),
        ("state", Some("another"), "another state"),
        ("code", None, "no code"),
        ("code", Some("invented"), "another code"),
        ("iss", None, "no issuer, though the provider always names itself"),
        ("iss", Some("https://evil.example"), "another issuer"),
    ] {
        let (mut browser, back) = start();
        let reply = browser.get(&change(&back, name, value));
        refused(reply, &browser, attack);
    }
    let (mut browser, back) = start();
    let error = format!("{}&error=access_denied", change(&back, "code", None));
    let reply = browser.get(&error);
    assert!(reply.text.contains("access_denied"), "{}", reply.text);
    refused(reply, &browser, "an error of the provider");
    // Another browser did not begin it: a login that an attacker began is not taken over.
    let (_, back) = start();
    let mut victim = Browser::new(house.server.address);
    let reply = victim.get(&back);
    refused(reply, &victim, "a sign-in of another browser");
    let (mut thief, _) = start();
    let (_, back) = start();
    let reply = thief.get(&back);
    refused(reply, &thief, "the attempt of another sign-in");
    let (mut browser, back) = start();
    browser.get(&back).is(303);
    assert!(browser.session().is_some(), "the control");
}

#[test]
fn a_session_that_the_browser_brings_is_not_adopted() {
    let Some(house) = House::start("access_token") else { return };
    let mut browser = Browser::new(house.server.address);
    house.sign_in(&mut browser, "ann", &house.page("me")).is(303);
    let first = browser.session().expect("a session").1.clone();
    house.sign_in(&mut browser, "bob", &house.page("me")).is(303);
    let second = browser.session().expect("a session").1.clone();
    assert_ne!(first, second);
    let me = browser.get(&house.page("me")).is(200);
    assert!(me.text.contains("<strong>bob</strong>"), "{}", me.text);
}

#[test]
fn a_link_in_a_page_leads_nowhere_else() {
    let Some(house) = House::start("access_token") else { return };
    for to in
        ["https://evil.example/", "//evil.example", "/console/other/me", "/console/x/../other/"]
    {
        let mut browser = Browser::new(house.server.address);
        let done = house.sign_in(&mut browser, "ann", to).is(303);
        assert_eq!(location(&done), house.page(""), "{to}");
    }
}

#[test]
fn an_id_token_says_who_somebody_is_where_it_has_the_claims() {
    let Some(house) = House::start("id_token") else { return };
    let mut browser = Browser::new(house.server.address);
    // The ID token of this provider has no roles: the page says which setting names the claim.
    let reply = house.sign_in(&mut browser, "ann", &house.page("me"));
    assert_eq!(reply.status, 403, "{}", reply.text);
    let setting = if setup::is_saas() { "claim_config" } else { "ROLES_CLAIM" };
    assert!(
        reply.text.contains(setting) && reply.text.contains("realm_access.roles"),
        "{}",
        reply.text
    );
    assert_eq!(browser.session(), None);
}

#[test]
fn a_logout_token_that_is_none_ends_nothing() {
    let Some(house) = House::start("access_token") else { return };
    let mut browser = Browser::new(house.server.address);
    house.sign_in(&mut browser, "ann", &house.page("me")).is(303);
    let url = house.begin(&mut browser.clone(), &house.page("me"));
    assert!(url.contains("state="));
    // An ID token or an access token of the same provider is not a logout token.
    let token = house.realm.token("alice-app");
    for token in [&*token, "", "a.b.c"] {
        let form =
            super::browser::form("/console/-/back-channel-logout", &[("logout_token", token)]);
        form.send(house.server.address).is(400);
    }
    browser.get(&house.page("me")).is(200);
}
