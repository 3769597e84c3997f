//! Models and lines, decided by the import and by the casbin crate.

use super::support::*;

/// The models that the casbin crate has as examples.
#[test]
fn the_examples_decide_alike() {
    let people = "p, alice, data1, read, allow\np, bob, data2, write, allow\n";
    let basic = plain(ALLOW_OVERRIDE, PLAIN);
    assert_eq!(alike(&basic, people), (2, 27));
    let root = plain(ALLOW_OVERRIDE, &format!("{PLAIN} || r.sub == \"root\""));
    assert_eq!(alike(&root, "p, root, data1, read, allow\np, alice, data1, read, allow\n").0, 5);
    assert_eq!(alike_for(&root, "", &[&["root", "eve"], &["data1"], &["read"]]), (1, 2));
    let rbac = with_roles(ALLOW_OVERRIDE, BY_ROLE);
    let roles = "p, data2_admin, data2, read, allow\np, data2_admin, data2, write, allow\n\ng, alice, data2_admin\n";
    assert_eq!(alike(&rbac, &format!("{people}{roles}")), (6, 36));
    let lines = "p, admin, domain1, data1, read, allow\np, admin, domain1, data1, write, allow\n\
        p, admin, domain2, data2, read, allow\np, admin, domain2, data2, write, allow\n\
        g, alice, admin, domain1\ng, bob, admin, domain2\n";
    assert_eq!(alike(&with_domains(ALLOW_OVERRIDE, IN_DOMAIN), lines), (8, 108));
    let denied = format!("{people}{roles}p, alice, data2, write, deny\n");
    assert_eq!(alike(&with_roles(ALLOW_AND_DENY, BY_ROLE), &denied), (5, 36));
    assert_eq!(alike(&with_roles(DENY_OVERRIDE, BY_ROLE), &denied), (35, 36));
    let ordered = "p, alice, data2, write, deny\np, data2_admin, data2, write, allow\n\
        p, bob, data1, read, allow\ng, alice, data2_admin\n";
    assert_eq!(alike(&with_roles(PRIORITY, BY_ROLE), ordered), (2, 36));
    let without_users =
        model("obj, act", "obj, act", "", ALLOW_OVERRIDE, "r.obj == p.obj && r.act == p.act");
    assert_eq!(alike(&without_users, "p, data1, read\np, data2, write\n"), (2, 9));
    let without_objects =
        model("sub, act", "sub, act", "", ALLOW_OVERRIDE, "r.sub == p.sub && r.act == p.act");
    let pools: &[&[&str]] = &[&["alice", "bob"], &["read", "write"]];
    assert_eq!(alike_for(&without_objects, "p, alice, read\np, bob, write\n", pools), (2, 4));
}

#[test]
fn roles_decide_alike() {
    // Roles of roles, a circle, and a person who is a role.
    let chain = "p, staff, wiki, read, allow\np, boss, wiki, write, allow\np, ann, wiki, delete, allow\n\
        g, ann, boss\ng, boss, staff\ng, bob, staff\ng, eve, ann\ng, staff, circle\ng, circle, boss\n";
    assert!(alike(&with_roles(ALLOW_OVERRIDE, BY_ROLE), chain).0 > 10);
    // Roles in domains, and a line for every domain.
    let stars = IN_DOMAIN.replace("r.dom == p.dom", "(r.dom == p.dom || p.dom == \"*\")");
    let policy = "p, admin, *, wiki, read, allow\np, admin, one, wiki, write, allow\np, bob, *, wiki, list, allow\n\
        g, ann, admin, one\ng, bob, admin, two\ng, eve, ann, two\n";
    assert!(alike(&with_domains(ALLOW_OVERRIDE, &stars), policy).0 > 5);
    // Roles that hold in every domain.
    let everywhere = IN_DOMAIN.replace(", r.dom)", ")");
    let everywhere = with_domains(ALLOW_OVERRIDE, &everywhere).replace("_, _, _", "_, _");
    let policy = "p, admin, one, wiki, read, allow\np, guest, two, wiki, read, allow\ng, ann, admin\ng, ann, guest\n";
    assert!(alike(&everywhere, policy).0 >= 4);
    // A matcher without a role decides for the name only.
    let not = format!("{PLAIN} && !g(r.sub, \"blocked\")");
    let policy = "p, ann, wiki, read, allow\np, bob, wiki, read, allow\ng, bob, blocked\n";
    assert_eq!(alike(&with_roles(ALLOW_OVERRIDE, &not), policy).0, 1);
}

