//! The grammar of an expression, by recursive descent. Precedence from low to high: `||`, `&&`, `!`. Comparisons do not
//! chain.

use strum::VariantArray;

use super::calls::check_presence;
use super::hints;
use crate::condition::items::{ITEM_IS_PRESENT, NESTED, NO_ITEM};
use crate::condition::{
    AttributePath, CONDITION_NAME, Condition, Items, LENGTH, Named, Operand, Predicate, Test,
};
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
    let node = unary(tokens)?;
    tokens.limits.leave();
    match node.form {
        Form::Closed => negated(tokens, opening, node),
        Form::Comparison(operator) => {
            Err(operator.fault("parentheses around the comparison, since `!` binds closer"))
        }
        Form::Default(mark) => {
            Err(mark.fault("parentheses around the test and its `??`, since `!` binds closer"))
        }
    }
}

/// Makes the `NOT` of a condition. `at` is the token to blame.
fn negated<'s>(tokens: &mut Tokens<'s>, at: Token<'s>, node: Node<Form<'s>>) -> Parsed<'s> {
    let Node { condition, depth, .. } = node;
    tokens.node(at, Condition::Not(Box::new(condition)), depth + 1)
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

/// Parses a comparison, a call, or a word that means one.
fn test<'s>(tokens: &mut Tokens<'s>) -> Parsed<'s> {
    let start = tokens.next;
    if start.kind != TokenKind::Name {
        let hint = tokens.exchanged_sides(start);
        return Err(start.fault(format!("{CONDITION}{hint}")));
    }
    let is_truth = tokens.is_word("true") || tokens.is_word("false");
    tokens.take()?;
    if is_truth && ends_test(tokens.next) {
        return constant(tokens, start);
    }
    let negation = hints::negation(start);
    // Before `[`, a word is the namespace of an attribute, whatever it means elsewhere.
    if is_truth || !negation.is_empty() && !tokens.next.is("[") {
        return Err(start.fault(format!("{CONDITION}{negation}")));
    }
    let node = if !tokens.next.is("(") {
        let attribute = tokens.attribute_from(start)?;
        about(tokens, start, attribute)?
    } else if start.text == LENGTH {
        length(tokens, start)?
    } else {
        call(tokens, start)?
    };
    if tokens.next.is("??") {
        return Err(tokens.next.fault("parentheses around the test before `??`"));
    }
    Ok(node)
}

/// Parses the comparison of a length, whose word `start` was taken. The next token is `(`.
fn length<'s>(tokens: &mut Tokens<'s>, start: Token<'s>) -> Parsed<'s> {
    tokens.take()?;
    let name = tokens.take()?;
    let attribute = tokens.attribute_from(name)?;
    tokens.expect(")", "`)`")?;
    let operator = tokens.take()?;
    let known = Operator::from_symbol(operator.text).filter(|known| known.compares_lengths());
    let known = known.ok_or_else(|| {
        let all = Operator::VARIANTS.iter().filter(|known| known.compares_lengths());
        operator.fault(any_of(all.map(|known| known.row().symbol)))
    })?;
    let predicate = Predicate::Length(known, tokens.compared_length()?);
    let node = leaf(tokens, start, attribute, predicate)?;
    Ok(Node { form: Form::Comparison(operator), ..node })
}

/// Parses what follows the attribute that begins with `start`: an operator and its right side, or nothing.
/// `condition.<name>` alone is a named condition.
fn about<'s>(tokens: &mut Tokens<'s>, start: Token<'s>, attribute: AttributePath) -> Parsed<'s> {
    if ends_test(tokens.next) {
        if let AttributePath::Resolver(own) = &attribute
            && &*own.namespace == Named::NAMESPACE
        {
            let named = Named::written(&own.name).ok_or_else(|| start.fault(CONDITION_NAME))?;
            return tokens.node(start, Condition::Named(named), 1);
        }
        // An attribute alone stands for `x == true`.
        let is_true = Predicate::Compare(Operator::Eq, Operand::Bool(true));
        return leaf(tokens, start, attribute, is_true);
    }
    let operator = tokens.next;
    let predicate = match comparison(tokens)? {
        Some(predicate) => predicate,
        // `x != null` asks whether `x` is present, `x == null` whether it is absent.
        None if operator.is("!=") => Predicate::Exists,
        None => {
            let exists = leaf(tokens, start, attribute, Predicate::Exists)?;
            let node = negated(tokens, start, exists)?;
            return Ok(Node { form: Form::Comparison(operator), ..node });
        }
    };
    let node = leaf(tokens, start, attribute, predicate)?;
    Ok(Node { form: Form::Comparison(operator), ..node })
}

/// Makes the node of a test. `at` is the token to blame.
fn leaf<'s>(
    tokens: &mut Tokens<'s>,
    at: Token<'s>,
    attribute: AttributePath,
    predicate: Predicate,
) -> Parsed<'s> {
    check_presence(at, &attribute, &predicate)?;
    let test = Test { attribute, predicate, if_missing: None };
    tokens.node(at, Condition::Test(test), 1)
}

/// Makes the condition that `true` and `false` mean: whether the request has a subject, which each has.
fn constant<'s>(tokens: &mut Tokens<'s>, word: Token<'s>) -> Parsed<'s> {
    let subject = AttributePath::parse("request.subject").map_err(|fault| word.fault(fault))?;
    let exists = leaf(tokens, word, subject, Predicate::Exists)?;
    if word.text == "true" { Ok(exists) } else { negated(tokens, word, exists) }
}

/// Returns whether `token` cannot go on with a test.
fn ends_test(token: Token<'_>) -> bool {
    let is_joint = ["&&", "||", ")", "??"].iter().any(|symbol| token.is(symbol));
    token.kind == TokenKind::End || is_joint || !hints::joint(token).is_empty()
}

/// Parses the operator and the right side of a comparison. `None` if that is `null`.
fn comparison(tokens: &mut Tokens<'_>) -> Result<Option<Predicate>, Fault> {
    let operator = tokens.take()?;
    const MATCHES: &str = UnaryOperator::Matches.into_str();
    if operator.kind == TokenKind::Name && operator.text == MATCHES {
        return pattern(tokens).map(Predicate::Matches).map(Some);
    }
    let Some(known) = Operator::from_symbol(operator.text) else {
        let hint = hints::comparison(operator);
        let known = any_of(Operator::symbols().chain([MATCHES]));
        return Err(operator.fault(format!("{known}{hint}")));
    };
    if matches!(known, Operator::Eq | Operator::Ne) && tokens.is_word("null") {
        return tokens.take().map(|_| None);
    }
    tokens.right_side(known.row().takes).map(|operand| Some(Predicate::Compare(known, operand)))
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
            let test = tokens.test_call(name)?;
            let test =
                test.ok_or_else(|| name.fault(format!("{FUNCTION}{}", hints::function(name))))?;
            return tokens.node(name, Condition::Test(test), 1);
        }
    };
    let opening = tokens.take()?;
    enter(tokens, opening)?;
    // An attribute with a comma behind it begins a condition on items. Anything else is the condition of a plain call.
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
    // Whoever reads the word `item` notes it here.
    tokens.names_item = Some(false);
    let start = tokens.next;
    let Node { condition, depth, .. } = any(tokens)?;
    // Taken, so that `item` is a stray one behind the call.
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
