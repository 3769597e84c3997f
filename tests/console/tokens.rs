//! The tokens of a sign-in: what is wrong with one, their refresh, and logout tokens.

use std::thread;

use serde_json::json;

use super::browser::form;
use super::desk::{Desk, with};
use crate::setup;
use crate::support::keys::Key;
use crate::support::{Reply, eventually};

#[test]
fn an_id_token_that_does_not_fit_signs_nobody_in() {
    let desk = Desk::open("access_token");
    let stranger = Key::p256("one");
    for (changes, attack) in [
        (json!({"nonce": "another"}), "another sign-in"),
        (json!({"nonce": null}), "no nonce"),
        (json!({"aud": ["another"]}), "another client"),
        (json!({"azp": "another"}), "another party"),
        (json!({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}), "another access token"),
        (json!({"iss": "https://evil.example"}), "another issuer"),
        (json!({"exp": 1}), "an old token"),
        (json!({"sub": null}), "nobody"),
    ] {
        let mut begun = desk.begin();
        let id = with(desk.id("ann", &begun.nonce), &changes);
        let access = desk.provider.token(&desk.access("ann"));
        let tokens = json!({"access_token": access, "id_token": desk.provider.token(&id)});
        desk.provider.serve_tokens(Some(tokens));
        let reply = desk.back(&mut begun).is(400);
        assert!(reply.text.contains("role=\"alert\""), "{attack}: {}", reply.text);
        assert!(reply.text.contains("Sign in again"), "{attack}: {}", reply.text);
        assert_eq!(begun.browser.session(), None, "{attack}");
    }
    for (id, attack) in
        [(None, "no ID token"), (Some("signed by somebody else"), "a forged ID token")]
    {
        let mut begun = desk.begin();
        let mut tokens = json!({"access_token": desk.provider.token(&desk.access("ann"))});
        if id.is_some() {
            let claims = desk.id("ann", &begun.nonce);
            tokens["id_token"] = json!(stranger.token(&stranger.header(), &claims));
        }
        desk.provider.serve_tokens(Some(tokens));
        desk.back(&mut begun).is(400);
        assert_eq!(begun.browser.session(), None, "{attack}");
    }
    desk.sign_in("ann", |_| {});
}

#[test]
fn an_access_token_that_does_not_serve_is_a_page_with_the_setting() {
    let desk = Desk::open("access_token");
    let [roles, opaque] = match setup::is_saas() {
        true => ["claim_config", "`identity` to `id_token`"],
        false => ["ROLES_CLAIM", "CONSOLE_IDENTITY=id_token"],
    };
    for (access, expected) in [
        (Some(json!({"realm_access": null})), roles),
        (Some(json!({"dom": null})), "`dom`"),
        (None, opaque),
    ] {
        let mut begun = desk.begin();
        let access = access.map_or("opaque".to_owned(), |changes| {
            desk.provider.token(&with(desk.access("ann"), &changes))
        });
        let id = desk.provider.token(&desk.id("ann", &begun.nonce));
        desk.provider.serve_tokens(Some(json!({"access_token": access, "id_token": id})));
        let reply = desk.back(&mut begun).is(403);
        assert!(reply.text.contains("<h1>Not allowed</h1>"), "{}", reply.text);
        assert!(reply.text.contains(expected), "{expected}: {}", reply.text);
        assert_eq!(begun.browser.session(), None);
    }
    if setup::is_saas() {
        return;
    }
    // Where the domain is the tenant, somebody of another one comes in only as its administrator.
    for (changes, status) in
        [(json!({"dom": "other"}), 403), (json!({"dom": "other", "adm": ["desk"]}), 303)]
    {
        let mut begun = desk.begin();
        let access = desk.provider.token(&with(desk.access("ann"), &changes));
        let id = desk.provider.token(&desk.id("ann", &begun.nonce));
        desk.provider.serve_tokens(Some(json!({"access_token": access, "id_token": id})));
        desk.back(&mut begun).is(status);
        assert_eq!(begun.browser.session().is_some(), status == 303);
    }
}

#[test]
fn an_id_token_is_the_identity_where_it_has_the_claims() {
    let desk = Desk::open("id_token");
    let mut browser = desk.sign_in("ann", |tokens| tokens["access_token"] = json!("opaque"));
    let me = browser.get(&desk.page("me")).is(200);
    assert!(me.text.contains("<strong>ann</strong><br>admin"), "{}", me.text);
    // The end of the access token is the end of the session, if nothing renews it.
    let short = desk.sign_in("bob", |tokens| tokens["expires_in"] = json!(2));
    eventually("the session ends", || short.clone().get(&desk.page("me")).status == 303);
    browser.get(&desk.page("me")).is(200);
}

