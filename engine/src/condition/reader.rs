//! Reads condition trees: stored ones from their text, ones in requests from a tree of JSON (`docs/semantics.md`,
//! section 4.2).

use ipnet::IpNet;
use strum::VariantArray;

use super::{
    AttributePath, CONDITION_NAME, Condition, Items, MAX_DEPTH, MAX_LIST, MAX_NODES, Named,
    Operand, Predicate, Test,
};
use crate::during::TimeWindow;
use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::nearest::{any_of, nearest};
use crate::operator::{self, Networks, Operator, Quantifier, Takes, UnaryOperator, parse_network};
use crate::pattern::{Pattern, PatternCheck};
use crate::plain_text::{PlainText, fill};
use crate::source::{Source, Tree};
use crate::value::LiteralList;

/// Completes "expected …" for a `value` that is `null`.
const NO_NULL: &str = "a value, not null: no attribute is null; to test whether the attribute is present, use \
    `exists` and leave `value` out";

/// Completes "expected …" for what a length is compared with.
const COMPARED_LENGTH: &str = "a number or `{\"attribute\": \"<path>\"}`";

impl Condition {
    /// Reads the text of a stored tree; `None` if it has a fault or a rare form. A plan of many policies reads as many texts.
    pub(crate) fn read_plain(text: &str, patterns: &mut PatternCheck) -> Option<Self> {
        let mut text = PlainText::from(text);
        let condition = Reader { nodes: 0, patterns }.node(&mut text, &Place::root(), 1)?;
        text.end()?;
        // Nobody reads the faults: the tree of JSON is read for them.
        let is_sound = condition.check_items(&Place::root(), &mut Problems::default());
        is_sound.then_some(condition)
    }

    /// Reads a tree at `at` of a larger input. Notes every fault in `problems`.
    pub(crate) fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        patterns: &mut PatternCheck,
    ) -> Option<Self> {
        let condition =
            Reader { nodes: 0, patterns }.node(&mut Tree::new(json, problems), at, 1)?;
        condition.check_items(at, problems).then_some(condition)
    }
}

/// Reads a tree within its limits.
struct Reader<'p> {
    nodes: usize,
    patterns: &'p mut PatternCheck,
}

/// The `type` of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    And,
    Or,
    Not,
    Test,
    Items(Quantifier),
    Length,
    Named,
}

/// The members of all nodes, in the order in which a tree is read: the type of a node says which it has, and the operator of
/// a test what its value is.
const MEMBERS: &[&str] =
    &["type", "children", "child", "attribute", "if_missing", "operator", "value", "name"];

/// A member that is there, and its value unless that has a fault.
type Sent<T> = Option<Option<T>>;

/// The members of a node.
#[derive(Default)]
struct Members {
    kind: Sent<Kind>,
    children: Sent<Box<[Condition]>>,
    child: Sent<Condition>,
    attribute: Sent<AttributePath>,
    if_missing: Sent<bool>,
    operator: Sent<AnyOperator>,
    value: Sent<Predicate>,
    name: Sent<Named>,
}

/// The operator of a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnyOperator {
    Unary(UnaryOperator),
    Comparing(Operator),
}

impl AnyOperator {
    const EXISTS: Self = Self::Unary(UnaryOperator::Exists);

    /// Reads the operator of a node of this kind.
    fn read<'j>(kind: Option<Kind>, source: &mut impl Source<'j>, at: &Place<'_>) -> Option<Self> {
        let name = source.string(at)?;
        let comparing = name.parse::<Operator>().ok();
        if kind == Some(Kind::Length) {
            return match comparing.filter(|operator| operator.compares_lengths()) {
                Some(operator) => Some(Self::Comparing(operator)),
                None => source.fault(|problems| problems.expected(at, length_operators())),
            };
        }
        if let Some(operator) = comparing {
            return Some(Self::Comparing(operator));
        }
        match name.parse() {
            Ok(operator) => Some(Self::Unary(operator)),
            Err(_) => source.fault(|problems| problems.expected(at, known_operators(name))),
        }
    }
}

