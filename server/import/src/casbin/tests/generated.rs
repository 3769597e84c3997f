//! Generated policies of a few names, so that lines, roles and domains meet in all ways.

use std::cell::RefCell;

use proptest::collection::vec;
use proptest::sample::select;
use proptest::test_runner::{Config as ProptestConfig, TestRunner};

use super::support::*;

/// The number of generated policies.
const CASES: u32 = 1_000;

#[test]
fn any_policy_decides_alike() {
    let effects = [ALLOW_OVERRIDE, ALLOW_AND_DENY, DENY_OVERRIDE, PRIORITY];
    let models: Vec<_> = effects
        .iter()
        .flat_map(|effect| {
            let in_domains = [IN_DOMAIN, BY_PATTERN].map(|matcher| with_domains(effect, matcher));
            [vec![with_roles(effect, BY_ROLE)], in_domains.into()].concat()
        })
        .collect();
    let name = || select(vec!["ann", "bob", "staff", "boss"]);
    let two = |one, other| select(vec![one, other]);
    let thing = (two("data1", "data2"), two("read", "write"), two("allow", "deny"));
    let domain = || select(vec!["one", "two", "o*", "*"]);
    let lines = vec((name(), domain(), thing), 0..13);
    let roles = vec((name(), name(), domain()), 0..5);
    let tally = RefCell::new([[0_usize; 3]; 12]);
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..Default::default() };
    let outcome = TestRunner::new(config).run(&(0..models.len(), lines, roles), |case| {
        let (number, lines, roles) = case;
        let (model, in_domains) = (&models[number], number % 3 > 0);
        let mut policy = String::new();
        for (sub, domain, (obj, act, effect)) in lines {
            let domain = if in_domains { format!(" {domain},") } else { String::new() };
            policy += &*format!("p, {sub},{domain} {obj}, {act}, {effect}\n");
        }
        for (member, role, domain) in roles {
            let domain = if in_domains { format!(", {domain}") } else { String::new() };
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
        let model = &models[number];
        assert!(allowed * 100 > asked && allowed < asked, "{allowed} of {asked}: {model}");
        // The same line twice is refused where the first line decides.
        assert_eq!(refused > 0, number >= 9, "{refused} of {model}");
    }
}

#[test]
fn any_matcher_decides_alike() {
    let parts = [
        "r.sub == p.sub",
        "g(r.sub, p.sub)",
        "r.sub == \"ann\"",
        "p.sub == \"*\"",
        "r.sub != p.sub",
        "!g(r.sub, p.sub)",
        "r.obj == p.obj",
        "keyMatch(r.obj, p.obj)",
        "keyMatch2(r.obj, p.obj)",
        "regexMatch(r.obj, p.obj)",
        "r.obj in [\"/data/1\", \"data\"]",
        "g2(r.obj, p.obj)",
        "r.act == p.act",
        "regexMatch(r.act, p.act)",
        "r.act == \"GET\"",
        "p.obj == \"data\"",
        "r.sub == r.act",
    ];
    let joins = ["&&", "||", "&& !", "|| !"];
    let matcher =
        (vec((select(parts.to_vec()), select(joins.to_vec())), 1..5), select(parts.to_vec()));
    let line = (
        select(vec!["ann", "bob", "staff", "*"]),
        select(vec!["/data/1", "/data/*", "/data/:id", "data", "things", "*"]),
        select(vec!["GET", "(GET)|(POST)", "POST"]),
        select(vec!["allow", "deny"]),
    );
    let effect = select(vec![ALLOW_OVERRIDE, ALLOW_AND_DENY, DENY_OVERRIDE, PRIORITY]);
    let tally = RefCell::new((0_usize, 0_usize, 0_usize));
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..Default::default() };
    let pools = [
        vec!["ann", "bob", "eve", "staff"],
        vec!["/data/1", "/data/1/2", "data", "other"],
        vec!["GET", "POST"],
    ]
    .map(|pool| pool.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let outcome = TestRunner::new(config).run(&(matcher, vec(line, 1..5), effect), |case| {
        let ((parts, last), lines, effect) = case;
        let first: String = parts.iter().map(|(part, join)| format!("{part} {join} (")).collect();
        let matcher = format!("p.eft != \"\" && ({first}{last}{})", ")".repeat(parts.len()));
        let model =
            model("sub, obj, act", "sub, obj, act, eft", "g = _, _\ng2 = _, _\n", effect, &matcher);
        let mut policy = "g, ann, staff\ng2, data, things\ng2, /data/1, things\n".to_owned();
        for (sub, obj, act, effect) in lines {
            policy += &*format!("p, {sub}, {obj}, {act}, {effect}\n");
        }
        let mut tally = tally.borrow_mut();
        let converted = converted(&model, &policy);
        // `*` alone is not a regular expression, and Casbin fails then.
        if !converted.faults.is_empty()
            || model.contains("regexMatch(r.obj") && policy.contains(", *, ")
        {
            tally.2 += 1;
            return Ok(());
        }
        match compare(&converted, &model, &policy, &pools) {
            Ok((allowed, asked)) => {
                tally.0 += allowed;
                tally.1 += asked;
                Ok(())
            }
            Err(difference) => Err(proptest::test_runner::TestCaseError::fail(difference)),
        }
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let (allowed, asked, refused) = tally.into_inner();
    println!("{allowed} of {asked} allowed, {refused} of {CASES} refused");
    assert!(allowed * 10 > asked && allowed < asked, "{allowed} of {asked}");
    assert!(refused * 2 < CASES as usize, "{refused}");
}
