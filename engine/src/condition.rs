//! Condition trees: their types, their validation with JSON pointers, and their three-valued meaning
//! (`docs/semantics.md`, sections 4.2 and 4.4).

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use compact_str::CompactString;
use strum::{Display, EnumString, VariantArray};

use crate::during::TimeWindow;
use crate::invalid::{Invalid, Place, Problems};
use crate::json::Json;
use crate::nearest::any_of;
use crate::number::Number;
use crate::operator::{Networks, Operator, Quantifier, Takes, UnaryOperator};
use crate::pattern::{Pattern, PatternCheck};
use crate::period::TimeSpan;
use crate::value::{AttributeValue, List, LiteralList, heap_bytes, parse_instant};
use crate::word::is_word;

pub(crate) mod items;
mod named;
mod reader;

pub use named::{NameFault, NamedConditions};

/// The maximum depth of a tree. A root alone has depth 1.
pub const MAX_DEPTH: usize = 32;
/// The maximum number of nodes in a tree.
pub const MAX_NODES: usize = 1_000;
/// The maximum number of values in one list.
pub const MAX_LIST: usize = 10_000;

/// The maximum length of a name, in characters.
pub const MAX_CONDITION_NAME: usize = 64;

/// Completes "expected …" for a text that names no condition.
pub const CONDITION_NAME: &str = "the name of a condition: a word of at most 64 letters, digits and `_`, which begins with no digit";

/// The word of expressions for the number of items.
pub(crate) const LENGTH: &str = "length";

/// Completes "expected …" for a duration.
pub(crate) const DURATION: &str = "a duration of days, hours, minutes and seconds such as `P30D` or `PT15M`, above zero and \
    at most `P36525D`, without weeks, months and years";

/// A condition over attributes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// False if any child is false, else undetermined if any is, else true.
    And(Box<[Condition]>),
    /// True if any child is true, else undetermined if any is, else false.
    Or(Box<[Condition]>),
    /// The negation; undetermined stays undetermined.
    Not(Box<Condition>),
    /// A test of one attribute.
    Test(Test),
    /// The condition that has this name.
    Named(Named),
}

/// The use of a named condition: the node `NAMED`, in expressions `condition.<name>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    name: Box<str>,
    /// The condition that the name stands for; `None` in a condition as it was written.
    meaning: Option<Arc<Condition>>,
}

impl Named {
    /// The word before the name in expressions.
    pub const NAMESPACE: &'static str = "condition";

    /// Makes the use of a name as it is written; `None` if no condition can have the name.
    pub fn written(name: &str) -> Option<Self> {
        let is_name = is_word(name) && name.chars().count() <= MAX_CONDITION_NAME;
        is_name.then(|| Self { name: name.into(), meaning: None })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the use of the name for this condition.
    pub(crate) fn with_meaning(self, meaning: Option<Arc<Condition>>) -> Self {
        Self { meaning, ..self }
    }

    /// Returns the condition that the name stands for; `None` in a condition as it was written.
    pub fn meaning(&self) -> Option<&Arc<Condition>> {
        self.meaning.as_ref()
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", Self::NAMESPACE, self.name)
    }
}

/// A part of a condition without parts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaf<'c> {
    Test(&'c Test),
    Named(&'c Named),
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
    /// The attribute is a list, and the condition holds for an item, or for all of them: the nodes `ANY` and `ALL`.
    Items(Box<Items<A>>),
    /// The attribute is a list whose number of items has this order to the operand: the node `LENGTH`.
    Length(Operator, Operand<A>),
    /// As `Compare`, beside a declared date-time: undetermined, because texts of instants are not ordered as instants are.
    Unordered(Operator, Operand<A>),
}

/// A condition that an item of a list, or each, has to meet. `A` identifies an attribute, as in [`Test`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Items<A = AttributePath> {
    quantifier: Quantifier,
    child: Condition,
    /// The attributes that `child` reads beside `item`, each once, in the order of the tree.
    reads: Box<[A]>,
}

impl Items {
    /// Makes the condition that `child` holds for so many items.
    pub fn new(quantifier: Quantifier, child: Condition) -> Self {
        let reads = child.reads().into_iter().cloned().collect();
        Self { quantifier, child, reads }
    }

