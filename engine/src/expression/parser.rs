//! The grammar of an expression, by recursive descent. Precedence from low to high: `||`, `&&`, `!`. Comparisons do not
//! chain.

use strum::VariantArray;

use super::hints;
use crate::condition::items::{ITEM_IS_PRESENT, NESTED, NO_ITEM};
use crate::condition::{AttributePath, Condition, Items, LENGTH, Predicate, Test};
use crate::invalid::Fault;
use crate::nearest::any_of;
use crate::operator::{Operator, Quantifier, UnaryOperator};
use crate::pattern::Pattern;
use crate::syntax::{Node, Token, TokenKind, Tokens};

const CONDITION: &str = "a condition such as `user.age > 18`, `exists(user.age)`, `!` or `(`";
const FUNCTION: &str = "`exists`, `ip_in`, `during`, `length`, `all` or `any`, the only functions";

type Parsed<'s> = Result<Node<Form<'s>>, Fault>;

/// The way in which a condition is written, which decides whether `!` may stand before it.
#[derive(Default)]
enum Form<'s> {
    /// In parentheses, as a call, or with `!`.
    #[default]
    Closed,
    /// As a comparison with this operator.
    Comparison(Token<'s>),
    /// With this `??`.
    Default(Token<'s>),
}

/// Parses the whole expression.
pub(super) fn whole(tokens: &mut Tokens<'_>) -> Result<Condition, Fault> {
    let node = any(tokens)?;
    match tokens.next.kind {
        TokenKind::End => Ok(node.condition),
        _ => Err(expected_joint(tokens, "the end of the expression")),
    }
}

/// Makes the fault of a next token that is neither `&&` nor `||` nor `end`.
fn expected_joint(tokens: &Tokens<'_>, end: &str) -> Fault {
    let token = tokens.next;
    token.fault(format!("`&&`, `||` or {end}{}", hints::joint(token)))
}

/// Takes the `)` after a condition.
fn close(tokens: &mut Tokens<'_>) -> Result<(), Fault> {
    if !tokens.next.is(")") {
        return Err(expected_joint(tokens, "`)`"));
    }
    tokens.take().map(drop)
}

/// Enters a level of nesting. `at` opens it.
fn enter(tokens: &mut Tokens<'_>, at: Token<'_>) -> Result<(), Fault> {
    tokens.limits.enter(at, "parentheses, calls and `!`")
}

fn any<'s>(tokens: &mut Tokens<'s>) -> Parsed<'s> {
    tokens.join("||", all, Condition::Or)
}

fn all<'s>(tokens: &mut Tokens<'s>) -> Parsed<'s> {
    tokens.join("&&", unary, Condition::And)
}

fn unary<'s>(tokens: &mut Tokens<'s>) -> Parsed<'s> {
    if tokens.next.is("!") {
        negation(tokens)
    } else if tokens.next.is("(") {
        group(tokens)
    } else {
        test(tokens)
    }
}

fn negation<'s>(tokens: &mut Tokens<'s>) -> Parsed<'s> {
    let opening = tokens.take()?;
    enter(tokens, opening)?;
    let Node { condition, depth, form } = unary(tokens)?;
    tokens.limits.leave();
    match form {
        Form::Closed => tokens.node(opening, Condition::Not(Box::new(condition)), depth + 1),
        Form::Comparison(operator) => {
            Err(operator.fault("parentheses around the comparison, since `!` binds closer"))
        }
        Form::Default(mark) => {
            Err(mark.fault("parentheses around the test and its `??`, since `!` binds closer"))
        }
    }
}

/// Parses a condition in parentheses, and the `??` that may follow a test.
fn group<'s>(tokens: &mut Tokens<'s>) -> Parsed<'s> {
    let opening = tokens.take()?;
    enter(tokens, opening)?;
    let Node { condition, depth, .. } = any(tokens)?;
    close(tokens)?;
    tokens.limits.leave();
    if !tokens.next.is("??") {
        return Ok(Node { condition, depth, form: Form::Closed });
    }
    let mark = tokens.take()?;
    let test = match condition {
        Condition::Test(test) if takes_default(&test) => test,
        Condition::Test(Test { attribute: AttributePath::Item, .. }) => {
            return Err(mark.fault(ITEM_IS_PRESENT));
        }
        _ => {
            return Err(
                mark.fault("`??` after one test in parentheses, once, and not after `exists`")
            );
        }
    };
    let if_missing = Some(truth(tokens)?);
    let condition = Condition::Test(Test { if_missing, ..test });
    Ok(Node { condition, depth, form: Form::Default(mark) })
}

fn truth(tokens: &mut Tokens<'_>) -> Result<bool, Fault> {
    let token = tokens.take()?;
    match (token.kind, token.text) {
        (TokenKind::Name, "true") => Ok(true),
        (TokenKind::Name, "false") => Ok(false),
        _ => Err(token.fault("`true` or `false`, which an absent attribute gives")),
    }
}

