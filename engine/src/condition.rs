//! Condition trees: their types, their validation with JSON pointers, and their three-valued meaning
//! (`docs/semantics.md`, sections 4.2 and 4.4).

use std::fmt;

use chrono::{DateTime, Utc};
use compact_str::CompactString;
use ipnet::IpNet;
use strum::{Display, EnumString, VariantArray};

use crate::during::TimeWindow;
use crate::fields::{Fields, boolean, string, typed};
use crate::invalid::{Invalid, Place, Problems};
use crate::json::Json;
use crate::nearest::{any_of, nearest};
use crate::number::Number;
use crate::operator::{self, Networks, Operator, Takes, UnaryOperator, parse_network};
use crate::pattern::{Pattern, PatternCheck};
use crate::value::{AttributeValue, List, LiteralList, heap_bytes, parse_instant};

/// The maximum depth of a tree. A root alone has depth 1.
pub const MAX_DEPTH: usize = 32;
/// The maximum number of nodes in a tree.
pub const MAX_NODES: usize = 1_000;
/// The maximum number of values in one list.
pub const MAX_LIST: usize = 10_000;

/// Completes "expected …" for a `value` that is `null`.
const NO_NULL: &str = "a value, not null: no attribute is null; to test whether the attribute is present, use \
    `exists` and leave `value` out";

/// A condition over attributes.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// False if any child is false, else undetermined if any is, else true.
    And(Box<[Condition]>),
    /// True if any child is true, else undetermined if any is, else false.
    Or(Box<[Condition]>),
    /// The negation; undetermined stays undetermined.
    Not(Box<Condition>),
    /// A test of one attribute.
    Test(Test),
}

/// A test of one attribute: the `CONDITION` node. `A` identifies an attribute: by its path in a tree, by its slot in a
/// plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Test<A = AttributePath> {
    /// The attribute.
    pub attribute: A,
    /// The requirement on its value.
    pub predicate: Predicate<A>,
    /// The truth for an absent attribute, which is undetermined otherwise.
    pub if_missing: Option<bool>,
}

/// A requirement on the value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Predicate<A = AttributePath> {
    /// The attribute is present.
    Exists,
    /// The operator holds between the attribute and the operand.
    Compare(Operator, Operand<A>),
    /// The whole string matches.
    Matches(Pattern),
    /// The attribute is an address inside one of the networks.
    IpIn(Networks),
    /// The attribute is an instant inside the window.
    During(TimeWindow),
}

/// The right side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operand<A = AttributePath> {
    Attribute(A),
    Text(CompactString),
    Number(Number),
    Bool(bool),
    List(LiteralList),
    Instant(DateTime<Utc>),
}

/// The path of an attribute: its kind, and its name within that kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributePath {
    /// `user.<name>`, from the request.
    User(CompactString),
    /// `resource.<name>`, from the request.
    Resource(CompactString),
    /// `action.<name>`, from the request.
    Action(CompactString),
    /// `context.<name>`, from the request.
    Context(CompactString),
    /// `request.<field>`
    Request(RequestField),
    /// `token.<dotted path>`, a verified claim of the caller.
    Token(CompactString),
    /// `<namespace>.<name>`, from the resolver of the namespace.
    Resolver(ResolverAttribute),
}

/// The path of an attribute that a resolver provides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResolverAttribute {
    /// The resolver's namespace.
    pub namespace: Box<str>,
    /// The name within it.
    pub name: Box<str>,
}

/// A field of `request.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RequestField {
    Subject,
    Resource,
    Object,
    Action,
    Domain,
    Time,
    Roles,
}

impl fmt::Display for AttributePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "user.{name}"),
            Self::Resource(name) => write!(f, "resource.{name}"),
            Self::Action(name) => write!(f, "action.{name}"),
            Self::Context(name) => write!(f, "context.{name}"),
            Self::Request(field) => write!(f, "request.{field}"),
            Self::Token(path) => write!(f, "token.{path}"),
            Self::Resolver(ResolverAttribute { namespace, name }) => {
                write!(f, "{namespace}.{name}")
            }
        }
    }
}