    /// Returns the condition with this child.
    pub(crate) fn with_child(&self, child: Condition) -> Self {
        Self::new(self.quantifier, child)
    }
}

impl<A> Items<A> {
    /// Returns how many items have to meet the condition.
    pub fn quantifier(&self) -> Quantifier {
        self.quantifier
    }

    /// Returns the condition on one item.
    pub fn child(&self) -> &Condition {
        &self.child
    }

    /// Returns the attributes that the condition reads beside `item`, each once.
    pub fn reads(&self) -> &[A] {
        &self.reads
    }

    /// Returns the heap bytes, for the weight of a plan: about those of its tests.
    pub(crate) fn weight(&self) -> usize {
        let tests = self.child.tests().len();
        size_of::<Self>() + size_of_val::<[A]>(&self.reads) + tests * size_of::<Condition>()
    }

    /// Replaces every attribute but `item` by the result of `name`.
    fn map<B>(self, name: &mut impl FnMut(A) -> B) -> Items<B> {
        let Self { quantifier, child, reads } = self;
        Items { quantifier, child, reads: reads.into_iter().map(name).collect() }
    }
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
    Duration {
        length: TimeSpan,
        /// `request.time`: the test reads it too.
        now: A,
    },
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
    /// `item`, the item that a condition on the items of a list is asked about.
    Item,
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
    /// The action that was sent, or else the verb as the resource has it. Rules on relations test it, and no text names it.
    WrittenAction,
}

impl RequestField {
    /// Returns the fields that a condition can name.
    fn named() -> impl Iterator<Item = Self> {
        let all = Self::VARIANTS.iter().copied();
        all.filter(|field| *field != Self::WrittenAction)
    }

    /// Returns the field that a condition names so.
    fn of_name(name: &str) -> Option<Self> {
        let known: Option<Self> = name.parse().ok();
        known.filter(|field| *field != Self::WrittenAction)
    }
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
            Self::Item => f.write_str(Self::ITEM),
        }
    }
}

impl AttributePath {
    /// The path of the item that a condition on items is asked about.
    pub const ITEM: &'static str = "item";

    /// Parses a path of a condition: one that [`AttributePath::parse`] reads, or `item`.
    ///
    /// # Errors
    /// As [`AttributePath::parse`].
    pub(crate) fn parse_in_condition(text: &str) -> Result<Self, String> {
        if text == Self::ITEM { Ok(Self::Item) } else { Self::parse(text) }
    }

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
            "request" => RequestField::of_name(name).map(Self::Request).ok_or_else(|| {
                any_of(RequestField::named().map(|field| format!("request.{field}")))
            }),
            namespace => Ok(Self::Resolver(ResolverAttribute {
                namespace: namespace.into(),
                name: name.into(),
            })),
        }
    }

    /// Returns whether the body of a check carries the attribute, with any value or none.
    pub fn is_sent(&self) -> bool {
        self.sent().is_some()
    }

    /// Returns the member of `attributes` and the name in it by which the body of a check carries the attribute.
    pub fn sent(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::User(name) => Some(("user", name)),
            Self::Resource(name) => Some(("resource", name)),
            Self::Action(name) => Some(("action", name)),
            Self::Context(name) => Some(("context", name)),
            Self::Request(_) | Self::Token(_) | Self::Resolver(_) | Self::Item => None,
        }
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
            Self::Request(_) | Self::Item => 0,
        }
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

    /// Returns every test, in the order of the tree. The tests of an item come after the test of its list, and those of a
    /// named condition stand in its place, if what the name stands for is known.
    pub fn tests(&self) -> Vec<&Test> {
        let mut tests = Vec::new();
        self.visit_tests(&Place::root(), &mut |test, _| tests.push(test));
        tests
    }

    /// Returns the actions that tests of `request.action` name by `eq` and `in`, with repetitions.
    pub fn named_actions(&self) -> impl Iterator<Item = &str> {
        let of_action = AttributePath::Request(RequestField::Action);
        let tests = self.tests().into_iter().filter(move |test| test.attribute == of_action);
        tests.flat_map(|test| match &test.predicate {
            Predicate::Compare(Operator::Eq | Operator::In, operand) => operand.texts(),
            _ => Vec::new(),
        })
    }

    /// Returns every attribute that a test names, in the order of the tree, with repetitions; without `item`.
    pub fn attributes(&self) -> impl Iterator<Item = &AttributePath> {
        let tests = self.tests().into_iter();
        let both = tests.flat_map(|test| [Some(&test.attribute), test.predicate.right_attribute()]);
        both.flatten().filter(|path| **path != AttributePath::Item)
    }
}

