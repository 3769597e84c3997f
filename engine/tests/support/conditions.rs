//! The oracle for conditions: the truth of a tree for a request, directly from `docs/semantics.md`,
//! sections 4.2 to 4.5.
//!
//! It walks `serde_json` values and shares no code with the engine. Where both could use the same algorithm, the oracle
//! uses a slower one.

use std::cmp::Ordering;
use std::net::IpAddr;

use serde_json::{Number, Value};

use super::decision::attribute;
use super::instant::Instant;
use super::local_time::lies_in;
use super::pools::PATTERNS;
use super::{Request, instant};

/// The three truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Truth {
    True,
    False,
    Undetermined,
}

use Truth::{False, True, Undetermined};

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { True } else { False }
    }
}

impl Truth {
    fn opposite(self) -> Self {
        match self {
            True => False,
            False => True,
            Undetermined => Undetermined,
        }
    }
}

/// Returns the truth of the tree `node` for `request`.
pub(crate) fn truth(node: &Value, request: &Request) -> Truth {
    Question { request, item: None }.truth(node)
}

/// A request, and the item of a list that a condition is asked about.
#[derive(Clone, Copy)]
struct Question<'r> {
    request: &'r Request,
    item: Option<&'r Value>,
}

impl Question<'_> {
    fn truth(self, node: &Value) -> Truth {
        let children = || -> Vec<Truth> {
            let children = node["children"].as_array().into_iter().flatten();
            children.map(|child| self.truth(child)).collect()
        };
        match node["type"].as_str() {
            Some("AND") => conjunction(&children()),
            Some("OR") => disjunction(&children()),
            Some("NOT") => self.truth(&node["child"]).opposite(),
            Some("ANY") => self.of_list(node, |items| disjunction(&self.of_items(node, items))),
            Some("ALL") => self.of_list(node, |items| conjunction(&self.of_items(node, items))),
            Some("LENGTH") => self.of_list(node, |items| {
                let operator = node["operator"].as_str().unwrap_or_default();
                self.right(&node["value"])
                    .map_or(Undetermined, |right| compare(operator, &items.len().into(), &right))
            }),
            _ => self.condition(node),
        }
    }

    /// "Absent: undetermined, or `if_missing`. Not a list: undetermined."
    fn of_list(self, node: &Value, truth: impl Fn(&[Value]) -> Truth) -> Truth {
        let path = node["attribute"].as_str().unwrap_or_default();
        if self.request.fails(path) {
            return Undetermined;
        }
        match self.attribute(path) {
            None => node["if_missing"].as_bool().map_or(Undetermined, Truth::from),
            Some(Value::Array(items)) => truth(&items),
            Some(_) => Undetermined,
        }
    }

    fn of_items(self, node: &Value, items: &[Value]) -> Vec<Truth> {
        let truth =
            |item| Question { request: self.request, item: Some(item) }.truth(&node["child"]);
        items.iter().map(truth).collect()
    }

    fn attribute(self, path: &str) -> Option<Value> {
        if path == "item" { self.item.cloned() } else { attribute(path, self.request) }
    }

    /// Returns the right side of a comparison; `None` if it is absent or unknown.
    fn right(self, value: &Value) -> Option<Value> {
        match value {
            Value::Object(reference) => {
                let path = reference["attribute"].as_str().unwrap_or_default();
                self.attribute(path).filter(|_| !self.request.fails(path))
            }
            literal => Some(literal.clone()),
        }
    }

    fn condition(self, node: &Value) -> Truth {
        let request = self.request;
        // "`exists` is never undetermined unless its resolver failed."
        if node["attribute"].as_str().is_some_and(|path| request.fails(path)) {
            return Undetermined;
        }
        let left = node["attribute"].as_str().and_then(|path| self.attribute(path));
        let operator = node["operator"].as_str().unwrap_or_default();
        if operator == "exists" {
            return left.is_some().into();
        }
        let Some(left) = left else {
            return node["if_missing"].as_bool().map_or(Undetermined, Truth::from);
        };
        let right = match &node["value"] {
            window @ Value::Object(_) if operator == "during" => Some(window.clone()),
            value => self.right(value),
        };
        let Some(right) = right else {
            // "`if_missing` speaks of `attribute` only; an absent right side is undetermined."
            return Undetermined;
        };
        match operator {
            "within" => {
                near(&left, &right, request, |now, length| [now.plus(-length), now.plus(0)])
            }
            "within_next" => {
                near(&left, &right, request, |now, length| [now.plus(0), now.plus(length)])
            }
            _ => compare(operator, &left, &right),
        }
    }
}

