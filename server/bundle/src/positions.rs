//! The places of faults in a YAML file: file, line and column beside the JSON pointer.

use std::collections::HashMap;
use std::fmt::Write;

use portcullis_engine::Invalid;
use portcullis_engine::invalid::{Fault, Place, Problem};
use serde_saphyr::granit_parser::{Event, Parser, Span};

use crate::registry::ItemWarning;

/// The maximum number of lines about one file: nobody mends more at once.
const MAX_LINES: usize = 20;

/// The number of characters before and after a fault of an expression that its message quotes.
const AROUND: usize = 20;

/// A place in a text: line and column, in characters, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl From<Span> for Position {
    fn from(span: Span) -> Self {
        Self { line: span.start.line(), column: span.start.col() + 1 }
    }
}

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
#[derive(Debug, Default)]
pub(super) struct Positions {
    /// The position of each value, by its JSON pointer.
    values: HashMap<String, Position>,
    /// The text of each value that is neither a list nor a map, by its JSON pointer.
    texts: HashMap<String, String>,
    /// The position of the name of each member, by the JSON pointer of the member.
    names: HashMap<String, Position>,
}

impl Positions {
    /// Reads the positions. Where the text is not valid YAML, they end. It does not recurse, whatever the text nests.
    pub(super) fn new(text: &str) -> Self {
        let mut reader = PositionReader::default();
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else { break };
            reader.read(event, span.into());
        }
        reader.positions
    }

    /// Returns the position of a fault: the name of a member that is missing its value or unknown, else the value. What
    /// the text does not have itself, such as a part of an alias, is at the next node around it.
    fn find_problem(&self, problem: &Problem) -> Position {
        let member = match &problem.fault {
            Fault::Missing(name) => Some(*name),
            Fault::Unknown { name, .. } => Some(&**name),
            Fault::Expected(_) | Fault::Token { .. } => None,
        };
        let name = member.and_then(|name| self.names.get(&member_pointer(&problem.path, name)));
        name.copied().unwrap_or_else(|| self.find_value(&problem.path))
    }

    /// Returns the part of an expression around its fault, in one line.
    fn part_of_expression(&self, problem: &Problem) -> Option<String> {
        let Fault::Token { position, .. } = &problem.fault else { return None };
        let text = self.texts.get(&problem.path)?;
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
            if let Some(position) = self.values.get(pointer) {
                return *position;
            }
            match pointer.rsplit_once('/') {
                Some((parent, _)) => pointer = parent,
                // An empty document has no node.
                None => return Position { line: 1, column: 1 },
            }
        }
    }
}

fn member_pointer(object: &str, name: &str) -> String {
    format!("{object}{}", Place::root().key(name))
}

/// Reads the events of a YAML parser.
#[derive(Default)]
struct PositionReader {
    positions: Positions,
    /// The lists and maps around the present event, outermost first.
    open: Vec<OpenNode>,
}

/// A list or a map whose end is not read yet.
enum OpenNode {
    List {
        pointer: String,
        next: usize,
    },
    /// `member` is the pointer of the member whose name is read and whose value follows.
    Map {
        pointer: String,
        member: Option<String>,
    },
}

impl PositionReader {
    fn read(&mut self, event: Event<'_>, position: Position) {
        match event {
            Event::Scalar(text, ..) => self.scalar(&text, position),
            // An alias for the name of a member has a name that its anchor knows, and no fault needs it.
            Event::Alias(_) => self.scalar("", position),
            Event::SequenceStart(..) => {
                let pointer = self.begin(position);
                self.open.push(OpenNode::List { pointer, next: 0 });
            }
            Event::MappingStart(..) => {
                let pointer = self.begin(position);
                self.open.push(OpenNode::Map { pointer, member: None });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
            }
            _ => {}
        }
    }

    /// Notes a scalar: the name of a member, or a value.
    fn scalar(&mut self, text: &str, position: Position) {
        if let Some(OpenNode::Map { pointer, member: member @ None }) = self.open.last_mut() {
            let name = member_pointer(pointer, text);
            // Of two members with one name, the parser of the values refuses the second one.
            self.positions.names.entry(name.clone()).or_insert(position);
            *member = Some(name);
            return;
        }
        let pointer = self.begin(position);
        self.positions.texts.entry(pointer).or_insert_with(|| text.to_owned());
    }

    /// Notes the position of the value that begins, and returns its pointer.
    fn begin(&mut self, position: Position) -> String {
        let pointer = match self.open.last_mut() {
            None => String::new(),
            Some(OpenNode::List { pointer, next }) => {
                *next += 1;
                format!("{pointer}/{}", *next - 1)
            }
            Some(OpenNode::Map { member, .. }) => member.take().unwrap_or_default(),
        };
        self.positions.values.entry(pointer.clone()).or_insert(position);
        pointer
    }
}

#[cfg(test)]
mod tests;
