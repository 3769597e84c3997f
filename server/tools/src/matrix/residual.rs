//! The condition of an outcome, read back from its text (`docs/semantics.md`, section 2.12).

use portcullis_engine::{Condition, Effect, expression};
use portcullis_model::apply::CellDecision;

use crate::report::{ConditionChange, changed_parts, list_changes};

/// The groups of policies on which an outcome depends, in deciding order: denies and allows by turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Groups(Vec<(Effect, Condition)>);

impl Groups {
    /// Reads the groups of an outcome; `None` if it depends on what its text does not say.
    pub(super) fn read(outcome: &CellDecision) -> Option<Self> {
        match outcome {
            CellDecision::Allow | CellDecision::Deny => Some(Self::default()),
            CellDecision::Depends { condition, .. } => parse(condition.as_deref()?).map(Self),
        }
    }

    /// Returns the conditions of the denies that come before everything else.
    pub(super) fn denies(&self) -> &[Condition] {
        match self.0.first() {
            Some((Effect::Deny, denies)) => alternatives(denies),
            _ => &[],
        }
    }

    /// Removes these from the denies that come before everything else.
    pub(super) fn without(mut self, shared: &[Condition]) -> Self {
        let mut left = self.denies().to_vec();
        left.retain(|deny| !shared.contains(deny));
        if let Some((Effect::Deny, denies)) = self.0.first_mut() {
            match left.len() {
                0 => _ = self.0.remove(0),
                1 => *denies = left.remove(0),
                _ => *denies = Condition::Or(left.into()),
            }
        }
        self
    }

    /// Returns the condition as text, as [`parse`] reads it; `None` if nothing is left that it depends on.
    pub(super) fn text(&self) -> Option<String> {
        // The text of the later groups, and whether it needs parentheses before ` unless`.
        let mut text: Option<(String, bool)> = None;
        for (effect, condition) in self.0.iter().rev() {
            let own = expression::print(condition);
            text = Some(match (effect, text) {
                (Effect::Allow, None) => (own, false),
                (Effect::Allow, Some((rest, _))) => (format!("{own}, or ({rest})"), true),
                (Effect::Deny, None) => (format!("unless {own}"), true),
                (Effect::Deny, Some((rest, true))) => (format!("({rest}) unless {own}"), true),
                (Effect::Deny, Some((rest, false))) => (format!("{rest} unless {own}"), true),
            });
        }
        text.map(|(text, _)| text)
    }

    /// Returns the parts that change, except denies in front, which [`Self::denies`] has.
    pub(super) fn changes(&self, after: &Self) -> Vec<ConditionChange> {
        let (mut old, mut new) = (self.behind_denies(), after.behind_denies());
        let mut changes = Vec::new();
        if old.is_empty() != new.is_empty() {
            return vec![ConditionChange { before: whole(old), after: whole(new) }];
        }
        // Groups alternate, so that those from the end on have the same effects if the last ones have.
        while let (Some((effect, before)), Some((other, now))) = (old.last(), new.last())
            && effect == other
        {
            changes.splice(0..0, group_changes(*effect, before, now));
            old = old.split_last().map_or(&[], |(_, rest)| rest);
            new = new.split_last().map_or(&[], |(_, rest)| rest);
        }
        let old = old.iter().map(|(effect, one)| Some(alone(*effect, one)));
        let new = new.iter().map(|(effect, one)| Some(alone(*effect, one)));
        let removed = old.map(|before| ConditionChange { before, after: None });
        let added = new.map(|after| ConditionChange { before: None, after });
        let ends: Vec<_> = removed.chain(added).collect();
        changes.splice(0..0, ends);
        changes
    }

    fn behind_denies(&self) -> &[(Effect, Condition)] {
        match self.0.split_first() {
            Some(((Effect::Deny, _), rest)) => rest,
            _ => &self.0,
        }
    }
}

/// Returns the text of the groups behind the denies. Without one everything is allowed that the denies leave.
fn whole(groups: &[(Effect, Condition)]) -> Option<String> {
    Groups(groups.to_vec()).text().or(Some("always".to_owned()))
}

fn group_changes(effect: Effect, before: &Condition, after: &Condition) -> Vec<ConditionChange> {
    if effect == Effect::Allow {
        return changed_parts(before, after);
    }
    deny_changes(alternatives(before), alternatives(after))
}

/// Returns the denies that change from one list to another.
pub(super) fn deny_changes(before: &[Condition], after: &[Condition]) -> Vec<ConditionChange> {
    let mut changes = Vec::new();
    list_changes(before, after, ("… unless ", ""), &mut changes);
    changes
}

