//! The parser: the grammar of an expression.

use super::hints;
use crate::condition::{Condition, Predicate, Test};
use crate::invalid::Fault;
use crate::nearest::any_of;
use crate::operator::{Operator, UnaryOperator};
use crate::pattern::{Pattern, PatternCheck};
use crate::syntax::{Token, TokenKind, Tokens, TreeLimits};

const CONDITION: &str = "a condition such as `user.age > 18`, `exists(user.age)`, `!` or `(`";
const FUNCTION: &str = "`exists`, `ip_in`, `during`, `all` or `any`, the only functions";

/// A condition, its depth in nodes, and its form.
struct Node<'s> {
    condition: Condition,
    depth: usize,
    form: Form<'s>,
}

/// The way in which a condition is written, which decides whether `!` may stand before it.
enum Form<'s> {
    /// In parentheses, as a call, or with `!`.
    Closed,
    /// As a comparison with this operator.
    Comparison(Token<'s>),
    /// With this `??`.
    Default(Token<'s>),
}

/// A recursive descent parser. Precedence from low to high: `||`, `&&`, `!`. Comparisons do not chain.
pub(super) struct Parser<'s> {
    tokens: Tokens<'s>,
    limits: TreeLimits,
}

impl<'s> Parser<'s> {
    pub(super) fn new(text: &'s str, patterns: &'s mut PatternCheck) -> Result<Self, Fault> {
        Ok(Self { tokens: Tokens::new(text, patterns)?, limits: TreeLimits::default() })
    }

    /// Parses the whole expression.
    pub(super) fn whole(mut self) -> Result<Condition, Fault> {
        let node = self.any()?;
        match self.tokens.next.kind {
            TokenKind::End => Ok(node.condition),
            _ => Err(self.expected_joint("the end of the expression")),
        }
    }

    /// Makes the fault of a next token that is neither `&&` nor `||` nor `end`.
    fn expected_joint(&self, end: &str) -> Fault {
        let token = self.tokens.next;
        token.fault(format!("`&&`, `||` or {end}{}", hints::joint(token)))
    }

    /// Takes the `)` after a condition.
    fn close(&mut self) -> Result<(), Fault> {
        if !self.tokens.next.is(")") {
            return Err(self.expected_joint("`)`"));
        }
        self.tokens.take().map(drop)
    }

