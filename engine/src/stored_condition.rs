//! Reads stored condition trees straight from their text: a plan of many policies reads as many of them.
//!
//! Most trees that were accepted once have no fault and no rare form. They need no tree of JSON, and no place of each node.
//! [`Condition::parse`] reads the same condition from each tree that this reader accepts. It gives up on any other.

use std::fmt;

use compact_str::CompactString;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::condition::{
    AttributePath, Condition, MAX_DEPTH, MAX_LIST, MAX_NODES, Operand, Predicate, Test,
};
use crate::number::Number;
use crate::operator::Operator;
use crate::value::LiteralList;

/// Reads a stored tree; `None` if it has a fault or a rare form.
pub(crate) fn read(text: &str) -> Option<Condition> {
    let root: Node<'_> = serde_json::from_str(text).ok()?;
    root.condition(&mut { MAX_NODES }, MAX_DEPTH)
}

/// A node: an object. Its derived reader alone would take an array of the members too.
struct Node<'t>(Members<'t>);

impl<'de: 't, 't> Deserialize<'de> for Node<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node of a condition")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Members::deserialize(MapAccessDeserializer::new(map)).map(Node)
    }
}

/// The members of a node. Each of them is refused if it is `null` or comes twice.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members<'t> {
    #[serde(rename = "type")]
    kind: &'t str,
    #[serde(borrow, default, deserialize_with = "present")]
    children: Option<Vec<Node<'t>>>,
    #[serde(borrow, default, deserialize_with = "present")]
    child: Option<Box<Node<'t>>>,
    #[serde(borrow, default, deserialize_with = "present")]
    attribute: Option<&'t str>,
    #[serde(borrow, default, deserialize_with = "present")]
    operator: Option<&'t str>,
    #[serde(borrow, default, deserialize_with = "present")]
    value: Option<Value<'t>>,
    #[serde(default, deserialize_with = "present")]
    if_missing: Option<bool>,
}

/// Reads a member that is there, which is not `null`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Node<'_> {
    /// Makes the condition of at most as many nodes and levels as are left.
    fn condition(self, nodes_left: &mut usize, levels_left: usize) -> Option<Condition> {
        *nodes_left = nodes_left.checked_sub(1)?;
        let levels_left = levels_left.checked_sub(1)?;
        let Members { kind, children, child, attribute, operator, value, if_missing } = self.0;
        match (kind, children, child, attribute, operator) {
            ("CONDITION", None, None, Some(attribute), Some(operator)) => {
                let attribute = AttributePath::parse(attribute).ok()?;
                let predicate = predicate(operator, value, if_missing)?;
                Some(Condition::Test(Test { attribute, predicate, if_missing }))
            }
            _ if value.is_some() || if_missing.is_some() => None,
            ("AND" | "OR", Some(children), None, None, None) if !children.is_empty() => {
                let children = children.into_iter();
                let children = children.map(|child| child.condition(nodes_left, levels_left));
                let children = children.collect::<Option<Box<[Condition]>>>()?;
                Some(if kind == "AND" { Condition::And(children) } else { Condition::Or(children) })
            }
            ("NOT", None, Some(child), None, None) => {
                let child = child.condition(nodes_left, levels_left)?;
                Some(Condition::Not(Box::new(child)))
            }
            _ => None,
        }
    }
}

/// Makes the requirement of a test. Patterns, networks and windows are rare forms.
fn predicate(
    operator: &str,
    value: Option<Value<'_>>,
    if_missing: Option<bool>,
) -> Option<Predicate> {
    if operator == "exists" {
        return (value.is_none() && if_missing.is_none()).then_some(Predicate::Exists);
    }
    let operator: Operator = operator.parse().ok()?;
    let operand = operator.row().takes.convert(value?.operand()?);
    operand.map(|operand| Predicate::Compare(operator, operand))
}

/// The right side of a test.
enum Value<'t> {
    Text(&'t str),
    Number(Number),
    Bool(bool),
    List { texts: Vec<CompactString>, numbers: Vec<Number> },
    Attribute(&'t str),
}

impl Value<'_> {
    fn operand(self) -> Option<Operand> {
        Some(match self {
            Self::Text(text) => Operand::Text(text.into()),
            Self::Number(number) => Operand::Number(number),
            Self::Bool(value) => Operand::Bool(value),
            Self::List { texts, numbers } => Operand::List(LiteralList::new(texts, numbers)),
            Self::Attribute(path) => Operand::Attribute(AttributePath::parse(path).ok()?),
        })
    }
}

/// The right side that names an attribute.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedAttribute<'t> {
    attribute: &'t str,
}

impl<'de: 't, 't> Deserialize<'de> for Value<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the right side of a test")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not finite"))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        while let Some(item) = items.next_element()? {
            match item {
                Value::Text(text) => texts.push(text.into()),
                Value::Number(number) => numbers.push(number),
                _ => return Err(A::Error::custom("a list of strings and numbers")),
            }
        }
        match texts.len() + numbers.len() {
            ..=MAX_LIST => Ok(Value::List { texts, numbers }),
            _ => Err(A::Error::custom("too many values")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let named = NamedAttribute::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Value::Attribute(named.attribute))
    }
}

#[cfg(test)]
mod tests;
