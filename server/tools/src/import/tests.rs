//! Imported rules and policies decide as Casbin does, for every subject, domain, object and action of the file and for
//! strangers. Parts that Portcullis cannot express are named by their line.

use std::collections::BTreeSet;

use casbin::{CoreApi, DefaultModel, Enforcer, StringAdapter};
use chrono::DateTime;
use proptest::collection::vec;
use proptest::sample::select;
use proptest::test_runner::{Config as ProptestConfig, TestRunner};

use super::requests::{Decider, Request};
use super::*;

const REQUEST: &str = "[request_definition]\nr = sub, obj, act\n";
const POLICY: &str = "[policy_definition]\np = sub, obj, act\n";
const POLICY_WITH_EFFECT: &str = "[policy_definition]\np = sub, obj, act, eft\n";
const ROLES: &str = "[role_definition]\ng = _, _\n";
const ALLOW_OVERRIDE: &str = "[policy_effect]\ne = some(where (p.eft == allow))\n";
const ALLOW_AND_DENY: &str =
    "[policy_effect]\ne = some(where (p.eft == allow)) && !some(where (p.eft == deny))\n";
const DENY_OVERRIDE: &str = "[policy_effect]\ne = !some(where (p.eft == deny))\n";
const PRIORITY: &str = "[policy_effect]\ne = priority(p.eft) || deny\n";
const PLAIN: &str = "[matchers]\nm = r.sub == p.sub && r.obj == p.obj && r.act == p.act\n";
const BY_ROLE: &str = "[matchers]\nm = g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act\n";
const DOMAINS: &str = "[request_definition]\nr = sub, dom, obj, act\n\
    [policy_definition]\np = sub, dom, obj, act\n[role_definition]\ng = _, _, _\n\
    [policy_effect]\ne = some(where (p.eft == allow))\n\
    [matchers]\nm = g(r.sub, p.sub, r.dom) && r.dom == p.dom && r.obj == p.obj && r.act == p.act\n";

fn converted(model: &str, policy: &str) -> Converted {
    let model = Model::parse(model).unwrap_or_else(|faults| panic!("{faults:?} in\n{model}"));
    conversion::convert(&model, lines::read(policy))
}

/// Returns the enforcer of casbin, whose decisions are compared.
fn enforcer(model: &str, policy: &str) -> Enforcer {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let model = DefaultModel::from_str(model).await.expect("a model");
        Enforcer::new(model, StringAdapter::new(policy)).await.expect("a policy")
    })
}

/// Compares every combination of what the lines mention, strangers included, and gives how many were
/// allowed and asked.
#[track_caller]
fn alike(model: &str, policy: &str) -> (usize, usize) {
    let converted = converted(model, policy);
    assert_eq!(converted.faults, [], "{policy}");
    let (enforcer, with_domains) = (enforcer(model, policy), model.contains("sub, dom"));
    let decider = Decider::new(&converted).expect("records that compile");
    let mut names: [BTreeSet<&str>; 4] = Default::default();
    let [subjects, domains, objects, actions] = &mut names;
    for line in policy.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let values: Vec<_> = line.split(',').map(|value| value.trim().trim_matches('"')).collect();
        match &*values {
            ["p", sub, dom, obj, act, ..] if with_domains => {
                subjects.insert(sub);
                domains.insert(dom);
                objects.insert(obj);
                actions.insert(act);
            }
            ["p", sub, obj, act, ..] => {
                subjects.insert(sub);
                objects.insert(obj);
                actions.insert(act);
            }
            ["g", member, role, dom @ ..] => {
                subjects.extend([member, role]);
                domains.extend(dom);
            }
            _ => {}
        }
    }
    let [subjects, domains, objects, actions] = names;
    let known = |names: BTreeSet<&str>, stranger: &str| -> Vec<String> {
        let names = names.into_iter().filter(|name| !name.contains('*')).map(str::to_owned);
        names.chain([stranger.to_owned()]).collect()
    };
    let domains = if with_domains { known(domains, "elsewhere") } else { vec!["acme".to_owned()] };
    let (mut allowed, mut asked) = (0, 0);
    for sub in known(subjects, "stranger") {
        for dom in &domains {
            for obj in known(objects.clone(), "thing") {
                for act in known(actions.clone(), "destroy") {
                    let expected = if with_domains {
                        enforcer.enforce((&sub, dom, &obj, &act))
                    } else {
                        enforcer.enforce((&sub, &obj, &act))
                    };
                    let expected = expected.expect("a decision");
                    let request = Request {
                        subject: &sub,
                        domain: with_domains.then_some(dom),
                        object: &obj,
                        action: &act,
                        attributes: Vec::new(),
                    };
                    let ours = decider.allows(&request, DateTime::UNIX_EPOCH).expect("a check");
                    assert_eq!(
                        ours, expected,
                        "{sub}, {dom}, {obj}, {act} in\n{policy}\n{converted:#?}"
                    );
                    allowed += usize::from(ours);
                    asked += 1;
                }
            }
        }
    }
    (allowed, asked)
}

