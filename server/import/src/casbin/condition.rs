//! The part of a matcher that is left for one policy line: a condition over the request alone.

use std::collections::BTreeSet;

/// The most alternatives into which a condition is split if they become policies. A condition with more stays whole.
const MAX_POLICIES: usize = 64;
/// The most rules that one condition becomes.
pub(super) const MAX_RULES: usize = 100_000;

/// A condition over the request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Constant(bool),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    OneOf(OneOf),
    Test(Test),
}

/// The field of a request is one of these texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OneOf {
    pub(super) field: Field,
    pub(super) values: BTreeSet<String>,
    /// The values that are roles. The subject is also one of them if it has the role.
    pub(super) roles: BTreeSet<String>,
}

impl OneOf {
    /// Returns whether rules can say it. A `*` is a plain character here, and would match everything in a rule. A rule for a
    /// name also holds for the role of that name, so a subject must come from a model with roles.
    pub(super) fn fits_rule(&self) -> bool {
        let is_plain = !self.values.iter().any(|value| value.contains('*'));
        is_plain && (self.field != Field::Subject || !self.roles.is_empty())
    }
}

/// A test of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Test {
    pub(super) attribute: Attribute,
    /// An operator of condition trees.
    pub(super) operator: &'static str,
    pub(super) operand: Operand,
}

/// The fields of a request that both sides know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Subject,
    Domain,
    Object,
    Action,
}

/// An attribute of the request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Attribute {
    Field(Field),
    /// The path of another attribute, such as `user.Age`.
    Path(String),
}

/// The right side of a test.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Literal(serde_json::Value),
    Attribute(Attribute),
}

/// Returns the number that a text is.
pub(super) fn number(text: &str) -> Option<serde_json::Number> {
    serde_json::from_str(text).ok()
}

impl Condition {
    /// The field is this text.
    pub(super) fn is(field: Field, value: &str) -> Self {
        Self::one_of(field, [value.to_owned()])
    }

    /// The field is one of these texts.
    pub(super) fn one_of(field: Field, values: impl IntoIterator<Item = String>) -> Self {
        let values = values.into_iter().collect();
        Self::OneOf(OneOf { field, values, roles: BTreeSet::new() })
    }

    /// A test of `attribute` against a literal.
    pub(super) fn test(
        attribute: Attribute,
        operator: &'static str,
        literal: impl Into<serde_json::Value>,
    ) -> Self {
        let operand = Operand::Literal(literal.into());
        Self::Test(Test { attribute, operator, operand })
    }

    /// All parts hold. Folds constants.
    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::Constant(true) => {}
                Self::Constant(false) => return Self::Constant(false),
                Self::And(parts) => all.extend(parts),
                part => all.push(part),
            }
        }
        match all.len() {
            0 => Self::Constant(true),
            1 => all.remove(0),
            _ => Self::And(all),
        }
    }

    /// One of the parts holds. Folds constants.
    pub(super) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Vec::new();
        for part in parts {
            match part {
                Self::Constant(false) => {}
                Self::Constant(true) => return Self::Constant(true),
                Self::Or(parts) => any.extend(parts),
                part => any.push(part),
            }
        }
        match any.len() {
            0 => Self::Constant(false),
            1 => any.remove(0),
            _ => Self::Or(any),
        }
    }

    /// The part does not hold. Folds constants.
    pub(super) fn not(part: Self) -> Self {
        match part {
            Self::Constant(value) => Self::Constant(!value),
            Self::Not(inner) => *inner,
            part => Self::Not(Box::new(part)),
        }
    }

    /// Returns alternatives, each a list of conditions that hold together. One of the alternatives holds exactly if the
    /// condition does. With `as_rules`, those that rules can say become rules.
    pub(super) fn alternatives(self, as_rules: bool) -> Vec<Vec<Self>> {
        // A split consumes the condition, which has to stay whole where it is too wide.
        let split = self.clone().split();
        split
            .filter(|all| policies_of(all, as_rules) <= MAX_POLICIES)
            .unwrap_or_else(|| vec![vec![self]])
    }

    /// Returns whether a rule can say it.
    fn fits_rule(&self) -> bool {
        matches!(self, Self::OneOf(own) if own.fits_rule())
    }

    /// Splits the condition; `None` if there are too many alternatives.
    fn split(self) -> Option<Vec<Vec<Self>>> {
        let alternatives = match self {
            // An alternative without a part always holds, and no alternative never does.
            Self::Constant(true) => vec![Vec::new()],
            Self::Constant(false) => Vec::new(),
            Self::Or(parts) => {
                let parts: Option<Vec<_>> = parts.into_iter().map(Self::split).collect();
                parts?.concat()
            }
            Self::And(parts) => {
                let mut all = vec![Vec::new()];
                for part in parts {
                    all = product(&all, &part.split()?)?;
                }
                all
            }
            // A negation stays whole: a policy can say it, and rules cannot.
            other => vec![vec![other]],
        };
        (alternatives.len() <= MAX_RULES).then_some(alternatives)
    }
}