impl Kind {
    fn members(self) -> &'static [&'static str] {
        match self {
            Self::And | Self::Or => &["type", "children"],
            Self::Not => &["type", "child"],
            Self::Test | Self::Length => &["type", "attribute", "if_missing", "operator", "value"],
            Self::Items(_) => &["type", "child", "attribute", "if_missing"],
            Self::Named => &["type", "name"],
        }
    }

    fn read<'j>(source: &mut impl Source<'j>, at: &Place<'_>) -> Option<Self> {
        Some(match source.string(at)? {
            "AND" => Self::And,
            "OR" => Self::Or,
            "NOT" => Self::Not,
            "CONDITION" => Self::Test,
            "ANY" => Self::Items(Quantifier::Any),
            "ALL" => Self::Items(Quantifier::All),
            "LENGTH" => Self::Length,
            "NAMED" => Self::Named,
            _ => {
                let expected = "`CONDITION`, `AND`, `OR`, `NOT`, `ANY`, `ALL`, `LENGTH` or `NAMED`";
                return source.fault(|problems| problems.expected(at, expected));
            }
        })
    }
}

impl Reader<'_> {
    fn node<'j>(
        &mut self,
        source: &mut impl Source<'j>,
        at: &Place<'_>,
        depth: usize,
    ) -> Option<Condition> {
        self.nodes += 1;
        // Noted once, at the first node beyond the limit.
        if self.nodes == MAX_NODES + 1 {
            return source.fault(|problems| {
                problems.expected(at, format!("at most {MAX_NODES} nodes in the whole tree"));
            });
        }
        if depth > MAX_DEPTH {
            return source.fault(|problems| {
                problems.expected(at, format!("a tree at most {MAX_DEPTH} nodes deep"));
            });
        }
        if self.nodes > MAX_NODES {
            return None;
        }
        let mut members = Members::default();
        source.object(at, MEMBERS, |source, member_at, name| {
            let kind = members.kind.flatten();
            // Until the type comes, a member of any node may come.
            let known = kind.map_or(MEMBERS, Kind::members);
            match members.kind {
                // Which members a node of an unknown type has is unknown, too.
                Some(None) => source.ignore(),
                _ if !known.contains(&name) => note_unknown(source, at, name, known),
                // `null` counts as absent; as a `value` it is a fault that is said in its own words.
                _ if source.is_null() && name != "value" => Some(()),
                _ => self.member(&mut members, name, source, member_at, depth),
            }
        })?;
        members.condition(source, at)
    }

    /// Reads the member `name` at `at`.
    fn member<'j>(
        &mut self,
        members: &mut Members,
        name: &str,
        source: &mut impl Source<'j>,
        at: &Place<'_>,
        depth: usize,
    ) -> Option<()> {
        match name {
            // The type says what an operator and a value mean. A tree has it first; a text in which it comes after them is read
            // again as a tree.
            "type" if members.operator.is_some() => None,
            "type" => put(&mut members.kind, Kind::read(source, at)),
            "children" => put(&mut members.children, self.children(source, at, depth)),
            "child" => put(&mut members.child, self.node(source, at, depth + 1)),
            "attribute" => put(&mut members.attribute, read_path(source, at)),
            "name" => put(&mut members.name, read_name(source, at)),
            "if_missing" => put(&mut members.if_missing, source.boolean(at)),
            "operator" => {
                let kind = members.kind.flatten();
                put(&mut members.operator, AnyOperator::read(kind, source, at))
            }
            _ => match members.operator.flatten() {
                // The expected type depends on the operator.
                None => source.ignore(),
                Some(AnyOperator::EXISTS) if source.is_null() => Some(()),
                Some(operator) => {
                    let value = match members.kind.flatten() {
                        Some(Kind::Length) => read_length(operator, source, at),
                        _ => self.value(operator, source, at),
                    };
                    put(&mut members.value, value)
                }
            },
        }
    }

    fn children<'j>(
        &mut self,
        source: &mut impl Source<'j>,
        at: &Place<'_>,
        depth: usize,
    ) -> Option<Box<[Condition]>> {
        let mut children = Vec::new();
        // The nodes are counted over the whole tree.
        source.array(at, "an array of nodes", usize::MAX, |source, at| {
            children.push(self.node(source, at, depth + 1)?);
            Some(())
        })?;
        if children.is_empty() {
            return source.fault(|problems| problems.expected(at, "at least one child"));
        }
        Some(children.into())
    }

    /// Reads the `value` of a test. No attribute has the value `null`, so that a comparison with it would never hold.
    fn value<'j>(
        &mut self,
        operator: AnyOperator,
        source: &mut impl Source<'j>,
        at: &Place<'_>,
    ) -> Option<Predicate> {
        if source.is_null() {
            return source.fault(|problems| problems.expected(at, NO_NULL));
        }
        match operator {
            AnyOperator::Unary(UnaryOperator::Exists) => {
                source.fault(|problems| problems.expected(at, "no `value` beside `exists`"))
            }
            AnyOperator::Unary(UnaryOperator::Matches) => {
                match self.patterns.check(Pattern::new(source.string(at)?)) {
                    Ok(pattern) => Some(Predicate::Matches(pattern)),
                    Err(fault) => source.fault(|problems| {
                        problems.expected(at, format!("a regular expression, but {fault}"));
                    }),
                }
            }
            AnyOperator::Unary(UnaryOperator::IpIn) => {
                read_networks(source, at).map(Predicate::IpIn)
            }
            AnyOperator::Unary(UnaryOperator::During) => {
                // A window has no fast form: `None` without a tree, and the text is read again as one.
                let (json, problems) = source.tree()?;
                TimeWindow::read(json, at, problems).map(Predicate::During)
            }
            AnyOperator::Comparing(operator) => {
                let operand = read_operand(operator.row().takes, source, at)?;
                Some(Predicate::Compare(operator, operand))
            }
        }
    }
}

