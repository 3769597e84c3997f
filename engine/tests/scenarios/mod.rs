//! Strategies for rules, policies and requests.
//!
//! An operator mostly gets an attribute of a type that it compares and a value that could be equal, so that values
//! decide the truth. The other attributes are absent, of another type, or of any value.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::support::pools::{
    ACTIONS, DATES, DOMAINS, DURATIONS, Group, NETWORKS, NOWS, OPERATORS, OTHER_PATHS, PATTERNS,
    PRIORITIES, RESOURCE_PATTERNS, RESOURCES, ROLES, RULE_ACTIONS, RULE_DOMAINS, RULE_SUBJECTS,
    SUBJECTS, claims_only, windows,
};
use crate::support::{ALLOW, AbacPolicy, DENY, EffectName, RbacRule, Request, Scenario};

/// The maximum depth of a tree.
const DEPTH: usize = 5;

/// Generates rule sets, each with this number of requests.
pub(crate) fn scenario(requests: usize) -> impl Strategy<Value = Scenario> {
    let rules = vec(rule(), 0..12);
    let policies = vec(policy(), 0..6);
    (rules, policies, vec(request(&RESOURCES), 1..=requests)).prop_map(
        |(rules, policies, requests)| Scenario {
            rules: numbered(rules, 1, |rule, id| RbacRule { id, ..rule }),
            policies: numbered(policies, 1_000, |policy, id| AbacPolicy { id, ..policy }),
            requests,
        },
    )
}

/// Generates policies of one condition each, for every resource and with one effect.
pub(crate) fn single_conditions(size: usize) -> impl Strategy<Value = Scenario> {
    let policy = condition().prop_map(|tree| AbacPolicy {
        id: Uuid::nil(),
        resource: "*".to_owned(),
        effect: ALLOW,
        priority: 0,
        tree: Some(tree.into()),
    });
    (vec(policy, 1..=size), vec(request(&["doc:v1:read"]), 1..=size))
        .prop_map(|(policies, requests)| Scenario { rules: Vec::new(), policies, requests })
}

/// Gives every record an id whose order is independent of the order of the records.
fn numbered<T>(records: Vec<(u8, T)>, from: u64, with_id: impl Fn(T, Uuid) -> T) -> Vec<T> {
    let id = |rank: u8, index| Uuid::from_u64_pair(u64::from(rank), index);
    let numbered = records.into_iter().zip(from..);
    numbered.map(|((rank, record), index)| with_id(record, id(rank, index))).collect()
}

fn effect() -> impl Strategy<Value = EffectName> {
    select(&[ALLOW, DENY][..])
}

fn rule() -> impl Strategy<Value = (u8, RbacRule)> {
    let subjects = select(&RULE_SUBJECTS[..]);
    let domains = select(&RULE_DOMAINS[..]);
    let objects = select(&RESOURCE_PATTERNS[..]);
    let actions = select(&RULE_ACTIONS[..]);
    (
        any::<u8>(),
        subjects,
        domains,
        objects,
        actions,
        prop_oneof![2 => Just(ALLOW), 1 => Just(DENY)],
    )
        .prop_map(|(rank, sub, dom, obj, act, effect)| {
            let (sub, dom) = (sub.to_owned(), dom.to_owned());
            let (obj, act) = (obj.to_owned(), act.to_owned());
            (rank, RbacRule { id: Uuid::nil(), sub, dom, obj, act, effect })
        })
}

fn policy() -> impl Strategy<Value = (u8, AbacPolicy)> {
    let resources = select(&RESOURCE_PATTERNS[..]);
    let trees = prop_oneof![40 => tree(DEPTH).prop_map(|tree| Some(tree.into())), 1 => Just(None)];
    (any::<u8>(), resources, effect(), select(&PRIORITIES[..]), trees).prop_map(
        |(rank, resource, effect, priority, tree)| {
            let resource = resource.to_owned();
            (rank, AbacPolicy { id: Uuid::nil(), resource, effect, priority, tree })
        },
    )
}

/// Generates a condition tree of at most this depth.
fn tree(depth: usize) -> BoxedStrategy<Value> {
    if depth == 1 {
        return condition();
    }
    let node = tree(depth - 1);
    let children = vec(node.clone(), 1..4);
    prop_oneof![
        2 => condition(),
        2 => (select(&["AND", "OR"][..]), children)
            .prop_map(|(kind, children)| json!({"type": kind, "children": children})),
        1 => node.prop_map(|child| json!({"type": "NOT", "child": child})),
        1 => items(),
        1 => length(),
    ]
    .boxed()
}

