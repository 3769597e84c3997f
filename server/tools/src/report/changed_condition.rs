//! The change inside of a condition: the smallest parts of its tree that differ.

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};

use portcullis_engine::condition::{AttributePath, Operand, Predicate, Test};
use portcullis_engine::value::LiteralList;
use portcullis_engine::{Condition, expression};

use super::signed_line::{Sign, SignedLine};
use super::visible::shortened;

/// The most changed parts of one condition that are shown.
const MAX_PARTS: usize = 5;

/// The joint of the parts of a conjunction.
const AND: &str = "&& ";

/// A part of a condition before and after a change; `None` on the side that lacks it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConditionChange {
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl ConditionChange {
    /// Returns a line for each side of the changes, the first few of them.
    pub(crate) fn lines(changes: &[Self]) -> Vec<SignedLine> {
        let mut shown: Vec<SignedLine> =
            changes.iter().take(MAX_PARTS).flat_map(Self::sides).collect();
        if let more @ 1.. = changes.len().saturating_sub(MAX_PARTS) {
            shown.push(SignedLine::plain(format!("and {more} more parts")));
        }
        shown
    }

    fn sides(&self) -> impl Iterator<Item = SignedLine> {
        let before = self.before.iter().map(|text| (Sign::Removed, text));
        let both = before.chain(self.after.iter().map(|text| (Sign::Added, text)));
        both.map(|(sign, text)| SignedLine::new(sign, text.clone()))
    }
}

/// Returns the parts in which two conditions differ. `…` stands for what they share.
pub(crate) fn changed_parts(before: &Condition, after: &Condition) -> Vec<ConditionChange> {
    let mut changes = Vec::new();
    compare(before, after, "", &mut changes);
    changes
}

/// Compares lists of conditions, whose order does not matter. `mark` stands before each part, and `joint` before a
/// condition that only one list has.
pub(crate) fn list_changes(
    before: &[Condition],
    after: &[Condition],
    (mark, joint): (&str, &str),
    changes: &mut Vec<ConditionChange>,
) {
    let mut added: Vec<&Condition> = after.iter().collect();
    let mut removed: Vec<&Condition> = before.iter().collect();
    // Equal conditions come first, so that none of them is taken for a change of another one.
    removed.retain(|one| take(&mut added, |other| other == one).is_none());
    // Parts of one kind are one part that changed.
    removed.retain(|one| match take(&mut added, |other| kind(other) == kind(one)) {
        Some(other) => {
            compare(one, other, mark, changes);
            false
        }
        None => true,
    });
    let removed = removed.into_iter().map(|one| Some(joined(one, mark, joint)));
    changes.extend(removed.map(|before| ConditionChange { before, after: None }));
    let added = added.into_iter().map(|one| Some(joined(one, mark, joint)));
    changes.extend(added.map(|after| ConditionChange { before: None, after }));
}

fn joined(one: &Condition, mark: &str, joint: &str) -> String {
    let text = print(one);
    let needs_parentheses = matches!(one, Condition::Or(_)) && joint == AND;
    let text = if needs_parentheses { format!("({text})") } else { text };
    format!("{mark}{joint}{text}")
}

/// Removes and returns the first that fits.
fn take<'c>(
    from: &mut Vec<&'c Condition>,
    fits: impl FnMut(&&Condition) -> bool,
) -> Option<&'c Condition> {
    let index = from.iter().position(fits)?;
    Some(from.remove(index))
}

/// Returns what two conditions have in common if one can be a change of the other: the node, and the attribute of a test.
fn kind(condition: &Condition) -> (Discriminant<Condition>, Option<&AttributePath>) {
    let tested = match condition {
        Condition::Test(test) => Some(test),
        Condition::Not(child) => match &**child {
            Condition::Test(test) => Some(test),
            _ => None,
        },
        _ => None,
    };
    (discriminant(condition), tested.map(|test| &test.attribute))
}

fn compare(before: &Condition, after: &Condition, mark: &str, changes: &mut Vec<ConditionChange>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Condition::And(_), _) | (_, Condition::And(_)) => {
            list_changes(parts_of_and(before), parts_of_and(after), ("… ", AND), changes);
        }
        (Condition::Or(_), _) | (_, Condition::Or(_)) => {
            list_changes(parts_of_or(before), parts_of_or(after), ("… ", "|| "), changes);
        }
        // The negation of a test is shown with it.
        (Condition::Not(old), Condition::Not(new)) if !matches!(**old, Condition::Test(_)) => {
            compare(old, new, "… ", changes);
        }
        (Condition::Test(old), Condition::Test(new)) => {
            let (before, after) = tests(old, new);
            let [before, after] =
                [before, after].map(|text| text.map(|text| format!("{mark}{text}")));
            changes.push(ConditionChange { before, after });
        }
        _ => {
            let [before, after] = [before, after].map(|one| Some(format!("{mark}{}", print(one))));
            changes.push(ConditionChange { before, after });
        }
    }
}

