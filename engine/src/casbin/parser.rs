//! The grammar of a matcher, by recursive descent. Precedence from low to high: `||`, `&&`, `!`, comparisons, which do
//! not chain.

use super::operands::{ATTRIBUTE, VALUE, attribute, compare, comparison, test};
use crate::condition::{AttributePath, Condition, Operand, Predicate, RequestField};
use crate::invalid::Fault;
use crate::operator::Operator;
use crate::syntax::{Node, Token, TokenKind, Tokens};

type Parsed = Result<Node<()>, Fault>;

/// The first part of a test.
enum First {
    Call(Condition),
    Value(Operand),
}

/// Parses the whole matcher.
pub(super) fn whole(tokens: &mut Tokens<'_>) -> Result<Condition, Fault> {
    let node = any(tokens)?;
    match tokens.next.kind {
        TokenKind::End => Ok(node.condition),
        _ => Err(tokens.next.fault("`&&`, `||` or the end of the matcher")),
    }
}

fn any(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.join("||", all, Condition::Or)
}

fn all(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.join("&&", unary, Condition::And)
}

fn unary(tokens: &mut Tokens<'_>) -> Parsed {
    if !tokens.next.is("!") && !tokens.next.is("(") {
        return atom(tokens);
    }
    let opening = tokens.take()?;
    tokens.limits.enter(opening, "parentheses and `!`")?;
    let node = if opening.is("!") {
        let direct = !tokens.next.is("!") && !tokens.next.is("(");
        let Node { condition, depth, .. } = if direct { negated(tokens)? } else { unary(tokens)? };
        tokens.node(opening, Condition::Not(Box::new(condition)), depth + 1)?
    } else {
        let node = any(tokens)?;
        tokens.expect(")", "`&&`, `||` or `)`")?;
        node
    };
    tokens.limits.leave();
    Ok(node)
}

/// Parses a comparison, a membership, a call, or a value that is a condition by itself.
fn atom(tokens: &mut Tokens<'_>) -> Parsed {
    let start = tokens.next;
    let left = match first(tokens)? {
        First::Call(condition) => return tokens.node(start, condition, 1),
        First::Value(value) => value,
    };
    let condition = if let Some(operator) = comparison(tokens.next) {
        tokens.take()?;
        let right_start = tokens.next;
        let right = tokens.value()?;
        compare(start, left, operator, right_start, right)?
    } else if at_in(tokens) {
        tokens.take()?;
        membership(tokens, start, left)?
    } else {
        return alone(tokens, start, left);
    };
    tokens.node(start, condition, 1)
}

/// Parses the operand of `!`, unless it is another `!` or in parentheses.
fn negated(tokens: &mut Tokens<'_>) -> Parsed {
    let start = tokens.next;
    match first(tokens)? {
        First::Call(condition) => tokens.node(start, condition, 1),
        First::Value(_) if comparison(tokens.next).is_some() || at_in(tokens) => {
            Err(tokens.next.fault("parentheses around the comparison, since `!` binds closer"))
        }
        First::Value(value) => alone(tokens, start, value),
    }
}

fn at_in(tokens: &Tokens<'_>) -> bool {
    // Casbin for Go knows both.
    tokens.next.kind == TokenKind::Name && matches!(tokens.next.text, "in" | "IN")
}

/// Parses a call, or a value that may be compared.
fn first(tokens: &mut Tokens<'_>) -> Result<First, Fault> {
    let start = tokens.next;
    if start.kind != TokenKind::Name || matches!(start.text, "true" | "false") {
        return tokens.value().map(First::Value);
    }
    tokens.take()?;
    if tokens.next.is("(") {
        return tokens.call(start).map(First::Call);
    }
    attribute(start).map(Operand::Attribute).map(First::Value)
}

/// Parses the right side of `in`.
fn membership(
    tokens: &mut Tokens<'_>,
    start: Token<'_>,
    left: Operand,
) -> Result<Condition, Fault> {
    let right_start = tokens.next;
    let right = if right_start.is("(") { tokens.list(")")? } else { tokens.value()? };
    match (left, right) {
        (Operand::Attribute(item), right @ (Operand::List(_) | Operand::Attribute(_))) => {
            Ok(test(item, Predicate::Compare(Operator::In, right)))
        }
        (Operand::List(_), _) => Err(start.fault(VALUE)),
        (item, Operand::Attribute(list)) => {
            Ok(test(list, Predicate::Compare(Operator::Contains, item)))
        }
        (_, Operand::List(_)) => Err(start.fault(ATTRIBUTE)),
        _ => Err(right_start.fault("a list such as `[\"a\", 1]`, or an attribute")),
    }
}

/// Makes a condition of a value without a comparison.
fn alone(tokens: &mut Tokens<'_>, start: Token<'_>, value: Operand) -> Parsed {
    let ends = ["&&", "||", ")"].iter().any(|symbol| tokens.next.is(symbol));
    if !ends && tokens.next.kind != TokenKind::End {
        return Err(tokens.next.fault(
            "a comparison by `==`, `!=`, `<`, `<=`, `>`, `>=` or `in`, or the end of this condition",
        ));
    }
    match value {
        Operand::Bool(true) => tokens.node(start, always(), 1),
        Operand::Bool(false) => {
            // A tree has no constants: false is the negation of a test that always holds.
            let Node::<()> { condition, depth, .. } = tokens.node(start, always(), 1)?;
            tokens.node(start, Condition::Not(Box::new(condition)), depth + 1)
        }
        Operand::Attribute(path) if path.is_sent() => {
            let is_true = Predicate::Compare(Operator::Eq, Operand::Bool(true));
            tokens.node(start, test(path, is_true), 1)
        }
        _ => Err(start.fault("a condition: this needs a comparison")),
    }
}

/// Makes a condition that is always true: the subject exists in every check.
fn always() -> Condition {
    test(AttributePath::Request(RequestField::Subject), Predicate::Exists)
}