/// Casbin for Go reads domains of roles as patterns if the matcher has exactly one text.
#[test]
fn domains_of_roles_are_patterns_where_casbin_for_go_reads_them_so() {
    let policy = "p, staff, org/*, wiki, read, allow\np, banned, *, wiki, read, deny\ng, ann, staff, org/*\n\
        g, bob, staff, org/1\ng, bob, banned, *\ng, eve, banned, org/2\ng, eve, boss, org/2\ng, boss, staff, *\n";
    let people: &[&str] = &["ann", "bob", "eve", "boss", "banned"];
    let domains: &[&str] = &["org/1", "org/2", "org/", "other"];
    let decided = |matcher: &str| {
        let model = with_domains(ALLOW_AND_DENY, matcher);
        alike_for(&model, policy, &[people, domains, &["wiki"], &["read"]])
    };
    // Ann and the boss in three domains of the organisation each; bob is banned everywhere.
    assert_eq!(decided(BY_PATTERN), (6, 20));
    // Else bob may read: the ban is in a domain that is named `*`.
    assert_eq!(decided(&BY_PATTERN.replace("dom, p", "dom,p")), (1, 20));
    let constant = BY_PATTERN.replace("p.sub, r.dom", "p.sub, p.dom");
    assert_eq!(decided(&constant).1, 20);
}

#[test]
fn spellings_of_casbin_for_go_decide_alike() {
    let policy =
        "p, staff, wiki, read, allow\np, bob, wiki, read, deny\ng, ann, staff\ng, bob, staff\n";
    let expected = alike(&with_roles(ALLOW_AND_DENY, BY_ROLE), policy);
    let import = |matcher: &str, policy: &str| {
        let converted = converted(&with_roles(ALLOW_AND_DENY, matcher), policy);
        assert_eq!(converted.faults, [], "{matcher}");
        converted
    };
    let sound = import(BY_ROLE, policy);
    for call in ["g(r.sub, p.sub) == true", "true == g(r.sub, p.sub)", "g(r.sub, p.sub) != false"] {
        let matcher = BY_ROLE.replace("g(r.sub, p.sub)", call);
        assert_eq!(import(&matcher, policy).rules, sound.rules, "{call}");
        assert_eq!(alike(&with_roles(ALLOW_AND_DENY, &matcher), policy), expected, "{call}");
    }
    for not in ["g(r.sub, \"boss\") == false", "g(r.sub, \"boss\") != true"] {
        let matcher = format!("{BY_ROLE} && {not}");
        let policy = format!("{policy}g, ann, boss\n");
        assert_eq!(
            alike(&with_roles(ALLOW_AND_DENY, &matcher), &policy).0,
            expected.0 - 1,
            "{not}"
        );
    }
    // The crate does not know `IN`.
    let lower = format!("{BY_ROLE} && r.act in (\"read\", \"write\")");
    let upper = lower.replace(" in ", " IN ");
    assert_eq!(import(&upper, policy).rules, import(&lower, policy).rules);
    // A table fills its shorter rows with empty cells.
    let table = policy.replace("staff\n", "staff,,\n").replace("allow\n", "allow, ,\n");
    assert_eq!(import(BY_ROLE, &table).rules, sound.rules);
    // An empty effect is neither.
    let empty = import(BY_ROLE, &policy.replace("read, deny", "read,"));
    assert_eq!((empty.without_effect, empty.rules.len()), (1, 3));
}