    /// Counts a node against the limits. `at` is the token to blame.
    fn node(
        &mut self,
        at: Token<'_>,
        condition: Condition,
        depth: usize,
        form: Form<'s>,
    ) -> Result<Node<'s>, Fault> {
        self.limits.count(at, depth, "expression")?;
        Ok(Node { condition, depth, form })
    }

    /// Enters a level of nesting. `at` opens it.
    fn enter(&mut self, at: Token<'_>) -> Result<(), Fault> {
        self.limits.enter(at, "parentheses, calls and `!`")
    }

    fn any(&mut self) -> Result<Node<'s>, Fault> {
        self.join("||", Self::all, Condition::Or)
    }

    fn all(&mut self) -> Result<Node<'s>, Fault> {
        self.join("&&", Self::unary, Condition::And)
    }

    /// Parses one part, or several with `symbol` between them.
    fn join(
        &mut self,
        symbol: &str,
        part: fn(&mut Self) -> Result<Node<'s>, Fault>,
        make: fn(Box<[Condition]>) -> Condition,
    ) -> Result<Node<'s>, Fault> {
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
        self.node(joint, make(parts.into()), depth + 1, Form::Closed)
    }

    fn unary(&mut self) -> Result<Node<'s>, Fault> {
        if self.tokens.next.is("!") {
            self.negation()
        } else if self.tokens.next.is("(") {
            self.group()
        } else {
            self.test()
        }
    }

    fn negation(&mut self) -> Result<Node<'s>, Fault> {
        let opening = self.tokens.take()?;
        self.enter(opening)?;
        let Node { condition, depth, form } = self.unary()?;
        self.limits.leave();
        match form {
            Form::Closed => {
                self.node(opening, Condition::Not(Box::new(condition)), depth + 1, Form::Closed)
            }
            Form::Comparison(operator) => {
                Err(operator.fault("parentheses around the comparison, since `!` binds closer"))
            }
            Form::Default(mark) => {
                Err(mark.fault("parentheses around the test and its `??`, since `!` binds closer"))
            }
        }
    }

    /// Parses a condition in parentheses, and the `??` that may follow a test.
    fn group(&mut self) -> Result<Node<'s>, Fault> {
        let opening = self.tokens.take()?;
        self.enter(opening)?;
        let Node { condition, depth, .. } = self.any()?;
        self.close()?;
        self.limits.leave();
        if !self.tokens.next.is("??") {
            return Ok(Node { condition, depth, form: Form::Closed });
        }
        let mark = self.tokens.take()?;
        let test = match condition {
            Condition::Test(test) if takes_default(&test) => test,
            _ => {
                return Err(
                    mark.fault("`??` after one test in parentheses, once, and not after `exists`")
                );
            }
        };
        let if_missing = Some(self.truth()?);
        let condition = Condition::Test(Test { if_missing, ..test });
        Ok(Node { condition, depth, form: Form::Default(mark) })
    }

    fn truth(&mut self) -> Result<bool, Fault> {
        let token = self.tokens.take()?;
        match (token.kind, token.text) {
            (TokenKind::Name, "true") => Ok(true),
            (TokenKind::Name, "false") => Ok(false),
            _ => Err(token.fault("`true` or `false`, which an absent attribute gives")),
        }
    }

    /// Parses a comparison or a call.
    fn test(&mut self) -> Result<Node<'s>, Fault> {
        let start = self.tokens.next;
        if start.kind != TokenKind::Name {
            let hint = self.tokens.exchanged_sides(start);
            return Err(start.fault(format!("{CONDITION}{hint}")));
        }
        self.tokens.take()?;
        let negation = hints::negation(start);
        let is_no_kind = matches!(start.text, "true" | "false") || !negation.is_empty();
        if is_no_kind && !self.tokens.next.is("[") {
            return Err(start.fault(format!("{CONDITION}{negation}")));
        }
        let node = if self.tokens.next.is("(") {
            self.call(start)?
        } else {
            let attribute = self.tokens.attribute_from(start)?;
            let operator = self.tokens.next;
            let predicate = self.comparison()?;
            let test = Test { attribute, predicate, if_missing: None };
            self.node(start, Condition::Test(test), 1, Form::Comparison(operator))?
        };
        if self.tokens.next.is("??") {
            return Err(self.tokens.next.fault("parentheses around the test before `??`"));
        }
        Ok(node)
    }

    /// Parses the operator and the right side of a comparison.
    fn comparison(&mut self) -> Result<Predicate, Fault> {
        let operator = self.tokens.take()?;
        const MATCHES: &str = UnaryOperator::Matches.into_str();
        if operator.kind == TokenKind::Name && operator.text == MATCHES {
            return self.pattern().map(Predicate::Matches);
        }
        let Some(known) = Operator::from_symbol(operator.text) else {
            let hint = hints::comparison(operator);
            let known = any_of(Operator::symbols().chain([MATCHES]));
            return Err(operator.fault(format!("{known}{hint}")));
        };
        Ok(Predicate::Compare(known, self.tokens.right_side(known.row().takes)?))
    }

    fn pattern(&mut self) -> Result<Pattern, Fault> {
        let source = self.tokens.take()?;
        if source.kind != TokenKind::Text {
            return Err(source.fault("a regular expression in quotes"));
        }
        let pattern = Pattern::new(&source.content());
        let checked = self.tokens.patterns.check(pattern);
        checked.map_err(|fault| source.fault(format!("a regular expression, but {fault}")))
    }

    /// Parses the call of `name`. The next token is `(`.
    fn call(&mut self, name: Token<'s>) -> Result<Node<'s>, Fault> {
        let make: fn(Box<[Condition]>) -> Condition = match name.text {
            "all" => Condition::And,
            "any" => Condition::Or,
            _ => {
                let test = self.tokens.test_call(name)?.ok_or_else(|| name.fault(FUNCTION))?;
                return self.node(name, Condition::Test(test), 1, Form::Closed);
            }
        };
        let opening = self.tokens.take()?;
        self.enter(opening)?;
        let Node { condition, depth, .. } = self.any()?;
        self.close()?;
        self.limits.leave();
        self.node(name, make(Box::new([condition])), depth + 1, Form::Closed)
    }
}

/// Returns whether `??` may follow the test.
fn takes_default(test: &Test) -> bool {
    test.if_missing.is_none() && test.predicate != Predicate::Exists
}