const ORDERS: [&str; 6] = ["eq", "ne", "lt", "lte", "gt", "gte"];
const IF_MISSING: [Option<bool>; 5] = [None, None, None, Some(true), Some(false)];

/// Generates an `ANY` or `ALL` node, with one to three tests of which the first is about the item.
fn items() -> BoxedStrategy<Value> {
    let of_item = (condition(), of_groups(&[Group::Text, Group::Text, Group::Number]));
    let of_item = (any::<bool>(), of_item).prop_map(|(is_any, (other, own))| {
        let mut test = if is_any { other } else { own };
        if is_any && test["value"]["attribute"].is_string() {
            test["value"]["attribute"] = "item".into();
        } else if test["operator"] != "exists" {
            test["attribute"] = "item".into();
            test.as_object_mut().expect("a node").remove("if_missing");
        }
        test
    });
    let is_about_item =
        |test: &Value| test["attribute"] == "item" || test["value"]["attribute"] == "item";
    let first = of_item.clone().prop_filter("names `item`", is_about_item);
    let others = vec(prop_oneof![2 => of_item.boxed(), 1 => condition()], 0..3);
    let joined = (select(&["AND", "OR"][..]), first, others).prop_map(|(kind, first, others)| {
        let children: Vec<Value> = std::iter::once(first).chain(others).collect();
        json!({"type": kind, "children": children})
    });
    let child = prop_oneof![
        3 => joined.clone(),
        1 => joined.prop_map(|child| json!({"type": "NOT", "child": child})),
    ];
    let quantifier = select(&["ANY", "ALL"][..]);
    (quantifier, path(Group::List), child, select(&IF_MISSING[..]))
        .prop_map(|(kind, path, child, if_missing)| {
            with_default(json!({"type": kind, "attribute": path, "child": child}), if_missing)
        })
        .boxed()
}

/// Generates a `LENGTH` node.
fn length() -> BoxedStrategy<Value> {
    let value = or_attribute((0..4).prop_map(Value::from).boxed(), Group::Number);
    (select(&ORDERS[..]), path(Group::List), value, select(&IF_MISSING[..]))
        .prop_map(|(operator, path, value, if_missing)| {
            let node =
                json!({"type": "LENGTH", "attribute": path, "operator": operator, "value": value});
            with_default(node, if_missing)
        })
        .boxed()
}

fn with_default(mut node: Value, if_missing: Option<bool>) -> Value {
    if let Some(truth) = if_missing {
        node["if_missing"] = truth.into();
    }
    node
}

/// Generates a `CONDITION` node of these groups.
fn of_groups(groups: &[Group]) -> BoxedStrategy<Value> {
    let of_group = |group: &Group| {
        let fitting = OPERATORS.iter().filter(|(_, groups)| groups.contains(group));
        Union::new(fitting.map(|(operator, _)| condition_on(operator, *group)))
    };
    Union::new(groups.iter().map(of_group)).boxed()
}

/// Generates a `CONDITION` node.
fn condition() -> BoxedStrategy<Value> {
    let of_operator = |(operator, groups): &(&'static str, Vec<Group>)| {
        Union::new(groups.iter().map(|group| condition_on(operator, *group)))
    };
    Union::new(OPERATORS.iter().map(of_operator)).boxed()
}

fn condition_on(operator: &'static str, group: Group) -> BoxedStrategy<Value> {
    (path(group), operand(operator, group), select(&IF_MISSING[..]))
        .prop_map(move |(path, value, if_missing)| {
            let mut node = json!({"type": "CONDITION", "attribute": path, "operator": operator});
            // `exists` itself decides for an absent attribute.
            if operator != "exists" {
                node["value"] = value;
                if let Some(if_missing) = if_missing {
                    node["if_missing"] = if_missing.into();
                }
            }
            node
        })
        .boxed()
}

fn path(group: Group) -> BoxedStrategy<&'static str> {
    let others = Group::ALL.iter().flat_map(|group| group.paths()).chain(&OTHER_PATHS);
    prop_oneof![
        9 => select(group.paths()),
        1 => select(others.copied().collect::<Vec<_>>()),
    ]
    .boxed()
}

