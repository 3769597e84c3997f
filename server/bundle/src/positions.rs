//! The places of faults in a YAML file: file, line and column beside the JSON pointer.

use std::fmt::Write;

use portcullis_engine::Invalid;
use portcullis_engine::invalid::{Fault, Problem};

use crate::registry::ItemWarning;
use crate::yaml_document::{Position, YamlDocument, YamlNode};

/// The maximum number of lines about one file: nobody mends more at once.
const MAX_LINES: usize = 20;

/// The number of characters before and after a fault of an expression that its message quotes.
const AROUND: usize = 20;

/// Returns one line for each fault of `file`, whose content is `text`: the file, line and column, JSON pointer, fault.
pub(super) fn describe(file: &str, text: &str, invalid: &Invalid) -> String {
    let positions = Positions::new(text);
    let mut lines = String::new();
    for problem in invalid.problems().iter().take(MAX_LINES) {
        let Position { line, column } = positions.find_problem(problem);
        let separator = if lines.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(lines, "{separator}{file}:{line}:{column}: {problem}");
        if let Some(part) = positions.part_of_expression(problem) {
            let _ = write!(lines, ", near `{part}`");
        }
    }
    match invalid.problems().len().saturating_sub(MAX_LINES) + invalid.left_out() {
        0 => {}
        more => {
            let _ = write!(lines, "\n{file}: and {more} more faults");
        }
    }
    lines
}

/// Returns one line for each warning about `file`, whose content is `text`: the file, line and column, message.
pub(super) fn describe_warnings(file: &str, text: &str, warnings: &[ItemWarning]) -> Vec<String> {
    let positions = Positions::new(text);
    let shown = warnings.iter().take(MAX_LINES).map(|ItemWarning { index, warning }| {
        let pointer = format!("/{index}{}", warning.path);
        let Position { line, column } = positions.find_value(&pointer);
        format!("{file}:{line}:{column}: {}", warning.message)
    });
    let mut lines: Vec<String> = shown.collect();
    if let Some(more) = warnings.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        lines.push(format!("{file}: and {more} more warnings"));
    }
    lines
}

/// Returns the place of the value at `pointer` in `file`, whose content is `text`: the file, line and column.
pub(super) fn place(file: &str, text: &str, pointer: &str) -> String {
    let Position { line, column } = Positions::new(text).find_value(pointer);
    format!("{file}:{line}:{column}")
}

/// The positions of the nodes of a YAML document.
#[derive(Debug)]
pub(super) struct Positions {
    root: Option<YamlNode>,
}

impl Positions {
    /// Reads the positions of a text that was read as YAML before, so that its nesting is bounded.
    pub(super) fn new(text: &str) -> Self {
        Self { root: YamlDocument::read(text).root }
    }

    /// Returns the node at a JSON pointer.
    fn node(&self, pointer: &str) -> Option<&YamlNode> {
        let names = pointer.split('/').skip(1);
        // The order matters, because otherwise `~01` would become `/` (RFC 6901, section 4).
        let mut names = names.map(|name| name.replace("~1", "/").replace("~0", "~"));
        names.try_fold(self.root.as_ref()?, |node, name| node.child(&name))
    }

    /// Returns the position of a fault: the name of a member that is missing its value or unknown, else the value. What
    /// the text does not have itself, such as a part of an alias, is at the next node around it.
    fn find_problem(&self, problem: &Problem) -> Position {
        let member = match &problem.fault {
            Fault::Missing(name) => Some(*name),
            Fault::Unknown { name, .. } => Some(&**name),
            Fault::Expected(_) | Fault::Token { .. } => None,
        };
        let named = member.and_then(|name| self.node(&problem.path)?.member(name));
        named.map_or_else(|| self.find_value(&problem.path), |(name, _)| name.position)
    }

    /// Returns the part of an expression around its fault, in one line.
    fn part_of_expression(&self, problem: &Problem) -> Option<String> {
        let Fault::Token { position, .. } = &problem.fault else { return None };
        let text = self.node(&problem.path)?.text()?;
        let (start, end) = (position.saturating_sub(AROUND), position.saturating_add(AROUND));
        let part = text.chars().skip(start).take(end - start);
        let part: String = part.map(|c| if c.is_control() { ' ' } else { c }).collect();
        let before = if start > 0 { "…" } else { "" };
        let after = if text.chars().nth(end).is_some() { "…" } else { "" };
        Some(format!("{before}{}{after}", part.trim()))
    }

    /// Returns the position of a value, or else of the next node around it.
    pub(super) fn find_value(&self, pointer: &str) -> Position {
        let mut pointer = pointer;
        loop {
            if let Some(node) = self.node(pointer) {
                return node.position;
            }
            match pointer.rsplit_once('/') {
                Some((parent, _)) => pointer = parent,
                // An empty document has no node.
                None => return Position { line: 1, column: 1 },
            }
        }
    }
}

#[cfg(test)]
mod tests;
