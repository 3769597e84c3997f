//! Attacks on the way in, each beside its control.

use super::Console;
use super::browser::{Browser, csrf, form, location};
use super::desk::Desk;

/// A value that an attacker puts into the cookie of a session.
const PLANTED: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

#[test]
fn a_value_that_an_attacker_planted_becomes_no_session() {
    let console = Console::start();
    let known = console.signed_in("ines", &["admin"]);
    let (name, of_attacker) = known.session().expect("a session");
    for planted in [PLANTED, &**of_attacker] {
        let mut victim = Browser::new(console.server.address);
        victim.cookies.insert(name.clone(), planted.to_owned());
        let link = console.link("bob", &["auditor"]);
        let page = victim.get(&link).is(200);
        victim.post(&link, &page, &[]).is(303);
        assert_ne!(victim.cookies[name], planted);
        let mut attacker = Browser::new(console.server.address);
        attacker.cookies.insert(name.clone(), planted.to_owned());
        let seen = attacker.get(&console.page("me"));
        assert!(!seen.text.contains("<strong>bob</strong>"), "{}", seen.text);
        let own = victim.get(&console.page("me")).is(200);
        assert!(own.text.contains("<strong>bob</strong>"), "{}", own.text);
    }
    let desk = Desk::open("access_token");
    let mut begun = desk.begin();
    let signed_in = desk.sign_in("ann", |_| {});
    let (name, of_attacker) = signed_in.session().expect("a session");
    begun.browser.cookies.insert(name.clone(), of_attacker.clone());
    desk.finish(&mut begun, "bob", |_| {}).is(303);
    assert_ne!(&begun.browser.cookies[name], of_attacker);
    let seen = signed_in.clone().get(&desk.page("me")).is(200);
    assert!(seen.text.contains("<strong>ann</strong>"), "{}", seen.text);
}

/// An attacker who has a link would sign the victim in as somebody that the attacker watches.
#[test]
fn another_site_signs_nobody_in_by_a_link() {
    let console = Console::start();
    let link = console.link("attacker", &["admin"]);
    let page = Browser::new(console.server.address).get(&link).is(200);
    let token = csrf(&page);
    let mut victim = Browser::new(console.server.address);
    let good = form(&link, &[("csrf", &token)]);
    let unsigned = form(&link, &[]).header("sec-fetch-site", "same-origin");
    for (attack, request) in [
        ("another site", good.clone().header("sec-fetch-site", "cross-site")),
        ("another origin", good.clone().header("origin", "https://evil.example")),
        ("nothing says where from", good.clone()),
        ("no token", unsigned),
    ] {
        let reply = victim.send(request).is(403);
        assert!(reply.text.contains("<h1>Not allowed</h1>"), "{attack}: {}", reply.text);
        assert_eq!(victim.session(), None, "{attack}");
    }
    victim.send(good.header("sec-fetch-site", "same-origin")).is(303);
    assert!(victim.session().is_some(), "the control");
}

#[test]
fn a_sign_in_leads_to_no_other_place() {
    let desk = Desk::open("access_token");
    let mut browser = Browser::new(desk.server.address);
    let link = desk.link(&mut browser);
    let (provider, _) = link.split_once("?to=").expect("a parameter");
    let (folder, wanted) = (desk.page(""), desk.page("decisions?subject=a%20b"));
    let inside = |rest: &str| format!("{folder}{rest}");
    let encoded =
        |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
    for to in [
        "https://evil.example/".to_owned(),
        "//evil.example/".to_owned(),
        "/\\evil.example/".to_owned(),
        "\\\\evil.example".to_owned(),
        "javascript:alert(1)".to_owned(),
        "evil.example".to_owned(),
        "/".to_owned(),
        "/console/other/me".to_owned(),
        folder.trim_end_matches('/').to_owned(),
        format!("https://evil.example{folder}"),
        format!("{}@evil.example", folder.trim_end_matches('/')),
        encoded(&folder),
        inside("/evil.example"),
        inside("../other/me"),
        inside("\\evil.example"),
        inside("%2F%2Fevil.example"),
        inside("%2f/evil.example"),
        inside("%5Cevil.example"),
        inside("%2e%2e/other/me"),
        inside(".%2E/other/me"),
        inside("%252e%252e/other/me"),
        inside("%25252e%25252e/other/me"),
        inside("me?next=//evil.example"),
        inside("me%0d%0aset-cookie:x=y"),
        inside("me\r\nset-cookie:x=y"),
        inside("me%09"),
        inside("me%00"),
        inside("me%7f"),
        inside("%ff"),
    ] {
        let sent = encoded(&to);
        let page = browser.get(&desk.page(&format!("sign-in?to={sent}"))).is(200);
        let first = encoded_as_link(&folder);
        assert!(page.text.contains(&format!("?to={first}\"")), "{to}: {}", page.text);
        // Whoever sends a link to the provider leaves the page out.
        let path = format!("{provider}?to={sent}");
        let mut begun = Desk::begun(Browser::new(desk.server.address), &path);
        let done = desk.finish(&mut begun, "ann", |_| {}).is(303);
        assert_eq!(location(&done), folder, "{to}");
    }
    let path = format!("{provider}?to={}", encoded(&wanted));
    let mut begun = Desk::begun(Browser::new(desk.server.address), &path);
    let done = desk.finish(&mut begun, "ann", |_| {}).is(303);
    assert_eq!(location(&done), wanted, "the control");
}

/// `text` as links of the pages have it.
fn encoded_as_link(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}

#[test]
fn a_callback_serves_one_browser_once_and_in_time() {
    let desk = Desk::open("access_token");
    let mut begun = desk.begin();
    desk.finish(&mut begun, "ann", |_| {}).is(303);
    assert!(begun.browser.session().is_some(), "the control");
    // The attempt is cleared: a callback that somebody finds later is one that nobody began.
    desk.back(&mut begun).is(400);
    let mut first = desk.begin();
    let second = desk.begin();
    // The state of one attempt with the cookie of another.
    first.browser.cookies = second
        .browser
        .cookies
        .values()
        .zip(first.browser.cookies.keys())
        .map(|(value, name)| (name.clone(), value.clone()))
        .collect();
    let refused = desk.finish(&mut first, "ann", |_| {}).is(400);
    assert!(refused.text.contains("Sign in again"), "{}", refused.text);
    assert_eq!(first.browser.session(), None);
}