#[test]
fn roles_of_objects_decide_alike() {
    let matcher = "g(r.sub, p.sub) && g2(r.obj, p.obj) && r.act == p.act";
    let resources =
        model("sub, obj, act", "sub, obj, act", "g = _, _\ng2 = _, _\n", ALLOW_OVERRIDE, matcher);
    let policy = "p, alice, data1, read\np, bob, data2, write\np, group_admin, data_group, write\n\
        g, alice, group_admin\ng2, data1, data_group\ng2, data2, data_group\n";
    assert_eq!(alike(&resources, policy).0, 8);
    // The objects have verbs.
    let policy = "p, ann, charts, read\np, ann, wiki:edit, read\ng2, chart:read, charts\ng2, chart:write, charts\n";
    assert_eq!(alike(&resources, policy).0, 4);
}

#[test]
fn patterns_decide_alike() {
    let rest = |function: &str| {
        let matcher =
            format!("r.sub == p.sub && {function}(r.obj, p.obj) && regexMatch(r.act, p.act)");
        plain(ALLOW_AND_DENY, &matcher)
    };
    let objects: &[&str] = &[
        "/",
        "/data",
        "/data/",
        "/data/1",
        "/data/1/edit",
        "/data/1/edit/2",
        "/data1",
        "data",
        "/data/a.b",
        "/data/1?x=2",
    ];
    let (subjects, actions): (&[&str], &[&str]) = (&["ann", "bob"], &["GET", "POST", "xGETx"]);
    for (function, patterns, least) in [
        ("keyMatch", ["/data/*", "/data", "/data/1/*"], 8),
        ("keyMatch2", ["/data/:id", "/data/:id/edit", "/data/*"], 8),
        ("keyMatch3", ["/data/{id}", "/data/{id}/edit", "/data/*"], 8),
        ("keyMatch4", ["/data/{id}", "/data/{a}/edit/{b}", "/data/*"], 8),
        ("keyMatch5", ["/data/{id}", "/data/{id}/edit", "/data/*"], 8),
        ("regexMatch", ["^/data/[0-9]+$", "/data/.", "edit"], 8),
    ] {
        let [one, other, third] = patterns;
        let policy = format!(
            "p, ann, {one}, (GET)|(POST), allow\np, ann, {other}, ^GET$, allow\np, bob, {third}, GET, allow\n\
             p, ann, {other}, ^POST$, deny\n"
        );
        let (allowed, asked) = alike_for(&rest(function), &policy, &[subjects, objects, actions]);
        assert!(allowed >= least && allowed < asked, "{function}: {allowed} of {asked}");
    }
    let networks =
        plain(ALLOW_OVERRIDE, "ipMatch(r.sub, p.sub) && r.obj == p.obj && r.act == p.act");
    let policy = "p, 192.168.2.7/24, data1, read, allow\np, 10.0.0.1, data1, read, allow\n";
    let addresses: &[&str] = &["192.168.2.123", "192.168.3.1", "10.0.0.1", "10.0.0.2"];
    assert_eq!(alike_for(&networks, policy, &[addresses, &["data1"], &["read"]]), (2, 4));
    let parts = plain(
        ALLOW_OVERRIDE,
        "r.sub == p.sub && keyGet(r.obj, p.obj) == \"age\" && r.act == p.act",
    );
    let policy = "p, ann, /people/*, read, allow\n";
    let objects: &[&str] = &["/people/age", "/people/name", "/people/", "age"];
    assert_eq!(alike_for(&parts, policy, &[&["ann"], objects, &["read"]]), (1, 4));
    let parts = parts.replace("keyGet(r.obj, p.obj)", "keyGet2(r.obj, p.obj, \"what\")");
    let policy = "p, ann, /people/:id/:what, read, allow\n";
    let objects: &[&str] = &["/people/1/age", "/people/age/1", "/people/1/age/2", "/people//age"];
    assert_eq!(alike_for(&parts, policy, &[&["ann"], objects, &["read"]]), (1, 4));
}