impl Members {
    /// Makes the condition of a node at `at`.
    fn condition<'j>(self, source: &mut impl Source<'j>, at: &Place<'_>) -> Option<Condition> {
        let kind = required(self.kind, "type", source, at)?;
        let sent = [
            (self.children.is_some(), "children"),
            (self.child.is_some(), "child"),
            (self.attribute.is_some(), "attribute"),
            (self.operator.is_some(), "operator"),
            (self.value.is_some(), "value"),
            (self.if_missing.is_some(), "if_missing"),
            (self.name.is_some(), "name"),
        ];
        // The type stood behind the members of another type.
        let stray = sent.iter().find(|(is_sent, name)| *is_sent && !kind.members().contains(name));
        if let Some((_, name)) = stray {
            return note_unknown(source, at, name, kind.members());
        }
        Some(match kind {
            Kind::And => Condition::And(required(self.children, "children", source, at)?),
            Kind::Or => Condition::Or(required(self.children, "children", source, at)?),
            Kind::Not => Condition::Not(Box::new(required(self.child, "child", source, at)?)),
            Kind::Test | Kind::Length => Condition::Test(self.test(source, at)?),
            Kind::Items(quantifier) => Condition::Test(self.items(quantifier, source, at)?),
            Kind::Named => Condition::Named(required(self.name, "name", source, at)?),
        })
    }

    fn items<'j>(
        self,
        quantifier: Quantifier,
        source: &mut impl Source<'j>,
        at: &Place<'_>,
    ) -> Option<Test> {
        // Unwrapped last, so that a fault of the child is noted, too.
        let attribute = required(self.attribute, "attribute", source, at);
        let child = required(self.child, "child", source, at)?;
        let predicate = Predicate::Items(Box::new(Items::new(quantifier, child)));
        Some(Test { attribute: attribute?, predicate, if_missing: self.if_missing.flatten() })
    }

    fn test<'j>(self, source: &mut impl Source<'j>, at: &Place<'_>) -> Option<Test> {
        let attribute = required(self.attribute, "attribute", source, at);
        let if_missing = self.if_missing.flatten();
        let predicate = match required(self.operator, "operator", source, at)? {
            AnyOperator::EXISTS if if_missing.is_some() => {
                let about = "no `if_missing`: `exists` itself says what absent gives";
                return source.fault(|problems| problems.expected(&at.key("if_missing"), about));
            }
            AnyOperator::EXISTS => Predicate::Exists,
            _ => required(self.value, "value", source, at)?,
        };
        Some(Test { attribute: attribute?, predicate, if_missing })
    }
}

/// Stores a member that was read; `None` if it has a fault, or came before.
fn put<T>(place: &mut Sent<T>, read: Option<T>) -> Option<()> {
    let is_sound = read.is_some();
    fill(place, Some(read)).filter(|()| is_sound)
}

/// Returns the value of a required member. Notes that it is missing at `at`, the place of its object.
fn required<'j, T>(
    member: Sent<T>,
    name: &'static str,
    source: &mut impl Source<'j>,
    at: &Place<'_>,
) -> Option<T> {
    match member {
        Some(read) => read,
        None => source.fault(|problems| problems.missing(at, name)),
    }
}

fn note_unknown<'j, T>(
    source: &mut impl Source<'j>,
    at: &Place<'_>,
    name: &str,
    known: &[&'static str],
) -> Option<T> {
    source.fault(|problems| problems.unknown(at, name, known))
}

