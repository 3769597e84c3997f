//! The pools of all generated values. They are small, so that values match, and chosen, so that others nearly match.

use std::sync::LazyLock;

use portcullis_engine::operator::{self, ComparedKind, Operator, Row, Takes, UnaryOperator};
use serde_json::{Value, json};

pub(crate) const SUBJECTS: [&str; 5] = ["ann", "ann", "bob", "admin", "*"];
pub(crate) const ROLES: [&str; 5] = ["admin", "editor", "viewer", "ann", "*"];
pub(crate) const RULE_SUBJECTS: [&str; 6] = ["*", "ann", "bob", "admin", "editor", "viewer"];
pub(crate) const DOMAINS: [&str; 3] = ["acme", "acme", "globex"];
pub(crate) const RULE_DOMAINS: [&str; 5] = ["*", "acme", "acme", "globex", "initech"];
pub(crate) const ACTIONS: [&str; 3] = ["read", "write", "*"];
pub(crate) const RULE_ACTIONS: [&str; 4] = ["*", "read", "write", "delete"];
/// Names with several colons, and a verb that looks like a pattern.
pub(crate) const RESOURCES: [&str; 6] =
    ["doc:read", "doc:write", "doc:v1:read", "doc:v1:draft:read", "a:read", "doc:*"];
/// The patterns of a rule's `obj` or a policy's `resource`.
pub(crate) const RESOURCE_PATTERNS: [&str; 12] = [
    "*",
    "*",
    "*",
    "*",
    "doc:*",
    "doc:*",
    "doc:read",
    "doc:write",
    "doc:v1:*",
    "doc:v1:read",
    "doc:v1:draft:*",
    "a:*",
];
pub(crate) const PRIORITIES: [i32; 8] = [0, 0, 0, 1, 1, -1, i32::MAX, i32::MIN];
/// Instants that match or nearly match [`DATES`].
pub(crate) const NOWS: [&str; 4] = [
    "2026-03-01T08:00:00.000Z",
    "2026-03-01T08:00:00.250Z",
    "2026-02-28T23:30:00.000Z",
    "2027-01-01T00:00:00.001Z",
];

/// The groups of values, each with attribute names, so that operators mostly get values that they compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Text,
    Number,
    Bool,
    List,
    Date,
    Ip,
}

impl Group {
    pub(crate) const ALL: [Self; 6] =
        [Self::Text, Self::Number, Self::Bool, Self::List, Self::Date, Self::Ip];

    /// Returns the attributes that mostly have such values.
    pub(crate) fn paths(self) -> &'static [&'static str] {
        match self {
            Self::Text => &[
                "user.dept",
                "user.dept",
                "user.home.city",
                "resource.owner",
                "resource.owner",
                "resource.id",
                "action.mode",
                "context.channel",
                "request.subject",
                "request.resource",
                "request.object",
                "request.action",
                "request.domain",
                "token.sub",
                "token.org.unit",
                "token.team.name",
                "token.contact.mail",
            ],
            Self::Number => &["user.level", "resource.level", "token.level", "token.org.size"],
            Self::Bool => &["user.flag", "resource.flag", "action.soft", "token.flag"],
            Self::List => &[
                "user.tags",
                "user.roles",
                "resource.tags",
                "request.roles",
                "token.tags",
                "token.realm_access.roles",
            ],
            Self::Date => &["user.since", "resource.until", "token.since", "request.time"],
            Self::Ip => &["user.ip", "resource.ip", "context.ip", "token.ip"],
        }
    }

    /// Returns the values of the group.
    pub(crate) fn values(self) -> Vec<Value> {
        let texts = |texts: &[&str]| texts.iter().map(|text| json!(text)).collect();
        match self {
            Self::Text => texts(&TEXTS),
            Self::Number => numbers(),
            Self::Bool => vec![json!(true), json!(false)],
            Self::List => lists(),
            Self::Date => texts(&[&DATES[..], &NO_DATES[..]].concat()),
            Self::Ip => texts(&[&ADDRESSES[..], &NO_ADDRESSES[..]].concat()),
        }
    }
}

