//! Rights that depend on a domain.

use super::super::LintCode;
use super::{lint, policy, tenant};

const IN_SALES: &str = "- {sub: reader, dom: sales, obj: wiki:read, act: read, effect: allow}\n";

/// Returns the findings about domains in a folder with these rules and policies, without notes.
fn findings(rules: &str, policies: &[String]) -> String {
    let none = ["[]\n".to_owned()];
    let policies = if policies.is_empty() { &none } else { policies };
    let resources = "- {name: wiki:read, defaultRoles: [reader]}\n- {name: blog:read}\n";
    let folder = tenant(&[
        ("resources.yaml", resources),
        ("rules.yaml", rules),
        ("policies.yaml", &policies.concat()),
    ]);
    let (_, out, err) = lint(folder.path(), |arguments| arguments.allow = vec![LintCode::NoCase]);
    assert_eq!(err, "");
    out
}

const NOTHING: &str = "0 errors, 0 warnings, 0 notes in 1 folder\n";

#[test]
fn a_rule_in_a_domain_has_the_policy_that_ties_the_object_as_its_fix() {
    let expected = "\
rules.yaml:1:3: warning DOMAIN_NOT_TIED: the rule `reader, sales, wiki:read, read` depends on the domain, and nothing ties a `wiki` \
        to one: a right in one domain is a right on every `wiki`
    send `resource.project` with each check, and add to policies.yaml `- {name: \"wiki-in-domain\", resource: \"wiki:*\", \
        effect: deny, priority: 100, when: \"!((resource.project == request.domain) ?? true)\"}`
0 errors, 1 warning, 0 notes in 1 folder
";
    let found = findings(IN_SALES, &[]);
    assert_eq!(found, expected);
    let advice = found.lines().nth(1).expect("advice");
    let (_, fix) = advice.rsplit_once("policies.yaml `").expect("a policy");
    let fix = fix.trim_end_matches('`').to_owned() + "\n";
    assert_eq!(findings(IN_SALES, &[fix]), NOTHING);
}

#[test]
fn rules_without_a_domain_or_with_a_tie_have_no_finding() {
    let tie = |effect, priority, when| policy("tie", effect, priority, when);
    let deny = |when| tie("deny", 50, when);
    for (rules, policies) in [
        // The domain of the tenant itself, and all domains.
        ("- {sub: reader, obj: blog:read, act: read, effect: allow}\n", vec![]),
        ("- {sub: reader, dom: '*', obj: blog:read, act: read, effect: allow}\n", vec![]),
        (IN_SALES, vec![deny("!((resource.team == request.domain) ?? true)")]),
        (IN_SALES, vec![deny("exists(resource.teams) && !(request.domain in resource.teams)")]),
        // A policy that compares the two is tied itself.
        ("[]\n", vec![tie("allow", 1, "resource.team == request.domain && user.on == true")]),
        (
            "[]\n",
            vec![policy("off", "allow", 1, r#"request.domain == "x""#) + "  enabled: false\n"],
        ),
        (
            "[]\n",
            vec![
                policy("members", "allow", 50, "request.domain in user.teams"),
                deny("!((resource.team == request.domain) ?? true)"),
            ],
        ),
    ] {
        assert_eq!(findings(rules, &policies), NOTHING, "{rules} {policies:?}");
    }
}

#[test]
fn rules_without_a_tie_are_found_once_for_each_object() {
    let tie = policy("tie", "deny", 50, "!((resource.team == request.domain) ?? true)");
    for (rules, policies, place, object) in [
        // The tie is about another object, is outranked, or allows.
        (
            "- {sub: a, dom: x, obj: '*', act: read, effect: allow}\n",
            vec![tie.clone()],
            "rules",
            "blog",
        ),
        (
            "[]\n",
            vec![policy("members", "allow", 51, "request.domain in user.teams"), tie.clone()],
            "policies",
            "wiki",
        ),
        (
            IN_SALES,
            vec![policy("allow", "allow", 1, "resource.team == request.domain")],
            "rules",
            "wiki",
        ),
    ] {
        let found = findings(rules, &policies);
        assert!(
            found.starts_with(&format!("{place}.yaml:1:3: warning DOMAIN_NOT_TIED: ")),
            "{found}"
        );
        assert!(found.contains(&format!("ties a `{object}` to one")), "{found}");
        assert!(
            found.contains("resource.team == request.domain"),
            "the name that ties others: {found}"
        );
        assert!(found.contains(" 1 warning, "), "{found}");
    }
    let twice = IN_SALES.to_owned() + &IN_SALES.replace("sales", "legal");
    assert!(findings(&twice, &[]).contains(" 1 warning, "));
}

#[test]
fn the_fix_has_the_name_of_the_tenant_and_beats_its_allows() {
    let member = policy("member", "allow", 700, "resource.team in user.teams");
    let owner = policy("owner", "allow", 1, "resource.owner == user.id");
    let found = findings(IN_SALES, &[owner, member]);
    assert!(
        found.contains("priority: 700, when: \"!((resource.team == request.domain)"),
        "{found}"
    );
}
