//! Compares matchers with Casbin: the `casbin` crate and a plan decide the same expression and request.
//!
//! If every attribute is present and of a type that the matcher compares, both must agree; such cases are generated.
//! Otherwise Casbin is false or fails, and Portcullis is undetermined: a deny denies, an allow does not allow.
//! `undetermined_conditions_differ_from_casbin_as_documented` asserts these differences.
//!
//! Some cases are not generated, because casbin-rs differs from Casbin's reference implementation or cannot handle
//! them: fractions and integers beyond 32 bits; single quotes and lists in parentheses (written for the engine alone,
//! and compared as trees); a `:` without a name in `keyMatch2`; IPv4-mapped networks, which Portcullis reads as IPv4; a
//! network with host bits, which Portcullis refuses; a text that is not an address in `ipMatch`, at which Casbin panics.

mod generate;

use std::cell::RefCell;
use std::collections::BTreeMap;

use casbin::{CoreApi, DefaultModel, Enforcer, MemoryAdapter, MgmtApi};
use chrono::DateTime;
use portcullis_engine::{
    Check, CheckBody, Condition, Effect, Format, Plan, Policy, ResourcePattern, casbin as matcher,
    json,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::{Value, json};

use crate::effort::run;
use generate::{Expression, KINDS, Request, Style, expression, leaf, request, shape};

/// The number of matchers, and of requests for each.
const MATCHERS: u32 = 1_500;
const REQUESTS: usize = 20;

/// Makes a Casbin enforcer with this matcher and no policy, so that the matcher alone decides.
fn enforcer(matcher: &str) -> Enforcer {
    model(&format!(
        "[request_definition]\nr = sub, obj, act, dom\n\n[policy_definition]\np = sub\n\n\
         [policy_effect]\ne = some(where (p.eft == allow))\n\n[matchers]\nm = {matcher}\n"
    ))
}

fn model(text: &str) -> Enforcer {
    let build = async {
        let model = DefaultModel::from_str(text).await.expect("a model");
        Enforcer::new(model, MemoryAdapter::default()).await
    };
    block_on(build).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(work)
}

/// Returns the attributes under the engine's names: a nested attribute has a name with dots.
fn flat(prefix: &str, value: &Value, into: &mut serde_json::Map<String, Value>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => flat(&format!("{prefix}{name}."), value, into),
            _ => drop(into.insert(format!("{prefix}{name}"), value.clone())),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Truth {
    True,
    False,
    Undetermined,
}

/// Two policies that together show the truth of a condition: one allows if it is true, one denies if it is true or
/// undetermined.
struct Shown(Condition);

impl Shown {
    fn truth(&self, request: &Request) -> Truth {
        let resource = request.obj.as_str().unwrap_or("doc:read");
        let attributes = |value| {
            let mut attributes = serde_json::Map::new();
            flat("", value, &mut attributes);
            attributes
        };
        let body = json!({
            "subject": request.sub.as_str().unwrap_or("somebody"), "resource": resource,
            "action": request.act, "domain": request.dom,
            "attributes": {"user": attributes(&request.sub), "resource": attributes(&request.obj)},
        });
        let decides = |effect| {
            let policy = Policy {
                id: uuid::Uuid::nil(),
                name: "matcher".to_owned(),
                resource: ResourcePattern::Any,
                effect,
                priority: 0,
                condition: Ok(self.0.clone()),
            };
            let plan = Plan::compile(resource, 1, &[], [policy]);
            decide(&plan, &body)
        };
        match (decides(Effect::Allow), decides(Effect::Deny)) {
            (Some(_), _) => Truth::True,
            (None, Some(_)) => Truth::Undetermined,
            (None, None) => Truth::False,
        }
    }
}

/// Returns the effect of the policy that decides; `None` if none does.
fn decide(plan: &Plan, body: &Value) -> Option<Effect> {
    let text = body.to_string();
    let json = json::parse(text.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&json).expect("a check");
    let domain = body.domain.unwrap_or("acme");
    let check = Check::new(body, domain, None, DateTime::UNIX_EPOCH);
    let decision = plan.evaluate(&check);
    decision.rule_id().map(|_| decision.effect())
}

fn compare(
    expression: &Expression,
    requests: &[Request],
    mut seen: impl FnMut(Truth),
) -> TestCaseResult {
    let text = expression.write(Style::Casbin);
    let condition =
        matcher::parse(&text).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
    let other = expression.write(Style::Other);
    prop_assert_eq!(matcher::parse(&other), Ok(condition.clone()), "{} and {}", text, other);
    let (shown, enforcer) = (Shown(condition), enforcer(&text));
    for request in requests {
        let Request { sub, obj, act, dom } = request;
        let expected = enforcer.enforce((sub, obj, act, dom));
        let expected = expected.map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        let expected = if expected { Truth::True } else { Truth::False };
        prop_assert_eq!(shown.truth(request), expected, "{} for {:?}", text, request);
        seen(expected);
    }
    Ok(())
}

#[test]
fn a_matcher_decides_as_casbin_does() {
    let tally = RefCell::new(BTreeMap::<Truth, u32>::new());
    let cases = shape().prop_flat_map(|shape| {
        (expression(shape), prop::collection::vec(request(shape), REQUESTS))
    });
    run(MATCHERS, &cases, |(expression, requests)| {
        compare(&expression, &requests, |truth| *tally.borrow_mut().entry(truth).or_default() += 1)
    });
    let tally = tally.into_inner();
    println!("matchers with requests: {tally:?}");
    let all: u32 = tally.values().sum();
    assert!(all >= MATCHERS * 20, "{tally:?}");
    for truth in [Truth::True, Truth::False] {
        assert!(tally.get(&truth).is_some_and(|count| count * 4 >= all), "{tally:?}");
    }
}

/// Tests the parts of matchers alone, since a large matcher hides differences of its parts.
#[test]
fn each_kind_of_test_decides_as_casbins_does() {
    let tally = RefCell::new(BTreeMap::<(&str, Truth), u32>::new());
    let cases = shape()
        .prop_flat_map(|shape| (leaf(shape), prop::collection::vec(request(shape), REQUESTS)));
    run(MATCHERS, &cases, |(expression, requests)| {
        let Expression::Leaf(kind, ..) = expression else { panic!("a leaf") };
        compare(&expression, &requests, |truth| {
            *tally.borrow_mut().entry((kind, truth)).or_default() += 1;
        })
    });
    let tally = tally.into_inner();
    println!("tests with requests: {tally:?}");
    for kind in KINDS {
        let count = |truth| tally.get(&(kind, truth)).copied().unwrap_or_default();
        let (yes, no) = (count(Truth::True), count(Truth::False));
        assert!(yes >= 100 && no >= 100, "`{kind}`: {yes} true, {no} false");
    }
}

/// Casbin's result, if it has one.
fn casbin_says(text: &str, sub: &Value) -> Option<bool> {
    enforcer(text).enforce((sub, &json!({"n": 1}), "read", "acme")).ok()
}

#[test]
fn undetermined_conditions_differ_from_casbin_as_documented() {
    let sub = json!({"n": 1, "s": "x", "b": true, "l": ["x"]});
    let request = Request { sub: sub.clone(), obj: json!({"n": 1}), act: "read", dom: "acme" };
    for (text, casbin, ours) in [
        // An absent attribute equals nothing.
        ("r.sub.absent == 1", Some(false), Truth::Undetermined),
        ("r.sub.absent != 1", Some(true), Truth::Undetermined),
        ("!(r.sub.absent == 1)", Some(true), Truth::Undetermined),
        ("r.sub.absent == r.obj.absent", Some(true), Truth::Undetermined),
        ("r.sub.absent < 1", Some(false), Truth::Undetermined),
        ("r.sub.absent", None, Truth::Undetermined),
        ("r.sub.absent in [1]", Some(false), Truth::Undetermined),
        ("regexMatch(r.sub.absent, \"^$\")", Some(true), Truth::Undetermined),
        // Another type.
        ("r.sub.s == 1", Some(false), Truth::Undetermined),
        ("r.sub.s != 1", Some(true), Truth::Undetermined),
        ("r.sub.s > 1", Some(false), Truth::Undetermined),
        ("r.sub.s", None, Truth::Undetermined),
        ("r.sub.n && true", None, Truth::Undetermined),
        ("keyMatch(r.sub.n, \"1\")", Some(true), Truth::Undetermined),
        ("r.sub.s in r.sub.s", None, Truth::Undetermined),
        ("r.sub.b in [1, \"true\"]", Some(false), Truth::False),
        ("r.sub.n in [\"1\"]", Some(false), Truth::False),
        // A child that decides a conjunction or disjunction still decides it.
        ("r.sub.absent == 1 && r.sub.n == 2", Some(false), Truth::False),
        ("r.sub.n == 1 || r.sub.absent == 1", Some(true), Truth::True),
    ] {
        assert_eq!(casbin_says(text, &sub), casbin, "Casbin on {text}");
        let condition = matcher::parse(text).expect(text);
        assert_eq!(Shown(condition).truth(&request), ours, "{text}");
    }
}

/// Casbin's example in which the policy contains the condition on the subject. Casbin uses `eval` of the policy; here
/// each line is an ABAC policy whose matcher is the condition.
#[test]
fn the_abac_example_with_rules_decides_alike() {
    let lines = [
        ("r.sub.Age > 18", "data1", "read"),
        ("r.sub.Age < 60", "data2", "write"),
        ("r.sub.Name == \"alice\" && r.sub.Age >= 18 || r.sub.Age in [7, 70]", "data1", "write"),
    ];
    let mut enforcer = model(
        "[request_definition]\nr = sub, obj, act\n[policy_definition]\np = sub_rule, obj, act\n\
         [policy_effect]\ne = some(where (p.eft == allow))\n\
         [matchers]\nm = eval(p.sub_rule) && r.obj == p.obj && r.act == p.act\n",
    );
    let mut policies = Vec::new();
    for (rule, obj, act) in lines {
        let line = vec![rule.to_owned(), obj.to_owned(), act.to_owned()];
        assert!(block_on(enforcer.add_policy(line)).expect("a line"));
        let rule_data = json!({"matcher": format!("({rule}) && r.act == \"{act}\"")}).to_string();
        policies.push(Policy {
            id: uuid::Uuid::nil(),
            name: rule.to_owned(),
            resource: ResourcePattern::Exact(format!("{obj}:{act}")),
            effect: Effect::Allow,
            priority: 0,
            condition: Ok(Policy::stored_condition(Format::Casbin, &rule_data).expect(rule)),
        });
    }
    let (mut allowed, mut asked) = (0, 0);
    for age in [7, 17, 18, 19, 59, 60, 61, 70] {
        for name in ["alice", "bob"] {
            let sub = json!({"Age": age, "Name": name});
            for (obj, act) in
                [("data1", "read"), ("data1", "write"), ("data2", "read"), ("data2", "write")]
            {
                let expected = enforcer.enforce((&sub, obj, act)).expect("a decision");
                let resource = format!("{obj}:{act}");
                let matching = policies.iter().filter(|policy| policy.resource.matches(&resource));
                let plan = Plan::compile(&resource, 1, &[], matching.cloned());
                let body = json!({"subject": name, "resource": resource, "action": act,
                    "attributes": {"user": sub}});
                let ours = decide(&plan, &body) == Some(Effect::Allow);
                assert_eq!(ours, expected, "{sub} {obj} {act}");
                allowed += u32::from(ours);
                asked += 1;
            }
        }
    }
    assert!(asked == 64 && (10..54).contains(&allowed), "{allowed} of {asked}");
}

/// Casbin's first ABAC example: the owner of an object has every right on it.
#[test]
fn the_abac_example_with_owners_decides_alike() {
    let text = "r.sub == r.obj.Owner";
    let (enforcer, shown) = (enforcer(text), Shown(matcher::parse(text).expect(text)));
    let (mut allowed, people) = (0, ["alice", "bob", "carol"]);
    for sub in people {
        for owner in people {
            for act in ["read", "write"] {
                let obj = json!({"Name": "data1", "Owner": owner});
                let expected = enforcer.enforce((sub, &obj, act, "acme")).expect("a decision");
                let request = Request { sub: json!(sub), obj, act, dom: "acme" };
                assert_eq!(shown.truth(&request) == Truth::True, expected, "{request:?}");
                allowed += u32::from(expected);
            }
        }
    }
    assert_eq!(allowed, 6);
}