/// Generates a right side that `operator` accepts, mostly one that values of `group` can equal.
fn operand(operator: &str, group: Group) -> BoxedStrategy<Value> {
    let texts = |texts: &[&'static str]| -> BoxedStrategy<Value> {
        select(texts.to_vec()).prop_map(Value::from).boxed()
    };
    match operator {
        "exists" => Just(Value::Null).boxed(),
        "matches" => texts(&PATTERNS.map(|(pattern, _)| pattern)),
        "ip_in" => {
            let many = vec(select(&NETWORKS[..]), 0..4).prop_map(|networks| json!(networks));
            prop_oneof![texts(&NETWORKS), many].boxed()
        }
        "during" => select(windows()).boxed(),
        "before" | "after" => or_attribute(texts(&DATES), group),
        "within" | "within_next" => texts(&DURATIONS),
        "starts_with" | "ends_with" => or_attribute(scalars(&[Group::Text]), group),
        "contains_any" | "contains_all" => {
            let list = vec(select(items_of_lists()), 0..4).prop_map(|items| {
                // A literal list has texts and numbers alone.
                items.into_iter().filter(|item| !item.is_boolean()).collect::<Value>()
            });
            or_attribute(list.boxed(), Group::List)
        }
        "in" | "not_in" => {
            let list = vec(scalars(&[group, group, Group::Text, Group::Number]), 0..5);
            or_attribute(list.prop_map(Value::from).boxed(), Group::List)
        }
        "contains" if group == Group::List => {
            let item = scalars(&[Group::Text, Group::Text, Group::Number, Group::Bool]);
            let of_lists = select(items_of_lists()).boxed();
            or_attribute(prop_oneof![of_lists, item].boxed(), Group::Text)
        }
        "lt" | "lte" | "gt" | "gte" => {
            or_attribute(scalars(&[group, group, group, Group::Text, Group::Number]), group)
        }
        _ => or_attribute(scalars(&[group, group, group, Group::Text, Group::Bool]), group),
    }
}

/// Generates a literal or another attribute.
fn or_attribute(literal: BoxedStrategy<Value>, group: Group) -> BoxedStrategy<Value> {
    let attribute = path(group).prop_map(|path| json!({"attribute": path}));
    prop_oneof![3 => literal, 1 => attribute].boxed()
}

fn scalars(groups: &[Group]) -> BoxedStrategy<Value> {
    Union::new(groups.iter().map(|group| typical(*group))).boxed()
}

/// Generates a value of the group. Every other one is among the first few, so that values match.
fn typical(group: Group) -> BoxedStrategy<Value> {
    let values = group.values();
    let few = values.iter().take(6).cloned().collect::<Vec<_>>();
    prop_oneof![select(few), select(values)].boxed()
}

fn items_of_lists() -> Vec<Value> {
    let lists = Group::List.values();
    lists.iter().flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect()
}

/// Generates the value of an attribute that mostly has values of `group`; `None` is absent.
fn value(group: Group) -> BoxedStrategy<Option<Value>> {
    let any_group: Vec<Value> = Group::ALL.iter().flat_map(|group| group.values()).collect();
    prop_oneof![
        2 => Just(None),
        7 => typical(group).prop_map(Some),
        1 => select(any_group).prop_map(Some),
    ]
    .boxed()
}

/// Generates a value like [`value`], or one that only claims may have.
fn claim(group: Group) -> BoxedStrategy<Option<Value>> {
    prop_oneof![6 => value(group), 1 => select(claims_only()).prop_map(Some)].boxed()
}

/// Generates one or several roles, sometimes among items that are no roles.
fn roles() -> BoxedStrategy<Option<Value>> {
    let names = || select(&ROLES[..]).prop_map(Value::from);
    let items = prop_oneof![5 => names(), 1 => Just(json!(1))];
    prop_oneof![
        1 => Just(None),
        4 => vec(items, 0..4).prop_map(|roles| Some(roles.into())),
        1 => names().prop_map(Some),
    ]
    .boxed()
}