/// Parses a comparison or a call.
fn test<'s>(tokens: &mut Tokens<'s>) -> Parsed<'s> {
    let start = tokens.next;
    if start.kind != TokenKind::Name {
        let hint = tokens.exchanged_sides(start);
        return Err(start.fault(format!("{CONDITION}{hint}")));
    }
    tokens.take()?;
    let negation = hints::negation(start);
    let is_no_kind = matches!(start.text, "true" | "false") || !negation.is_empty();
    if is_no_kind && !tokens.next.is("[") {
        return Err(start.fault(format!("{CONDITION}{negation}")));
    }
    let node = if !tokens.next.is("(") {
        let attribute = tokens.attribute_from(start)?;
        compared(tokens, start, attribute, comparison)?
    } else if start.text == LENGTH {
        tokens.take()?;
        let name = tokens.take()?;
        let attribute = tokens.attribute_from(name)?;
        tokens.expect(")", "`)`")?;
        compared(tokens, start, attribute, length)?
    } else {
        call(tokens, start)?
    };
    if tokens.next.is("??") {
        return Err(tokens.next.fault("parentheses around the test before `??`"));
    }
    Ok(node)
}

/// Parses what an attribute is compared with. The test begins with `start`.
fn compared<'s>(
    tokens: &mut Tokens<'s>,
    start: Token<'s>,
    attribute: AttributePath,
    predicate: fn(&mut Tokens<'_>) -> Result<Predicate, Fault>,
) -> Parsed<'s> {
    let operator = tokens.next;
    let test = Test { attribute, predicate: predicate(tokens)?, if_missing: None };
    let node = tokens.node(start, Condition::Test(test), 1)?;
    Ok(Node { form: Form::Comparison(operator), ..node })
}

/// Parses the operator and the right side of a comparison of a length.
fn length(tokens: &mut Tokens<'_>) -> Result<Predicate, Fault> {
    let operator = tokens.take()?;
    let known = Operator::from_symbol(operator.text).filter(|known| known.compares_lengths());
    let known = known.ok_or_else(|| {
        let all = Operator::VARIANTS.iter().filter(|known| known.compares_lengths());
        operator.fault(any_of(all.map(|known| known.row().symbol)))
    })?;
    Ok(Predicate::Length(known, tokens.compared_length()?))
}

/// Parses the operator and the right side of a comparison.
fn comparison(tokens: &mut Tokens<'_>) -> Result<Predicate, Fault> {
    let operator = tokens.take()?;
    const MATCHES: &str = UnaryOperator::Matches.into_str();
    if operator.kind == TokenKind::Name && operator.text == MATCHES {
        return pattern(tokens).map(Predicate::Matches);
    }
    let Some(known) = Operator::from_symbol(operator.text) else {
        let hint = hints::comparison(operator);
        let known = any_of(Operator::symbols().chain([MATCHES]));
        return Err(operator.fault(format!("{known}{hint}")));
    };
    Ok(Predicate::Compare(known, tokens.right_side(known.row().takes)?))
}

fn pattern(tokens: &mut Tokens<'_>) -> Result<Pattern, Fault> {
    let source = tokens.take()?;
    if source.kind != TokenKind::Text {
        return Err(source.fault("a regular expression in quotes"));
    }
    let pattern = Pattern::new(&source.content());
    let checked = tokens.patterns.check(pattern);
    checked.map_err(|fault| source.fault(format!("a regular expression, but {fault}")))
}

/// Parses the call of `name`. The next token is `(`.
fn call<'s>(tokens: &mut Tokens<'s>, name: Token<'s>) -> Parsed<'s> {
    type Make = fn(Box<[Condition]>) -> Condition;
    let (make, quantifier): (Make, _) = match name.text {
        "all" => (Condition::And, Quantifier::All),
        "any" => (Condition::Or, Quantifier::Any),
        _ => {
            let test = tokens.test_call(name)?.ok_or_else(|| name.fault(FUNCTION))?;
            return tokens.node(name, Condition::Test(test), 1);
        }
    };
    let opening = tokens.take()?;
    enter(tokens, opening)?;
    let node = match tokens.attempt(list_before_comma) {
        Some(list) => items(tokens, name, list, quantifier)?,
        None => {
            let Node { condition, depth, .. } = any(tokens)?;
            tokens.node(name, make(Box::new([condition])), depth + 1)?
        }
    };
    close(tokens)?;
    tokens.limits.leave();
    Ok(node)
}

/// Parses an attribute and the comma after it; `None` if no comma follows.
fn list_before_comma(tokens: &mut Tokens<'_>) -> Result<Option<AttributePath>, Fault> {
    let start = tokens.take()?;
    let attribute = tokens.attribute_from(start)?;
    if !tokens.next.is(",") {
        return Ok(None);
    }
    tokens.take()?;
    Ok(Some(attribute))
}

/// Parses the condition on the items of `attribute`. `name` is the word of the call.
fn items<'s>(
    tokens: &mut Tokens<'s>,
    name: Token<'s>,
    attribute: AttributePath,
    quantifier: Quantifier,
) -> Parsed<'s> {
    if tokens.names_item.is_some() {
        return Err(name.fault(NESTED));
    }
    tokens.names_item = Some(false);
    let start = tokens.next;
    let Node { condition, depth, .. } = any(tokens)?;
    if tokens.names_item.take() == Some(false) {
        return Err(start.fault(NO_ITEM));
    }
    let predicate = Predicate::Items(Box::new(Items::new(quantifier, condition)));
    let test = Test { attribute, predicate, if_missing: None };
    tokens.node(name, Condition::Test(test), depth + 1)
}

/// Returns whether `??` may follow the test.
fn takes_default(test: &Test) -> bool {
    test.if_missing.is_none()
        && test.predicate != Predicate::Exists
        && test.attribute != AttributePath::Item
}
