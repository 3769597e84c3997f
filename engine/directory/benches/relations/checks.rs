//! Bar R2: checks of one relation among 10⁶ tuples, five folders deep.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use chrono::DateTime;
use fastrand::Rng;
use portcullis_directory::{Graph, GraphBuffer, Object, RelationId, SubjectClaims};
use portcullis_workloads::REQUESTS;
use portcullis_workloads::measure::{Variant, allocations, compare, kept, load_time};
use portcullis_workloads::report::{Bar, Group};

use crate::drive::{DOCUMENT, Tuples, USER};

/// The bytes of closures in most measurements.
pub(crate) const CLOSURES: usize = 64 << 20;

/// The ids of a user and a document.
pub(crate) type Question = (String, String);

/// Draws questions of this many users.
pub(crate) fn questions(tuples: &Tuples, users: usize) -> Vec<Question> {
    let random = &mut Rng::with_seed(4);
    let documents = tuples.ids[DOCUMENT].len();
    let users: Vec<usize> = (0..users).map(|_| random.usize(..tuples.ids[USER].len())).collect();
    let ids = |of_type: usize, id: usize| tuples.ids[of_type][id].clone();
    let draw = |n| (ids(USER, users[n % users.len()]), ids(DOCUMENT, random.usize(..documents)));
    (0..REQUESTS).map(draw).collect()
}

pub(crate) fn has(
    graph: &Graph,
    relation: RelationId,
    (user, document): &Question,
    buffer: &mut GraphBuffer,
) -> Option<bool> {
    let user = Object { object_type: "user", id: user };
    let subject = graph.subject(user, SubjectClaims::default(), DateTime::UNIX_EPOCH, buffer);
    subject.has(relation, document, &[], buffer).ok()
}

pub(crate) fn checks(tuples: &Tuples, group: &mut Group<'_>) -> Result<()> {
    // Without room for closures none is kept, so that each check is a cold one.
    let (hot, cold) = (tuples.graph(CLOSURES)?, tuples.graph(0)?);
    for name in ["viewer", "read"] {
        let relation = hot.schema().relation("document", name).context(name)?;
        let (many, one) = (questions(tuples, REQUESTS), questions(tuples, 1));
        let mut buffer = GraphBuffer::default();
        let ask = |graph, questions: &[Question], n: usize, buffer: &mut GraphBuffer| {
            has(graph, relation, &questions[n], buffer)
        };
        let holding = many.iter().filter(|one| has(&hot, relation, one, &mut buffer) == Some(true));
        let holding = holding.count();
        ensure!(holding > 0 && holding < REQUESTS, "{holding} hold");
        let allocated = allocations(|| {
            for n in 0..REQUESTS {
                black_box(ask(&hot, &many, n, &mut buffer));
            }
        });
        group.measurement(
            format!("{name}: allocations, hot"),
            allocated as f64,
            "",
            Bar::AtMost(0.0),
        );
        let [mut a, mut b, mut c] = [(); 3].map(|()| GraphBuffer::default());
        let subject = hot.subject(
            Object { object_type: "user", id: &one[0].0 },
            SubjectClaims::default(),
            DateTime::UNIX_EPOCH,
            &mut buffer,
        );
        let samples = compare(vec![
            Variant::new("cold", REQUESTS, |n| ask(&cold, &many, n, &mut a)),
            Variant::new("hot", REQUESTS, |n| ask(&hot, &many, n, &mut b)),
            Variant::new("item", REQUESTS, |n| subject.has(relation, &one[n].1, &[], &mut c)),
        ]);
        let times =
            [("cold closure", 5.0), ("hot closure", 1.0), ("one subject, each document", 0.5)];
        for (sample, (what, bar)) in samples.iter().zip(times) {
            let what = format!("{name}, {holding} of {REQUESTS} hold: {what}");
            group.measurement(what, sample.ns() / 1e3, " µs", Bar::AtMost(bar));
        }
    }
    Ok(())
}

/// Bar R5: the size of 10⁶ tuples, and the time to make their table.
pub(crate) fn size(tuples: &Tuples, group: &mut Group<'_>) -> Result<()> {
    let count = tuples.list.len();
    let mut table = None;
    let bytes = kept(|| table = tuples.table().ok());
    let table = table.context("room")?;
    let million = bytes as f64 / count as f64 * 1e6 / f64::from(1_000_000);
    group.measurement(
        format!("{} tuples: bytes of a million", table.len()),
        million,
        " MB",
        Bar::AtMost(40.0),
    );
    let nodes: usize = tuples.ids.iter().map(Vec::len).sum();
    group.measurement("nodes a tuple", nodes as f64 / count as f64, "", Bar::Shown);
    let seconds = load_time(|| tuples.table()).as_secs_f64();
    group.measurement("load", seconds, " s", Bar::AtMost(5.0));
    Ok(())
}
