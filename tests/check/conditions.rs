//! The truth of conditions: true, false, or undetermined (`docs/semantics.md`, section 4.4).

use serde_json::{Value, json};

use crate::support::Tenant;
use crate::support::tenant::{Decision, condition};

/// True, false, or undetermined.
type Truth = Option<bool>;

const T: Truth = Some(true);
const F: Truth = Some(false);
const U: Truth = None;

/// The truth of a tree, seen from outside: an allow applies when it is true; a deny applies when it is
/// true or undetermined.
#[track_caller]
fn evaluate(tenant: &Tenant<'_>, number: usize, tree: &Value, attributes: &Value) -> Truth {
    let ask = |effect: &str| {
        let resource = format!("{effect}:{number}");
        let id = tenant.policy("p", &resource, effect, 1, tree);
        let body = json!({
            "subject": "alice", "resource": resource, "action": "read", "attributes": attributes,
        });
        let decision = Decision::new(&tenant.check(&body));
        assert!(decision.rule == id || decision.rule == "default-deny");
        (decision.rule == id).then_some(decision.decision)
    };
    match (ask("allow").as_deref(), ask("deny").as_deref()) {
        (Some("allow"), Some("deny")) => Some(true),
        (None, None) => Some(false),
        (None, Some("deny")) => None,
        other => panic!("{tree} with {attributes}: {other:?}"),
    }
}

#[track_caller]
fn all(cases: &[(Value, Value, Truth)]) {
    let tenant = Tenant::new();
    for (number, (tree, user, expected)) in cases.iter().enumerate() {
        let attributes = json!({"user": user, "resource": {"x": "r", "n": 5, "l": ["a", 1]}});
        let got = evaluate(&tenant, number, tree, &attributes);
        assert_eq!(got, *expected, "{tree} with {user}");
    }
}

/// A condition on `user.x`, which is `value`.
fn x(operator: &str, operand: Value, value: Value, expected: Truth) -> (Value, Value, Truth) {
    (condition("user.x", operator, operand), json!({"x": value}), expected)
}

#[test]
fn equality_compares_one_type() {
    all(&[
        x("eq", json!("a"), json!("a"), T),
        x("eq", json!("a"), json!("A"), F),
        x("eq", json!("é"), json!("e\u{301}"), F),
        x("eq", json!(""), json!(""), T),
        x("eq", json!(1), json!(1.0), T),
        x("eq", json!(1), json!(2), F),
        x("eq", json!(-0.0), json!(0), T),
        x("eq", json!(true), json!(true), T),
        x("eq", json!(true), json!(false), F),
        x("eq", json!("1"), json!(1), U),
        x("eq", json!(1), json!("1"), U),
        x("eq", json!(1), json!(true), U),
        x("eq", json!("a"), json!(["a"]), U),
        x("ne", json!("a"), json!("b"), T),
        x("ne", json!("a"), json!("a"), F),
        x("ne", json!(1), json!(1.5), T),
        x("ne", json!("1"), json!(1), U),
        x("ne", json!("a"), json!(["b"]), U),
    ]);
}

#[test]
fn integers_compare_exactly() {
    let two_to_53 = 9_007_199_254_740_992_u64;
    all(&[
        x("eq", json!(two_to_53 + 1), json!(two_to_53), F),
        x("gt", json!(two_to_53), json!(two_to_53 + 1), T),
        x("eq", json!(u64::MAX), json!(u64::MAX), T),
        x("eq", json!(u64::MAX), json!(u64::MAX - 1), F),
        x("lt", json!(i64::MIN + 1), json!(i64::MIN), T),
        x("lt", json!(u64::MAX), json!(-1), T),
        x("eq", json!(two_to_53 + 1), json!(9_007_199_254_740_992.0), F),
        x("lt", json!(two_to_53 + 1), json!(9_007_199_254_740_992.0), T),
        x("in", json!([two_to_53, two_to_53 + 2]), json!(two_to_53 + 1), F),
        x("contains", json!(u64::MAX), json!([u64::MAX - 1]), F),
    ]);
}

