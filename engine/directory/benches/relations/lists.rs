//! Bar R4: all objects of a subject among 10⁶, and all subjects of an object among 25,000.

use anyhow::{Context, Result, ensure};
use chrono::DateTime;
use portcullis_directory::{
    Graph, GraphBuffer, GraphSubject, MAX_EDGES, Object, RelationId, SubjectClaims, SubjectQuestion,
};
use portcullis_workloads::measure::load_time;
use portcullis_workloads::report::{Bar, Group};

use crate::checks::CLOSURES;
use crate::drive::{self, DOCUMENT, FOLDER, GROUP, Tuples, USER};

/// More edges than the drive has.
const ALL_EDGES: usize = 1 << 30;
/// The documents of a page.
const PAGE: usize = 100;
/// The user who sees every document, and one who sees some.
const USERS: [(usize, &str); 2] = [(0, "a user who sees everything"), (1, "a user")];
/// The document that every user sees, and one that some see.
const DOCUMENTS: [(usize, &str); 2] = [(0, "a document that everybody sees"), (1, "a document")];

pub(crate) fn lists(documents: usize, group: &mut Group<'_>) -> Result<()> {
    let mut tuples = drive::drive(documents)?;
    for root in drive::roots() {
        tuples.add((FOLDER, root), "viewer", (USER, USERS[0].0), None)?;
    }
    // Every user is in the first group, through other groups.
    tuples.add((DOCUMENT, DOCUMENTS[0].0), "viewer", (GROUP, 0), Some("member"))?;
    let graph = tuples.graph(CLOSURES)?;
    for name in ["viewer", "read"] {
        let relation = graph.schema().relation("document", name).context(name)?;
        objects(&graph, relation, &tuples, group)?;
        subjects(&graph, relation, &tuples, group)?;
    }
    Ok(())
}

fn objects(
    graph: &Graph,
    relation: RelationId,
    tuples: &Tuples,
    group: &mut Group<'_>,
) -> Result<()> {
    let mut buffer = GraphBuffer::default();
    let name = graph.schema().name(relation);
    for (user, who) in USERS {
        let user = Object { object_type: "user", id: &tuples.ids[USER][user] };
        let subject =
            graph.subject(user, SubjectClaims::default(), DateTime::UNIX_EPOCH, &mut buffer);
        let list = |most| {
            // A copy each time, because the call takes edges from it.
            let list = subject.objects(relation, &mut { ALL_EDGES }).context("too many edges")?;
            anyhow::Ok(list.ids().take(most).count())
        };
        let seen = list(usize::MAX)?;
        ensure!(seen > 0, "{who} has no {name}");
        let mut first = || first_page(graph, relation, &subject, &mut GraphBuffer::default());
        ensure!(first().len() == PAGE, "{who} has no page of {name}");
        let took = load_time(&mut first).as_secs_f64() * 1e3;
        let what = format!("{name}: the first {PAGE} documents of {who}, as a search finds them");
        group.measurement(what, took, " ms", Bar::AtMost(20.0));
        for (most, what, bar) in
            [(usize::MAX, "all", Bar::AtMost(1_000.0)), (100, "the first 100", Bar::Shown)]
        {
            let took = load_time(|| list(most)).as_secs_f64() * 1e3;
            let what = format!("{name}: {what} of {seen} documents of {who}");
            group.measurement(what, took, " ms", bar);
        }
    }
    Ok(())
}

/// Finds the first documents of a subject: by its list or, if that is more work than a search does, by a check of each.
fn first_page<'g>(
    graph: &'g Graph,
    relation: RelationId,
    subject: &GraphSubject<'g>,
    buffer: &mut GraphBuffer,
) -> Vec<String> {
    if let Some(list) = subject.objects(relation, &mut { MAX_EDGES }) {
        return list.ids().take(PAGE).map(str::to_owned).collect();
    }
    let all = graph.named("document", None, DateTime::UNIX_EPOCH);
    let seen = all.filter(|id| subject.has(relation, id, &[], buffer) == Ok(true));
    seen.take(PAGE).map(str::to_owned).collect()
}

fn subjects(
    graph: &Graph,
    relation: RelationId,
    tuples: &Tuples,
    group: &mut Group<'_>,
) -> Result<()> {
    let mut buffer = GraphBuffer::default();
    for (document, which) in DOCUMENTS {
        let question = SubjectQuestion {
            relation,
            id: &tuples.ids[DOCUMENT][document],
            hops: &[],
            subject_type: "user",
            now: DateTime::UNIX_EPOCH,
        };
        let mut list = || {
            let list = graph
                .subjects(&question, &mut { ALL_EDGES }, &mut buffer)
                .context("too many edges")?;
            anyhow::Ok(list.ids().count())
        };
        let found = list()?;
        let took = load_time(&mut list).as_secs_f64() * 1e3;
        let name = graph.schema().name(relation);
        let what = format!("{name}: all {found} users of {which}");
        group.measurement(what, took, " ms", Bar::AtMost(100.0));
    }
    Ok(())
}
