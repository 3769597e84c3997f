//! The tenant that a manager manages.

use super::*;
use crate::claims::Claims;

/// A member of the domain `north` and of the tenant `north`, whose admin-domain claim names `administers`.
fn holder(roles: &[&str], administers: &[&str], one_tenant_per_domain: bool) -> TokenHolder {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let identity = Identity {
        subject: "ann".to_owned(),
        domain: "north".to_owned(),
        roles: texts(roles),
        administers: texts(administers),
        claims: Claims::read(b"{}".to_vec()).expect("an object"),
    };
    TokenHolder { tenant: "north".to_owned(), identity, one_tenant_per_domain }
}

/// The tenant and the domain that `holder` manages when the request names `domain`.
fn managed(holder: TokenHolder, domain: Option<&str>) -> Option<(String, String)> {
    let manager = holder.to_manager(domain, &["admin".to_owned()]).ok()?;
    Some((manager.tenant().to_owned(), manager.domain().to_owned()))
}

#[test]
fn a_named_domain_needs_a_claim_that_names_it() {
    let admin: &[&str] = &["admin"];
    for (roles, administers, domain, expected) in [
        (admin, &[][..], None, Some("north")),
        (admin, &[], Some("north"), Some("north")),
        (admin, &[], Some("south"), None),
        (admin, &["north"], Some("south"), None),
        (&[], &["south"], Some("south"), Some("south")),
        (&[], &["*"], Some("south"), Some("south")),
        // The claim for another domain is none for the own one.
        (&[], &["south"], None, None),
        (&[], &["south"], Some("north"), None),
        (admin, &["*"], Some("*"), None),
        (admin, &["*"], Some("South"), Some("South")),
        (admin, &["south"], Some("South"), None),
    ] {
        let expected = expected.map(|name: &str| (name.to_owned(), name.to_owned()));
        let managed = managed(holder(roles, administers, true), domain);
        assert_eq!(managed, expected, "{roles:?} {administers:?} {domain:?}");
    }
}

#[test]
fn a_domain_that_is_no_tenant_opens_none() {
    let own = Some(("north".to_owned(), "north".to_owned()));
    for domain in [None, Some("south"), Some("*")] {
        assert_eq!(managed(holder(&["admin"], &["*"], false), domain), own, "{domain:?}");
    }
}

#[test]
fn a_rule_matches_in_the_domain_of_its_tenant_or_in_all() {
    let manager = |one_tenant_per_domain| {
        let holder = holder(&[], &["*"], one_tenant_per_domain);
        holder.to_manager(None, &[]).expect("a manager")
    };
    let reach = |one_tenant_per_domain| {
        ["north", "*", "south"].map(|domain| manager(one_tenant_per_domain).has_checks_in(domain))
    };
    assert_eq!(reach(true), [true, true, false]);
    assert_eq!(reach(false), [true, true, true]);
}