#[test]
fn order_is_by_value_or_by_code_point() {
    all(&[
        x("lt", json!(2), json!(1), T),
        x("lt", json!(2), json!(2), F),
        x("lte", json!(2), json!(2.0), T),
        x("gt", json!(2), json!(2.5), T),
        x("gte", json!(2), json!(1.999), F),
        x("lt", json!(10), json!(9), T),
        x("lt", json!("10"), json!("9"), F),
        x("lt", json!("b"), json!("a"), T),
        x("gt", json!("Z"), json!("a"), T),
        x("lt", json!("\u{10000}"), json!("\u{ffff}"), T),
        x("gte", json!("a"), json!("a"), T),
        x("lt", json!("2"), json!(1), U),
        x("gt", json!(2), json!("3"), U),
        x("lte", json!(2), json!(true), U),
        x("lt", json!(2), json!([1]), U),
    ]);
}

#[test]
fn lists_have_members() {
    all(&[
        x("in", json!(["a", "b"]), json!("a"), T),
        x("in", json!(["a", "b"]), json!("c"), F),
        x("in", json!(["a", 1]), json!(1.0), T),
        x("in", json!(["1"]), json!(1), F),
        x("in", json!([]), json!("a"), F),
        x("in", json!(["true"]), json!(true), F),
        x("in", json!(["a"]), json!(["a"]), U),
        x("not_in", json!(["a"]), json!("b"), T),
        x("not_in", json!(["a"]), json!("a"), F),
        x("not_in", json!(["1"]), json!(1), T),
        x("not_in", json!([]), json!("a"), T),
        x("not_in", json!(["a"]), json!([]), U),
        x("in", json!({"attribute": "resource.l"}), json!("a"), T),
        x("in", json!({"attribute": "resource.l"}), json!("b"), F),
        x("in", json!({"attribute": "resource.x"}), json!("r"), U),
        x("contains", json!("a"), json!(["a", "b"]), T),
        x("contains", json!("c"), json!(["a", "b"]), F),
        x("contains", json!(1), json!(["1", 1.0]), T),
        x("contains", json!("1"), json!([1]), F),
        x("contains", json!("a"), json!([]), F),
        x("contains", json!("b"), json!("abc"), T),
        x("contains", json!("B"), json!("abc"), F),
        x("contains", json!(""), json!("abc"), T),
        x("contains", json!(1), json!("1"), U),
        x("contains", json!("1"), json!(1), U),
        x("contains", json!({"attribute": "resource.x"}), json!(["r"]), T),
        x("contains_any", json!(["a", 1]), json!(["b", 1.0]), T),
        x("contains_any", json!(["a", "1"]), json!([1]), F),
        x("contains_any", json!([]), json!(["a"]), F),
        x("contains_any", json!(["a"]), json!("a"), U),
        x("contains_any", json!({"attribute": "resource.x"}), json!(["r"]), U),
        x("contains_all", json!(["a", "b"]), json!(["b", "c", "a"]), T),
        x("contains_all", json!(["a", "b"]), json!(["a"]), F),
        x("contains_all", json!([]), json!([]), T),
        x("contains_all", json!(["a"]), json!(1), U),
    ]);
}

#[test]
fn strings_have_parts() {
    all(&[
        x("starts_with", json!("ab"), json!("abc"), T),
        x("starts_with", json!("b"), json!("abc"), F),
        x("starts_with", json!(""), json!(""), T),
        x("starts_with", json!("1"), json!(1), U),
        x("starts_with", json!("a"), json!(["a"]), U),
        x("ends_with", json!("bc"), json!("abc"), T),
        x("ends_with", json!("b"), json!("abc"), F),
        x("ends_with", json!("é"), json!("caf\u{e9}"), T),
        x("ends_with", json!({"attribute": "resource.x"}), json!("bar"), T),
        x("ends_with", json!({"attribute": "resource.n"}), json!("5"), U),
        x("matches", json!("a+"), json!("aaa"), T),
        x("matches", json!("a+"), json!("aab"), F),
        x("matches", json!("a|ab"), json!("ab"), T),
        x("matches", json!("^a$"), json!("a"), T),
        x("matches", json!("a"), json!("a\n"), F),
        x("matches", json!(""), json!(""), T),
        x("matches", json!(r"\d{3}"), json!("123"), T),
        x("matches", json!("(?i)abc"), json!("ABC"), T),
        x("matches", json!("1"), json!(1), U),
    ]);
}