/// "AND is false if any child is false, else undetermined if any is, else true."
fn conjunction(children: &[Truth]) -> Truth {
    if children.contains(&False) {
        False
    } else if children.contains(&Undetermined) {
        Undetermined
    } else {
        True
    }
}

/// "OR is its mirror."
fn disjunction(children: &[Truth]) -> Truth {
    if children.contains(&True) {
        True
    } else if children.contains(&Undetermined) {
        Undetermined
    } else {
        False
    }
}

fn compare(operator: &str, left: &Value, right: &Value) -> Truth {
    match operator {
        "eq" => equal(left, right),
        "ne" => equal(left, right).opposite(),
        "lt" => ordered(left, right, &[Ordering::Less]),
        "lte" => ordered(left, right, &[Ordering::Less, Ordering::Equal]),
        "gt" => ordered(left, right, &[Ordering::Greater]),
        "gte" => ordered(left, right, &[Ordering::Greater, Ordering::Equal]),
        "in" => one_of(left, right),
        "not_in" => one_of(left, right).opposite(),
        "contains" => contains(left, right),
        "contains_any" => {
            on_lists(left, right, |own, item| own.iter().any(|own| has(item, own) == True))
        }
        "contains_all" => {
            on_lists(left, right, |own, others| others.iter().all(|item| has(own, item) == True))
        }
        "starts_with" => on_texts(left, right, |text, start| text.starts_with(start)),
        "ends_with" => on_texts(left, right, |text, end| text.ends_with(end)),
        "matches" => on_texts(left, right, matches),
        "before" => on_instants(left, right, Ordering::Less),
        "after" => on_instants(left, right, Ordering::Greater),
        "ip_in" => ip_in(left, right),
        "during" => during(left, right),
        // An order of a declared date-time.
        "unordered" => Undetermined,
        other => unreachable!("no operator `{other}` is generated"),
    }
}

/// "eq, ne and the orderings on two different types are undetermined", and `eq` takes no list.
fn equal(left: &Value, right: &Value) -> Truth {
    match (left, right) {
        (Value::String(a), Value::String(b)) => (a == b).into(),
        (Value::Number(a), Value::Number(b)) => (compare_numbers(a, b) == Ordering::Equal).into(),
        (Value::Bool(a), Value::Bool(b)) => (a == b).into(),
        _ => Undetermined,
    }
}

/// Compares two numbers by value, or two strings by code point.
fn ordered(left: &Value, right: &Value, holds: &[Ordering]) -> Truth {
    let order = match (left, right) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => {
            let code_points = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
            code_points(a).cmp(&code_points(b))
        }
        _ => return Undetermined,
    };
    holds.contains(&order).into()
}

/// "Items of another type are simply not equal; an attribute that is itself a list is undetermined."
fn one_of(item: &Value, list: &Value) -> Truth {
    match (item, list) {
        (Value::String(_) | Value::Number(_) | Value::Bool(_), Value::Array(items)) => {
            has(items, item)
        }
        _ => Undetermined,
    }
}

/// Returns whether a list has the value ("a list without the value gives false, whatever its items"), or a string has
/// it as a substring.
fn contains(whole: &Value, part: &Value) -> Truth {
    match (whole, part) {
        (Value::Array(items), Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            has(items, part)
        }
        (Value::String(_), Value::String(_)) => on_texts(whole, part, |a, b| a.contains(b)),
        _ => Undetermined,
    }
}

/// "Both sides are lists; another type is undetermined."
fn on_lists(left: &Value, right: &Value, holds: impl Fn(&[Value], &[Value]) -> bool) -> Truth {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => holds(left, right).into(),
        _ => Undetermined,
    }
}

fn has(items: &[Value], item: &Value) -> Truth {
    items.iter().any(|own| equal(own, item) == True).into()
}

fn on_texts(left: &Value, right: &Value, holds: impl Fn(&str, &str) -> bool) -> Truth {
    match (left, right) {
        (Value::String(left), Value::String(right)) => holds(left, right).into(),
        _ => Undetermined,
    }
}

/// Each generated pattern comes with its meaning in plain code, so that no regular expression engine tests itself.
fn matches(text: &str, pattern: &str) -> bool {
    let known = PATTERNS.iter().find(|(known, _)| *known == pattern);
    let (_, meaning) = known.expect("only known patterns are generated");
    meaning(text)
}

