//! The nodes of a YAML file with their places, for messages and for edits that leave everything else as it is.

use std::ops::Range;

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, options};

/// A YAML file: its first document, and its comments.
#[derive(Default)]
pub(super) struct YamlDocument {
    pub(super) root: Option<YamlNode>,
    /// The place of each comment, from its `#` on, in order.
    pub(super) comments: Vec<Range<usize>>,
}

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

/// A node of a YAML file.
#[derive(Debug)]
pub(super) struct YamlNode {
    /// The place where messages say that the node is. A block scalar's place is in its content.
    pub(super) position: Position,
    /// The bytes of the node, without anchor and tag. A block scalar's bytes begin at its header.
    pub(super) place: Range<usize>,
    /// Whether the node has an anchor or a tag.
    pub(super) is_marked: bool,
    pub(super) content: YamlContent,
}

/// The content of a node.
#[derive(Debug)]
pub(super) enum YamlContent {
    Scalar {
        text: String,
        style: ScalarStyle,
    },
    List(Vec<YamlNode>),
    /// `in_braces` is whether it is written as `{…}`.
    Map {
        pairs: Vec<(YamlNode, YamlNode)>,
        in_braces: bool,
    },
    Alias,
}

impl YamlNode {
    /// Returns the text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            YamlContent::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Returns the member of a map, with its name.
    pub(super) fn member(&self, name: &str) -> Option<&(YamlNode, YamlNode)> {
        let YamlContent::Map { pairs, .. } = &self.content else { return None };
        pairs.iter().find(|(key, _)| key.text() == Some(name))
    }

    /// Returns the item of a list, or the value of a map's member, by its part of a JSON pointer.
    pub(super) fn child(&self, name: &str) -> Option<&YamlNode> {
        match &self.content {
            YamlContent::List(items) => items.get(name.parse::<usize>().ok()?),
            _ => self.member(name).map(|(_, value)| value),
        }
    }

    /// Returns whether the node or one inside of it has an anchor or a tag, or is an alias.
    pub(super) fn has_marks(&self) -> bool {
        let inside = match &self.content {
            YamlContent::Scalar { .. } => false,
            YamlContent::Alias => true,
            YamlContent::List(items) => items.iter().any(Self::has_marks),
            YamlContent::Map { pairs, .. } => {
                pairs.iter().any(|(key, value)| key.has_marks() || value.has_marks())
            }
        };
        self.is_marked || inside
    }
}

impl YamlDocument {
    /// Reads the nodes of a text that was read as YAML before, so that its nesting is bounded.
    pub(super) fn read(text: &str) -> Self {
        // No text has more comments than bytes.
        let options = options! { max_buffered_comment_events: text.len() };
        let (mut read, mut open) = (Self::default(), Vec::<OpenNode>::new());
        for event in Parser::new_from_str_with_options(text, options) {
            let Some((event, position, place)) = event
                .ok()
                .and_then(|(event, span)| Some((event, Position::from(span), span.byte_range()?)))
            else {
                return read;
            };
            let is_end = matches!(event, Event::SequenceEnd | Event::MappingEnd);
            let is_map = matches!(event, Event::MappingStart(..));
            let complete = match event {
                Event::Comment(..) => {
                    read.comments.push(place);
                    continue;
                }
                Event::Scalar(content, style, anchor, tag) => {
                    let place = match open.last() {
                        Some(parent) if is_block(style) => parent.block_scalar(text, &place),
                        _ => place,
                    };
                    let content = YamlContent::Scalar { text: content.into_owned(), style };
                    YamlNode { position, place, is_marked: anchor > 0 || tag.is_some(), content }
                }
                Event::Alias(_) => {
                    YamlNode { position, place, is_marked: false, content: YamlContent::Alias }
                }
                Event::SequenceStart(style, anchor, tag)
                | Event::MappingStart(style, anchor, tag) => {
                    open.push(OpenNode {
                        position,
                        start: place.start,
                        style,
                        is_marked: anchor > 0 || tag.is_some(),
                        is_map,
                        children: Vec::new(),
                    });
                    continue;
                }
                _ if is_end => match open.pop() {
                    Some(node) => node.close(place.end),
                    None => return read,
                },
                _ => continue,
            };
            match open.last_mut() {
                Some(parent) => parent.children.push(complete),
                // Only the first document counts: the reader of values refuses a second one.
                None => {
                    read.root.get_or_insert(complete);
                }
            }
        }
        // The comment after the header of a block scalar comes after the scalar.
        read.comments.sort_unstable_by_key(|place| place.start);
        read
    }
}

/// A list or a map whose end is not read yet.
struct OpenNode {
    position: Position,
    start: usize,
    style: StructureStyle,
    is_marked: bool,
    is_map: bool,
    /// The items of a list; the names and values of a map, in turns.
    children: Vec<YamlNode>,
}

impl OpenNode {
    /// Returns the node, whose end event ends at `end`.
    fn close(self, end: usize) -> YamlNode {
        let in_braces = self.style == StructureStyle::Flow;
        let last = self.children.last().map_or(self.start, |last| last.place.end);
        let place = self.start..if in_braces { end } else { last };
        let mut children = self.children.into_iter();
        let content = if self.is_map {
            let pairs = std::iter::from_fn(|| Some((children.next()?, children.next()?)));
            YamlContent::Map { pairs: pairs.collect(), in_braces }
        } else {
            YamlContent::List(children.collect())
        };
        YamlNode { position: self.position, place, is_marked: self.is_marked, content }
    }

    /// Returns the place of a block scalar in this list or map: from its header up to the end of its last line that is not
    /// blank. `read` is the place that the parser gives: it begins at the content, and ends at the next node.
    fn block_scalar(&self, text: &str, read: &Range<usize>) -> Range<usize> {
        let before = self.children.last().map_or(self.start, |last| last.place.end);
        let between = text.get(before..read.start).unwrap_or_default();
        let header = between.match_indices(['|', '>']);
        let start = header
            .filter(|(at, _)| between.get(..*at).is_some_and(|it| it.ends_with([' ', '\n'])))
            .map(|(at, _)| before + at)
            .next();
        let start = start.unwrap_or(read.start);
        // The content is indented more than the node around it.
        let mut indent = column(text, self.start) + 1;
        let mut lines = text.get(start..).unwrap_or_default().split_inclusive('\n');
        let header = lines.next().unwrap_or_default();
        let (mut at, mut end) = (start + header.len(), start + header.trim_end().len());
        let mut is_first = true;
        for line in lines {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            if !line.trim().is_empty() {
                if spaces < indent {
                    break;
                }
                if is_first {
                    (indent, is_first) = (spaces, false);
                }
                end = at + line.trim_end_matches(['\n', '\r']).len();
            }
            at += line.len();
        }
        start..end
    }
}

/// Returns whether a scalar is written as `|` or `>`.
pub(super) fn is_block(style: ScalarStyle) -> bool {
    matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
}

/// Returns the column of a byte, in characters from 0.
pub(super) fn column(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.chars().rev().take_while(|c| *c != '\n').count()
}

/// Returns the end of the line of a byte, without the line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.find('\n').map_or(rest.len(), |length| {
        rest.get(..length).unwrap_or_default().trim_end_matches('\r').len()
    })
}

/// Replaces parts of a text. The places do not overlap.
pub(super) fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(place, _)| place.start);
    let (mut result, mut at) = (String::with_capacity(text.len()), 0);
    for (place, replacement) in edits {
        result.push_str(text.get(at..place.start).unwrap_or_default());
        result.push_str(&replacement);
        at = place.end;
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}