#[test]
fn times_compare_as_instants() {
    let noon = "2026-06-01T12:00:00Z";
    all(&[
        x("before", json!(noon), json!("2026-06-01T11:59:59Z"), T),
        x("before", json!(noon), json!("2026-06-01T12:00:00Z"), F),
        x("before", json!(noon), json!("2026-06-01T13:30:00+02:00"), T),
        x("after", json!(noon), json!("2026-06-01T13:30:00+02:00"), F),
        x("after", json!(noon), json!("2026-06-01T12:00:00.001Z"), T),
        x("after", json!(noon), json!("2026-06-01T12:00:00+00:00"), F),
        x("after", json!(noon), json!("2026-06-01"), U),
        x("after", json!(noon), json!("2026-06-01 12:00:00"), U),
        x("after", json!(noon), json!("tomorrow"), U),
        x("after", json!(noon), json!(1_780_000_000), U),
        x("before", json!({"attribute": "request.time"}), json!("2020-01-01T00:00:00Z"), T),
        x("before", json!({"attribute": "resource.x"}), json!(noon), U),
        x("within", json!("P36525D"), json!("2026-01-01T00:00:00Z"), T),
        x("within", json!("PT1S"), json!("2026-01-01T00:00:00Z"), F),
        x("within", json!("P36525D"), json!("2999-01-01T00:00:00Z"), F),
        x("within_next", json!("PT1S"), json!("2999-01-01T00:00:00Z"), F),
        x("within_next", json!("P1D"), json!("2026-01-01"), U),
    ]);
}

#[test]
fn instants_are_in_windows_of_local_time() {
    let office =
        || json!({"days": ["mon", "fri"], "from": "08:00", "to": "18:00", "zone": "Europe/Berlin"});
    let night =
        || json!({"days": ["fri"], "from": "22:00", "to": "06:00", "zone": "America/St_Johns"});
    all(&[
        x("during", office(), json!("2026-01-12T07:00:00Z"), T),
        x("during", office(), json!("2026-01-12T06:59:59Z"), F),
        x("during", office(), json!("2026-07-13T06:00:00Z"), T),
        x("during", office(), json!("2026-07-13T18:00:00+02:00"), F),
        x("during", office(), json!("2026-01-13T12:00:00Z"), F),
        x("during", night(), json!("2026-01-17T05:59:59-03:30"), T),
        x("during", night(), json!("2026-01-17T22:00:00-03:30"), F),
        x("during", json!({"zone": "UTC"}), json!("0000-01-01T00:00:00Z"), T),
        x("during", office(), json!("2026-01-12"), U),
        x("during", office(), json!("2026-01-12T08:00:00"), U),
        x("during", office(), json!(1_768_204_800), U),
        x("during", office(), json!(["2026-01-12T07:00:00Z"]), U),
    ]);
}

#[test]
fn addresses_are_in_networks() {
    all(&[
        x("ip_in", json!("10.0.0.0/8"), json!("10.1.2.3"), T),
        x("ip_in", json!("10.0.0.0/8"), json!("11.0.0.0"), F),
        x("ip_in", json!("10.1.2.3"), json!("10.1.2.3"), T),
        x("ip_in", json!("10.1.2.3"), json!("10.1.2.4"), F),
        x("ip_in", json!("10.1.2.3/32"), json!("10.1.2.3"), T),
        x("ip_in", json!("0.0.0.0/0"), json!("255.255.255.255"), T),
        x("ip_in", json!("0.0.0.0/0"), json!("2001:db8::1"), F),
        x("ip_in", json!("2001:db8::/32"), json!("2001:db8:1::1"), T),
        x("ip_in", json!("2001:db8::/32"), json!("2001:DB8:0:0::1"), T),
        x("ip_in", json!("2001:db8::/32"), json!("2001:db9::1"), F),
        x("ip_in", json!("::1"), json!("::1"), T),
        x("ip_in", json!("10.0.0.0/8"), json!("::ffff:10.1.2.3"), T),
        x("ip_in", json!(["10.0.0.0/8", "192.168.0.0/16", "::1"]), json!("192.168.7.7"), T),
        x("ip_in", json!(["10.0.0.0/8", "192.168.0.0/16", "::1"]), json!("192.169.0.0"), F),
        x("ip_in", json!("10.0.0.0/8"), json!("10.1.2"), U),
        x("ip_in", json!("10.0.0.0/8"), json!("010.1.2.3"), U),
        x("ip_in", json!("10.0.0.0/8"), json!("10.1.2.3/32"), U),
        x("ip_in", json!("10.0.0.0/8"), json!(" 10.1.2.3"), U),
        x("ip_in", json!("10.0.0.0/8"), json!("localhost"), U),
        x("ip_in", json!("10.0.0.0/8"), json!(167_772_161), U),
        x("ip_in", json!("10.0.0.0/8"), json!(["10.1.2.3"]), U),
    ]);
}

