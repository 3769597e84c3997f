//! Bar R3: the nine shapes of SpiceDB's own benchmarks (`pkg/benchmarks` of authzed/spicedb): wide, deep, nested.

use anyhow::{Context, Result, ensure};
use chrono::DateTime;
use portcullis_directory::{Graph, GraphBuffer, Object, SubjectClaims, Tuple, TupleTable};
use portcullis_workloads::measure::{Variant, compare};
use portcullis_workloads::report::{Bar, Group};

use crate::checks::CLOSURES;
use crate::drive::schema;

/// Types with their relations as JSON, tuples in the spelling `type:id#relation@type:id`, with `#relation` for a userset,
/// and a check that holds.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) types: &'static [(&'static str, &'static str)],
    pub(crate) tuples: Vec<String>,
    /// The object, the relation, and the user.
    pub(crate) check: (&'static str, &'static str, &'static str),
}

const GROUPS: &[(&str, &str)] = &[
    ("group", r#"{"member": "[user, group#member]"}"#),
    ("resource", r#"{"viewer": "[user, group#member]", "view": "viewer"}"#),
];
const TEAMS: &[(&str, &str)] = &[
    (
        "team",
        r#"{"manager": "[user, team#member, team#manager]", "direct": "[user, team#member, team#manager]",
            "member": "direct || manager"}"#,
    ),
    (
        "resource",
        r#"{"viewer": "[user, team#member, team#manager]", "manager": "[user, team#member, team#manager]",
            "view": "viewer || manager"}"#,
    ),
];

/// The teams of a company, one in the other.
const COMPANY: &[&str] = &[
    "team:product#manager@user:lead",
    "team:apps#manager@user:director",
    "team:engineering#manager@user:cto",
    "team:board#manager@user:ceo",
    "team:product#direct@user:engineer",
    "team:board#direct@user:cto",
    "team:engineering#direct@team:apps#member",
    "team:apps#direct@team:product#member",
    "team:engineering#direct@team:board#member",
    "resource:metrics#viewer@team:engineering#member",
    "resource:tickets#viewer@team:engineering#member",
    "resource:metrics#viewer@user:guest",
];