/// Every operator with the groups of values that it compares.
pub(crate) static OPERATORS: LazyLock<Vec<(&'static str, Vec<Group>)>> =
    LazyLock::new(|| operator::names().map(|name| (name, groups(name))).collect());

fn groups(name: &str) -> Vec<Group> {
    let Ok(operator) = name.parse::<Operator>() else {
        return match name.parse().expect("an operator") {
            UnaryOperator::Matches => vec![Group::Text],
            UnaryOperator::IpIn => vec![Group::Ip],
            UnaryOperator::During => vec![Group::Date],
            UnaryOperator::Exists => Group::ALL.to_vec(),
        };
    };
    let row = operator.row();
    let groups = row.compares.iter().map(|(left, _)| group(row, *left));
    // A literal list has no booleans.
    let fits = |group: &Group| *group != Group::Bool || row.takes == Takes::Scalar;
    let mut groups: Vec<Group> = groups.filter(fits).collect();
    groups.dedup();
    groups
}

fn group(row: &Row, left: ComparedKind) -> Group {
    match left {
        ComparedKind::Text if matches!(row.takes, Takes::Instant | Takes::Duration) => Group::Date,
        ComparedKind::Text | ComparedKind::Duration => Group::Text,
        ComparedKind::Number => Group::Number,
        ComparedKind::Bool => Group::Bool,
        ComparedKind::List => Group::List,
    }
}

/// Attributes of no kind: never sent, `null`, or an object.
pub(crate) const OTHER_PATHS: [&str; 8] = [
    "user.nobody",
    "resource.nothing",
    "action.nothing",
    "context.nothing",
    "token.nothing",
    "token.org",
    "token.team",
    "token.org.x.y",
];

/// The last two sort one way by code point and the other way in UTF-16.
pub(crate) const TEXTS: [&str; 18] = [
    "a",
    "ann",
    "acme",
    "read",
    "doc:read",
    "eng",
    "b",
    "ab",
    "abc",
    "",
    "bob",
    "engineering",
    "1",
    "true",
    "Ann",
    "ä",
    "～",
    "𝄞",
];
/// The first five are one instant.
pub(crate) const DATES: [&str; 13] = [
    "2026-03-01T08:00:00Z",
    "2026-03-01T08:00:00.000Z",
    "2026-03-01t10:00:00+02:00",
    "2026-02-28T23:30:00-08:30",
    "2026-03-01T08:00:00.000000000-00:00",
    "2026-03-01T08:00:00.25Z",
    "2026-03-01T08:00:00.250000001z",
    "2026-03-01T08:00:00+05:45",
    "2026-02-28T23:59:59.999999999Z",
    "2024-02-29T00:00:00+23:59",
    "2016-12-31T23:59:60Z",
    "2017-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
];
pub(crate) const NO_DATES: [&str; 11] = [
    "2026-03-01",
    "2026-03-01T08:00:00",
    "2026-02-29T08:00:00Z",
    "2026-03-01T24:00:00Z",
    "2026-03-01T08:60:00Z",
    "2026-13-01T08:00:00Z",
    "2026-03-01T08:00:00.Z",
    "2026-03-01T08:00:00+0200",
    "2026-03-01T08:00:00+24:00",
    " 2026-03-01T08:00:00Z",
    "1772352000",
];
/// Durations at whose ends some of [`DATES`] and [`NOWS`] lie.
pub(crate) const DURATIONS: [&str; 8] =
    ["PT1S", "PT15M", "PT2H15M", "P1D", "PT8H30M", "P0DT30600S", "P30D", "P36525D"];
pub(crate) const ADDRESSES: [&str; 11] = [
    "10.0.0.1",
    "10.1.2.3",
    "::ffff:10.1.2.3",
    "::ffff:a01:203",
    "192.168.7.255",
    "192.168.8.0",
    "2001:db8::1",
    "2001:DB8:0:0:0:0:0:1",
    "2001:db9::",
    "::1",
    "255.255.255.255",
];
pub(crate) const NO_ADDRESSES: [&str; 8] =
    ["10.1.2", "010.1.2.3", "10.0.0.0/8", "[::1]", "fe80::1%eth0", "localhost", " 10.0.0.1", ""];
pub(crate) const NETWORKS: [&str; 14] = [
    "10.0.0.0/8",
    "10.1.0.0/16",
    "10.1.2.3",
    "10.1.2.3/32",
    "192.168.7.0/24",
    "0.0.0.0/0",
    "::/0",
    "2001:db8::/32",
    "2001:db8::1",
    "::ffff:10.0.0.0/104",
    "::ffff:192.168.8.0",
    "::1/128",
    "192.168.6.0/24",
    "128.0.0.0/1",
];

/// A pattern, and its meaning in plain code.
pub(crate) type Pattern = (&'static str, fn(&str) -> bool);

pub(crate) const PATTERNS: [Pattern; 9] = [
    ("a|ab", |text| text == "a" || text == "ab"),
    ("eng.*", |text| text.starts_with("eng")),
    ("[a-z]+", |text| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase())),
    ("", str::is_empty),
    ("b", |text| text == "b"),
    ("(?i)ann", |text| text.eq_ignore_ascii_case("ann")),
    ("^doc:(read|write)$", |text| text == "doc:read" || text == "doc:write"),
    (".", |text| text.chars().count() == 1),
    ("[^:]*", |text| !text.contains(':')),
];

/// Numbers on both sides of each value that a careless comparison would round.
fn numbers() -> Vec<Value> {
    let exact = 1_u64 << 53;
    vec![
        json!(1),
        json!(1.0),
        json!(2),
        json!(3),
        json!(0),
        json!(-0.0),
        json!(2.5),
        json!(-1),
        json!(0.1),
        json!(exact),
        json!(exact + 1),
        json!(9_007_199_254_740_992.0),
        json!(i64::MAX),
        json!(1_u64 << 63),
        json!(9_223_372_036_854_775_808.0),
        json!(u64::MAX),
        json!(18_446_744_073_709_551_616.0),
        json!(i64::MIN),
        json!(-9_223_372_036_854_775_808.0),
        json!(-9_223_372_036_854_777_856.0),
        json!(1e300),
        json!(-1e300),
        json!(5e-324),
    ]
}

const WINDOW_DAYS: [&[&str]; 4] = [&[], &["sun"], &["sat", "sun"], &["sun", "mon", "wed", "fri"]];
const WINDOW_HOURS: [Option<(&str, &str)>; 5] = [
    None,
    Some(("08:00", "18:00")),
    Some(("22:00", "08:00")),
    Some(("13:30", "13:30")),
    Some(("00:00", "08:01")),
];
const WINDOW_ZONES: [&str; 6] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
];