/// Returns how many of the alternatives become policies.
fn policies_of(alternatives: &[Vec<Condition>], as_rules: bool) -> usize {
    alternatives.iter().filter(|parts| !as_rules || !parts.iter().all(Condition::fits_rule)).count()
}

/// Returns each alternative of `left` together with each of `right`, without those that contradict themselves.
fn product(left: &[Vec<Condition>], right: &[Vec<Condition>]) -> Option<Vec<Vec<Condition>>> {
    // Each side has at most `MAX_RULES` alternatives, so that the product fits.
    if left.len() * right.len() > MAX_RULES {
        return None;
    }
    let pairs = left.iter().flat_map(|one| right.iter().map(move |other| (one, other)));
    Some(pairs.filter_map(|(one, other)| together([one.as_slice(), other].concat())).collect())
}

/// Merges the tests of one field; `None` if no request can pass them all.
fn together(parts: Vec<Condition>) -> Option<Vec<Condition>> {
    let mut merged = Vec::<Condition>::new();
    for part in parts {
        let Condition::OneOf(new) = &part else {
            if !merged.contains(&part) {
                merged.push(part);
            }
            continue;
        };
        let own = merged.iter_mut().find_map(|part| match part {
            Condition::OneOf(own) if own.field == new.field => Some(own),
            _ => None,
        });
        match own {
            None => merged.push(part),
            // The request has one text in this field, which must be a value of both.
            Some(own) => {
                own.values.retain(|value| new.values.contains(value));
                // A role counts only if both sides ask for it: otherwise the name itself is meant.
                own.roles.retain(|role| new.roles.contains(role));
                if own.values.is_empty() {
                    return None;
                }
            }
        }
    }
    with_prefixes(merged)
}

/// Drops each test of a prefix of a field whose texts are known, and the texts without the prefix; `None` if none is left.
fn with_prefixes(parts: Vec<Condition>) -> Option<Vec<Condition>> {
    let (tests, mut others): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| part.prefix().is_some());
    for test in tests {
        let known = others.iter_mut().find_map(|other| match (other, test.prefix()) {
            // A role has members of any name, so that the prefix still has to be tested.
            (Condition::OneOf(own), Some((field, prefix)))
                if own.field == field && own.roles.is_empty() =>
            {
                Some((own, prefix))
            }
            _ => None,
        });
        match known {
            None => others.push(test),
            Some((own, prefix)) => {
                own.values.retain(|value| value.starts_with(prefix));
                if own.values.is_empty() {
                    return None;
                }
            }
        }
    }
    Some(others)
}

impl Condition {
    /// Returns the field and the prefix that the condition tests, if it does nothing else.
    fn prefix(&self) -> Option<(Field, &str)> {
        match self {
            Self::Test(Test {
                attribute: Attribute::Field(field),
                operator: "starts_with",
                operand: Operand::Literal(serde_json::Value::String(prefix)),
            }) => Some((*field, prefix)),
            _ => None,
        }
    }

    /// Returns whether it asks for an empty field, which no request has.
    pub(super) fn asks_for_empty(&self) -> bool {
        matches!(self, Self::OneOf(own) if own.values.iter().all(String::is_empty))
    }

    /// Returns the order of the condition among those that hold together: who, what, where, then the rest.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::OneOf(OneOf { field, .. }) => match field {
                Field::Subject => 0,
                Field::Object => 1,
                Field::Action => 2,
                Field::Domain => 3,
            },
            _ => 4,
        }
    }
}
