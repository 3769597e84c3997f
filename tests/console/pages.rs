//! The wall between tenants and people, for each page: every row of the console, with every kind of visitor.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use super::Console;
use super::browser::{Browser, csrf, form, location};
use super::defences::HEADERS;
use crate::support::tenant::always;
use crate::support::{NO_ID, Reply, Request};

/// The visitors for whom a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody. What such a page refuses has tests of its own.
    Open,
    /// Whoever is signed in.
    Person,
    /// Whoever is signed in and manages the tenant.
    Manager,
}

/// Each row of the console, its visitors, and the status of a good request.
pub(super) const PAGES: [(&str, Access, u16); 42] = [
    ("GET /console", Access::Open, 200),
    ("GET /console/-/sign-in", Access::Open, 404),
    ("GET /console/-/callback", Access::Open, 400),
    ("GET /console/-/link/{secret}", Access::Open, 410),
    ("POST /console/-/link/{secret}", Access::Open, 403),
    ("POST /console/-/back-channel-logout", Access::Open, 400),
    ("POST /console/-/theme", Access::Open, 403),
    ("GET /console/-/assets/{name}", Access::Open, 404),
    ("GET /console/{t}", Access::Open, 308),
    ("GET /console/{t}/", Access::Person, 303),
    ("GET /console/{t}/sign-in", Access::Open, 200),
    ("GET /console/{t}/sign-in/{provider}", Access::Open, 404),
    ("POST /console/{t}/sign-out", Access::Person, 200),
    ("GET /console/{t}/decisions", Access::Person, 200),
    ("GET /console/{t}/decisions/live", Access::Person, 200),
    ("GET /console/{t}/decisions/{id}", Access::Person, 200),
    ("GET /console/{t}/ask", Access::Manager, 200),
    ("GET /console/{t}/access", Access::Manager, 200),
    ("GET /console/{t}/access.csv", Access::Manager, 400),
    ("GET /console/{t}/access/cell", Access::Manager, 400),
    ("GET /console/{t}/access/who", Access::Manager, 200),
    ("GET /console/{t}/access/who.csv", Access::Manager, 400),
    ("GET /console/{t}/access/what", Access::Manager, 200),
    ("GET /console/{t}/access/what.csv", Access::Manager, 400),
    ("GET /console/{t}/policies", Access::Manager, 200),
    ("GET /console/{t}/policies/{id}", Access::Manager, 200),
    ("GET /console/{t}/rules", Access::Manager, 200),
    ("GET /console/{t}/resources", Access::Manager, 200),
    ("GET /console/{t}/types", Access::Manager, 200),
    ("GET /console/{t}/conditions", Access::Manager, 200),
    ("GET /console/{t}/changes", Access::Manager, 200),
    ("GET /console/{t}/changes/{n}", Access::Manager, 200),
    ("GET /console/{t}/changes/{a}/diff/{b}", Access::Manager, 200),
    ("GET /console/{t}/changes/{n}/restore", Access::Manager, 200),
    ("POST /console/{t}/changes/{n}/restore/restore", Access::Manager, 303),
    ("GET /console/{t}/proposals", Access::Manager, 200),
    ("GET /console/{t}/proposals/{id}", Access::Manager, 200),
    ("POST /console/{t}/proposals/{id}/approve", Access::Manager, 303),
    ("POST /console/{t}/proposals/{id}/reject", Access::Manager, 303),
    ("GET /console/{t}/me", Access::Person, 200),
    ("GET /console/{t}/sessions", Access::Person, 200),
    ("POST /console/{t}/sessions/end", Access::Person, 303),
];

/// The records of a tenant that paths name.
pub(super) struct Records {
    decision: String,
    policy: String,
    proposal: String,
}

impl Records {
    #[track_caller]
    pub(super) fn of(console: &Console) -> Self {
        let tenant = &console.tenant;
        let check = json!({"subject": "ines", "resource": "chart:read", "action": "read"});
        let decision = console.recorded(&check);
        let policy = tenant.policy("own", "chart:read", "deny", 1, &always());
        let apply = |bundle: Value| {
            let body = json!({"owner": "test", "prune": false, "bundle": bundle});
            tenant.manage("POST /api/v1/apply", &body).json()
        };
        apply(json!({"settings": {"gates": {"approval": true}}}));
        let proposed = apply(json!({"settings": {"gates": {"approval": false}}}));
        let proposal = proposed["proposal"]["id"].as_str().expect("a proposal").to_owned();
        Self { decision, policy, proposal }
    }