#[test]
fn objects_with_a_colon_decide_alike() {
    let by_pattern = "r.sub == p.sub && regexMatch(r.obj, p.obj) && r.act == p.act";
    let policy = "p, ann, ^https?://a/.*$, GET, allow\np, ann, ^https?://a/b$, GET, deny\n";
    let objects: &[&str] = &["https://a/b", "https://a/c", "http://a/b:c", "ftp://a/b"];
    let pools: &[&[&str]] = &[&["ann"], objects, &["GET"]];
    assert_eq!(alike_for(&plain(ALLOW_AND_DENY, by_pattern), policy, pools), (2, 4));
    assert_eq!(alike_for(&plain(DENY_OVERRIDE, by_pattern), policy, pools), (3, 4));
    // An object of the lines has a verb or none; so has one that is asked for.
    let keys = by_pattern.replace("regexMatch", "keyMatch");
    let policy = "p, ann, file:1, GET, allow\np, ann, dir:*, GET, allow\n";
    let objects: &[&str] = &["file:1", "file:2", "dir:a", "dir:a:b", "dirs:a"];
    let pools: &[&[&str]] = &[&["ann"], objects, &["GET", "PUT"]];
    assert_eq!(alike_for(&plain(ALLOW_OVERRIDE, &keys), policy, pools), (3, 10));
    let policy = "p, ann, file, GET, allow\n";
    let objects: &[&str] = &["file", "file:GET", "file:1"];
    let pools: &[&[&str]] = &[&["ann"], objects, &["GET", "PUT"]];
    assert_eq!(alike_for(&plain(ALLOW_OVERRIDE, PLAIN), policy, pools), (1, 6));
}

/// A `*` is a plain character where the matcher compares with `==`.
#[test]
fn a_star_is_no_wildcard() {
    let policy = "p, *, wiki, read, allow\np, ann, *, read, allow\np, ann, wiki, *, allow\n";
    let names: &[&str] = &["*", "ann", "wiki", "read"];
    let model = plain(ALLOW_OVERRIDE, PLAIN);
    let (objects, actions): (&[&str], &[&str]) = (&["wiki", "blog"], &["read", "write"]);
    assert_eq!(alike_for(&model, policy, &[names, objects, actions]), (1, 16));
    // Where the matcher says so, it is one.
    let star = "(p.sub == \"*\" || r.sub == p.sub) && keyMatch(r.obj, p.obj) && (p.act == \"*\" || r.act == p.act)";
    let policy = "p, *, wiki, read, allow\np, ann, *, list, allow\np, bob, chart:*, *, allow\np, eve, data1, *, allow\n";
    let subjects: &[&str] = &["ann", "bob", "eve"];
    let objects: &[&str] = &["wiki", "data1", "chart:read", "chart:lab:read", "data11"];
    let (allowed, _) =
        alike_for(&plain(ALLOW_OVERRIDE, star), policy, &[subjects, objects, &["read", "list"]]);
    assert!(allowed > 8, "{allowed}");
    // A deny of a prefix holds for names with more parts.
    let deny = "p, bob, *, read, allow\np, bob, chart:*, read, deny\n";
    let objects: &[&str] = &["wiki:read", "chart:read", "chart:lab:read", "charts:read"];
    assert_eq!(
        alike_for(&plain(ALLOW_AND_DENY, star), deny, &[&["bob"], objects, &["read"]]),
        (2, 4)
    );
}

