//! Parts of models and lines that have no exact translation: each is named by its line.

use super::super::model::Model;
use super::support::*;

#[test]
fn lines_that_have_no_translation_are_named() {
    let roles = with_roles(ALLOW_AND_DENY, BY_ROLE);
    let of = |function: &str| {
        plain(
            ALLOW_OVERRIDE,
            &format!("r.sub == p.sub && {function}(r.obj, p.obj) && r.act == p.act"),
        )
    };
    let priority = with_roles(PRIORITY, BY_ROLE);
    let explicit =
        model("sub, obj, act", "priority, sub, obj, act, eft", "g = _, _\n", PRIORITY, BY_ROLE);
    let rules =
        model("sub, obj, act", "rule, act", "", ALLOW_OVERRIDE, "eval(p.rule) && r.act == p.act");
    let ok = "p, ann, wiki, read, allow";
    let chain: String = (0..12).map(|n| format!("g, m{}, m{n}\n", n + 1)).collect();
    for (model, policy, line, reason) in [
        (&roles, format!("\n# x\n{ok}\np, ann, wiki:read, read, allow"), 4, "as in line 3"),
        (&roles, "p, , wiki, read, allow".into(), 1, "1 to 256 characters"),
        (&roles, "p, ann, wiki, read".into(), 1, "expected 4 values after `p`, not 3"),
        (&roles, "p2, ann, wiki, read, allow".into(), 1, "starts with `p` or `g`, not `p2`"),
        (&roles, "g, ann, staff, one".into(), 1, "expected 2 values after `g`, not 3"),
        (&roles, format!("{chain}p, m0, wiki, read, allow"), 13, "more than 9 other roles"),
        (&roles, "p, ann , wiki, read, allow".into(), 1, "the white space after `ann`; remove it"),
        (&roles, "p, \"ann, wiki, read".into(), 1, "closes the value"),
        (&roles, "p, \"ann\"x, wiki, read".into(), 1, "expected `,` after a quoted value, not `x"),
        (&priority, format!("{ok}\n{ok}"), 2, "the line occurs twice"),
        (&explicit, "p, high, ann, wiki, read, allow".into(), 1, "expected an integer"),
        (&of("keyMatch4"), "p, ann, /a/{id}/b/{id}, read, allow".into(), 1, "`id` occurs twice"),
        (&of("keyMatch3"), "p, ann, /{a}-{b}, read, allow".into(), 1, "two names in one segment"),
        (&of("keyMatch2"), "p, ann, /a|/b, read, allow".into(), 1, "a line for each alternative"),
        (
            &of("keyMatch5"),
            "p, ann, /a(b)?, read, allow".into(),
            1,
            "signs of a regular expression",
        ),
        (&of("globMatch"), "p, ann, /a/**, read, allow".into(), 1, "read differently"),
        (
            &of("globMatch"),
            "p, ann, /a/[!b], read, allow".into(),
            1,
            "a class that is not translated",
        ),
        (
            &of("regexMatch"),
            r"p, ann, \bdata\b, read, allow".into(),
            1,
            "`\\b` means something else",
        ),
        (&of("regexMatch"), r"p, ann, [a&&b], read, allow".into(), 1, "`&&` in a class"),
        (&of("regexMatch"), r"p, ann, (a, read, allow".into(), 1, "the policy"),
        (
            &of("ipMatch"),
            "p, ann, 10.0.0.0/99, read, allow".into(),
            1,
            "neither an address nor a network",
        ),
        (
            &of("allMatch"),
            "p, ann, data, read, allow".into(),
            1,
            "the function `allMatch` is not known",
        ),
        (
            &of("regexMatch"),
            "p, ann, chart:r.*, read, allow\np, ann, data, read, allow".into(),
            1,
            "import the two kinds",
        ),
        (
            &of("regexMatch"),
            r"p, ann, v\\d+, read, allow".into(),
            1,
            r"implementations read `\\d` differently",
        ),
        (
            &of("isOwner"),
            "p, ann, data, read, allow".into(),
            1,
            "the function `isOwner` is not known",
        ),
        (
            &plain(ALLOW_OVERRIDE, "r.sub == p.sub && isOwner(r.sub, r.obj)"),
            "p, ann, data, read, allow".into(),
            1,
            "the function `isOwner` is not known",
        ),
        (
            &plain(ALLOW_OVERRIDE, "keyGet2(r.obj, p.obj, 'id') == r.sub"),
            "p, ann, /a/:id, read, allow".into(),
            1,
            "that `keyGet2` takes is compared with known texts only; send the part as an attribute",
        ),
        (
            &plain(ALLOW_OVERRIDE, "keyGet2(r.obj, p.obj, 'id') in (r.sub, 'ann')"),
            "p, ann, /a/:id, read, allow".into(),
            1,
            "a list has texts and numbers only",
        ),
        (
            &model(
                "sub, obj, act",
                "sub, act, eft",
                "g3 = _, _\n",
                ALLOW_OVERRIDE,
                "g3(r.sub, r.obj) && r.act == p.act",
            ),
            "p, ann, read, allow".into(),
            1,
            "`g3` asks about two values of the request",
        ),
        (
            &of("keyMatch2"),
            "p, ann, /my docs/:id, read, allow".into(),
            1,
            "a pattern has no form for that; write a line for each object",
        ),
        (
            &with_domains(ALLOW_OVERRIDE, IN_DOMAIN).replace("dom", "area"),
            "p, ann, one, wiki, read, allow".into(),
            1,
            "rename the column of requests to `dom`",
        ),
        (&rules, "p, r.sub.Age + 1 > 5, read".into(), 1, "`+` puts values together"),
        (&rules, "p, r.sub.Age - 1 > 5, read".into(), 1, "`-` puts values together"),
        (&rules, "p, r.sub.Age = 5, read".into(), 1, "`r.sub.Age = 5`: "),
        (&rules, "p, r.sub > 5, read".into(), 1, "compare an attribute instead"),
        (&rules, "p, eval(p.rule), read".into(), 1, "cannot evaluate another rule"),
        (&rules, "p, r.owner == r.sub, read".into(), 1, "has no column `owner`"),
    ] {
        let faults = converted(model, &policy).faults;
        assert!(!faults.is_empty(), "{policy}");
        assert_eq!(faults[0].line, Some(line), "{policy}\n{faults:?}");
        assert!(faults[0].reason.contains(reason), "{policy}\n{faults:?}");
    }
}

