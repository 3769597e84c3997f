//! The layout of an expression over lines (`docs/expressions.md`, section "One form").

use super::printer::{Within, opening, part};
use crate::condition::{Condition, Predicate};

/// The columns by which a part stands further to the right than the node around it.
const INDENT: usize = 2;

/// Writes a condition as an expression: on one line if it has at most `width` characters, else over lines that end
/// before `&&` and `||`. [`super::parse`] reads it into the same condition. A test is never broken but around the condition
/// on an item, so a line can be longer. No line ends or begins with white space, except for its indentation.
pub fn layout(condition: &Condition, width: usize) -> String {
    let mut lines = Lines { width, text: String::new() };
    lines.write(condition, Within::Nothing, 0, "");
    lines.text
}

/// The lines of an expression.
struct Lines {
    /// The maximum number of characters of a line.
    width: usize,
    text: String,
}

impl Lines {
    /// Writes a condition that stands within this node. Its first line begins with `lead`.
    fn write(&mut self, condition: &Condition, within: Within, indent: usize, lead: &str) {
        // Each level writes its part again, which the depth of a tree bounds.
        let line = part(condition, within);
        let length = indent + lead.chars().count() + line.chars().count();
        match condition {
            _ if length <= self.width => self.line(indent, lead, &line),
            Condition::Test(test) => match &test.predicate {
                Predicate::Items(items) if test.if_missing.is_none() => {
                    self.call(&opening(test, items), items.child(), indent, lead);
                }
                _ => self.line(indent, lead, &line),
            },
            Condition::Named(_) => self.line(indent, lead, &line),
            Condition::Not(child) => self.write(child, Within::Not, indent, &format!("{lead}!")),
            Condition::And(children) => match &**children {
                [child] => self.call("all(", child, indent, lead),
                children => {
                    let is_part = matches!(within, Within::And | Within::Not);
                    self.joined(children, ("&& ", Within::And), within, is_part, indent, lead);
                }
            },
            Condition::Or(children) => match &**children {
                [child] => self.call("any(", child, indent, lead),
                children => {
                    let is_part = within != Within::Nothing;
                    self.joined(children, ("|| ", Within::Or), within, is_part, indent, lead);
                }
            },
        }
    }

    /// Writes the children of a node, each from its own line on.
    fn joined(
        &mut self,
        children: &[Condition],
        (symbol, node): (&str, Within),
        within: Within,
        parentheses: bool,
        indent: usize,
        lead: &str,
    ) {
        if !parentheses {
            // An `&&` inside of an `||` has no parentheses: its further parts stand to the right of the first.
            let further = if within == Within::Nothing { indent } else { indent + INDENT };
            for (index, child) in children.iter().enumerate() {
                let (indent, lead) = if index == 0 { (indent, lead) } else { (further, symbol) };
                self.write(child, node, indent, lead);
            }
            return;
        }
        self.line(indent, lead, "(");
        for (index, child) in children.iter().enumerate() {
            self.write(child, node, indent + INDENT, if index == 0 { "" } else { symbol });
        }
        self.line(indent, "", ")");
    }

    /// Writes a call that begins with `opening`.
    fn call(&mut self, opening: &str, child: &Condition, indent: usize, lead: &str) {
        self.line(indent, lead, opening);
        self.write(child, Within::Nothing, indent + INDENT, "");
        self.line(indent, "", ")");
    }

    fn line(&mut self, indent: usize, lead: &str, rest: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(lead);
        self.text.push_str(rest);
    }
}