#[test]
fn expressions_decide_alike() {
    // `in`, `!=`, `!` and constants.
    let matcher = format!("{PLAIN} || r.obj in [\"data2\", \"data3\"] && r.sub != \"eve\"");
    let objects: &[&str] = &["data1", "data2", "data3", "data4"];
    let policy = "p, ann, data1, read, allow\n";
    let pools: &[&[&str]] = &[&["ann", "eve"], objects, &["read", "write"]];
    assert_eq!(alike_for(&plain(ALLOW_OVERRIDE, &matcher), policy, pools), (5, 16));
    let matcher = "!(r.sub == p.sub) && !(r.obj == p.obj || r.act != p.act)";
    assert_eq!(alike_for(&plain(ALLOW_OVERRIDE, matcher), policy, pools), (3, 16));
    // The rule of a line.
    let rules =
        model("sub, obj, act", "rule, act", "", ALLOW_OVERRIDE, "eval(p.rule) && r.act == p.act");
    let policy = "p, r.sub == \"ann\" || r.obj == \"data1\", read\np, r.obj == \"data4\" && r.sub != \"eve\", write\n";
    assert_eq!(alike_for(&rules, policy, pools), (6, 16));
    // A line that decides only with its own object.
    let scope = model(
        "sub, obj, act",
        "sub, obj, act",
        "g = _, _, _\n",
        ALLOW_OVERRIDE,
        "g(r.sub, p.sub, r.obj) && r.obj == p.obj && r.act == p.act",
    );
    let policy = "p, reader, data1, read\np, reader, data2, read\ng, ann, reader, data1\ng, eve, reader, data2\n";
    assert_eq!(alike_for(&scope, policy, pools), (2, 16));
}

/// The first line that matches decides: every order of lines that overlap.
#[test]
fn every_order_decides_alike() {
    let lines = [
        "p, ann, wiki, read, allow\n",
        "p, staff, wiki, read, deny\n",
        "p, bob, wiki, read, allow\n",
        "p, bob, blog, read, deny\n",
    ];
    let (mut orders, mut counts) = (0, std::collections::BTreeSet::new());
    for first in 0..4 {
        for second in (0..4).filter(|second| *second != first) {
            for third in (0..4).filter(|third| *third != first && *third != second) {
                let order =
                    [first, second, third, 6 - first - second - third].map(|index| lines[index]);
                let policy = format!("{}g, ann, staff\ng, bob, staff\n", order.concat());
                counts.insert(alike(&with_roles(PRIORITY, BY_ROLE), &policy).0);
                orders += 1;
            }
        }
    }
    assert_eq!((orders, counts.into_iter().collect::<Vec<_>>()), (24, vec![0, 1, 2]));
}

/// A comparison that cannot fail would show nothing.
#[test]
fn a_wrong_import_is_found() {
    let (model, policy) = (
        with_roles(ALLOW_AND_DENY, BY_ROLE),
        "p, ann, wiki, read, allow\np, bob, wiki, read, deny\n",
    );
    let pools = pools(&model, policy);
    let sound = converted(&model, policy);
    assert!(compare(&sound, &model, policy, &pools).is_ok());
    let mut without = converted(&model, policy);
    without.rules.remove(0);
    assert!(compare(&without, &model, policy, &pools).is_err());
    let mut everybody = converted(&model, policy);
    everybody.rules[0].sub = "*".to_owned();
    assert!(compare(&everybody, &model, policy, &pools).is_err());
}

#[test]
fn tokens_with_roles_keep_working() {
    let rules = converted(
        &with_roles(ALLOW_OVERRIDE, BY_ROLE),
        "p, admin, wiki, read, allow\ng, ann, admin\ng, ann, admin\n",
    );
    let subjects: Vec<_> = rules.rules.iter().map(|rule| &*rule.sub).collect();
    assert_eq!(subjects, ["admin", "ann"]);
    // A model without roles asks for the subject alone: no rule, which a role of this name would match.
    let names = converted(&plain(ALLOW_OVERRIDE, PLAIN), "p, admin, wiki, read, allow\n");
    assert_eq!((names.rules.len(), names.policies.len()), (0, 1));
    assert!(!names.policies[0].rule_data.to_string().contains("request.roles"));
}
