//! Bar R7: rings, chains and stars. A check takes at most 10 ms and is undetermined if it is more work, and memory stays flat.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use chrono::DateTime;
use portcullis_directory::{Graph, GraphBuffer, Object, SubjectClaims};
use portcullis_workloads::measure::{Variant, compare, kept};
use portcullis_workloads::report::{Bar, Group};

use crate::checks::CLOSURES;
use crate::shapes::{Shape, graph, object, tuples};

const GROUPS: &[(&str, &str)] = &[
    ("group", r#"{"member": "[user, group#member]"}"#),
    ("document", r#"{"viewer": "[user, group#member]"}"#),
];
const FOLDERS: &[(&str, &str)] =
    &[("document", r#"{"parent": "[document]", "viewer": "[user] || parent.viewer"}"#)];
/// The links of a ring or a chain: as many as the edges that a check looks at.
const LINKS: usize = 100_000;
const STAR: usize = 1_000_000;
/// The checks during which memory must stay flat.
const REPEATED: usize = 100;

fn shapes() -> [Shape; 5] {
    let check = ("document:one", "viewer", "eve");
    let member = |n: usize, of: usize| format!("group:g{n}#member@group:g{of}#member");
    [
        Shape {
            name: "a ring of 100,000 groups",
            types: GROUPS,
            tuples: [
                tuples(0..LINKS, |n| member(n, (n + 1) % LINKS)),
                vec!["group:g0#member@user:eve".to_owned()],
                vec!["document:one#viewer@group:g7#member".to_owned()],
            ]
            .concat(),
            check,
        },
        Shape {
            name: "a chain of 100,000 groups",
            types: GROUPS,
            tuples: [
                tuples(0..LINKS, |n| member(n, n + 1)),
                vec![format!("group:g{LINKS}#member@user:eve")],
                vec!["document:one#viewer@group:g0#member".to_owned()],
            ]
            .concat(),
            check,
        },
        Shape {
            name: "a chain of 100,000 folders",
            types: FOLDERS,
            tuples: [
                vec!["document:one#parent@document:d0".to_owned()],
                tuples(0..LINKS, |n| format!("document:d{n}#parent@document:d{}", n + 1)),
                vec![format!("document:d{LINKS}#viewer@user:eve")],
            ]
            .concat(),
            check,
        },
        Shape {
            name: "1,000,000 usersets on one object",
            types: GROUPS,
            tuples: [
                tuples(0..STAR, |n| format!("document:one#viewer@group:g{n}#member")),
                vec!["group:none#member@user:eve".to_owned()],
            ]
            .concat(),
            check,
        },
        Shape {
            name: "a user in 1,000,000 groups",
            types: GROUPS,
            tuples: [
                tuples(0..STAR, |n| format!("group:g{n}#member@user:eve")),
                vec!["document:one#viewer@group:none#member".to_owned()],
            ]
            .concat(),
            check,
        },
    ]
}

pub(crate) fn hostile(group: &mut Group<'_>) -> Result<()> {
    for shape in shapes() {
        let (hot, cold) = (graph(&shape, CLOSURES)?, graph(&shape, 0)?);
        let (of, relation, user) = shape.check;
        let id = object(of)?.id;
        let relation = hot.schema().relation("document", relation).context(relation)?;
        let ask = |graph: &Graph, buffer: &mut GraphBuffer| {
            let user = Object { object_type: "user", id: user };
            let subject =
                graph.subject(user, SubjectClaims::default(), DateTime::UNIX_EPOCH, buffer);
            subject.has(relation, id, &[], buffer).ok()
        };
        let [mut a, mut b] = [(); 2].map(|()| GraphBuffer::default());
        let answer = ask(&cold, &mut a);
        ensure!(answer == ask(&hot, &mut b), "{}: closures that are kept change it", shape.name);
        let answer = answer.map_or("undetermined", |has| if has { "true" } else { "false" });
        let samples = compare(vec![
            Variant::new("cold", 1, |_| ask(&cold, &mut a)),
            Variant::new("hot", 1, |_| ask(&hot, &mut b)),
        ]);
        for sample in &samples {
            let what = format!("{}, {answer}: {}", shape.name, sample.name);
            group.measurement(what, sample.ns() / 1e6, " ms", Bar::AtMost(10.0));
        }
        let more = kept(|| {
            for _ in 0..REPEATED {
                black_box((ask(&cold, &mut a), ask(&hot, &mut b)));
            }
        });
        let what = format!("{}: kept after {REPEATED} more checks", shape.name);
        group.measurement(what, more as f64, " bytes", Bar::AtMost(0.0));
    }
    Ok(())
}