impl AttributePath {
    /// Parses a path such as `user.department`. Does not check that the resolver of a namespace exists, nor its
    /// attribute: [`Condition::check`] does.
    ///
    /// # Errors
    /// The expected form, in words that complete "expected …".
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, name) = text
            .split_once('.')
            .filter(|(kind, name)| !kind.is_empty() && !name.is_empty())
            .ok_or_else(|| {
                "a dotted path `<kind>.<name>`, such as `user.department`; the kind is `user`, `resource`, \
                 `action`, `context`, `request`, `token` or the namespace of a resolver"
                    .to_owned()
            })?;
        match kind {
            "user" => Ok(Self::User(name.into())),
            "resource" => Ok(Self::Resource(name.into())),
            "action" => Ok(Self::Action(name.into())),
            "context" => Ok(Self::Context(name.into())),
            "token" => Ok(Self::Token(name.into())),
            "request" => name.parse().map(Self::Request).map_err(|_| {
                any_of(RequestField::VARIANTS.iter().map(|field| format!("request.{field}")))
            }),
            namespace => Ok(Self::Resolver(ResolverAttribute {
                namespace: namespace.into(),
                name: name.into(),
            })),
        }
    }

    /// Returns whether the body of a check carries the attribute, with any value or none.
    pub fn is_sent(&self) -> bool {
        matches!(self, Self::User(_) | Self::Resource(_) | Self::Action(_) | Self::Context(_))
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::User(name)
            | Self::Resource(name)
            | Self::Action(name)
            | Self::Context(name)
            | Self::Token(name) => heap_bytes(name),
            Self::Resolver(ResolverAttribute { namespace, name }) => namespace.len() + name.len(),
            Self::Request(_) => 0,
        }
    }

    fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let text = string(json, at, problems)?;
        Self::parse(text).map_err(|expected| problems.expected(at, expected)).ok()
    }
}

impl Condition {
    /// Reads and compiles a whole tree.
    ///
    /// # Errors
    /// Every fault, by JSON pointer into the tree.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let condition =
            Self::read(json, &Place::root(), &mut problems, &mut PatternCheck::compile());
        problems.finish(condition)
    }

    /// Returns every test, in the order of the tree.
    pub fn tests(&self) -> Vec<&Test> {
        match self {
            Self::And(children) | Self::Or(children) => {
                children.iter().flat_map(Self::tests).collect()
            }
            Self::Not(child) => child.tests(),
            Self::Test(test) => vec![test],
        }
    }

    /// Reads a tree at `at` of a larger input. Notes every fault in `problems`.
    pub(crate) fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        patterns: &mut PatternCheck,
    ) -> Option<Self> {
        TreeReader { nodes: 0, patterns }.node(json, at, problems, 1)
    }
}

impl<A> Test<A> {
    /// Replaces every attribute by the result of `name`.
    pub(crate) fn map<B>(self, name: &mut impl FnMut(A) -> B) -> Test<B> {
        Test {
            attribute: name(self.attribute),
            predicate: match self.predicate {
                Predicate::Exists => Predicate::Exists,
                Predicate::Compare(operator, operand) => {
                    Predicate::Compare(operator, operand.map(name))
                }
                Predicate::Matches(pattern) => Predicate::Matches(pattern),
                Predicate::IpIn(networks) => Predicate::IpIn(networks),
                Predicate::During(window) => Predicate::During(window),
            },
            if_missing: self.if_missing,
        }
    }
}

impl<A> Operand<A> {
    fn map<B>(self, name: &mut impl FnMut(A) -> B) -> Operand<B> {
        match self {
            Self::Attribute(path) => Operand::Attribute(name(path)),
            Self::Text(text) => Operand::Text(text),
            Self::Number(number) => Operand::Number(number),
            Self::Bool(value) => Operand::Bool(value),
            Self::List(list) => Operand::List(list),
            Self::Instant(instant) => Operand::Instant(instant),
        }
    }
}

impl<A> Predicate<A> {
    /// Returns the name of the operator in a condition tree.
    pub(crate) fn operator_name(&self) -> &'static str {
        match self {
            Self::Exists => UnaryOperator::Exists.into_str(),
            Self::Compare(operator, _) => operator.into_str(),
            // A condition tree has no operator for a search; only Casbin's function `regexMatch` makes one.
            Self::Matches(pattern) if pattern.is_search() => "regexMatch",
            Self::Matches(_) => UnaryOperator::Matches.into_str(),
            Self::IpIn(_) => UnaryOperator::IpIn.into_str(),
            Self::During(_) => UnaryOperator::During.into_str(),
        }
    }
}

