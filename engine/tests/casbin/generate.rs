//! Generates matchers and requests. All attributes are present and of the types that the matcher compares.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// The shape of a request: in Casbin the subject and the object are each a string or have attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) sub_has_attributes: bool,
    pub(crate) obj_has_attributes: bool,
}

impl Shape {
    /// Returns the names of `names` that a request of this shape has.
    fn names(self, names: &[&'static str]) -> Vec<&'static str> {
        let has = |name: &&str| match (name.starts_with("r.sub"), name.starts_with("r.obj")) {
            (true, _) => (name.len() > "r.sub".len()) == self.sub_has_attributes,
            (_, true) => (name.len() > "r.obj".len()) == self.obj_has_attributes,
            _ => true,
        };
        names.iter().copied().filter(has).collect()
    }
}

const NUMBERS: [&str; 4] = ["r.sub.age", "r.sub.level", "r.obj.size", "r.obj.price.net"];
const TEXTS: [&str; 7] =
    ["r.sub.name", "r.sub.home.city", "r.obj.owner", "r.sub", "r.obj", "r.act", "r.dom"];
const BOOLEANS: [&str; 2] = ["r.sub.vip", "r.obj.open"];
const TEXT_LISTS: [&str; 2] = ["r.sub.tags", "r.obj.readers"];
const NUMBER_LISTS: [&str; 1] = ["r.sub.floors"];
const PATHS: [&str; 2] = ["r.obj.path", "r.sub.home.path"];
const ADDRESSES: [&str; 1] = ["r.sub.ip"];

const NUMBER_VALUES: [i32; 7] = [-7, -1, 0, 1, 2, 18, 60];
const TEXT_VALUES: [&str; 12] =
    ["", "a", "ab", "b", "A", "alice", "read", "doc:read", "ä", "it's", "say \"a\"", "back\\slash"];
/// The texts of subjects, actions and domains.
const NAME_VALUES: [&str; 6] = ["a", "ab", "b", "alice", "read", "ä"];
const RESOURCE_VALUES: [&str; 4] = ["doc:read", "a:b", "doc:write", "docs/a:read"];
const PATH_VALUES: [&str; 9] =
    ["/", "/a", "/a/", "/a/1", "/a/1/b", "/a/1/b/2", "/b", "a/1", "/a:x/1"];
const ADDRESS_VALUES: [&str; 5] = ["10.0.0.1", "10.1.2.3", "192.168.7.9", "2001:db8::1", "::1"];

const KEYS: [&str; 8] = ["*", "/*", "/a*", "/a/*", "/a", "/a/1", "/b/*", "/a/*/b"];
const KEYS2: [&str; 8] =
    ["/*", "/a/:id", "/:x", "/:x/:y", "/a/:id/b", "/a/:id/*", "/a", "/(a|b)/:id"];
const EXPRESSIONS: [&str; 8] = ["a", "^a", "a$", "^[a-z]+$", "^a|b$", "\\d", "^$", "(?i)^A"];
const NETWORKS: [&str; 6] =
    ["10.0.0.0/8", "10.1.0.0/16", "10.0.0.1", "192.168.0.0/16", "2001:db8::/32", "::/0"];

/// A matcher before it becomes text.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    /// The kind of the leaf, its text for Casbin, and another text with the same meaning for the engine.
    Leaf(&'static str, String, String),
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

/// One of two ways to write an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// The style that casbin-rs reads as well.
    Casbin,
    /// Literals on the other side, single quotes, lists in parentheses, other white space.
    Other,
}

impl Expression {
    pub(crate) fn write(&self, style: Style) -> String {
        let joined = |parts: &[Self], symbol: &str| {
            let parts: Vec<_> = parts.iter().map(|part| part.write(style)).collect();
            match style {
                Style::Casbin => format!("({})", parts.join(&format!(" {symbol} "))),
                Style::Other => format!("(\t{} )", parts.join(symbol)),
            }
        };
        match (self, style) {
            (Self::Leaf(_, text, _), Style::Casbin) => text.clone(),
            (Self::Leaf(_, _, other), Style::Other) => other.clone(),
            (Self::Not(part), _) => format!("!({})", part.write(style)),
            (Self::All(parts), _) => joined(parts, "&&"),
            (Self::Any(parts), _) => joined(parts, "||"),
        }
    }
}

/// Writes a string literal for casbin-rs.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn turned(operator: &str) -> &str {
    match operator {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        same => same,
    }
}

/// Writes a literal in both styles.
type Literal = (String, String);

fn number() -> BoxedStrategy<Literal> {
    select(&NUMBER_VALUES[..]).prop_map(|n| (n.to_string(), n.to_string())).boxed()
}

fn text(values: &'static [&'static str]) -> BoxedStrategy<Literal> {
    select(values).prop_map(|text| (quoted(text), single_quoted(text))).boxed()
}

