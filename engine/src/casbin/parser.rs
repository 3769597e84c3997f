//! The parser: the grammar of a matcher.

use super::operands::{ATTRIBUTE, VALUE, attribute, compare, comparison, test};
use crate::condition::{AttributePath, Condition, Operand, Predicate, RequestField};
use crate::invalid::Fault;
use crate::operator::Operator;
use crate::pattern::PatternCheck;
use crate::syntax::{Token, TokenKind, Tokens, TreeLimits};

/// A condition and its depth in nodes.
struct Node {
    condition: Condition,
    depth: usize,
}

/// The first part of a test.
enum First {
    Call(Condition),
    Value(Operand),
}

/// A recursive descent parser. Precedence from low to high: `||`, `&&`, `!`, comparisons, which do not chain.
pub(super) struct Parser<'s> {
    tokens: Tokens<'s>,
    limits: TreeLimits,
}

impl<'s> Parser<'s> {
    pub(super) fn new(matcher: &'s str, patterns: &'s mut PatternCheck) -> Result<Self, Fault> {
        Ok(Self { tokens: Tokens::new(matcher, patterns)?, limits: TreeLimits::default() })
    }

    /// Parses the whole matcher.
    pub(super) fn whole(mut self) -> Result<Condition, Fault> {
        let node = self.any()?;
        match self.tokens.next.kind {
            TokenKind::End => Ok(node.condition),
            _ => Err(self.tokens.next.fault("`&&`, `||` or the end of the matcher")),
        }
    }

    /// Counts a node against the limits. `at` is the token to blame.
    fn node(&mut self, at: Token<'_>, condition: Condition, depth: usize) -> Result<Node, Fault> {
        self.limits.count(at, depth, "matcher")?;
        Ok(Node { condition, depth })
    }

    fn any(&mut self) -> Result<Node, Fault> {
        self.join("||", Self::all, Condition::Or)
    }

    fn all(&mut self) -> Result<Node, Fault> {
        self.join("&&", Self::unary, Condition::And)
    }

    /// Parses one part, or several with `symbol` between them.
    fn join(
        &mut self,
        symbol: &str,
        part: fn(&mut Self) -> Result<Node, Fault>,
        make: fn(Box<[Condition]>) -> Condition,
    ) -> Result<Node, Fault> {
        let first = part(self)?;
        let joint = self.tokens.next;
        if !joint.is(symbol) {
            return Ok(first);
        }
        let (mut parts, mut depth) = (vec![first.condition], first.depth);
        while self.tokens.next.is(symbol) {
            self.tokens.take()?;
            let next = part(self)?;
            depth = depth.max(next.depth);
            parts.push(next.condition);
        }
        self.node(joint, make(parts.into()), depth + 1)
    }

    fn unary(&mut self) -> Result<Node, Fault> {
        if !self.tokens.next.is("!") && !self.tokens.next.is("(") {
            return self.test();
        }
        let opening = self.tokens.take()?;
        self.limits.enter(opening, "parentheses and `!`")?;
        let node = if opening.is("!") {
            let direct = !self.tokens.next.is("!") && !self.tokens.next.is("(");
            let Node { condition, depth } = if direct { self.negated()? } else { self.unary()? };
            self.node(opening, Condition::Not(Box::new(condition)), depth + 1)?
        } else {
            let node = self.any()?;
            self.tokens.expect(")", "`&&`, `||` or `)`")?;
            node
        };
        self.limits.leave();
        Ok(node)
    }

    /// Parses a comparison, a membership, a call, or a value that is a condition by itself.
    fn test(&mut self) -> Result<Node, Fault> {
        let start = self.tokens.next;
        let left = match self.first()? {
            First::Call(condition) => return self.node(start, condition, 1),
            First::Value(value) => value,
        };
        let condition = if let Some(operator) = comparison(self.tokens.next) {
            self.tokens.take()?;
            let right_start = self.tokens.next;
            let right = self.tokens.value()?;
            compare(start, left, operator, right_start, right)?
        } else if self.at_in() {
            self.tokens.take()?;
            self.membership(start, left)?
        } else {
            return self.alone(start, left);
        };
        self.node(start, condition, 1)
    }

    /// Parses the operand of `!`, unless it is another `!` or in parentheses.
    fn negated(&mut self) -> Result<Node, Fault> {
        let start = self.tokens.next;
        match self.first()? {
            First::Call(condition) => self.node(start, condition, 1),
            First::Value(_) if comparison(self.tokens.next).is_some() || self.at_in() => Err(self
                .tokens
                .next
                .fault("parentheses around the comparison, since `!` binds closer")),
            First::Value(value) => self.alone(start, value),
        }
    }

    fn at_in(&self) -> bool {
        // Casbin for Go knows both.
        self.tokens.next.kind == TokenKind::Name && matches!(self.tokens.next.text, "in" | "IN")
    }

    /// Parses a call, or a value that may be compared.
    fn first(&mut self) -> Result<First, Fault> {
        let start = self.tokens.next;
        if start.kind != TokenKind::Name || matches!(start.text, "true" | "false") {
            return self.tokens.value().map(First::Value);
        }
        self.tokens.take()?;
        if self.tokens.next.is("(") {
            return self.tokens.call(start).map(First::Call);
        }
        attribute(start).map(Operand::Attribute).map(First::Value)
    }

    /// Parses the right side of `in`.
    fn membership(&mut self, start: Token<'_>, left: Operand) -> Result<Condition, Fault> {
        let right_start = self.tokens.next;
        let right =
            if right_start.is("(") { self.tokens.list(")")? } else { self.tokens.value()? };
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
    fn alone(&mut self, start: Token<'_>, value: Operand) -> Result<Node, Fault> {
        let ends = ["&&", "||", ")"].iter().any(|symbol| self.tokens.next.is(symbol));
        if !ends && self.tokens.next.kind != TokenKind::End {
            return Err(self.tokens.next.fault(
                "a comparison by `==`, `!=`, `<`, `<=`, `>`, `>=` or `in`, or the end of this condition",
            ));
        }
        match value {
            Operand::Bool(true) => self.node(start, always(), 1),
            Operand::Bool(false) => {
                let Node { condition, depth } = self.node(start, always(), 1)?;
                self.node(start, Condition::Not(Box::new(condition)), depth + 1)
            }
            Operand::Attribute(path) if path.is_sent() => {
                let is_true = Predicate::Compare(Operator::Eq, Operand::Bool(true));
                self.node(start, test(path, is_true), 1)
            }
            _ => Err(start.fault("a condition: this is none without a comparison")),
        }
    }
}

/// Makes a condition that is always true: the subject exists in every check.
fn always() -> Condition {
    test(AttributePath::Request(RequestField::Subject), Predicate::Exists)
}
