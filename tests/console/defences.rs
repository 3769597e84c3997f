//! Each attack beside its control: what is refused is the attack, not the request.

use super::Console;
use super::browser::{csrf, form, location};
use crate::setup;
use crate::support::{Operator, Request, eventually};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The headers of every answer but a file.
pub(super) const HEADERS: [(&str, &str); 5] = [
    ("content-security-policy", POLICY),
    ("cache-control", "no-store"),
    ("referrer-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-opener-policy", "same-origin"),
];

#[test]
fn every_page_has_the_headers() {
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    let unknown = crate::support::NO_ID;
    for (page, status) in [
        ("decisions", 200),
        ("me", 200),
        ("sessions", 200),
        ("sign-in", 200),
        (&*format!("decisions/{unknown}"), 404),
        ("decisions?nothing=1", 400),
    ] {
        let reply = browser.get(&console.page(page)).is(status);
        for (name, value) in HEADERS {
            assert_eq!(reply.header(name), Some(value), "{page}: {name}");
        }
        assert!(!reply.text.contains("style=") && !reply.text.contains("<script>"), "{page}");
        assert_eq!(reply.text.matches("<h1>").count(), 1, "{page}");
        assert!(reply.text.ends_with("</html>\n"), "{page}: {}", reply.text);
    }
    let fault = browser.get(&console.page("decisions?subjct=ann")).is(400);
    assert!(fault.text.contains("the nearest known one is `subject`"), "{}", fault.text);
}

#[test]
fn a_form_of_another_site_does_nothing() {
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("sessions")).is(200);
    let (token, path) = (csrf(&page), console.page("sign-out"));
    let good = form(&path, &[("csrf", &token)]);
    let host = "https://authz.example";
    let mut other = console.signed_in("ines", &["admin"]);
    let foreign = csrf(&other.get(&console.page("sessions")));
    for (attack, request) in [
        ("no origin", good.clone()),
        ("another site", good.clone().header("sec-fetch-site", "cross-site")),
        ("a sibling", good.clone().header("sec-fetch-site", "same-site")),
        ("another origin", good.clone().header("origin", "https://evil.example")),
        ("no token", form(&path, &[]).header("sec-fetch-site", "same-origin")),
        ("the token of another session", form(&path, &[("csrf", &foreign)]).header("origin", host)),
        (
            "another type",
            Request::new(format!("POST {path}"))
                .body("text/plain", format!("csrf={token}"))
                .header("origin", host),
        ),
    ] {
        let reply = browser.clone().send(request);
        assert!([403, 415].contains(&reply.status), "{attack}: {}", reply.status);
        browser.get(&console.page("me")).is(200);
    }
    browser.send(good.header("origin", host)).is(200);
    assert_eq!(browser.session(), None, "the control");
}

#[test]
fn a_session_is_of_one_tenant_and_of_the_console_alone() {
    let console = Console::start();
    let browser = console.signed_in("ines", &["admin"]);
    let (name, value) = browser.session().expect("a session");
    let cookie = format!("{name}={value}");
    let with = |path: &str, cookie: &str| {
        Request::new(format!("GET {path}")).header("cookie", cookie).send(console.server.address)
    };
    with(&console.page("me"), &cookie).is(200);
    with("/api/v1/abac/policies", &cookie).refused(401, "UNAUTHENTICATED");
    with("/console/other/me", &cookie).is(303);
    // The name of another tenant's cookie does not make it one of its sessions.
    let other = cookie.replace(&name[10..], "0123456789abcdef");
    with(&console.page("me"), &other).is(303);
    with(&console.page("me"), &format!("{name}={}", "A".repeat(43))).is(303);
    // The console takes no credential of the API.
    let token = console.tenant.token("boss", &["admin"]);
    let by_token = Request::new(format!("GET {}", console.page("me"))).token(&token);
    by_token.send(console.server.address).is(303);
    let key =
        console.tenant.manage("POST /api/v1/service-api-keys", &serde_json::json!({"name": "k"}));
    let by_key = Request::new(format!("GET {}", console.page("me")))
        .header("x-service-api-key", &key.text_of("key"));
    by_key.send(console.server.address).is(303);
}

