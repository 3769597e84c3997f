//! The functions of a matcher, as Casbin's reference implementation defines them, and `during`.

use super::operands::{ATTRIBUTE, attribute, test};
use crate::condition::{Condition, Operand, Predicate};
use crate::during::TimeWindow;
use crate::invalid::Fault;
use crate::operator::{Networks, Operator, parse_network};
use crate::pattern::{Pattern, PatternCheck};
use crate::syntax::{Token, TokenKind, Tokens};

impl Tokens<'_> {
    /// Reads the call of the function `name`. The next token is `(`.
    pub(super) fn call(&mut self, name: Token<'_>) -> Result<Condition, Fault> {
        let predicate = match name.text {
            "keyMatch" => key_match,
            "keyMatch2" => key_match2,
            "regexMatch" => regex_match,
            "ipMatch" => ip_match,
            "during" => during,
            _ => {
                let known = "`keyMatch`, `keyMatch2`, `regexMatch`, `ipMatch` or `during`, the only functions";
                return Err(name.fault(known));
            }
        };
        self.take()?;
        let subject = self.take()?;
        if subject.kind != TokenKind::Name {
            return Err(subject.fault(ATTRIBUTE));
        }
        let subject = attribute(subject)?;
        self.expect(",", "`,` and a string")?;
        let pattern = self.take()?;
        if pattern.kind != TokenKind::Text {
            return Err(pattern.fault("a string: patterns, networks and hours are literals"));
        }
        let predicate = predicate(&pattern.content(), self.patterns)
            .map_err(|expected| pattern.fault(expected))?;
        self.expect(")", "`)`")?;
        Ok(test(subject, predicate))
    }
}

/// Compiles `keyMatch`: the text before the first `*` is a prefix, and the text after it has no meaning.
fn key_match(pattern: &str, _: &mut PatternCheck) -> Result<Predicate, String> {
    let (operator, text) = match pattern.split_once('*') {
        Some((prefix, _)) => (Operator::StartsWith, prefix),
        None => (Operator::Eq, pattern),
    };
    Ok(Predicate::Compare(operator, Operand::Text(text.into())))
}

/// Compiles `keyMatch2`: `/*` matches any text below, `:name` matches one segment; the rest is a regular expression.
fn key_match2(pattern: &str, patterns: &mut PatternCheck) -> Result<Predicate, String> {
    let source = format!("^{}$", segments(&pattern.replace("/*", "/.*")));
    patterns
        .check(Pattern::search(&source))
        .map(Predicate::Matches)
        .map_err(|fault| format!("a path pattern, but as `{source}` it has a fault: {fault}"))
}

/// Replaces each `:name` by an expression that matches a segment. Keeps a `:` without a name, as in `https://`.
fn segments(pattern: &str) -> String {
    let (mut source, mut rest) = (String::new(), pattern);
    while let Some((before, after)) = rest.split_once(':') {
        let name = after.find('/').unwrap_or(after.len());
        source.push_str(before);
        source.push_str(if name == 0 { ":" } else { "[^/]+" });
        rest = &after[name..];
    }
    source + rest
}

fn regex_match(source: &str, patterns: &mut PatternCheck) -> Result<Predicate, String> {
    patterns
        .check(Pattern::search(source))
        .map(Predicate::Matches)
        .map_err(|fault| format!("a regular expression, but {fault}"))
}

fn ip_match(network: &str, _: &mut PatternCheck) -> Result<Predicate, String> {
    parse_network(network).map(|network| Predicate::IpIn(Networks::new(&[network]))).ok_or_else(
        || "a network such as `10.0.0.0/8` with host bits zero, or an address".to_owned(),
    )
}

/// Compiles `during`, which Casbin does not have.
fn during(window: &str, _: &mut PatternCheck) -> Result<Predicate, String> {
    TimeWindow::parse(window).map(Predicate::During)
}