/// The models that Casbin publishes as examples, as far as rules express them.
#[test]
fn the_examples_decide_alike() {
    let people = "p, alice, data1, read\np, bob, data2, write\n";
    let roles = "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\n\
        p, data2_admin, data2, write\n\ng, alice, data2_admin\n";
    let basic = [REQUEST, POLICY, ALLOW_OVERRIDE, PLAIN].concat();
    assert_eq!(alike(&basic, people), (2, 27));
    let root = basic.replace("p.act\n", "p.act || r.sub == \"root\"\n");
    assert_eq!(alike(&root, "p, root, data1, read\np, alice, data1, read\n").0, 5);
    assert_eq!(alike(&root, "").0, 0, "a stranger; there is nobody else");
    let rbac = [REQUEST, POLICY, ROLES, ALLOW_OVERRIDE, BY_ROLE].concat();
    assert_eq!(alike(&rbac, roles), (6, 36));
    let domains = "p, admin, domain1, data1, read\np, admin, domain1, data1, write\n\
        p, admin, domain2, data2, read\np, admin, domain2, data2, write\n\
        g, alice, admin, domain1\ng, bob, admin, domain2\n";
    assert_eq!(alike(DOMAINS, domains), (8, 108));
    let deny = [REQUEST, POLICY_WITH_EFFECT, ROLES, ALLOW_AND_DENY, BY_ROLE].concat();
    let denied = "p, alice, data1, read, allow\np, bob, data2, write, allow\n\
        p, data2_admin, data2, read, allow\np, data2_admin, data2, write, allow\n\
        p, alice, data2, write, deny\ng, alice, data2_admin\n";
    assert_eq!(alike(&deny, denied), (5, 36));
    let not_deny = [REQUEST, POLICY_WITH_EFFECT, ROLES, DENY_OVERRIDE, BY_ROLE].concat();
    assert_eq!(alike(&not_deny, denied), (35, 36));
    let first = [REQUEST, POLICY_WITH_EFFECT, ROLES, PRIORITY, BY_ROLE].concat();
    let ordered = "p, alice, data2, write, deny\np, data2_admin, data2, write, allow\n\
        p, bob, data1, read, allow\ng, alice, data2_admin\n";
    assert_eq!(alike(&first, ordered), (2, 36));
}

#[test]
fn other_models_decide_alike() {
    // Roles of roles, a circle, and a person who is a role.
    let rbac = [REQUEST, POLICY, ROLES, ALLOW_OVERRIDE, BY_ROLE].concat();
    let chain = "p, staff, wiki, read\np, boss, wiki, write\np, ann, wiki, delete\n\
        g, ann, boss\ng, boss, staff\ng, bob, staff\ng, eve, ann\ng, staff, circle\ng, circle, boss\n";
    assert!(alike(&rbac, chain).0 > 10);
    // Roles in domains, and a line for every domain.
    let stars = DOMAINS.replace("r.dom == p.dom", "(r.dom == p.dom || p.dom == '*')");
    let policy = "p, admin, *, wiki, read\np, admin, one, wiki, write\np, bob, *, wiki, list\n\
        g, ann, admin, one\ng, bob, admin, two\ng, eve, ann, two\n";
    assert!(alike(&stars.replace('\'', "\""), policy).0 > 5);
    assert_eq!(
        converted(&stars, policy).rules,
        converted(&stars.replace('\'', "\""), policy).rules
    );
    // Roles that hold in every domain.
    let everywhere = DOMAINS.replace(", r.dom)", ")").replace("_, _, _", "_, _");
    let policy =
        "p, admin, one, wiki, read\np, guest, two, wiki, read\ng, ann, admin\ng, ann, guest\n";
    assert!(alike(&everywhere, policy).0 >= 4);
    // Wildcards, objects with verbs, and a value in quotes.
    let wild = [
        REQUEST,
        POLICY,
        ROLES,
        ALLOW_OVERRIDE,
        "[matchers]\nm = g(r.sub, p.sub) \\\n  && keyMatch(r.obj, p.obj) \\\n  && (p.act == \"*\" || r.act == p.act)\n",
    ]
    .concat();
    let policy = "# comment\n\np, ann, *, read\np,bob, chart:*, *\np, eve, chart:read, \"read\"\n\
        p, eve, chart:write, write\np, dan, data1, *\np, dan, data2, read\ng, gus, bob\n";
    assert!(alike(&wild, policy).0 > 10);
    // Deny for a role, and for everybody's own lines.
    let deny = [REQUEST, POLICY_WITH_EFFECT, ROLES, ALLOW_AND_DENY, BY_ROLE].concat();
    let policy = "p, ann, wiki, read, allow\np, staff, wiki, read, deny\np, bob, wiki, read, allow\n\
        p, staff, wiki, write, allow\ng, ann, staff\n";
    assert_eq!(alike(&deny, policy).0, 3);
    // Deny lines that decide nothing.
    let allow = [REQUEST, POLICY_WITH_EFFECT, ROLES, ALLOW_OVERRIDE, BY_ROLE].concat();
    assert!(alike(&allow, policy).0 > 3);
    assert_eq!(converted(&allow, policy).without_effect, 1);
}