fn boolean() -> BoxedStrategy<Literal> {
    any::<bool>().prop_map(|value| (value.to_string(), value.to_string())).boxed()
}

/// Writes `name operator literal`, or swaps the sides.
fn comparison(
    kind: &'static str,
    names: Vec<&'static str>,
    operators: &'static [&'static str],
    literal: BoxedStrategy<Literal>,
) -> BoxedStrategy<Expression> {
    (select(names), select(operators), literal, any::<bool>())
        .prop_map(move |(name, operator, (text, other), swap)| {
            let straight = |literal: &str| format!("{name} {operator} {literal}");
            let swapped = |literal: &str| format!("{literal}{}{name}", turned(operator));
            let (text, other) = if swap {
                (swapped(&text), straight(&other))
            } else {
                (straight(&text), swapped(&other))
            };
            Expression::Leaf(kind, text, other)
        })
        .boxed()
}

/// Writes `name operator name`; each name is of the request.
fn between(
    kind: &'static str,
    names: Vec<&'static str>,
    operators: &'static [&'static str],
) -> BoxedStrategy<Expression> {
    (select(names.clone()), select(operators), select(names))
        .prop_map(move |(left, operator, right)| {
            let text = format!("{left} {operator} {right}");
            Expression::Leaf(kind, text, format!("{left}{operator}\n{right}"))
        })
        .boxed()
}

fn list(
    kind: &'static str,
    names: Vec<&'static str>,
    item: BoxedStrategy<Literal>,
) -> BoxedStrategy<Expression> {
    (select(names), prop::collection::vec(item, 0..4))
        .prop_map(move |(name, items)| {
            let (texts, others): (Vec<_>, Vec<_>) = items.into_iter().unzip();
            let text = format!("{name} in [{}]", texts.join(", "));
            Expression::Leaf(kind, text, format!("{name} in({})", others.join(",")))
        })
        .boxed()
}

fn contained(
    kind: &'static str,
    lists: Vec<&'static str>,
    item: BoxedStrategy<Literal>,
) -> BoxedStrategy<Expression> {
    (item, select(lists))
        .prop_map(move |((text, other), list)| {
            Expression::Leaf(kind, format!("{text} in {list}"), format!("{other}  in {list}"))
        })
        .boxed()
}

fn call(
    function: &'static str,
    names: Vec<&'static str>,
    patterns: &'static [&'static str],
) -> BoxedStrategy<Expression> {
    (select(names), text(patterns))
        .prop_map(move |(name, (text, other))| {
            let call = |literal: &str, space: &str| format!("{function}({name},{space}{literal})");
            Expression::Leaf(function, call(&text, " "), call(&other, ""))
        })
        .boxed()
}

/// The kinds of leaves. Each must occur both true and false.
pub(crate) const KINDS: [&str; 15] = [
    "number",
    "numbers",
    "text",
    "texts",
    "boolean",
    "booleans",
    "bare",
    "in list",
    "number in list",
    "in attribute",
    "number in attribute",
    "keyMatch",
    "keyMatch2",
    "regexMatch",
    "ipMatch",
];

const ALL: &[&str] = &["==", "!=", "<", "<=", ">", ">="];
const EQUAL: &[&str] = &["==", "!="];