fn parts_of_and(condition: &Condition) -> &[Condition] {
    match condition {
        Condition::And(children) => children,
        one => std::slice::from_ref(one),
    }
}

fn parts_of_or(condition: &Condition) -> &[Condition] {
    match condition {
        Condition::Or(children) => children,
        one => std::slice::from_ref(one),
    }
}

/// Returns two tests of one attribute; of lists only the items that one of them lacks.
fn tests(before: &Test, after: &Test) -> (Option<String>, Option<String>) {
    let lists = match (&before.predicate, &after.predicate) {
        (
            Predicate::Compare(old, Operand::List(before)),
            Predicate::Compare(new, Operand::List(after)),
        ) if old == new => Some((before, after)),
        _ => None,
    };
    let is_one = before.attribute == after.attribute && before.if_missing == after.if_missing;
    let Some((old, new)) = lists.filter(|_| is_one) else {
        return (Some(print_test(before)), Some(print_test(after)));
    };
    (items_of(before, old, new), items_of(after, new, old))
}

/// Returns the test with the items of its list that `other` lacks.
fn items_of(test: &Test, list: &LiteralList, other: &LiteralList) -> Option<String> {
    let known: (BTreeSet<&str>, BTreeSet<_>) = (other.texts().collect(), other.numbers().collect());
    let texts = list.texts().filter(|text| !known.0.contains(text));
    let numbers = list.numbers().filter(|number| !known.1.contains(number));
    let own = LiteralList::new(texts.map(Into::into).collect(), numbers.collect());
    let is_empty = own.texts().next().is_none() && own.numbers().next().is_none();
    let Predicate::Compare(operator, _) = test.predicate else { return None };
    let predicate = Predicate::Compare(operator, Operand::List(own));
    let part = Condition::Test(Test { predicate, ..test.clone() });
    (!is_empty).then(|| print(&part).replacen(" [", " […, ", 1))
}

fn print_test(test: &Test) -> String {
    print(&Condition::Test(test.clone()))
}

fn print(condition: &Condition) -> String {
    shortened(&expression::print(condition))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(before: &str, after: &str) -> Vec<String> {
        let parse = |text| expression::parse(text).expect(text);
        let changes = changed_parts(&parse(before), &parse(after));
        let sign = |sign| if sign == Sign::Added { "+" } else { "-" };
        let lines = ConditionChange::lines(&changes).into_iter();
        lines.map(|line| format!("{} {}", sign(line.sign), line.text)).collect()
    }

    #[test]
    fn only_the_parts_that_differ_are_shown() {
        let clerk = r#"request.roles contains "clerk""#;
        let long = format!("{clerk} && (user.a == 1 || resource.amount > 100)");
        for (before, after, expected) in [
            (&*long, &*long, &[][..]),
            ("user.a > 100", "user.a > 200", &["- user.a > 100", "+ user.a > 200"]),
            (
                &long,
                &long.replace("100", "200"),
                &["- … resource.amount > 100", "+ … resource.amount > 200"],
            ),
            // The order of the parts does not matter.
            ("user.a == 1 && user.b == 2", "user.b == 2 && user.a == 1", &[]),
            (clerk, &long, &["+ … && (user.a == 1 || resource.amount > 100)"]),
            ("user.a == 1 || user.b == 2", "user.b == 2", &["- … || user.a == 1"]),
            (
                "!(user.a == 1) && user.b == 2",
                "!(user.a == 3) && user.b == 2",
                &["- … !(user.a == 1)", "+ … !(user.a == 3)"],
            ),
            (
                "!(user.a == 1 && user.b == 2)",
                "!(user.a == 1 && user.b == 3)",
                &["- … user.b == 2", "+ … user.b == 3"],
            ),
            (
                r#"user.a in ["x", "y", 1]"#,
                r#"user.a in ["x", "z", 1]"#,
                &[r#"- user.a in […, "y"]"#, r#"+ user.a in […, "z"]"#],
            ),
            (r#"user.a in ["x"]"#, r#"user.a in ["x", 2]"#, &["+ user.a in […, 2]"]),
            ("user.a == 1", "(user.a == 1) ?? true", &["- user.a == 1", "+ (user.a == 1) ?? true"]),
        ] {
            assert_eq!(lines(before, after), expected, "{before} / {after}");
        }
    }

    #[test]
    fn a_condition_of_many_changes_is_shown_in_part() {
        let of =
            |value: usize| (0..40).map(|n| format!("user.a{n} == {value}")).collect::<Vec<_>>();
        let shown = lines(&of(1).join(" && "), &of(2).join(" && "));
        assert_eq!(shown.len(), 2 * MAX_PARTS + 1, "{shown:?}");
        assert_eq!(shown.last().map(String::as_str), Some("- and 35 more parts"));
    }
}