/// Policies of a few names, so that lines, roles and domains meet in all ways.
#[test]
fn any_policy_decides_alike_or_is_refused() {
    let by_role = |effect: &str| [REQUEST, POLICY_WITH_EFFECT, ROLES, effect, BY_ROLE].concat();
    let in_domains = |effect: &str| {
        let model = DOMAINS.replacen(ALLOW_OVERRIDE, effect, 1);
        model.replace("p = sub, dom, obj, act", "p = sub, dom, obj, act, eft")
    };
    let effects = [ALLOW_OVERRIDE, ALLOW_AND_DENY, DENY_OVERRIDE, PRIORITY];
    let models: Vec<_> = effects.iter().flat_map(|e| [by_role(e), in_domains(e)]).collect();
    let name = || select(vec!["ann", "bob", "staff", "boss"]);
    let two = |one, other| select(vec![one, other]);
    let thing = (two("data1", "data2"), two("read", "write"), two("allow", "deny"));
    let lines = vec((name(), two("one", "two"), thing), 0..7);
    let roles = vec((name(), name(), two("one", "two")), 0..5);
    let tally = std::cell::RefCell::new([[0_usize; 3]; 8]);
    let config = ProptestConfig { cases: 2_400, failure_persistence: None, ..Default::default() };
    let outcome = TestRunner::new(config).run(&(0..models.len(), lines, roles), |case| {
        let (number, lines, roles) = case;
        let (model, with_domains) = (&models[number], number % 2 == 1);
        let dom = |dom: &str| if with_domains { format!(" {dom},") } else { String::new() };
        let mut policy = String::new();
        for (sub, domain, (obj, act, effect)) in lines {
            policy += &*format!("p, {sub},{} {obj}, {act}, {effect}\n", dom(domain));
        }
        for (member, role, domain) in roles {
            let domain = if with_domains { format!(", {domain}") } else { String::new() };
            policy += &*format!("g, {member}, {role}{domain}\n");
        }
        let counts = &mut tally.borrow_mut()[number];
        if converted(model, &policy).faults.is_empty() {
            let (allowed, asked) = alike(model, &policy);
            counts[0] += allowed;
            counts[1] += asked;
        } else {
            counts[2] += 1;
        }
        Ok(())
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    for (number, [allowed, asked, refused]) in tally.into_inner().into_iter().enumerate() {
        println!("{allowed} of {asked} allowed, {refused} policies refused by\n{}", models[number]);
        assert!(
            allowed * 100 > asked && allowed < asked,
            "{allowed} of {asked}: {}",
            models[number]
        );
        // Only where the first line decides can a policy be beyond rules.
        assert_eq!(refused > 0, number >= 6, "{refused} of {}", models[number]);
    }
}

/// Every order of some lines of which each overlaps others: either it is refused, or decides alike.
#[test]
fn an_order_that_decides_is_refused() {
    let model = [REQUEST, POLICY_WITH_EFFECT, ROLES, PRIORITY, BY_ROLE].concat();
    let lines = [
        "p, ann, wiki, read, allow\n",
        "p, staff, wiki, read, deny\n",
        "p, bob, wiki, read, allow\n",
        "p, bob, blog, read, deny\n",
    ];
    let (mut imported, mut refused) = (0, 0);
    for first in 0..4 {
        for second in (0..4).filter(|second| *second != first) {
            for third in (0..4).filter(|third| *third != first && *third != second) {
                let fourth = 6 - first - second - third;
                let order = [first, second, third, fourth].map(|index| lines[index]).concat();
                let policy = format!("{order}g, ann, staff\n");
                if converted(&model, &policy).faults.is_empty() {
                    alike(&model, &policy);
                    imported += 1;
                } else {
                    refused += 1;
                }
            }
        }
    }
    assert_eq!((imported, refused), (12, 12));
}

#[test]
fn tokens_with_roles_keep_working() {
    let rbac = [REQUEST, POLICY, ROLES, ALLOW_OVERRIDE, BY_ROLE].concat();
    let rules = converted(&rbac, "p, admin, wiki, read\ng, ann, admin\ng, ann, admin\n").rules;
    let subjects: Vec<_> = rules.iter().map(|rule| &*rule.sub).collect();
    assert_eq!(subjects, ["admin", "ann"]);
}

#[test]
fn the_yaml_is_read_back() {
    let model = [REQUEST, POLICY, ALLOW_OVERRIDE, PLAIN].concat();
    let model = model.replace("r.obj == p.obj", "keyMatch(r.obj, p.obj)");
    let policy =
        "p, 0042, *, read\np, yes, data1, \"a: #b\"\np, \"a, \"\"b\"\"\", x:*, no\np, ä, null, ~\n";
    let refused = converted(&model, policy);
    assert_eq!(refused.faults.len(), 1, "an action with white space is no verb");
    let policy = policy.replace("\"a: #b\"", "a#b");
    let converted = converted(&model, &policy);
    assert_eq!(converted.faults, []);
    let text = yaml(&converted.rules).expect("YAML");
    let read: Vec<serde_json::Value> = serde_saphyr::from_str(&text).expect(&text);
    assert_eq!(serde_json::json!(read), serde_json::json!(converted.rules), "{text}");
    assert_eq!(read[2]["sub"], "a, \"b\"");
    assert!(read.iter().all(|rule| rule["act"].is_string()), "{text}");
}

#[test]
fn lines_that_no_rule_expresses_are_named() {
    let plain = [REQUEST, POLICY_WITH_EFFECT, ROLES, ALLOW_AND_DENY, BY_ROLE].concat();
    let keys = plain.replace("r.obj == p.obj", "keyMatch(r.obj, p.obj)");
    let unquoted = [REQUEST, POLICY, ALLOW_OVERRIDE, PLAIN].concat();
    let priority = [REQUEST, POLICY_WITH_EFFECT, ROLES, PRIORITY, BY_ROLE].concat();
    let ok = "p, ann, wiki, read, allow";
    let chain: String = (0..12).map(|n| format!("g, m{}, m{n}\n", n + 1)).collect();
    for (model, policy, line, reason) in [
        (
            &plain,
            format!("\n# x\n{ok}\np, bob, wiki, *, allow"),
            4,
            "`*`: a `*` is a plain character",
        ),
        (&plain, "p, *, wiki, read, allow".into(), 1, "plain character"),
        (&plain, "p, ann, wi*, read, allow".into(), 1, "plain character"),
        (&plain, "p, ann, wiki:*, read, allow".into(), 1, "plain character"),
        (&plain, format!("{ok}\ng, a*, staff"), 2, "plain character"),
        (
            &keys,
            "p, ann, /data/*, read, allow".into(),
            1,
            "object patterns that Portcullis supports are `*` and `<name>:*`",
        ),
        (&keys, "p, ann, a*:*, read, allow".into(), 1, "object patterns"),
        (&keys, format!("{ok}\np, ann, wiki:*, read, allow"), 2, "see line 1"),
        (
            &keys,
            "p, ann, a:*, read, allow\np, ann, a:b:read, read, allow".into(),
            2,
            "covers names",
        ),
        (
            &keys,
            "p, ann, a:b:read, read, allow\np, ann, a:*, read, allow".into(),
            2,
            "covers names",
        ),
        (&plain, format!("{ok}\np, ann, wiki:read, read, allow"), 2, "see line 1"),
        (&plain, "p, ann, wiki, a:b, allow".into(), 1, "become the verb"),
        (&plain, "p, ann, my wiki, read, allow".into(), 1, "`ann, my wiki:read, read`: at `/obj`"),
        (&plain, "p, , wiki, read, allow".into(), 1, "1 to 256 characters"),
        (&plain, "p, ann, wiki, read".into(), 1, "expected 4 values after `p`, not 3"),
        (&plain, "p, ann, wiki, read, maybe".into(), 1, "expected `allow` or `deny`, not `maybe`"),
        (&plain, "p2, ann, wiki, read, allow".into(), 1, "starts with `p` or `g`, not `p2`"),
        (&plain, "g, ann, staff, one".into(), 1, "expected 2 values after `g`, not 3"),
        (&plain, format!("{chain}p, m0, wiki, read, allow"), 13, "more than 9 other roles"),
        (&unquoted, "g, ann, staff".into(), 1, "the matcher does not use them"),
        (&unquoted, "p, \"ann, wiki, read".into(), 1, "closes the value"),
        (
            &unquoted,
            "p, \"ann\"x, wiki, read".into(),
            1,
            "expected `,` after a quoted value, not `x",
        ),
        (&priority, format!("{ok}\np, ann, wiki, read, deny"), 2, "which an earlier line allows"),
        (&priority, format!("{ok}\n{ok}"), 2, "the line occurs twice"),
    ] {
        let faults = converted(model, &policy).faults;
        assert_eq!(faults.len(), 1, "{policy}\n{faults:?}");
        assert_eq!(faults[0].line, Some(line), "{policy}\n{faults:?}");
        assert!(faults[0].reason.contains(reason), "{policy}\n{faults:?}");
    }
}

#[test]
fn models_that_no_rule_expresses_are_refused() {
    let sound = [REQUEST, POLICY, ROLES, ALLOW_OVERRIDE, BY_ROLE].concat();
    for (from, to, line, reason) in [
        ("r = sub, obj, act", "r = sub, obj", Some(2), "`act` is missing"),
        ("r = sub, obj, act", "r = sub, thing, act", Some(2), "`thing` is none of"),
        ("p = sub, obj, act", "p = sub, obj, obj", Some(4), "`obj` is none of"),
        ("p = sub, obj, act", "p = priority, sub, obj, act", Some(4), "`priority` is none of"),
        (
            "p = sub, obj, act",
            "p = sub, dom, obj, act",
            Some(2),
            "`[request_definition]` does not have `dom`",
        ),
        (
            "p = sub, obj, act\n",
            "p = sub, obj, act\np2 = sub, act\n",
            Some(5),
            "`p2` of `[policy_definition]`",
        ),
        (
            "p = sub, obj, act\n",
            "p = sub, obj, act\np = sub, obj, act\n",
            Some(5),
            "`p` occurs twice",
        ),
        ("p = sub, obj, act\n", "p\n", Some(4), "expected `key = value`"),
        (
            "[policy_definition]\np = sub, obj, act\n",
            "",
            None,
            "`p = …` in `[policy_definition]` is missing",
        ),
        ("g = _, _", "g = _", Some(6), "expected `_, _` or `_, _, _`"),
        ("g = _, _", "g = _, _, _", Some(10), "does not fit `[role_definition]`"),
        ("g = _, _\n", "g = _, _\ng2 = _, _\n", Some(7), "`g2` of `[role_definition]`"),
        (
            "some(where (p.eft == allow))",
            "subjectPriority(p.eft) || deny",
            Some(8),
            "the effect `subjectPriority",
        ),
        (
            "r.obj == p.obj",
            "keyMatch2(r.obj, p.obj)",
            Some(10),
            "`keyMatch2(r.obj,p.obj)` is not supported",
        ),
        ("r.obj == p.obj", "g2(r.obj, p.obj)", Some(10), "`g2(r.obj,p.obj)`"),
        ("r.obj == p.obj", "r.sub.Age > 18", Some(10), "`r.sub.Age>18`"),
        ("r.obj == p.obj", "r.obj == p.act", Some(10), "`r.obj==p.act`"),
        ("r.obj == p.obj", "r.act == p.act", Some(10), "`act` is compared twice"),
        (" && r.obj == p.obj", "", Some(10), "`obj` is not compared"),
        ("p.act\n", "p.act || r.obj == \"x\"\n", Some(10), "`r.obj==\"x\"`"),
        ("p.act\n", "p.act || eval(p.sub)\n", Some(10), "`eval(p.sub)`"),
        ("some(where (p.eft == allow))", "!some(where (p.eft == deny))", None, ""),
        ("p.act\n", "p.act || r.sub == 'root'\n", None, ""),
    ] {
        assert!(sound.contains(from), "{from}");
        let model = sound.replacen(from, to, 1);
        match Model::parse(&model) {
            Ok(_) => assert_eq!(reason, "", "{model}"),
            Err(faults) => {
                assert_eq!(faults.len(), 1, "{faults:?}");
                assert_eq!(faults[0].line, line, "{faults:?}");
                let named = !reason.is_empty() && faults[0].reason.contains(reason);
                assert!(named, "{faults:?}");
            }
        }
    }
}