/// Generates a leaf whose attributes a request of this shape has.
pub(crate) fn leaf(shape: Shape) -> BoxedStrategy<Expression> {
    let names = |names: &[&'static str]| shape.names(names);
    let numbers = names(&NUMBERS);
    let texts = names(&TEXTS);
    let booleans = names(&BOOLEANS);
    let lists = names(&TEXT_LISTS);
    let number_lists = names(&NUMBER_LISTS);
    let [paths, addresses] = [names(&PATHS), names(&ADDRESSES)];
    let mut leaves = vec![
        comparison("text", texts.clone(), ALL, text(&TEXT_VALUES)),
        between("texts", texts.clone(), ALL),
        list("in list", texts.clone(), text(&TEXT_VALUES)),
        call("regexMatch", texts.clone(), &EXPRESSIONS),
    ];
    if !numbers.is_empty() {
        leaves.push(comparison("number", numbers.clone(), ALL, number()));
        leaves.push(between("numbers", numbers.clone(), ALL));
        leaves.push(list("number in list", numbers.clone(), number()));
    }
    if !booleans.is_empty() {
        leaves.push(comparison("boolean", booleans.clone(), EQUAL, boolean()));
        leaves.push(between("booleans", booleans.clone(), EQUAL));
        let bare = select(booleans).prop_map(|name| {
            Expression::Leaf("bare", name.to_owned(), format!("(true == {name} )"))
        });
        leaves.push(bare.boxed());
    }
    if !lists.is_empty() {
        leaves.push(contained("in attribute", lists.clone(), text(&TEXT_VALUES)));
        let in_list = (select(texts), select(lists)).prop_map(|(name, list)| {
            let text = format!("{name} in {list}");
            Expression::Leaf("in attribute", text.clone(), format!("({text})"))
        });
        leaves.push(in_list.boxed());
    }
    if !number_lists.is_empty() {
        leaves.push(contained("number in attribute", number_lists, number()));
        leaves.push(call("ipMatch", addresses, &NETWORKS));
    }
    if !paths.is_empty() {
        leaves.push(call("keyMatch", paths.clone(), &KEYS));
        leaves.push(call("keyMatch2", paths, &KEYS2));
    }
    prop::strategy::Union::new(leaves).boxed()
}

/// Generates a matcher of this shape.
pub(crate) fn expression(shape: Shape) -> BoxedStrategy<Expression> {
    let constant = |value: &str| Expression::Leaf("constant", value.to_owned(), value.to_owned());
    let constant = select(vec![constant("true"), constant("false")]);
    let leaf = prop_oneof![20 => leaf(shape), 1 => constant];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            parts.clone().prop_map(Expression::All),
            parts.prop_map(Expression::Any),
            inner.prop_map(|part| Expression::Not(Box::new(part))),
        ]
    })
    .boxed()
}

pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    (any::<bool>(), any::<bool>()).prop_map(|(sub_has_attributes, obj_has_attributes)| Shape {
        sub_has_attributes,
        obj_has_attributes,
    })
}

/// A request: the value of `r` for Casbin; the names and attributes for the engine.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) sub: Value,
    pub(crate) obj: Value,
    pub(crate) act: &'static str,
    pub(crate) dom: &'static str,
}

pub(crate) fn request(shape: Shape) -> impl Strategy<Value = Request> {
    let number = || select(&NUMBER_VALUES[..]);
    let text = || select(&TEXT_VALUES[..]);
    let path = || select(&PATH_VALUES[..]);
    let texts = || prop::collection::vec(text(), 0..4);
    let user = (
        (number(), number(), text(), text(), any::<bool>()),
        (texts(), prop::collection::vec(number(), 0..4), select(&ADDRESS_VALUES[..]), path()),
    )
        .prop_map(|((age, level, name, city, vip), (tags, floors, ip, path))| {
            json!({"age": age, "level": level, "name": name, "home": {"city": city, "path": path},
                "vip": vip, "tags": tags, "floors": floors, "ip": ip})
        });
    let resource = (number(), number(), text(), any::<bool>(), texts(), path()).prop_map(
        |(size, net, owner, open, readers, path)| {
            json!({"size": size, "price": {"net": net}, "owner": owner, "open": open,
                "readers": readers, "path": path})
        },
    );
    let name = |values: &'static [&'static str]| select(values).prop_map(|name| json!(name));
    let sub = if shape.sub_has_attributes { user.boxed() } else { name(&NAME_VALUES).boxed() };
    let obj =
        if shape.obj_has_attributes { resource.boxed() } else { name(&RESOURCE_VALUES).boxed() };
    (sub, obj, select(&NAME_VALUES[..]), select(&NAME_VALUES[..]))
        .prop_map(|(sub, obj, act, dom)| Request { sub, obj, act, dom })
}
