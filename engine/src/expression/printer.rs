//! The printer: the one expression that stands for a condition.

use std::fmt::{self, Display, Write};

use crate::condition::{AttributePath, Condition, Items, LENGTH, Operand, Predicate, Test};
use crate::syntax::{Quoted, is_name};
use crate::value::{LiteralList, date_time};

/// Writes a condition as an expression on one line. [`super::parse`] reads it into the same condition. Lists are sorted
/// and networks joined, as the condition holds them. The search of Casbin's `regexMatch` has no tree; it is written as
/// that call, which only matchers can read.
pub fn print(condition: &Condition) -> String {
    part(condition, Within::Nothing)
}

/// Returns the expression that stands for a condition; `None` if it has more than `most` bytes, or if the condition has
/// a search, which no expression stands for.
pub fn print_within(condition: &Condition, most: usize) -> Option<String> {
    if condition.has_search() {
        return None;
    }
    let mut limited = Limited { text: String::new(), most };
    write_condition(condition, Within::Nothing, &mut limited).ok()?;
    Some(limited.text)
}

/// A text of at most so many bytes. To write more is an error.
struct Limited {
    text: String,
    most: usize,
}

impl Write for Limited {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        // The text never has more than `most` bytes.
        if part.len() > self.most - self.text.len() {
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

/// Writes a part of an expression that stands within this node.
pub(super) fn part(condition: &Condition, within: Within) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_condition(condition, within, &mut text);
    text
}

/// The node around a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// None, or a call.
    Nothing,
    Or,
    And,
    Not,
}

fn write_condition(condition: &Condition, within: Within, out: &mut dyn Write) -> fmt::Result {
    match condition {
        Condition::And(children) => match &**children {
            // An `AND` of one child is another tree than the child, so it has a form of its own.
            [child] => write_call("all", child, out),
            children => {
                // An `AND` within an `AND` is another tree than one longer `AND`.
                let is_part = matches!(within, Within::And | Within::Not);
                write_joined(children, " && ", Within::And, is_part, out)
            }
        },
        Condition::Or(children) => match &**children {
            [child] => write_call("any", child, out),
            children => write_joined(children, " || ", Within::Or, within != Within::Nothing, out),
        },
        Condition::Not(child) => {
            out.write_char('!')?;
            write_condition(child, Within::Not, out)
        }
        Condition::Test(test) => write_test(test, within, out),
        Condition::Named(named) => write!(out, "{named}"),
    }
}

fn write_call(name: &str, child: &Condition, out: &mut dyn Write) -> fmt::Result {
    write!(out, "{name}(")?;
    write_condition(child, Within::Nothing, out)?;
    out.write_char(')')
}

fn write_joined(
    children: &[Condition],
    symbol: &str,
    within: Within,
    parentheses: bool,
    out: &mut dyn Write,
) -> fmt::Result {
    out.write_str(if parentheses { "(" } else { "" })?;
    for (index, child) in children.iter().enumerate() {
        out.write_str(if index == 0 { "" } else { symbol })?;
        write_condition(child, within, out)?;
    }
    out.write_str(if parentheses { ")" } else { "" })
}

fn write_test(test: &Test, within: Within, out: &mut dyn Write) -> fmt::Result {
    match test.if_missing {
        Some(truth) if within == Within::Nothing => write!(out, "({}) ?? {truth}", Bare(test)),
        Some(truth) => write!(out, "(({}) ?? {truth})", Bare(test)),
        None if within == Within::Not && is_comparison(test) => write!(out, "({})", Bare(test)),
        None => write!(out, "{}", Bare(test)),
    }
}

fn is_comparison(test: &Test) -> bool {
    match &test.predicate {
        Predicate::Compare(..) | Predicate::Length(..) | Predicate::Unordered(..) => true,
        Predicate::Matches(pattern) => !pattern.is_search(),
        Predicate::Exists | Predicate::IpIn(_) | Predicate::During(_) | Predicate::Items(_) => {
            false
        }
    }
}

/// A test without its `if_missing`.
struct Bare<'c>(&'c Test);

impl Display for Bare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = Path(&self.0.attribute);
        match &self.0.predicate {
            Predicate::Exists => write!(f, "exists({path})"),
            Predicate::Compare(operator, operand) | Predicate::Unordered(operator, operand) => {
                write!(f, "{path} {} {}", operator.row().symbol, RightSide(operand))
            }
            Predicate::Matches(pattern) if pattern.is_search() => {
                write!(f, "regexMatch({path}, {})", Quoted(pattern.source()))
            }
            Predicate::Matches(pattern) => write!(f, "{path} matches {}", Quoted(pattern.source())),
            Predicate::IpIn(networks) => {
                let networks: Vec<String> = networks.iter().map(ToString::to_string).collect();
                write!(f, "ip_in({path}, ")?;
                match networks.as_slice() {
                    [network] => write!(f, "{})", Quoted(network)),
                    networks => {
                        write_list(networks.iter().map(|network| Quoted(network)), f)?;
                        f.write_str(")")
                    }
                }
            }
            Predicate::During(window) => {
                write!(f, "during({path}, {})", Quoted(&window.to_string()))
            }
            Predicate::Items(items) => {
                write!(f, "{}({path}, ", items.quantifier().word())?;
                write_condition(items.child(), Within::Nothing, f)?;
                f.write_str(")")
            }
            Predicate::Length(operator, operand) => {
                write!(f, "{LENGTH}({path}) {} {}", operator.row().symbol, RightSide(operand))
            }
        }
    }
}

/// Returns the beginning of a test of items, up to its condition.
pub(super) fn opening(test: &Test, items: &Items) -> String {
    format!("{}({},", items.quantifier().word(), Path(&test.attribute))
}

/// The path of an attribute; `kind["name"]` if it is more than words joined by dots.
struct Path<'c>(&'c AttributePath);

impl Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.to_string();
        match path.split_once('.') {
            Some((kind, name)) if !is_name(&path) => write!(f, "{kind}[{}]", Quoted(name)),
            _ => f.write_str(&path),
        }
    }
}

/// The right side of a comparison.
struct RightSide<'c>(&'c Operand);

impl Display for RightSide<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Operand::Attribute(path) => Path(path).fmt(f),
            Operand::Text(text) => Quoted(text).fmt(f),
            Operand::Number(number) => number.fmt(f),
            Operand::Bool(value) => value.fmt(f),
            Operand::List(list) => write_list(items(list), f),
            Operand::Instant(instant) => Quoted(&date_time(*instant)).fmt(f),
            Operand::Duration { length, .. } => Quoted(&length.to_string()).fmt(f),
        }
    }
}

fn items(list: &LiteralList) -> impl Iterator<Item = String> {
    let texts = list.texts().map(|text| Quoted(text).to_string());
    texts.chain(list.numbers().map(|number| number.to_string()))
}

fn write_list(
    items: impl Iterator<Item = impl Display>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("[")?;
    for (index, item) in items.enumerate() {
        write!(f, "{}{item}", if index == 0 { "" } else { ", " })?;
    }
    f.write_str("]")
}