#[test]
fn members_and_managers_have_their_navigation() {
    let console = Console::start();
    let member = console.signed_in("bob", &["auditor"]).get(&console.page("me")).is(200);
    assert!(member.text.contains("My access") && member.text.contains("aria-current=\"page\""));
    let manager = console.signed_in("ines", &["admin"]).get(&console.page("me")).is(200);
    let of_nav = |text: &str| {
        let nav = text.split("<nav").nth(1).and_then(|nav| nav.split("</nav>").next());
        nav.expect("a navigation").to_owned()
    };
    assert!(of_nav(&member.text).contains("My access"));
    assert!(!of_nav(&manager.text).contains("My access") && manager.text.contains("My access"));
}

#[test]
fn a_suspended_tenant_has_no_session() {
    if !setup::is_saas() {
        return;
    }
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    browser.get(&console.page("me")).is(200);
    let route = format!("POST /admin/tenants/{}/suspend", console.tenant.id);
    Operator::request(route).send(console.server.address).is(200);
    eventually("the session ends", || browser.clone().get(&console.page("me")).status == 303);
    let route = format!("POST /admin/tenants/{}/resume", console.tenant.id);
    Operator::request(route).send(console.server.address).is(200);
    browser.get(&console.page("me")).is(200);
}

#[test]
fn a_console_that_is_off_leaves_no_route() {
    let console = Console::with(Console::settings().set("CONSOLE", "off"));
    for path in ["/console", "/console/-/callback", "/console/ward/me", "/console/-/assets/x"] {
        Request::new(format!("GET {path}")).send(console.server.address).refused(404, "NOT_FOUND");
    }
    let home = Request::new("GET /").send(console.server.address).is(200);
    assert!(!home.text.contains("console"), "{}", home.text);
    let on = Console::start();
    let home = Request::new("GET /").send(on.server.address).is(200);
    assert!(home.text.contains("href=\"console\""), "{}", home.text);
}

#[test]
fn files_are_kept_for_ever_and_small() {
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("me")).is(200);
    let mut transferred = page.text.len();
    for part in page.text.split("/console/-/assets/").skip(1) {
        let name = part.split('"').next().expect("a name");
        let request = Request::new(format!("GET /console/-/assets/{name}"));
        let plain = request.clone().send(console.server.address).is(200);
        assert_eq!(plain.header("cache-control"), Some("public, max-age=31536000, immutable"));
        assert_eq!(plain.header("content-encoding"), None);
        let zipped =
            request.header("accept-encoding", "br, gzip;q=0.5").try_send(console.server.address);
        // The client cannot read it as text, but for its headers and length.
        assert!(zipped.is_none_or(|zipped| zipped.header("content-encoding") == Some("gzip")));
        transferred += plain.text.len();
    }
    assert!(transferred < 60 * 1024, "{transferred}");
    Request::new("GET /console/-/assets/console.css").send(console.server.address).is(404);
}

#[test]
fn a_theme_is_kept() {
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    let page = browser.get(&console.page("me")).is(200);
    assert!(page.text.contains("data-theme=\"system\""));
    let token =
        page.text.split("name=\"csrf\" value=\"").nth(1).and_then(|it| it.split('"').next());
    let token = token.expect("a token").to_owned();
    for (to, expected) in [
        (console.page("me"), console.page("me")),
        ("//evil.example".to_owned(), "/console".to_owned()),
        ("/console/x/..%2f".to_owned(), "/console".to_owned()),
    ] {
        let fields = [("csrf", &*token), ("theme", "dark"), ("to", &*to)];
        let request = form("/console/-/theme", &fields).header("sec-fetch-site", "same-origin");
        assert_eq!(location(&browser.send(request).is(303)), expected);
    }
    let page = browser.get(&console.page("me")).is(200);
    assert!(page.text.contains("data-theme=\"dark\""));
    assert!(page.text.contains("<p role=\"status\">The theme is chosen.</p>"), "{}", page.text);
    let without = form("/console/-/theme", &[("theme", "dark")]);
    browser.send(without.header("sec-fetch-site", "same-origin")).is(403);
}
