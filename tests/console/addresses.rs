//! The addresses of pages: the path of `PUBLIC_URL` before them, and the parameters that they have.

use super::Console;
use super::browser::{Browser, location};
use super::pages::{PAGES, Records, request};
use crate::setup;
use crate::support::Request;

/// The paths to which the links, forms and files of a page lead from the root.
fn absolute(text: &str) -> impl Iterator<Item = &str> {
    let values = ["href=\"", "action=\"", "src=\"", "name=\"to\" value=\""]
        .into_iter()
        .flat_map(|attribute| text.split(attribute).skip(1));
    values.filter_map(|rest| rest.split('"').next()).filter(|path| path.starts_with('/'))
}

#[test]
fn the_path_of_the_public_url_stands_before_each() {
    let public = "https://authz.example/pdp";
    let console = Console::with(Console::settings().set("PUBLIC_URL", public));
    let records = Records::of(&console);
    let printed =
        console.settings.run(&["console", "link", "--tenant", &console.name(), "--as", "a"]);
    assert!(printed.out.starts_with(&format!("{public}/console/-/link/")), "{}", printed.out);
    let mut browser = Browser::new(console.server.address);
    let link = console.link("ines", &["admin"]);
    let page = browser.get(&link).is(200);
    let done = browser.post(&link, &page, &[]).is(303);
    assert_eq!(location(&done), format!("/pdp{}", console.page("")));
    assert!(browser.session().is_some_and(|(name, _)| name.starts_with("__Host-pc-")));
    let mut seen = 0;
    for visitor in [browser.clone(), Browser::new(console.server.address)] {
        for (route, ..) in PAGES {
            if route.starts_with("POST") || route.ends_with("/live") {
                continue;
            }
            let reply = visitor.clone().send(request(route, &console, records.id(route)));
            let sent_on = reply.header("location").into_iter();
            for path in absolute(&reply.text).chain(sent_on.clone()) {
                assert!(path.starts_with("/pdp/console"), "{route}: {path}");
                seen += 1;
            }
            for path in sent_on.filter_map(|path| path.split_once("?to=")) {
                assert!(path.1.starts_with("%2Fpdp%2Fconsole%2F"), "{route}: {path:?}");
            }
        }
    }
    assert!(seen > 300, "{seen}");
    let page = browser.get(&console.page("sessions")).is(200);
    let fields = [("theme", "dark"), ("to", &*format!("/pdp{}", console.page("me")))];
    let theme =
        page.text.split("name=\"csrf\" value=\"").nth(1).and_then(|it| it.split('"').next());
    let fields = [fields[0], fields[1], ("csrf", theme.expect("a token"))];
    let chosen = super::browser::form("/console/-/theme", &fields);
    let chosen = browser.send(chosen.header("sec-fetch-site", "same-origin")).is(303);
    assert_eq!(location(&chosen), format!("/pdp{}", console.page("me")));
}

#[test]
fn a_parameter_that_a_page_does_not_have_is_named() {
    let console = Console::start();
    let records = Records::of(&console);
    let mut browser = console.signed_in("ines", &["admin"]);
    for (route, _, status) in PAGES {
        // A provider may add to a callback, and a file or another address has no page.
        if route.starts_with("POST") || status == 308 || route.ends_with("callback") {
            continue;
        }
        if route.contains("/assets/") {
            continue;
        }
        let route = format!("{route}?nothing=1");
        let reply = browser.send(request(&route, &console, records.id(&route))).is(400);
        assert!(reply.text.contains("`nothing`"), "{route}: {}", reply.text);
    }
}

#[test]
fn a_tenant_is_asked_for_where_no_provider_names_it() {
    let console = Console::start();
    let mut browser = Browser::new(console.server.address);
    let page = browser.get("/console").is(200);
    assert!(page.text.contains("<h1>Sign in</h1>"), "{}", page.text);
    if setup::is_saas() {
        assert!(page.text.contains("<label for=\"tenant\">Tenant</label>"), "{}", page.text);
        assert!(page.text.contains("<button>Continue</button>"), "{}", page.text);
    } else {
        assert!(page.text.contains("portcullis console link"), "{}", page.text);
    }
    let sent = browser.get("/console?tenant=a%20b%2Fc").is(303);
    assert_eq!(location(&sent), "/console/a%20b%2Fc/");
    let folder = browser.get("/console/a%20b%2Fc").is(308);
    assert_eq!(location(&folder), "/console/a%20b%2Fc/");
    for path in ["/console/-", "/console/-/", "/console/-/me"] {
        Request::new(format!("GET {path}")).send(console.server.address).is(404);
    }
    // Nobody learns whether there is a tenant: both pages have the name of the address alone.
    let known = browser.get(&console.page("sign-in")).is(200).text;
    let known = known.replace(&console.name(), "nobody");
    let unknown = browser.get("/console/nobody/sign-in").is(200).text;
    assert_eq!(known, unknown);
    assert!(known.contains("portcullis console link"), "{known}");
    let without = Console::with(Console::settings().set("PUBLIC_URL", ""));
    let page = Browser::new(without.server.address).get(&without.page("sign-in")).is(200);
    assert!(page.text.contains("PUBLIC_URL"), "{}", page.text);
}
