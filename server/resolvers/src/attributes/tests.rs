//! The conditions under which a cached answer is used. The clock is the tests', and counts minutes: moka drops what expired
//! by its own clock, which no test outlasts.

use std::collections::HashSet;

use super::*;

const MIB: u64 = 1 << 20;
const NO_CAP: Terms = Terms { ttl: None, stale: Duration::ZERO };

const fn min(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

fn scope(generation: u64, tenant: &'static str, inputs: &[u8]) -> Scope<'static> {
    Scope { generation, tenant, inputs: Box::leak(Box::new(inputs.into())) }
}

fn acme() -> Scope<'static> {
    scope(1, "acme", b"ann")
}

fn sales() -> Option<Json<'static>> {
    Some(Json::String("sales".into()))
}

/// A cache with an answer that was asked for at minute 100.
fn with(ttl: Duration, terms: Terms) -> Attributes {
    let answers = Attributes::new(MIB);
    answers.put(acme(), "department", sales(), ttl, terms, min(100));
    answers
}

#[test]
fn an_answer_is_used_until_its_time_is_over() {
    let answers = with(min(50), NO_CAP);
    for now in [100, 149] {
        let known = answers.get(acme(), "department", min(now));
        assert_eq!(known, Some(Known::Fresh(sales())), "{now}");
    }
    assert_eq!(answers.get(acme(), "department", min(150)), None);
    assert_eq!(answers.get(acme(), "department", min(149)), Some(Known::Fresh(sales())));
}

#[test]
fn an_absent_value_is_cached_as_an_answer() {
    let answers = Attributes::new(MIB);
    answers.put(acme(), "manager", None, min(50), NO_CAP, min(0));
    assert_eq!(answers.get(acme(), "manager", min(0)), Some(Known::Fresh(None)));
}

#[test]
fn the_manifest_caps_what_the_module_says_and_a_day_caps_both() {
    let until = |ttl: Duration, cap: Option<Duration>, last: Duration| {
        let answers = with(ttl, Terms { ttl: cap, stale: Duration::ZERO });
        let last = min(100) + last;
        let fresh = answers.get(acme(), "department", last - min(1)).is_some();
        fresh && answers.get(acme(), "department", last).is_none()
    };
    assert!(until(min(50), Some(min(20)), min(20)));
    assert!(until(min(50), Some(min(80)), min(50)));
    assert!(until(min(u64::from(u32::MAX)), None, LONGEST));
    // Nothing is kept for no time, not even to be stale.
    for (ttl, cap) in [(min(50), Some(min(0))), (min(0), None), (min(0), Some(min(50)))] {
        let answers = with(ttl, Terms { ttl: cap, stale: min(1_000) });
        assert_eq!(answers.get(acme(), "department", min(100)), None, "{ttl:?} {cap:?}");
    }
}

#[test]
fn a_stale_answer_says_that_it_is() {
    let answers = with(min(50), Terms { ttl: None, stale: min(30) });
    let known = |now| answers.get(acme(), "department", min(now));
    assert_eq!(known(149), Some(Known::Fresh(sales())));
    assert_eq!(known(150), Some(Known::Stale(sales())));
    assert_eq!(known(179), Some(Known::Stale(sales())));
    assert_eq!(known(180), None);
}

#[test]
fn every_input_of_an_answer_is_part_of_its_cache_key() {
    let answers = with(min(50), NO_CAP);
    assert!(answers.get(acme(), "department", min(100)).is_some());
    for (other, attribute) in [
        (scope(2, "acme", b"ann"), "department"),
        (scope(1, "bolt", b"ann"), "department"),
        (scope(1, "acme", b"bob"), "department"),
        (scope(1, "acme", b""), "department"),
        (acme(), "manager"),
        // The same bytes, cut elsewhere.
        (scope(1, "acm", b"eann"), "department"),
        (scope(1, "acme", b"annd"), "epartment"),
    ] {
        assert_eq!(answers.get(other, attribute, min(100)), None, "{other:?} {attribute}");
    }
}

#[test]
fn the_cache_of_answers_is_bounded() {
    let answers = Attributes::new(64 << 10);
    let text = Some(Json::String("x".repeat(1 << 10).into()));
    let names: Vec<_> = (0..1_000).map(|number| number.to_string()).collect();
    for name in &names {
        answers.put(acme(), name, text.clone(), min(50), NO_CAP, min(0));
    }
    answers.0.run_pending_tasks();
    let kept = names.iter().filter(|name| answers.get(acme(), name, min(0)).is_some()).count();
    assert!((1..=64).contains(&kept), "{kept}");
    assert!(answers.0.weighted_size() <= 64 << 10);
}

fn request() -> Request {
    Request {
        tenant: "acme".to_owned(),
        subject: "ann".to_owned(),
        domain: String::new(),
        resource: String::new(),
        action: String::new(),
        roles: vec![],
        user: vec![],
        resource_attributes: vec![],
        wanted: vec!["department".to_owned()],
        now_ms: 1,
        budget_ms: 1,
        ext: vec![],
    }
}

#[test]
fn inputs_that_differ_are_different_bytes() {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let input = |name: &str, value| Input { name: name.to_owned(), value };
    let user = |value| Request { user: vec![input("a", value)], ..request() };
    let (subject, resource) = ("a".to_owned(), "b".to_owned());
    let different = [
        request(),
        Request { subject: String::new(), domain: "ann".to_owned(), ..request() },
        Request { subject: "an".to_owned(), domain: "n".to_owned(), ..request() },
        Request { subject: subject.clone(), action: resource.clone(), ..request() },
        Request { subject, resource, ..request() },
        Request { roles: texts(&["a"]), ..request() },
        Request { roles: texts(&["a", ""]), ..request() },
        Request { roles: texts(&["", "a"]), ..request() },
        Request { roles: texts(&["a", "b"]), ..request() },
        Request { roles: texts(&["ab"]), ..request() },
        user(Value::Text("1".to_owned())),
        user(Value::Number(1.0)),
        user(Value::Number(0.0)),
        user(Value::Boolean(true)),
        user(Value::Boolean(false)),
        user(Value::Texts(vec![])),
        user(Value::Texts(texts(&["1"]))),
        user(Value::Numbers(vec![])),
        user(Value::Numbers(vec![1.0])),
        Request { user: vec![input("b", Value::Boolean(true))], ..request() },
        Request { resource_attributes: vec![input("a", Value::Boolean(true))], ..request() },
        Request { ext: vec![("context.a".to_owned(), "1".to_owned())], ..request() },
        Request { ext: vec![("action.a".to_owned(), "1".to_owned())], ..request() },
    ];
    let bytes: HashSet<_> = different.iter().map(inputs).collect();
    assert_eq!(bytes.len(), different.len());
    // What is not an input is not among them.
    let later = Request { now_ms: 2, budget_ms: 2, wanted: vec![], ..request() };
    assert_eq!(inputs(&later), inputs(&request()));
}

#[test]
fn answers_to_very_large_inputs_are_not_kept() {
    let answers = Attributes::new(MIB);
    for (length, is_kept) in [(MAX_INPUTS, true), (MAX_INPUTS + 1, false)] {
        let scope = scope(1, "acme", &vec![b'a'; length]);
        answers.put(scope, "department", sales(), min(50), NO_CAP, min(0));
        assert_eq!(answers.get(scope, "department", min(0)).is_some(), is_kept, "{length}");
    }
}