    /// The record of the kind that a route names.
    pub(super) fn id(&self, route: &str) -> &str {
        match route {
            route if route.contains("/policies/") => &self.policy,
            route if route.contains("/proposals/") => &self.proposal,
            _ => &self.decision,
        }
    }
}

/// The request of a row in the tenant of `console`, about the record `id`.
pub(super) fn request(route: &str, console: &Console, id: &str) -> Request {
    let route = route.replace("{t}", &console.name()).replace("{id}", id);
    let route = ["{n}", "{a}", "{b}"].iter().fold(route, |route, name| route.replace(name, "1"));
    let route = ["{secret}", "{name}", "{provider}"]
        .iter()
        .fold(route, |route, name| route.replace(name, "unknown"));
    match route.strip_prefix("POST ") {
        Some(path) => form(path, &[]),
        None => Request::new(route),
    }
}

/// The request of a row as a page of `browser` sends it: a form has its token.
#[track_caller]
fn signed(browser: &mut Browser, route: &str, console: &Console, id: &str) -> Request {
    let plain = request(route, console, id);
    if route.starts_with("GET") {
        return plain;
    }
    let page = browser.get(&console.page("sessions")).is(200);
    let token = csrf(&page);
    plain.untyped_body(format!("csrf={token}")).header("sec-fetch-site", "same-origin")
}

/// Whether an answer says that no other page frames it, and that no script of another place runs in it.
#[track_caller]
fn has_headers(route: &str, reply: &Reply) {
    for (name, value) in HEADERS {
        assert_eq!(reply.header(name), Some(value), "{route}: {}: {name}", reply.status);
    }
}

#[test]
fn every_answer_but_a_file_has_the_headers() {
    let console = Console::start();
    let records = Records::of(&console);
    for (route, access, _) in PAGES {
        if route.contains("/assets/") {
            continue;
        }
        let mut stranger = Browser::new(console.server.address);
        has_headers(route, &stranger.send(request(route, &console, records.id(route))));
        if access == Access::Open || route.contains("{secret}") {
            continue;
        }
        let mut browser = console.signed_in("ines", &["admin"]);
        let asked = signed(&mut browser.clone(), route, &console, NO_ID);
        if route.ends_with("/live") {
            let (name, value) = browser.session().expect("a session");
            let asked = asked.header("cookie", &format!("{name}={value}"));
            let mut head = String::new();
            let lines = BufReader::new(asked.open(console.server.address)).lines();
            let lines = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
            lines.for_each(|line| head += &format!("{line}\r\n"));
            has_headers(route, &Reply::read(route, &format!("{head}\r\n")));
        } else {
            has_headers(route, &browser.send(asked));
            let accept = request(route, &console, NO_ID).header("accept", "application/json");
            has_headers(route, &stranger.send(accept));
        }
    }
}

#[test]
fn the_table_has_every_row() {
    let rows = portcullis_console::all();
    let rows = rows.iter().map(|row| {
        let method = row.kind.method().expect("a page has one method");
        format!("{method} {}", row.path)
    });
    let known: BTreeSet<_> = PAGES.iter().map(|(route, ..)| (*route).to_owned()).collect();
    assert_eq!(rows.collect::<BTreeSet<_>>(), known);
}