/// Returns the names of the operators, and the one that `unknown` resembles.
fn known_operators(unknown: &str) -> String {
    let meant = nearest(unknown, operator::names());
    let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("{}{meant}", any_of(operator::names()))
}

fn read_path<'j>(source: &mut impl Source<'j>, at: &Place<'_>) -> Option<AttributePath> {
    match AttributePath::parse_in_condition(source.string(at)?) {
        Ok(path) => Some(path),
        Err(expected) => source.fault(|problems| problems.expected(at, expected)),
    }
}

fn read_name<'j>(source: &mut impl Source<'j>, at: &Place<'_>) -> Option<Named> {
    match Named::written(source.string(at)?) {
        None => source.fault(|problems| problems.expected(at, CONDITION_NAME)),
        named => named,
    }
}

fn read_operand<'j>(takes: Takes, source: &mut impl Source<'j>, at: &Place<'_>) -> Option<Operand> {
    if takes.accepts_attribute() && source.is_object() {
        return read_named_attribute(source, at).map(Operand::Attribute);
    }
    if takes.accepts_list() && source.is_array() {
        return read_list(source, at);
    }
    let literal = match source.scalar() {
        Some(Json::String(text)) => Some(Operand::Text((*text).into())),
        Some(Json::Number(number)) => Some(Operand::Number(number)),
        Some(Json::Bool(value)) => Some(Operand::Bool(value)),
        _ => None,
    };
    match literal.and_then(|literal| takes.convert(literal)) {
        None => source.fault(|problems| problems.expected(at, takes.expected())),
        operand => operand,
    }
}

/// Reads what the length of a list is compared with: a number, or an attribute.
fn read_length<'j>(
    operator: AnyOperator,
    source: &mut impl Source<'j>,
    at: &Place<'_>,
) -> Option<Predicate> {
    let AnyOperator::Comparing(operator) = operator else { return None };
    if source.is_object() {
        let attribute = read_named_attribute(source, at)?;
        return Some(Predicate::Length(operator, Operand::Attribute(attribute)));
    }
    match source.scalar() {
        Some(Json::Number(number)) => Some(Predicate::Length(operator, Operand::Number(number))),
        _ => source.fault(|problems| problems.expected(at, COMPARED_LENGTH)),
    }
}

/// Returns the names of the operators that compare lengths.
fn length_operators() -> String {
    let all = Operator::VARIANTS.iter().filter(|operator| operator.compares_lengths());
    any_of(all.map(|operator| operator.into_str()))
}

/// Reads `{"attribute": "<path>"}`.
fn read_named_attribute<'j>(source: &mut impl Source<'j>, at: &Place<'_>) -> Option<AttributePath> {
    let mut path = None;
    source.object(at, &["attribute"], |source, member_at, name| match name {
        "attribute" if source.is_null() => Some(()),
        "attribute" => put(&mut path, read_path(source, member_at)),
        _ => note_unknown(source, at, name, &["attribute"]),
    })?;
    required(path, "attribute", source, at)
}

fn read_list<'j>(source: &mut impl Source<'j>, at: &Place<'_>) -> Option<Operand> {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    source.array(at, "a list", MAX_LIST, |source, at| {
        match source.scalar() {
            Some(Json::String(text)) => texts.push((*text).into()),
            Some(Json::Number(number)) => numbers.push(number),
            _ => return source.fault(|problems| problems.expected(at, "a string or a number")),
        }
        Some(())
    })?;
    Some(Operand::List(LiteralList::new(texts, numbers)))
}

/// Reads one network, or an array of networks.
fn read_networks<'j>(source: &mut impl Source<'j>, at: &Place<'_>) -> Option<Networks> {
    let mut networks = Vec::new();
    if source.is_array() {
        source.array(at, "a list", MAX_LIST, |source, at| {
            networks.push(read_network(source, at)?);
            Some(())
        })?;
    } else {
        networks.push(read_network(source, at)?);
    }
    Some(Networks::new(&networks))
}

fn read_network<'j>(source: &mut impl Source<'j>, at: &Place<'_>) -> Option<IpNet> {
    // `scalar` notes nothing, so that a value of any wrong type has this one fault.
    let text = source.scalar();
    match text.as_ref().and_then(Json::as_str).and_then(parse_network) {
        None => source.fault(|problems| {
            let about = "a network such as `10.0.0.0/8` with host bits zero, or an address";
            problems.expected(at, about);
        }),
        network => network,
    }
}

#[cfg(test)]
mod tests;
