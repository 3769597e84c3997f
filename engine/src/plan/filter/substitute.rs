//! Replaces known attributes in conditions by their values, wherever a condition with the same meaning exists.

use super::known::KnownValues;
use crate::condition::{AttributePath, Condition, Operand, Predicate, Test};
use crate::json::Json;
use crate::operator::Operator;
use crate::value::LiteralList;

/// Replaces the known attributes of comparisons. The result has the same truth for every value of the others.
pub(super) fn known(condition: Condition, known_values: &KnownValues) -> Condition {
    match condition {
        Condition::And(children) => Condition::And(all_known(children, known_values)),
        Condition::Or(children) => Condition::Or(all_known(children, known_values)),
        Condition::Not(child) => Condition::Not(Box::new(known(*child, known_values))),
        Condition::Test(test) => Condition::Test(replace(test, known_values)),
        named @ Condition::Named(_) => named,
    }
}

fn all_known(children: Box<[Condition]>, known_values: &KnownValues) -> Box<[Condition]> {
    children.into_iter().map(|child| known(child, known_values)).collect()
}

fn replace(test: Test, known: &KnownValues) -> Test {
    let Predicate::Compare(operator, Operand::Attribute(right)) = &test.predicate else {
        return test;
    };
    let replaced = match (known.get(&test.attribute), known.get(right)) {
        (None, Some(Some(value))) => literal(*operator, value).map(|literal| Test {
            attribute: test.attribute.clone(),
            predicate: Predicate::Compare(*operator, literal),
            if_missing: test.if_missing,
        }),
        (Some(Some(value)), None) => turned(value, *operator, right),
        // An absent value has no literal.
        _ => None,
    };
    replaced.unwrap_or(test)
}

/// Returns the literal of a value, if the operator takes it.
fn literal(operator: Operator, value: &Json<'_>) -> Option<Operand> {
    let literal = match value {
        Json::String(text) => Operand::Text((**text).into()),
        Json::Number(number) => Operand::Number(*number),
        Json::Bool(value) => Operand::Bool(*value),
        Json::Array(items) => Operand::List(list(items)?),
        Json::Null | Json::Object(_) => return None,
    };
    operator.row().takes.convert(literal)
}

/// Returns the list of strings and numbers; `None` if it has other items.
fn list(items: &[Json<'_>]) -> Option<LiteralList> {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Json::String(text) => texts.push((**text).into()),
            Json::Number(number) => numbers.push(*number),
            _ => return None,
        }
    }
    Some(LiteralList::new(texts, numbers))
}

/// Returns the test of `right` that has the truth of `value operator right`. `if_missing` plays no part: it speaks of the
/// left side, which is present.
fn turned(value: &Json<'_>, operator: Operator, right: &AttributePath) -> Option<Test> {
    // A right side that is not known may be a text, in which `in` finds nothing and `contains` a part.
    let turned = operator.mirrored(matches!(value, Json::Array(_)))?;
    let predicate = Predicate::Compare(turned, literal(turned, value)?);
    Some(Test { attribute: right.clone(), predicate, if_missing: None })
}