#[test]
fn tokens_are_refreshed_once_however_many_ask() {
    let desk = Desk::open("access_token");
    let now = crate::support::provider::now();
    let short = with(desk.access("ann"), &json!({"exp": now + 4}));
    let long = desk
        .provider
        .token(&with(desk.access("ann"), &json!({"realm_access": {"roles": ["clerk"]}})));
    let browser = desk.sign_in("ann", |tokens| {
        tokens["access_token"] = json!(desk.provider.token(&short));
        tokens["refresh_token"] = json!("first");
    });
    desk.provider.serve_tokens(Some(json!({"access_token": long, "refresh_token": "second"})));
    // SQLite serves one process.
    let other = setup::is_postgres().then(|| desk.settings.start());
    let other = other.as_ref().map_or(desk.server.address, |other| other.address);
    let me = desk.page("me");
    eventually("the tokens are refreshed", || {
        thread::scope(|scope| {
            let pages: Vec<_> = [desk.server.address, other]
                .into_iter()
                .cycle()
                .take(8)
                .map(|address| {
                    let mut browser = browser.at(address);
                    let me = &me;
                    scope.spawn(move || browser.get(me).is(200))
                })
                .collect();
            let pages: Vec<Reply> =
                pages.into_iter().map(|page| page.join().expect("a page")).collect();
            pages.iter().all(|page| page.text.contains("<strong>ann</strong><br>clerk"))
        })
    });
    assert_eq!(desk.provider.asked_for("refresh_token"), 1);
}

#[test]
fn a_refused_refresh_ends_the_session() {
    let desk = Desk::open("access_token");
    let now = crate::support::provider::now();
    let short = with(desk.access("ann"), &json!({"exp": now + 3}));
    let mut browser = desk.sign_in("ann", |tokens| {
        tokens["access_token"] = json!(desk.provider.token(&short));
        tokens["refresh_token"] = json!("first");
    });
    desk.provider.serve_tokens(None);
    eventually("the session ends", || browser.clone().get(&desk.page("me")).status == 303);
    // It does not come back when the provider does.
    desk.provider
        .serve_tokens(Some(json!({"access_token": desk.provider.token(&desk.access("ann"))})));
    browser.get(&desk.page("me")).is(303);
    let asked = desk.provider.asked_for("refresh_token");
    assert_eq!(asked, 1);
}

#[test]
fn a_refresh_that_brings_somebody_else_ends_the_session() {
    let desk = Desk::open("access_token");
    let now = crate::support::provider::now();
    let short = with(desk.access("ann"), &json!({"exp": now + 3}));
    let browser = desk.sign_in("ann", |tokens| {
        tokens["access_token"] = json!(desk.provider.token(&short));
        tokens["refresh_token"] = json!("first");
    });
    desk.provider
        .serve_tokens(Some(json!({"access_token": desk.provider.token(&desk.access("eve"))})));
    eventually("the session ends", || browser.clone().get(&desk.page("me")).status == 303);
}

#[test]
fn a_logout_token_ends_the_sessions_of_its_login() {
    let desk = Desk::open("access_token");
    let claims = desk.logout("ann");
    let mut ann = desk.sign_in("ann", |_| {});
    let mut bob = desk.sign_in("bob", |_| {});
    for (changes, attack) in [
        (json!({"aud": "another"}), "another client"),
        (json!({"iss": "https://evil.example"}), "another issuer"),
        (json!({"exp": 1}), "an old token"),
        (json!({"events": null}), "no event"),
        (json!({"events": {"another": {}}}), "another event"),
        (json!({"nonce": "n"}), "an ID token"),
        (json!({"sub": null}), "nobody"),
    ] {
        let reply = desk.log_out(&with(claims.clone(), &changes));
        assert_eq!(reply.status, 400, "{attack}: {}", reply.text);
        ann.get(&desk.page("me")).is(200);
    }
    let forger = Key::p256("one");
    let forged = forger.token(&forger.header(), &claims);
    form("/console/-/back-channel-logout", &[("logout_token", &forged)])
        .send(desk.server.address)
        .is(400);
    ann.get(&desk.page("me")).is(200);
    let done = desk.log_out(&claims).is(200);
    assert_eq!(done.header("cache-control"), Some("no-store"));
    ann.get(&desk.page("me")).is(303);
    bob.get(&desk.page("me")).is(200);
    let of_session = with(claims.clone(), &json!({"sub": null, "sid": "session of bob"}));
    desk.log_out(&of_session).is(200);
    bob.get(&desk.page("me")).is(303);
    // An ID token may leave the session of the provider out, though logout tokens name it.
    let mut of_another = desk.sign_in("ann", |_| {});
    let mut nameless = desk.sign_in_without_sid("ann");
    desk.log_out(&with(claims, &json!({"sid": "a session"}))).is(200);
    nameless.get(&desk.page("me")).is(303);
    of_another.get(&desk.page("me")).is(200);
}
