//! The output of a command of the tour, and its form in the document.

use serde_json::Value;

use crate::support::{is_timestamp, is_uuid_v7};

/// Longest line of a body that is not broken up.
const WIDTH: usize = 110;

/// The addresses of the document's servers.
const PLACES: [&str; 2] = ["http://127.0.0.1:8080", "http://127.0.0.1:8081"];

pub(super) struct Answer {
    command: String,
    status: Option<String>,
    headers: Vec<(String, String)>,
    body: String,
    /// The addresses of the servers, in the order of `PLACES`.
    places: [String; 2],
    head_is_shown: bool,
    body_is_shown: bool,
}

impl Answer {
    /// Reads what `curl -s`, or `curl -si`, printed.
    pub(super) fn new(command: &str, printed: &str, places: [String; 2]) -> Self {
        let (head, body) = match printed.split_once("\r\n\r\n") {
            Some((head, body)) if head.starts_with("HTTP/") => (head, body),
            _ => ("", printed),
        };
        let mut head = head.lines();
        let status = head.next().map(|line| line.trim_end().to_owned());
        let pairs = head.filter_map(|line| line.trim_end().split_once(": "));
        Self {
            command: command.to_owned(),
            status,
            headers: pairs.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
            body: body.trim_end().to_owned(),
            places,
            head_is_shown: false,
            body_is_shown: false,
        }
    }

    /// The head as a block shows it that names some of the headers.
    pub(super) fn head(&mut self, block: &[&str]) -> String {
        let status = self.status.as_ref().unwrap_or_else(|| panic!("no `-i`: {}", self.command));
        let names = block.iter().skip(1).map(|line| line.split(": ").next().unwrap_or_default());
        let show = |name| {
            let Some(value) = self.header(name) else { panic!("no `{name}`: {}", self.command) };
            let value = match name.to_lowercase().as_str() {
                "x-policy-revision" if value.parse::<u64>().is_ok() => "<revision>".to_owned(),
                "etag" if value.starts_with('"') && value.len() > 2 => "\"<etag>\"".to_owned(),
                _ => self.normalised(value),
            };
            format!("{name}: {value}")
        };
        let shown = std::iter::once(status.clone()).chain(names.map(show)).collect::<Vec<_>>();
        self.head_is_shown = true;
        shown.join("\n")
    }

    /// The body as a block shows it.
    pub(super) fn body(&mut self) -> String {
        self.body_is_shown = true;
        layout(&self.normalised(&self.body), 0)
    }

    /// An answer whose head or body was printed must be compared with something.
    pub(super) fn must_be_shown(&self) {
        assert!(self.head_is_shown || self.body_is_shown, "no answer beside: {}", self.command);
        assert_eq!(self.head_is_shown, self.status.is_some(), "the head of: {}", self.command);
        assert_eq!(self.body_is_shown, !self.body.is_empty(), "the body of: {}", self.command);
    }

    /// The values that a line `# keeps NAME from …` keeps.
    pub(super) fn kept(&self, line: &str) -> Option<(String, String)> {
        let (name, place) = line.strip_prefix("# keeps ")?.split_once(" from ")?;
        let found = match place.strip_prefix("the header ") {
            Some(header) => self.header(header).map(|value| {
                // Of a link, the address.
                let link = value.strip_prefix('<').and_then(|rest| rest.split_once('>'));
                link.map_or(value, |(address, _)| address).to_owned()
            }),
            None => {
                let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
                body.pointer(&place.replace('.', "/")).and_then(Value::as_str).map(str::to_owned)
            }
        };
        let found =
            found.unwrap_or_else(|| panic!("{line}: not in {}{:?}", self.body, self.headers));
        Some((name.to_owned(), found))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| &**value)
    }

    /// `text` with placeholders for what differs each time.
    fn normalised(&self, text: &str) -> String {
        normalised(text, self.places.iter().map(String::as_str).zip(PLACES))
    }
}

