//! Script in every field that somebody can store or send: a page shows it as text.

use serde_json::json;

use super::Console;
use super::browser::Browser;
use super::desk::Desk;
use super::pages::{PAGES, Records, request};
use crate::support::tenant::condition;
use crate::support::{NO_ID, Reply, Request};

/// Ends a text and an attribute of either quote, and begins an element.
const SCRIPT: &str = "\"'><script>x()</script>";

/// Asserts that a page has the script nowhere but as text.
#[track_caller]
fn is_text(page: &str, reply: &Reply) {
    let raw =
        ["<script>x", "\"'>", "'><", "\"><script"].iter().find(|raw| reply.text.contains(**raw));
    assert_eq!(raw, None, "{page}: {}", reply.text);
}

/// Whether a page shows the script.
fn shows(reply: &Reply) -> bool {
    reply.text.contains("&#60;script&#62;x()&#60;/script&#62;")
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// A tenant whose records have the script wherever a text is free.
#[track_caller]
fn filled() -> (Console, Records) {
    let console = Console::start();
    let tenant = &console.tenant;
    let named = json!({"about": SCRIPT, "when": condition("user.name", "eq", SCRIPT)});
    tenant.manage("PUT /api/v1/conditions/on_script", &named).is(201);
    tenant.policy(SCRIPT, "chart:*", "deny", 5, &condition("user.name", "eq", SCRIPT));
    tenant.rule(SCRIPT, "chart:read", "read", "allow");
    let role = json!({
        "owner": "test", "prune": false, "message": SCRIPT,
        "bundle": {"roles": [{"name": SCRIPT, "includes": ["auditor"]}]},
    });
    tenant.manage("POST /api/v1/apply", &role).is(200);
    console.recorded(&json!({
        "subject": SCRIPT, "resource": "chart:read", "action": "read",
        "attributes": {"user": {"name": SCRIPT, "roles": [SCRIPT]}},
    }));
    let records = Records::of(&console);
    (console, records)
}

#[test]
fn a_page_shows_script_as_text() {
    let (console, records) = filled();
    let mut browser = console.signed_in(SCRIPT, &["admin", SCRIPT]);
    for (route, ..) in PAGES {
        if route.starts_with("GET") && !route.ends_with("/live") {
            let reply = browser.send(request(route, &console, records.id(route)));
            is_text(route, &reply);
        }
    }
    let script = encoded(SCRIPT);
    for (page, status) in [
        ("me".to_owned(), 200),
        ("sessions".to_owned(), 200),
        (format!("decisions?subject={script}"), 200),
        (format!("decisions?subject={script}&action={script}"), 200),
        (format!("decisions?{script}=1"), 400),
        (format!("decisions/{script}"), 404),
        (format!("policies/{NO_ID}"), 404),
        (format!("policies?q={script}"), 200),
        ("rules".to_owned(), 200),
        ("conditions".to_owned(), 200),
        ("changes".to_owned(), 200),
        (format!("ask?subject={script}&action={script}&resource={script}"), 400),
        (format!("ask?subject={script}&action=read&resource=chart:read"), 200),
        (format!("ask?subject=a&action=read&resource=chart:read&attributes={script}"), 400),
        (format!("access?roles={script}&subjects={script}&resources=chart:read"), 200),
        (format!("access?roles={script}&resources={script}"), 400),
        (format!("access/cell?role={script}&resource=chart:read"), 200),
        (format!("access/what?subject={script}"), 200),
        (format!("access/who?resource=chart:read&action={script}"), 200),
    ] {
        let reply = browser.get(&console.page(&page));
        is_text(&page, &reply);
        assert!(reply.status == status && shows(&reply), "{page}: {}", reply.text);
    }
    let link = console.link(SCRIPT, &[SCRIPT]);
    let page = Browser::new(console.server.address).get(&link).is(200);
    is_text("the link", &page);
    assert!(shows(&page), "{}", page.text);
}

#[test]
fn what_strangers_send_is_text() {
    let desk = Desk::open("access_token");
    let script = encoded(SCRIPT);
    let begun = desk.begin();
    let state = encoded(&begun.state);
    let issuer = encoded(&desk.provider.issuer());
    for path in [
        format!("/console/-/callback?state={state}&iss={issuer}&error={script}"),
        format!("/console/-/callback?state={script}&error={script}"),
        format!("/console?{script}=1"),
        format!("/console/-/link/{script}"),
        desk.page(&format!("sign-in?to={script}")),
        desk.page(&format!("sign-in?{script}=1")),
        desk.page(&format!("sign-in/{script}")),
        format!("/console/{script}/sign-in"),
        format!("/console/{script}/me"),
    ] {
        let reply = begun.browser.clone().get(&path);
        is_text(&path, &reply);
        assert!(reply.header("location").is_none_or(|to| !to.contains(['"', '<', '\''])), "{path}");
    }
    let theme = Request::new("POST /console/-/theme");
    let body = format!("theme={script}&to={script}&csrf={script}");
    let reply = theme.body("application/x-www-form-urlencoded", body).send(desk.server.address);
    is_text("the theme", &reply);
}
