//! The printer: a matcher that stands for a condition.

use std::fmt::Write as _;

use crate::condition::{AttributePath, Condition, Operand, Predicate, RequestField, Test};
use crate::expression;
use crate::operator::CasbinForm;
use crate::relation::RELATION;
use crate::syntax::{Quoted, is_name};

/// A part of a condition that no matcher stands for, as an expression, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMatcher {
    /// The part as an expression.
    pub part: String,
    /// The reason, a clause.
    pub reason: &'static str,
}

/// Writes a condition as a matcher. [`super::parse`] reads it into a condition that has the same truth in every check.
///
/// # Errors
/// Every test that no matcher stands for.
pub fn print(condition: &Condition) -> Result<String, Vec<NoMatcher>> {
    let mut printer = Printer { text: String::new(), refused: Vec::new() };
    printer.condition(condition, Within::Nothing);
    if printer.refused.is_empty() { Ok(printer.text) } else { Err(printer.refused) }
}

/// The node around a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Or,
    And,
    Not,
}

/// The state of one print.
struct Printer {
    text: String,
    refused: Vec<NoMatcher>,
}

impl Printer {
    fn condition(&mut self, condition: &Condition, within: Within) {
        match condition {
            // A node of one child has the truth of the child, and matchers have no form for it.
            Condition::And(children) | Condition::Or(children) if children.len() == 1 => {
                children.iter().for_each(|child| self.condition(child, within));
            }
            Condition::And(children) => {
                let is_part = matches!(within, Within::And | Within::Not);
                self.joined(children, " && ", Within::And, is_part);
            }
            Condition::Or(children) => {
                self.joined(children, " || ", Within::Or, within != Within::Nothing);
            }
            Condition::Not(child) => {
                self.text.push('!');
                self.condition(child, Within::Not);
            }
            Condition::Test(test) => match matcher_of(test, within) {
                Ok(text) => self.text.push_str(&text),
                Err(reason) => {
                    let part = expression::print(condition);
                    self.refused.push(NoMatcher { part, reason });
                }
            },
        }
    }

    fn joined(&mut self, children: &[Condition], symbol: &str, node: Within, parentheses: bool) {
        self.text.push_str(if parentheses { "(" } else { "" });
        for (index, child) in children.iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { symbol });
            self.condition(child, node);
        }
        self.text.push_str(if parentheses { ")" } else { "" });
    }
}

/// Writes a test as a matcher, or returns the reason why there is none.
fn matcher_of(test: &Test, within: Within) -> Result<String, &'static str> {
    if test.if_missing.is_some() {
        return Err("a matcher does not say what an absent attribute gives");
    }
    let path = name(&test.attribute)?;
    let call = |function: &str, argument: &str| format!("{function}({path}, {})", Quoted(argument));
    let comparison = match &test.predicate {
        // Each check has a subject.
        Predicate::Exists if path == "r.sub" => return Ok("true".to_owned()),
        Predicate::Exists => return Err("a matcher does not ask whether an attribute is present"),
        Predicate::Matches(pattern) if pattern.is_search() => {
            return Ok(call("regexMatch", pattern.source()));
        }
        Predicate::Matches(pattern) => {
            return Ok(call("regexMatch", &format!("^(?:{})$", pattern.in_group())));
        }
        Predicate::During(window) => return Ok(call("during", &window.to_string())),
        Predicate::IpIn(networks) => {
            let calls: Vec<String> =
                networks.iter().map(|network| call("ipMatch", &network.to_string())).collect();
            return match calls.as_slice() {
                [] => Err("a matcher has no empty list of networks"),
                [call] => Ok(call.clone()),
                calls => Ok(format!("({})", calls.join(" || "))),
            };
        }
        Predicate::Compare(operator, operand) => match operator.row().casbin {
            CasbinForm::Infix(symbol) => format!("{path} {symbol} {}", right_side(operand)?),
            CasbinForm::NotIn => return Ok(format!("!({path} in {})", right_side(operand)?)),
            CasbinForm::Contains => contains(&path, operand)?,
            CasbinForm::Prefix => {
                return key_match(operand).map(|pattern| call("keyMatch", &pattern));
            }
            CasbinForm::Missing(reason) => return Err(reason),
        },
    };
    Ok(if within == Within::Not { format!("({comparison})") } else { comparison })
}

/// Returns the name of an attribute in a matcher.
fn name(path: &AttributePath) -> Result<String, &'static str> {
    let text = match path {
        AttributePath::User(name) => format!("r.sub.{name}"),
        AttributePath::Resource(name) => format!("r.obj.{name}"),
        AttributePath::Action(name) => format!("r.act.{name}"),
        AttributePath::Context(name) => format!("r.ctx.{name}"),
        AttributePath::Request(field) => return request_field(*field).map(str::to_owned),
        AttributePath::Token(_) => return Err("a matcher does not read the token"),
        AttributePath::Resolver(attribute) if &*attribute.namespace == RELATION => {
            return Err("a matcher does not read relations");
        }
        AttributePath::Resolver(_) => return Err("a matcher does not read resolvers"),
    };
    if is_name(&text) { Ok(text) } else { Err("an attribute of a matcher is words joined by dots") }
}

fn request_field(field: RequestField) -> Result<&'static str, &'static str> {
    match field {
        RequestField::Subject => Ok("r.sub"),
        RequestField::Resource => Ok("r.obj"),
        RequestField::Action => Ok("r.act"),
        RequestField::Domain => Ok("r.dom"),
        RequestField::Time => Ok("r.time"),
        RequestField::Object => Err("a matcher does not read the resource without its verb"),
        RequestField::Roles => Err("a matcher does not read the roles"),
    }
}

/// Writes `contains` with the sides exchanged, as matchers have it.
fn contains(path: &str, operand: &Operand) -> Result<String, &'static str> {
    match operand {
        // `x in y` of two attributes looks for no part of a text.
        Operand::Attribute(_) => Err("a matcher does not look for an attribute in another one"),
        literal => Ok(format!("{} in {path}", right_side(literal)?)),
    }
}

/// Returns the pattern of `keyMatch` for a prefix.
fn key_match(prefix: &Operand) -> Result<String, &'static str> {
    match prefix {
        Operand::Text(text) if !text.contains('*') => Ok(format!("{text}*")),
        _ => Err("a prefix of a matcher is a text without `*`"),
    }
}

fn right_side(operand: &Operand) -> Result<String, &'static str> {
    Ok(match operand {
        Operand::Attribute(path) => name(path)?,
        Operand::Text(text) => Quoted(text).to_string(),
        Operand::Number(number) => number.to_string(),
        Operand::Bool(value) => value.to_string(),
        Operand::Instant(_) | Operand::Duration { .. } => {
            return Err("a matcher does not compare date-times");
        }
        Operand::List(list) => {
            let mut text = "[".to_owned();
            let texts = list.texts().map(|item| Quoted(item).to_string());
            for (index, item) in texts.chain(list.numbers().map(|it| it.to_string())).enumerate() {
                // Writing to a string cannot fail.
                let _ = write!(text, "{}{item}", if index == 0 { "" } else { ", " });
            }
            text + "]"
        }
    })
}