/// Returns `text` with placeholders for what differs each time. `places` has the address that is used for each address
/// that is shown.
pub(crate) fn normalised<'p>(
    text: &str,
    places: impl Iterator<Item = (&'p str, &'p str)>,
) -> String {
    let text = places.fold(text.to_owned(), |text, (own, shown)| text.replace(own, shown));
    let mut normalised = String::new();
    let mut rest = &*text;
    while !rest.is_empty() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let end = end.max(rest.chars().next().filter(|c| !is_word(*c)).map_or(0, char::len_utf8));
        let (word, after) = rest.split_at(end);
        let before = BEFORE.into_iter().find(|before| normalised.ends_with(before));
        normalised += &placeholder(word, before).unwrap_or_else(|| word.to_owned());
        rest = after;
    }
    normalised
}

/// Whatever stands behind these differs each time.
const BEFORE: [&str; 5] = ["cursor=", "\"size\"", "\"elapsed_us\"", "\"us\"", "\"memory_bytes\""];

/// The placeholder of a word that differs each time, given what stands before it.
fn placeholder(word: &str, before: Option<&str>) -> Option<String> {
    let core = word.trim_end_matches(['.', ':']);
    let kind = match core {
        _ if before == Some("cursor=") => "<cursor>",
        _ if before.is_some() && core.starts_with(":") => ":<number>",
        _ if core.len() == 64 && core.bytes().all(|byte| byte.is_ascii_hexdigit()) => "<sha256>",
        _ if is_uuid_v7(core) => "<uuid>",
        _ if core.strip_prefix("key:").is_some_and(is_uuid_v7) => "key:<uuid>",
        _ if is_timestamp(core) => "<time>",
        _ if core.starts_with("pck_") && core.len() > 50 => "<key>",
        _ if core.starts_with("pck_") => "<prefix>",
        _ if core.starts_with("ey") && core.split('.').count() == 3 => "<token>",
        _ => return None,
    };
    Some(format!("{kind}{}", &word[core.len()..]))
}

/// Compact JSON over several lines where one would be too long; members keep their order.
pub(crate) fn layout(json: &str, indent: usize) -> String {
    let parts = parts(json);
    if indent + spaced(json).len() <= WIDTH || parts.is_empty() {
        return spaced(json);
    }
    let inner = " ".repeat(indent + 2);
    let lay = |part: &&str| match member(part) {
        Some((name, value)) => format!("{inner}{name}: {}", layout(value, indent + 2)),
        None => format!("{inner}{}", layout(part, indent + 2)),
    };
    let lines: Vec<_> = parts.iter().map(lay).collect();
    let (open, close) = (&json[..1], &json[json.len() - 1..]);
    format!("{open}\n{}\n{}{close}", lines.join(",\n"), " ".repeat(indent))
}

/// The name and the value of an object's member.
fn member(part: &str) -> Option<(&str, &str)> {
    let colon = outside_strings(part).find(|(_, c)| *c == ':').map(|(at, _)| at)?;
    let is_name = part.starts_with('"') && part[..colon].ends_with('"');
    is_name.then(|| (&part[..colon], &part[colon + 1..]))
}

/// The members of an object or a list.
fn parts(json: &str) -> Vec<&str> {
    if !json.starts_with(['{', '[']) || json.len() <= 2 {
        return vec![];
    }
    let (mut parts, mut depth, mut start) = (vec![], 0, 1);
    for (at, c) in outside_strings(json) {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 1 => {
                parts.push(&json[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&json[start..json.len() - 1]);
    parts
}

/// A space after each comma and colon.
fn spaced(json: &str) -> String {
    let mut spaced = String::with_capacity(json.len() * 2);
    let mut copied = 0;
    for (at, _) in outside_strings(json).filter(|(_, c)| matches!(c, ',' | ':')) {
        spaced += &json[copied..=at];
        spaced.push(' ');
        copied = at + 1;
    }
    spaced + &json[copied..]
}

/// The characters that stand in no string, with their places.
fn outside_strings(json: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quoted, mut escaped) = (false, false);
    json.char_indices().filter(move |(_, c)| {
        let was_quoted = quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        !was_quoted && !quoted
    })
}