/// "Two RFC 3339 date-times, compared as instants; a string that is none counts as a wrong type."
fn on_instants(left: &Value, right: &Value, wanted: Ordering) -> Truth {
    let instant = |value: &Value| value.as_str().and_then(instant::parse);
    match (instant(left), instant(right)) {
        (Some(left), Some(right)) => (left.cmp(&right) == wanted).into(),
        _ => Undetermined,
    }
}

/// "True if now − d ≤ t ≤ now, or now ≤ t ≤ now + d."
fn near(
    left: &Value,
    duration: &Value,
    request: &Request,
    ends: impl Fn(&Instant, i64) -> [Instant; 2],
) -> Truth {
    let now = instant::parse(&request.now).expect("the present is an instant");
    let Some(instant) = left.as_str().and_then(instant::parse) else {
        return Undetermined;
    };
    let [first, last] = ends(&now, seconds(duration.as_str().expect("a duration")));
    (first <= instant && instant <= last).into()
}

/// Returns the seconds of a duration: each number counts by the letter behind it, `M` only behind `T`.
fn seconds(duration: &str) -> i64 {
    let (mut sum, mut number) = (0, 0);
    for character in duration.chars() {
        let unit = match character {
            'D' => 24 * 60 * 60,
            'H' => 60 * 60,
            'M' => 60,
            'S' => 1,
            digit => {
                number = digit.to_digit(10).map_or(0, |digit| 10 * number + i64::from(digit));
                continue;
            }
        };
        sum += number * unit;
        number = 0;
    }
    sum
}

/// "The local time of the instant lies in the window; another type is undetermined."
fn during(left: &Value, right: &Value) -> Truth {
    match left.as_str().and_then(instant::parse) {
        Some(instant) => lies_in(right, instant.unix_seconds()).into(),
        None => Undetermined,
    }
}

fn ip_in(left: &Value, right: &Value) -> Truth {
    let Some(address) = left.as_str().and_then(bits) else {
        return Undetermined;
    };
    let networks = match right {
        Value::Array(networks) => networks.as_slice(),
        network => std::slice::from_ref(network),
    };
    networks.iter().filter_map(Value::as_str).any(|network| inside(&address, network)).into()
}

/// Writes an address as 32 or 128 binary digits; "an IPv4-mapped address compares as IPv4".
fn bits(address: &str) -> Option<String> {
    let v6 = match address.parse().ok()? {
        IpAddr::V4(v4) => return Some(format!("{:032b}", v4.to_bits())),
        IpAddr::V6(v6) => v6,
    };
    Some(match v6.to_ipv4_mapped() {
        Some(v4) => format!("{:032b}", v4.to_bits()),
        None => format!("{:0128b}", v6.to_bits()),
    })
}

/// Returns whether an address, in binary digits, begins with the network's prefix. "A bare address is /32 or /128."
fn inside(address: &str, network: &str) -> bool {
    let (base, prefix) = match network.split_once('/') {
        Some((base, prefix)) => (base, Some(prefix.parse::<usize>().expect("valid"))),
        None => (network, None),
    };
    let base_bits = bits(base).expect("valid");
    // A prefix length of the mapped form includes the 96 bits that all IPv4 addresses share.
    let common = if base.contains(':') && base_bits.len() == 32 { 96 } else { 0 };
    let prefix = prefix.map_or(base_bits.len(), |prefix| prefix - common);
    address.len() == base_bits.len() && address[..prefix] == base_bits[..prefix]
}

/// "Integers from −2^63 to 2^64−1 compare exactly, others as IEEE doubles."
fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => integer_with_double(left, double(right)),
        (None, Some(right)) => integer_with_double(right, double(left)).reverse(),
        (None, None) => double(left).partial_cmp(&double(right)).expect("JSON has no NaN"),
    }
}

fn integer(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

fn double(number: &Number) -> f64 {
    number.as_f64().expect("every number that is not an integer is a double")
}

fn integer_with_double(integer: i128, double: f64) -> Ordering {
    // ±10³⁰ is beyond every 64-bit integer, and an i128 represents it exactly.
    let whole = double.floor().clamp(-1e30, 1e30);
    let by_whole = integer.cmp(&(whole as i128));
    by_whole.then(if double > whole { Ordering::Less } else { Ordering::Equal })
}
