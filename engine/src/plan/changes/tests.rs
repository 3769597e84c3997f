use serde_json::{Value, json};

use super::*;
use crate::Plan;
use crate::policy::Format;
use crate::rbac::Effect;
use crate::resource::ResourcePattern;

fn policy(number: u128, condition: &Value) -> Policy {
    Policy {
        id: Uuid::from_u128(number),
        name: format!("p{number}"),
        resource: ResourcePattern::Any,
        effect: Effect::Allow,
        priority: 0,
        condition: Policy::stored_condition(Format::Json, &condition.to_string()),
    }
}

fn test(operator: &str, value: impl Into<Value>) -> Value {
    json!({
        "type": "CONDITION", "attribute": "user.a", "operator": operator, "value": value.into(),
    })
}

fn plan(count: u128, condition: impl Fn(u128) -> Value) -> Plan {
    let policies = (0..count).map(|number| policy(number, &condition(number)));
    Plan::compile("doc:read", 1, &[], policies)
}

fn changed(plan: &Plan, changes: impl IntoIterator<Item = (u128, Option<Value>)>) -> Plan {
    let policies = changes.into_iter().map(|(number, condition)| {
        (Uuid::from_u128(number), condition.map(|condition| policy(number, &condition)))
    });
    let changes = PlanChanges { policies: policies.collect(), ..PlanChanges::default() };
    plan.with_changes(plan.revision() + 1, changes, None, |_| None).expect("it shares nothing")
}

/// Returns the number of policies of each layer, and of those that are gone from it.
fn layers(plan: &Plan) -> Vec<(usize, usize)> {
    let sizes = |layer: &Layer| (layer.abac.policies.len(), layer.gone.len());
    plan.layers.iter().map(sizes).collect()
}

fn text(number: u128) -> Value {
    test("eq", format!("a{number}"))
}

#[test]
fn a_change_shares_the_policies_that_did_not_change() {
    let first = plan(100, text);
    let second = changed(&first, [(3, Some(text(1_000))), (4, None), (200, Some(text(200)))]);
    assert_eq!(layers(&second), [(100, 2), (2, 0)]);
    assert!(std::sync::Arc::ptr_eq(&first.layers[0].abac, &second.layers[0].abac));
    let third = changed(&second, [(3, None), (5, Some(text(1_001)))]);
    assert_eq!(layers(&third), [(100, 3), (2, 0)]);
    assert_eq!(layers(&third.folded()), [(99, 0)]);
    assert_eq!(third.folded().revision(), third.revision());
}

#[test]
fn changes_of_other_resources_change_nothing() {
    let first = plan(2, text);
    let other = ResourcePattern::Exact("doc:write".to_owned());
    let other = Policy { resource: other, ..policy(7, &text(7)) };
    let policies = vec![(other.id, Some(other))];
    let changes = PlanChanges { policies, ..PlanChanges::default() };
    let second = first.with_changes(2, changes, None, |_| None).expect("it shares nothing");
    assert_eq!(layers(&second), [(2, 0)]);
}

#[test]
fn patterns_stay_together() {
    let pattern = |number: u128| test("matches", format!("a{number}+"));
    let mixed = |number: u128| if number == 0 { pattern(0) } else { text(number) };
    let first = plan(100, mixed);
    // No pattern changes.
    assert_eq!(layers(&changed(&first, [(1, None)])), [(100, 1)]);
    // A pattern would be gone, or be in two layers: their budgets are those of the whole plan.
    assert_eq!(layers(&changed(&first, [(0, None)])), [(99, 0)]);
    assert_eq!(layers(&changed(&first, [(1, Some(pattern(1)))])), [(100, 0)]);
    // All patterns are in the second layer.
    let plain = changed(&plan(100, text), [(1, Some(pattern(1)))]);
    assert_eq!(layers(&plain), [(100, 1), (1, 0)]);
}

#[test]
fn many_changes_are_worth_compiling_the_plan_whole() {
    let mut plan = plan(100, text);
    let mut worth = 0;
    for number in 0..100 {
        plan = changed(&plan, [(number, Some(text(1_000 + number)))]);
        if layers(&plan).len() == 1 {
            assert!(!plan.is_worth_folding());
            break;
        }
        worth += usize::from(plan.is_worth_folding());
    }
    // Each change leaves one policy gone and one new.
    assert_eq!(layers(&plan), [(100, 0)]);
    assert!((5..50).contains(&worth), "{worth}");
}

#[test]
fn the_last_policy_can_go() {
    let first = plan(1, text);
    let none = changed(&first, [(0, None)]);
    assert_eq!(layers(&none), [(1, 1)]);
    assert_eq!(layers(&none.folded()), []);
    assert_eq!(layers(&changed(&none.folded(), [(0, Some(text(0)))])), [(1, 0)]);
}

#[test]
fn the_weight_of_a_changed_plan_has_room_for_all_policies_compiled_together() {
    for count in [1, 4, 5, 100] {
        let first = plan(count, text);
        for next in [Some(text(1_000)), None] {
            let second = changed(&first, [(0, next)]);
            let layers: usize = second.layers.iter().map(Layer::weight).sum();
            assert!(second.weight() >= size_of::<Plan>() + layers + second.whole().weight());
        }
        assert_eq!(first.weight(), changed(&first, []).weight(), "unchanged plans weigh as before");
    }
}