/// A line that is skipped becomes nothing, and the others keep their order.
#[test]
fn a_refused_line_is_left_out() {
    let policy = "p, ann, wiki, read, allow\np, bob, wiki:read, read, allow\n";
    let one = converted(&with_roles(ALLOW_AND_DENY, BY_ROLE), policy);
    assert_eq!((one.faults.len(), one.rules.len(), &*one.rules[0].sub), (1, 1, "ann"));
    let policy = "p, ann, wiki, read, allow\np, ann, wiki, read, deny\np, ann, wiki, read, allow\n";
    let converted = converted(&with_roles(PRIORITY, BY_ROLE), policy);
    let kept: Vec<_> = converted
        .policies
        .iter()
        .map(|policy| (policy.effect.to_string(), policy.priority))
        .collect();
    assert_eq!(
        (converted.faults.len(), kept),
        (1, vec![("allow".to_owned(), 2), ("deny".to_owned(), 1)])
    );
}

#[test]
fn models_that_have_no_translation_are_refused() {
    let sound = with_roles(ALLOW_OVERRIDE, BY_ROLE);
    for (from, to, line, reason) in [
        ("r = sub, obj, act", "r = sub, obj, sub", Some(2), "each once, not `sub`"),
        (
            "r = sub, obj, act",
            "r = sub, user, act",
            Some(2),
            "`user` means the same as an earlier column",
        ),
        ("r = sub, obj, act", "r = sub, obj, act, op", Some(2), "an earlier column, `act`"),
        ("act, eft\n", "act, eft\np2 = sub, act\n", Some(5), "import it as a model of its own"),
        ("act, eft\n", "act, eft\np = sub, obj, act\n", Some(5), "`p` occurs twice"),
        ("p = sub, obj, act, eft\n", "p\n", Some(4), "expected `key = value`"),
        (
            "[policy_definition]\np = sub, obj, act, eft\n",
            "",
            None,
            "`p = …` in `[policy_definition]` is missing",
        ),
        ("g = _, _", "g = _", Some(6), "expected `_, _` or `_, _, _`"),
        (
            ALLOW_OVERRIDE,
            "subjectPriority(p.eft) || deny",
            Some(8),
            "number the lines by a column `priority`",
        ),
        (ALLOW_OVERRIDE, "some(where (p.eft == deny))", Some(8), "use one of Casbin's four"),
        ("r.obj == p.obj", "r.obj = p.obj", Some(10), "expected"),
        ("r.obj == p.obj", "(r.obj == p.obj", Some(10), "expected `)`"),
        ("r.obj == p.obj", "r.obj == p.obj + '/x'", Some(10), "`+` puts values together"),
        ("r.obj == p.obj", "{ let x = 1 }", Some(10), "write one expression"),
    ] {
        assert!(sound.contains(from), "{from}");
        let model = sound.replacen(from, to, 1);
        let faults = Model::parse(&model).map(|_| ()).expect_err(&model);
        assert_eq!(faults[0].line, line, "{model}{faults:?}");
        assert!(faults[0].reason.contains(reason), "{model}{faults:?}");
    }
    let customized =
        with_roles(PRIORITY, BY_ROLE).replace("act, eft\n", "act, eft, customized_priority\n");
    let faults = Model::parse(&customized).map(|_| ()).expect_err(&customized);
    assert!(faults[0].reason.contains("rename the column to `priority`"), "{faults:?}");
    // All faults of a file at once.
    let many = sound
        .replace("g = _, _", "g = _")
        .replace("[matchers]\nm = ", "[matchers]\nm = && ")
        .replace("sub, obj, act\n", "\n");
    assert_eq!(Model::parse(&many).expect_err("faults").len(), 3);
}

#[test]
fn spellings_of_a_model_mean_the_same() {
    let sound = with_roles(ALLOW_AND_DENY, BY_ROLE);
    let policy =
        "p, staff, wiki, read, allow\np, bob, wiki, read, deny\ng, ann, staff\ng, bob, staff\n";
    let expected = converted(&sound, policy);
    for (from, to) in [
        (ALLOW_AND_DENY, "!some(where(p_eft==deny))&&some(where(p_eft==allow))"),
        (ALLOW_AND_DENY, "some(where (p.eft == allow)) && !some(where (p.eft == deny)) ; both"),
        ("r = sub, obj, act", "r = sub,obj , act # who, what, how"),
        ("&& r.act", "\\\n  && r.act"),
        (BY_ROLE, "r.act == p.act && (p.obj == r.obj) && g(r.sub,p.sub)"),
    ] {
        assert!(sound.contains(from), "{from}");
        let model = sound.replacen(from, to, 1);
        assert_eq!(converted(&model, policy).rules, expected.rules, "{model}");
    }
    let renamed = sound
        .replace("r = sub, obj, act", "r = user, path, method")
        .replace("r.sub", "r.user")
        .replace("r.obj", "r.path")
        .replace("r.act", "r.method");
    assert_eq!(converted(&renamed, policy).rules, expected.rules);
}