impl<A> Operand<A> {
    /// Returns the value of a literal. An attribute has no value of its own: it is opaque.
    pub(crate) fn literal(&self) -> AttributeValue<'_> {
        match self {
            Self::Attribute(_) => AttributeValue::Opaque,
            Self::Text(text) => AttributeValue::Text(text),
            Self::Number(number) => AttributeValue::Number(*number),
            Self::Bool(value) => AttributeValue::Bool(*value),
            Self::List(list) => AttributeValue::List(List::Literals(list)),
            Self::Instant(instant) => AttributeValue::Instant(*instant),
        }
    }
}

/// Reads a tree within its limits.
struct TreeReader<'p> {
    nodes: usize,
    patterns: &'p mut PatternCheck,
}

impl TreeReader<'_> {
    fn node(
        &mut self,
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        depth: usize,
    ) -> Option<Condition> {
        self.nodes += 1;
        // Noted once, at the first node beyond the limit.
        if self.nodes == MAX_NODES + 1 {
            problems.expected(at, format!("at most {MAX_NODES} nodes in the whole tree"));
        }
        if depth > MAX_DEPTH {
            problems.expected(at, format!("a tree at most {MAX_DEPTH} nodes deep"));
        }
        if self.nodes > MAX_NODES || depth > MAX_DEPTH {
            return None;
        }
        let mut fields = Fields::open(json, at, problems)?;
        let kind = fields.required("type", string)?;
        let node = match kind {
            "AND" | "OR" => {
                let children = fields.required("children", |json, at, problems| {
                    self.children(json, at, problems, depth)
                });
                children.map(|children| match kind {
                    "AND" => Condition::And(children),
                    _ => Condition::Or(children),
                })
            }
            "NOT" => fields
                .required("child", |json, at, problems| self.node(json, at, problems, depth + 1))
                .map(|child| Condition::Not(Box::new(child))),
            "CONDITION" => read_test(&mut fields, self.patterns).map(Condition::Test),
            _ => {
                fields.expected_at("type", "`CONDITION`, `AND`, `OR` or `NOT`");
                return None;
            }
        };
        fields.close();
        node
    }

    fn children(
        &mut self,
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        depth: usize,
    ) -> Option<Box<[Condition]>> {
        let items = typed(json.as_array(), "an array of nodes", json, at, problems)?;
        if items.is_empty() {
            problems.expected(at, "at least one child");
            return None;
        }
        let mut children = Vec::with_capacity(items.len().min(MAX_NODES));
        for (index, item) in items.iter().enumerate() {
            children.extend(self.node(item, &at.index(index), problems, depth + 1));
            if self.nodes > MAX_NODES {
                return None;
            }
        }
        (children.len() == items.len()).then(|| children.into())
    }
}

fn read_test(fields: &mut Fields<'_, '_>, patterns: &mut PatternCheck) -> Option<Test> {
    let attribute = fields.required("attribute", AttributePath::read);
    let if_missing = fields.optional("if_missing", boolean);
    let operator = fields.required("operator", string);
    // The expected type of `value` depends on the operator. An unknown operator leaves `value` unread.
    fields.skip("value");
    let predicate = read_predicate(fields, operator?, patterns);
    if if_missing.is_some() && matches!(predicate, Some(Predicate::Exists)) {
        fields.expected_at("if_missing", "no `if_missing`: `exists` itself says what absent gives");
    }
    Some(Test { attribute: attribute?, predicate: predicate?, if_missing })
}

fn read_predicate(
    fields: &mut Fields<'_, '_>,
    operator: &str,
    patterns: &mut PatternCheck,
) -> Option<Predicate> {
    if let Ok(operator) = operator.parse() {
        return read_unary(fields, operator, patterns);
    }
    let Ok(operator) = operator.parse::<Operator>() else {
        fields.expected_at("operator", known_operators(operator));
        return None;
    };
    let takes = operator.row().takes;
    right_side(fields, |json, at, problems| read_operand(takes, json, at, problems))
        .map(|operand| Predicate::Compare(operator, operand))
}

fn read_unary(
    fields: &mut Fields<'_, '_>,
    operator: UnaryOperator,
    patterns: &mut PatternCheck,
) -> Option<Predicate> {
    match operator {
        UnaryOperator::Exists => {
            if fields.optional("value", |_, _, _| Some(())).is_some() {
                fields.expected_at("value", "no `value` beside `exists`");
            }
            Some(Predicate::Exists)
        }
        UnaryOperator::Matches => {
            let read = |json: &Json<'_>, at: &Place<'_>, problems: &mut Problems| {
                read_pattern(json, at, problems, patterns)
            };
            right_side(fields, read).map(Predicate::Matches)
        }
        UnaryOperator::IpIn => right_side(fields, read_networks).map(Predicate::IpIn),
        UnaryOperator::During => right_side(fields, TimeWindow::read).map(Predicate::During),
    }
}