#[test]
fn an_absent_attribute_is_undetermined_unless_the_condition_says_otherwise() {
    let exists = json!({"type": "CONDITION", "attribute": "user.x", "operator": "exists"});
    let or_else = |tree: &Value, value: bool| {
        let mut tree = tree.clone();
        tree["if_missing"] = json!(value);
        tree
    };
    let eq = condition("user.x", "eq", "a");
    let to_other = condition("user.x", "eq", json!({"attribute": "user.y"}));
    all(&[
        (exists.clone(), json!({"x": ""}), T),
        (exists.clone(), json!({"x": []}), T),
        (exists, json!({"y": 1}), F),
        (eq.clone(), json!({}), U),
        (or_else(&eq, true), json!({}), T),
        (or_else(&eq, false), json!({}), F),
        (or_else(&eq, true), json!({"x": "b"}), F),
        (or_else(&eq, false), json!({"x": "a"}), T),
        // It speaks of absence, not of a wrong type, and of the left side only.
        (or_else(&eq, true), json!({"x": 1}), U),
        (to_other.clone(), json!({"x": "a"}), U),
        (or_else(&to_other, true), json!({"x": "a"}), U),
        (or_else(&to_other, true), json!({"y": "a"}), T),
        (to_other.clone(), json!({"x": "a", "y": "a"}), T),
        (to_other.clone(), json!({"x": "a", "y": 1}), U),
        (to_other, json!({"x": ["a"], "y": ["a"]}), U),
        (condition("user.x", "ne", "a"), json!({}), U),
        (condition("user.x", "not_in", json!(["a"])), json!({}), U),
    ]);
}

#[test]
fn trees_have_three_values() {
    let leaf = |value: Truth| match value {
        Some(value) => condition("user.t", "eq", value),
        None => condition("user.absent", "eq", true),
    };
    let node = |kind: &str, values: &[Truth]| {
        let children: Vec<Value> = values.iter().map(|value| leaf(*value)).collect();
        json!({"type": kind, "children": children})
    };
    let cases: [(&str, &[Truth], Truth); 22] = [
        ("AND", &[T], T),
        ("AND", &[F], F),
        ("AND", &[U], U),
        ("AND", &[T, T], T),
        ("AND", &[T, F], F),
        ("AND", &[T, U], U),
        ("AND", &[F, U], F),
        ("AND", &[U, F], F),
        ("AND", &[U, U], U),
        ("AND", &[U, T, F], F),
        ("AND", &[T, U, T], U),
        ("OR", &[T], T),
        ("OR", &[F], F),
        ("OR", &[U], U),
        ("OR", &[F, F], F),
        ("OR", &[T, F], T),
        ("OR", &[T, U], T),
        ("OR", &[U, T], T),
        ("OR", &[F, U], U),
        ("OR", &[U, U], U),
        ("OR", &[U, F, T], T),
        ("OR", &[F, U, F], U),
    ];
    let mut table = vec![];
    for (kind, values, expected) in cases {
        let (tree, user) = (node(kind, values), json!({"t": true}));
        table.push((
            json!({"type": "NOT", "child": tree}),
            user.clone(),
            expected.map(|truth| !truth),
        ));
        table.push((tree, user, expected));
    }
    all(&table);
}