impl Condition {
    /// Passes each test to `visit`, with its place; the tests of an item after the test of its list, those of a named
    /// condition at the place of the name. The condition is at `at`.
    pub(crate) fn visit_tests<'c>(
        &'c self,
        at: &Place<'_>,
        visit: &mut impl FnMut(&'c Test, &Place<'_>),
    ) {
        self.visit_leaves(at, &mut |leaf, at| match leaf {
            Leaf::Test(test) => visit(test, at),
            Leaf::Named(named) => {
                let meaning = named.meaning();
                meaning.into_iter().for_each(|meaning| meaning.visit_tests(at, visit));
            }
        });
    }

    /// Passes each test and each name to `visit`, with its place; the leaves below an item after the test of its list. The
    /// condition is at `at`.
    pub(crate) fn visit_leaves<'c>(
        &'c self,
        at: &Place<'_>,
        visit: &mut impl FnMut(Leaf<'c>, &Place<'_>),
    ) {
        match self {
            Self::And(children) | Self::Or(children) => {
                let list = at.key("children");
                for (index, child) in children.iter().enumerate() {
                    child.visit_leaves(&list.index(index), visit);
                }
            }
            Self::Not(child) => child.visit_leaves(&at.key("child"), visit),
            Self::Test(test) => {
                visit(Leaf::Test(test), at);
                if let Predicate::Items(items) = &test.predicate {
                    items.child().visit_leaves(&at.key("child"), visit);
                }
            }
            Self::Named(named) => visit(Leaf::Named(named), at),
        }
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
                Predicate::Items(items) => Predicate::Items(Box::new(items.map(name))),
                Predicate::Length(operator, operand) => {
                    Predicate::Length(operator, operand.map(name))
                }
                Predicate::Unordered(operator, operand) => {
                    Predicate::Unordered(operator, operand.map(name))
                }
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
            Self::Duration { length, now } => Operand::Duration { length, now: name(now) },
        }
    }
}

impl<A> Predicate<A> {
    /// Returns the attribute on the right side, if one is there.
    pub fn right_attribute(&self) -> Option<&A> {
        match self {
            Self::Compare(_, Operand::Attribute(attribute))
            | Self::Length(_, Operand::Attribute(attribute))
            | Self::Unordered(_, Operand::Attribute(attribute)) => Some(attribute),
            _ => None,
        }
    }

    /// Returns the attributes that a test reads beside its own: the one on the right side, `request.time`, or those that a
    /// condition on items reads.
    pub fn other_attributes(&self) -> &[A] {
        match self {
            Self::Compare(_, operand) | Self::Length(_, operand) | Self::Unordered(_, operand) => {
                operand.attributes()
            }
            Self::Items(items) => items.reads(),
            Self::Exists | Self::Matches(_) | Self::IpIn(_) | Self::During(_) => &[],
        }
    }

    /// Returns the texts that a list is searched for; none if the operator compares no lists.
    pub fn sought_items(&self) -> Vec<&str> {
        match self {
            Self::Compare(operator, operand) if operator.compares_list_on_left() => operand.texts(),
            Self::Compare(..)
            | Self::Exists
            | Self::Matches(_)
            | Self::IpIn(_)
            | Self::During(_)
            | Self::Items(_)
            | Self::Length(..)
            | Self::Unordered(..) => Vec::new(),
        }
    }

