//! The schemas of conditions (`docs/semantics.md`, section 4.2). They describe what `Format::condition` of the engine
//! accepts, except for limits that JSON Schema cannot count and patterns that it cannot compile.

use portcullis_engine::condition::{MAX_CONDITION_NAME, MAX_DEPTH, MAX_LIST, MAX_NODES};
use portcullis_engine::during::WEEKDAYS;
use portcullis_engine::operator::{ComparedKind, Operator, Row, Takes, UnaryOperator};
use portcullis_engine::period::MAX_DAYS;
use serde_json::json;
use strum::VariantArray;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Type};

use super::rule_data::MAX_RULE_DATA;
use crate::document;
use crate::schema::{
    AnySchema, Input, about, any_of_types, boolean, choice, formatted, input, instant, list, named,
    one_of, string, text, typed,
};

/// A condition tree, as the document names it.
pub struct ConditionTree;

document!(ConditionTree as "Condition", naming ItemConditionTree => tree());

/// The condition on an item of a list, as the document names it: narrower than what is read, because no schema can say that
/// some test is about the item.
pub(super) struct ItemConditionTree;

document!(ItemConditionTree as "ItemCondition" => item_tree());

fn item_tree() -> OneOfBuilder {
    let tree = named::<ItemConditionTree>;
    let nodes = [
        node(["AND", "OR"]).titled("All or any").required("children", children(tree())),
        node(["NOT"])
            .titled("Negation")
            .required("child", about(tree(), "The condition that is negated")),
        named_condition(),
    ];
    let comparisons =
        sides().into_iter().map(|(sides, names)| item_test(names).required("value", sides.value()));
    let unary = UnaryOperator::VARIANTS.iter().filter_map(|operator| {
        let value = unary_value(*operator)?;
        Some(item_test(vec![operator.into_str()]).required("value", value))
    });
    let nodes = nodes.into_iter().chain(comparisons).chain(unary);
    let about = "A condition on the item of a list, which its tests name as `item`. A test of another attribute may stand \
        beside one of the item.";
    nodes.fold(OneOfBuilder::new(), OneOfBuilder::item).description(Some(about))
}

/// Returns the test of an item by one of these operators, without the value. An item is never absent.
fn item_test(operators: Vec<&'static str>) -> Input {
    comparison(operators, ITEM)
}

fn tree() -> OneOfBuilder {
    let tree = named::<ConditionTree>;
    let nodes = [
        node(["AND", "OR"]).titled("All or any").required("children", children(tree())),
        node(["NOT"])
            .titled("Negation")
            .required("child", about(tree(), "The condition that is negated")),
        items(),
        length(),
        named_condition(),
    ];
    let unary = UnaryOperator::VARIANTS.iter().map(|operator| unary(*operator));
    let nodes = nodes.into_iter().chain(comparisons()).chain(unary);
    let nodes = nodes.fold(OneOfBuilder::new(), OneOfBuilder::item);
    nodes.description(Some(meaning())).examples([example()])
}

/// Returns the node of a condition on the items of a list.
fn items() -> Input {
    let child = about(
        named::<ItemConditionTree>(),
        "The condition on an item, which a test names as `item`. It has no `ANY` and `ALL` of its own",
    );
    let if_missing = "What an absent attribute gives, instead of undetermined";
    node(["ANY", "ALL"])
        .titled("Items of a list")
        .required("attribute", attribute(LIST))
        .required("child", child)
        .optional("if_missing", boolean().description(Some(if_missing)))
}

/// Returns the schema of the name of a condition.
pub fn condition_name() -> ObjectBuilder {
    text(MAX_CONDITION_NAME)
}

/// Returns the node of a named condition.
fn named_condition() -> Input {
    let name = condition_name().description(Some("The name of a condition of the tenant"));
    node(["NAMED"]).titled("Named condition").required("name", name)
}

