//! Parses Casbin expressions. The tokens come from the engine's Casbin lexer.

use portcullis_engine::casbin;

use super::expression::{Comparator, Expression, Value};

/// The deepest nesting of parentheses and `!`.
const MAX_NESTING: usize = 64;

/// Reads a whole expression.
///
/// # Errors
/// The first part that is not part of an expression.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let tokens = casbin::tokens(text).map_err(|fault| fault.to_string())?;
    if let Some(sign) = arithmetic(&tokens) {
        return Err(format!(
            "`{sign}` puts values together, which no condition does; send the result as an attribute of the request, and \
             compare that"
        ));
    }
    // The bound on nesting also bounds the recursion of everything that walks through the expression.
    let mut reader = Reader { tokens: &tokens, nesting: 0 };
    let expression = reader.any()?;
    match reader.tokens {
        [] => Ok(expression),
        [token, ..] => Err(format!("expected `&&`, `||` or the end, not `{token}`")),
    }
}

/// Returns the first sign of arithmetic.
fn arithmetic<'t>(tokens: &[&'t str]) -> Option<&'t str> {
    let before = [None].into_iter().chain(tokens.iter().map(|token| Some(*token)));
    let found = tokens.iter().zip(before).find(|(token, before)| match **token {
        "+" | "*" | "/" | "%" | "**" => true,
        // After a value it subtracts, elsewhere it is a sign.
        "-" => before.is_some_and(|before| {
            before.ends_with(|last: char| last.is_alphanumeric() || ")]\"'_".contains(last))
                && !matches!(before, "in" | "IN")
        }),
        _ => false,
    });
    found.map(|(sign, _)| *sign)
}

/// A recursive descent parser. Precedence from low to high: `||`, `&&`, comparisons, `!`.
struct Reader<'t> {
    tokens: &'t [&'t str],
    nesting: usize,
}

impl<'t> Reader<'t> {
    fn take(&mut self) -> Option<&'t str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    /// Takes the next token if it is `symbol`.
    fn at(&mut self, symbol: &str) -> bool {
        let found = self.tokens.first() == Some(&symbol);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), String> {
        if self.at(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    fn unexpected(&self, expected: &str) -> String {
        match self.tokens.first() {
            Some(token) => format!("expected {expected}, not `{token}`"),
            None => format!("expected {expected} before the end"),
        }
    }

    fn any(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.all()?];
        while self.at("||") {
            parts.push(self.all()?);
        }
        Ok(joined(parts, Expression::Or))
    }

    fn all(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.unary()?];
        while self.at("&&") {
            parts.push(self.unary()?);
        }
        Ok(joined(parts, Expression::And))
    }

    fn unary(&mut self) -> Result<Expression, String> {
        // Only `!` and parentheses nest, and both are counted here.
        let negated = self.at("!");
        if !negated && self.tokens.first() != Some(&"(") {
            return self.test();
        }
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(format!("parentheses and `!` nest at most {MAX_NESTING} deep"));
        }
        let expression = if negated {
            Expression::Not(Box::new(self.operand_of_not()?))
        } else {
            self.expect("(")?;
            let inner = self.any()?;
            self.expect(")")?;
            inner
        };
        self.nesting -= 1;
        Ok(expression)
    }

    /// Reads the operand of `!`, which binds closer than a comparison.
    fn operand_of_not(&mut self) -> Result<Expression, String> {
        match self.tokens.first() {
            Some(&("!" | "(")) => self.unary(),
            _ => self.value().map(Expression::Bare),
        }
    }

    fn test(&mut self) -> Result<Expression, String> {
        let left = self.value()?;
        // Casbin for Go knows both.
        if self.at("in") || self.at("IN") {
            return Ok(Expression::In(left, self.members()?));
        }
        let Some(comparator) = self.tokens.first().and_then(|token| comparator(token)) else {
            return Ok(Expression::Bare(left));
        };
        self.take();
        Ok(comparison(left, comparator, self.value()?))
    }

    /// Reads the right side of `in`: a list in parentheses or brackets, or a value.
    fn members(&mut self) -> Result<Value, String> {
        if self.at("(") { self.list(")") } else { self.value() }
    }

    /// Reads values up to `closing`.
    fn list(&mut self, closing: &str) -> Result<Value, String> {
        self.values(closing).map(Value::List)
    }

    fn values(&mut self, closing: &str) -> Result<Vec<Value>, String> {
        let mut values = Vec::new();
        // At the end of the text `value` fails, so that this ends.
        while !self.at(closing) {
            if !values.is_empty() {
                self.expect(",")?;
            }
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn value(&mut self) -> Result<Value, String> {
        let Some(token) = self.take() else { return Err(self.unexpected("a value")) };
        match token {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "[" => self.list("]"),
            "{" => Err("a block of statements is not translated; write one expression".to_owned()),
            "-" => number(&format!("-{}", self.take().unwrap_or_default())),
            _ if token.starts_with(['"', '\'']) => Ok(Value::Text(casbin::unquoted(token))),
            _ if token.starts_with(|first: char| first.is_ascii_digit()) => number(token),
            // A name before a parenthesis is a function, whatever the name is.
            _ if self.at("(") => {
                Ok(Value::Call { name: token.to_owned(), arguments: self.values(")")? })
            }
            _ => attribute(token),
        }
    }
}

/// Returns the only part, or all of them joined.
fn joined(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.len() {
        // A node with one child would only be in the way of those who look for patterns.
        1 => parts.remove(0),
        _ => join(parts),
    }
}

/// Returns a comparison. A call that is compared with `true` or `false` is a condition, or its negation.
fn comparison(left: Value, comparator: Comparator, right: Value) -> Expression {
    // Some matchers compare the outcome of a function with `true` or `false`, which is the call itself or its negation.
    let (call, truth) = match (left, right) {
        (call @ Value::Call { .. }, Value::Bool(truth))
        | (Value::Bool(truth), call @ Value::Call { .. }) => (call, truth),
        (left, right) => return Expression::Compare(left, comparator, right),
    };
    match comparator {
        Comparator::Equal if truth => Expression::Bare(call),
        Comparator::Unequal if !truth => Expression::Bare(call),
        Comparator::Equal | Comparator::Unequal => {
            Expression::Not(Box::new(Expression::Bare(call)))
        }
        order => Expression::Compare(call, order, Value::Bool(truth)),
    }
}

fn comparator(token: &str) -> Option<Comparator> {
    match token {
        "==" => Some(Comparator::Equal),
        "!=" => Some(Comparator::Unequal),
        "<" => Some(Comparator::Less),
        "<=" => Some(Comparator::AtMost),
        ">" => Some(Comparator::Greater),
        ">=" => Some(Comparator::AtLeast),
        _ => None,
    }
}

fn number(text: &str) -> Result<Value, String> {
    let number = serde_json::from_str(text);
    number.map(Value::Number).map_err(|_| format!("expected a number, not `{text}`"))
}

fn attribute(token: &str) -> Result<Value, String> {
    if let Some(column) = token.strip_prefix("p.") {
        return Ok(Value::Policy(column.to_owned()));
    }
    let Some(rest) = token.strip_prefix("r.") else {
        return Err(format!("expected `r.…`, `p.…`, a function or a literal, not `{token}`"));
    };
    let (column, path) = match rest.split_once('.') {
        Some((column, path)) => (column, Some(path.to_owned())),
        None => (rest, None),
    };
    Ok(Value::Request { column: column.to_owned(), path })
}
