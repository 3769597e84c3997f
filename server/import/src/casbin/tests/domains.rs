//! Roles in domains: the import grows with the lines, not with the product of lines and domains.

use super::support::*;

/// A matcher of lines that hold in every domain.
const ANYWHERE: &str = "g(r.sub, p.sub, r.dom) && r.obj == p.obj && r.act == p.act";

/// Returns a role with one member in each of `count` domains, with a line before each.
fn domains(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| format!("{}g, u{n}, clerk, d{n}\n", line(n))).collect()
}

#[test]
fn roles_in_many_domains_become_rules_of_their_domain() {
    let lines = |n: usize| format!("p, clerk, d{n}, o, read, allow\n");
    let matchers = [
        IN_DOMAIN,
        BY_PATTERN,
        "g(r.sub, p.sub, r.dom) && (p.dom == '*' || r.dom == p.dom) && r.obj == p.obj && r.act == p.act",
    ];
    for matcher in matchers {
        let model = with_domains(ALLOW_AND_DENY, matcher);
        for count in [3, 63, 64, 1_000] {
            let converted = converted(&model, &domains(count, lines));
            assert_eq!(converted.faults, [], "{matcher}");
            // The role, and its member.
            assert_eq!(
                (converted.rules.len(), converted.policies.len()),
                (2 * count, 0),
                "{matcher}"
            );
        }
        assert_eq!(alike(&model, &domains(3, lines)).0, 6, "{matcher}");
    }
}

#[test]
fn a_line_of_every_domain_becomes_a_rule_for_each_domain_of_its_role() {
    let model =
        model("sub, dom, obj, act", "sub, obj, act", "g = _, _, _\n", ALLOW_OVERRIDE, ANYWHERE);
    let lines =
        |n: usize| if n == 0 { "p, clerk, o, read\np, none, o, read\n" } else { "" }.to_owned();
    for count in [3, 64, 1_000] {
        let converted = converted(&model, &domains(count, lines));
        assert_eq!(converted.faults, []);
        // The roles in every domain; in each domain of the first the role and its member.
        assert_eq!((converted.rules.len(), converted.policies.len()), (2 + 2 * count, 0));
    }
    assert_eq!(alike(&model, &domains(3, lines)).0, 11);
}

/// A function leaves policies, which stay few.
#[test]
fn what_no_rule_says_stays_one_policy_for_a_line() {
    let matcher =
        format!("{ANYWHERE} && regexMatch(r.act, p.act)").replace("r.act == p.act && ", "");
    let model =
        model("sub, dom, obj, act", "sub, obj, act", "g = _, _, _\n", ALLOW_OVERRIDE, &matcher);
    let policy =
        domains(80, |n| if n == 0 { "p, clerk, o, read\n".to_owned() } else { String::new() });
    assert_eq!(converted(&model, &policy).policies.len(), 1);
    assert!(alike(&model, &policy.replace("d7", "d8")).0 > 0);
}

/// With patterns of domains a way to a member may lead through several domains.
#[test]
fn patterns_of_domains_join_roles_of_several_domains() {
    let model = with_domains(ALLOW_AND_DENY, BY_PATTERN);
    let policy = "p, admin, *, o, read, allow\ng, staff, admin, *\ng, ann, staff, one\ng, bob, staff, two\n\
        g, eve, admin, three\n";
    assert!(alike(&model, policy).0 > 0);
}

#[test]
fn a_call_of_key_match_makes_domains_of_any_name_patterns() {
    let model = with_domains(ALLOW_AND_DENY, BY_PATTERN);
    let policy = "p, banned, *, o, read, deny\np, ann, one, o, read, allow\ng, ann, banned, *\n";
    let expected = converted(&model, policy);
    let renamed = model.replace("dom", "tenant");
    let found = converted(&renamed, policy);
    assert_eq!((found.rules, found.policies), (expected.rules, expected.policies));
    assert!(found.notes.iter().any(|note| note.reason.contains("keyMatch(r.tenant, p.tenant)")));
}