/// Returns the node of a test of the length of a list.
fn length() -> Input {
    let operators = Operator::VARIANTS.iter().filter(|operator| operator.compares_lengths());
    let operators: Vec<_> = operators.map(|operator| operator.into_str()).collect();
    let operator = choice(operators).description(Some("The comparison of the length with `value`"));
    let if_missing = "What an absent attribute gives, instead of undetermined";
    node(["LENGTH"])
        .titled("Length of a list")
        .required("attribute", attribute(LIST))
        .required("operator", operator)
        .required("value", or_attribute(typed(Type::Number), SINGLE))
        .optional("if_missing", boolean().description(Some(if_missing)))
}

/// Returns the nodes that compare two values: one for the operators with the same kinds of sides.
fn comparisons() -> Vec<Input> {
    sides().into_iter().map(|(sides, names)| sides.node(names)).collect()
}

/// Returns the kinds of sides of comparisons, each with its operators.
fn sides() -> Vec<(Sides, Vec<&'static str>)> {
    let mut forms: Vec<(Sides, Vec<&'static str>)> = Vec::new();
    for operator in Operator::VARIANTS {
        let sides = Sides::for_operator(*operator);
        match forms.iter_mut().find(|(known, _)| *known == sides) {
            Some((_, names)) => names.push(operator.into_str()),
            None => forms.push((sides, vec![operator.into_str()])),
        }
    }
    // The sort is stable: forms with the same kind of literal keep the order of the operators.
    forms.sort_by_key(|(sides, _)| sides.literal);
    forms
}

/// The sides of a comparison.
#[derive(PartialEq, Eq)]
struct Sides {
    /// The pattern of the path on the left.
    left: &'static str,
    literal: Takes,
    /// The pattern of the path on the right.
    right: &'static str,
}

impl Sides {
    fn for_operator(operator: Operator) -> Self {
        let Row { takes, compares, .. } = operator.row();
        // Only a side that can be a list admits `request.roles`, which is one.
        let on_left = compares.iter().any(|(left, _)| *left == ComparedKind::List);
        let on_right = compares.iter().any(|(_, right)| *right == ComparedKind::List);
        Self {
            left: if on_left { ANY } else { SINGLE },
            literal: *takes,
            right: if on_right { ANY } else { SINGLE },
        }
    }

    fn node(&self, operators: Vec<&'static str>) -> Input {
        test(operators, self.left).required("value", self.value())
    }

    fn value(&self) -> AnySchema {
        let literal: AnySchema = match self.literal {
            Takes::Scalar => any_of_types([Type::String, Type::Number, Type::Boolean]).into(),
            Takes::Ordered => text_or_number(),
            Takes::List => literals(text_or_number()),
            Takes::Text => string().into(),
            Takes::Instant => instant().into(),
            Takes::Duration => duration(),
        };
        match self.literal.accepts_attribute() {
            true => or_attribute(literal, self.right),
            false => literal,
        }
    }
}

/// Returns the node of a test of one value.
fn unary(operator: UnaryOperator) -> Input {
    let names = vec![operator.into_str()];
    match unary_value(operator) {
        Some(value) => test(names, SINGLE).required("value", value),
        // A member that must be null may still be left out, because it is not required.
        None => comparison(names, ANY)
            .member("value", typed(Type::Null).description(Some("`exists` has no value")))
            .member(
                "if_missing",
                typed(Type::Null).description(Some("`exists` is never undetermined")),
            ),
    }
}

/// Returns the value beside an operator; `None` for `exists`, which has none.
fn unary_value(operator: UnaryOperator) -> Option<AnySchema> {
    match operator {
        UnaryOperator::Matches => Some(regular_expression()),
        UnaryOperator::IpIn => Some(networks()),
        UnaryOperator::During => Some(time_window()),
        UnaryOperator::Exists => None,
    }
}

/// The `rule_data` of a policy whose `format` is `casbin`, as the document names it.
pub struct Matcher;

document!(Matcher => {
    let about = "A condition in Casbin's matcher syntax: `r.sub.<name>` is `user.<name>`, `r.obj.<name>` is \
        `resource.<name>`, and `r.sub`, `r.obj`, `r.act` and `r.dom` are the check's own";
    let example =
        "r.obj.vip && !(r.obj.ward == r.sub.ward || r.act in (\"read\", \"list\"))";
    input()
        .required("matcher", formatted("casbin-matcher").description(Some("The matcher's text")))
        .about(about)
        .example(json!({"matcher": example}))
});

/// The `rule_data` of a policy whose `format` is `expression`, as the document names it.
pub struct ConditionExpression;

document!(ConditionExpression as "Expression" => {
    let symbols: Vec<_> =
        Operator::VARIANTS.iter().map(|operator| format!("`{}`", operator.row().symbol)).collect();
    let about = format!(
        "A condition as text, one to one with condition trees: {}, `matches`, `ip_in(…)`, `during(…)`, `exists(…)`, \
         `any(list, …)` and `all(list, …)` with a condition on `item`, `length(list) == …`, \
         `condition.<name>`, `&&`, `||`, `!`, and `(test) ?? true` for an absent attribute. An attribute is `user.<name>`, \
         `resource.<name>`, `token.<path>`, `relation.<name>`, `<namespace>.<name>` of a resolver, or `request.` with `subject`, \
         `resource`, `object` (the resource without its verb), `action`, `domain`, `time` or `roles`",
        symbols.join(", ")
    );
    let example = "request.roles contains \"nurse\" && !((resource.ward == user.ward) ?? false)";
    input()
        .required("expression", formatted("condition-expression").description(Some("The expression's text")))
        .about(&about)
        .example(json!({"expression": example}))
});

fn meaning() -> String {
    format!(
        "A condition over attributes: true, false or, where an attribute is absent or of a type that the \
         operator does not compare, undetermined. At most {MAX_DEPTH} nodes deep, {MAX_NODES} nodes, and \
         {} KiB of compact JSON.",
        MAX_RULE_DATA / 1024
    )
}

fn example() -> serde_json::Value {
    json!({"type": "AND", "children": [
        {"type": "CONDITION", "attribute": "resource.vip", "operator": "eq", "value": true},
        {"type": "NOT", "child": {"type": "CONDITION", "attribute": "user.treats",
            "operator": "contains", "value": {"attribute": "resource.patient_id"}}},
    ]})
}

fn node<const N: usize>(types: [&'static str; N]) -> Input {
    let about = "`AND` and `OR` combine `children`, `NOT` negates `child`, `CONDITION` tests an attribute, `ANY` and `ALL` ask \
         `child` about the items of a list, `LENGTH` compares their number, `NAMED` is the condition that the tenant has under `name`";
    input().required("type", choice(types).description(Some(about)))
}

fn children(tree: AnySchema) -> ArrayBuilder {
    let about = "The conditions that are combined: with `AND` all, with `OR` at least one";
    list(tree).min_items(Some(1)).description(Some(about))
}

/// A test of an attribute with a path of this pattern, by one of these operators, without the value.
fn comparison(operators: Vec<&'static str>, path: &'static str) -> Input {
    let title = format!("Test with {}", operators.join(", "));
    let operator =
        choice(operators).description(Some("The comparison of the attribute with `value`"));
    let test = node(["CONDITION"]).titled(&title);
    test.required("attribute", attribute(path)).required("operator", operator)
}

/// A test of an attribute with a path of this pattern, by one of these operators.
fn test(operators: Vec<&'static str>, path: &'static str) -> Input {
    let if_missing = "What an absent attribute gives, instead of undetermined";
    comparison(operators, path).optional("if_missing", boolean().description(Some(if_missing)))
}

/// The pattern of every path.
const ANY: &str = concat!(
    r"^((user|resource|action|context|token)\.[^\x00]+|request\.(subject|resource|object|action|domain|time|roles)",
    r"|(?!(user|resource|action|context|token|request)\.)[a-z][a-z0-9_]{0,62}\.[^\x00]+)$"
);
/// The pattern of every path but `request.roles`, which is a list.
const SINGLE: &str = concat!(
    r"^((user|resource|action|context|token)\.[^\x00]+|request\.(subject|resource|object|action|domain|time)",
    r"|(?!(user|resource|action|context|token|request)\.)[a-z][a-z0-9_]{0,62}\.[^\x00]+)$"
);

/// The pattern of the path of an item.
const ITEM: &str = "^item$";
/// The pattern of every path of a list.
const LIST: &str = concat!(
    r"^((user|resource|action|context|token)\.[^\x00]+|request\.roles",
    r"|(?!(user|resource|action|context|token|request)\.)[a-z][a-z0-9_]{0,62}\.[^\x00]+)$"
);

fn attribute(path: &'static str) -> AnySchema {
    string()
        .pattern(Some(path))
        .description(Some(
            "`<kind>.<name>`: `user.*`, `resource.*`, `action.*` and `context.*` come from the check, `request.*` is the check \
             itself (`request.object` is the resource without its verb, `request.roles` a list), `token.*` are the \
             caller's verified claims, `relation.*` says whether the subject has a relation to the resource, and any \
             other kind is the namespace of a resolver. Within `ANY` and `ALL`, `item` is the item of the list",
        ))
        .into()
}

/// A literal, or `{"attribute": "<path>"}` to compare two attributes.
fn or_attribute(literal: impl Into<AnySchema>, path: &'static str) -> AnySchema {
    let other = input().required("attribute", attribute(path));
    let compared = one_of([literal.into(), other.into()]);
    about(
        compared,
        "A literal, or `{\"attribute\": \"<path>\"}` for the value of another attribute",
    )
}

fn text_or_number() -> AnySchema {
    any_of_types([Type::String, Type::Number]).into()
}

fn literals(item: AnySchema) -> AnySchema {
    list(item).max_items(Some(MAX_LIST)).into()
}

fn regular_expression() -> AnySchema {
    let about = "A regular expression in the syntax of Rust's `regex` crate, which has neither look-around \
        nor back-references. The whole string must match.";
    formatted("rust-regex").description(Some(about)).into()
}

/// Weekdays and hours in a time zone: with both `from` and `to`, or with neither.
fn time_window() -> AnySchema {
    let about = "Weekdays and hours in the local time of a zone. Without `days` every day counts, and without \
        `from` and `to` the whole day. `to` itself is outside; a `to` that is not after `from` is on the next day.";
    let hours = days_in_zone().required("from", time_of_day()).required("to", time_of_day());
    let whole_day = days_in_zone().member("from", no_time()).member("to", no_time()).about(about);
    // Both times are given or neither one is, which a single object could not say.
    one_of([hours.about(about).into(), whole_day.into()])
}

fn days_in_zone() -> Input {
    let days = list(choice(WEEKDAYS)).min_items(Some(1)).unique_items(true);
    let days = days.description(Some("The weekdays; when absent every day"));
    let zone = formatted("iana-time-zone");
    let zone = zone.description(Some("An IANA time zone, such as `Europe/Berlin`"));
    input().optional("days", days).required("zone", zone)
}

fn no_time() -> ObjectBuilder {
    typed(Type::Null).description(Some("Absent together with the other time: the whole day"))
}

fn time_of_day() -> ObjectBuilder {
    typed(Type::String)
        .pattern(Some("^([01][0-9]|2[0-3]):[0-5][0-9]$"))
        .description(Some("Hours and minutes, such as `08:00`; midnight is `00:00`"))
}

/// A duration above zero. Its length has a bound that no pattern says.
fn duration() -> AnySchema {
    // The first look-ahead wants a digit other than zero, and the second one refuses a `T` with nothing behind it.
    let pattern =
        r"^P(?=.*[1-9])([0-9]{1,9}D)?(T(?=[0-9])([0-9]{1,9}H)?([0-9]{1,9}M)?([0-9]{1,9}S)?)?$";
    let about = format!(
        "An ISO 8601 duration of days, hours, minutes and seconds, such as `P30D` or `PT15M`: above zero, and at most \
         {MAX_DAYS} days"
    );
    string().pattern(Some(pattern)).description(Some(about)).into()
}

fn networks() -> AnySchema {
    about(one_of([network(), literals(network())]), "One network, or a list of networks")
}

fn network() -> AnySchema {
    let about =
        "An IPv4 or IPv6 network such as `10.0.0.0/8`, its host bits zero, or a bare address";
    formatted("ip-network").description(Some(about)).into()
}