/// Reads `value`, which is required. No attribute has the value `null`, so that a comparison with it would never hold.
fn right_side<'j, T>(
    fields: &mut Fields<'j, '_>,
    read: impl FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
) -> Option<T> {
    if fields.is_null("value") {
        fields.expected_at("value", NO_NULL);
        return None;
    }
    fields.required("value", read)
}

/// Returns the names of the operators, and the one that `unknown` resembles.
fn known_operators(unknown: &str) -> String {
    let meant = nearest(unknown, operator::names());
    let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("{}{meant}", any_of(operator::names()))
}

impl Takes {
    /// Returns the right side as the operator compares it; `None` if it does not take such a one. A text becomes an
    /// instant for an operator that takes instants.
    pub(crate) fn convert(self, operand: Operand) -> Option<Operand> {
        match (self, operand) {
            (Self::Instant, Operand::Text(text)) => parse_instant(&text).map(Operand::Instant),
            (_, taken @ Operand::Attribute(_))
            | (Self::Scalar | Self::Ordered | Self::Text, taken @ Operand::Text(_))
            | (Self::Scalar | Self::Ordered, taken @ Operand::Number(_))
            | (Self::Scalar, taken @ Operand::Bool(_))
            | (Self::List, taken @ Operand::List(_)) => Some(taken),
            _ => None,
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Scalar => "a string, a number, a boolean or `{\"attribute\": \"<path>\"}`",
            Self::Ordered => "a string, a number or `{\"attribute\": \"<path>\"}`",
            Self::Text => "a string or `{\"attribute\": \"<path>\"}`",
            Self::List => "a list of strings and numbers or `{\"attribute\": \"<path>\"}`",
            Self::Instant => "an RFC 3339 date-time or `{\"attribute\": \"<path>\"}`",
        }
    }
}

fn read_operand(
    takes: Takes,
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Operand> {
    if let Json::Object(_) = json {
        let mut fields = Fields::open(json, at, problems)?;
        let path = fields.required("attribute", AttributePath::read);
        fields.close();
        return path.map(Operand::Attribute);
    }
    let literal = match (takes, json) {
        (_, Json::String(text)) => Some(Operand::Text((**text).into())),
        (_, Json::Number(number)) => Some(Operand::Number(*number)),
        (_, Json::Bool(value)) => Some(Operand::Bool(*value)),
        (Takes::List, Json::Array(items)) => return read_list(items, at, problems),
        _ => None,
    };
    let operand = literal.and_then(|literal| takes.convert(literal));
    if operand.is_none() {
        problems.expected(at, takes.expected());
    }
    operand
}

/// Returns whether a list has at most [`MAX_LIST`] values, and notes a problem otherwise.
fn short_enough(items: &[Json<'_>], at: &Place<'_>, problems: &mut Problems) -> bool {
    let short = items.len() <= MAX_LIST;
    if !short {
        problems.expected(at, format!("at most {MAX_LIST} values"));
    }
    short
}

fn read_list(items: &[Json<'_>], at: &Place<'_>, problems: &mut Problems) -> Option<Operand> {
    if !short_enough(items, at, problems) {
        return None;
    }
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match item {
            Json::String(text) => texts.push((**text).into()),
            Json::Number(number) => numbers.push(*number),
            _ => problems.expected(&at.index(index), "a string or a number"),
        }
    }
    Some(Operand::List(LiteralList::new(texts, numbers)))
}

fn read_pattern(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    patterns: &mut PatternCheck,
) -> Option<Pattern> {
    let source = string(json, at, problems)?;
    patterns
        .check(Pattern::new(source))
        .map_err(|fault| problems.expected(at, format!("a regular expression, but {fault}")))
        .ok()
}

fn read_network(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<IpNet> {
    let network = json.as_str().and_then(parse_network);
    if network.is_none() {
        problems.expected(at, "a network such as `10.0.0.0/8` with host bits zero, or an address");
    }
    network
}

/// Reads one network, or an array of networks.
fn read_networks(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Networks> {
    let networks = match json {
        Json::Array(items) if short_enough(items, at, problems) => items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| read_network(item, &at.index(index), problems))
            .collect(),
        Json::Array(_) => return None,
        single => vec![read_network(single, at, problems)?],
    };
    Some(Networks::new(&networks))
}