#[test]
fn each_page_is_for_those_who_are_signed_in_to_its_tenant() {
    let console = Console::start();
    let other = Console::of(&console, "other");
    let (records, of_others) = (Records::of(&console), Records::of(&other));
    let of_other = other.signed_in("ines", &["admin"]);
    let (_, value) = of_other.session().expect("a session");
    let token = console.tenant.token("boss", &["admin"]);
    for (route, access, status) in PAGES {
        let (own, foreign) = (records.id(route), of_others.id(route));
        let refused = if route.starts_with("GET") { 303 } else { 401 };
        let stranger = Browser::new(console.server.address);
        if access == Access::Open {
            stranger.clone().send(request(route, &console, own)).is(status);
            continue;
        }
        // A stranger, a session of another tenant under both names, and a credential of the API.
        let mut mine = console.signed_in("ines", &["admin"]);
        let (name, _) = mine.session().expect("a session");
        let mut moved = stranger.clone();
        moved.cookies.insert(name.clone(), value.clone());
        let with_token = request(route, &console, own).token(&token);
        for (mut visitor, request) in [
            (stranger.clone(), request(route, &console, own)),
            (of_other.clone(), request(route, &console, own)),
            (moved, request(route, &console, own)),
            (stranger, with_token),
        ] {
            let reply = visitor.send(request);
            assert_eq!(reply.status, refused, "{route}: {}", reply.text);
            if refused == 303 {
                assert!(location(&reply).contains("/sign-in?to="), "{route}");
            }
        }
        if route.starts_with("POST") {
            mine.send(request(route, &console, own)).is(403);
        } else if !route.ends_with("/live") {
            mine.send(request(route, &console, own)).is(status);
        }
        if access == Access::Manager {
            let mut member = console.signed_in("bob", &["auditor"]);
            member.send(signed(&mut member.clone(), route, &console, own)).is(403);
        }
        if route.contains("{id}") {
            for unknown in [foreign, NO_ID, "no-id"] {
                mine.send(signed(&mut mine.clone(), route, &console, unknown)).is(404);
            }
        }
    }
}

#[test]
fn tenants_in_two_tabs_do_not_mix() {
    let console = Console::start();
    let other = Console::of(&console, "other");
    let mut browser = console.signed_in("ines", &["admin"]);
    let second = other.signed_in("olga", &["auditor"]);
    browser.cookies.extend(second.cookies);
    for (here, there, subject) in [(&console, &other, "ines"), (&other, &console, "olga")] {
        let page = browser.get(&here.page("me")).is(200);
        assert!(page.text.contains(&format!("<strong>{subject}</strong>")), "{}", page.text);
        let link = format!("<a href=\"{}\">{}</a>", there.page(""), there.name());
        assert!(page.text.contains(&link), "{link}: {}", page.text);
        assert!(!page.text.contains(&format!("<a href=\"{}\">{}</a>", here.page(""), here.name())));
    }
    let page = browser.get(&console.page("sessions")).is(200);
    browser.post(&console.page("sign-out"), &page, &[]).is(200);
    browser.get(&console.page("me")).is(303);
    let left = browser.get(&other.page("me")).is(200);
    assert!(!left.text.contains(&console.page("")), "{}", left.text);
}

#[test]
fn each_page_of_a_tenant_has_its_title_and_its_call_of_the_api() {
    let console = Console::start();
    let mut browser = console.signed_in("ines", &["admin"]);
    for (page, title) in [
        ("decisions", "Decisions"),
        ("ask", "Ask"),
        ("access", "Access"),
        ("access/who", "Who can do something?"),
        ("access/who?resource=chart:read", "Who can read chart:read?"),
        ("access/what", "What can somebody do?"),
        ("access/what?subject=ann", "What can ann do?"),
        ("access/cell?subject=ann&resource=chart:read", "Why"),
        ("policies", "Policies"),
        ("rules", "Rules"),
        ("resources", "Resources"),
        ("types", "Types"),
        ("conditions", "Conditions"),
        ("changes", "Changes"),
        ("proposals", "Proposals"),
        ("me", "My access"),
    ] {
        let found = browser.get(&console.page(page)).is(200);
        let titled = format!("<title>{title} · {} · Portcullis</title>", console.name());
        for expected in [
            &*titled,
            "<summary>As API</summary>",
            "<button class=\"quiet\" type=\"button\" data-copy=\"as-api\">Copy</button>",
        ] {
            assert!(found.text.contains(expected), "{page}: {expected}: {}", found.text);
        }
        assert_eq!(found.text.matches("<summary>As API").count(), 1, "{page}");
        assert_eq!(found.text.matches("<h1>").count(), 1, "{page}");
    }
    // The sign-in is about the tenant of its address, whether there is one or not.
    for name in [console.name(), "nobody".to_owned()] {
        let page = browser.get(&format!("/console/{name}/sign-in")).is(200);
        let title = format!("<title>Sign in · {name} · Portcullis</title>");
        assert!(page.text.contains(&title), "{}", page.text);
    }
}