    /// Returns the name of the operator in a condition tree.
    pub(crate) fn operator_name(&self) -> &'static str {
        match self {
            Self::Exists => UnaryOperator::Exists.into_str(),
            Self::Compare(operator, _) | Self::Unordered(operator, _) => operator.into_str(),
            // A condition tree has no operator for a search; only Casbin's function `regexMatch` makes one.
            Self::Matches(pattern) if pattern.is_search() => "regexMatch",
            Self::Matches(_) => UnaryOperator::Matches.into_str(),
            Self::IpIn(_) => UnaryOperator::IpIn.into_str(),
            Self::During(_) => UnaryOperator::During.into_str(),
            Self::Items(items) => items.quantifier().word(),
            Self::Length(..) => LENGTH,
        }
    }
}

impl<A> Operand<A> {
    fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(list) => list.texts().collect(),
            Self::Attribute(_)
            | Self::Number(_)
            | Self::Bool(_)
            | Self::Instant(_)
            | Self::Duration { .. } => Vec::new(),
        }
    }

    fn attributes(&self) -> &[A] {
        match self {
            Self::Attribute(attribute) | Self::Duration { now: attribute, .. } => {
                std::slice::from_ref(attribute)
            }
            Self::Text(_) | Self::Number(_) | Self::Bool(_) | Self::List(_) | Self::Instant(_) => {
                &[]
            }
        }
    }

    /// Returns the value of a literal; `None` if it depends on an attribute.
    pub(crate) fn literal(&self) -> Option<AttributeValue<'_>> {
        self.value(|_| None)
    }

    /// Returns the value of the right side; `None` if the attribute that it depends on has none. `read` returns the value
    /// of an attribute.
    #[inline]
    pub fn value<'v>(
        &'v self,
        read: impl FnOnce(&A) -> Option<AttributeValue<'v>>,
    ) -> Option<AttributeValue<'v>> {
        Some(match self {
            Self::Attribute(attribute) => return read(attribute),
            Self::Text(text) => AttributeValue::Text(text),
            Self::Number(number) => AttributeValue::Number(*number),
            Self::Bool(value) => AttributeValue::Bool(*value),
            Self::List(list) => AttributeValue::List(List::Literals(list)),
            Self::Instant(instant) => AttributeValue::Instant(*instant),
            Self::Duration { length, now } => {
                AttributeValue::Period(length.around(read(now)?.instant()?))
            }
        })
    }
}

impl Takes {
    /// Returns the right side as the operator compares it; `None` if it does not take such a one. A text becomes an
    /// instant or a duration for an operator that takes these.
    pub(crate) fn convert(self, operand: Operand) -> Option<Operand> {
        match (self, operand) {
            (_, Operand::Attribute(path)) => {
                self.accepts_attribute().then_some(Operand::Attribute(path))
            }
            (Self::Instant, Operand::Text(text)) => parse_instant(&text).map(Operand::Instant),
            (Self::Duration, Operand::Text(text)) => TimeSpan::parse(&text).map(|length| {
                let now = AttributePath::Request(RequestField::Time);
                Operand::Duration { length, now }
            }),
            (Self::Scalar | Self::Ordered | Self::Text, taken @ Operand::Text(_))
            | (Self::Scalar | Self::Ordered, taken @ Operand::Number(_))
            | (Self::Scalar, taken @ Operand::Bool(_))
            | (Self::List, taken @ Operand::List(_)) => Some(taken),
            (
                Self::Scalar
                | Self::Ordered
                | Self::List
                | Self::Text
                | Self::Instant
                | Self::Duration,
                _,
            ) => None,
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Scalar => "a string, a number, a boolean or `{\"attribute\": \"<path>\"}`",
            Self::Ordered => "a string, a number or `{\"attribute\": \"<path>\"}`",
            Self::Text => "a string or `{\"attribute\": \"<path>\"}`",
            Self::List => "a list of strings and numbers or `{\"attribute\": \"<path>\"}`",
            Self::Instant => "an RFC 3339 date-time or `{\"attribute\": \"<path>\"}`",
            Self::Duration => DURATION,
        }
    }
}