/// Returns time windows: [`DATES`] and [`NOWS`] lie in some of them, and near the ends of others.
pub(crate) fn windows() -> Vec<Value> {
    let mut windows = Vec::new();
    for zone in WINDOW_ZONES {
        for days in WINDOW_DAYS {
            for hours in WINDOW_HOURS {
                windows.push(window(days, hours, zone));
            }
        }
    }
    windows
}

fn window(days: &[&str], hours: Option<(&str, &str)>, zone: &str) -> Value {
    let mut window = json!({"zone": zone});
    if !days.is_empty() {
        window["days"] = json!(days);
    }
    if let Some((from, to)) = hours {
        window["from"] = from.into();
        window["to"] = to.into();
    }
    window
}

/// Lists that an attribute may have. Some strings are roles as well.
fn lists() -> Vec<Value> {
    vec![
        json!([]),
        json!(["a", "eng"]),
        json!(["admin"]),
        json!(["editor", "ann"]),
        json!(["viewer", 1]),
        json!([1, 2.5, "1"]),
        json!([1.0]),
        json!(["true", "", "ä"]),
        json!([9_007_199_254_740_993_u64, u64::MAX, -1]),
        json!(["acme", "read", "doc:read", "bob"]),
        json!(["10.0.0.1", "2026-03-01T08:00:00Z"]),
    ]
}

/// Values that a claim may have, but no attribute of a request.
pub(crate) fn claims_only() -> Vec<Value> {
    vec![
        Value::Null,
        json!({}),
        json!({"a": 1}),
        json!([true, null, "a"]),
        json!([["a"], {"a": "a"}, 1]),
        json!([false]),
    ]
}