fn shapes() -> [Shape; 9] {
    [
        Shape {
            name: "9,000 direct viewers",
            types: &[("resource", r#"{"viewer": "[user]", "view": "viewer"}"#)],
            tuples: tuples(0..9_001, |n| format!("resource:one#viewer@user:u{n}")),
            check: ("resource:one", "view", "u9000"),
        },
        Shape {
            name: "80 groups in a group, each with one inside",
            types: GROUPS,
            tuples: nested_groups(),
            check: ("resource:one", "view", "tom"),
        },
        Shape {
            name: "30 levels",
            types: &[(
                "document",
                r#"{"parent": "[document]", "view": "[user]",
                "viewer": "view || parent.viewer"}"#,
            )],
            tuples: [
                tuples(0..31, |n| format!("document:d{n}#parent@document:d{}", n + 1)),
                vec!["document:d29#view@user:slow".to_owned()],
            ]
            .concat(),
            check: ("document:d0", "viewer", "slow"),
        },
        Shape {
            name: "30 groups of 20 on a file",
            types: &[
                ("group", r#"{"member": "[user]"}"#),
                (
                    "file",
                    r#"{"group": "[group]", "view": "[user]", "viewer": "view || group.member"}"#,
                ),
            ],
            tuples: [
                stepped(10, 30, 97, "file", "group", "group"),
                stepped(97, 20, 997, "group", "member", "user"),
            ]
            .concat(),
            check: ("file:file0", "viewer", "user570"),
        },
        Shape {
            name: "20 organisations of 10 groups of 20 on a file",
            types: &[
                ("group", r#"{"member": "[user]"}"#),
                ("org", r#"{"group": "[group]", "member": "group.member"}"#),
                ("file", r#"{"org": "[org]", "view": "[user]", "viewer": "view || org.member"}"#),
            ],
            tuples: [
                stepped(5, 20, 97, "file", "org", "org"),
                stepped(97, 10, 299, "org", "group", "group"),
                stepped(299, 20, 499, "group", "member", "user"),
            ]
            .concat(),
            check: ("file:file0", "viewer", "user181"),
        },
        Shape {
            name: "both of two, without a third, of 499 objects",
            types: &[
                ("org", r#"{"reader": "[user]", "banned": "[user]", "read": "reader && !banned"}"#),
                (
                    "resource",
                    r#"{"viewer": "[user]", "org": "[org]", "view": "viewer && org.read"}"#,
                ),
            ],
            tuples: [
                tuples(0..499, |n| format!("resource:r{n}#viewer@user:tom")),
                tuples(0..499, |n| format!("resource:r{n}#org@org:one")),
                vec!["org:one#reader@user:tom".to_owned()],
            ]
            .concat(),
            check: ("resource:r1", "view", "tom"),
        },
        Shape {
            name: "relations that stand for each other",
            types: TEAMS,
            tuples: COMPANY.iter().map(|&tuple| tuple.to_owned()).collect(),
            check: ("resource:metrics", "view", "engineer"),
        },
        Shape {
            name: "shared with a team of teams",
            types: TEAMS,
            tuples: shared_with_teams(),
            check: ("resource:metrics", "view", "engineer"),
        },
        Shape {
            name: "100 chains of three groups",
            types: GROUPS,
            tuples: chains(),
            check: ("resource:other", "view", "tom"),
        },
    ]
}

pub(crate) fn tuples(
    numbers: std::ops::Range<usize>,
    tuple: impl Fn(usize) -> String,
) -> Vec<String> {
    numbers.map(tuple).collect()
}

/// Gives each of `objects` objects `each` of `subjects` subjects, in steps that grow with the object.
fn stepped(
    objects: usize,
    each: usize,
    subjects: usize,
    object: &str,
    relation: &str,
    subject: &str,
) -> Vec<String> {
    let of_object = |n: usize| {
        let nth = move |i: usize| i * (n + 1) % subjects;
        (0..each)
            .map(move |i| format!("{object}:{object}{n}#{relation}@{subject}:{subject}{}", nth(i)))
    };
    (0..objects).flat_map(of_object).collect()
}

fn nested_groups() -> Vec<String> {
    let mut all = tuples(0..80, |n| format!("group:all#member@group:g{n}#member"));
    all.extend(tuples(0..80, |n| format!("group:g{n}#member@group:g{n}-1#member")));
    all.push("group:g79-1#member@user:tom".to_owned());
    all.push("resource:one#viewer@group:all#member".to_owned());
    all
}

fn shared_with_teams() -> Vec<String> {
    let shares = [
        "resource:metrics#manager@team:product#member",
        "resource:tickets#manager@team:engineering#manager",
    ];
    COMPANY.iter().chain(&shares).map(|&tuple| tuple.to_owned()).collect()
}

fn chains() -> Vec<String> {
    let mut all = vec!["group:first#member@user:tom".to_owned()];
    for n in 0..100 {
        all.push(format!("group:a{n}#member@group:first#member"));
        all.push(format!("group:b{n}#member@group:a{n}#member"));
        all.push(format!("group:c{n}#member@group:b{n}#member"));
    }
    all.push("resource:other#viewer@group:c99#member".to_owned());
    all
}

pub(crate) fn object(text: &str) -> Result<Object<'_>> {
    let (object_type, id) = text.split_once(':').context("a type")?;
    Ok(Object { object_type, id })
}

pub(crate) fn graph(shape: &Shape, max_closure_bytes: usize) -> Result<Graph> {
    let schema = schema(shape.types)?;
    let number = |of: Object<'_>, relation: &str| {
        let found =
            schema.relation(of.object_type, relation).with_context(|| relation.to_owned())?;
        anyhow::Ok(schema.number(found))
    };
    let mut builder = TupleTable::builder();
    for text in &shape.tuples {
        let (left, right) = text.split_once('@').context("a subject")?;
        let (of, relation) = left.split_once('#').context("a relation")?;
        let (subject, related) = right.split_once('#').unzip();
        let (of, subject) = (object(of)?, object(subject.unwrap_or(right))?);
        let subject_relation = related.map(|related| number(subject, related)).transpose()?;
        let relation = number(of, relation)?;
        builder.push(Tuple {
            object: of,
            relation,
            subject,
            subject_relation,
            expires_at: None,
        })?;
    }
    Ok(Graph::new(schema, builder.finish(), max_closure_bytes))
}

pub(crate) fn checks(group: &mut Group<'_>) -> Result<()> {
    for shape in shapes() {
        let (hot, cold) = (graph(&shape, CLOSURES)?, graph(&shape, 0)?);
        let (of, relation, user) = shape.check;
        let of = object(of)?;
        let relation = hot.schema().relation(of.object_type, relation).context(relation)?;
        let ask = |graph: &Graph, user: &str, buffer: &mut GraphBuffer| {
            let user = Object { object_type: "user", id: user };
            let subject =
                graph.subject(user, SubjectClaims::default(), DateTime::UNIX_EPOCH, buffer);
            subject.has(relation, of.id, &[], buffer).ok()
        };
        let [mut a, mut b, mut c] = [(); 3].map(|()| GraphBuffer::default());
        ensure!(ask(&cold, user, &mut a) == Some(true), "{}: the check holds", shape.name);
        ensure!(ask(&cold, "stranger", &mut a) == Some(false), "{}: a stranger's", shape.name);
        let samples = compare(vec![
            Variant::new("cold", 1, |_| ask(&cold, user, &mut a)),
            Variant::new("hot", 1, |_| ask(&hot, user, &mut b)),
            Variant::new("denied", 1, |_| ask(&cold, "stranger", &mut c)),
        ]);
        for sample in &samples {
            let what = format!("{}: {}", shape.name, sample.name);
            group.measurement(what, sample.ns() / 1e3, " µs", Bar::AtMost(20.0));
        }
    }
    Ok(())
}
