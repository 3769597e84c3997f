//! Actions that imply actions, and names that resources do not have as they are.

use super::support::*;

/// The casbin crate knows no `g2` where `g` is missing.
const ROLES: &str = "g = _, _\ng2 = _, _\n";
const IMPLIED: &str = "r.sub == p.sub && r.obj == p.obj && (r.act == p.act || g2(p.act, r.act))";

#[test]
fn an_action_reaches_those_that_it_implies() {
    let model = model("sub, obj, act", "sub, obj, act, eft", ROLES, ALLOW_OVERRIDE, IMPLIED);
    let policy = "p, ann, doc, owner, allow\np, bob, doc, edit, allow\np, carl, doc, drop, allow\n\
        g2, owner, edit\ng2, edit, read\ng2, edit, list\ng2, read, edit\n";
    let pools: [&[&str]; 3] =
        [&["ann", "bob", "carl"], &["doc", "wiki"], &["owner", "edit", "read", "list", "drop"]];
    let (allowed, asked) = alike_for(&model, policy, &pools);
    assert_eq!((allowed, asked), (8, 30));
    let converted = converted(&model, policy);
    assert!(converted.rules.is_empty(), "a model without roles of subjects has no rules");
}

#[test]
fn an_implied_action_of_a_role_is_a_rule_for_each() {
    let matcher = "g(r.sub, p.sub) && r.obj == p.obj && g2(p.act, r.act)";
    let model = model("sub, obj, act", "sub, obj, act, eft", ROLES, ALLOW_AND_DENY, matcher);
    let policy = "p, staff, doc, edit, allow\np, staff, doc, list, deny\ng, ann, staff\n\
        g2, edit, read\ng2, read, list\n";
    let pools: [&[&str]; 3] = [&["ann", "bob", "staff"], &["doc"], &["edit", "read", "list"]];
    assert_eq!(alike_for(&model, policy, &pools), (4, 9));
    let rules = converted(&model, policy).rules;
    let of_staff: Vec<_> =
        rules.iter().filter(|rule| rule.sub == "staff").map(|rule| &*rule.obj).collect();
    assert_eq!(of_staff, ["doc:edit", "doc:list", "doc:read"]);
}

#[test]
fn an_object_reaches_those_below_it_in_a_domain() {
    let matcher = "r.sub == p.sub && r.dom == p.dom && g2(p.obj, r.obj, r.dom) && r.act == p.act";
    let model = model(
        "sub, dom, obj, act",
        "sub, dom, obj, act, eft",
        "g = _, _, _\ng2 = _, _, _\n",
        ALLOW_OVERRIDE,
        matcher,
    );
    let policy = "p, ann, one, files, read, allow\np, ann, two, files, read, allow\n\
        g2, files, doc, one\ng2, doc, page, one\ng2, files, note, two\n";
    let pools: [&[&str]; 4] = [
        &["ann", "bob"],
        &["one", "two", "three"],
        &["files", "doc", "page", "note"],
        &["read", "edit"],
    ];
    assert_eq!(alike_for(&model, policy, &pools).0, 5);
}

#[test]
fn a_domain_may_be_called_scope() {
    let model = with_domains(ALLOW_OVERRIDE, IN_DOMAIN).replace("dom", "scope");
    let policy = "p, staff, one, doc, read, allow\ng, ann, staff, one\n";
    let pools: [&[&str]; 4] = [&["ann", "staff"], &["one", "two"], &["doc"], &["read"]];
    assert_eq!(alike_for(&model, policy, &pools).0, 2);
}

#[test]
fn a_second_column_of_the_object_is_an_attribute() {
    let matcher = "g(r.sub, p.sub) && r.obj == p.obj && r.path == p.path && r.act == p.act";
    let model = model(
        "sub, obj, path, act",
        "sub, obj, path, act, eft",
        "g = _, _\n",
        ALLOW_OVERRIDE,
        matcher,
    );
    let policy = "p, ann, doc, /a, read, allow\np, ann, wiki, /b, read, allow\n";
    let pools: [&[&str]; 4] = [&["ann", "bob"], &["doc", "wiki"], &["/a", "/b"], &["read"]];
    assert_eq!(alike_for(&model, policy, &pools).0, 2);
    let policies = converted(&model, policy).policies;
    assert!(policies[0].rule_data.to_string().contains("resource.path"), "{policies:?}");
}

#[test]
fn spaces_and_colons_of_actions_are_encoded() {
    let model = with_roles(ALLOW_AND_DENY, BY_ROLE);
    let policy = "p, staff, my doc, approve:final, allow\np, staff, 50%, read it, allow\n\
        p, staff, 50%, read, deny\ng, ann, staff\n";
    let pools: [&[&str]; 3] = [
        &["ann", "bob"],
        &["my doc", "50%", "my%20doc"],
        &["approve:final", "read it", "read", "approve%3Afinal"],
    ];
    assert_eq!(alike_for(&model, policy, &pools).0, 2);
    let converted = converted(&model, policy);
    let notes: Vec<_> = converted.notes.iter().map(|note| (note.line, &*note.reason)).collect();
    let [(Some(1), reason)] = notes[..] else { panic!("{notes:?}") };
    assert!(reason.contains("the resource is `my%20doc:approve%3Afinal`"), "{reason}");
    let rule = &converted.rules[0];
    assert_eq!((&*rule.obj, &*rule.act), ("my%20doc:approve%3Afinal", "approve:final"));
    // Prefixes and objects of policies are those of the resource.
    let model = plain(ALLOW_OVERRIDE, "r.sub == p.sub && keyMatch(r.obj, p.obj) && r.act == p.act");
    let policy = "p, ann, my docs/*, read, allow\np, ann, one doc, approve:final, allow\n";
    let pools: [&[&str]; 3] = [
        &["ann", "bob"],
        &["my docs/a b", "my docs/", "my%20docs/", "one doc"],
        &["read", "approve:final"],
    ];
    assert_eq!(alike_for(&model, policy, &pools).0, 3);
}
