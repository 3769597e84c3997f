//! Sessions in what is done to the whole database: another encryption key, the end of a tenant, and the erasure of a person.

use super::Console;
use super::desk::Desk;
use crate::setup;
use crate::support::{Operator, eventually};

const OLD_KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const NEW_KEY: &str = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";

#[test]
fn a_session_outlives_its_encryption_key() {
    let desk = Desk::open("access_token");
    let (me, browser) = (desk.page("me"), desk.sign_in("ann", |_| {}));
    let Desk { provider: _provider, settings, server, .. } = desk;
    drop(server);
    let with_new = settings.clone().set("ENCRYPTION_KEY", NEW_KEY);
    let server = with_new.start();
    browser.at(server.address).get(&me).is(303);
    drop(server);
    let both = settings.set("ENCRYPTION_KEY", format!("{NEW_KEY},{OLD_KEY}"));
    let done = both.run(&["secrets", "reencrypt"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let server = with_new.start();
    let page = browser.at(server.address).get(&me).is(200);
    assert!(page.text.contains("<strong>ann</strong><br>admin"), "{}", page.text);
}

#[test]
fn a_tenant_that_is_deleted_has_no_session() {
    if !setup::is_saas() {
        return;
    }
    let console = Console::start();
    let browser = console.signed_in("ines", &["admin"]);
    let link = console.link("bob", &[]);
    let route = format!("DELETE /admin/tenants/{}", console.tenant.id);
    Operator::request(route).send(console.server.address).is(202);
    let me = console.page("me");
    eventually("the session ends", || browser.clone().get(&me).status == 303);
    eventually("the link ends", || browser.clone().get(&link).status == 410);
}

#[test]
fn a_person_that_is_erased_has_no_session() {
    let console = Console::start();
    let [erased, other] = ["ann", "bob"].map(|subject| console.signed_in(subject, &["auditor"]));
    console.tenant.delete("/api/v1/decisions?subject=ann").is(200);
    let me = console.page("me");
    erased.clone().get(&me).is(303);
    other.clone().get(&me).is(200);
}