fn alternatives(condition: &Condition) -> &[Condition] {
    match condition {
        Condition::Or(children) => children,
        single => std::slice::from_ref(single),
    }
}

/// Returns the text of a group that only one side has.
fn alone(effect: Effect, condition: &Condition) -> String {
    let own = expression::print(condition);
    match effect {
        Effect::Allow => format!("… or {own}"),
        Effect::Deny => format!("… unless {own}"),
    }
}

/// Reads the text of a residual.
fn parse(text: &str) -> Option<Vec<(Effect, Condition)>> {
    if let Some(denies) = text.strip_prefix("unless ") {
        return Some(vec![(Effect::Deny, condition(denies)?)]);
    }
    if let Some((rest, denies)) = split(text, " unless ") {
        // Only a single group of allows stands without parentheses.
        let rest = match condition(rest) {
            Some(allows) => vec![(Effect::Allow, allows)],
            None => parse(rest.strip_prefix('(')?.strip_suffix(')')?)?,
        };
        return Some([vec![(Effect::Deny, condition(denies)?)], rest].concat());
    }
    if let Some((allows, rest)) = split(text, ", or (") {
        let rest = parse(rest.strip_suffix(')')?)?;
        return Some([vec![(Effect::Allow, condition(allows)?)], rest].concat());
    }
    Some(vec![(Effect::Allow, condition(text)?)])
}

fn condition(text: &str) -> Option<Condition> {
    expression::parse(text).ok()
}

/// Splits a text at the first separator that is neither in quotes nor in parentheses or brackets.
fn split<'t>(text: &'t str, separator: &str) -> Option<(&'t str, &'t str)> {
    let (mut depth, mut in_quotes, mut is_escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        let rest = text.get(at..)?;
        if depth == 0 && !in_quotes && rest.starts_with(separator) {
            return text.split_at_checked(at).map(|(before, _)| (before, &rest[separator.len()..]));
        }
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_quotes => is_escaped = true,
            '"' => in_quotes = !in_quotes,
            '(' | '[' if !in_quotes => depth += 1,
            ')' | ']' if !in_quotes => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Groups> {
        parse(text).map(Groups)
    }

    #[test]
    fn texts_are_read_and_written_alike() {
        for text in [
            "user.a == 1",
            "unless (user.a == 1) ?? false",
            r#"user.a == " unless (" unless user.b in [1, 2]"#,
            "(user.a == 1 || user.b == 2) && user.c == 3 unless user.d == 4 || user.e == 5",
            "user.a == 1, or (user.b == 2 unless user.c == 3)",
            "(user.a == 1, or (user.b == 2 unless user.c == 3)) unless user.d == 4",
        ] {
            assert_eq!(read(text).and_then(|groups| groups.text()).as_deref(), Some(text));
        }
        for other in ["hr.level decide", "", "user.a == 1 unless", "(user.a == 1"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn denies_in_front_are_taken_out() {
        let shared = read("unless user.b == 2").expect("groups").denies().to_vec();
        for (text, expected) in [
            ("unless user.b == 2", None),
            ("user.a == 1 unless user.b == 2", Some("user.a == 1")),
            (
                "user.a == 1 unless user.b == 2 || user.c == 3",
                Some("user.a == 1 unless user.c == 3"),
            ),
            ("user.a == 1", Some("user.a == 1")),
        ] {
            let left = read(text).expect("groups").without(&shared).text();
            assert_eq!(left.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn groups_are_compared_from_the_end() {
        let changes = |before, after| {
            let (before, after) = (read(before).expect(before), read(after).expect(after));
            let lines = ConditionChange::lines(&before.changes(&after)).into_iter();
            lines.map(|line| line.text).collect::<Vec<_>>()
        };
        for (before, after, expected) in [
            ("user.a == 1", "user.a == 2", &["user.a == 1", "user.a == 2"][..]),
            ("user.a == 1 unless user.b == 1", "user.a == 1 unless user.b == 2", &[]),
            (
                "user.a == 1 unless user.b == 1",
                "user.c == 3, or (user.a == 1 unless user.b == 2)",
                &["… or user.c == 3", "… unless user.b == 2"],
            ),
            ("unless user.b == 1", "user.a == 1", &["always", "user.a == 1"]),
        ] {
            assert_eq!(changes(before, after), expected, "{before} / {after}");
        }
    }
}