fn object(members: Vec<(&str, Option<Value>)>) -> Value {
    let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

fn user() -> impl Strategy<Value = Value> {
    let roles = prop_oneof![5 => roles(), 1 => value(Group::Number)];
    let (text, number, flag) = (value(Group::Text), value(Group::Number), value(Group::Bool));
    let (list, date, ip) = (value(Group::List), value(Group::Date), value(Group::Ip));
    (text.clone(), text, number, flag, list, roles, date, ip).prop_map(
        |(dept, city, level, flag, tags, roles, since, ip)| {
            object(vec![
                ("dept", dept),
                ("home.city", city),
                ("level", level),
                ("flag", flag),
                ("tags", tags),
                ("roles", roles),
                ("since", since),
                ("ip", ip),
            ])
        },
    )
}

fn resource_attributes() -> impl Strategy<Value = Value> {
    let (text, number, flag) = (value(Group::Text), value(Group::Number), value(Group::Bool));
    let (list, date, ip) = (value(Group::List), value(Group::Date), value(Group::Ip));
    let texts = (text.clone(), text);
    (texts, number, flag, list, date, ip).prop_map(|((id, owner), level, flag, tags, until, ip)| {
        object(vec![
            ("id", id),
            ("owner", owner),
            ("level", level),
            ("flag", flag),
            ("tags", tags),
            ("until", until),
            ("ip", ip),
        ])
    })
}

fn action_attributes() -> impl Strategy<Value = Value> {
    (value(Group::Text), value(Group::Bool))
        .prop_map(|(mode, soft)| object(vec![("mode", mode), ("soft", soft)]))
}

fn context() -> impl Strategy<Value = Value> {
    (value(Group::Text), value(Group::Ip))
        .prop_map(|(channel, ip)| object(vec![("channel", channel), ("ip", ip)]))
}

/// Generates claims: nested ones, one whose name has a dot, one that is both, `null`, and objects.
fn claims() -> impl Strategy<Value = Value> {
    let text = claim(Group::Text);
    let texts = (text.clone(), text.clone(), text.clone(), text);
    let typed = (claim(Group::Number), claim(Group::Bool), claim(Group::List), claim(Group::Date));
    let roles = (roles(), any::<bool>());
    (select(&SUBJECTS[..]), roles, texts, typed, claim(Group::Ip), claim(Group::Number)).prop_map(
        |(sub, (roles, literal), texts, (level, flag, tags, since), ip, size)| {
            let (unit, team, literal_mail, mail) = texts;
            let literal_roles = roles.clone().filter(|_| literal);
            // The semantics does not define a literal claim that is `null` beside a path of the same name.
            let literal_mail = literal_mail.filter(|value| !value.is_null());
            object(vec![
                ("sub", Some(json!(sub))),
                ("realm_access.roles", literal_roles),
                ("realm_access", Some(object(vec![("roles", roles.filter(|_| !literal))]))),
                ("org", Some(object(vec![("unit", unit), ("size", size)]))),
                ("team.name", team),
                ("contact.mail", literal_mail),
                ("contact", Some(object(vec![("mail", mail)]))),
                ("level", level),
                ("flag", flag),
                ("tags", tags),
                ("since", since),
                ("ip", ip),
                ("nothing", Some(Value::Null)),
            ])
        },
    )
}

/// Generates a check of one of `resources`.
fn request(resources: &'static [&'static str]) -> impl Strategy<Value = Request> {
    let question = (select(&SUBJECTS[..]), select(resources), select(&ACTIONS[..]));
    let domains = (proptest::option::of(select(&DOMAINS[..])), select(&DOMAINS[..]));
    let attributes =
        (maybe(user()), maybe(resource_attributes()), maybe(action_attributes()), maybe(context()));
    (question, domains, attributes, maybe(claims()), select(&NOWS[..])).prop_map(
        |((subject, resource, action), (domain, own_domain), attributes, claims, now)| {
            let (user, of_resource, of_action, context) = attributes;
            let attributes = object(vec![
                ("user", user),
                ("resource", of_resource),
                ("action", of_action),
                ("context", context),
            ]);
            Request {
                failed: Vec::new(),
                body: object(vec![
                    ("subject", Some(json!(subject))),
                    ("resource", Some(json!(resource))),
                    ("action", Some(json!(action))),
                    ("domain", domain.map(Value::from)),
                    ("attributes", Some(attributes)),
                ]),
                claims,
                caller_domain: own_domain.to_owned(),
                now: now.to_owned(),
            }
        },
    )
}

/// Generates an option that is mostly present.
fn maybe<S: Strategy>(strategy: S) -> impl Strategy<Value = Option<S::Value>> {
    proptest::option::weighted(0.9, strategy)
}
