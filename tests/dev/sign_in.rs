//! The sign-in to the console of `portcullis dev`, by a click.

use super::Dev;
use crate::everywhere::console::browser::{Browser, form, location};
use crate::support::Reply;

/// The path of an address of the service.
#[track_caller]
fn path_of(dev: &Dev, url: &str) -> String {
    let path = url.strip_prefix(&format!("http://{}", dev.address));
    path.unwrap_or_else(|| panic!("{url} is elsewhere")).to_owned()
}

/// The form of the provider with one of its buttons.
#[track_caller]
fn chosen(page: &Reply, user: &str) -> Vec<(String, String)> {
    assert!(page.text.contains("<h1>Who are you?</h1>"), "{}", page.text);
    let button = format!("<button name=\"user\" value=\"{user}\">{user}</button>");
    assert!(page.text.contains(&button), "{button}: {}", page.text);
    let fields = page.text.split("type=\"hidden\" name=\"").skip(1);
    let fields = fields.map(|field| {
        let mut parts = field.split('"');
        let name = parts.next().expect("a name").to_owned();
        (name, parts.nth(1).expect("a value").replace("&#38;", "&"))
    });
    fields.chain([("user".to_owned(), user.to_owned())]).collect()
}

#[test]
fn somebody_signs_in_by_a_click() {
    let (dev, _directory) = Dev::fresh();
    for user in ["ines-admin", "olga-admin"] {
        let mut browser = Browser::new(dev.address);
        let page = browser.get("/console").is(200);
        let link = page.text.split("class=\"button\" href=\"").nth(1);
        let link = link.and_then(|rest| rest.split('"').next()).expect("a link");
        let begun = browser.get(&path_of(&dev, link)).is(303);
        let path = path_of(&dev, &location(&begun));
        let page = browser.get(&path).is(200);
        let fields = chosen(&page, user);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        let back = browser.send(form(path.split('?').next().expect("a path"), &fields)).is(303);
        let done = browser.get(&path_of(&dev, &location(&back))).is(303);
        let (name, value) = browser.session().expect("a session");
        assert!(name.starts_with("pc-") && value.len() == 43, "{name}={value}");
        let set = done.headers.get_all("set-cookie").iter();
        let set: Vec<_> = set.map(|set| set.to_str().expect("text")).collect();
        assert!(set.iter().all(|set| !set.contains("Secure")), "{set:?}");
        let first = browser.get(&location(&done)).is(303);
        let page = browser.get(&location(&first)).is(200);
        assert!(page.text.contains("<h1>Decisions</h1>"), "{}", page.text);
    }
}
